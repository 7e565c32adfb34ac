/* SPDX-License-Identifier: MIT */
#include "apps/api/save_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/text.h"
#include "model/ssp/package.h"
#include "model/ssp/uri.h"

void tt_save_files_fini(struct tt_save_files *files)
{
    free(files->parts);
    tt_map_fini(&files->names);
    tt_map_fini(&files->paths);
    tt_archive_free(files->archive);
    tt_tempdir_free(files->tempdir);
    tt_arena_fini(&files->arena);
}

enum tutti_err tt_save_files_check_input(const char *output, const char *path)
{
    struct stat a, b;
    if (stat(output, &a) != 0 || stat(path, &b) != 0 || a.st_dev != b.st_dev || a.st_ino != b.st_ino)
        return TUTTI_OK;
    return tt_fail(TUTTI_ERR_ARGUMENT, "'%s' would be written over the file that it is made from; use another name",
                   output);
}

/* ---- parts ---- */

static enum tutti_err save_files_add(struct tt_save_files *files, const struct tt_zip_part *part)
{
    if (files->count == files->room) {
        size_t room = files->room ? 2 * files->room : 32;
        struct tt_zip_part *parts = reallocarray(files->parts, room, sizeof *parts);
        if (!parts)
            return tt_fail_memory();
        files->parts = parts;
        files->room = room;
    }
    files->parts[files->count] = *part;
    return tt_map_add(&files->names, part->name, (int64_t)files->count++, NULL);
}

static const char *save_files_store_text(struct tt_save_files *files, const struct tt_text *text)
{
    return text->failed ? NULL : tt_arena_copy_text(&files->arena, text->text, text->length);
}

enum tutti_err tt_save_files_text(struct tt_save_files *files, const char *name, const struct tt_text *text)
{
    if (text->failed)
        return tt_fail_memory();
    const char *copy = tt_arena_copy_text(&files->arena, name, strlen(name));
    return copy ? save_files_add(files, &(struct tt_zip_part){.name = copy, .data = text->text, .size = text->length})
                : tt_fail_memory();
}

enum tutti_err tt_save_files_copy(struct tt_save_files *files, const char *package, const char *replaced,
                                  const struct tt_text *text)
{
    TRY(tt_archive_open(&files->archive, package));
    for (size_t i = 0; i < tt_archive_count(files->archive); i++) {
        const char *name = tt_archive_name(files->archive, i);
        if (text && strcmp(name, replaced) == 0)
            TRY(tt_save_files_text(files, name, text));
        else
            TRY(save_files_add(files, &(struct tt_zip_part){.name = name, .archive = files->archive, .index = i}));
    }
    return TUTTI_OK;
}

/* ---- resources ---- */

static bool save_files_is_plain(const char *c)
{
    return (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
           strchr("-_.+ ()@=,", *c) != NULL;
}

/* "resources/NAME", made of the last part of a path; with a number if another file has it; what archives or other systems
 * would stumble over becomes '_'. */
static enum tutti_err name_resource(struct tt_save_files *files, const char *path, bool folder, const char **name)
{
    const char *last = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    struct tt_text stem = {0}, text = {0};
    for (const char *c = last; *c;) {
        size_t n = *c & 0x80 ? tt_text_utf8_length(c) : save_files_is_plain(c);
        tt_text_append_n(&stem, n ? c : "_", n ? n : 1);
        c += n ? n : 1;
    }
    const char *dot = stem.text && !folder ? strrchr(stem.text, '.') : NULL;
    int length = dot && dot > stem.text ? (int)(dot - stem.text) : (int)stem.length;
    const char *ending = folder ? tt_package_is_system(path) ? ".ssp" : ".fmu" : stem.text ? stem.text + length : "";
    *name = NULL;
    for (unsigned number = 1; !*name && !stem.failed && !text.failed; number++) {
        text.length = 0;
        tt_text_printf(&text, "resources/%.*s", length, stem.text ? stem.text : "");
        if (number > 1)
            tt_text_printf(&text, "_%u", number);
        tt_text_append(&text, ending);
        if (!text.failed && tt_map_find(&files->names, text.text) == TUTTI_MAP_NONE &&
            !(*name = save_files_store_text(files, &text)))
            break;
    }
    tt_text_fini(&stem);
    tt_text_fini(&text);
    return *name ? TUTTI_OK : tt_fail_memory();
}

/* Packs an unpacked FMU or SSP; *path becomes the packed one. */
static enum tutti_err pack_folder(struct tt_save_files *files, const char **path)
{
    struct tt_save_files inner = {0};
    struct tt_text text = {0};
    enum tutti_err err = files->tempdir ? TUTTI_OK : tt_tempdir_new(&files->tempdir);
    if (!err)
        err = tt_save_files_copy(&inner, *path, NULL, NULL);
    if (!err) {
        tt_text_printf(&text, "%s/%zu.zip", tt_tempdir_path(files->tempdir), files->count);
        *path = save_files_store_text(files, &text);
        err = *path ? tt_zip_write(*path, inner.parts, inner.count) : tt_fail_memory();
    }
    tt_text_fini(&text);
    tt_save_files_fini(&inner);
    return err;
}

static enum tutti_err add_resource(struct tt_save_files *files, const char *real, size_t *index)
{
    struct stat st;
    struct tt_zip_part part = {.path = tt_arena_copy_text(&files->arena, real, strlen(real))};
    if (!part.path)
        return tt_fail_memory();
    TRY(tt_save_files_check_input(files->output, real));
    TRY(tt_map_add(&files->paths, part.path, (int64_t)files->count, NULL));
    bool folder = stat(real, &st) == 0 && S_ISDIR(st.st_mode);
    TRY(name_resource(files, real, folder, &part.name));
    if (folder)
        TRY(pack_folder(files, &part.path));
    *index = files->count;
    return save_files_add(files, &part);
}

enum tutti_err tt_save_files_resource(struct tt_save_files *files, const char *path, const char **uri)
{
    char *real = realpath(path, NULL);
    if (!real)
        return tt_fail(TUTTI_ERR_IO, "cannot read %s: %s", path, strerror(errno));
    int64_t known = tt_map_find(&files->paths, real);
    size_t index = (size_t)known;
    enum tutti_err err = known == TUTTI_MAP_NONE ? add_resource(files, real, &index) : TUTTI_OK;
    free(real);
    TRY(err);
    struct tt_text text = {0};
    tt_uri_write(&text, files->parts[index].name);
    *uri = save_files_store_text(files, &text);
    tt_text_fini(&text);
    return *uri ? TUTTI_OK : tt_fail_memory();
}

/* ---- references to where files lie ---- */

/* The folder of a file that need not exist, links resolved; the caller's. */
static char *save_files_folder(const char *path)
{
    char *absolute = tt_fs_absolute(path);
    if (!absolute)
        return NULL;
    char *slash = strrchr(absolute, '/');
    slash[slash == absolute] = '\0';
    char *real = realpath(absolute, NULL);
    free(absolute);
    return real;
}

static void write_relative(struct tt_text *out, const char *folder, const char *path)
{
    size_t shared = 0, i = 0;
    for (; folder[i] && folder[i] == path[i]; i++)
        if (path[i] == '/')
            shared = i;
    if (!folder[i] && path[i] == '/')
        shared = i;
    for (const char *c = folder + shared; *c; c++)
        if (*c == '/' && c[1])
            tt_text_append(out, "../");
    tt_uri_write(out, path + shared + 1);
}

enum tutti_err tt_save_files_relative(struct tt_save_files *files, const char *path, const char **uri)
{
    char *folder = save_files_folder(files->output), *real = realpath(path, NULL);
    struct tt_text text = {0};
    enum tutti_err err;
    if (folder && real) {
        write_relative(&text, folder, real);
        *uri = save_files_store_text(files, &text);
        err = *uri ? tt_save_files_check_input(files->output, real) : tt_fail_memory();
    } else {
        err = tt_fail(TUTTI_ERR_IO, "cannot use %s: %s", folder ? path : files->output, strerror(errno));
    }
    tt_text_fini(&text);
    free(folder);
    free(real);
    return err;
}

/* ---- documents that move ---- */

/* Does the element's source name a file? That of a mapping's entry names a parameter or a value. */
static bool refers_to_file(const struct tt_tree_node *node)
{
    static const struct {
        enum tt_tree_space space;
        const char *local;
    } kinds[] = {{TUTTI_SPACE_SSD, "Component"},        {TUTTI_SPACE_SSD, "ParameterBinding"},
                 {TUTTI_SPACE_SSD, "ParameterMapping"}, {TUTTI_SPACE_SSD, "SignalDictionary"},
                 {TUTTI_SPACE_SSC, "MetaData"},         {TUTTI_SPACE_SSC, "Signature"}};
    const char *source = node->text ? NULL : tt_tree_find_attribute(node, "source");
    for (size_t i = 0; source && *source && i < sizeof kinds / sizeof *kinds; i++)
        if (node->space == kinds[i].space && strcmp(node->local, kinds[i].local) == 0)
            return true;
    return false;
}

static bool is_inner_source(const struct tt_tree_node *node)
{
    const char *base = tt_tree_find_attribute(node, "sourceBase");
    return base && strcmp(base, "SSD") != 0 && strcmp(base, "file") != 0;
}

static enum tutti_err reject_inner_ssd(const struct tt_tree_node *node, const char *file, const char *path)
{
    size_t n = strlen(path);
    if (n < 4 || strcasecmp(path + n - 4, ".ssd") != 0)
        return TUTTI_OK;
    return tt_fail(TUTTI_ERR_ARGUMENT,
                   "%s:%u: it refers to %s, which may refer to more files; make an .ssp of that one first", file,
                   node->line, path);
}

/* One reference of a document that lies in the folder `from`. */
static enum tutti_err rewrite_reference(struct tt_save_files *files, struct tt_tree *tree, struct tt_tree_node *node,
                                        const char *name, const char *from, bool to_resources)
{
    const char *text = tt_tree_find_attribute(node, name), *reference = NULL;
    struct tt_uri uri;
    struct tt_text path = {0}, moved = {0};
    TRY(tt_uri_read(&uri, text));
    tt_text_printf(&path, "%s%s%s", *uri.path == '/' ? "" : from, *uri.path == '/' ? "" : "/", uri.path);
    enum tutti_err err = path.failed ? tt_fail_memory() : TUTTI_OK;
    if (!err && *uri.path && to_resources)
        err = reject_inner_ssd(node, tree->file, uri.path);
    if (!err && *uri.path)
        err = to_resources ? tt_save_files_resource(files, path.text, &reference)
                           : tt_save_files_relative(files, path.text, &reference);
    if (!err && reference) {
        const char *fragment = strchr(text, '#');
        tt_text_printf(&moved, "%s%s", reference, fragment ? fragment : "");
        if (moved.failed || !tt_tree_set_attribute(tree, node, name, moved.text))
            err = tt_fail_memory();
    }
    tt_text_fini(&moved);
    tt_text_fini(&path);
    tt_uri_fini(&uri);
    return err;
}

enum tutti_err tt_save_files_rewrite_references(struct tt_save_files *files, struct tt_tree *tree, const char *from,
                                                bool to_resources)
{
    char *folder = save_files_folder(from), *target = save_files_folder(files->output);
    enum tutti_err err = TUTTI_OK;
    struct tt_tree_node *node = tree->root;
    if (!folder)
        err = tt_fail(TUTTI_ERR_IO, "cannot use %s: %s", from, strerror(errno));
    if (!folder || (target && strcmp(folder, target) == 0 && !to_resources))
        node = NULL; /* nothing moves */
    while (node && !err) {
        if (refers_to_file(node) && !is_inner_source(node))
            err = rewrite_reference(files, tree, node, "source", folder, to_resources);
        if (!err && !node->text && node->space == TUTTI_SPACE_SSD && tt_tree_find_attribute(node, "iconSource"))
            err = rewrite_reference(files, tree, node, "iconSource", folder, to_resources);
        if (node->first) {
            node = node->first;
            continue;
        }
        while (node && !node->next)
            node = node->parent;
        node = node ? node->next : NULL;
    }
    free(folder);
    free(target);
    return err;
}

/* ---- writing ---- */

enum tutti_err tt_save_files_write(const struct tt_save_files *files)
{
    return tt_zip_write(files->output, files->parts, files->count);
}

static enum tutti_err save_files_fail_writing(const char *output, int number)
{
    return tt_fail(TUTTI_ERR_IO, "'%s' cannot be written: %s", output, strerror(number));
}

enum tutti_err tt_save_files_write_text(const char *output, const struct tt_text *text)
{
    struct tt_text temporary = {0};
    tt_text_printf(&temporary, "%s.%ld.tmp", output, (long)getpid());
    if (temporary.failed || text->failed) {
        tt_text_fini(&temporary);
        return tt_fail_memory();
    }
    int fd = open(temporary.text, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    enum tutti_err err = fd < 0 ? save_files_fail_writing(output, errno) : TUTTI_OK;
    if (!err && tt_fs_write(fd, text->text, text->length, -1) != text->length)
        err = save_files_fail_writing(output, errno);
    if (fd >= 0 && close(fd) != 0 && !err)
        err = save_files_fail_writing(output, errno);
    if (!err && rename(temporary.text, output) != 0)
        err = save_files_fail_writing(output, errno);
    if (err && fd >= 0)
        unlink(temporary.text);
    tt_text_fini(&temporary);
    return err;
}
