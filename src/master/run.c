/* SPDX-License-Identifier: MIT */
/* A run, from files and options to the loop (loop.c), and back to where it came from. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/run.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/number.h"
#include "base/str.h"
#include "master/choose.h"
#include "master/control.h"
#include "master/coupling.h"
#include "master/detect.h"
#include "master/loop.h"
#include "master/pace.h"
#include "master/rows.h"
#include "master/setup.h"
#include "master/tally.h"
#include "record/table.h"

/* Writing must not destroy what is read, or written. */
static enum tutti_err check_files(const struct tutti_run_options *options)
{
    for (size_t i = 0; i < options->input_count; i++) {
        const char *input = options->inputs[i];
        if (tutti_fs_is_same(input, options->output))
            return tutti_fail(TUTTI_ERR_ARGUMENT, "-o '%s' is the file that --input reads; name another result file",
                              options->output);
        if (tutti_fs_is_same(input, options->step_log))
            return tutti_fail(TUTTI_ERR_ARGUMENT, "--step-log '%s' is the file of --input; name another",
                              options->step_log);
        for (size_t j = 0; j < i; j++)
            if (tutti_fs_is_same(input, options->inputs[j]))
                return tutti_fail(TUTTI_ERR_ARGUMENT, "--input '%s' is given twice", input);
    }
    if (options->step_log && strcmp(options->step_log, "-") == 0)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--step-log takes the name of a file, not - (-o - is for results)");
    if (tutti_fs_is_same(options->step_log, options->output))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--step-log '%s' is the file of -o; name another", options->step_log);
    return TUTTI_OK;
}

/* Taken at the very beginning: code of an FMU may change the folder that the process is in. */
static enum tutti_err find_result(struct run *run)
{
    const char *output = run->options->output;
    if (!output)
        return TUTTI_OK;
    run->result = strcmp(output, "-") == 0 ? tutti_str_copy("-") : tutti_fs_absolute(output);
    return run->result ? TUTTI_OK
                       : tutti_fail(TUTTI_ERR_IO, "'%s': the folder that this program runs in is gone", output);
}

static enum tutti_err open_observer(struct run *run)
{
    struct tutti_observed *observed = calloc(run->member_count, sizeof *observed);
    if (!observed)
        return tutti_fail_memory();
    for (uint32_t m = 0; m < run->member_count; m++)
        observed[m] = (struct tutti_observed){run->members[m].unit, run->members[m].inputs,
                                              .own = tutti_run_owns(run, m), .poked = run->steered,
                                              .log = run->unit_log};
    enum tutti_err err = tutti_observer_open(&run->observer, run->options, run->result, &run->wires, observed,
                                             run->reports ? run->fabric : NULL);
    free(observed);
    return err;
}

static void set_clocks(struct run *run)
{
    run->t = run->target = run->times.start;
    for (uint32_t m = 0; m < run->member_count; m++) {
        run->members[m].t = run->t;
        run->members[m].next_event = INFINITY;
    }
    tutti_grid_init(&run->communication, run->times.start, run->times.step, run->times.stop);
    if (run->times.output_step > 0)
        tutti_grid_init(&run->output, run->times.start, run->times.output_step, run->times.stop);
}

/* Whom the loop must look at between steps. */
static enum tutti_err choose_watched(struct run *run)
{
    run->watched = tutti_arena_array(&run->arena, run->member_count, sizeof(struct tutti_member *));
    run->announcers = tutti_arena_array(&run->arena, run->member_count, sizeof(struct tutti_member *));
    run->announced = tutti_arena_array(&run->arena, run->member_count, sizeof *run->announced);
    if (!run->watched || !run->announcers || !run->announced)
        return tutti_fail_memory();
    for (uint32_t m = 0; m < run->member_count; m++) {
        struct tutti_member *member = &run->members[m];
        bool announces = member->unit->has_events || member->driven;
        bool watched = announces || member->wires->held_count > 0;
        if (announces)
            run->announcers[run->announcer_count++] = member;
        if (watched && tutti_run_owns(run, m))
            run->watched[run->watched_count++] = member;
        run->watches = run->watches || watched;
        run->has_grids = run->has_grids || member->has_grid;
    }
    run->alone = !tutti_system_is_coupled(run->system) &&
                 tutti_time_same(run->members[0].grid.step, run->times.step, 0);
    return TUTTI_OK;
}

enum tutti_err tutti_run_start(struct run *run)
{
    if (!run->fabric) {
        TRY(tutti_fabric_local_new(&run->fabric));
        run->owns_fabric = true;
    }
    if (!run->reports)
        run->unit_log = run->options->log;
    run->where = run->fabric->where;
    tutti_run_tell_time(run, run->times.start);
    TRY(tutti_setup_members(run));
    set_clocks(run);
    TRY(choose_watched(run));
    return tutti_initialise(run);
}

/* Only now it is known how units are stepped. */
static enum tutti_err begin(struct run *run)
{
    TRY(tutti_master_open(run));
    TRY(tutti_growth_open(run));
    tutti_rows_begin(run);
    run->plain = !run->watches && !run->observer.records && !run->visit && !run->steered && !run->master.by_attempts;
    run->kept_from = INFINITY;
    return TUTTI_OK;
}

enum tutti_err tutti_run_prepare(struct run *run)
{
    TRY(check_files(run->options));
    TRY(find_result(run));
    return tutti_setup_system(run);
}

enum tutti_err tutti_run_set_up(struct run *run)
{
    bool crossed = false;
    TRY(tutti_run_start(run));
    TRY(open_observer(run)); /* not before: what is refused must not cost somebody an earlier result */
    if (!run->ended)
        TRY(tutti_events_cross(run, &crossed));
    TRY(begin(run));
    return crossed ? TUTTI_OK : tutti_observer_row(&run->observer, run->t);
}

static void tear_down_members(struct run *run)
{
    tutti_wires_fini(&run->wires);
    for (uint32_t m = 0; m < run->member_count; m++) {
        tutti_unit_free(run->members[m].unit);
        if (run->members[m].inputs)
            tutti_inputs_close(run->members[m].inputs);
    }
}

void tutti_run_let_go(struct run *run)
{
    tutti_structure_fini(&run->structure);
    for (size_t i = 0; i < run->table_count && i < run->options->input_count; i++) /* others are the system's */
        tutti_table_free(run->tables[i].table);
    free(run->tables);
    tutti_system_free(run->system);
    free(run->result);
    run->tables = NULL;
    run->table_count = 0;
    run->system = NULL;
    run->result = NULL;
}

/* To a program that wants to know before code of an FMU runs for the last time. */
static void tell_finished(const struct run *run, enum tutti_err err, const char *message)
{
    const struct tutti_run_options *options = run->options;
    if (!options->finished || !run->stats || run->reports)
        return;
    if (err)
        (void)tutti_fail(err, "%s", message);
    options->finished(options->finished_context, err, run->stats);
}

/* A failure of the run is told before one of closing the file. */
enum tutti_err tutti_run_tear_down(struct run *run, enum tutti_err err)
{
    char message[4096];
    snprintf(message, sizeof message, "%s", tutti_err_message());
    enum tutti_err closing = tutti_observer_close(&run->observer);
    enum tutti_err logged = tutti_master_close(run);
    closing = closing ? closing : logged;
    if (!err && closing) {
        err = closing;
        snprintf(message, sizeof message, "%s", tutti_err_message());
    }
    tell_finished(run, err, message);
    tear_down_members(run);
    if (run->owns_fabric)
        run->fabric->kind->close(run->fabric);
    tutti_arena_fini(&run->arena);
    if (!run->borrows)
        tutti_run_let_go(run);
    return err ? tutti_fail(err, "%s", message) : TUTTI_OK;
}

enum tutti_err tutti_run_terminate(struct run *run)
{
    for (uint32_t m = 0; m < run->own_count; m++)
        TRY(run->own[m]->unit->kind->terminate(run->own[m]->unit));
    return TUTTI_OK;
}

/* An FMU ended the run, and not all ranks know: then none is to go further than this one. */
static enum tutti_err spread_end(struct run *run, enum tutti_err err)
{
    bool early = run->fabric->step >= atomic_load(run->fabric->stop_after) && atomic_load(run->fabric->stop_after) > 0;
    if (!err && run->ended)
        run->fabric->kind->stop(run->fabric, run->fabric->step);
    if (err == TUTTI_ERR_STOPPED)
        run->ended = NULL;                                     /* in a step that not all have made */
    return err == TUTTI_ERR_STOPPED && early ? TUTTI_OK : err; /* it ended where it should */
}

void tutti_run_tell_end(const struct run *run, enum tutti_err err)
{
    tutti_pace_tell(run);
    if (!err)
        tutti_rows_tell(run);
    if (run->ended && !err && tutti_run_owns(run, run->ended->component))
        tutti_log_printf(run->unit_log, TUTTI_LOG_WARNING, run->ended->unit->name,
                         "the FMU ended the simulation at t = %s", TIME(run->ended->t));
}

enum tutti_err tutti_run_go(struct run *run)
{
    double begin = tutti_clock_now();
    enum tutti_err err = tutti_run_set_up(run);
    run->loop_start = run->last_look = run->last_flush = tutti_clock_now();
    run->stats->setup_seconds = run->loop_start - begin;
    if (!err)
        err = spread_end(run, tutti_loop(run));
    if (!err)
        err = tutti_scale_estimate(run);
    if (!err)
        err = tutti_growth_tell(run);
    if (!err)
        err = tutti_run_terminate(run);
    run->stats->loop_seconds = tutti_clock_now() - run->loop_start;
    tutti_run_tell_end(run, err);
    return err;
}

enum tutti_err tutti_run_prepared(struct run *run, struct tutti_run_stats *stats)
{
    struct tutti_run_stats unused = {0};
    run->stats = stats ? stats : &unused;
    run->countdown = run->interval = 1;
    *run->stats = (struct tutti_run_stats){0};
    enum tutti_err err = tutti_run_go(run);
    tutti_tally_count(run);
    err = tutti_run_tear_down(run, err);
    run->stats = NULL;
    tutti_run_stats_fini(&unused);
    return err;
}

enum tutti_err tutti_run_visited(const struct tutti_run_options *options, struct tutti_run_stats *stats,
                                 const struct tutti_visit *visit)
{
    struct run run = {.asked = options, .options = options, .visit = visit};
    if (stats)
        *stats = (struct tutti_run_stats){0};
    enum tutti_err err = tutti_run_prepare(&run);
    return err ? tutti_run_tear_down(&run, err) : tutti_run_prepared(&run, stats);
}
