/* SPDX-License-Identifier: MIT */
/* Ranks as workers: processes that are forked from this one, so that whatever an FMU does to its process, the others and the
 * results stay. The process that calls is the conductor; only it writes files and hears signals. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/kill.h"
#include "base/vector.h"
#include "conduct/confined.h"
#include "fmi/ended.h"
#include "conduct/launch/crew.h"
#include "conduct/lost.h"
#include "conduct/place.h"
#include "conduct/settle.h"
#include "master/conducted.h"

enum end { NOT_YET, BY_ITSELF, DIED, ENDED };

struct worker {
    pid_t pid; /* 0: there is none, or it has ended and is collected */
    enum end end;
    int status; /* DIED: as waitpid told it */
};

struct processes {
    struct tutti_crew crew; /* first */
    struct worker *workers;
    struct tutti_confined confined;
    char *copy; /* of what a rank has reported: if it is confined, it may change what lies in the area at any time */
    size_t copy_room;
};

static bool is_asked_for(const struct tutti_run_options *options)
{
    return options->processes > 0;
}

static enum tutti_err place(void *self, const struct tutti_job *job, int32_t *places, int *ranks)
{
    int least;
    (void)self;
    TRY(tutti_place_least_ranks(job->system, job->asked, &least));
    *ranks = tutti_place_clamp(job->system, job->asked, job->options.processes, least);
    return tutti_place(job->system, job->asked, *ranks, places);
}

static enum tutti_err open_all(void *self, const struct tutti_job *job, int ranks)
{
    struct processes *processes = self;
    TRY(tutti_job_unpack(job));
    TRY(tutti_crew_open(&processes->crew, job, ranks, "processes"));
    processes->workers = calloc((size_t)ranks, sizeof *processes->workers);
    return processes->workers ? tutti_confined_open(&processes->confined, job, ranks) : tutti_fail_memory();
}

/* ---- in a worker ---- */

static enum tutti_err run_rank(const struct processes *processes, const struct tutti_job *job,
                               struct tutti_fabric *fabric)
{
    struct tutti_confinement confinement;
    enum tutti_err err =
        tutti_confined_enter(&processes->confined, job, fabric->rank, &fabric->where->component, -1, &confinement);
    if (err)
        tutti_rank_give_up(fabric, err);
    else
        err = tutti_rank_run(job, fabric);
    tutti_confine_end(&confinement);
    return err;
}

/* The child of a fork: it never returns. */
static void be_rank(const struct processes *processes, int rank, pid_t parent)
{
    tutti_settle_in(parent);
    /* The interrupt of the options is the conductor's, out of sight from here, as orders are; those of the area are not. */
    struct tutti_job job = *processes->crew.job;
    job.options.interrupt = tutti_shared_interrupt(processes->crew.area);
    if (job.options.orders)
        job.options.orders = tutti_shared_orders(processes->crew.area);
    struct tutti_fabric *fabric;
    enum tutti_err err = tutti_shared_join(processes->crew.area, rank, &fabric);
    if (err == TUTTI_OK) {
        err = run_rank(processes, &job, fabric);
        fflush(NULL); /* what an FMU printed */
        fabric->kind->close(fabric);
    }
    _exit(err == TUTTI_OK ? 0 : 1);
}

/* ---- in the conductor ---- */

static enum tutti_err start(void *self, int rank)
{
    struct processes *processes = self;
    struct worker *worker = &processes->workers[rank];
    pid_t parent = getpid();
    fflush(NULL); /* or the worker would write it once more */
    worker->pid = fork();
    if (worker->pid == 0)
        be_rank(processes, rank, parent);
    if (worker->pid > 0)
        return TUTTI_OK;
    worker->pid = 0;
    return tutti_fail(TUTTI_ERR_LIMIT, "cannot start %d processes: %s; use fewer (--processes)", processes->crew.ranks,
                      strerror(errno));
}

/* Collects the worker if it has ended; `flags` as of waitpid. */
static void collect(struct processes *processes, int rank, int flags)
{
    struct worker *worker = &processes->workers[rank];
    int status = 0;
    pid_t ended;
    do
        ended = worker->pid ? waitpid(worker->pid, &status, flags) : 0;
    while (ended < 0 && errno == EINTR);
    if (ended == 0)
        return;
    worker->pid = 0;
    worker->status = status;
    if (worker->end == NOT_YET)
        worker->end = tutti_shared_has_left(processes->crew.area, rank) ? BY_ITSELF : DIED;
}

static const char *reports(void *self, int rank, size_t *count)
{
    struct processes *processes = self;
    const char *bytes = tutti_crew_reports(self, rank, count);
    if (processes->confined.how == TUTTI_CONFINE_NONE || *count == 0)
        return bytes;
    if (!tutti_vector_reserve(&processes->copy, &processes->copy_room, *count, 1))
        *count = 0; /* there may be memory later */
    else
        memcpy(processes->copy, bytes, *count);
    return processes->copy;
}

static enum tutti_err fail_dead(const struct processes *processes, int rank, const struct tutti_heartbeat *heartbeat)
{
    int status = processes->workers[rank].status;
    char how[256];
    if (WIFSIGNALED(status))
        tutti_ended_by_signal(WTERMSIG(status), how, sizeof how);
    else
        tutti_ended_by_exit(WEXITSTATUS(status), how, sizeof how);
    return tutti_lost_worker(processes->crew.job->system, rank, heartbeat, how);
}

static void look(void *self, int rank, struct tutti_rank_status *status)
{
    struct processes *processes = self;
    struct worker *worker = &processes->workers[rank];
    const struct tutti_heartbeat *heartbeat = tutti_shared_heartbeat(processes->crew.area, rank);
    collect(processes, rank, WNOHANG);
    tutti_confined_listen(&processes->confined, processes->crew.job, rank);
    if (worker->end == DIED)
        *status = (struct tutti_rank_status){.state = TUTTI_RANK_LOST,
                                             .err = fail_dead(processes, rank, heartbeat),
                                             .step = atomic_load(&heartbeat->step),
                                             .is_dry = true};
    else if (worker->end != NOT_YET || tutti_shared_has_left(processes->crew.area, rank))
        *status = (struct tutti_rank_status){.state = TUTTI_RANK_LEFT, .err = tutti_fabric_stopped()};
    else
        status->heartbeat = heartbeat;
}

static void end(void *self, int rank)
{
    struct processes *processes = self;
    struct worker *worker = &processes->workers[rank];
    if (worker->pid == 0)
        return;
    worker->end = ENDED;
    (void)tutti_kill_child(worker->pid, SIGKILL);
    collect(processes, rank, 0);
}

/* Workers that have told their end clean up, and are gone. */
static void finish(void *self, bool cut)
{
    static const struct timespec nap = {.tv_nsec = 1000000};
    struct processes *processes = self;
    double deadline = tutti_clock_now() + (cut ? 0 : TUTTI_SETTLE_LAST_SECONDS);
    for (int r = 0; r < processes->crew.ranks; r++) {
        for (;;) {
            collect(processes, r, WNOHANG);
            if (processes->workers[r].pid == 0 || tutti_clock_now() >= deadline)
                break;
            nanosleep(&nap, NULL);
        }
        end(processes, r);
        tutti_confined_listen(&processes->confined, processes->crew.job, r);
    }
}

static void close_all(void *self)
{
    struct processes *processes = self;
    free(processes->workers);
    free(processes->copy);
    tutti_confined_close(&processes->confined);
    tutti_crew_close(&processes->crew);
}

const struct tutti_launcher tutti_launcher_processes = {.name = "processes",
                                                        .size = sizeof(struct processes),
                                                        .grace = 0.5,
                                                        .is_asked_for = is_asked_for,
                                                        .place = place,
                                                        .open = open_all,
                                                        .close = close_all,
                                                        .start = start,
                                                        .poll = tutti_crew_poll,
                                                        .look = look,
                                                        .reports = reports,
                                                        .consume = tutti_crew_consume,
                                                        .interrupt = tutti_crew_interrupt,
                                                        .order = tutti_crew_order,
                                                        .stop = tutti_crew_stop,
                                                        .end = end,
                                                        .finish = finish};
