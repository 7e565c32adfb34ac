/* SPDX-License-Identifier: MIT */
#include "heir.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/thread.h"

enum { STACK = 1 << 20 };

static struct {
    struct heir_page *page;
    int (*settle)(pid_t ended, int status);
    pid_t process, parent;
    pid_t heir;
    sem_t written; /* an heir is there, or there will be none */
} will;

/* In the heir; all signals are blocked. */
static int inherit(void *unused)
{
    sigset_t call;
    int number;
    (void)unused;
    sigemptyset(&call);
    sigaddset(&call, SIGUSR1);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != will.parent)
        _exit(1);
    if (sigwait(&call, &number) != 0)
        _exit(1);
    _exit(will.settle(will.process, atomic_load(&will.page->status)));
}

/* A thread that lends the heir its thread-local variables (errno is one), and does nothing else as long as the process lives. */
static void *lend(void *unused)
{
    const int shared = CLONE_VM | CLONE_FILES | CLONE_FS | CLONE_PARENT;
    char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t heir = stack != MAP_FAILED ? clone(inherit, stack + STACK, shared, NULL) : -1;
    will.heir = heir > 0 ? heir : 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    sem_post(&will.written);
    if (heir <= 0)
        return unused;
    for (;;)
        pause();
}

pid_t heir_leave(struct heir_page *page, int (*settle)(pid_t ended, int status))
{
    pthread_t thread;
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
    return 0; /* they know no process that shares memory, and would watch nothing any more */
#endif
    will.page = page;
    will.settle = settle;
    will.process = getpid();
    will.parent = getppid();
    sem_init(&will.written, 0, 0);
    if (tt_thread_start(&thread, lend, NULL) != 0)
        return 0;
    pthread_detach(thread);
    while (sem_wait(&will.written) != 0) /* interrupted */
        ;
    return will.heir;
}
