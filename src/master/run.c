/* SPDX-License-Identifier: MIT */
/* The loop of a run: from communication point to communication point.
 *
 * Invariants:
 *  R1  Times come from grids (base/time.h), the FMU or the input file, to the bit; nothing is added up.
 *  R2  A step ends at the earliest of: next communication point, next recorded point, next event that the FMU announced,
 *      next jump of an input, stop.
 *  R3  At every point: values are read (recorded) first, inputs are set after, then comes the step: no read follows a set.
 *  R4  Whatever ends the run, rows recorded so far are in the file. */
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
#include "base/time.h"
#include "master/experiment.h"
#include "master/inputs.h"
#include "master/observer.h"

/* How often an FMU may come back without moving in time before it is called stuck. */
enum { MOST_STANDSTILLS = 1000 };

/* So many steps may go by without a look at the clock: little for a fast FMU, bearable if it becomes slow. */
enum { MOST_BLIND_STEPS = 4096 };

struct run {
    const struct tutti_run_options *options;
    struct tutti_run_stats *stats;
    struct tutti_fmu *fmu;
    struct tutti_unit *unit;
    struct tutti_inputs inputs;
    struct tutti_observer observer;
    struct tutti_arena arena;
    struct tutti_times times;
    struct tutti_setting *settings;
    double span; /* stop - start: the scale for comparing times */
    char name[128];
    char *result; /* the result file, absolute, or "-"; NULL: none */

    struct tutti_grid communication, output;
    double t;
    double next_event;  /* that the FMU announced */
    double input_event; /* next jump of an input */
    double input_time;  /* t, or the jump that is the same point: where the inputs are read */
    bool ended;         /* by the FMU */
    bool plain;         /* nothing to do between steps: no inputs, no events, nothing recorded */
    int standstills;
    unsigned long countdown, interval; /* steps until the next look at the clock */
    double loop_start, last_look, last_flush, last_progress;
};

/* Writing must not destroy what is read. */
static enum tutti_err check_files(const struct tutti_run_options *options)
{
    struct stat in, out;
    bool both = options->input && options->output && strcmp(options->output, "-") != 0;
    if (both && stat(options->input, &in) == 0 && stat(options->output, &out) == 0 && in.st_dev == out.st_dev &&
        in.st_ino == out.st_ino && S_ISREG(in.st_mode))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "-o '%s' is the file that --input reads; name another result file",
                          options->output);
    return TUTTI_OK;
}

/* The instance is named after the file: "dir/ball.fmu" -> "ball". */
static void name_instance(struct run *run, const char *file)
{
    size_t end = strlen(file);
    while (end > 1 && file[end - 1] == '/')
        end--;
    size_t begin = end;
    while (begin > 0 && file[begin - 1] != '/')
        begin--;
    size_t length = end - begin;
    if (length > 4 && strncmp(file + end - 4, ".fmu", 4) == 0)
        length -= 4;
    snprintf(run->name, sizeof run->name, "%.*s", (int)(length < 100 ? length : 100), file + begin);
}

static enum tutti_err open_fmu(struct run *run)
{
    struct tutti_findings findings = {0};
    TRY(tutti_fmu_open(&run->fmu, run->options->file, &findings));
    TRY(tutti_desc_check(run->fmu->desc, run->fmu->description, &findings));
    if (findings.errors + findings.warnings > 0)
        tutti_log_printf(run->options->log, TUTTI_LOG_WARNING, run->options->file,
                         "the model description has %u flaw%s; going on (`tutti check` lists them)",
                         findings.errors + findings.warnings, findings.errors + findings.warnings == 1 ? "" : "s");
    return TUTTI_OK;
}

static enum tutti_err read_settings(struct run *run)
{
    size_t count = run->options->set_count;
    run->settings = tutti_arena_array(&run->arena, count, sizeof *run->settings);
    if (!run->settings)
        return tutti_fail_memory();
    for (size_t i = 0; i < count; i++)
        TRY(tutti_setting_read(&run->settings[i], &run->arena, run->fmu->desc, run->name, run->options->set[i]));
    return TUTTI_OK;
}

/* Everything that the description alone can tell, before any code of the FMU runs. */
static enum tutti_err prepare(struct run *run)
{
    const struct tutti_run_options *options = run->options;
    const struct tutti_unit_kind *kind = NULL;
    TRY(open_fmu(run));
    TRY(tutti_unit_kind_for(run->fmu, &kind));
    TRY(tutti_times_resolve(&run->times, options, run->fmu, kind->interface, options->log));
    run->span = run->times.stop - run->times.start;
    TRY(read_settings(run));
    return options->input ? tutti_inputs_open(&run->inputs, options->input, run->fmu->desc) : TUTTI_OK;
}

static enum tutti_err make_unit(struct run *run)
{
    struct tutti_unit_options options = {
        .name = run->name,
        .log = run->options->log,
        .logging_on = run->options->fmu_logging,
        .timing = run->options->timing,
        .moving_sample = tutti_inputs_sample_moving,
        .moving_context = &run->inputs,
    };
    if (run->fmu->desc->interfaces[TUTTI_CS].flags & TUTTI_CAN_INTERMEDIATE) {
        options.moving = run->inputs.slope_references;
        options.moving_count = run->inputs.slope_count;
    }
    return tutti_unit_new(&run->unit, run->fmu, &options);
}

/* Lets the FMU, which is in event mode, settle; once more if it announces the next event for the same time. */
static enum tutti_err settle(struct run *run)
{
    struct tutti_unit_event event;
    TRY(run->unit->kind->settle(run->unit, &event));
    for (int round = 0; tutti_time_reached(run->t, event.next_event, run->span) && !event.terminate; round++) {
        if (round == MOST_STANDSTILLS)
            return tutti_fail(TUTTI_ERR_FMU,
                              "%s (%s): time stands still at t = %s: the FMU announces one event after another for it",
                              run->name, run->fmu->path, NUMBER(run->t));
        TRY(run->unit->kind->enter_event(run->unit));
        TRY(run->unit->kind->settle(run->unit, &event));
    }
    run->next_event = event.next_event;
    run->ended = event.terminate;
    return TUTTI_OK;
}

static enum tutti_err initialise(struct run *run)
{
    struct tutti_experiment_setup setup = {
        .start = run->times.start,
        .stop = run->times.stop,
        .has_stop = true,
        .tolerance = run->times.tolerance,
        .has_tolerance = run->times.tolerance > 0,
    };
    TRY(run->unit->kind->enter_init(run->unit, &setup));
    TRY(tutti_unit_apply_inputs(run->unit, run->settings, run->options->set_count));
    if (run->inputs.trajectory) {
        tutti_inputs_sample(&run->inputs, run->times.start, true);
        TRY(tutti_inputs_set_all(&run->inputs, run->unit));
    }
    TRY(run->unit->kind->exit_init(run->unit));
    return run->unit->has_events ? settle(run) : TUTTI_OK;
}

static enum tutti_err set_up(struct run *run)
{
    const struct tutti_run_options *options = run->options;
    if (!options->file)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "no file to run");
    TRY(check_files(options));
    name_instance(run, options->file);
    if (options->output) {
        /* Taken now: code of the FMU may change the folder that the process is in. */
        bool standard = strcmp(options->output, "-") == 0;
        run->result = standard ? tutti_str_copy("-") : tutti_fs_absolute(options->output);
        if (!run->result)
            return tutti_fail(TUTTI_ERR_IO, "'%s': the folder that this program runs in is gone", options->output);
    }
    TRY(prepare(run));
    TRY(make_unit(run));
    TRY(tutti_unit_apply(run->unit, run->settings, options->set_count));
    if (options->input)
        TRY(tutti_inputs_bind(&run->inputs, run->unit));
    TRY(tutti_observer_open(&run->observer, options, run->result, run->unit, &run->inputs));
    run->t = run->input_time = run->times.start;
    run->next_event = run->input_event = INFINITY;
    run->plain = !options->input && !run->unit->has_events && !run->observer.format;
    tutti_grid_init(&run->communication, run->times.start, run->times.step, run->times.stop);
    if (run->times.output_step > 0)
        tutti_grid_init(&run->output, run->times.start, run->times.output_step, run->times.stop);
    TRY(initialise(run));
    return tutti_observer_row(&run->observer, run->unit, run->t);
}

/* The earlier of a and b; b, to the bit, if both mean the same point. */
static double earlier(double a, double b, double span)
{
    return b < a || tutti_time_same(a, b, span) ? b : a;
}

/* R2; the exact times of later lines win over those of earlier ones. An FMU that cannot vary its step goes from
 * communication point to communication point (recorded points are among them), and events wait for the next one. */
static double next_target(struct run *run)
{
    double target = run->communication.next;
    if (run->plain)
        return target;
    if (run->inputs.trajectory)
        run->input_event = tutti_trajectory_next_event(run->inputs.trajectory, run->input_time);
    if (run->unit->uniform)
        return target;
    if (run->times.output_step > 0)
        target = earlier(target, run->output.next, run->span);
    if (run->input_event < INFINITY)
        target = earlier(target, run->input_event, run->span);
    if (run->next_event < INFINITY)
        target = earlier(target, run->next_event, run->span);
    return target;
}

/* FMI 1.0 and 2.0: a discarded step cannot be repeated without a saved state. */
static enum tutti_err discarded_for_good(struct run *run, double target, const struct tutti_step *step)
{
    return tutti_fail(TUTTI_ERR_FMU, "%s (%s): the FMU discarded the step from t = %s to %s; it came as far as %s. %s",
                      run->name, run->fmu->path, NUMBER(run->t), NUMBER(target), NUMBER(step->reached),
                      run->unit->uniform ? "It cannot vary its step: use another --step from the start"
                                         : "Use a smaller --step");
}

/* The size of the step to `goal`. FMUs that know one size only get that very number, unless they came off the grid. */
static double step_to(const struct run *run, double goal)
{
    if (run->unit->uniform && tutti_time_same(run->t + run->times.step, goal, run->span))
        return run->times.step;
    return tutti_time_step(run->t, goal);
}

/* Steps towards `target`. FMI 3.0 FMUs that discard a step stand where they stood: try half of it, and half again. */
static enum tutti_err advance(struct run *run, double target, struct tutti_step *step)
{
    double goal = target;
    for (;;) {
        if (run->inputs.trajectory)
            TRY(tutti_inputs_apply(&run->inputs, run->unit, run->input_time, goal));
        double h = step_to(run, goal);
        TRY(run->unit->kind->step(run->unit, run->t, h, step));
        if (__builtin_expect(!step->discarded, 1))
            return TUTTI_OK;
        if (step->terminate)
            return TUTTI_OK; /* the way that FMI 2.0 has to say that this is the end */
        run->stats->rejected++;
        if (!step->can_retry)
            return discarded_for_good(run, goal, step);
        double half = run->t + (goal - run->t) / 2;
        if (run->unit->uniform || goal - run->t < 1e-9 * run->times.step || half <= run->t || half >= goal)
            return tutti_fail(TUTTI_ERR_FMU,
                              "%s (%s): the FMU discards every step from t = %s on, down to %.3g; check its "
                              "inputs and parameters there",
                              run->name, run->fmu->path, NUMBER(run->t), goal - run->t);
        goal = half;
    }
}

/* An FMU that comes back again and again without moving would keep the run here for ever. */
static enum tutti_err watch_standstill(struct run *run, double before)
{
    if (run->t > before) {
        run->standstills = 0;
        return TUTTI_OK;
    }
    if (++run->standstills < MOST_STANDSTILLS)
        return TUTTI_OK;
    return tutti_fail(TUTTI_ERR_FMU, "%s (%s): time stands still at t = %s: the FMU came back %d times from there",
                      run->name, run->fmu->path, NUMBER(run->t), MOST_STANDSTILLS);
}

/* Where the FMU is after a step: the target to the bit unless it says something else. */
static void arrive(struct run *run, double target, const struct tutti_step *step)
{
    bool there = step->reached == target || tutti_time_same(step->reached, target, run->span);
    run->t = there ? target : step->reached;
    tutti_grid_pass(&run->communication, run->t);
}

/* Both sides of an event are recorded: values before, then, after the FMU settled, values at the same time. */
static enum tutti_err cross_event(struct run *run, bool input_event)
{
    TRY(tutti_observer_row(&run->observer, run->unit, run->t));
    TRY(run->unit->kind->enter_event(run->unit));
    if (input_event) {
        tutti_inputs_sample(&run->inputs, run->input_time, true);
        TRY(tutti_inputs_set_all(&run->inputs, run->unit));
    }
    TRY(settle(run));
    run->stats->events_located++;
    return tutti_observer_row(&run->observer, run->unit, run->t);
}

/* At the point reached: events first, else a row if one is due. */
static enum tutti_err look_around(struct run *run, const struct tutti_step *step)
{
    bool input_event = tutti_time_reached(run->t, run->input_event, run->span);
    run->input_time = input_event ? fmax(run->t, run->input_event) : run->t;
    if (run->inputs.trajectory)
        tutti_inputs_sample(&run->inputs, run->input_time, false);
    if (input_event)
        tutti_inputs_note_event(&run->inputs);
    bool due = true;
    if (run->times.output_step > 0) {
        double next = run->output.next;
        due = tutti_time_reached(run->t, next, run->span);
        tutti_grid_pass(&run->output, run->t);
    }
    if (run->unit->has_events && !step->terminate &&
        (step->event || input_event || tutti_time_reached(run->t, run->next_event, run->span)))
        return cross_event(run, input_event);
    return due || step->terminate ? tutti_observer_row(&run->observer, run->unit, run->t) : TUTTI_OK;
}

/* Now and then: progress for people, rows to the disk. The number of steps between two looks at the clock follows the
 * speed, so that fast FMUs are not slowed down and slow ones are not out of sight. */
static enum tutti_err look_at_clock(struct run *run, double h)
{
    double time = tutti_clock_now(), since = time - run->last_look;
    if (since < 0.02 && run->interval < MOST_BLIND_STEPS)
        run->interval *= 2;
    else if (since > 0.1 && run->interval > 1)
        run->interval /= 2;
    run->countdown = run->interval;
    run->last_look = time;
    if (time - run->last_flush > 1) {
        run->last_flush = time;
        TRY(tutti_observer_flush(&run->observer));
    }
    if (run->options->progress && time - run->last_progress >= 0.1) {
        run->last_progress = time;
        struct tutti_progress progress = {run->times.start,  run->times.stop,       run->t, h,
                                          run->stats->steps, time - run->loop_start};
        run->options->progress(run->options->progress_context, &progress);
    }
    return TUTTI_OK;
}

static enum tutti_err loop(struct run *run)
{
    const volatile sig_atomic_t *interrupt = run->options->interrupt;
    while (run->t < run->times.stop && !run->ended) {
        if (__builtin_expect(interrupt && *interrupt, 0))
            return tutti_fail(TUTTI_ERR_INTERRUPTED, "interrupted at t = %s; everything up to there is kept",
                              NUMBER(run->t));
        double before = run->t, target = next_target(run);
        struct tutti_step step;
        TRY(advance(run, target, &step));
        run->stats->steps++;
        arrive(run, target, &step);
        if (!run->plain)
            TRY(look_around(run, &step));
        run->ended = run->ended || step.terminate;
        if (__builtin_expect(run->t <= before, 0) || run->standstills)
            TRY(watch_standstill(run, before));
        if (__builtin_expect(--run->countdown == 0, 0))
            TRY(look_at_clock(run, run->t - before));
    }
    return TUTTI_OK;
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

/* Counts what was done; without memory for it, of no unit. */
static void count(const struct run *run)
{
    static const char *const versions[] = {"", "1.0", "2.0", "3.0"};
    struct tutti_run_stats *stats = run->stats;
    stats->start = run->times.start;
    stats->stop = run->t;
    stats->rows = run->observer.rows;
    stats->terminated_by_fmu = run->ended;
    stats->uses_events = run->unit && run->unit->has_events;
    stats->units = run->unit ? calloc(1, sizeof *stats->units) : NULL;
    if (!stats->units)
        return;
    const struct tutti_unit_counts *counts = &run->unit->counts;
    *stats->units = (struct tutti_unit_stats){
        .name = tutti_str_copy(run->name),
        .fmu = tutti_str_copy(run->options->file),
        .fmi = versions[run->fmu->desc->fmi],
        .interface = run->unit->kind->name,
        .do_steps = counts->do_steps,
        .gets = counts->gets,
        .sets = counts->sets,
        .init_evaluations = counts->init_evaluations,
        .seconds = counts->seconds,
    };
    stats->unit_count = 1;
    if (!stats->units->name || !stats->units->fmu)
        tutti_run_stats_fini(stats);
}

/* A failure of the run is told before one of closing the file. */
static enum tutti_err tear_down(struct run *run, enum tutti_err err)
{
    char message[4096];
    snprintf(message, sizeof message, "%s", tutti_err_message());
    enum tutti_err closing = tutti_observer_close(&run->observer);
    tutti_unit_free(run->unit);
    tutti_inputs_close(&run->inputs);
    tutti_fmu_free(run->fmu);
    tutti_arena_fini(&run->arena);
    free(run->result);
    return err ? tutti_fail(err, "%s", message) : closing;
}

enum tutti_err tutti_run(const struct tutti_run_options *options, struct tutti_run_stats *stats)
{
    struct tutti_run_stats unused;
    struct run run = {.options = options, .stats = stats ? stats : &unused, .countdown = 1, .interval = 1};
    *run.stats = (struct tutti_run_stats){0};
    double begin = tutti_clock_now();
    enum tutti_err err = set_up(&run);
    run.loop_start = run.last_look = run.last_flush = tutti_clock_now();
    run.stats->setup_seconds = run.loop_start - begin;
    if (!err)
        err = loop(&run);
    if (!err)
        err = run.unit->kind->terminate(run.unit);
    run.stats->loop_seconds = tutti_clock_now() - run.loop_start;
    if (run.ended && !err)
        tutti_log_printf(options->log, TUTTI_LOG_WARNING, run.name, "the FMU ended the simulation at t = %s",
                         NUMBER(run.t));
    count(&run);
    if (!stats)
        tutti_run_stats_fini(&unused);
    return tear_down(&run, err);
}
