/* SPDX-License-Identifier: MIT */
#include "web/system/draft.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <tutti/save.h>
#include <unistd.h>

#include "base/fs.h"
#include "options/options.h"
#include "ssp/package_write.h"
#include "ssp/uri.h"

#define DEFAULT_SSD "SystemStructure.ssd"

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n > m && strcasecmp(text + n - m, end) == 0;
}

/* The caller's; NULL when memory is out. */
static char *join(const char *folder, const char *name)
{
    struct tutti_text text = {0};
    tutti_text_printf(&text, "%s/%s", folder, name);
    if (text.failed)
        tutti_text_fini(&text);
    return text.text;
}

/* ---- beginning and end ---- */

static enum tutti_err split(struct tutti_web_draft *draft, const char *name)
{
    const char *hash = strrchr(name, '#');
    draft->name = hash ? strndup(name, (size_t)(hash - name)) : tutti_str_copy(name);
    draft->variant = hash ? tutti_str_copy(hash + 1) : NULL;
    return draft->name && (!hash || draft->variant) ? TUTTI_OK : tutti_fail_memory();
}

/* What is no .ssp becomes one. */
static enum tutti_err convert(struct tutti_web_draft *draft)
{
    struct tutti_run_options options = {.files = (const char *const *)&draft->file, .file_count = 1};
    char *made = join(tutti_tempdir_path(draft->tempdir), "base.ssp");
    enum tutti_err err = made ? tutti_save(made, &options) : tutti_fail_memory();
    if (err) {
        free(made);
        return err;
    }
    free(draft->file);
    draft->file = made;
    return TUTTI_OK;
}

static enum tutti_err read_document(struct tutti_web_draft *draft)
{
    struct tutti_place place = {0};
    struct tutti_reader reader = {0};
    TRY(tutti_package_ssd(draft->package, draft->variant, &place));
    char *slash = strrchr(place.path, '/');
    draft->root = strndup(place.path, (size_t)(slash - place.path));
    draft->ssd_name = tutti_str_copy(slash + 1);
    enum tutti_err err = draft->root && draft->ssd_name ? TUTTI_OK : tutti_fail_memory();
    if (!err) {
        err = tutti_place_begin_read(&place, &reader);
        if (!err)
            err = tutti_ssd_read(&draft->ssd, place.shown, &reader, NULL);
        tutti_place_end_read(&reader);
    }
    tutti_place_fini(&place);
    return err;
}

static enum tutti_err begin_new(struct tutti_web_draft *draft)
{
    TRY(tutti_tempdir_new(&draft->tempdir));
    draft->root = tutti_str_copy(tutti_tempdir_path(draft->tempdir));
    draft->ssd_name = tutti_str_copy(DEFAULT_SSD);
    return draft->root && draft->ssd_name ? TUTTI_OK : tutti_fail_memory();
}

enum tutti_err tutti_web_draft_init(struct tutti_web_draft *draft, const struct tutti_web_folder *folder,
                                    const char *name)
{
    *draft = (struct tutti_web_draft){.folder = folder};
    if (!name)
        return begin_new(draft);
    TRY(split(draft, name));
    TRY(tutti_web_folder_find(folder, draft->name, TUTTI_WEB_FILE, &draft->file));
    if (!ends_with(draft->name, ".ssp")) {
        TRY(tutti_tempdir_new(&draft->tempdir));
        TRY(convert(draft));
    }
    TRY(tutti_package_open(&draft->package, draft->file, draft->name));
    return read_document(draft);
}

void tutti_web_draft_fini(struct tutti_web_draft *draft)
{
    for (size_t i = 0; i < draft->added_count; i++) {
        free(draft->added[i].entry);
        free(draft->added[i].path);
    }
    free(draft->added);
    tutti_ssd_free(draft->ssd);
    tutti_package_free(draft->package);
    tutti_tempdir_free(draft->tempdir);
    free(draft->ssd_name);
    free(draft->root);
    free(draft->file);
    free(draft->name);
    free(draft->variant);
}

enum tutti_err tutti_web_draft_revision(const char *path, char out[64])
{
    struct stat st;
    out[0] = '\0';
    if (stat(path, &st) != 0)
        return errno == ENOENT ? TUTTI_OK : tutti_fail(TUTTI_ERR_IO, "%s: %s", path, strerror(errno));
    snprintf(out, 64, "%llx-%llx-%llx-%lx", (unsigned long long)st.st_ino, (unsigned long long)st.st_size,
             (unsigned long long)st.st_mtim.tv_sec, (unsigned long)st.st_mtim.tv_nsec);
    return TUTTI_OK;
}

/* ---- sources ---- */

/* In the package: *path is the caller's, NULL if it is not there. */
static enum tutti_err find_inside(const struct tutti_web_draft *draft, const char *source, char **path)
{
    struct tutti_place base = {.path = join(draft->root, draft->ssd_name), .shown = draft->ssd_name}, place = {0};
    *path = NULL;
    if (!base.path)
        return tutti_fail_memory();
    if (draft->package && tutti_package_resolve(draft->package, &base, source, &place) == TUTTI_OK &&
        access(place.path, F_OK) == 0)
        *path = tutti_str_copy(place.path);
    tutti_place_fini(&place);
    free(base.path);
    return TUTTI_OK;
}

/* What was added before, by what the document calls it; NULL: nothing. */
static const char *find_added(const struct tutti_web_draft *draft, const char *source)
{
    const char *found = NULL;
    for (size_t i = 0; i < draft->added_count && !found; i++) {
        struct tutti_text uri = {0};
        tutti_uri_write(&uri, draft->added[i].entry);
        found = !uri.failed && strcmp(uri.text, source) == 0 ? draft->added[i].path : NULL;
        tutti_text_fini(&uri);
    }
    return found;
}

enum tutti_err tutti_web_draft_find(const struct tutti_web_draft *draft, const char *source, char **path)
{
    const char *added = find_added(draft, source);
    if (added) {
        *path = tutti_str_copy(added);
        return *path ? TUTTI_OK : tutti_fail_memory();
    }
    TRY(find_inside(draft, source, path));
    return *path ? TUTTI_OK : tutti_web_folder_find(draft->folder, source, TUTTI_WEB_FILE, path);
}

/* "resources/NAME", or with a number if that is another file. */
static char *choose_entry(const struct tutti_web_draft *draft, const char *path)
{
    const char *last = strrchr(path, '/') + 1, *dot = strrchr(last, '.');
    for (unsigned number = 1; number < 10000; number++) {
        struct tutti_text text = {0};
        if (number == 1)
            tutti_text_printf(&text, "%s/resources/%s", draft->root, last);
        else
            tutti_text_printf(&text, "%s/resources/%.*s_%u%s", draft->root, (int)(dot ? dot - last : (int)strlen(last)),
                              last, number, dot ? dot : "");
        if (text.failed || access(text.text, F_OK) != 0) {
            char *entry = text.failed ? NULL : tutti_str_copy(text.text + strlen(draft->root) + 1);
            tutti_text_fini(&text);
            return entry;
        }
        tutti_text_fini(&text);
    }
    return NULL;
}

/* Takes `path`. */
static enum tutti_err add(struct tutti_web_draft *draft, char *path)
{
    struct tutti_web_added *more = reallocarray(draft->added, draft->added_count + 1, sizeof *more);
    char *resources = join(draft->root, "resources"), *entry = choose_entry(draft, path);
    draft->added = more ? more : draft->added;
    char *link = entry ? join(draft->root, entry) : NULL;
    enum tutti_err err = more && resources && link ? TUTTI_OK : tutti_fail_memory();
    if (!err && (!tutti_fs_make_folder(resources) || symlink(path, link) != 0))
        err = tutti_fail(TUTTI_ERR_IO, "%s: %s", link, strerror(errno));
    free(resources);
    free(link);
    if (err) {
        free(entry);
        free(path);
        return err;
    }
    draft->added[draft->added_count++] = (struct tutti_web_added){entry, path};
    return TUTTI_OK;
}

enum tutti_err tutti_web_draft_adopt(struct tutti_web_draft *draft, const char *source, char **uri)
{
    char *path;
    size_t i = 0;
    TRY(find_inside(draft, source, &path));
    if (path) {
        free(path);
        *uri = tutti_str_copy(source);
        return *uri ? TUTTI_OK : tutti_fail_memory();
    }
    TRY(tutti_web_folder_find(draft->folder, source, TUTTI_WEB_FILE, &path));
    while (i < draft->added_count && strcmp(draft->added[i].path, path) != 0)
        i++;
    if (i == draft->added_count)
        TRY(add(draft, path));
    else
        free(path);
    struct tutti_text text = {0};
    tutti_uri_write(&text, draft->added[i].entry);
    *uri = text.text;
    return text.failed ? tutti_fail_memory() : TUTTI_OK;
}

/* ---- as files ---- */

enum tutti_err tutti_web_draft_put(const struct tutti_web_draft *draft, const struct tutti_text *text, char **path)
{
    *path = text->failed ? NULL : join(draft->root, draft->ssd_name);
    if (!*path)
        return tutti_fail_memory();
    return tutti_fs_replace(*path, text->text, text->length)
               ? TUTTI_OK
               : tutti_fail(TUTTI_ERR_STATE, "%s: %s", *path, strerror(errno));
}

static enum tutti_err write_parts(const struct tutti_web_draft *draft, struct tutti_archive *archive,
                                  const struct tutti_text *text, struct tutti_package_part *parts, const char *path)
{
    size_t count = 0;
    bool replaced = false;
    const struct tutti_package_part document = {.name = draft->ssd_name, .data = text->text, .size = text->length};
    for (size_t i = 0; archive && i < tutti_archive_count(archive); i++) {
        const char *name = tutti_archive_name(archive, i);
        bool is = strcmp(name, draft->ssd_name) == 0;
        parts[count++] = is ? document : (struct tutti_package_part){.name = name, .archive = archive, .index = i};
        replaced |= is;
    }
    if (!replaced)
        parts[count++] = document;
    for (size_t i = 0; i < draft->added_count; i++)
        parts[count++] = (struct tutti_package_part){.name = draft->added[i].entry, .path = draft->added[i].path};
    return tutti_package_write(path, parts, count);
}

enum tutti_err tutti_web_draft_pack(const struct tutti_web_draft *draft, const struct tutti_text *text,
                                    const char *path)
{
    struct tutti_archive *archive = NULL;
    if (text->failed)
        return tutti_fail_memory();
    if (draft->file)
        TRY(tutti_archive_open(&archive, draft->file));
    size_t count = (archive ? tutti_archive_count(archive) : 0) + draft->added_count + 1;
    struct tutti_package_part *parts = calloc(count, sizeof *parts);
    enum tutti_err err = parts ? write_parts(draft, archive, text, parts, path) : tutti_fail_memory();
    free(parts);
    tutti_archive_free(archive);
    return err;
}
