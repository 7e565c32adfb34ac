/* SPDX-License-Identifier: MIT */
#include "fmu/binary/binary.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/module.h"
#include "base/text.h"
#include "fmu/binary/elf.h"
#include "fmu/binary/needed.h"
#include "fmu/binary/platform.h"
#include "fmu/binding.h"

/* "binaries/PLATFORM/NAME.so" with nothing below it; *name points to NAME. */
static bool is_library_entry(const char *entry, const char *platform, const char **name, size_t *length)
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
static bool binary_is_listed(const struct tt_text *list, const char *name, size_t n)
{
    for (const char *item = list->length ? list->text : ""; *item; item += strspn(item, ", ")) {
        size_t length = strcspn(item, ",");
        if (length == n && memcmp(item, name, n) == 0)
            return true;
        item += length;
    }
    return false;
}

void tt_binary_list_platforms(const struct tt_archive *archive, struct tt_text *out)
{
    for (size_t i = 0; i < tt_archive_count(archive); i++) {
        const char *entry = tt_archive_name(archive, i);
        const char *end = strncmp(entry, "binaries/", 9) == 0 ? strchr(entry + 9, '/') : NULL;
        size_t n = end && end[1] ? (size_t)(end - entry) - 9 : 0; /* not of an empty folder */
        if (n > 0 && !binary_is_listed(out, entry + 9, n))
            tt_text_printf(out, "%s%.*s", out->length ? ", " : "", (int)n, entry + 9);
    }
}

/* The message for an FMU without a library for us: which platforms there are. `other`: one of them would be run by a part of Tutti that is
 * not here; NULL: none. */
static enum tutti_err binary_fail_missing(const struct tt_archive *archive, const char *file, const char *identifier,
                                          const struct tt_binary_platform *other)
{
    struct tt_text there = {0}, way = {0};
    tt_binary_list_platforms(archive, &there);
    if (other)
        tt_text_printf(&way,
                       "%s would run that for %s, but is neither beside this program nor in lib/tutti: Tutti builds "
                       "it where there is a compiler for it (on Debian: %s)",
                       other->keeper, other->folders[0], other->package);
    else
        tt_text_append(&way, there.length ? "Export it for Linux, or run it on one of those platforms"
                                          : "Export it with binaries, or compile its sources, if it has some: `tutti "
                                            "compile`, `tutti run --compile`");
    enum tutti_err err = tt_fail(TUTTI_ERR_LOAD,
                                 "%s: no binary for this platform: binaries/%s/%s.so is not in the FMU; it has %s. %s",
                                 file, tt_binary_platforms()->folders[0], identifier,
                                 there.length ? there.text : "no binaries at all", way.text ? way.text : "");
    tt_text_fini(&there);
    tt_text_fini(&way);
    return err;
}

/* The library in a folder below binaries/: that of the model identifier, or the only one. */
static bool binary_find_in(const struct tt_archive *archive, const char *folder, const char *model_identifier,
                           struct tt_binary_entry *found)
{
    size_t count = 0;
    for (size_t i = 0; i < tt_archive_count(archive); i++) {
        const char *entry = tt_archive_name(archive, i), *name;
        size_t length;
        if (!is_library_entry(entry, folder, &name, &length))
            continue;
        found->name = entry;
        count++;
        found->misnamed = strlen(model_identifier) != length || memcmp(name, model_identifier, length) != 0;
        if (!found->misnamed)
            return true;
    }
    return count == 1;
}

static bool find_library_for(const struct tt_archive *archive, const struct tt_binary_platform *platform,
                             const char *model_identifier, struct tt_binary_entry *found)
{
    found->keeper = platform->keeper;
    for (const char *const *folder = platform->folders; *folder; folder++)
        if (binary_find_in(archive, *folder, model_identifier, found))
            return true;
    return false;
}

static bool is_installed(const char *program)
{
    char *path = NULL;
    bool is_there = !program || tt_module_find_program(&path, program) == TUTTI_OK;
    free(path);
    return is_there;
}

enum tutti_err tt_binary_find(const struct tt_archive *archive, const char *file, const char *model_identifier,
                              struct tt_binary_entry *found)
{
    const struct tt_binary_platform *other = NULL;
    for (const struct tt_binary_platform *platform = tt_binary_platforms(); platform->folders[0]; platform++) {
        if (!find_library_for(archive, platform, model_identifier, found))
            continue;
        if (is_installed(platform->keeper))
            return TUTTI_OK;
        other = platform;
    }
    return binary_fail_missing(archive, file, model_identifier, other);
}

static enum tutti_err binary_locate(struct tt_library *library, struct tt_archive *archive, const struct tutti_log *log)
{
    const char *folder = NULL;
    struct tt_binary_entry found;
    TRY(tt_binary_find(archive, library->file, library->interface->model_identifier, &found));
    library->keeper = found.keeper;
    if (found.misnamed)
        tt_log(log, TUTTI_LOG_WARNING, library->file, "no library named %s.so; using %s, the only one",
               library->interface->model_identifier, found.name);
    TRY(tt_archive_unpack(archive, &folder));
    struct tt_text path = {0}, resources = {0};
    tt_text_printf(&path, "%s/%s", folder, found.name);
    tt_text_printf(&resources, "%s/resources/", folder);
    library->path = path.text;
    library->resources = resources.text;
    library->folder = tt_text_copy(folder);
    if (path.failed || resources.failed || !library->folder)
        return tt_fail_memory();
    struct stat status;
    library->has_resources = stat(library->resources, &status) == 0;
    return TUTTI_OK;
}

static enum tutti_err binary_prepare(struct tt_library *library, struct tt_archive *archive,
                                     const struct tutti_log *log)
{
    if (!library->interface->model_identifier)
        return tt_fail(TUTTI_ERR_FORMAT, "%s: the model description has no modelIdentifier", library->file);
    TRY(tt_library_bind(library));
    return binary_locate(library, archive, log);
}

static enum tutti_err binary_load(struct tt_library *library, struct tt_archive *archive, const struct tutti_log *log)
{
    TRY(binary_prepare(library, archive, log));
    return library->keeper ? TUTTI_OK : tt_library_open(library, log);
}

/* ---- without loading */

/* Notes a function that the library, or one that it needs, shows: where it will be does not matter. */
static void binary_add_function(void *context, const char *name, bool is_defined)
{
    static char somewhere;
    const struct tt_library *library = context;
    const struct tt_binding *binding = library->binding;
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

static void binary_add_functions(void *context, const char *path)
{
    tt_elf_each_name(path, binary_add_function, context);
}

static enum tutti_err binary_inspect(struct tt_library *library, struct tt_archive *archive,
                                     const struct tutti_log *log)
{
    struct tt_needed_missing missing;
    TRY(binary_prepare(library, archive, log));
    if (library->keeper)
        return TUTTI_OK; /* what it needs, only a process like its own finds */
    TRY(tt_elf_check(library->path, library->file));
    TRY(tt_binary_each_needed(library->path, binary_add_functions, library, &missing));
    if (missing.name[0])
        return tt_library_fail_missing(library, missing.name, missing.is_nameless);
    return tt_library_check(library, log);
}

/* ---- */

static enum tutti_err binary_make(struct tt_library **out, struct tt_archive *archive, const char *file,
                                  const struct tt_description *desc, enum tt_interface_kind kind,
                                  const struct tutti_log *log,
                                  enum tutti_err (*fill)(struct tt_library *library, struct tt_archive *archive,
                                                         const struct tutti_log *log))
{
    *out = NULL;
    struct tt_library *library = calloc(1, sizeof *library);
    if (!library)
        return tt_fail_memory();
    library->desc = desc;
    library->interface = &desc->interfaces[kind];
    library->kind = kind;
    library->file = file;
    enum tutti_err err = fill(library, archive, log);
    if (err) {
        tt_library_free(library);
        return err;
    }
    *out = library;
    return TUTTI_OK;
}

enum tutti_err tt_binary_load(struct tt_library **out, struct tt_archive *archive, const char *file,
                              const struct tt_description *desc, enum tt_interface_kind kind,
                              const struct tutti_log *log)
{
    return binary_make(out, archive, file, desc, kind, log, binary_load);
}

enum tutti_err tt_binary_inspect(struct tt_archive *archive, const char *file, const struct tt_description *desc,
                                 enum tt_interface_kind kind, const struct tutti_log *log)
{
    struct tt_library *library = NULL;
    TRY(binary_make(&library, archive, file, desc, kind, log, binary_inspect));
    tt_library_free(library);
    return TUTTI_OK;
}
