/* SPDX-License-Identifier: MIT */
#include "sim/checkpoint/checkpoint_schedule.h"

#include <math.h>
#include <stdlib.h>

#include "base/wall_clock.h"
#include "base/number.h"
#include "sim/ranks/fabric.h"
#include "sim/rank.h"
#include "sim/report/step_log.h"

/* Seconds on the clock between two checkpoints if nothing is asked for. */
static const double DEFAULT_SECONDS = 60, RECOVERY_SECONDS = 10;

/* ---- taking one ---- */

static size_t begin_checkpoint_piece(struct tt_byte_writer *frame, uint32_t component)
{
    tt_bytes_put_u32(frame, component);
    return tt_bytes_begin_block(frame);
}

static enum tutti_err pack_rank_checkpoint(struct tt_checkpoint_schedule *checkpoints)
{
    struct tt_execution *execution = checkpoints->execution;
    struct tt_rank *rank = &execution->rank;
    struct tt_byte_writer *frame = &checkpoints->frame;
    bool first = rank->fabric->rank == 0;
    tt_packed_state_flush_counts(execution);
    tt_fabric_begin_report(frame);
    tt_bytes_put_u64(frame, rank->stats->steps);
    tt_bytes_put_double(frame, rank->t);
    tt_bytes_put_u32(frame, rank->own_count + first);
    if (first) {
        size_t begin = begin_checkpoint_piece(frame, TUTTI_PIECE_OF_ALL);
        TRY(tt_packed_state_pack_common(execution, frame));
        tt_bytes_end_block(frame, begin);
    }
    for (uint32_t i = 0; i < rank->own_count; i++) {
        size_t begin = begin_checkpoint_piece(frame, rank->own[i]->component);
        TRY(tt_packed_state_pack_unit(&checkpoints->packer, execution, i, frame));
        tt_bytes_end_block(frame, begin);
    }
    return frame->failed ? tt_fail_memory() : TUTTI_OK;
}

/* A rank that writes its own result. */
static enum tutti_err collect_rank_checkpoint(struct tt_checkpoint_schedule *checkpoints)
{
    struct tt_execution *execution = checkpoints->execution;
    struct tt_byte_writer *result = &checkpoints->result, *step_log = &checkpoints->step_log;
    tt_bytes_reset(result);
    tt_bytes_reset(step_log);
    TRY(tt_output_mark(&execution->observer.sink.output, result));
    TRY(tt_step_log_pack_position(execution->master.log, step_log));
    if (result->failed || step_log->failed)
        return tt_fail_memory();
    TRY(tt_collector_adopt_frame(checkpoints->collector, &checkpoints->frame, TUTTI_REPORT_HEADER));
    return tt_collector_write(checkpoints->collector, tt_bytes_written(result), tt_bytes_written(step_log));
}

/* One rank's units may turn out not to be fit for it (sim/checkpoint/packed_state.h): then none sends anything. */
static enum tutti_err make_checkpoint(struct tt_checkpoint_schedule *checkpoints)
{
    struct tt_rank *rank = &checkpoints->execution->rank;
    enum tutti_err err = pack_rank_checkpoint(checkpoints);
    double unfit = err == TUTTI_ERR_UNSUPPORTED;
    if (err && err != TUTTI_ERR_UNSUPPORTED)
        return err;
    if (unfit > 0)
        tt_log(rank->unit_log, TUTTI_LOG_WARNING, NULL, "no further checkpoints are taken: %s", tutti_err_message());
    TRY(tt_rank_reduce(rank, TUTTI_REDUCE_MAX, &unfit, 1));
    checkpoints->given_up = unfit > 0;
    if (checkpoints->given_up || rank->own_count + (rank->fabric->rank == 0) == 0) /* it has nothing to bring */
        return TUTTI_OK;
    return checkpoints->collector ? collect_rank_checkpoint(checkpoints)
                                  : tt_fabric_send_report(rank->fabric, TUTTI_REPORT_CHECKPOINT, &checkpoints->frame);
}

/* ---- when ---- */

/* The next multiple of the interval, counted from the start: the same whether the run was interrupted or not. */
static double next_checkpoint_time(const struct tt_checkpoint_schedule *checkpoints)
{
    const struct tt_rank *rank = &checkpoints->execution->rank;
    if (!isfinite(checkpoints->every) || checkpoints->given_up)
        return INFINITY;
    double passed = floor((rank->t - rank->times.start) / checkpoints->every + 1e-9);
    return rank->times.start + (passed + 1 - 1e-9) * checkpoints->every;
}

/* Clocks and interrupts of all ranks: the one that is latest, and any. */
static enum tutti_err agree_on_checkpoint(struct tt_checkpoint_schedule *checkpoints, bool *due, bool *ends)
{
    struct tt_rank *rank = &checkpoints->execution->rank;
    const volatile sig_atomic_t *interrupt = rank->job->options.interrupt;
    double now = tt_wall_clock_now();
    double most[] = {now - checkpoints->taken_at, now - checkpoints->looked_at, interrupt && *interrupt};
    TRY(tt_rank_reduce(rank, TUTTI_REDUCE_MAX, most, sizeof most / sizeof *most));
    *due = !checkpoints->given_up && most[0] >= checkpoints->seconds;
    *ends = most[2] > 0;
    tt_run_plan_hook(checkpoints->between, rank->stats->steps, most[1]);
    checkpoints->looked_at = now;
    return TUTTI_OK;
}

static enum tutti_err check_checkpoint_due(void *context)
{
    struct tt_checkpoint_schedule *checkpoints = context;
    struct tt_step_hook *between = checkpoints->between;
    const struct tt_rank *rank = &checkpoints->execution->rank;
    bool due = rank->t >= between->due, by_clock = false, ends = false;
    if (rank->stats->steps >= between->look_at)
        TRY(agree_on_checkpoint(checkpoints, &by_clock, &ends));
    if (due || by_clock || (ends && !checkpoints->given_up)) {
        TRY(make_checkpoint(checkpoints));
        checkpoints->taken_at = tt_wall_clock_now();
    }
    between->due = next_checkpoint_time(checkpoints);
    const char *path = rank->job->options.checkpoint;
    if (!ends)
        return TUTTI_OK;
    return checkpoints->given_up || !path
               ? tt_fail(TUTTI_ERR_INTERRUPTED, "interrupted at t = %s; everything up to there is kept", TIME(rank->t))
               : tt_fail(TUTTI_ERR_INTERRUPTED,
                         "interrupted at t = %s, with a checkpoint there: the same command goes on with --resume '%s'",
                         TIME(rank->t), path);
}

/* ---- beginning and end ---- */

static enum tutti_err sync_result_file(void *context)
{
    struct tt_execution *execution = context;
    TRY(tt_output_sync(&execution->observer.sink.output));
    return tt_step_log_sync(execution->master.log);
}

/* Some solvers restart at every checkpoint: times chosen by the wall clock would make results irreproducible. */
static void warn_solvers_restart(const struct tt_checkpoint_schedule *checkpoints)
{
    const struct tt_rank *rank = &checkpoints->execution->rank;
    for (uint32_t m = 0; m < rank->member_count && isfinite(checkpoints->seconds); m++) {
        const struct tt_solver_kind *solver = rank->members[m].setup.integration.solver;
        if (rank->members[m].unit->kind->interface != TUTTI_ME || !solver || solver->saved_size ||
            tt_packed_state_uses_replay(rank, rank->members[m].unit))
            continue;
        tt_log(rank->log, TUTTI_LOG_WARNING, NULL,
               "%s: the solver %s begins anew at every checkpoint; taken by the clock, checkpoints are elsewhere in "
               "another run, and so are the last digits of its result: --every D takes them at fixed times, and "
               "--solver bdf goes on as if there were none",
               rank->members[m].unit->name, solver->name);
        return;
    }
}

/* A run with checkpoints may use a different solver, whose state can be saved, and so make different steps. */
static void warn_solver_replaced(const struct tt_rank *rank)
{
    for (uint32_t m = 0; m < rank->member_count; m++) {
        const struct tt_integration *integration = &rank->members[m].setup.integration;
        if (rank->members[m].unit->kind->interface != TUTTI_ME || !integration->replaced)
            continue;
        tt_log(rank->log, TUTTI_LOG_WARNING, NULL,
               "%s: with checkpoints the solver is %s, not %s: the steps differ from those of a run without "
               "checkpoints, within the tolerance; --solver %s makes both the same",
               rank->members[m].unit->name, integration->solver->name, integration->replaced->name,
               integration->solver->name);
        return;
    }
}

enum tutti_err tt_checkpoint_schedule_open(struct tt_execution *execution)
{
    struct tt_rank *rank = &execution->rank;
    const struct tt_job *job = rank->job;
    const struct tutti_run_options *options = &job->options;
    if (!options->checkpoint && options->recover == 0)
        return TUTTI_OK;
    TRY(tt_packed_state_check_units(execution));
    struct tt_checkpoint_schedule *checkpoints = execution->checkpoints = calloc(1, sizeof *checkpoints);
    if (!checkpoints)
        return tt_fail_memory();
    double now = tt_wall_clock_now();
    *checkpoints = (struct tt_checkpoint_schedule){.execution = execution,
                                                   .every = options->has_every ? options->every : INFINITY,
                                                   .seconds = options->has_every_seconds ? options->every_seconds
                                                              : options->has_every       ? INFINITY
                                                              : options->checkpoint      ? DEFAULT_SECONDS
                                                                                         : RECOVERY_SECONDS,
                                                   .taken_at = now,
                                                   .looked_at = now};
    warn_solvers_restart(checkpoints);
    warn_solver_replaced(rank);
    const struct tt_step_hook between = {.look_at = rank->stats->steps + 1,
                                         .interval = 1,
                                         .due = next_checkpoint_time(checkpoints),
                                         .look = check_checkpoint_due,
                                         .minds_interrupt = true,
                                         .context = checkpoints};
    checkpoints->between = tt_run_add_hook(&execution->loop, &between);
    const struct tt_collector_target target = {.path = job->checkpoint,
                                               .identity = job->identity,
                                               .unit_count = rank->member_count,
                                               .log = rank->log,
                                               .sync = {sync_result_file, execution}};
    return rank->reports ? TUTTI_OK : tt_collector_new(&checkpoints->collector, &target);
}

void tt_checkpoint_schedule_close(struct tt_execution *execution)
{
    struct tt_checkpoint_schedule *checkpoints = execution->checkpoints;
    if (!checkpoints)
        return;
    tt_collector_free(checkpoints->collector);
    tt_packed_state_fini_packer(&checkpoints->packer, checkpoints->execution);
    struct tt_byte_writer *const parcels[] = {&checkpoints->frame, &checkpoints->result, &checkpoints->step_log};
    for (size_t i = 0; i < sizeof parcels / sizeof *parcels; i++)
        tt_bytes_fini(parcels[i]);
    free(checkpoints);
    execution->checkpoints = NULL;
}
