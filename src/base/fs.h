/* SPDX-License-Identifier: MIT */
/* base/fs.h - the few file operations that the standard library lacks. Those for signal handlers say so. */
#ifndef TT_BASE_FS_H
#define TT_BASE_FS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Writes all n bytes, at the file's own position (`at` is -1) or at offset `at`, over interruptions and short writes.
 * Returns how many were written: n, or less with errno saying why. Async-signal-safe. */
size_t tt_fs_write(int fd, const void *data, size_t n, off_t at);

/* What a descriptor stands for. */
struct tt_fs_identity {
    dev_t device;
    ino_t inode;
    mode_t mode;
    off_t size;
};

/* False, with errno, if the descriptor is not open. Async-signal-safe. */
bool tt_fs_identify(int fd, struct tt_fs_identity *identity);
/* Are these the same file? Its size may have changed. */
static inline bool tt_fs_is_identical(const struct tt_fs_identity *a, const struct tt_fs_identity *b)
{
    return a->device == b->device && a->inode == b->inode;
}

/* Gives a descriptor a high number, which code that closes all it does not know, or that counts on the next free number, rarely
 * comes to. Takes `fd`; returns the one that holds from now on, `fd` itself where there is no higher one. */
int tt_fs_move_descriptor(int fd);

/* Removes `path` and everything under it; links are removed, not followed. Returns 0, or -1 if something is left.
 * Async-signal-safe. */
int tt_fs_remove_tree(const char *path);

/* `path` as an absolute one, by the present folder; the caller's (free), NULL when memory or the folder is out. */
char *tt_fs_absolute(const char *path);

/* Forces the name of a file to the disk, which is there only once its folder is. False: errno. File systems that know no such thing do not
 * fail. */
bool tt_fs_sync_folder(const char *path);
/* `path` holds these bytes, or what it held before: they are written beside it ("PATH.part", for this user alone), forced to the disk, and
 * renamed. False: errno. */
bool tt_fs_replace(const char *path, const void *data, size_t n);
/* The same for what users asked for: its permissions are those of any new file, as the umask has them. */
bool tt_fs_replace_result(const char *path, const void *data, size_t n);
/* All of a regular file; the caller's (free), with a NUL after it. NULL: errno, EINVAL if it is no regular file. */
char *tt_fs_read_whole(const char *path, size_t *size);

/* Makes a folder, for this user alone, and those above it. One that is there already will do if it can be used. False: errno. */
bool tt_fs_make_folder(const char *path);
/* Do both lead to the same file, there already or not yet? NULL and "-" are no file. */
bool tt_fs_is_same_file(const char *a, const char *b);

/* Where a user's own files are, by the environment (XDG Base Directory Specification) and the system's list of users. */

/* "$XDG_CACHE_HOME/tutti", "~/.cache/tutti". The caller's (free); NULL: there is no such place, or memory is out. */
char *tt_fs_user_cache(void);
/* A folder that belongs to this user, as root does not own that of the user who became root: that of tt_fs_user_cache, or
 * ".cache/tutti" in the home folder that the system knows, or "$XDG_RUNTIME_DIR/tutti"; it is made. The caller's (free); NULL: there
 * is no such place, or memory is out. */
char *tt_fs_own_cache(void);

#endif
