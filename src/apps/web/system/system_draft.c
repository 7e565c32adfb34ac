/* SPDX-License-Identifier: MIT */
#include "apps/web/system/system_draft.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <tutti/save.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/options/options.h"
#include "fmu/archive/zip.h"
#include "model/ssp/uri.h"

#define DEFAULT_SSD "SystemStructure.ssd"

/* The caller's; NULL when memory is out. */
static char *system_draft_join_path(const char *folder, const char *name)
{
    struct tt_text text = {0};
    tt_text_printf(&text, "%s/%s", folder, name);
    if (text.failed)
        tt_text_fini(&text);
    return text.text;
}

/* ---- beginning and end ---- */

/* Converts a file of a different format to an .ssp. */
static enum tutti_err system_draft_convert(struct tt_system_draft *draft)
{
    struct tutti_run_options options = {.files = (const char *const *)&draft->file, .file_count = 1};
    char *made = system_draft_join_path(tt_tempdir_path(draft->tempdir), "base.ssp");
    enum tutti_err err = made ? tutti_save(made, &options) : tt_fail_memory();
    if (err) {
        free(made);
        return err;
    }
    free(draft->file);
    draft->file = made;
    return TUTTI_OK;
}

static enum tutti_err system_draft_read_document(struct tt_system_draft *draft)
{
    struct tt_package_place place = {0};
    struct tt_byte_source reader = {0};
    TRY(tt_package_find_ssd(draft->package, draft->variant, &place));
    char *slash = strrchr(place.path, '/');
    draft->root = strndup(place.path, (size_t)(slash - place.path));
    draft->ssd_name = tt_text_copy(slash + 1);
    enum tutti_err err = draft->root && draft->ssd_name ? TUTTI_OK : tt_fail_memory();
    if (!err) {
        err = tt_package_open_file(&place, &reader);
        if (!err)
            err = tt_ssd_read(&draft->ssd, place.shown, &reader, NULL);
        tt_package_close_file(&reader);
    }
    tt_package_place_fini(&place);
    return err;
}

static enum tutti_err start_empty_draft(struct tt_system_draft *draft)
{
    TRY(tt_tempdir_new(&draft->tempdir));
    draft->root = tt_text_copy(tt_tempdir_path(draft->tempdir));
    draft->ssd_name = tt_text_copy(DEFAULT_SSD);
    return draft->root && draft->ssd_name ? TUTTI_OK : tt_fail_memory();
}

enum tutti_err tt_system_draft_init(struct tt_system_draft *draft, const struct tt_served_folder *folder,
                                    const char *name)
{
    *draft = (struct tt_system_draft){.folder = folder};
    if (!name)
        return start_empty_draft(draft);

    const char *hash = strrchr(name, '#');
    draft->name = hash ? strndup(name, (size_t)(hash - name)) : tt_text_copy(name);
    draft->variant = hash ? tt_text_copy(hash + 1) : NULL;
    if (!draft->name || (hash && !draft->variant))
        return tt_fail_memory();

    TRY(tt_served_folder_find(folder, draft->name, TUTTI_WEB_FILE, &draft->file));
    size_t length = strlen(draft->name);
    if (length <= 4 || strcasecmp(draft->name + length - 4, ".ssp") != 0) {
        TRY(tt_tempdir_new(&draft->tempdir));
        TRY(system_draft_convert(draft));
    }
    TRY(tt_package_open(&draft->package, draft->file, draft->name));
    return system_draft_read_document(draft);
}

void tt_system_draft_fini(struct tt_system_draft *draft)
{
    for (size_t i = 0; i < draft->added_count; i++) {
        free(draft->added[i].entry);
        free(draft->added[i].path);
    }
    free(draft->added);
    tt_ssd_free(draft->ssd);
    tt_package_free(draft->package);
    tt_tempdir_free(draft->tempdir);
    free(draft->ssd_name);
    free(draft->root);
    free(draft->file);
    free(draft->name);
    free(draft->variant);
}

enum tutti_err tt_system_draft_revision(const char *path, char out[64])
{
    struct stat st;
    out[0] = '\0';
    if (stat(path, &st) != 0)
        return errno == ENOENT ? TUTTI_OK : tt_fail(TUTTI_ERR_IO, "%s: %s", path, strerror(errno));
    snprintf(out, 64, "%llx-%llx-%llx-%lx", (unsigned long long)st.st_ino, (unsigned long long)st.st_size,
             (unsigned long long)st.st_mtim.tv_sec, (unsigned long)st.st_mtim.tv_nsec);
    return TUTTI_OK;
}

/* ---- sources ---- */

/* In the package: *path is the caller's, NULL if it is not there. */
static enum tutti_err find_inside(const struct tt_system_draft *draft, const char *source, char **path)
{
    struct tt_package_place base = {.path = system_draft_join_path(draft->root, draft->ssd_name),
                                    .shown = draft->ssd_name},
                            place = {0};
    *path = NULL;
    if (!base.path)
        return tt_fail_memory();
    if (draft->package && tt_package_resolve(draft->package, &base, source, &place) == TUTTI_OK &&
        access(place.path, F_OK) == 0)
        *path = tt_text_copy(place.path);
    tt_package_place_fini(&place);
    free(base.path);
    return TUTTI_OK;
}

/* Finds an added file by its name in the document; NULL if there is none. */
static const char *find_added(const struct tt_system_draft *draft, const char *source)
{
    const char *found = NULL;
    for (size_t i = 0; i < draft->added_count && !found; i++) {
        struct tt_text uri = {0};
        tt_uri_write(&uri, draft->added[i].entry);
        found = !uri.failed && strcmp(uri.text, source) == 0 ? draft->added[i].path : NULL;
        tt_text_fini(&uri);
    }
    return found;
}

enum tutti_err tt_system_draft_find(const struct tt_system_draft *draft, const char *source, char **path)
{
    const char *added = find_added(draft, source);
    if (added) {
        *path = tt_text_copy(added);
        return *path ? TUTTI_OK : tt_fail_memory();
    }
    TRY(find_inside(draft, source, path));
    return *path ? TUTTI_OK : tt_served_folder_find(draft->folder, source, TUTTI_WEB_FILE, path);
}

/* "resources/NAME", or with a number if that is another file. */
static char *choose_entry(const struct tt_system_draft *draft, const char *path)
{
    const char *last = strrchr(path, '/') + 1, *dot = strrchr(last, '.');
    for (unsigned number = 1; number < 10000; number++) {
        struct tt_text text = {0};
        if (number == 1)
            tt_text_printf(&text, "%s/resources/%s", draft->root, last);
        else
            tt_text_printf(&text, "%s/resources/%.*s_%u%s", draft->root, (int)(dot ? dot - last : (int)strlen(last)),
                           last, number, dot ? dot : "");
        if (text.failed || access(text.text, F_OK) != 0) {
            char *entry = text.failed ? NULL : tt_text_copy(text.text + strlen(draft->root) + 1);
            tt_text_fini(&text);
            return entry;
        }
        tt_text_fini(&text);
    }
    return NULL;
}

/* Takes `path`. */
static enum tutti_err system_draft_add(struct tt_system_draft *draft, char *path)
{
    struct tt_system_draft_file *more = reallocarray(draft->added, draft->added_count + 1, sizeof *more);
    char *resources = system_draft_join_path(draft->root, "resources"), *entry = choose_entry(draft, path);
    draft->added = more ? more : draft->added;
    char *link = entry ? system_draft_join_path(draft->root, entry) : NULL;
    enum tutti_err err = more && resources && link ? TUTTI_OK : tt_fail_memory();
    if (!err && (!tt_fs_make_folder(resources) || symlink(path, link) != 0))
        err = tt_fail(TUTTI_ERR_IO, "%s: %s", link, strerror(errno));
    free(resources);
    free(link);
    if (err) {
        free(entry);
        free(path);
        return err;
    }
    draft->added[draft->added_count++] = (struct tt_system_draft_file){entry, path};
    return TUTTI_OK;
}

enum tutti_err tt_system_draft_adopt(struct tt_system_draft *draft, const char *source, char **uri)
{
    char *path;
    size_t i = 0;
    TRY(find_inside(draft, source, &path));
    if (path) {
        free(path);
        *uri = tt_text_copy(source);
        return *uri ? TUTTI_OK : tt_fail_memory();
    }
    TRY(tt_served_folder_find(draft->folder, source, TUTTI_WEB_FILE, &path));
    while (i < draft->added_count && strcmp(draft->added[i].path, path) != 0)
        i++;
    if (i == draft->added_count)
        TRY(system_draft_add(draft, path));
    else
        free(path);
    struct tt_text text = {0};
    tt_uri_write(&text, draft->added[i].entry);
    *uri = text.text;
    return text.failed ? tt_fail_memory() : TUTTI_OK;
}

/* ---- as files ---- */

enum tutti_err tt_system_draft_write(const struct tt_system_draft *draft, const struct tt_text *text, char **path)
{
    *path = text->failed ? NULL : system_draft_join_path(draft->root, draft->ssd_name);
    if (!*path)
        return tt_fail_memory();
    return tt_fs_replace(*path, text->text, text->length) ? TUTTI_OK
                                                          : tt_fail(TUTTI_ERR_STATE, "%s: %s", *path, strerror(errno));
}

static enum tutti_err system_draft_write_parts(const struct tt_system_draft *draft, struct tt_archive *archive,
                                               const struct tt_text *text, struct tt_zip_part *parts, const char *path)
{
    size_t count = 0;
    bool replaced = false;
    const struct tt_zip_part document = {.name = draft->ssd_name, .data = text->text, .size = text->length};
    for (size_t i = 0; archive && i < tt_archive_count(archive); i++) {
        const char *name = tt_archive_name(archive, i);
        bool is = strcmp(name, draft->ssd_name) == 0;
        parts[count++] = is ? document : (struct tt_zip_part){.name = name, .archive = archive, .index = i};
        replaced |= is;
    }
    if (!replaced)
        parts[count++] = document;
    for (size_t i = 0; i < draft->added_count; i++)
        parts[count++] = (struct tt_zip_part){.name = draft->added[i].entry, .path = draft->added[i].path};
    return tt_zip_write(path, parts, count);
}

enum tutti_err tt_system_draft_pack(const struct tt_system_draft *draft, const struct tt_text *text, const char *path)
{
    struct tt_archive *archive = NULL;
    if (text->failed)
        return tt_fail_memory();
    if (draft->file)
        TRY(tt_archive_open(&archive, draft->file));
    size_t count = (archive ? tt_archive_count(archive) : 0) + draft->added_count + 1;
    struct tt_zip_part *parts = calloc(count, sizeof *parts);
    enum tutti_err err = parts ? system_draft_write_parts(draft, archive, text, parts, path) : tt_fail_memory();
    free(parts);
    tt_archive_free(archive);
    return err;
}
