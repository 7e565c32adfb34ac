/* SPDX-License-Identifier: MIT */
/* failing.h - calls of a test program that fail: the first, the second, and so on. The linker puts these before the real ones (tutti_failing in
 * CMakeLists.txt). */
#ifndef TUTTI_TEST_FAILING_H
#define TUTTI_TEST_FAILING_H

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/arena.h"
#include "test.h"

/* Allocations, or calls about files. */
enum failing_kind { FAILING_NOTHING, FAILING_MEMORY, FAILING_FILES };

static _Thread_local struct {
    enum failing_kind kind;
    int error;             /* of a file's call; 0: it reads or writes half of what was asked for */
    unsigned long at, now; /* the call that fails; those that were made */
} failing;

static bool fails(enum failing_kind kind)
{
    bool now = kind == failing.kind && ++failing.now == failing.at;
    errno = now && kind == FAILING_MEMORY ? ENOMEM : errno;
    return now;
}

#define WRAPPED(type, name, ...)                                                                                       \
    type __real_##name(__VA_ARGS__);                                                                                   \
    type __wrap_##name(__VA_ARGS__);                                                                                   \
    type __wrap_##name(__VA_ARGS__)

WRAPPED(void *, malloc, size_t size)
{
    return fails(FAILING_MEMORY) ? NULL : __real_malloc(size);
}
WRAPPED(void *, calloc, size_t n, size_t size)
{
    return fails(FAILING_MEMORY) ? NULL : __real_calloc(n, size);
}
WRAPPED(void *, realloc, void *old, size_t size)
{
    return fails(FAILING_MEMORY) ? NULL : __real_realloc(old, size);
}
WRAPPED(char *, strdup, const char *text)
{
    return fails(FAILING_MEMORY) ? NULL : __real_strdup(text);
}
WRAPPED(char *, strndup, const char *text, size_t n)
{
    return fails(FAILING_MEMORY) ? NULL : __real_strndup(text, n);
}

/* Those from arenas, which mostly need no memory of the system's. */
WRAPPED(void *, tt_arena_alloc, struct tt_arena *arena, size_t size)
{
    return fails(FAILING_MEMORY) ? NULL : __real_tt_arena_alloc(arena, size);
}
WRAPPED(void *, tt_arena_array, struct tt_arena *arena, size_t n, size_t size)
{
    return fails(FAILING_MEMORY) ? NULL : __real_tt_arena_array(arena, n, size);
}
WRAPPED(char *, tt_arena_copy_text, struct tt_arena *arena, const char *text, size_t n)
{
    return fails(FAILING_MEMORY) ? NULL : __real_tt_arena_copy_text(arena, text, n);
}

/* A call that fails, or moves half of the bytes. */
#define MOVE(n, call)                                                                                                  \
    do {                                                                                                               \
        bool fails_ = fails(FAILING_FILES);                                                                            \
        if (fails_ && failing.error) {                                                                                 \
            errno = failing.error;                                                                                     \
            return -1;                                                                                                 \
        }                                                                                                              \
        (n) = fails_ && (n) > 1 ? (n) / 2 : (n);                                                                       \
        return (call);                                                                                                 \
    } while (0)
#define ACT(call)                                                                                                      \
    do {                                                                                                               \
        if (fails(FAILING_FILES) && failing.error) {                                                                   \
            errno = failing.error;                                                                                     \
            return -1;                                                                                                 \
        }                                                                                                              \
        return (call);                                                                                                 \
    } while (0)

WRAPPED(ssize_t, read, int fd, void *bytes, size_t n)
{
    MOVE(n, __real_read(fd, bytes, n));
}
WRAPPED(ssize_t, __read_chk, int fd, void *bytes, size_t n, size_t room)
{
    MOVE(n, __real___read_chk(fd, bytes, n, room));
}
WRAPPED(ssize_t, pread, int fd, void *bytes, size_t n, off_t at)
{
    MOVE(n, __real_pread(fd, bytes, n, at));
}
WRAPPED(ssize_t, write, int fd, const void *bytes, size_t n)
{
    MOVE(n, __real_write(fd, bytes, n));
}
WRAPPED(ssize_t, pwrite, int fd, const void *bytes, size_t n, off_t at)
{
    MOVE(n, __real_pwrite(fd, bytes, n, at));
}
WRAPPED(int, ftruncate, int fd, off_t length)
{
    ACT(__real_ftruncate(fd, length));
}
WRAPPED(off_t, lseek, int fd, off_t at, int from)
{
    ACT(__real_lseek(fd, at, from));
}
WRAPPED(int, fsync, int fd)
{
    ACT(__real_fsync(fd));
}
WRAPPED(int, fdatasync, int fd)
{
    ACT(__real_fdatasync(fd));
}
WRAPPED(int, mkdir, const char *path, mode_t mode)
{
    ACT(__real_mkdir(path, mode));
}
WRAPPED(int, rename, const char *from, const char *to)
{
    ACT(__real_rename(from, to));
}
WRAPPED(int, unlink, const char *path)
{
    ACT(__real_unlink(path));
}
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    ACT(__real_open(path, flags, mode));
}
WRAPPED(int, close, int fd) /* it is closed all the same */
{
    bool failed = fails(FAILING_FILES) && failing.error;
    int result = __real_close(fd);
    errno = failed ? failing.error : errno;
    return failed ? -1 : result;
}

/* Pauses the failures for the test's own calls. */
static inline enum failing_kind failing_pause(void)
{
    enum failing_kind kind = failing.kind;
    failing.kind = FAILING_NOTHING;
    return kind;
}

/* Each call of a kind fails in turn. `attempt` looks at what it did, and returns its error, which has a message. */
static inline void fail_each_call(enum failing_kind kind, int error, enum tutti_err (*attempt)(void *context),
                                  void *context)
{
    enum tutti_err err;
    failing.at = 0;
    do {
        failing.at++;
        failing.now = 0;
        failing.error = error;
        failing.kind = kind;
        err = attempt(context);
        (void)failing_pause();
        if (err && !*tutti_err_message())
            fail_msg("call %lu of kind %d, error %d: no message", failing.at, (int)kind, error);
        if (err && kind == FAILING_MEMORY && err != TUTTI_ERR_MEMORY && !strstr(tutti_err_message(), strerror(ENOMEM)))
            fail_msg("allocation %lu: %s", failing.at, tutti_err_message());
        assert_true(failing.at < 100000);
    } while (failing.now >= failing.at);
    assert_ok(err);
    assert_true(failing.at > 1);
}

/* ... of every kind, with what disks and signals do. */
static inline void fail_each(enum tutti_err (*attempt)(void *context), void *context)
{
    fail_each_call(FAILING_MEMORY, ENOMEM, attempt, context);
    fail_each_call(FAILING_FILES, EIO, attempt, context);
    fail_each_call(FAILING_FILES, ENOSPC, attempt, context);
    fail_each_call(FAILING_FILES, EINTR, attempt, context);
    fail_each_call(FAILING_FILES, 0, attempt, context);
}

#endif
