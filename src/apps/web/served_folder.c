/* SPDX-License-Identifier: MIT */
#include "apps/web/served_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

enum { LONGEST_PART = 255, LONGEST = 4000 };

enum tutti_err tt_served_folder_init(struct tt_served_folder *folder, const char *path)
{
    *folder = (struct tt_served_folder){.fd = -1};
    folder->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder->fd < 0)
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s: %s", path, errno == ENOTDIR ? "this is no folder" : strerror(errno));
    folder->path = realpath(path, NULL);
    return folder->path ? TUTTI_OK : tt_fail(TUTTI_ERR_IO, "%s: %s", path, strerror(errno));
}

void tt_served_folder_fini(struct tt_served_folder *folder)
{
    if (folder->fd >= 0)
        close(folder->fd);
    free(folder->path);
    *folder = (struct tt_served_folder){.fd = -1};
}

static enum tutti_err served_folder_reject(const char *name, const char *why)
{
    return tt_fail(TUTTI_ERR_ARGUMENT, "'%s' %s", tt_text_excerpt(name).text, why);
}

static enum tutti_err served_folder_is_missing(const char *name, int error)
{
    return tt_fail(TUTTI_ERR_IO, "%s: %s", tt_text_excerpt(name).text,
                   error == ELOOP ? "symbolic links are not followed" : strerror(error));
}

/* The part that begins at `name`; *next is what follows it. */
static enum tutti_err split_path_part(const char *whole, const char *name, char part[LONGEST_PART + 1],
                                      const char **next)
{
    size_t length = strcspn(name, "/");
    if (length == 0)
        return served_folder_reject(
            whole, "is no name of a file in this folder: it is relative, with one / between its parts");
    if (length > LONGEST_PART)
        return served_folder_reject(whole, "is too long");
    if (name[0] == '.')
        return served_folder_reject(
            whole,
            "has a part that begins with a dot: hidden files are not served, and nothing leads out of the folder");
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)name[i] < 0x20 || name[i] == 0x7f || name[i] == '\\')
            return served_folder_reject(whole, "has characters that no name of a file should have");
    memcpy(part, name, length);
    part[length] = '\0';
    *next = name + length + (name[length] == '/');
    if (name[length] == '/' && !**next)
        return served_folder_reject(whole, "ends with a /");
    return TUTTI_OK;
}

/* Walks from folder to folder to the last part; *parent is then the folder that contains it. */
static enum tutti_err served_folder_walk(const struct tt_served_folder *folder, const char *name, int *parent,
                                         char part[LONGEST_PART + 1])
{
    const char *rest = name, *next = name;
    *parent = fcntl(folder->fd, F_DUPFD_CLOEXEC, 0);
    if (*parent < 0)
        return tt_fail(TUTTI_ERR_IO, "%s: %s", folder->path, strerror(errno));
    for (;;) {
        enum tutti_err err = split_path_part(name, rest, part, &next);
        if (err || !*next)
            return err;
        int deeper = openat(*parent, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        int error = errno;
        close(*parent);
        *parent = deeper;
        if (deeper < 0)
            return served_folder_is_missing(name, error == ENOTDIR ? ELOOP : error);
        rest = next;
    }
}

static enum tutti_err served_folder_check_last(const char *name, int parent, const char *part,
                                               enum tt_served_kind wanted)
{
    struct stat st;
    bool there = fstatat(parent, part, &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (!there)
        return errno == ENOENT && wanted == TUTTI_WEB_NEW_FILE ? TUTTI_OK : served_folder_is_missing(name, errno);
    if (S_ISLNK(st.st_mode))
        return served_folder_is_missing(name, ELOOP);
    if (wanted == TUTTI_WEB_FOLDER ? !S_ISDIR(st.st_mode) : !S_ISREG(st.st_mode))
        return served_folder_reject(name, wanted == TUTTI_WEB_FOLDER ? "is no folder" : "is no file");
    return TUTTI_OK;
}

enum tutti_err tt_served_folder_find(const struct tt_served_folder *folder, const char *name,
                                     enum tt_served_kind wanted, char **path)
{
    struct tt_text text = {0};
    char part[LONGEST_PART + 1];
    int parent = -1;
    if (strlen(name) > LONGEST)
        return served_folder_reject(name, "is too long");
    if (*name || wanted != TUTTI_WEB_FOLDER) {
        enum tutti_err err = served_folder_walk(folder, name, &parent, part);
        if (parent >= 0) {
            if (!err)
                err = served_folder_check_last(name, parent, part, wanted);
            close(parent);
        }
        TRY(err);
    }
    tt_text_printf(&text, *name ? "%s/%s" : "%s", folder->path, name);
    *path = text.failed ? NULL : text.text;
    if (text.failed)
        tt_text_fini(&text);
    return *path ? TUTTI_OK : tt_fail_memory();
}

enum tutti_err tt_served_folder_open(const struct tt_served_folder *folder, const char *name, int *fd)
{
    char *path;
    TRY(tt_served_folder_find(folder, name, TUTTI_WEB_FOLDER, &path));
    *fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int error = errno;
    free(path);
    return *fd >= 0 ? TUTTI_OK : served_folder_is_missing(name, error);
}
