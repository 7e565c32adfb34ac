/* SPDX-License-Identifier: MIT */
/* base/fs.h - the few file operations that the standard library lacks. The first two are async-signal-safe. */
#ifndef TUTTI_BASE_FS_H
#define TUTTI_BASE_FS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Writes all n bytes, at the file's own position (`at` is -1) or at offset `at`, over interruptions and short writes.
 * Returns how many were written: n, or less with errno saying why. */
size_t tutti_fs_write(int fd, const void *data, size_t n, off_t at);

/* Removes `path` and everything under it; links are removed, not followed. Returns 0, or -1 if something is left. */
int tutti_fs_remove_tree(const char *path);

/* `path` as an absolute one, by the present folder; the caller's (free), NULL when memory or the folder is out. */
char *tutti_fs_absolute(const char *path);

/* Do both lead to the same file, there already or not yet? NULL and "-" are no file. */
bool tutti_fs_is_same(const char *a, const char *b);

#endif
