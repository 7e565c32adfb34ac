/* SPDX-License-Identifier: MIT */
/* Invariants:
 * 1. `house` is the folder that all others of this process lie in. It exists exactly while house.owner is not 0; its
 *    path is not changed meanwhile, so that a signal handler that sees an owner can read the path.
 * 2. house.owner is the process that made it. After a fork, a child that sees another owner forgets the house and
 *    never removes it.
 * 3. A process that removes a house holds its lock: the owner from making it on, a sweeper after testing. A house that is
 *    made but not yet locked is protected by its age. */
#include "base/tempdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/fs.h"
#include "base/text.h"

enum { GRACE_SECONDS = 60 };

static struct {
    pthread_mutex_t mutex;
    _Atomic pid_t owner; /* 0: the process has no folder yet */
    char path[PATH_MAX];
    int lock;        /* descriptor that holds the lock */
    size_t folders;  /* in it now */
    unsigned serial; /* names of folders, never used twice */
    pid_t swept_by;
} house = {.mutex = PTHREAD_MUTEX_INITIALIZER};

struct tt_tempdir {
    char *path;
    pid_t owner;
};

/* "tutti-PID-XXXXXX" and nothing else: what is removed must be ours beyond doubt. */
static bool tempdir_is_root_name(const char *name)
{
    if (strncmp(name, "tutti-", 6) != 0)
        return false;
    size_t digits = strspn(name + 6, "0123456789");
    const char *tail = name + 6 + digits;
    return digits > 0 && *tail == '-' && strlen(tail + 1) == 6 &&
           strspn(tail + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == 6;
}

/* Removes the house `name` if it is of this user, old enough, and no process holds its lock. */
static void tempdir_sweep_one(const char *base, int base_fd, const char *name)
{
    int fd = openat(base_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return;
    struct stat st;
    if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && (st.st_mode & 0777) == 0700 &&
        time(NULL) - st.st_mtime > GRACE_SECONDS && flock(fd, LOCK_EX | LOCK_NB) == 0) {
        char path[PATH_MAX];
        int length = snprintf(path, sizeof path, "%s/%s", base, name);
        if (length > 0 && (size_t)length < sizeof path)
            (void)tt_fs_remove_tree(path); /* what cannot be removed now is tried again by the next process */
    }
    close(fd);
}

/* Called with the mutex held. */
static enum tutti_err tempdir_make_root(void)
{
    char base[PATH_MAX]; /* absolute: an FMU may change the working directory */
    const char *wanted = getenv("TMPDIR");
    wanted = wanted && *wanted ? wanted : "/tmp";
    if (!realpath(wanted, base))
        return tt_fail(TUTTI_ERR_IO, "no folder for temporary files at %s: %s; set TMPDIR to a folder that exists",
                       wanted, strerror(errno));

    DIR *folder = house.swept_by != getpid() ? opendir(base) : NULL;
    house.swept_by = getpid();
    if (folder) {
        for (struct dirent *entry; (entry = readdir(folder));)
            if (tempdir_is_root_name(entry->d_name))
                tempdir_sweep_one(base, dirfd(folder), entry->d_name);
        closedir(folder);
    }

    int length = snprintf(house.path, sizeof house.path, "%s/tutti-%ld-XXXXXX", strcmp(base, "/") == 0 ? "" : base,
                          (long)getpid());
    /* 64: so that the folders in it fit too */
    if (length < 0 || (size_t)length >= sizeof house.path - 64)
        return tt_fail(TUTTI_ERR_IO, "the path of the folder for temporary files is too long; set TMPDIR to a shorter");
    if (!mkdtemp(house.path))
        return tt_fail(TUTTI_ERR_IO,
                       "cannot make a folder for temporary files in %s: %s; set TMPDIR to a folder that can be "
                       "written to",
                       base, strerror(errno));
    /* A file system without such locks is not an error: a sweeper cannot lock there either and removes nothing. */
    house.lock = open(house.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (house.lock >= 0)
        (void)flock(house.lock, LOCK_EX | LOCK_NB);
    house.folders = 0;
    atomic_store(&house.owner, getpid());
    return TUTTI_OK;
}

/* Called with the mutex held. */
static void tempdir_drop_root(void)
{
    (void)tt_fs_remove_tree(house.path);
    atomic_store(&house.owner, 0);
    if (house.lock >= 0)
        close(house.lock);
}

/* Called with the mutex held, once the process folder exists. */
static enum tutti_err tempdir_make_folder(struct tt_tempdir *dir)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%u", house.path, house.serial++);
    if (length < 0 || (size_t)length >= sizeof path || mkdir(path, S_IRWXU) != 0)
        return tt_fail(TUTTI_ERR_IO, "cannot make a folder for temporary files in %s: %s; set TMPDIR to another folder",
                       house.path, strerror(errno));
    dir->owner = getpid();
    dir->path = tt_text_copy(path);
    if (!dir->path) {
        rmdir(path);
        return tt_fail_memory();
    }
    house.folders++;
    return TUTTI_OK;
}

enum tutti_err tt_tempdir_new(struct tt_tempdir **out)
{
    struct tt_tempdir *dir = calloc(1, sizeof *dir);
    if (!dir)
        return tt_fail_memory();
    tt_child_hold();
    pthread_mutex_lock(&house.mutex);
    pid_t owner = atomic_load(&house.owner);
    if (owner != 0 && owner != getpid()) {
        /* A fork's child closes its copy of the parent's lock; the parent keeps its own. */
        if (house.lock >= 0)
            close(house.lock);
        atomic_store(&house.owner, 0);
    }
    enum tutti_err err = atomic_load(&house.owner) ? TUTTI_OK : tempdir_make_root();
    if (err == TUTTI_OK) {
        err = tempdir_make_folder(dir);
        if (house.folders == 0)
            tempdir_drop_root();
    }
    pthread_mutex_unlock(&house.mutex);
    tt_child_release();
    if (err == TUTTI_OK)
        *out = dir;
    else
        free(dir);
    return err;
}

const char *tt_tempdir_path(const struct tt_tempdir *dir)
{
    return dir->path;
}

void tt_tempdir_free(struct tt_tempdir *dir)
{
    if (!dir)
        return;
    if (dir->owner == getpid()) {
        (void)tt_fs_remove_tree(dir->path);
        tt_child_hold();
        pthread_mutex_lock(&house.mutex);
        if (--house.folders == 0)
            tempdir_drop_root();
        pthread_mutex_unlock(&house.mutex);
        tt_child_release();
    }
    free(dir->path);
    free(dir);
}

void tt_tempdir_remove_all(pid_t owner)
{
    if (atomic_load(&house.owner) == owner)
        (void)tt_fs_remove_tree(house.path);
}
