/* SPDX-License-Identifier: MIT */
#include "base/thread.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

/* initial-exec: read in a signal handler, of threads that never came here as well. */
static _Thread_local bool is_own __attribute__((tls_model("initial-exec")));

void tt_thread_mark_own(void)
{
    is_own = true;
}

bool tt_thread_is_own(void)
{
    return is_own;
}

struct thread_start {
    void *(*work)(void *context);
    void *context;
};

static void *thread_main(void *context)
{
    struct thread_start start = *(struct thread_start *)context;
    free(context);
    tt_thread_mark_own();
    (void)pthread_setname_np(pthread_self(), "tutti-own"); /* for people who look at the process */
    return start.work(start.context);
}

int tt_thread_start(pthread_t *thread, void *(*work)(void *context), void *context)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    struct thread_start *start = malloc(sizeof *start);
    sigset_t most, before;
    if (!start)
        return ENOMEM;
    *start = (struct thread_start){work, context};
    sigfillset(&most);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&most, faults[i]);
    pthread_sigmask(SIG_SETMASK, &most, &before);
    int failed = pthread_create(thread, NULL, thread_main, start);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed)
        free(start);
    return failed;
}
