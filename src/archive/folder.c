/* SPDX-License-Identifier: MIT */
/* An FMU that was unpacked already: used where it lies, never written to. Links in it are its owner's business and
 * are followed; devices, pipes and sockets are not listed, and so cannot be opened. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "archive/kind.h"

struct folder_archive {
    struct tutti_archive base;
    char *folder; /* absolute */
    int fd;       /* of the folder */
    int file;     /* of the entry being read */
};

/* The folders that a walk is in, innermost first: a link that leads back to one of them is not followed. */
struct place {
    const struct place *outer;
    dev_t device;
    ino_t inode;
    int depth;
};

struct walk {
    struct folder_archive *archive;
    char name[TUTTI_ARCHIVE_NAME + 2]; /* of the folder being listed, with its slash */
};

static enum tutti_err list(struct walk *walk, int fd, size_t length, const struct place *outer);

static enum tutti_err fail_reading(const struct folder_archive *archive, const char *name)
{
    return tutti_fail(TUTTI_ERR_IO, "cannot read '%s' in the folder %s: %s", tutti_str_show(name).text,
                      archive->base.path, strerror(errno));
}

static enum tutti_err list_one(struct walk *walk, int folder, size_t length, const char *last,
                               const struct place *place)
{
    struct tutti_archive *base = &walk->archive->base;
    size_t n = strlen(last);
    struct stat st;
    if (fstatat(folder, last, &st, 0) != 0 || !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
        return TUTTI_OK; /* a dangling link, or nothing to read from */
    if (length + n > TUTTI_ARCHIVE_NAME || place->depth > TUTTI_ARCHIVE_DEPTH)
        return tutti_fail(TUTTI_ERR_LIMIT, "%s: folders are nested too deep at '%s'", base->path,
                          tutti_str_show(walk->name).text);
    memcpy(walk->name + length, last, n + 1);
    if (S_ISREG(st.st_mode))
        return tutti_archive_add(
            base, walk->name,
            &(struct tutti_archive_entry){.size = (uint64_t)st.st_size, .executable = (st.st_mode & 0111) != 0});
    for (const struct place *p = place; p; p = p->outer)
        if (p->device == st.st_dev && p->inode == st.st_ino)
            return TUTTI_OK;
    memcpy(walk->name + length + n, "/", 2);
    TRY(tutti_archive_add(base, walk->name, &(struct tutti_archive_entry){0}));
    int fd = openat(folder, last, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? fail_reading(walk->archive, walk->name) : list(walk, fd, length + n + 1, place);
}

/* Lists what is in `fd`, and takes it. */
static enum tutti_err list(struct walk *walk, int fd, size_t length, const struct place *outer)
{
    struct stat st;
    DIR *folder = fdopendir(fd);
    if (!folder || fstat(fd, &st) != 0) {
        enum tutti_err err = fail_reading(walk->archive, walk->name);
        if (folder)
            closedir(folder);
        else
            close(fd);
        return err;
    }
    struct place place = {outer, st.st_dev, st.st_ino, outer ? outer->depth + 1 : 0};
    enum tutti_err err = TUTTI_OK;
    while (err == TUTTI_OK) {
        errno = 0;
        struct dirent *entry = readdir(folder);
        walk->name[length] = '\0';
        if (!entry) {
            err = errno ? fail_reading(walk->archive, walk->name) : TUTTI_OK;
            break;
        }
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            err = list_one(walk, fd, length, entry->d_name, &place);
    }
    closedir(folder);
    return err;
}

static int compare_names(const void *a, const void *b)
{
    const struct tutti_archive_entry *left = a, *right = b;
    return strcmp(left->name, right->name);
}

static enum tutti_err begin(struct tutti_archive *base)
{
    struct folder_archive *archive = (struct folder_archive *)base;
    archive->file = openat(archive->fd, base->entry->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    return archive->file < 0 ? fail_reading(archive, base->entry->name) : TUTTI_OK;
}

static enum tutti_err read_entry(void *context, void *buffer, size_t size, size_t *got)
{
    struct folder_archive *archive = context;
    ssize_t n;
    do
        n = read(archive->file, buffer, size);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return fail_reading(archive, archive->base.entry->name);
    *got = (size_t)n;
    return TUTTI_OK;
}

static void end(struct tutti_archive *base)
{
    close(((struct folder_archive *)base)->file);
}

static enum tutti_err folder_of(struct tutti_archive *base, const char **folder)
{
    *folder = ((struct folder_archive *)base)->folder;
    return TUTTI_OK;
}

static void fini(struct tutti_archive *base)
{
    struct folder_archive *archive = (struct folder_archive *)base;
    if (archive->fd >= 0)
        close(archive->fd);
    free(archive->folder);
}

static const struct tutti_archive_kind kind = {.begin = begin,
                                               .read = read_entry,
                                               .end = end,
                                               .folder = folder_of,
                                               .fini = fini};

enum tutti_err tutti_archive_open_folder(struct tutti_archive **out, const char *path, int fd)
{
    *out = tutti_archive_new(sizeof(struct folder_archive), &kind, path);
    if (!*out) {
        close(fd);
        return tutti_fail_memory();
    }
    struct folder_archive *archive = (struct folder_archive *)*out;
    archive->fd = fd;
    archive->folder = realpath(path, NULL);
    int listed = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (!archive->folder || listed < 0) {
        enum tutti_err err = tutti_fail(TUTTI_ERR_IO, "cannot read the folder %s: %s", path, strerror(errno));
        if (listed >= 0)
            close(listed);
        return err;
    }
    TRY(list(&(struct walk){.archive = archive}, listed, 0, NULL));
    if (archive->base.count > 1)
        qsort(archive->base.entries, archive->base.count, sizeof *archive->base.entries, compare_names);
    return TUTTI_OK;
}
