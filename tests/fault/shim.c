/* SPDX-License-Identifier: MIT */
/* shim.c - stands between the command and the C library (LD_PRELOAD), for calls that the command's own code makes; code of FMUs and
 * of other libraries is left alone.
 *
 *     SHIM_FAIL=KIND:N:HOW    the N-th call of a kind fails. `alloc`: HOW is `once`, or `on`, for all that follow, too. `io`, calls
 *                             about files, pipes, shared memory, processes and threads: HOW is the number of an error, with a +
 *                             in front for all that follow, too; or `short`: half of what was asked for is read or written.
 *                             `send`: as `io`, of calls of that name alone. `zmq`, calls of ZeroMQ: HOW as before; messages and
 *                             polls fail with EINTR only, the others not with it
 *     SHIM_CRASH=TEXT         a process that opens a file to read whose path ends with this crashes
 *     SHIM_COUNT=FILE         at its end every process adds a line with its number of calls of either kind
 *     SHIM_LOG=FILE           what is done to files below the present folder, in order, with the bytes (test_power_loss.py)
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <zmq.h>

/* Between the two by the loader, or, in a command with sanitizers, which stand there themselves, by the linker (--wrap): then all
 * calls that come here are the command's own. */
#ifdef SHIM_LINKED
#define SHIM(name) __wrap_##name
#define REAL(name) ((__typeof__(&name))__real_##name)
#define FUNCTION(name) extern __typeof__(name) __wrap_##name, __real_##name;
#include "shim_functions.h"
#else
#define SHIM(name) name
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#endif

enum kind { ALLOC, IO, ZMQ, SEND, KINDS };

static struct {
    bool ready, fails, on, is_short;
    enum kind kind;
    unsigned long place;
    int error;
    uintptr_t from, to; /* the command's own code */
    int log;
    const char *crash;
    char folder[PATH_MAX];
} shim;
static atomic_ulong calls[KINDS];
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;

/* ---- what is asked for ---- */

#ifndef SHIM_LINKED
static int find_command(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    (void)context;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
            shim.from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            shim.to = shim.from + info->dlpi_phdr[i].p_memsz;
        }
    return 1; /* the first is the program */
}
#endif

static void read_wish(const char *text)
{
    char kind[8], how[16] = "";
    if (!text || sscanf(text, "%7[a-z]:%lu:%15s", kind, &shim.place, how) != 3)
        return;
    shim.on = how[0] == '+' || strcmp(how, "on") == 0;
    const char *error = how + (how[0] == '+');
    static const char *const names[KINDS] = {"alloc", "io", "zmq", "send"};
    for (int i = 0; i < KINDS; i++)
        shim.kind = strcmp(kind, names[i]) == 0 ? (enum kind)i : shim.kind;
    shim.is_short = strcmp(error, "short") == 0;
    shim.error = shim.kind == ALLOC ? ENOMEM : atoi(error);
    shim.fails = true;
}

__attribute__((constructor)) static void begin(void)
{
    const char *log = getenv("SHIM_LOG");
    read_wish(getenv("SHIM_FAIL"));
    shim.crash = getenv("SHIM_CRASH");
    shim.log = -1;
    if (log && getcwd(shim.folder, sizeof shim.folder))
        shim.log = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
#ifdef SHIM_LINKED
    shim.to = UINTPTR_MAX;
#else
    dl_iterate_phdr(find_command, NULL);
#endif
    shim.ready = true;
}

__attribute__((destructor)) static void end(void)
{
    char text[80];
    const char *path = getenv("SHIM_COUNT");
    long fd = path ? syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    int n = snprintf(text, sizeof text, "%lu %lu %lu\n", calls[ALLOC], calls[IO], calls[ZMQ]);
    if (fd >= 0) {
        (void)syscall(SYS_write, fd, text, (size_t)n);
        (void)syscall(SYS_close, fd);
    }
}

/* Processes that were forked end so. */
void SHIM(_exit)(int status)
{
    end();
    (void)syscall(SYS_exit_group, status);
    abort();
}

/* ---- failures ---- */

/* Does this call fail? Those of others are not counted. */
static bool fails(enum kind kind, const void *caller)
{
    if (!shim.ready || (uintptr_t)caller < shim.from || (uintptr_t)caller >= shim.to)
        return false;
    unsigned long n = atomic_fetch_add(&calls[kind], 1) + 1;
    return shim.fails && kind == shim.kind && (n == shim.place || (shim.on && n > shim.place));
}

#define CALLER __builtin_return_address(0)
#define FAIL_WITH(kind, value)                                                                                         \
    do {                                                                                                               \
        if (fails(kind, CALLER) && !shim.is_short) {                                                                   \
            errno = shim.error;                                                                                        \
            return value;                                                                                              \
        }                                                                                                              \
    } while (0)

#ifdef SHIM_LINKED
#define __libc_malloc REAL(malloc)
#define __libc_calloc REAL(calloc)
#define __libc_realloc REAL(realloc)
#else
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
#endif

void *SHIM(malloc)(size_t size)
{
    FAIL_WITH(ALLOC, NULL);
    return __libc_malloc(size);
}

void *SHIM(calloc)(size_t count, size_t size)
{
    FAIL_WITH(ALLOC, NULL);
    return __libc_calloc(count, size);
}

void *SHIM(realloc)(void *old, size_t size)
{
    FAIL_WITH(ALLOC, NULL);
    return __libc_realloc(old, size);
}

void *SHIM(reallocarray)(void *old, size_t count, size_t size)
{
    FAIL_WITH(ALLOC, NULL);
    return __libc_realloc(old, count * size); /* no test needs more than there is */
}

static char *copy_of(const char *text, size_t n)
{
    char *copy = __libc_malloc(n + 1);
    if (copy) {
        memcpy(copy, text, n);
        copy[n] = '\0';
    }
    return copy;
}

char *SHIM(strdup)(const char *text)
{
    FAIL_WITH(ALLOC, NULL);
    return copy_of(text, strlen(text));
}

char *SHIM(strndup)(const char *text, size_t n)
{
    FAIL_WITH(ALLOC, NULL);
    return copy_of(text, strnlen(text, n));
}

/* ---- the log ---- */

static void put(const char *text, size_t n)
{
    (void)!syscall(SYS_write, shim.log, text, n);
}

/* A line with words; `bytes` follow it, as many as the last word says. */
static void note(const char *what, const char *path, const char *other, long long at, const void *bytes, size_t n)
{
    char line[2 * PATH_MAX + 100];
    int length = snprintf(line, sizeof line, "%s\t%s\t%s\t%lld\t%zu\n", what, path, other ? other : "", at, n);
    put(line, (size_t)length);
    if (n > 0)
        put(bytes, n);
}

/* The regular file of a descriptor, if it is one of the folder's. */
static bool find_path(int fd, char *path)
{
    char link[40];
    struct stat status;
    if (shim.log < 0 || fd == shim.log || fstat(fd, &status) != 0 ||
        (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)))
        return false;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, PATH_MAX - 1);
    path[n > 0 ? n : 0] = '\0';
    return strncmp(path, shim.folder, strlen(shim.folder)) == 0;
}

static bool is_ours(const char *path)
{
    return shim.log >= 0 && strncmp(path, shim.folder, strlen(shim.folder)) == 0;
}

/* ---- files ---- */

static size_t shorter(size_t n)
{
    return n > 1 ? n / 2 : n;
}

ssize_t SHIM(read)(int fd, void *bytes, size_t n)
{
    bool failing = fails(IO, CALLER);
    if (failing && !shim.is_short) {
        errno = shim.error;
        return -1;
    }
    return syscall(SYS_read, fd, bytes, failing ? shorter(n) : n);
}

ssize_t SHIM(pread)(int fd, void *bytes, size_t n, off_t at)
{
    bool failing = fails(IO, CALLER);
    if (failing && !shim.is_short) {
        errno = shim.error;
        return -1;
    }
    return syscall(SYS_pread64, fd, bytes, failing ? shorter(n) : n, at);
}

/* At `at`; -1: at the file's own place. `failing`: this call is to fail. */
static ssize_t write_at(int fd, const void *bytes, size_t n, off_t at, bool failing)
{
    char path[PATH_MAX];
    if (failing && !shim.is_short) {
        errno = shim.error;
        return -1;
    }
    n = failing ? shorter(n) : n;
    bool logged = find_path(fd, path);
    if (logged)
        pthread_mutex_lock(&order);
    ssize_t written = at < 0 ? syscall(SYS_write, fd, bytes, n) : syscall(SYS_pwrite64, fd, bytes, n, at);
    if (logged && written > 0)
        note("write", path, NULL, at < 0 ? lseek(fd, 0, SEEK_CUR) - written : at, bytes, (size_t)written);
    if (logged)
        pthread_mutex_unlock(&order);
    return written;
}

ssize_t SHIM(write)(int fd, const void *bytes, size_t n)
{
    return write_at(fd, bytes, n, -1, fails(IO, CALLER));
}

ssize_t SHIM(pwrite)(int fd, const void *bytes, size_t n, off_t at)
{
    return write_at(fd, bytes, n, at, fails(IO, CALLER));
}

/* A call that is logged if it went well. */
#define LOGGED(condition, call, ...)                                                                                   \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            return (int)(call);                                                                                        \
        pthread_mutex_lock(&order);                                                                                    \
        int result_ = (int)(call);                                                                                     \
        if (result_ >= 0)                                                                                              \
            note(__VA_ARGS__);                                                                                         \
        pthread_mutex_unlock(&order);                                                                                  \
        return result_;                                                                                                \
    } while (0)

static void crash_at(const char *path)
{
    size_t length = shim.crash ? strlen(shim.crash) : 0, whole = strlen(path);
    if (length > 0 && whole >= length && strcmp(path + whole - length, shim.crash) == 0)
        __builtin_trap();
}

int SHIM(open)(const char *name, int flags, ...)
{
    char path[PATH_MAX];
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    if ((flags & O_ACCMODE) == O_RDONLY)
        crash_at(name);
    FAIL_WITH(IO, -1);
    pthread_mutex_lock(&order);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, name, flags, mode);
    if (fd >= 0 && flags & (O_CREAT | O_TRUNC) && find_path(fd, path))
        note(flags & O_TRUNC ? "empty" : "make", path, NULL, 0, NULL, 0);
    pthread_mutex_unlock(&order);
    return fd;
}

int SHIM(fsync)(int fd)
{
    char path[PATH_MAX];
    FAIL_WITH(IO, -1);
    LOGGED(find_path(fd, path), syscall(SYS_fsync, fd), "sync", path, NULL, 0, NULL, 0);
}

int SHIM(fdatasync)(int fd)
{
    char path[PATH_MAX];
    FAIL_WITH(IO, -1);
    LOGGED(find_path(fd, path), syscall(SYS_fdatasync, fd), "sync", path, NULL, 0, NULL, 0);
}

int SHIM(ftruncate)(int fd, off_t length)
{
    char path[PATH_MAX];
    FAIL_WITH(IO, -1);
    LOGGED(find_path(fd, path), syscall(SYS_ftruncate, fd, length), "cut", path, NULL, length, NULL, 0);
}

int SHIM(rename)(const char *from, const char *to)
{
    FAIL_WITH(IO, -1);
    LOGGED(is_ours(from), syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to), "rename", from, to, 0, NULL, 0);
}

int SHIM(link)(const char *from, const char *to)
{
    FAIL_WITH(IO, -1);
    LOGGED(is_ours(from), syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0), "link", from, to, 0, NULL, 0);
}

int SHIM(unlink)(const char *path)
{
    FAIL_WITH(IO, -1);
    LOGGED(is_ours(path), syscall(SYS_unlinkat, AT_FDCWD, path, 0), "unlink", path, NULL, 0, NULL, 0);
}

int SHIM(openat)(int folder, const char *name, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    if ((flags & O_ACCMODE) == O_RDONLY)
        crash_at(name);
    FAIL_WITH(IO, -1);
    return (int)syscall(SYS_openat, folder, name, flags, mode);
}

int SHIM(mkdir)(const char *path, mode_t mode)
{
    FAIL_WITH(IO, -1);
    return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

FILE *SHIM(fopen)(const char *path, const char *mode)
{
    crash_at(path);
    FAIL_WITH(IO, NULL);
    return REAL(fopen)(path, mode);
}

/* ---- between processes and threads ---- */

/* Messages come whole or not at all. */
static size_t shorter_of(int fd, size_t n)
{
    int type = 0;
    socklen_t size = sizeof type;
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM ? shorter(n) : n;
}

ssize_t SHIM(send)(int fd, const void *bytes, size_t n, int flags)
{
    bool by_name = fails(SEND, CALLER), failing = fails(IO, CALLER) || by_name;
    if (failing && !shim.is_short) {
        errno = shim.error;
        return -1;
    }
    return syscall(SYS_sendto, fd, bytes, failing ? shorter_of(fd, n) : n, flags, NULL, 0);
}

ssize_t SHIM(recv)(int fd, void *bytes, size_t n, int flags)
{
    bool failing = fails(IO, CALLER);
    if (failing && !shim.is_short) {
        errno = shim.error;
        return -1;
    }
    return syscall(SYS_recvfrom, fd, bytes, failing ? shorter_of(fd, n) : n, flags, NULL, NULL);
}

int SHIM(pipe2)(int fds[2], int flags)
{
    FAIL_WITH(IO, -1);
    return (int)syscall(SYS_pipe2, fds, flags);
}

int SHIM(socketpair)(int domain, int type, int protocol, int fds[2])
{
    FAIL_WITH(IO, -1);
    return (int)syscall(SYS_socketpair, domain, type, protocol, fds);
}

int SHIM(memfd_create)(const char *name, unsigned flags)
{
    FAIL_WITH(IO, -1);
    return (int)syscall(SYS_memfd_create, name, flags);
}

void *SHIM(mmap)(void *address, size_t size, int protection, int flags, int fd, off_t at)
{
    FAIL_WITH(IO, MAP_FAILED);
    return (void *)syscall(SYS_mmap, address, size, protection, flags, fd, at);
}

pid_t SHIM(fork)(void)
{
    FAIL_WITH(IO, -1);
    return REAL(fork)();
}

int SHIM(pthread_create)(pthread_t *thread, const pthread_attr_t *attributes, void *(*work)(void *), void *context)
{
    FAIL_WITH(IO, shim.error);
    return REAL(pthread_create)(thread, attributes, work, context);
}

int SHIM(close)(int fd)
{
    bool failing = fails(IO, CALLER) && !shim.is_short;
    int result = (int)syscall(SYS_close, fd);
    if (failing)
        errno = shim.error;
    return failing ? -1 : result;
}

/* ---- ZeroMQ; a command that does not have it never calls these ---- */

#define ZMQ_MADE(value)                                                                                                \
    do {                                                                                                               \
        if (fails(ZMQ, CALLER) && shim.error != EINTR) {                                                               \
            errno = shim.error;                                                                                        \
            return value;                                                                                              \
        }                                                                                                              \
    } while (0)
#define ZMQ_MOVED                                                                                                      \
    do {                                                                                                               \
        if (fails(ZMQ, CALLER) && shim.error == EINTR) {                                                               \
            errno = EINTR;                                                                                             \
            return -1;                                                                                                 \
        }                                                                                                              \
    } while (0)

void *SHIM(zmq_ctx_new)(void)
{
    ZMQ_MADE(NULL);
    return REAL(zmq_ctx_new)();
}

void *SHIM(zmq_socket)(void *context, int type)
{
    ZMQ_MADE(NULL);
    return REAL(zmq_socket)(context, type);
}

int SHIM(zmq_bind)(void *socket, const char *address)
{
    ZMQ_MADE(-1);
    return REAL(zmq_bind)(socket, address);
}

int SHIM(zmq_connect)(void *socket, const char *address)
{
    ZMQ_MADE(-1);
    return REAL(zmq_connect)(socket, address);
}

int SHIM(zmq_setsockopt)(void *socket, int option, const void *value, size_t size)
{
    ZMQ_MADE(-1);
    return REAL(zmq_setsockopt)(socket, option, value, size);
}

int SHIM(zmq_getsockopt)(void *socket, int option, void *value, size_t *size)
{
    ZMQ_MADE(-1);
    return REAL(zmq_getsockopt)(socket, option, value, size);
}

int SHIM(zmq_socket_monitor)(void *socket, const char *address, int events)
{
    ZMQ_MADE(-1);
    return REAL(zmq_socket_monitor)(socket, address, events);
}

int SHIM(zmq_msg_init_size)(zmq_msg_t *message, size_t size)
{
    ZMQ_MADE(-1);
    return REAL(zmq_msg_init_size)(message, size);
}

int SHIM(zmq_msg_send)(zmq_msg_t *message, void *socket, int flags)
{
    ZMQ_MOVED;
    return REAL(zmq_msg_send)(message, socket, flags);
}

int SHIM(zmq_msg_recv)(zmq_msg_t *message, void *socket, int flags)
{
    ZMQ_MOVED;
    return REAL(zmq_msg_recv)(message, socket, flags);
}

int SHIM(zmq_send)(void *socket, const void *bytes, size_t size, int flags)
{
    ZMQ_MOVED;
    return REAL(zmq_send)(socket, bytes, size, flags);
}

int SHIM(zmq_recv)(void *socket, void *bytes, size_t size, int flags)
{
    ZMQ_MOVED;
    return REAL(zmq_recv)(socket, bytes, size, flags);
}

int SHIM(zmq_poll)(zmq_pollitem_t *items, int count, long timeout)
{
    ZMQ_MOVED;
    return REAL(zmq_poll)(items, count, timeout);
}
