/* SPDX-License-Identifier: MIT */
#include "master/checkpoints.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/number.h"
#include "fabric/report.h"
#include "rank/agree.h"
#include "report/step_log.h"

/* Seconds on the clock between two checkpoints if nothing is asked for. */
static const double DEFAULT_SECONDS = 60, RECOVERY_SECONDS = 10;

/* ---- taking one ---- */

static size_t begin_piece(struct tutti_parcel *frame, uint32_t component)
{
    tutti_parcel_put_u32(frame, component);
    return tutti_parcel_begin_block(frame);
}

static enum tutti_err pack(struct tutti_checkpoints *checkpoints)
{
    struct tutti_execution *execution = checkpoints->execution;
    struct tutti_rank *rank = &execution->rank;
    struct tutti_parcel *frame = &checkpoints->frame;
    bool first = rank->fabric->rank == 0;
    tutti_pack_begin(execution);
    tutti_report_begin(frame);
    tutti_parcel_put_u64(frame, rank->stats->steps);
    tutti_parcel_put_double(frame, rank->t);
    tutti_parcel_put_u32(frame, rank->own_count + first);
    if (first) {
        size_t begin = begin_piece(frame, TUTTI_PIECE_OF_ALL);
        TRY(tutti_pack_common(execution, frame));
        tutti_parcel_end_block(frame, begin);
    }
    for (uint32_t i = 0; i < rank->own_count; i++) {
        size_t begin = begin_piece(frame, rank->own[i]->component);
        TRY(tutti_pack_unit(&checkpoints->packer, execution, i, frame));
        tutti_parcel_end_block(frame, begin);
    }
    return frame->failed ? tutti_fail_memory() : TUTTI_OK;
}

/* A rank that writes its own result. */
static enum tutti_err collect(struct tutti_checkpoints *checkpoints)
{
    struct tutti_execution *execution = checkpoints->execution;
    struct tutti_parcel *result = &checkpoints->result, *step_log = &checkpoints->step_log;
    tutti_parcel_reset(result);
    tutti_parcel_reset(step_log);
    TRY(tutti_output_mark(&execution->observer.sink.output, result));
    TRY(tutti_step_log_mark(execution->master.log, step_log));
    if (result->failed || step_log->failed)
        return tutti_fail_memory();
    TRY(tutti_collector_take_over(checkpoints->collector, &checkpoints->frame, TUTTI_REPORT_HEADER));
    return tutti_collector_write(checkpoints->collector, tutti_parcel_bytes(result), tutti_parcel_bytes(step_log));
}

/* One rank's units may turn out not to be fit for it (master/pack.h): then none sends anything. */
static enum tutti_err take(struct tutti_checkpoints *checkpoints)
{
    struct tutti_rank *rank = &checkpoints->execution->rank;
    enum tutti_err err = pack(checkpoints);
    double unfit = err == TUTTI_ERR_UNSUPPORTED;
    if (err && err != TUTTI_ERR_UNSUPPORTED)
        return err;
    if (unfit > 0)
        tutti_log_printf(rank->unit_log, TUTTI_LOG_WARNING, NULL, "no further checkpoints are taken: %s",
                         tutti_err_message());
    TRY(tutti_reduce(rank, TUTTI_REDUCE_MAX, &unfit, 1));
    checkpoints->given_up = unfit > 0;
    if (checkpoints->given_up || rank->own_count + (rank->fabric->rank == 0) == 0) /* it has nothing to bring */
        return TUTTI_OK;
    return checkpoints->collector ? collect(checkpoints)
                                  : tutti_report_send(rank->fabric, TUTTI_REPORT_CHECKPOINT, &checkpoints->frame);
}

/* ---- when ---- */

/* The next multiple of the interval, counted from the start: the same whether the run was interrupted or not. */
static double next_time(const struct tutti_checkpoints *checkpoints)
{
    const struct tutti_rank *rank = &checkpoints->execution->rank;
    if (!isfinite(checkpoints->every) || checkpoints->given_up)
        return INFINITY;
    double passed = floor((rank->t - rank->times.start) / checkpoints->every + 1e-9);
    return rank->times.start + (passed + 1 - 1e-9) * checkpoints->every;
}

static enum tutti_err interrupted(const struct tutti_checkpoints *checkpoints)
{
    const struct tutti_rank *rank = &checkpoints->execution->rank;
    const char *path = rank->job->options.checkpoint;
    return checkpoints->given_up || !path
               ? tutti_fail(TUTTI_ERR_INTERRUPTED, "interrupted at t = %s; everything up to there is kept",
                            TIME(rank->t))
               : tutti_fail(
                     TUTTI_ERR_INTERRUPTED,
                     "interrupted at t = %s, with a checkpoint there: the same command goes on with --resume '%s'",
                     TIME(rank->t), path);
}

/* Clocks and interrupts of all ranks: the one that is latest, and any. */
static enum tutti_err look_together(struct tutti_checkpoints *checkpoints, bool *due, bool *ends)
{
    struct tutti_rank *rank = &checkpoints->execution->rank;
    const volatile sig_atomic_t *interrupt = rank->job->options.interrupt;
    double now = tutti_clock_now();
    double most[] = {now - checkpoints->taken_at, now - checkpoints->looked_at, interrupt && *interrupt};
    TRY(tutti_reduce(rank, TUTTI_REDUCE_MAX, most, sizeof most / sizeof *most));
    *due = !checkpoints->given_up && most[0] >= checkpoints->seconds;
    *ends = most[2] > 0;
    tutti_between_plan(checkpoints->between, rank->stats->steps, most[1]);
    checkpoints->looked_at = now;
    return TUTTI_OK;
}

static enum tutti_err look(void *context)
{
    struct tutti_checkpoints *checkpoints = context;
    struct tutti_between *between = checkpoints->between;
    const struct tutti_rank *rank = &checkpoints->execution->rank;
    bool due = rank->t >= between->due, by_clock = false, ends = false;
    if (rank->stats->steps >= between->look_at)
        TRY(look_together(checkpoints, &by_clock, &ends));
    if (due || by_clock || (ends && !checkpoints->given_up)) {
        TRY(take(checkpoints));
        checkpoints->taken_at = tutti_clock_now();
    }
    between->due = next_time(checkpoints);
    return ends ? interrupted(checkpoints) : TUTTI_OK;
}

/* ---- beginning and end ---- */

static enum tutti_err sync_result(void *context)
{
    struct tutti_execution *execution = context;
    TRY(tutti_output_sync(&execution->observer.sink.output));
    return tutti_step_log_sync(execution->master.log);
}

/* Some solvers begin anew at every checkpoint: those that the clock asks for would be another time elsewhere. */
static void warn_of_solvers(const struct tutti_checkpoints *checkpoints)
{
    const struct tutti_rank *rank = &checkpoints->execution->rank;
    for (uint32_t m = 0; m < rank->member_count && isfinite(checkpoints->seconds); m++) {
        const struct tutti_solver_kind *solver = rank->members[m].setup.integration.solver;
        if (rank->members[m].unit->kind->interface != TUTTI_ME || !solver || solver->saved_size ||
            tutti_pack_replays(rank, rank->members[m].unit))
            continue;
        tutti_log_printf(
            rank->log, TUTTI_LOG_WARNING, NULL,
            "%s: the solver %s begins anew at every checkpoint; taken by the clock, checkpoints are elsewhere in "
            "another run, and so are the last digits of its result: --every D takes them at fixed times, and "
            "--solver bdf goes on as if there were none",
            rank->members[m].unit->name, solver->name);
        return;
    }
}

/* A run with checkpoints makes other steps than one without, because its solver is one whose state can be saved. */
static void warn_of_replaced(const struct tutti_rank *rank)
{
    for (uint32_t m = 0; m < rank->member_count; m++) {
        const struct tutti_integration *integration = &rank->members[m].setup.integration;
        if (rank->members[m].unit->kind->interface != TUTTI_ME || !integration->replaced)
            continue;
        tutti_log_printf(rank->log, TUTTI_LOG_WARNING, NULL,
                         "%s: with checkpoints the solver is %s, not %s: the steps differ from those of a run without "
                         "checkpoints, within the tolerance; --solver %s makes both the same",
                         rank->members[m].unit->name, integration->solver->name, integration->replaced->name,
                         integration->solver->name);
        return;
    }
}

enum tutti_err tutti_checkpoints_open(struct tutti_execution *execution)
{
    struct tutti_rank *rank = &execution->rank;
    const struct tutti_job *job = rank->job;
    const struct tutti_run_options *options = &job->options;
    if (!options->checkpoint && options->recover == 0)
        return TUTTI_OK;
    TRY(tutti_pack_check(execution));
    struct tutti_checkpoints *checkpoints = execution->checkpoints = calloc(1, sizeof *checkpoints);
    if (!checkpoints)
        return tutti_fail_memory();
    double now = tutti_clock_now();
    *checkpoints = (struct tutti_checkpoints){.execution = execution,
                                              .every = options->has_every ? options->every : INFINITY,
                                              .seconds = options->has_every_seconds ? options->every_seconds
                                                         : options->has_every       ? INFINITY
                                                         : options->checkpoint      ? DEFAULT_SECONDS
                                                                                    : RECOVERY_SECONDS,
                                              .taken_at = now,
                                              .looked_at = now};
    warn_of_solvers(checkpoints);
    warn_of_replaced(rank);
    const struct tutti_between between = {.look_at = rank->stats->steps + 1,
                                          .interval = 1,
                                          .due = next_time(checkpoints),
                                          .look = look,
                                          .minds_interrupt = true,
                                          .context = checkpoints};
    checkpoints->between = tutti_loop_add_between(&execution->loop, &between);
    const struct tutti_collector_target target = {.path = job->checkpoint,
                                                  .identity = job->identity,
                                                  .unit_count = rank->member_count,
                                                  .log = rank->log,
                                                  .sync = {sync_result, execution}};
    return rank->reports ? TUTTI_OK : tutti_collector_new(&checkpoints->collector, &target);
}

void tutti_checkpoints_close(struct tutti_execution *execution)
{
    struct tutti_checkpoints *checkpoints = execution->checkpoints;
    if (!checkpoints)
        return;
    tutti_collector_free(checkpoints->collector);
    tutti_packer_fini(&checkpoints->packer, checkpoints->execution);
    struct tutti_parcel *const parcels[] = {&checkpoints->frame, &checkpoints->result, &checkpoints->step_log};
    for (size_t i = 0; i < sizeof parcels / sizeof *parcels; i++)
        tutti_parcel_fini(parcels[i]);
    free(checkpoints);
    execution->checkpoints = NULL;
}
