/* SPDX-License-Identifier: MIT */
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"

size_t tt_fs_write(int fd, const void *data, size_t n, off_t at)
{
    size_t done = 0;
    while (done < n) {
        const char *next = (const char *)data + done;
        ssize_t some = at < 0 ? write(fd, next, n - done) : pwrite(fd, next, n - done, at + (off_t)done);
        if (some > 0)
            done += (size_t)some;
        else if (some < 0 && errno == EAGAIN) /* a pipe that another program made non-blocking */
            (void)poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
        else if (some == 0 || errno != EINTR)
            break;
    }
    return done;
}

bool tt_fs_identify(int fd, struct tt_fs_identity *identity)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return false;
    *identity = (struct tt_fs_identity){st.st_dev, st.st_ino, st.st_mode, st.st_size};
    return true;
}

int tt_fs_move_descriptor(int fd)
{
    enum { USUAL_LIMIT = 1024 }; /* that programs close descriptors up to */
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return fd;
    int least = limit.rlim_cur > USUAL_LIMIT + USUAL_LIMIT / 4 ? USUAL_LIMIT
                                                               : (int)(limit.rlim_cur - limit.rlim_cur / 4);
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, least);
    if (moved < 0)
        return fd;
    close(fd);
    return moved;
}

/* Record of getdents64(2), used because glibc's readdir is not async-signal-safe. */
struct kernel_dirent {
    uint64_t inode;
    int64_t next; /* offset of the next entry */
    uint16_t size;
    uint8_t type;
    char name[];
};

/* The folders from the top of the tree down to where the removal is. Folders deeper than that are moved up to the top,
 * so that any depth is removed with this little memory and few open files: the stack of a signal handler is small. */
enum { LEVELS = 16 };

struct fs_walk {
    int depth; /* of the folder being emptied; its descriptor is fd[depth] */
    int fd[LEVELS];
    int64_t resume[LEVELS]; /* where to read on after coming back from a subfolder */
    bool pass[LEVELS];      /* something in the folder went away in this pass over it: another pass may find more */
    bool ever[LEVELS];      /* the same for all passes so far */
    unsigned moved;         /* folders moved up so far */
    alignas(struct kernel_dirent) char entries[2048];
};

/* Opens a folder for emptying. One that its maker closed to himself is opened up. */
static int fs_open_folder(int parent, const char *name)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(parent, name, flags);
    struct stat st;
    if (fd < 0 && errno == EACCES && fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) &&
        fchmodat(parent, name, S_IRWXU, 0) == 0)
        fd = openat(parent, name, flags);
    if (fd >= 0 && fstat(fd, &st) == 0 && (st.st_mode & S_IRWXU) != S_IRWXU)
        (void)fchmod(fd, S_IRWXU);
    return fd;
}

static void fs_enter_folder(struct fs_walk *walk, int fd)
{
    int depth = ++walk->depth;
    walk->fd[depth] = fd;
    walk->pass[depth] = walk->ever[depth] = false;
}

static bool fs_leave_to_parent(struct fs_walk *walk, const char *name)
{
    char new_name[32] = "tutti-deep-"; /* then digits: snprintf is not for signal handlers */
    size_t n = strlen(new_name);
    for (unsigned rest = walk->moved++; n == strlen("tutti-deep-") || rest > 0; rest /= 10)
        new_name[n++] = (char)('0' + rest % 10);
    return renameat(walk->fd[walk->depth], name, walk->fd[0], new_name) == 0;
}

/* Removes one entry, or enters it. Returns true if it entered a subfolder. */
static bool remove_entry(struct fs_walk *walk, const struct kernel_dirent *entry)
{
    int depth = walk->depth, parent = walk->fd[depth];
    if (unlinkat(parent, entry->name, 0) == 0 || unlinkat(parent, entry->name, AT_REMOVEDIR) == 0) {
        walk->pass[depth] = true;
        return false;
    }
    if (errno != ENOTEMPTY && errno != EEXIST && errno != EACCES)
        return false;
    if (depth == LEVELS - 1) {
        if (fs_leave_to_parent(walk, entry->name))
            walk->pass[0] = walk->pass[depth] = true;
        return false;
    }
    int fd = fs_open_folder(parent, entry->name);
    if (fd < 0)
        return false;
    walk->resume[depth] = entry->next;
    fs_enter_folder(walk, fd);
    return true;
}

/* Reads the folder from where it is, removing; returns true if a subfolder was entered, false at the end. */
static bool remove_entries(struct fs_walk *walk)
{
    for (;;) {
        long n = syscall(SYS_getdents64, walk->fd[walk->depth], walk->entries, sizeof walk->entries);
        if (n <= 0)
            return false;
        for (long at = 0; at < n;) {
            const struct kernel_dirent *entry = (const struct kernel_dirent *)(const void *)(walk->entries + at);
            at += entry->size;
            if (strcmp(entry->name, ".") != 0 && strcmp(entry->name, "..") != 0 && remove_entry(walk, entry))
                return true;
        }
    }
}

int tt_fs_remove_tree(const char *path)
{
    /* unlink() first: it takes files and links, and leaves folders alone. */
    if (unlink(path) == 0 || errno == ENOENT)
        return 0;
    int top = fs_open_folder(AT_FDCWD, path);
    if (top < 0)
        return -1;
    struct fs_walk walk;
    walk.depth = -1;
    walk.moved = 0;
    fs_enter_folder(&walk, top);
    while (walk.depth >= 0) {
        if (remove_entries(&walk))
            continue;
        int depth = walk.depth;
        if (walk.pass[depth]) { /* ends: every pass but the last removes something */
            walk.pass[depth] = false;
            walk.ever[depth] = true;
            (void)lseek(walk.fd[depth], 0, SEEK_SET);
        } else {
            /* Back to the parent; its next pass removes this folder if it is now empty. */
            close(walk.fd[depth]);
            walk.depth--;
            if (depth > 0) {
                walk.pass[depth - 1] |= walk.ever[depth];
                (void)lseek(walk.fd[depth - 1], walk.resume[depth - 1], SEEK_SET);
            }
        }
    }
    return rmdir(path) == 0 || errno == ENOENT ? 0 : -1;
}

char *tt_fs_absolute(const char *path)
{
    char *folder = path[0] == '/' ? strdup("") : getcwd(NULL, 0);
    if (!folder)
        return NULL;
    size_t size = strlen(folder) + strlen(path) + 2;
    char *absolute = malloc(size);
    if (absolute)
        snprintf(absolute, size, "%s%s%s", folder, path[0] == '/' ? "" : "/", path);
    free(folder);
    return absolute;
}

static bool is_same_inode(const char *a, const char *b, mode_t kind)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino && (first.st_mode & S_IFMT) == kind;
}

/* The folder that a path leads through. */
static const char *fs_folder_of(const char *path, char *folder, size_t size)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return ".";
    snprintf(folder, size, "%.*s", (int)(slash - path + 1), path);
    return folder;
}

bool tt_fs_sync_folder(const char *path)
{
    char folder[4096];
    int fd = open(fs_folder_of(path, folder, sizeof folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool synced = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL);
    int number = errno;
    if (fd >= 0)
        close(fd);
    errno = number;
    return synced;
}

static bool fs_write_whole(const char *path, const void *data, size_t n, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
    if (fd < 0)
        return false;
    bool written = tt_fs_write(fd, data, n, -1) == n && fsync(fd) == 0;
    int number = errno;
    bool closed = close(fd) == 0;
    if (!written)
        errno = number;
    return written && closed;
}

static bool fs_replace_with_mode(const char *path, const void *data, size_t n, mode_t mode)
{
    char *beside;
    if (asprintf(&beside, "%s.part", path) < 0) {
        errno = ENOMEM;
        return false;
    }
    bool replaced = fs_write_whole(beside, data, n, mode) && rename(beside, path) == 0 && tt_fs_sync_folder(path);
    int number = errno;
    if (!replaced)
        (void)unlink(beside);
    free(beside);
    errno = number;
    return replaced;
}

bool tt_fs_replace(const char *path, const void *data, size_t n)
{
    return fs_replace_with_mode(path, data, n, S_IRUSR | S_IWUSR);
}

bool tt_fs_replace_result(const char *path, const void *data, size_t n)
{
    return fs_replace_with_mode(path, data, n, S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH);
}

static bool fs_read_all(int fd, char *bytes, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t n = read(fd, bytes + at, size - at);
        if (n == 0)
            errno = EIO; /* it has become shorter */
        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        at += n > 0 ? (size_t)n : 0;
    }
    bytes[size] = '\0';
    return true;
}

static char *fs_read_open_file(int fd, size_t *size)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return NULL;
    if (!S_ISREG(status.st_mode)) {
        errno = EINVAL;
        return NULL;
    }
    *size = (size_t)status.st_size;
    char *bytes = malloc(*size + 1);
    if (!bytes || fs_read_all(fd, bytes, *size))
        return bytes;
    free(bytes);
    return NULL;
}

char *tt_fs_read_whole(const char *path, size_t *size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* opening a pipe without a writer would wait for one */
    if (fd < 0)
        return NULL;
    char *bytes = fs_read_open_file(fd, size);
    int number = errno;
    close(fd);
    errno = number;
    return bytes;
}

bool tt_fs_make_folder(const char *path)
{
    char *copy = strdup(path);
    if (!copy)
        return false;
    for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(copy, S_IRWXU); /* what cannot be made shows at the end */
        *slash = '/';
    }
    free(copy);
    return mkdir(path, S_IRWXU) == 0 || (errno == EEXIST && access(path, R_OK | W_OK | X_OK) == 0);
}

bool tt_fs_is_same_file(const char *a, const char *b)
{
    char first[4096], second[4096];
    if (!a || !b || strcmp(a, "-") == 0 || strcmp(b, "-") == 0)
        return false;
    const char *a_name = strrchr(a, '/') ? strrchr(a, '/') + 1 : a, *b_name = strrchr(b, '/') ? strrchr(b, '/') + 1 : b;
    return is_same_inode(a, b, S_IFREG) ||
           (strcmp(a_name, b_name) == 0 &&
            is_same_inode(fs_folder_of(a, first, sizeof first), fs_folder_of(b, second, sizeof second), S_IFDIR));
}

/* Returns FOLDER/REST; NULL if `folder` is missing or not usable. */
static char *fs_join_path(const char *folder, const char *rest)
{
    struct tt_text path = {0};
    if (!folder || folder[0] != '/')
        return NULL;
    tt_text_printf(&path, "%s/%s", folder, rest);
    if (path.failed)
        tt_text_fini(&path);
    return path.text;
}

char *tt_fs_user_cache(void)
{
    char *path = fs_join_path(getenv("XDG_CACHE_HOME"), "tutti");
    return path ? path : fs_join_path(getenv("HOME"), ".cache/tutti");
}

static char *fs_home_cache(void)
{
    struct passwd user, *found = NULL;
    char room[4096]; /* for its texts */
    bool is_known = getpwuid_r(geteuid(), &user, room, sizeof room, &found) == 0 && found;
    return is_known ? fs_join_path(user.pw_dir, ".cache/tutti") : NULL;
}

char *tt_fs_own_cache(void)
{
    for (int i = 0; i < 3; i++) {
        char *path = i == 0   ? tt_fs_user_cache()
                     : i == 1 ? fs_home_cache()
                              : fs_join_path(getenv("XDG_RUNTIME_DIR"), "tutti");
        struct stat st;
        if (path && tt_fs_make_folder(path) && stat(path, &st) == 0 && st.st_uid == geteuid())
            return path;
        free(path);
    }
    return NULL;
}
