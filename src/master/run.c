/* SPDX-License-Identifier: MIT */
/* A run, from files and options to the loop (loop.c), and what is told about it afterwards. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
#include "master/setup.h"
#include "record/table.h"

static bool is_same_inode(const char *a, const char *b, mode_t kind)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino && (first.st_mode & S_IFMT) == kind;
}

/* The folder that a path leads through. */
static const char *folder_of(const char *path, char *folder, size_t size)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return ".";
    snprintf(folder, size, "%.*s", (int)(slash - path + 1), path);
    return folder;
}

/* Also of files that are not there yet. */
static bool is_same_file(const char *a, const char *b)
{
    char first[4096], second[4096];
    if (!a || !b || strcmp(a, "-") == 0 || strcmp(b, "-") == 0)
        return false;
    const char *a_name = strrchr(a, '/') ? strrchr(a, '/') + 1 : a, *b_name = strrchr(b, '/') ? strrchr(b, '/') + 1 : b;
    return is_same_inode(a, b, S_IFREG) ||
           (strcmp(a_name, b_name) == 0 &&
            is_same_inode(folder_of(a, first, sizeof first), folder_of(b, second, sizeof second), S_IFDIR));
}

/* Writing must not destroy what is read, or written. */
static enum tutti_err check_files(const struct tutti_run_options *options)
{
    if (is_same_file(options->input, options->output))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "-o '%s' is the file that --input reads; name another result file",
                          options->output);
    if (options->step_log && strcmp(options->step_log, "-") == 0)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--step-log takes the name of a file, not - (-o - is for results)");
    if (is_same_file(options->step_log, options->input) || is_same_file(options->step_log, options->output))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--step-log '%s' is the file of %s; name another", options->step_log,
                          is_same_file(options->step_log, options->input) ? "--input" : "-o");
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
        observed[m] = (struct tutti_observed){run->members[m].unit, run->members[m].inputs};
    enum tutti_err err = tutti_observer_open(&run->observer, run->options, run->result, &run->wires, observed);
    free(observed);
    return err;
}

static void set_clocks(struct run *run)
{
    run->t = run->times.start;
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
    if (!run->watched)
        return tutti_fail_memory();
    for (uint32_t m = 0; m < run->member_count; m++) {
        struct tutti_member *member = &run->members[m];
        if (member->unit->has_events || member->inputs || member->wires->held_count > 0)
            run->watched[run->watched_count++] = member;
        run->has_grids = run->has_grids || member->has_grid;
    }
    run->alone = run->member_count == 1 && tutti_time_same(run->members[0].grid.step, run->times.step, 0);
    return TUTTI_OK;
}

enum tutti_err tutti_run_start(struct run *run)
{
    TRY(tutti_setup_members(run));
    set_clocks(run);
    TRY(choose_watched(run));
    return tutti_initialise(run);
}

/* Only now it is known how units are stepped. */
static enum tutti_err begin(struct run *run)
{
    TRY(tutti_master_open(run));
    run->plain = run->watched_count == 0 && !run->observer.format && !run->visit && !run->master.by_attempts;
    return TUTTI_OK;
}

static enum tutti_err set_up(struct run *run)
{
    bool crossed = false;
    TRY(check_files(run->options));
    TRY(find_result(run));
    TRY(tutti_setup_system(run));
    TRY(tutti_run_start(run));
    TRY(open_observer(run)); /* not before: what is refused must not cost somebody an earlier result */
    if (!run->ended)
        TRY(tutti_events_cross(run, &crossed));
    TRY(begin(run));
    return crossed ? TUTTI_OK : tutti_observer_row(&run->observer, run->t);
}

void tutti_run_stats_fini(struct tutti_run_stats *stats)
{
    for (size_t i = 0; i < stats->unit_count; i++) {
        free(stats->units[i].name);
        free(stats->units[i].fmu);
    }
    free(stats->units);
    stats->units = NULL;
    stats->unit_count = 0;
}

static bool count_member(const struct tutti_member *member, struct tutti_unit_stats *out)
{
    static const char *const versions[] = {"", "1.0", "2.0", "3.0"};
    const struct tutti_unit *unit = member->unit;
    const struct tutti_unit_counts *counts = &unit->counts;
    *out = (struct tutti_unit_stats){
        .name = tutti_str_copy(unit->name),
        .fmu = tutti_str_copy(unit->fmu->path),
        .fmi = versions[unit->fmu->desc->fmi],
        .interface = unit->kind->name,
        .uses_events = unit->has_events,
        .do_steps = counts->do_steps,
        .accepted = counts->do_steps - counts->rejected - counts->auxiliary,
        .rejected = counts->rejected,
        .auxiliary = counts->auxiliary,
        .gets = counts->gets,
        .sets = counts->sets,
        .init_evaluations = counts->init_evaluations,
        .rollbacks = counts->rollbacks,
        .solver = member->integration.solver ? member->integration.solver->name : NULL,
        .solver_steps = counts->solver.steps,
        .rhs_evaluations = counts->solver.rhs,
        .jacobian_evaluations = counts->solver.jacobians,
        .directional_derivatives = counts->solver.directional,
        .solver_error_failures = counts->solver.error_failures,
        .solver_other_failures = counts->solver.other_failures,
        .solver_restarts = counts->solver.restarts,
        .seconds = counts->seconds,
    };
    return out->name && out->fmu;
}

/* Counts what was done; without memory for it, of no unit. */
static void count(const struct run *run)
{
    struct tutti_run_stats *stats = run->stats;
    stats->start = run->times.start;
    stats->stop = run->t;
    stats->rows = run->observer.rows;
    stats->terminated_by_fmu = run->ended != NULL;
    const struct tutti_master *master = &run->master;
    bool chosen = run->member_count > 1 && master->detection; /* the last of the choices */
    stats->coupling = chosen ? master->coupling->name : "none";
    stats->control = chosen ? master->control->name : "fixed";

    stats->extrapolate = chosen ? master->order : 0;
    stats->correct = chosen && master->corrects;
    stats->smooth = chosen && master->smooths;
    stats->not_converged = master->not_converged;
    stats->forced = master->forced;
    stats->fabric = run->fabric ? run->fabric->kind->name : "local";
    stats->ranks = run->fabric ? run->fabric->ranks : 1;
    stats->exchanges = run->fabric && run->member_count > 1 ? run->fabric->exchanges : 0;
    stats->units = run->member_count ? calloc(run->member_count, sizeof *stats->units) : NULL;
    for (uint32_t m = 0; stats->units && m < run->member_count; m++) {
        if (!run->members[m].unit)
            break; /* it came no further */
        stats->uses_events = stats->uses_events || run->members[m].unit->has_events;
        stats->unit_count++;
        if (!count_member(&run->members[m], &stats->units[m])) {
            tutti_run_stats_fini(stats);
            return;
        }
    }
    stats->events = chosen ? master->detection->name : stats->uses_events ? "early" : "none";
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

/* A failure of the run is told before one of closing the file. */
enum tutti_err tutti_run_tear_down(struct run *run, enum tutti_err err)
{
    char message[4096];
    snprintf(message, sizeof message, "%s", tutti_err_message());
    enum tutti_err closing = tutti_observer_close(&run->observer);
    enum tutti_err logged = tutti_master_close(run);
    closing = closing ? closing : logged;
    tear_down_members(run);
    tutti_structure_fini(&run->structure);
    if (run->fabric)
        run->fabric->kind->close(run->fabric);
    tutti_table_free(run->table);
    tutti_system_free(run->system);
    tutti_arena_fini(&run->arena);
    free(run->result);
    return err ? tutti_fail(err, "%s", message) : closing;
}

static enum tutti_err terminate(struct run *run)
{
    for (uint32_t m = 0; m < run->member_count; m++)
        TRY(run->members[m].unit->kind->terminate(run->members[m].unit));
    return TUTTI_OK;
}

static enum tutti_err go_through(struct run *run)
{
    double begin = tutti_clock_now();
    enum tutti_err err = set_up(run);
    run->loop_start = run->last_look = run->last_flush = tutti_clock_now();
    run->stats->setup_seconds = run->loop_start - begin;
    if (!err)
        err = tutti_loop(run);
    if (!err)
        err = terminate(run);
    run->stats->loop_seconds = tutti_clock_now() - run->loop_start;
    tutti_pace_tell(run);
    if (run->ended && !err)
        tutti_log_printf(run->options->log, TUTTI_LOG_WARNING, run->ended->unit->name,
                         "the FMU ended the simulation at t = %s", NUMBER(run->ended->t));
    return err;
}

enum tutti_err tutti_run_visited(const struct tutti_run_options *options, struct tutti_run_stats *stats,
                                 const struct tutti_visit *visit)
{
    struct tutti_run_stats unused = {0};
    struct run run = {.asked = options,
                      .options = options,
                      .stats = stats ? stats : &unused,
                      .visit = visit,
                      .countdown = 1,
                      .interval = 1};
    *run.stats = (struct tutti_run_stats){0};
    enum tutti_err err = go_through(&run);
    count(&run);
    if (!stats)
        tutti_run_stats_fini(&unused);
    return tutti_run_tear_down(&run, err);
}

enum tutti_err tutti_run(const struct tutti_run_options *options, struct tutti_run_stats *stats)
{
    return tutti_run_visited(options, stats, NULL);
}
