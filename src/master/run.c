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
#include "master/integration.h"
#include "master/loop.h"

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
    enum tutti_interface_choice choice;
    TRY(tutti_interface_choose(options, &choice));
    TRY(open_fmu(run));
    if (run->visit && !run->fmu->desc->interfaces[TUTTI_ME].present)
        return tutti_fail(TUTTI_ERR_UNSUPPORTED, "%s: %s needs Model Exchange, which this FMU does not have",
                          run->fmu->path, run->visit->purpose);
    TRY(tutti_unit_kind_for(run->fmu, choice, options->solver != NULL, &kind));
    TRY(tutti_times_resolve(&run->times, options, run->fmu, kind->interface, options->log));
    TRY(tutti_integration_resolve(&run->integration, options, &run->times, kind));
    run->interface = kind->interface;
    run->span = run->times.stop - run->times.start;
    run->visit_at = run->visit && run->visit->has_at ? run->visit->at : run->times.start;
    if (!(run->visit_at >= run->times.start && run->visit_at <= run->times.stop))
        return tutti_fail(TUTTI_ERR_ARGUMENT,
                          "t = %s is not in the run, which goes from %s to %s; --start and --stop change that",
                          NUMBER(run->visit_at), NUMBER(run->times.start), NUMBER(run->times.stop));
    TRY(read_settings(run));
    return options->input ? tutti_inputs_open(&run->inputs, options->input, run->fmu->desc, kind->interface) : TUTTI_OK;
}

static enum tutti_err make_unit(struct run *run)
{
    struct tutti_unit_options options = {
        .name = run->name,
        .log = run->options->log,
        .logging_on = run->options->fmu_logging,
        .timing = run->options->timing,
        .interrupt = run->options->interrupt,
        .moving_sample = tutti_inputs_sample_moving,
        .moving_context = &run->inputs,
        .interface = run->interface == TUTTI_ME ? TUTTI_INTERFACE_ME : TUTTI_INTERFACE_CS,
        .integration = run->integration,
    };
    if (run->interface == TUTTI_CS && (run->fmu->desc->interfaces[TUTTI_CS].flags & TUTTI_CAN_INTERMEDIATE)) {
        options.moving = run->inputs.slope_references;
        options.moving_count = run->inputs.slope_count;
    }
    return tutti_unit_new(&run->unit, run->fmu, &options);
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
    return run->unit->has_events ? tutti_loop_settle(run) : TUTTI_OK;
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
    run->next_event = run->input_event = run->kink = INFINITY;
    run->plain = !options->input && !run->unit->has_events && !run->observer.format && !run->visit;
    tutti_grid_init(&run->communication, run->times.start, run->times.step, run->times.stop);
    if (run->times.output_step > 0)
        tutti_grid_init(&run->output, run->times.start, run->times.output_step, run->times.stop);
    TRY(initialise(run));
    return tutti_observer_row(&run->observer, run->unit, run->t);
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
        .rollbacks = counts->rollbacks,
        .solver = run->interface == TUTTI_ME ? run->integration.solver->name : NULL,
        .solver_steps = counts->solver.steps,
        .rhs_evaluations = counts->solver.rhs,
        .jacobian_evaluations = counts->solver.jacobians,
        .directional_derivatives = counts->solver.directional,
        .solver_error_failures = counts->solver.error_failures,
        .solver_other_failures = counts->solver.other_failures,
        .solver_restarts = counts->solver.restarts,
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

enum tutti_err tutti_run_visited(const struct tutti_run_options *options, struct tutti_run_stats *stats,
                                 const struct tutti_visit *visit)
{
    struct tutti_run_stats unused = {0};
    struct run run = {
        .options = options, .stats = stats ? stats : &unused, .visit = visit, .countdown = 1, .interval = 1};
    *run.stats = (struct tutti_run_stats){0};
    double begin = tutti_clock_now();
    enum tutti_err err = set_up(&run);
    run.loop_start = run.last_look = run.last_flush = tutti_clock_now();
    run.stats->setup_seconds = run.loop_start - begin;
    if (!err)
        err = tutti_loop(&run);
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

enum tutti_err tutti_run(const struct tutti_run_options *options, struct tutti_run_stats *stats)
{
    return tutti_run_visited(options, stats, NULL);
}
