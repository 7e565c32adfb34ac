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

#include "base/text.h"
#include "fmu/archive/archive.h"

struct folder_archive {
    struct tt_archive base;
    char *folder; /* absolute */
    int fd;       /* of the folder */
    int file;     /* of the entry being read */
};

/* The folders that a walk is in, innermost first: a link that leads back to one of them is not followed. */
struct folder_level {
    const struct folder_level *outer;
    dev_t device;
    ino_t inode;
    int depth;
};

struct folder_walk {
    struct folder_archive *archive;
    char name[TUTTI_ARCHIVE_NAME + 2]; /* of the folder being listed, with its slash */
};

static enum tutti_err folder_archive_list(struct folder_walk *walk, int fd, size_t length,
                                          const struct folder_level *outer);

static enum tutti_err folder_archive_fail_reading(const struct folder_archive *archive, const char *name)
{
    return tt_fail(TUTTI_ERR_IO, "cannot read '%s' in the folder %s: %s", tt_text_excerpt(name).text,
                   archive->base.path, strerror(errno));
}

static enum tutti_err folder_archive_list_one(struct folder_walk *walk, int folder, size_t length, const char *last,
                                              const struct folder_level *place)
{
    struct tt_archive *base = &walk->archive->base;
    size_t n = strlen(last);
    struct stat st;
    if (fstatat(folder, last, &st, 0) != 0 || !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
        return TUTTI_OK; /* a dangling link, or nothing to read from */
    if (length + n > TUTTI_ARCHIVE_NAME || place->depth > TUTTI_ARCHIVE_DEPTH)
        return tt_fail(TUTTI_ERR_LIMIT, "%s: folders are nested too deep at '%s'", base->path,
                       tt_text_excerpt(walk->name).text);
    memcpy(walk->name + length, last, n + 1);
    if (S_ISREG(st.st_mode))
        return tt_archive_add(
            base, walk->name,
            &(struct tt_archive_entry){.size = (uint64_t)st.st_size, .executable = (st.st_mode & 0111) != 0});
    for (const struct folder_level *p = place; p; p = p->outer)
        if (p->device == st.st_dev && p->inode == st.st_ino)
            return TUTTI_OK;
    memcpy(walk->name + length + n, "/", 2);
    TRY(tt_archive_add(base, walk->name, &(struct tt_archive_entry){0}));
    int fd = openat(folder, last, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? folder_archive_fail_reading(walk->archive, walk->name)
                  : folder_archive_list(walk, fd, length + n + 1, place);
}

static enum tutti_err folder_archive_list(struct folder_walk *walk, int fd, size_t length,
                                          const struct folder_level *outer)
{
    struct stat st;
    DIR *folder = fdopendir(fd);
    if (!folder || fstat(fd, &st) != 0) {
        enum tutti_err err = folder_archive_fail_reading(walk->archive, walk->name);
        if (folder)
            closedir(folder);
        else
            close(fd);
        return err;
    }
    struct folder_level place = {outer, st.st_dev, st.st_ino, outer ? outer->depth + 1 : 0};
    enum tutti_err err = TUTTI_OK;
    while (err == TUTTI_OK) {
        errno = 0;
        struct dirent *entry = readdir(folder);
        walk->name[length] = '\0';
        if (!entry) {
            err = errno ? folder_archive_fail_reading(walk->archive, walk->name) : TUTTI_OK;
            break;
        }
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            err = folder_archive_list_one(walk, fd, length, entry->d_name, &place);
    }
    closedir(folder);
    return err;
}

static int folder_archive_compare_names(const void *a, const void *b)
{
    const struct tt_archive_entry *left = a, *right = b;
    return strcmp(left->name, right->name);
}

static enum tutti_err folder_archive_open_entry(struct tt_archive *base)
{
    struct folder_archive *archive = (struct folder_archive *)base;
    archive->file = openat(archive->fd, base->entry->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    return archive->file < 0 ? folder_archive_fail_reading(archive, base->entry->name) : TUTTI_OK;
}

static enum tutti_err folder_archive_read_entry(void *context, void *buffer, size_t size, size_t *got)
{
    struct folder_archive *archive = context;
    ssize_t n;
    do
        n = read(archive->file, buffer, size);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return folder_archive_fail_reading(archive, archive->base.entry->name);
    *got = (size_t)n;
    return TUTTI_OK;
}

static void folder_archive_close_entry(struct tt_archive *base)
{
    close(((struct folder_archive *)base)->file);
}

static enum tutti_err folder_archive_path(struct tt_archive *base, const char **folder)
{
    *folder = ((struct folder_archive *)base)->folder;
    return TUTTI_OK;
}

static void folder_archive_fini(struct tt_archive *base)
{
    struct folder_archive *archive = (struct folder_archive *)base;
    if (archive->fd >= 0)
        close(archive->fd);
    free(archive->folder);
}

static const struct tt_archive_kind kind = {.begin = folder_archive_open_entry,
                                            .read = folder_archive_read_entry,
                                            .end = folder_archive_close_entry,
                                            .folder = folder_archive_path,
                                            .fini = folder_archive_fini};

enum tutti_err tt_folder_archive_open(struct tt_archive **out, const char *path, int fd)
{
    *out = tt_archive_new(sizeof(struct folder_archive), &kind, path);
    if (!*out) {
        close(fd);
        return tt_fail_memory();
    }
    struct folder_archive *archive = (struct folder_archive *)*out;
    archive->fd = fd;
    archive->folder = realpath(path, NULL);
    int listed = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (!archive->folder || listed < 0) {
        enum tutti_err err = tt_fail(TUTTI_ERR_IO, "cannot read the folder %s: %s", path, strerror(errno));
        if (listed >= 0)
            close(listed);
        return err;
    }
    TRY(folder_archive_list(&(struct folder_walk){.archive = archive}, listed, 0, NULL));
    if (archive->base.count > 1)
        qsort(archive->base.entries, archive->base.count, sizeof *archive->base.entries, folder_archive_compare_names);
    return TUTTI_OK;
}
