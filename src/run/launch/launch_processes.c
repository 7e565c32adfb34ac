/* SPDX-License-Identifier: MIT */
/* Ranks as workers: processes forked from this one, so that an FMU that damages its process does not affect other ranks
 * and the results. The calling process is the conductor; only it writes files and handles signals. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/wall_clock.h"
#include "base/child.h"
#include "base/vector.h"
#include "run/confined.h"
#include "fmu/process/exit_message.h"
#include "run/launch/launcher.h"
#include "run/supervision.h"
#include "run/placement.h"
#include "run/fmu_process.h"
#include "sim/execution_run.h"

enum rank_process_end { NOT_YET, BY_ITSELF, DIED, ENDED };

struct rank_process {
    pid_t pid; /* 0: none, or it has ended and is reaped */
    enum rank_process_end end;
    int status; /* DIED: the status of waitpid */
};

struct launch_processes {
    struct tt_shared_launcher crew; /* first */
    struct rank_process *workers;
    struct tt_confined confined;
    char *copy; /* of what a rank has reported: if it is confined, it may change what lies in the area at any time */
    size_t copy_room;
};

static bool launch_processes_is_requested(const struct tutti_run_options *options)
{
    return options->processes > 0;
}

static enum tutti_err launch_processes_place(void *self, const struct tt_job *job, int32_t *places, int *ranks)
{
    int least;
    (void)self;
    TRY(tt_placement_least_ranks(job->system, job->asked, &least));
    *ranks = tt_placement_clamp_ranks(job->system, job->asked, job->options.processes, least);
    return tt_placement_compute(job->system, job->asked, *ranks, places);
}

static enum tutti_err launch_processes_open_all(void *self, const struct tt_job *job, int ranks)
{
    struct launch_processes *processes = self;
    TRY(tt_job_unpack(job));
    TRY(tt_launcher_shared_open(&processes->crew, job, ranks, "processes"));
    processes->workers = calloc((size_t)ranks, sizeof *processes->workers);
    return processes->workers ? tt_confined_open(&processes->confined, job, ranks) : tt_fail_memory();
}

/* ---- in a worker ---- */

static enum tutti_err run_rank_in_child(const struct launch_processes *processes, const struct tt_job *job,
                                        struct tt_fabric *fabric)
{
    struct tt_sandbox confinement;
    enum tutti_err err =
        tt_confined_enter(&processes->confined, job, fabric->rank, &fabric->where->component, -1, &confinement);
    if (err)
        tt_execution_fail_rank(fabric, err);
    else
        err = tt_execution_run_rank(job, fabric);
    tt_sandbox_end(&confinement);
    return err;
}

/* Which rank a copy of this process is to be. */
struct rank_errand {
    const struct launch_processes *processes;
    int rank;
};

/* It never returns. */
static void launch_processes_child_main(void *context, int end, pid_t parent)
{
    const struct rank_errand *errand = context;
    const struct launch_processes *processes = errand->processes;
    int rank = errand->rank;
    (void)end;
    tt_fmu_process_install_signals(parent);
    /* The interrupt of the options is the conductor's, out of sight from here, as orders are; those of the area are not. */
    struct tt_job job = *processes->crew.job;
    job.options.interrupt = tt_shared_fabric_interrupt_flag(processes->crew.area);
    if (job.options.orders)
        job.options.orders = tt_shared_fabric_commands(processes->crew.area);
    struct tt_fabric *fabric;
    enum tutti_err err = tt_shared_fabric_join(processes->crew.area, rank, &fabric);
    if (err == TUTTI_OK) {
        err = run_rank_in_child(processes, &job, fabric);
        fflush(NULL); /* what an FMU printed */
        fabric->kind->close(fabric);
    }
    _exit(err == TUTTI_OK ? 0 : 1);
}

/* ---- in the conductor ---- */

static enum tutti_err launch_processes_start(void *self, int rank)
{
    struct launch_processes *processes = self;
    struct rank_process *worker = &processes->workers[rank];
    struct rank_errand errand = {processes, rank};
    int none, error = tt_child_fork(&worker->pid, &none, 0, launch_processes_child_main, &errand);
    if (error)
        return tt_fail(TUTTI_ERR_LIMIT, "cannot start %d processes: %s; use fewer (--processes)", processes->crew.ranks,
                       strerror(error));
    return TUTTI_OK;
}

/* Collects the worker if it ends within so many seconds. */
static void launch_processes_reap(struct launch_processes *processes, int rank, double seconds)
{
    struct rank_process *worker = &processes->workers[rank];
    int status = 0;
    if (!worker->pid || tt_child_wait(worker->pid, seconds, &status) == TUTTI_CHILD_RUNS)
        return;
    worker->pid = 0;
    worker->status = status;
    if (worker->end == NOT_YET)
        worker->end = tt_shared_fabric_has_left(processes->crew.area, rank) ? BY_ITSELF : DIED;
}

static const char *launch_processes_reports(void *self, int rank, size_t *count)
{
    struct launch_processes *processes = self;
    const char *bytes = tt_launcher_shared_reports(self, rank, count);
    if (processes->confined.how == TUTTI_CONFINE_NONE || *count == 0)
        return bytes;
    if (!tt_vector_reserve(&processes->copy, &processes->copy_room, *count, 1))
        *count = 0; /* there may be memory later */
    else
        memcpy(processes->copy, bytes, *count);
    return processes->copy;
}

static void launch_processes_status(void *self, int rank, struct tt_rank_status *status)
{
    struct launch_processes *processes = self;
    struct rank_process *worker = &processes->workers[rank];
    const struct tt_heartbeat *heartbeat = tt_shared_fabric_heartbeat(processes->crew.area, rank);
    launch_processes_reap(processes, rank, 0);
    tt_confined_log_new_denials(&processes->confined, processes->crew.job, rank);
    if (worker->end == DIED) {
        char how[256];
        if (WIFSIGNALED(worker->status))
            tt_exit_message_signal(WTERMSIG(worker->status), how, sizeof how);
        else
            tt_exit_message_status(WEXITSTATUS(worker->status), how, sizeof how);
        *status = (struct tt_rank_status){
            .state = TUTTI_RANK_LOST,
            .err = tt_supervision_describe_loss(processes->crew.job->system, rank, heartbeat, how),
            .step = atomic_load(&heartbeat->step),
            .is_dry = true};
    } else if (worker->end != NOT_YET || tt_shared_fabric_has_left(processes->crew.area, rank))
        *status = (struct tt_rank_status){.state = TUTTI_RANK_LEFT, .err = tt_fabric_fail_stopped()};
    else
        status->heartbeat = heartbeat;
}

static void launch_processes_kill(void *self, int rank)
{
    struct launch_processes *processes = self;
    struct rank_process *worker = &processes->workers[rank];
    if (worker->pid == 0)
        return;
    worker->end = ENDED;
    (void)tt_child_kill(worker->pid, SIGKILL);
    launch_processes_reap(processes, rank, INFINITY);
}

/* Workers that have reported their end clean up and exit. */
static void launch_processes_finish(void *self, bool cut)
{
    struct launch_processes *processes = self;
    double deadline = tt_wall_clock_now() + (cut ? 0 : TUTTI_SETTLE_LAST_SECONDS);
    for (int r = 0; r < processes->crew.ranks; r++) {
        launch_processes_reap(processes, r, fmax(0, deadline - tt_wall_clock_now()));
        launch_processes_kill(processes, r);
        tt_confined_log_new_denials(&processes->confined, processes->crew.job, r);
    }
}

static void launch_processes_close_all(void *self)
{
    struct launch_processes *processes = self;
    free(processes->workers);
    free(processes->copy);
    tt_confined_close(&processes->confined);
    tt_launcher_shared_close(&processes->crew);
}

const struct tt_launcher tt_launcher_processes = {.name = "processes",
                                                  .size = sizeof(struct launch_processes),
                                                  .grace = 0.5,
                                                  .is_asked_for = launch_processes_is_requested,
                                                  .place = launch_processes_place,
                                                  .open = launch_processes_open_all,
                                                  .close = launch_processes_close_all,
                                                  .start = launch_processes_start,
                                                  .poll = tt_launcher_shared_poll,
                                                  .look = launch_processes_status,
                                                  .reports = launch_processes_reports,
                                                  .consume = tt_launcher_shared_consume,
                                                  .interrupt = tt_launcher_shared_interrupt,
                                                  .order = tt_launcher_shared_order,
                                                  .stop = tt_launcher_shared_stop,
                                                  .end = launch_processes_kill,
                                                  .finish = launch_processes_finish};
