/* SPDX-License-Identifier: MIT */
#include "fmu/binary/binary.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/module.h"
#include "base/text.h"
#include "fmu/binary/elf.h"
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

/* Returns true if `name` (n characters) is in a list like "linux64, win64". */
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

/* The message for an FMU without a library for us: lists its platforms. `other`: one that a missing part of Tutti would
 * run; NULL. */
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

enum tutti_err tt_binary_find(const struct tt_archive *archive, const char *file, const char *model_identifier,
                              struct tt_binary_entry *found)
{
    const struct tt_binary_platform *other = NULL;
    for (const struct tt_binary_platform *platform = tt_binary_platforms(); platform->folders[0]; platform++) {
        const char *const *folder = platform->folders;
        found->keeper = platform->keeper;
        while (*folder && !binary_find_in(archive, *folder, model_identifier, found))
            folder++;
        if (!*folder)
            continue;
        char *path = NULL;
        bool installed = !platform->keeper || tt_module_find_program(&path, platform->keeper) == TUTTI_OK;
        free(path);
        if (installed)
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

enum { MOST_LIBRARIES = 256 };

/* One library that was found, and is looked at in its turn. */
struct needed_library {
    char *name, *path; /* path NULL: the process has it, from a place that is not known */
    bool has_name;     /* the one by which it was looked for is inside */
    struct tt_text folders;
};

struct needed_search {
    struct needed_library libraries[MOST_LIBRARIES];
    size_t count, at;   /* at: the one that is looked at */
    const char *beside; /* the folder of the first, with a slash at its end */
    struct tt_needed_missing *missing;
    bool failed; /* no memory */
};

static bool needed_is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, R_OK) == 0;
}

/* Returns FOLDER/NAME, which belongs to the caller; NULL if it does not exist. Here and below, *failed: memory is out. */
static char *find_in_folder(const char *folder, size_t length, const char *name, bool *failed)
{
    struct tt_text path = {0};
    tt_text_append_n(&path, folder, length);
    tt_text_printf(&path, "%s%s", length > 0 && folder[length - 1] != '/' ? "/" : "", name);
    *failed = *failed || path.failed;
    if (!path.failed && needed_is_file(path.text))
        return path.text;
    tt_text_fini(&path);
    return NULL;
}

/* "$ORIGIN/lib:/opt/lib", of a library in the folder `origin`. */
static char *find_in_folders(const char *folders, const char *origin, const char *name, bool *failed)
{
    char *found = NULL;
    for (const char *at = folders; *at && !found; at += strspn(at, ":")) {
        size_t length = strcspn(at, ":"), skip = strncmp(at, "$ORIGIN", 7) == 0     ? 7
                                                 : strncmp(at, "${ORIGIN}", 9) == 0 ? 9
                                                                                    : 0;
        struct tt_text folder = {0};
        if (skip > 0)
            tt_text_append_n(&folder, origin, (size_t)(strrchr(origin, '/') - origin));
        tt_text_append_n(&folder, at + skip, length - skip);
        *failed = *failed || folder.failed;
        found = folder.failed ? NULL : find_in_folder(folder.text, folder.length, name, failed);
        tt_text_fini(&folder);
        at += length;
    }
    return found;
}

/* The loader's own folders, those of LD_LIBRARY_PATH among them. */
static char *find_in_search_path(const char *name, bool *failed)
{
    char *found = NULL;
    Dl_serinfo size = {0}, *info = NULL;
    void *program = dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD);
    if (!program || dlinfo(program, RTLD_DI_SERINFOSIZE, &size) != 0)
        return NULL;
    info = calloc(1, size.dls_size);
    *failed = *failed || !info;
    if (info) {
        info->dls_size = size.dls_size;
        info->dls_cnt = size.dls_cnt;
        for (unsigned i = 0; dlinfo(program, RTLD_DI_SERINFO, info) == 0 && i < size.dls_cnt && !found; i++)
            found = find_in_folder(info->dls_serpath[i].dls_name, strlen(info->dls_serpath[i].dls_name), name, failed);
    }
    free(info);
    return found;
}

/* The cache of the loader holds paths, each ended by a zero; its format does not matter here. */
static const char *needed_find_path(const char *bytes, size_t size, const char *name)
{
    size_t length = strlen(name) + 1;
    for (const char *at = bytes; at < bytes + size;) {
        const char *end = bytes + size, *hit = memmem(at, (size_t)(end - at), name, length);
        if (!hit)
            return NULL;
        const char *start = hit;
        while (start > bytes && start[-1] != '\0')
            start--;
        if (*start == '/' && hit > start && hit[-1] == '/' && needed_is_file(start))
            return start;
        at = hit + 1;
    }
    return NULL;
}

static char *find_in_cache(const char *name, bool *failed)
{
    struct stat st;
    char *found = NULL;
    int fd = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        const char *path = bytes == MAP_FAILED ? NULL : needed_find_path(bytes, (size_t)st.st_size, name);
        found = path ? tt_text_copy(path) : NULL;
        *failed = *failed || (path && !found);
        if (bytes != MAP_FAILED)
            munmap(bytes, (size_t)st.st_size);
    }
    if (fd >= 0)
        close(fd);
    return found;
}

static bool needed_is_listed(const struct needed_search *search, const char *name)
{
    for (size_t i = 0; i < search->count; i++)
        if (strcmp(search->libraries[i].name, name) == 0)
            return true;
    return false;
}

static void report_missing_library(struct needed_search *search, const char *name, bool is_nameless)
{
    if (search->missing->name[0])
        return;
    snprintf(search->missing->name, sizeof search->missing->name, "%s", name);
    search->missing->is_nameless = is_nameless;
}

static void needed_note_name(void *context, enum tt_elf_entry entry, const char *text)
{
    struct needed_library *library = context;
    library->has_name = library->has_name || (entry == TUTTI_ELF_NAME && strcmp(text, library->name) == 0);
}

/* Takes `path`. */
static struct needed_library *needed_add(struct needed_search *search, const char *name, char *path)
{
    struct needed_library library = {.name = tt_text_copy(name), .path = path};
    if (!library.name || search->count == MOST_LIBRARIES) {
        search->failed = search->failed || !library.name;
        free(library.name);
        free(path);
        return NULL;
    }
    search->libraries[search->count] = library;
    return &search->libraries[search->count++];
}

static void needed_add_folders(void *context, enum tt_elf_entry entry, const char *text)
{
    struct needed_search *search = context;
    struct tt_text *folders = &search->libraries[search->at].folders;
    if (entry == TUTTI_ELF_FOLDERS)
        tt_text_printf(folders, "%s%s", folders->length > 0 ? ":" : "", text);
    search->failed = search->failed || folders->failed;
}

/* By a path, or in the folders that its user names. */
static char *find_by_user_path(const struct needed_library *user, const char *name, bool *failed)
{
    if (!strchr(name, '/'))
        return user->folders.length > 0 ? find_in_folders(user->folders.text, user->path, name, failed) : NULL;
    char *path = needed_is_file(name) ? tt_text_copy(name) : NULL;
    *failed = *failed || (!path && needed_is_file(name));
    return path;
}

static void needed_add_library(void *context, enum tt_elf_entry entry, const char *name)
{
    struct needed_search *search = context;
    if (entry != TUTTI_ELF_NEEDED || needed_is_listed(search, name))
        return;
    char *path = find_by_user_path(&search->libraries[search->at], name, &search->failed);
    void *loaded = path ? NULL : dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    if (loaded)
        dlclose(loaded);
    bool in_process = loaded != NULL;
    char *neighbour =
        path || in_process ? NULL : find_in_folder(search->beside, strlen(search->beside), name, &search->failed);
    if (neighbour) {
        /* library.c passes it to the loader by hand, under the name inside the file. */
        struct needed_library *library = needed_add(search, name, neighbour);
        if (library)
            tt_elf_each_entry(library->path, needed_note_name, library);
        if (library && !library->has_name)
            report_missing_library(search, name, true);
        return;
    }
    if (!path)
        path = find_in_search_path(name, &search->failed);
    if (!path)
        path = find_in_cache(name, &search->failed);
    if (path || in_process)
        needed_add(search, name, path);
    else
        report_missing_library(search, name, false);
}

static void needed_search(struct needed_search *search, void (*visit)(void *context, const char *path), void *context)
{
    for (; search->at < search->count; search->at++) {
        const char *path = search->libraries[search->at].path;
        if (!path)
            continue;
        visit(context, path);
        tt_elf_each_entry(path, needed_add_folders, search);
        tt_elf_each_entry(path, needed_add_library, search);
    }
}

enum tutti_err tt_binary_each_needed(const char *path, void (*visit)(void *context, const char *path), void *context,
                                     struct tt_needed_missing *missing)
{
    *missing = (struct tt_needed_missing){0};
    struct needed_search *search = calloc(1, sizeof *search);
    struct tt_text beside = {0};
    tt_text_append_n(&beside, path, (size_t)(strrchr(path, '/') - path) + 1);
    bool ready = search && !beside.failed;
    if (ready) {
        search->missing = missing;
        search->beside = beside.text;
        char *copy = tt_text_copy(path);
        search->failed = !copy;
        if (copy)
            needed_add(search, path, copy);
        needed_search(search, visit, context);
        ready = !search->failed;
    }
    for (size_t i = 0; search && i < search->count; i++) {
        free(search->libraries[i].name);
        free(search->libraries[i].path);
        tt_text_fini(&search->libraries[i].folders);
    }
    free(search);
    tt_text_fini(&beside);
    return ready ? TUTTI_OK : tt_fail_memory();
}

const struct tt_binary_platform *tt_binary_platforms(void)
{
    static const struct tt_binary_platform platforms[] = {
#if defined(__x86_64__)
        {{"x86_64-linux", "linux64"}, NULL, NULL},
        {{"x86-linux", "linux32"}, "tutti_keeper32", "gcc-i686-linux-gnu"},
#elif defined(__aarch64__)
        {{"aarch64-linux", "linux64-arm", "linux64"}, NULL, NULL},
#elif defined(__i386__)
        {{"x86-linux", "linux32"}, NULL, NULL},
#else
#error "add the folder names under binaries/ of this platform"
#endif
        {{NULL}, NULL, NULL},
    };
    return platforms;
}
