/* SPDX-License-Identifier: MIT */
#include "fmi/binary/needed.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "fmi/binary/elf.h"

enum { MOST_LIBRARIES = 256 };

/* One library that was found, and is looked at in its turn. */
struct found {
    char *name, *path; /* path NULL: the process has it, from a place that is not known */
    bool has_name;     /* the one by which it was looked for is inside */
    struct tutti_text folders;
};

struct search {
    struct found libraries[MOST_LIBRARIES];
    size_t count, at;   /* at: the one that is looked at */
    const char *beside; /* the folder of the first, with a slash at its end */
    struct tutti_needed_missing *missing;
    bool failed; /* no memory */
};

static bool is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, R_OK) == 0;
}

/* FOLDER/NAME, if it is there; the caller's. Here and below, *failed: there is no memory to tell. */
static char *in_folder(const char *folder, size_t length, const char *name, bool *failed)
{
    struct tutti_text path = {0};
    tutti_text_append_n(&path, folder, length);
    tutti_text_printf(&path, "%s%s", length > 0 && folder[length - 1] != '/' ? "/" : "", name);
    *failed = *failed || path.failed;
    if (!path.failed && is_file(path.text))
        return path.text;
    tutti_text_fini(&path);
    return NULL;
}

/* "$ORIGIN/lib:/opt/lib", of a library in the folder `origin`. */
static char *in_folders(const char *folders, const char *origin, const char *name, bool *failed)
{
    char *found = NULL;
    for (const char *at = folders; *at && !found; at += strspn(at, ":")) {
        size_t length = strcspn(at, ":"), skip = strncmp(at, "$ORIGIN", 7) == 0     ? 7
                                                 : strncmp(at, "${ORIGIN}", 9) == 0 ? 9
                                                                                    : 0;
        struct tutti_text folder = {0};
        if (skip > 0)
            tutti_text_append_n(&folder, origin, (size_t)(strrchr(origin, '/') - origin));
        tutti_text_append_n(&folder, at + skip, length - skip);
        *failed = *failed || folder.failed;
        found = folder.failed ? NULL : in_folder(folder.text, folder.length, name, failed);
        tutti_text_fini(&folder);
        at += length;
    }
    return found;
}

/* The loader's own folders, those of LD_LIBRARY_PATH among them. */
static char *in_search_path(const char *name, bool *failed)
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
            found = in_folder(info->dls_serpath[i].dls_name, strlen(info->dls_serpath[i].dls_name), name, failed);
    }
    free(info);
    return found;
}

/* The cache of the loader holds paths, each ended by a zero; its format does not matter here. */
static const char *find_path(const char *bytes, size_t size, const char *name)
{
    size_t length = strlen(name) + 1;
    for (const char *at = bytes; at < bytes + size;) {
        const char *end = bytes + size, *hit = memmem(at, (size_t)(end - at), name, length);
        if (!hit)
            return NULL;
        const char *start = hit;
        while (start > bytes && start[-1] != '\0')
            start--;
        if (*start == '/' && hit > start && hit[-1] == '/' && is_file(start))
            return start;
        at = hit + 1;
    }
    return NULL;
}

static char *in_cache(const char *name, bool *failed)
{
    struct stat st;
    char *found = NULL;
    int fd = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        const char *path = bytes == MAP_FAILED ? NULL : find_path(bytes, (size_t)st.st_size, name);
        found = path ? tutti_str_copy(path) : NULL;
        *failed = *failed || (path && !found);
        if (bytes != MAP_FAILED)
            munmap(bytes, (size_t)st.st_size);
    }
    if (fd >= 0)
        close(fd);
    return found;
}

static bool is_in_process(const char *name)
{
    void *handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    if (handle)
        dlclose(handle);
    return handle != NULL;
}

static bool is_listed(const struct search *search, const char *name)
{
    for (size_t i = 0; i < search->count; i++)
        if (strcmp(search->libraries[i].name, name) == 0)
            return true;
    return false;
}

static void tell_missing(struct search *search, const char *name, bool is_nameless)
{
    if (search->missing->name[0])
        return;
    snprintf(search->missing->name, sizeof search->missing->name, "%s", name);
    search->missing->is_nameless = is_nameless;
}

static void note_name(void *context, enum tutti_elf_entry entry, const char *text)
{
    struct found *library = context;
    library->has_name = library->has_name || (entry == TUTTI_ELF_NAME && strcmp(text, library->name) == 0);
}

/* Takes `path`. */
static struct found *add(struct search *search, const char *name, char *path)
{
    struct found library = {.name = tutti_str_copy(name), .path = path};
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
static void add_neighbour(struct search *search, const char *name, char *path)
{
    struct found *library = add(search, name, path);
    if (library)
        tutti_elf_each_entry(library->path, note_name, library);
    if (library && !library->has_name)
        tell_missing(search, name, true);
}

static void take_folders(void *context, enum tutti_elf_entry entry, const char *text)
{
    struct search *search = context;
    struct tutti_text *folders = &search->libraries[search->at].folders;
    if (entry == TUTTI_ELF_FOLDERS)
        tutti_text_printf(folders, "%s%s", folders->length > 0 ? ":" : "", text);
    search->failed = search->failed || folders->failed;
}

/* By a path, or in the folders that its user names. */
static char *where_told(const struct found *user, const char *name, bool *failed)
{
    if (!strchr(name, '/'))
        return user->folders.length > 0 ? in_folders(user->folders.text, user->path, name, failed) : NULL;
    char *path = is_file(name) ? tutti_str_copy(name) : NULL;
    *failed = *failed || (!path && is_file(name));
    return path;
}

static void take_needed(void *context, enum tutti_elf_entry entry, const char *name)
{
    struct search *search = context;
    if (entry != TUTTI_ELF_NEEDED || is_listed(search, name))
        return;
    char *path = where_told(&search->libraries[search->at], name, &search->failed);
    bool in_process = !path && is_in_process(name);
    char *neighbour = path || in_process ? NULL
                                         : in_folder(search->beside, strlen(search->beside), name, &search->failed);
    if (neighbour) {
        add_neighbour(search, name, neighbour);
        return;
    }
    if (!path)
        path = in_search_path(name, &search->failed);
    if (!path)
        path = in_cache(name, &search->failed);
    if (path || in_process)
        add(search, name, path);
    else
        tell_missing(search, name, false);
}

static void look(struct search *search, void (*visit)(void *context, const char *path), void *context)
{
    for (; search->at < search->count; search->at++) {
        const char *path = search->libraries[search->at].path;
        if (!path)
            continue;
        visit(context, path);
        tutti_elf_each_entry(path, take_folders, search);
        tutti_elf_each_entry(path, take_needed, search);
    }
}

enum tutti_err tutti_needed_each(const char *path, void (*visit)(void *context, const char *path), void *context,
                                 struct tutti_needed_missing *missing)
{
    *missing = (struct tutti_needed_missing){0};
    struct search *search = calloc(1, sizeof *search);
    struct tutti_text beside = {0};
    tutti_text_append_n(&beside, path, (size_t)(strrchr(path, '/') - path) + 1);
    bool ready = search && !beside.failed;
    if (ready) {
        search->missing = missing;
        search->beside = beside.text;
        char *copy = tutti_str_copy(path);
        search->failed = !copy;
        if (copy)
            add(search, path, copy);
        look(search, visit, context);
        ready = !search->failed;
    }
    for (size_t i = 0; search && i < search->count; i++) {
        free(search->libraries[i].name);
        free(search->libraries[i].path);
        tutti_text_fini(&search->libraries[i].folders);
    }
    free(search);
    tutti_text_fini(&beside);
    return ready ? TUTTI_OK : tutti_fail_memory();
}
