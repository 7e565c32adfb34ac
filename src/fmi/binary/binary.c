/* SPDX-License-Identifier: MIT */
#include "fmi/binary/binary.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/module.h"
#include "base/str.h"
#include "fmi/binary/elf.h"
#include "fmi/binary/needed.h"
#include "fmi/binary/platform.h"
#include "fmi/binding.h"

/* "binaries/PLATFORM/NAME.so" with nothing below it; *name points to NAME. */
static bool is_library(const char *entry, const char *platform, const char **name, size_t *length)
{
    size_t n = strlen(platform);
    if (strncmp(entry, "binaries/", 9) != 0 || strncmp(entry + 9, platform, n) != 0 || entry[9 + n] != '/')
        return false;
    *name = entry + 9 + n + 1;
    *length = strlen(*name);
    if (*length <= 3 || strchr(*name, '/') || strcmp(*name + *length - 3, ".so") != 0)
        return false;
    *length -= 3;
    return true;
}

/* Is `name` (n characters) one of the names in a list like "linux64, win64"? */
static bool is_listed(const struct tutti_text *list, const char *name, size_t n)
{
    for (const char *item = list->length ? list->text : ""; *item; item += strspn(item, ", ")) {
        size_t length = strcspn(item, ",");
        if (length == n && memcmp(item, name, n) == 0)
            return true;
        item += length;
    }
    return false;
}

void tutti_binary_list_platforms(const struct tutti_archive *archive, struct tutti_text *out)
{
    for (size_t i = 0; i < tutti_archive_count(archive); i++) {
        const char *entry = tutti_archive_name(archive, i);
        const char *end = strncmp(entry, "binaries/", 9) == 0 ? strchr(entry + 9, '/') : NULL;
        size_t n = end && end[1] ? (size_t)(end - entry) - 9 : 0; /* not of an empty folder */
        if (n > 0 && !is_listed(out, entry + 9, n))
            tutti_text_printf(out, "%s%.*s", out->length ? ", " : "", (int)n, entry + 9);
    }
}

/* The message for an FMU without a library for us: which platforms there are. `other`: one of them would be run by a part of Tutti that is
 * not here; NULL: none. */
static enum tutti_err no_binary(const struct tutti_archive *archive, const char *file, const char *identifier,
                                const struct tutti_platform *other)
{
    struct tutti_text there = {0}, way = {0};
    tutti_binary_list_platforms(archive, &there);
    if (other)
        tutti_text_printf(&way,
                          "%s would run that for %s, but is neither beside this program nor in lib/tutti: Tutti builds "
                          "it where there is a compiler for it (on Debian: %s)",
                          other->keeper, other->folders[0], other->package);
    else
        tutti_text_append(&way, there.length
                                    ? "Export it for Linux, or run it on one of those platforms"
                                    : "Export it with binaries, or compile its sources, if it has some: `tutti "
                                      "compile`, `tutti run --compile`");
    enum tutti_err err = tutti_fail(
        TUTTI_ERR_LOAD, "%s: no binary for this platform: binaries/%s/%s.so is not in the FMU; it has %s. %s", file,
        tutti_platforms()->folders[0], identifier, there.length ? there.text : "no binaries at all",
        way.text ? way.text : "");
    tutti_text_fini(&there);
    tutti_text_fini(&way);
    return err;
}

/* The library in a folder below binaries/: that of the model identifier, or the only one. */
static bool find_in(const struct tutti_archive *archive, const char *folder, const char *model_identifier,
                    struct tutti_binary_entry *found)
{
    size_t count = 0;
    for (size_t i = 0; i < tutti_archive_count(archive); i++) {
        const char *entry = tutti_archive_name(archive, i), *name;
        size_t length;
        if (!is_library(entry, folder, &name, &length))
            continue;
        found->name = entry;
        count++;
        found->misnamed = strlen(model_identifier) != length || memcmp(name, model_identifier, length) != 0;
        if (!found->misnamed)
            return true;
    }
    return count == 1;
}

static bool find_for(const struct tutti_archive *archive, const struct tutti_platform *platform,
                     const char *model_identifier, struct tutti_binary_entry *found)
{
    found->keeper = platform->keeper;
    for (const char *const *folder = platform->folders; *folder; folder++)
        if (find_in(archive, *folder, model_identifier, found))
            return true;
    return false;
}

static bool is_installed(const char *program)
{
    char *path = NULL;
    bool is_there = !program || tutti_module_find_program(&path, program) == TUTTI_OK;
    free(path);
    return is_there;
}

enum tutti_err tutti_binary_find(const struct tutti_archive *archive, const char *file, const char *model_identifier,
                                 struct tutti_binary_entry *found)
{
    const struct tutti_platform *other = NULL;
    for (const struct tutti_platform *platform = tutti_platforms(); platform->folders[0]; platform++) {
        if (!find_for(archive, platform, model_identifier, found))
            continue;
        if (is_installed(platform->keeper))
            return TUTTI_OK;
        other = platform;
    }
    return no_binary(archive, file, model_identifier, other);
}

static enum tutti_err locate(struct tutti_library *library, struct tutti_archive *archive, const struct tutti_log *log)
{
    const char *folder = NULL;
    struct tutti_binary_entry found;
    TRY(tutti_binary_find(archive, library->file, library->interface->model_identifier, &found));
    library->keeper = found.keeper;
    if (found.misnamed)
        tutti_log_printf(log, TUTTI_LOG_WARNING, library->file, "no library named %s.so; using %s, the only one",
                         library->interface->model_identifier, found.name);
    TRY(tutti_archive_folder(archive, &folder));
    struct tutti_text path = {0}, resources = {0};
    tutti_text_printf(&path, "%s/%s", folder, found.name);
    tutti_text_printf(&resources, "%s/resources/", folder);
    library->path = path.text;
    library->resources = resources.text;
    library->folder = tutti_str_copy(folder);
    if (path.failed || resources.failed || !library->folder)
        return tutti_fail_memory();
    struct stat status;
    library->has_resources = stat(library->resources, &status) == 0;
    return TUTTI_OK;
}

static enum tutti_err prepare(struct tutti_library *library, struct tutti_archive *archive, const struct tutti_log *log)
{
    if (!library->interface->model_identifier)
        return tutti_fail(TUTTI_ERR_FORMAT, "%s: the model description has no modelIdentifier", library->file);
    TRY(tutti_library_bind(library));
    return locate(library, archive, log);
}

static enum tutti_err load(struct tutti_library *library, struct tutti_archive *archive, const struct tutti_log *log)
{
    TRY(prepare(library, archive, log));
    return library->keeper ? TUTTI_OK : tutti_library_open(library, log);
}

/* ---- without loading */

/* Notes a function that the library, or one that it needs, shows: where it will be does not matter. */
static void note_function(void *context, const char *name, bool is_defined)
{
    static char somewhere;
    const struct tutti_library *library = context;
    const struct tutti_binding *binding = library->binding;
    if (binding->prefixed) {
        size_t length = strlen(library->interface->model_identifier);
        if (strncmp(name, library->interface->model_identifier, length) != 0 || name[length] != '_')
            return;
        name += length + 1;
    }
    for (size_t i = 0; is_defined && i < binding->symbol_count; i++)
        if (strcmp(binding->symbols[i].name, name) == 0)
            library->functions[i] = &somewhere;
}

static void note_functions(void *context, const char *path)
{
    tutti_elf_each_name(path, note_function, context);
}

static enum tutti_err inspect(struct tutti_library *library, struct tutti_archive *archive, const struct tutti_log *log)
{
    struct tutti_needed_missing missing;
    TRY(prepare(library, archive, log));
    if (library->keeper)
        return TUTTI_OK; /* what it needs, only a process like its own finds */
    TRY(tutti_elf_check(library->path, library->file));
    TRY(tutti_needed_each(library->path, note_functions, library, &missing));
    if (missing.name[0])
        return tutti_library_fail_missing(library, missing.name, missing.is_nameless);
    return tutti_library_check(library, log);
}

/* ---- */

static enum tutti_err make(struct tutti_library **out, struct tutti_archive *archive, const char *file,
                           const struct tutti_desc *desc, enum tutti_interface_kind kind, const struct tutti_log *log,
                           enum tutti_err (*fill)(struct tutti_library *library, struct tutti_archive *archive,
                                                  const struct tutti_log *log))
{
    *out = NULL;
    struct tutti_library *library = calloc(1, sizeof *library);
    if (!library)
        return tutti_fail_memory();
    library->desc = desc;
    library->interface = &desc->interfaces[kind];
    library->kind = kind;
    library->file = file;
    enum tutti_err err = fill(library, archive, log);
    if (err) {
        tutti_library_free(library);
        return err;
    }
    *out = library;
    return TUTTI_OK;
}

enum tutti_err tutti_binary_load(struct tutti_library **out, struct tutti_archive *archive, const char *file,
                                 const struct tutti_desc *desc, enum tutti_interface_kind kind,
                                 const struct tutti_log *log)
{
    return make(out, archive, file, desc, kind, log, load);
}

enum tutti_err tutti_binary_inspect(struct tutti_archive *archive, const char *file, const struct tutti_desc *desc,
                                    enum tutti_interface_kind kind, const struct tutti_log *log)
{
    struct tutti_library *library = NULL;
    TRY(make(&library, archive, file, desc, kind, log, inspect));
    tutti_library_free(library);
    return TUTTI_OK;
}
