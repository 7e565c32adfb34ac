/* SPDX-License-Identifier: MIT */
/* tutti_keeper - the parent of the processes of one FMU that is rolled back by forking (fmu/process/).
 *
 * It starts the first holder; the holders that these fork are its children, too. It records how each ends for the rank,
 * and ends them all once the rank has ended in any way, which closes a pipe. Processes that an FMU starts stay
 * descendants of the keeper and end with it. The keeper does not run code of FMUs. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "fmu/process/shared_area.h"
#include "fmu/fork_server/checkpoint_process.h"

static void record_end(struct tt_shared_area *area, pid_t pid, int status)
{
    for (uint32_t n = TUTTI_AREA_FIRST; n < TUTTI_AREA_HOLDERS; n++) {
        struct tt_process_entry *holder = &area->holders[n];
        int32_t state = atomic_load(&holder->state);
        if (atomic_load(&holder->pid) != pid || state == TUTTI_HOLDER_NONE || state == TUTTI_HOLDER_DEAD)
            continue;
        atomic_store(&holder->status, status);
        atomic_store(&holder->state, state == TUTTI_HOLDER_LEAVING ? TUTTI_HOLDER_NONE : TUTTI_HOLDER_DEAD);
        tt_shared_area_wake_rank(area);
        return;
    }

    /* No entry has this process: an FMU had started it, or the FMU has overwritten its entry. Entries without a child
     * of this process are marked as dead, as the rank would wait for them for ever. */
    for (uint32_t n = TUTTI_AREA_FIRST; n < TUTTI_AREA_HOLDERS; n++) {
        struct tt_process_entry *holder = &area->holders[n];
        int32_t state = atomic_load(&holder->state);
        if (state == TUTTI_HOLDER_NONE || state == TUTTI_HOLDER_DEAD || tt_child_kill(atomic_load(&holder->pid), 0))
            continue;
        atomic_store(&holder->status, status);
        atomic_store(&holder->state, TUTTI_HOLDER_DEAD);
        tt_shared_area_wake_rank(area);
    }
}

/* Reaps holders that have ended; with flags 0, waits for one. False if there are no more children. */
static bool fork_server_collect(struct tt_shared_area *area, int flags)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, flags)) > 0 || (pid < 0 && errno == EINTR))
        if (pid > 0)
            record_end(area, pid, status);
    return pid == 0;
}

/* Ends all children. The kernel lists them, and child.h checks each again, so that no data written by an FMU decides
 * which processes are ended. Children of a dying holder become the keeper's. Processes that cannot be ended, because
 * they belong to a different user by now or signals are forbidden, are left; holders end with their keeper in any case. */
static void fork_server_end_all(struct tt_shared_area *area)
{
    enum { MOST_ROUNDS = 1000 };
    static const struct timespec nap = {.tv_nsec = 1000000};
    for (int round = 0; round < MOST_ROUNDS; round++) {
        FILE *children = fopen("/proc/thread-self/children", "re");
        char *word = NULL;
        size_t size = 0;
        while (children && getdelim(&word, &size, ' ', children) > 0)
            (void)tt_child_kill((pid_t)strtol(word, NULL, 10), SIGKILL);
        free(word);
        if (children)
            fclose(children);
        if (!fork_server_collect(area, WNOHANG))
            return;
        nanosleep(&nap, NULL);
    }
}

int main(void)
{
    struct tt_shared_area *area = tt_shared_area_map(TUTTI_KEEPER_AREA);
    sigset_t deaths;
    sigemptyset(&deaths);
    sigaddset(&deaths, SIGCHLD);
    if (!area || fcntl(TUTTI_KEEPER_LIFE, F_GETFD) < 0)
        return 2; /* it was started by hand */
    close(TUTTI_KEEPER_AREA);
    (void)close_range(TUTTI_KEEPER_LIFE + 1, ~0U, 0); /* what the program of the rank lets its children have */

    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}; /* the rank handles them */
    static const int usual[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};    /* a sanitizer has handlers for these */
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        signal(usual[i], SIG_DFL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); /* core files would be large */
    prctl(PR_SET_CHILD_SUBREAPER, 1);

    sigprocmask(SIG_BLOCK, &deaths, NULL);
    int signals = signalfd(-1, &deaths, SFD_CLOEXEC);
    pid_t keeper = getpid(), first = signals < 0 ? -1 : fork();
    if (first == 0) {
        close(signals);
        close(TUTTI_KEEPER_LIFE);
        sigprocmask(SIG_UNBLOCK, &deaths, NULL);
        tt_checkpoint_process_run(area, keeper);
    }
    if (first < 0)
        return 1; /* the rank sees that */
    tt_checkpoint_process_register(area, TUTTI_AREA_FIRST, first);

    /* Until the rank has ended. */
    struct pollfd fds[] = {{.fd = TUTTI_KEEPER_LIFE}, {.fd = signals, .events = POLLIN}};
    while (!fds[0].revents) {
        if (poll(fds, sizeof fds / sizeof *fds, -1) < 0)
            continue;
        struct signalfd_siginfo info;
        if (fds[1].revents && read(signals, &info, sizeof info) > 0)
            (void)fork_server_collect(area, WNOHANG);
    }
    fork_server_end_all(area);
    return 0;
}
