/* SPDX-License-Identifier: MIT */
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/wall_clock.h"

enum { MOST = 1 << 26 }; /* bytes of an answer */

/* Locked for writing while a child is made: for its sake no other thread holds a lock then, and no other child gets the writing end of its pipe. */
static pthread_rwlock_t children = PTHREAD_RWLOCK_INITIALIZER;

void tt_child_hold(void)
{
    pthread_rwlock_rdlock(&children);
}

void tt_child_release(void)
{
    pthread_rwlock_unlock(&children);
}

/* Discards the child's output and restores default signal handlers, so that no handler of the program runs. */
static _Noreturn void child_main(void (*work)(void *context, int fd), void *context, unsigned seconds, int fd)
{
    static const int ends[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM, SIGTERM, SIGINT};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        signal(ends[i], SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    alarm(seconds);
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nowhere >= 0) {
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
    }
    work(context, fd);
    _exit(0);
}

static size_t child_read_all(int fd, char **bytes)
{
    size_t size = 0, room = 0;
    for (;;) {
        if (size == room) {
            size_t more = room == 0 ? 4096 : 2 * room;
            char *grown = more > MOST ? NULL : realloc(*bytes, more);
            if (!grown)
                return 0;
            *bytes = grown;
            room = more;
        }
        ssize_t count = read(fd, *bytes + size, room - size);
        if (count == 0)
            return size;
        if (count > 0)
            size += (size_t)count;
        else if (errno != EINTR)
            return 0;
    }
}

bool tt_child_run(void (*work)(void *context, int fd), void *context, unsigned seconds, void **answer, size_t *size)
{
    int ends[2];
    char *bytes = NULL;
    *answer = NULL;
    *size = 0;
    bool confined = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 && prctl(PR_GET_SECCOMP, 0, 0, 0, 0) > 0;
    if (confined)
        return false;
    pthread_rwlock_wrlock(&children);
    bool piped = pipe2(ends, O_CLOEXEC) == 0;
    pid_t child = piped ? fork() : -1;
    if (child == 0) {
        children = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER; /* threads that wait for it are not here */
        close(ends[0]);
        child_main(work, context, seconds, ends[1]);
    }
    if (piped)
        close(ends[1]);
    pthread_rwlock_unlock(&children);
    if (!piped)
        return false;
    if (child > 0)
        *size = child_read_all(ends[0], &bytes);
    close(ends[0]);
    (void)tt_child_wait(child, INFINITY, NULL);
    if (*size == 0) {
        free(bytes);
        return false;
    }
    *answer = bytes;
    return true;
}

/* ---- start ---- */

static int child_plan_actions(posix_spawn_file_actions_t *actions, const struct tt_child_plan *plan)
{
    int error = 0;
    for (int stream = 0; stream < 3 && !error; stream++)
        if (plan->streams[stream] == TUTTI_CHILD_NOWHERE)
            error = posix_spawn_file_actions_addopen(actions, stream, "/dev/null", O_RDWR, 0);
        else if (plan->streams[stream] > 0)
            error = posix_spawn_file_actions_adddup2(actions, plan->streams[stream], stream);
    for (int i = 0; i < plan->passed_count && !error; i++)
        error = posix_spawn_file_actions_adddup2(actions, plan->passed[i], STDERR_FILENO + 1 + i);
    if (plan->folder && !error)
        error = posix_spawn_file_actions_addchdir_np(actions, plan->folder);
    return error;
}

static int child_plan_attributes(posix_spawnattr_t *attributes, const struct tt_child_plan *plan)
{
    short flags = 0;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    if (plan->flags & TUTTI_CHILD_GROUP)
        flags |= POSIX_SPAWN_SETPGROUP;
    if (plan->flags & TUTTI_CHILD_SESSION)
        flags |= POSIX_SPAWN_SETSID;
    if (plan->flags & TUTTI_CHILD_CLEAR_SIGNALS)
        flags |= POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    int error = posix_spawnattr_setflags(attributes, flags);
    if (!error)
        error = posix_spawnattr_setsigmask(attributes, &none);
    return error ? error : posix_spawnattr_setsigdefault(attributes, &all);
}

int tt_child_start(pid_t *pid, const struct tt_child_plan *plan)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    *pid = 0;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (!error) {
        char *const *words = (char *const *)plan->words; /* they are only read */
        char *const *environment = plan->environment ? plan->environment : environ;
        pid_t child = 0;
        error = child_plan_actions(&actions, plan);
        if (!error)
            error = child_plan_attributes(&attributes, plan);
        if (!error)
            error = plan->flags & TUTTI_CHILD_IN_PATH
                        ? posix_spawnp(&child, words[0], &actions, &attributes, words, environment)
                        : posix_spawn(&child, words[0], &actions, &attributes, words, environment);
        *pid = error ? 0 : child;
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

int tt_child_fork(pid_t *pid, int *fd, int type, void (*work)(void *context, int end, pid_t parent), void *context)
{
    int pair[2] = {-1, -1}, error;
    pid_t parent = getpid();
    *pid = 0;
    *fd = -1;
    if (type && socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair) != 0)
        return errno;
    fflush(NULL); /* or the copy would write it once more */
    pid_t child = fork();
    if (child == 0) {
        if (type)
            close(pair[0]);
        work(context, pair[1], parent);
        _exit(1);
    }
    error = errno;
    if (type)
        close(pair[1]);
    if (child < 0 && type)
        close(pair[0]);
    if (child < 0)
        return error;
    *pid = child;
    *fd = pair[0];
    return 0;
}

enum { MOST_DESCRIPTORS = 4 };

union child_control {
    struct cmsghdr head;
    char room[CMSG_SPACE(MOST_DESCRIPTORS * sizeof(int))];
};

bool tt_child_send_descriptors(int socket, const int *fds, int count)
{
    char byte = 0;
    size_t size = (size_t)count * sizeof *fds;
    union child_control control = {
        .head = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(size)}};
    struct iovec part = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = CMSG_SPACE(size)};
    ssize_t sent;
    memcpy(CMSG_DATA(&control.head), fds, size);
    do
        sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == 1;
}

void tt_child_receive_descriptors(int socket, int *fds, int most)
{
    char byte;
    size_t size = (size_t)most * sizeof *fds;
    union child_control control;
    struct iovec part = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = CMSG_SPACE(size)};
    ssize_t got;
    do
        got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    for (int i = 0; i < most; i++)
        fds[i] = -1;
    const struct cmsghdr *head = got == 1 ? CMSG_FIRSTHDR(&message) : NULL;
    if (head && head->cmsg_type == SCM_RIGHTS && head->cmsg_len <= CMSG_LEN(size))
        memcpy(fds, CMSG_DATA(head), head->cmsg_len - CMSG_LEN(0));
}

/* ---- end ---- */

/* Waits for the end of a child without collecting it. Without a descriptor of it, which a container may forbid, it looks each millisecond. */
static void child_await(pid_t pid, double seconds)
{
    siginfo_t info;
    double end = tt_wall_clock_now() + seconds, left;
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    while ((left = end - tt_wall_clock_now()) > 0) {
        struct pollfd watched = {.fd = fd, .events = POLLIN};
        info.si_pid = 0;
        if (poll(&watched, 1, fd < 0 ? 1 : (int)(1e3 * left) + 1) > 0 ||
            waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == pid)
            break;
    }
    if (fd >= 0)
        close(fd);
}

enum tt_child_state tt_child_wait(pid_t pid, double seconds, int *status)
{
    bool blocks = isinf(seconds);
    pid_t ended;
    if (pid <= 1)
        return TUTTI_CHILD_UNKNOWN;
    if (seconds > 0 && !blocks)
        child_await(pid, seconds);
    do
        ended = waitpid(pid, status, blocks ? 0 : WNOHANG);
    while (ended < 0 && errno == EINTR);
    return ended == pid ? TUTTI_CHILD_ENDED : ended == 0 ? TUTTI_CHILD_RUNS : TUTTI_CHILD_UNKNOWN;
}

/* A child that has ended still has its number until it is collected. */
static bool is_child(pid_t pid)
{
    siginfo_t info;
    return pid > 1 && waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
}

bool tt_child_kill(pid_t pid, int number)
{
    return is_child(pid) && kill(pid, number) == 0;
}

bool tt_child_kill_group(pid_t pid, int number)
{
    return is_child(pid) && kill(-pid, number) == 0; /* a group has the number of the process that made it */
}
