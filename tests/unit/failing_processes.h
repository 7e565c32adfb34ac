/* SPDX-License-Identifier: MIT */
/* failing_processes.h - calls by which processes are started and shared with, which count as those about files do (failing.h). */
#ifndef TUTTI_TEST_FAILING_PROCESSES_H
#define TUTTI_TEST_FAILING_PROCESSES_H

#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "failing.h"

#define FAILS_WITH(value)                                                                                              \
    if (fails(FAILING_FILES) && failing.error) {                                                                       \
        errno = failing.error;                                                                                         \
        return value;                                                                                                  \
    }
#define AND ,
/* A function that returns `value` if it fails. */
#define FAILING(type, name, value, declared, passed)                                                                   \
    WRAPPED(type, name, declared)                                                                                      \
    {                                                                                                                  \
        FAILS_WITH(value)                                                                                              \
        return __real_##name passed;                                                                                   \
    }
FAILING(int, memfd_create, -1, const char *name AND unsigned flags, (name, flags))
FAILING(int, pipe2, -1, int *ends AND int flags, (ends, flags))
FAILING(int, socketpair, -1, int domain AND int type AND int protocol AND int *ends, (domain, type, protocol, ends))
FAILING(int, symlink, -1, const char *to AND const char *path, (to, path))
FAILING(void *, mmap, MAP_FAILED, void *at AND size_t size AND int protection AND int flags AND int fd AND off_t from,
        (at, size, protection, flags, fd, from))
FAILING(ssize_t, send, -1, int fd AND const void *bytes AND size_t size AND int flags, (fd, bytes, size, flags))
FAILING(ssize_t, recv, -1, int fd AND void *bytes AND size_t size AND int flags, (fd, bytes, size, flags))
int __real_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...)
{
    va_list more;
    va_start(more, command);
    long value = va_arg(more, long);
    va_end(more);
    FAILS_WITH(-1)
    return __real_fcntl(fd, command, value);
}

/* These return their error. */
FAILING(int, posix_spawn_file_actions_init, errno, posix_spawn_file_actions_t *actions, (actions))
FAILING(int, posix_spawn_file_actions_addopen, errno,
        posix_spawn_file_actions_t *actions AND int fd AND const char *path AND int flags AND mode_t mode,
        (actions, fd, path, flags, mode))
FAILING(int, posix_spawn_file_actions_adddup2, errno, posix_spawn_file_actions_t *actions AND int from AND int to,
        (actions, from, to))
FAILING(int, posix_spawnattr_init, errno, posix_spawnattr_t *attributes, (attributes))
FAILING(int, posix_spawnattr_setflags, errno, posix_spawnattr_t *attributes AND short flags, (attributes, flags))
FAILING(int, posix_spawnattr_setsigmask, errno, posix_spawnattr_t *attributes AND const sigset_t *set,
        (attributes, set))
FAILING(int, posix_spawnattr_setsigdefault, errno, posix_spawnattr_t *attributes AND const sigset_t *set,
        (attributes, set))

static pid_t spawned; /* the last process that was; 0: none */

WRAPPED(int, posix_spawn, pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
        const posix_spawnattr_t *attributes, char *const *arguments, char *const *variables)
{
    FAILS_WITH(errno)
    int error = __real_posix_spawn(pid, path, actions, attributes, arguments, variables);
    spawned = error ? 0 : *pid;
    return error;
}

#endif
