/* SPDX-License-Identifier: MIT */
/* base/fs.h - file operations missing in the standard library. Async-signal-safe ones are marked. */
#ifndef TT_BASE_FS_H
#define TT_BASE_FS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Writes all n bytes, at the file's own position (`at` is -1) or at offset `at`, over interruptions and short writes.
 * Returns how many were written: n, or less with errno saying why. Async-signal-safe. */
size_t tt_fs_write(int fd, const void *data, size_t n, off_t at);

/* Identifies the file that a descriptor refers to. */
struct tt_fs_identity {
    dev_t device;
    ino_t inode;
    mode_t mode;
    off_t size;
};

/* False, with errno, if the descriptor is not open. Async-signal-safe. */
bool tt_fs_identify(int fd, struct tt_fs_identity *identity);
/* Returns true if both identify one file; its size may have changed. */
static inline bool tt_fs_is_identical(const struct tt_fs_identity *a, const struct tt_fs_identity *b)
{
    return a->device == b->device && a->inode == b->inode;
}

/* Moves a descriptor to a high number, which is safe from code that closes unknown descriptors or expects the next free
 * number. Takes `fd`; returns the descriptor to use, which is `fd` if no higher number is free. */
int tt_fs_move_descriptor(int fd);

/* Removes `path` and its content, without following links. Returns 0, or -1 if something is left. Async-signal-safe. */
int tt_fs_remove_tree(const char *path);

/* `path` as an absolute one, by the present folder; the caller's (free), NULL when memory or the folder is out. */
char *tt_fs_absolute(const char *path);

/* Forces a file's name to the disk by syncing its folder. False: errno. Does not fail if the file system cannot do it. */
bool tt_fs_sync_folder(const char *path);
/* Replaces `path` atomically: writes "PATH.part", for this user alone, forces it to the disk, renames it. False: errno. */
bool tt_fs_replace(const char *path, const void *data, size_t n);
/* As tt_fs_replace, for results of users: with the permissions of any new file, by the umask. */
bool tt_fs_replace_result(const char *path, const void *data, size_t n);
/* Reads a regular file as a whole; the result belongs to the caller (free) and ends with a NUL. NULL: see errno, EINVAL
 * if it is not a regular file. */
char *tt_fs_read_whole(const char *path, size_t *size);

/* Creates a folder, for this user alone, with its parents. An existing usable folder is accepted. False: errno. */
bool tt_fs_make_folder(const char *path);
/* Returns true if both paths lead to one file, whether it exists or not. NULL and "-" do not name a file. */
bool tt_fs_is_same_file(const char *a, const char *b);

/* Where a user's own files are, by the environment (XDG Base Directory Specification) and the system's list of users. */

/* Returns "$XDG_CACHE_HOME/tutti" or "~/.cache/tutti", the caller's (free); NULL if neither exists or memory is out. */
char *tt_fs_user_cache(void);
/* Creates and returns a folder that this user owns: that of tt_fs_user_cache, or ".cache/tutti" in the home folder of
 * the user database, or "$XDG_RUNTIME_DIR/tutti". (A user who became root may still have a foreign $HOME.) The text
 * belongs to the caller (free); NULL if there is no such place or memory is out. */
char *tt_fs_own_cache(void);

#endif
