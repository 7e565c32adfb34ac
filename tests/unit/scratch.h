/* SPDX-License-Identifier: MIT */
/* scratch.h - a folder for a test's files, and small helpers for them. */
#ifndef TUTTI_TEST_SCRATCH_H
#define TUTTI_TEST_SCRATCH_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "test.h"

struct scratch {
    char path[64];
    char joined[4200];
};

static inline void copy_text(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from);
}

static inline void scratch_init(struct scratch *scratch)
{
    copy_text(scratch->path, sizeof scratch->path, "/tmp/tutti-test-XXXXXX");
    assert_non_null(mkdtemp(scratch->path));
}

static inline void scratch_fini(struct scratch *scratch)
{
    assert_int_equal(tt_fs_remove_tree(scratch->path), 0);
}

/* The path of a file in the folder; valid until the next call. */
static inline const char *scratch_path(struct scratch *scratch, const char *name)
{
    snprintf(scratch->joined, sizeof scratch->joined, "%s/%s", scratch->path, name);
    return scratch->joined;
}

static inline const char *scratch_write(struct scratch *scratch, const char *name, const char *data, size_t n)
{
    int fd = open(scratch_path(scratch, name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(tt_fs_write(fd, data, n, -1), n);
    close(fd);
    return scratch->joined;
}

/* All of a file, with a NUL after it; the caller's. */
static inline char *slurp_file(const char *path, size_t *n)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st = {0};
    if (fd < 0 || fstat(fd, &st) != 0)
        fail_msg("cannot read %s", path);
    char *data = malloc((size_t)st.st_size + 1);
    assert_non_null(data);
    assert_int_equal(read(fd, data, (size_t)st.st_size), st.st_size);
    data[st.st_size] = '\0';
    if (n)
        *n = (size_t)st.st_size;
    close(fd);
    return data;
}

static inline bool exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

#define assert_contains(text, part)                                                                                    \
    do {                                                                                                               \
        const char *text_ = (text), *part_ = (part);                                                                   \
        if (!strstr(text_, part_))                                                                                     \
            fail_msg("'%s' is not in '%s'", part_, text_);                                                             \
    } while (0)

#endif
