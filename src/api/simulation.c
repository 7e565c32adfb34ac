/* SPDX-License-Identifier: MIT */
/* The life of a simulation that a program steps: a run (run.c), whose loop is taken apart. */
#include "api/simulation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/reset.h"
#include "base/clock.h"
#include "base/number.h"
#include "master/count.h"
#include "master/events.h"
#include "start/open.h"

/* ---- beginning ---- */

static enum tutti_err check_options(const struct tutti_run_options *options)
{
    if (options->threads > 1 || options->processes > 0 || options->nodes || options->mpi || options->twin)
        return tutti_fail(TUTTI_ERR_UNSUPPORTED, "a simulation that is stepped runs in the thread that calls: threads, "
                                                 "processes, nodes, mpi and twin are for tutti_run");
    if ((options->confine && strcmp(options->confine, "none") != 0) || options->has_timeout)
        return tutti_fail(
            TUTTI_ERR_UNSUPPORTED,
            "%s for tutti_run: a simulation that is stepped runs in the process that calls, which cannot %s",
            options->has_timeout ? "timeout is" : "confine, allow and limits are",
            options->has_timeout ? "end itself" : "be confined");
    if (options->initial_state_count > 0 || options->final_state_count > 0)
        return tutti_fail(TUTTI_ERR_UNSUPPORTED,
                          "initial-state and final-state are for tutti_run; a simulation that is "
                          "stepped has tutti_simulation_save_file and restore_file");
    if (options->join)
        return tutti_fail(TUTTI_ERR_UNSUPPORTED, "join is for tutti_run; a program that steps a simulation joins a "
                                                 "federation by itself (<tutti/federate.h>)");
    if (options->checkpoint || options->resume || options->recover > 0)
        return tutti_fail(TUTTI_ERR_UNSUPPORTED,
                          "checkpoint, resume and recover are for tutti_run; a simulation that is "
                          "stepped has tutti_simulation_save_file and restore_file");
    return TUTTI_OK;
}

enum tutti_err tutti_simulation_open(struct tutti_simulation **out, const struct tutti_run_options *options)
{
    TRY(check_options(options));
    struct tutti_simulation *simulation = calloc(1, sizeof *simulation);
    if (!simulation)
        return tutti_fail_memory();
    simulation->given = options;
    simulation->options = *options;
    enum tutti_err err = tutti_job_open(&simulation->job, &simulation->options, NULL);
    if (!err)
        err = check_options(&simulation->job.options); /* with what an annotation says */
    if (!err)
        err = tutti_simulation_number(simulation);
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
    const char **all = tutti_arena_array(&simulation->arena, count, sizeof *all);
    if (!all)
        return tutti_fail_memory();
    for (size_t i = 0; i < count; i++)
        all[i] = i < given->set_count ? given->sets[i] : simulation->set[i - given->set_count];
    simulation->options = *given;
    simulation->options.sets = all;
    simulation->options.set_count = count;
    return TUTTI_OK;
}

/* What was loaded stays: texts of it are in the hands of the program (tutti_simulation_describe). */
static enum tutti_err settle_sets(struct tutti_simulation *simulation)
{
    if (simulation->set_count == 0 && !simulation->job_has_sets)
        return TUTTI_OK;
    TRY(add_sets(simulation));
    if (!simulation->job_fits || !tutti_job_set_again(&simulation->job, &simulation->options))
        TRY(tutti_job_renew(&simulation->job, &simulation->options));
    simulation->job_fits = true;
    simulation->job_has_sets = simulation->set_count > 0;
    return TUTTI_OK;
}

static enum tutti_err start(struct tutti_simulation *simulation)
{
    TRY(settle_sets(simulation));
    TRY(tutti_reset_try(&simulation->job));
    simulation->execution.rank = (struct tutti_rank){
        .job = &simulation->job, .stats = &simulation->stats, .pending_sets = &simulation->pending_sets};
    return tutti_execution_start(&simulation->execution, true);
}

enum tutti_err tutti_simulation_start(struct tutti_simulation *simulation)
{
    TRY(tutti_simulation_check(simulation, TUTTI_STAGE_OPEN, "start"));
    enum tutti_err err = start(simulation);
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
    const struct tutti_rank *rank = &simulation->execution.rank;
    return rank->job ? rank->times.stop : simulation->job.times.stop;
}

bool tutti_simulation_is_over(const struct tutti_simulation *simulation)
{
    const struct tutti_rank *rank = &simulation->execution.rank;
    return simulation->stage > TUTTI_STAGE_STARTED ||
           (simulation->stage == TUTTI_STAGE_STARTED && (rank->ended || rank->t >= rank->times.stop));
}

static enum tutti_err step(struct tutti_execution *execution)
{
    TRY(tutti_events_take_pending(&execution->master));
    return tutti_loop_run(&execution->loop);
}

static enum tutti_err judge(struct tutti_simulation *simulation, enum tutti_err err)
{
    if (err && err != TUTTI_ERR_INTERRUPTED)
        simulation->stage = TUTTI_STAGE_FAILED;
    return tutti_fail_about(err, NULL, NULL, simulation->execution.rank.t);
}

enum tutti_err tutti_simulation_step(struct tutti_simulation *simulation)
{
    TRY(tutti_simulation_check(simulation, TUTTI_STAGE_STARTED, "step"));
    return judge(simulation, tutti_simulation_is_over(simulation) ? TUTTI_OK : step(&simulation->execution));
}

static enum tutti_err check_time(const struct tutti_execution *execution, double t)
{
    const struct tutti_rank *rank = &execution->rank;
    const struct tutti_grid *grid = &execution->loop.communication;
    if (!tutti_time_reached(t, rank->t, rank->span) || !tutti_time_reached(rank->times.stop, t, rank->span))
        return tutti_fail(TUTTI_ERR_ARGUMENT,
                          "tutti_simulation_advance: t = %s is not ahead: the simulation is at %s and goes to %s",
                          NUMBER(t), NUMBER(rank->t), NUMBER(rank->times.stop));
    const struct tutti_unit *unit = rank->members[0].unit;
    if (!rank->single_unit || !unit->uniform)
        return TUTTI_OK;
    double n = round((t - grid->start) / grid->step);
    if (!tutti_time_same(grid->start + n * grid->step, t, rank->span))
        return tutti_fail(TUTTI_ERR_ARGUMENT,
                          "tutti_simulation_advance: %s cannot vary its step of %s, and t = %s lies between two",
                          unit->name, NUMBER(grid->step), NUMBER(t));
    return TUTTI_OK;
}

/* Is there a value that a unit is to be given later, where it begins a step of its own? */
static bool has_pending(const struct tutti_rank *rank)
{
    bool has = false;
    for (uint32_t m = 0; m < rank->own_count; m++)
        has = has || rank->own[m]->now.has_pending;
    return has;
}

/* All steps that are left, as a run makes them. */
static enum tutti_err run_to_the_end(struct tutti_execution *execution)
{
    execution->loop.steered = false;
    enum tutti_err err = tutti_loop_run(&execution->loop);
    execution->loop.steered = true;
    return err;
}

static enum tutti_err advance(struct tutti_execution *execution, double t)
{
    struct tutti_rank *rank = &execution->rank;
    enum tutti_err err = TUTTI_OK;
    if (tutti_time_reached(t, rank->times.stop, rank->span)) {
        TRY(tutti_events_take_pending(&execution->master));
        if (!has_pending(rank))
            return run_to_the_end(execution);
    }
    execution->loop.halt_at = fmin(t, rank->times.stop);
    while (!err && !tutti_time_reached(rank->t, t, rank->span) && !rank->ended) {
        bool ran = false;
        if (!has_pending(rank))
            err = tutti_loop_run_to(&execution->loop, t, &ran);
        if (!err && !ran)
            err = step(execution);
    }
    execution->loop.halt_at = INFINITY;
    return err;
}

enum tutti_err tutti_simulation_advance(struct tutti_simulation *simulation, double t)
{
    TRY(tutti_simulation_check(simulation, TUTTI_STAGE_STARTED, "advance"));
    TRY(check_time(&simulation->execution, t));
    return judge(simulation, advance(&simulation->execution, t));
}

/* ---- ways back ---- */

static enum tutti_err check_point(const struct tutti_simulation *simulation, const struct tutti_point *point,
                                  const char *call)
{
    return tutti_points_have(&simulation->points, point)
               ? TUTTI_OK
               : tutti_fail(TUTTI_ERR_ARGUMENT,
                            "tutti_simulation_%s: the point does not belong to this simulation: it was saved by a "
                            "different simulation, or before a reset, or is freed; save a new one",
                            call);
}

enum tutti_err tutti_simulation_save(struct tutti_simulation *simulation, struct tutti_point **point)
{
    TRY(tutti_simulation_check(simulation, TUTTI_STAGE_STARTED, "save"));
    if (*point)
        TRY(check_point(simulation, *point, "save"));
    return tutti_point_take(&simulation->points, point, &simulation->execution);
}

enum tutti_err tutti_simulation_restore(struct tutti_simulation *simulation, const struct tutti_point *point)
{
    struct tutti_execution *execution = &simulation->execution;
    TRY(tutti_simulation_check(simulation, TUTTI_STAGE_STARTED, "restore"));
    if (execution->observer.sink.output.format || execution->master.log)
        return tutti_fail(TUTTI_ERR_UNSUPPORTED,
                          "tutti_simulation_restore: times in the %s would run backwards; use a watcher",
                          execution->master.log ? "step log" : "result file");
    TRY(check_point(simulation, point, "restore"));
    return judge(simulation, tutti_point_restore(&simulation->points, point, execution));
}

void tutti_point_free(struct tutti_simulation *simulation, struct tutti_point *point)
{
    tutti_point_release(&simulation->points, point, &simulation->execution);
}

/* ---- the end ---- */

/* The end of a run; what was loaded stays. */
static enum tutti_err close_down(struct tutti_simulation *simulation)
{
    struct tutti_failure failure;
    simulation->t = tutti_simulation_time(simulation);
    tutti_points_fini(&simulation->points, &simulation->execution);
    tutti_reset_keep(&simulation->job, simulation->was_reset);
    tutti_failure_keep(
        &failure, simulation->execution.rank.job ? tutti_execution_close(&simulation->execution, TUTTI_OK) : TUTTI_OK);
    tutti_reset_keep(&simulation->job, false);
    simulation->execution = (struct tutti_execution){0};
    tutti_pending_sets_fini(&simulation->pending_sets);
    tutti_simulation_release_handles(simulation);
    simulation->stage = TUTTI_STAGE_FINISHED;
    return tutti_failure_return(&failure);
}

enum tutti_err tutti_simulation_finish(struct tutti_simulation *simulation, struct tutti_run_stats *stats)
{
    struct tutti_execution *execution = &simulation->execution;
    struct tutti_failure failure;
    if (stats)
        *stats = (struct tutti_run_stats){0};
    if (simulation->stage == TUTTI_STAGE_FINISHED || simulation->stage == TUTTI_STAGE_OPEN)
        return tutti_simulation_refuse(simulation, "finish");
    bool began = execution->rank.job != NULL; /* else it could not be loaded again */
    tutti_failure_keep(&failure,
                       simulation->stage == TUTTI_STAGE_STARTED ? tutti_rank_terminate(&execution->rank) : TUTTI_OK);
    if (!failure.err && simulation->stage == TUTTI_STAGE_STARTED)
        tutti_failure_keep(&failure, tutti_growth_tell(&execution->loop.growth, &execution->rank));
    double loop_start = execution->loop.watch.loop_start;
    simulation->stats.loop_seconds = loop_start > 0 ? tutti_clock_now() - loop_start : 0;
    if (began)
        tutti_execution_tell_end(execution, failure.err);
    if (stats && began) {
        tutti_count(&execution->master);
        *stats = simulation->stats;
        simulation->stats = (struct tutti_run_stats){0};
    }
    enum tutti_err closing = close_down(simulation);
    return failure.err ? tutti_failure_return(&failure) : closing;
}

enum tutti_err tutti_simulation_reset(struct tutti_simulation *simulation)
{
    simulation->was_reset = true;
    enum tutti_err err = simulation->stage == TUTTI_STAGE_FINISHED ? TUTTI_OK : close_down(simulation);
    tutti_run_stats_fini(&simulation->stats);
    simulation->stats = (struct tutti_run_stats){0};
    simulation->set_count = 0;
    tutti_arena_fini(&simulation->arena);
    simulation->arena = (struct tutti_arena){0};
    simulation->stage = TUTTI_STAGE_OPEN;
    return err;
}

void tutti_simulation_free(struct tutti_simulation *simulation)
{
    if (!simulation)
        return;
    simulation->was_reset = false;
    if (simulation->stage != TUTTI_STAGE_FINISHED)
        (void)!close_down(simulation);
    tutti_job_close(&simulation->job);
    tutti_simulation_forget_handles(simulation);
    tutti_run_stats_fini(&simulation->stats);
    free(simulation->first);
    free(simulation->handles);
    free(simulation->set);
    tutti_arena_fini(&simulation->arena);
    free(simulation);
}
