/* SPDX-License-Identifier: MIT */
/* The life of a simulation that a program steps: a run (run.c), whose loop is taken apart. */
#include "master/simulation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/number.h"
#include "master/tally.h"

/* ---- beginning ---- */

static enum tutti_err check_options(const struct tutti_run_options *options)
{
    if (options->threads > 1 || options->processes > 0 || options->nodes || options->mpi)
        return tutti_fail(TUTTI_ERR_UNSUPPORTED, "a simulation that is stepped runs in the thread that calls: threads, "
                                                 "processes, nodes and mpi are for tutti_run");
    return TUTTI_OK;
}

static enum tutti_err prepare(struct tutti_simulation *simulation)
{
    struct run *run = &simulation->run;
    *run = (struct run){.asked = &simulation->options,
                        .options = &simulation->options,
                        .stats = &simulation->stats,
                        .pokes = &simulation->pokes,
                        .steered = true,
                        .halt_at = INFINITY,
                        .countdown = 1,
                        .interval = 1};
    return tutti_run_prepare(run);
}

enum tutti_err tutti_simulation_open(struct tutti_simulation **out, const struct tutti_run_options *options)
{
    TRY(check_options(options));
    struct tutti_simulation *simulation = calloc(1, sizeof *simulation);
    if (!simulation)
        return tutti_fail_memory();
    simulation->options = *options;
    enum tutti_err err = prepare(simulation);
    if (!err)
        err = tutti_simulation_number(simulation);
    if (err)
        tutti_simulation_free(simulation);
    else
        *out = simulation;
    return err;
}

/* Values given since are options like others, and count above them: the system is loaded again with all of them. Texts of the
 * first one may be in the hands of the program (tutti_simulation_describe). */
static enum tutti_err load_again(struct tutti_simulation *simulation)
{
    const struct tutti_run_options *options = &simulation->options;
    size_t count = options->set_count + simulation->set_count;
    const char **all = tutti_arena_array(&simulation->arena, count, sizeof *all);
    if (!all)
        return tutti_fail_memory();
    for (size_t i = 0; i < count; i++)
        all[i] = i < options->set_count ? options->set[i] : simulation->set[i - options->set_count];
    simulation->options.set = all;
    simulation->options.set_count = count;
    simulation->described = simulation->run.system;
    simulation->run.system = NULL;
    enum tutti_err closed = tutti_run_tear_down(&simulation->run, TUTTI_OK);
    simulation->run = (struct run){0};
    return closed ? closed : prepare(simulation);
}

static enum tutti_err start(struct tutti_simulation *simulation)
{
    struct run *run = &simulation->run;
    double begin = tutti_clock_now();
    if (simulation->set_count > 0)
        TRY(load_again(simulation));
    TRY(tutti_run_set_up(run));
    run->loop_start = run->last_look = run->last_flush = tutti_clock_now();
    simulation->stats.setup_seconds = run->loop_start - begin;
    return TUTTI_OK;
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
    return simulation->stage == TUTTI_STAGE_OPEN ? simulation->run.times.start : simulation->run.t;
}

bool tutti_simulation_is_over(const struct tutti_simulation *simulation)
{
    const struct run *run = &simulation->run;
    return simulation->stage > TUTTI_STAGE_STARTED ||
           (simulation->stage == TUTTI_STAGE_STARTED && (run->ended || run->t >= run->times.stop));
}

static enum tutti_err step(struct run *run)
{
    TRY(tutti_pokes_bring(run));
    return tutti_loop(run);
}

static enum tutti_err judge(struct tutti_simulation *simulation, enum tutti_err err)
{
    if (err && err != TUTTI_ERR_INTERRUPTED)
        simulation->stage = TUTTI_STAGE_FAILED;
    return err;
}

enum tutti_err tutti_simulation_step(struct tutti_simulation *simulation)
{
    TRY(tutti_simulation_check(simulation, TUTTI_STAGE_STARTED, "step"));
    return judge(simulation, tutti_simulation_is_over(simulation) ? TUTTI_OK : step(&simulation->run));
}

static enum tutti_err check_time(const struct run *run, double t)
{
    const struct tutti_grid *grid = &run->communication;
    if (!tutti_time_reached(t, run->t, run->span) || !tutti_time_reached(run->times.stop, t, run->span))
        return tutti_fail(TUTTI_ERR_ARGUMENT,
                          "tutti_simulation_advance: t = %s is not ahead: the simulation is at %s and goes to %s",
                          NUMBER(t), NUMBER(run->t), NUMBER(run->times.stop));
    const struct tutti_unit *unit = run->members[0].unit;
    double n = round((t - grid->start) / grid->step);
    if (run->alone && unit->uniform && !tutti_time_same(grid->start + n * grid->step, t, run->span))
        return tutti_fail(TUTTI_ERR_ARGUMENT,
                          "tutti_simulation_advance: %s cannot vary its step of %s, and t = %s lies between two",
                          unit->name, NUMBER(grid->step), NUMBER(t));
    return TUTTI_OK;
}

static enum tutti_err advance(struct run *run, double t)
{
    enum tutti_err err = TUTTI_OK;
    run->halt_at = fmin(t, run->times.stop);
    while (!err && !tutti_time_reached(run->t, t, run->span) && !run->ended)
        err = step(run);
    run->halt_at = INFINITY;
    return err;
}

enum tutti_err tutti_simulation_advance(struct tutti_simulation *simulation, double t)
{
    TRY(tutti_simulation_check(simulation, TUTTI_STAGE_STARTED, "advance"));
    TRY(check_time(&simulation->run, t));
    return judge(simulation, advance(&simulation->run, t));
}

/* ---- ways back ---- */

static enum tutti_err check_point(const struct tutti_simulation *simulation, const struct tutti_point *point,
                                  const char *call)
{
    return tutti_points_have(&simulation->points, point)
               ? TUTTI_OK
               : tutti_fail(TUTTI_ERR_ARGUMENT, "tutti_simulation_%s: this is no point of this simulation", call);
}

enum tutti_err tutti_simulation_save(struct tutti_simulation *simulation, struct tutti_point **point)
{
    TRY(tutti_simulation_check(simulation, TUTTI_STAGE_STARTED, "save"));
    if (*point)
        TRY(check_point(simulation, *point, "save"));
    return tutti_point_take(&simulation->points, point, &simulation->run);
}

enum tutti_err tutti_simulation_restore(struct tutti_simulation *simulation, const struct tutti_point *point)
{
    struct run *run = &simulation->run;
    TRY(tutti_simulation_check(simulation, TUTTI_STAGE_STARTED, "restore"));
    if (run->observer.sink.output.format || run->master.log)
        return tutti_fail(TUTTI_ERR_UNSUPPORTED,
                          "tutti_simulation_restore: times in the %s would run backwards; use a watcher",
                          run->master.log ? "step log" : "result file");
    TRY(check_point(simulation, point, "restore"));
    return judge(simulation, tutti_point_restore(point, run));
}

void tutti_point_free(struct tutti_simulation *simulation, struct tutti_point *point)
{
    tutti_point_release(&simulation->points, point, &simulation->run);
}

/* ---- the end ---- */

static enum tutti_err close_down(struct tutti_simulation *simulation)
{
    tutti_points_fini(&simulation->points, &simulation->run);
    enum tutti_err err = tutti_run_tear_down(&simulation->run, TUTTI_OK);
    tutti_pokes_fini(&simulation->pokes);
    tutti_simulation_forget_handles(simulation);
    tutti_system_free(simulation->described);
    simulation->described = NULL;
    simulation->stage = TUTTI_STAGE_FINISHED;
    return err;
}

enum tutti_err tutti_simulation_finish(struct tutti_simulation *simulation, struct tutti_run_stats *stats)
{
    struct run *run = &simulation->run;
    if (stats)
        *stats = (struct tutti_run_stats){0};
    if (simulation->stage == TUTTI_STAGE_FINISHED || simulation->stage == TUTTI_STAGE_OPEN)
        return tutti_simulation_refuse(simulation, "finish");
    enum tutti_err err = simulation->stage == TUTTI_STAGE_STARTED ? tutti_run_terminate(run) : TUTTI_OK;
    if (!err && simulation->stage == TUTTI_STAGE_STARTED)
        err = tutti_growth_tell(run);
    simulation->stats.loop_seconds = run->loop_start > 0 ? tutti_clock_now() - run->loop_start : 0;
    if (run->options) /* else it could not be loaded again */
        tutti_run_tell_end(run, err);
    if (stats && run->options) {
        tutti_tally_count(run);
        *stats = simulation->stats;
        simulation->stats = (struct tutti_run_stats){0};
    }
    char message[4096];
    snprintf(message, sizeof message, "%s", tutti_err_message());
    enum tutti_err closing = close_down(simulation);
    return err ? tutti_fail(err, "%s", message) : closing;
}

void tutti_simulation_free(struct tutti_simulation *simulation)
{
    if (!simulation)
        return;
    if (simulation->stage != TUTTI_STAGE_FINISHED)
        (void)!close_down(simulation);
    tutti_run_stats_fini(&simulation->stats);
    free(simulation->first);
    free(simulation->handles);
    free(simulation->set);
    tutti_arena_fini(&simulation->arena);
    free(simulation);
}
