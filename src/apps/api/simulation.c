/* SPDX-License-Identifier: MIT */
/* The life of a simulation that a program steps: a run (run.c), whose loop is taken apart. */
#include "apps/api/simulation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/api/reset.h"
#include "base/wall_clock.h"
#include "base/number.h"
#include "sim/count.h"
#include "sim/events.h"
#include "sim/rank_open.h"

/* ---- beginning ---- */

static enum tutti_err simulation_check_options(const struct tutti_run_options *options)
{
    if (options->threads > 1 || options->processes > 0 || options->nodes || options->mpi || options->twin)
        return tt_fail(TUTTI_ERR_UNSUPPORTED, "a simulation that is stepped runs in the thread that calls: threads, "
                                              "processes, nodes, mpi and twin are for tutti_run");
    if ((options->confine && strcmp(options->confine, "none") != 0) || options->has_timeout)
        return tt_fail(TUTTI_ERR_UNSUPPORTED,
                       "%s for tutti_run: a simulation that is stepped runs in the process that calls, which cannot %s",
                       options->has_timeout ? "timeout is" : "confine, allow and limits are",
                       options->has_timeout ? "end itself" : "be confined");
    if (options->initial_state_count > 0 || options->final_state_count > 0)
        return tt_fail(TUTTI_ERR_UNSUPPORTED, "initial-state and final-state are for tutti_run; a simulation that is "
                                              "stepped has tutti_simulation_save_file and restore_file");
    if (options->join)
        return tt_fail(TUTTI_ERR_UNSUPPORTED, "join is for tutti_run; a program that steps a simulation joins a "
                                              "federation by itself (<tutti/federate.h>)");
    if (options->checkpoint || options->resume || options->recover > 0)
        return tt_fail(TUTTI_ERR_UNSUPPORTED, "checkpoint, resume and recover are for tutti_run; a simulation that is "
                                              "stepped has tutti_simulation_save_file and restore_file");
    return TUTTI_OK;
}

enum tutti_err tutti_simulation_open(struct tutti_simulation **out, const struct tutti_run_options *options)
{
    TRY(simulation_check_options(options));
    struct tutti_simulation *simulation = calloc(1, sizeof *simulation);
    if (!simulation)
        return tt_fail_memory();
    simulation->given = options;
    simulation->options = *options;
    enum tutti_err err = tt_job_open(&simulation->job, &simulation->options, NULL);
    if (!err)
        err = simulation_check_options(&simulation->job.options); /* with what an annotation says */
    if (!err)
        err = tt_simulation_values_number(simulation);
    if (err)
        tutti_simulation_free(simulation);
    else
        *out = simulation;
    return err;
}

/* Values given since are options like others, and count above them. */
static enum tutti_err add_sets(struct tutti_simulation *simulation)
{
    const struct tutti_run_options *given = simulation->given;
    size_t count = given->set_count + simulation->set_count;
    const char **all = tt_arena_array(&simulation->arena, count, sizeof *all);
    if (!all)
        return tt_fail_memory();
    for (size_t i = 0; i < count; i++)
        all[i] = i < given->set_count ? given->sets[i] : simulation->set[i - given->set_count];
    simulation->options = *given;
    simulation->options.sets = all;
    simulation->options.set_count = count;
    return TUTTI_OK;
}

/* What was loaded stays: texts of it are in the hands of the program (tutti_simulation_describe). */
static enum tutti_err apply_sets(struct tutti_simulation *simulation)
{
    if (simulation->set_count == 0 && !simulation->job_has_sets)
        return TUTTI_OK;
    TRY(add_sets(simulation));
    if (!simulation->job_fits || !tt_job_apply_settings(&simulation->job, &simulation->options))
        TRY(tt_job_reopen(&simulation->job, &simulation->options));
    simulation->job_fits = true;
    simulation->job_has_sets = simulation->set_count > 0;
    return TUTTI_OK;
}

static enum tutti_err simulation_start(struct tutti_simulation *simulation)
{
    TRY(apply_sets(simulation));
    TRY(tt_reset_test(&simulation->job));
    simulation->execution.rank = (struct tt_rank){
        .job = &simulation->job, .stats = &simulation->stats, .pending_sets = &simulation->pending_sets};
    return tt_execution_start(&simulation->execution, true);
}

enum tutti_err tutti_simulation_start(struct tutti_simulation *simulation)
{
    TRY(tt_simulation_check(simulation, TUTTI_STAGE_OPEN, "start"));
    enum tutti_err err = simulation_start(simulation);
    simulation->stage = err ? TUTTI_STAGE_FAILED : TUTTI_STAGE_STARTED;
    return err;
}

/* ---- steps ---- */

double tutti_simulation_time(const struct tutti_simulation *simulation)
{
    switch (simulation->stage) {
    case TUTTI_STAGE_OPEN: return simulation->job.times.start;
    case TUTTI_STAGE_FINISHED: return simulation->t;
    case TUTTI_STAGE_STARTED:
    case TUTTI_STAGE_FAILED: break;
    }
    return simulation->execution.rank.t;
}

double tutti_simulation_stop(const struct tutti_simulation *simulation)
{
    const struct tt_rank *rank = &simulation->execution.rank;
    return rank->job ? rank->times.stop : simulation->job.times.stop;
}

bool tutti_simulation_is_over(const struct tutti_simulation *simulation)
{
    const struct tt_rank *rank = &simulation->execution.rank;
    return simulation->stage > TUTTI_STAGE_STARTED ||
           (simulation->stage == TUTTI_STAGE_STARTED && (rank->ended || rank->t >= rank->times.stop));
}

static enum tutti_err simulation_step(struct tt_execution *execution)
{
    TRY(tt_events_apply_pending(&execution->master));
    return tt_run_until_end(&execution->loop);
}

static enum tutti_err simulation_record_error(struct tutti_simulation *simulation, enum tutti_err err)
{
    if (err && err != TUTTI_ERR_INTERRUPTED)
        simulation->stage = TUTTI_STAGE_FAILED;
    return tt_fail_about(err, NULL, NULL, simulation->execution.rank.t);
}

enum tutti_err tutti_simulation_step(struct tutti_simulation *simulation)
{
    TRY(tt_simulation_check(simulation, TUTTI_STAGE_STARTED, "step"));
    return simulation_record_error(
        simulation, tutti_simulation_is_over(simulation) ? TUTTI_OK : simulation_step(&simulation->execution));
}

static enum tutti_err simulation_check_time(const struct tt_execution *execution, double t)
{
    const struct tt_rank *rank = &execution->rank;
    const struct tt_time_grid *grid = &execution->loop.communication;
    if (!tt_time_reached(t, rank->t, rank->span) || !tt_time_reached(rank->times.stop, t, rank->span))
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "tutti_simulation_advance: t = %s is not ahead: the simulation is at %s and goes to %s",
                       NUMBER(t), NUMBER(rank->t), NUMBER(rank->times.stop));
    const struct tt_unit *unit = rank->members[0].unit;
    if (!rank->single_unit || !unit->uniform)
        return TUTTI_OK;
    double n = round((t - grid->start) / grid->step);
    if (!tt_time_same(grid->start + n * grid->step, t, rank->span))
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "tutti_simulation_advance: %s cannot vary its step of %s, and t = %s lies between two",
                       unit->name, NUMBER(grid->step), NUMBER(t));
    return TUTTI_OK;
}

/* Is there a value that a unit is to be given later, where it begins a step of its own? */
static bool simulation_has_pending(const struct tt_rank *rank)
{
    bool has = false;
    for (uint32_t m = 0; m < rank->own_count; m++)
        has = has || rank->own[m]->now.has_pending;
    return has;
}

/* All steps that are left, as a run makes them. */
static enum tutti_err run_to_end(struct tt_execution *execution)
{
    execution->loop.steered = false;
    enum tutti_err err = tt_run_until_end(&execution->loop);
    execution->loop.steered = true;
    return err;
}

static enum tutti_err simulation_advance(struct tt_execution *execution, double t)
{
    struct tt_rank *rank = &execution->rank;
    enum tutti_err err = TUTTI_OK;
    if (tt_time_reached(t, rank->times.stop, rank->span)) {
        TRY(tt_events_apply_pending(&execution->master));
        if (!simulation_has_pending(rank))
            return run_to_end(execution);
    }
    execution->loop.halt_at = fmin(t, rank->times.stop);
    while (!err && !tt_time_reached(rank->t, t, rank->span) && !rank->ended) {
        bool ran = false;
        if (!simulation_has_pending(rank))
            err = tt_run_fast_until(&execution->loop, t, &ran);
        if (!err && !ran)
            err = simulation_step(execution);
    }
    execution->loop.halt_at = INFINITY;
    return err;
}

enum tutti_err tutti_simulation_advance(struct tutti_simulation *simulation, double t)
{
    TRY(tt_simulation_check(simulation, TUTTI_STAGE_STARTED, "advance"));
    TRY(simulation_check_time(&simulation->execution, t));
    return simulation_record_error(simulation, simulation_advance(&simulation->execution, t));
}

/* ---- ways back ---- */

static enum tutti_err check_point(const struct tutti_simulation *simulation, const struct tutti_point *point,
                                  const char *call)
{
    return tt_simulation_has_point(&simulation->points, point)
               ? TUTTI_OK
               : tt_fail(TUTTI_ERR_ARGUMENT,
                         "tutti_simulation_%s: the point does not belong to this simulation: it was saved by a "
                         "different simulation, or before a reset, or is freed; save a new one",
                         call);
}

enum tutti_err tutti_simulation_save(struct tutti_simulation *simulation, struct tutti_point **point)
{
    TRY(tt_simulation_check(simulation, TUTTI_STAGE_STARTED, "save"));
    if (*point)
        TRY(check_point(simulation, *point, "save"));
    return tt_simulation_save_point(&simulation->points, point, &simulation->execution);
}

enum tutti_err tutti_simulation_restore(struct tutti_simulation *simulation, const struct tutti_point *point)
{
    struct tt_execution *execution = &simulation->execution;
    TRY(tt_simulation_check(simulation, TUTTI_STAGE_STARTED, "restore"));
    if (execution->observer.sink.output.format || execution->master.log)
        return tt_fail(TUTTI_ERR_UNSUPPORTED,
                       "tutti_simulation_restore: times in the %s would run backwards; use a watcher",
                       execution->master.log ? "step log" : "result file");
    TRY(check_point(simulation, point, "restore"));
    return simulation_record_error(simulation, tt_simulation_restore_point(&simulation->points, point, execution));
}

void tutti_point_free(struct tutti_simulation *simulation, struct tutti_point *point)
{
    tt_simulation_release_point(&simulation->points, point, &simulation->execution);
}

/* ---- the end ---- */

/* The end of a run; what was loaded stays. */
static enum tutti_err simulation_close(struct tutti_simulation *simulation)
{
    struct tt_failure failure;
    simulation->t = tutti_simulation_time(simulation);
    tt_simulation_free_points(&simulation->points, &simulation->execution);
    tt_reset_enable(&simulation->job, simulation->was_reset);
    tt_fail_save(&failure,
                 simulation->execution.rank.job ? tt_execution_close(&simulation->execution, TUTTI_OK) : TUTTI_OK);
    tt_reset_enable(&simulation->job, false);
    simulation->execution = (struct tt_execution){0};
    tt_pending_set_fini_all(&simulation->pending_sets);
    tt_simulation_values_free_handles(simulation);
    simulation->stage = TUTTI_STAGE_FINISHED;
    return tt_fail_restore(&failure);
}

enum tutti_err tutti_simulation_finish(struct tutti_simulation *simulation, struct tutti_run_stats *stats)
{
    struct tt_execution *execution = &simulation->execution;
    struct tt_failure failure;
    if (stats)
        *stats = (struct tutti_run_stats){0};
    if (simulation->stage == TUTTI_STAGE_FINISHED || simulation->stage == TUTTI_STAGE_OPEN)
        return tt_simulation_reject(simulation, "finish");
    bool began = execution->rank.job != NULL; /* else it could not be loaded again */
    tt_fail_save(&failure, simulation->stage == TUTTI_STAGE_STARTED ? tt_rank_terminate(&execution->rank) : TUTTI_OK);
    if (!failure.err && simulation->stage == TUTTI_STAGE_STARTED)
        tt_fail_save(&failure, tt_watch_report_growth(&execution->loop.growth, &execution->rank));
    double loop_start = execution->loop.watch.loop_start;
    simulation->stats.loop_seconds = loop_start > 0 ? tt_wall_clock_now() - loop_start : 0;
    if (began)
        tt_execution_log_end(execution, failure.err);
    if (stats && began) {
        tt_execution_count(&execution->master);
        *stats = simulation->stats;
        simulation->stats = (struct tutti_run_stats){0};
    }
    enum tutti_err closing = simulation_close(simulation);
    return failure.err ? tt_fail_restore(&failure) : closing;
}

enum tutti_err tutti_simulation_reset(struct tutti_simulation *simulation)
{
    simulation->was_reset = true;
    enum tutti_err err = simulation->stage == TUTTI_STAGE_FINISHED ? TUTTI_OK : simulation_close(simulation);
    tt_stats_fini(&simulation->stats);
    simulation->stats = (struct tutti_run_stats){0};
    simulation->set_count = 0;
    tt_arena_fini(&simulation->arena);
    simulation->arena = (struct tt_arena){0};
    simulation->stage = TUTTI_STAGE_OPEN;
    return err;
}

void tutti_simulation_free(struct tutti_simulation *simulation)
{
    if (!simulation)
        return;
    simulation->was_reset = false;
    if (simulation->stage != TUTTI_STAGE_FINISHED)
        (void)!simulation_close(simulation);
    tt_job_close(&simulation->job);
    tt_simulation_values_reset_handles(simulation);
    tt_stats_fini(&simulation->stats);
    free(simulation->first);
    free(simulation->handles);
    free(simulation->set);
    tt_arena_fini(&simulation->arena);
    free(simulation);
}
