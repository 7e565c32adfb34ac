/* SPDX-License-Identifier: MIT */
#include "base/thread.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

/* initial-exec: read in a signal handler, of threads that never came here as well. */
static _Thread_local bool is_own __attribute__((tls_model("initial-exec")));

void tutti_thread_own(void)
{
    is_own = true;
}

bool tutti_thread_is_own(void)
{
    return is_own;
}

struct start {
    void *(*work)(void *context);
    void *context;
};

static void *begin(void *context)
{
    struct start start = *(struct start *)context;
    free(context);
    tutti_thread_own();
    (void)pthread_setname_np(pthread_self(), "tutti-own"); /* for people who look at the process */
    return start.work(start.context);
}

int tutti_thread_start(pthread_t *thread, void *(*work)(void *context), void *context)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    struct start *start = malloc(sizeof *start);
    sigset_t most, before;
    if (!start)
        return ENOMEM;
    *start = (struct start){work, context};
    sigfillset(&most);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&most, faults[i]);
    pthread_sigmask(SIG_SETMASK, &most, &before);
    int failed = pthread_create(thread, NULL, begin, start);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed)
        free(start);
    return failed;
}
