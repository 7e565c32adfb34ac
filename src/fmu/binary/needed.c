/* SPDX-License-Identifier: MIT */
#include "fmu/binary/needed.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "fmu/binary/elf.h"

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

/* FOLDER/NAME, if it is there; the caller's. Here and below, *failed: there is no memory to tell. */
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

static bool is_loaded_in_process(const char *name)
{
    void *handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    if (handle)
        dlclose(handle);
    return handle != NULL;
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

/* A library that stands beside the FMU's is given to the loader by hand (library.c), and known by the name inside. */
static void add_neighbour(struct needed_search *search, const char *name, char *path)
{
    struct needed_library *library = needed_add(search, name, path);
    if (library)
        tt_elf_each_entry(library->path, needed_note_name, library);
    if (library && !library->has_name)
        report_missing_library(search, name, true);
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
    bool in_process = !path && is_loaded_in_process(name);
    char *neighbour =
        path || in_process ? NULL : find_in_folder(search->beside, strlen(search->beside), name, &search->failed);
    if (neighbour) {
        add_neighbour(search, name, neighbour);
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
