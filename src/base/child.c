/* SPDX-License-Identifier: MIT */
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

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
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
    if (*size == 0) {
        free(bytes);
        return false;
    }
    *answer = bytes;
    return true;
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
