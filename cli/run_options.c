/* SPDX-License-Identifier: MIT */
#include "run_options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "console.h"
#include "launcher.h"
#include "costs.h"
#include "signals.h"

static bool read_numbers(const struct arguments *arguments, struct tutti_run_options *options)
{
    return arguments_number(arguments, "--start", &options->has_start, &options->start) &&
           arguments_number(arguments, "--stop", &options->has_stop, &options->stop) &&
           arguments_number(arguments, "--output-step", &options->has_output_step, &options->output_step) &&
           arguments_number(arguments, "--rtol", &options->has_rtol, &options->rtol) &&
           arguments_number(arguments, "--atol", &options->has_atol, &options->atol) &&
           arguments_number(arguments, "--h-max", &options->has_h_max, &options->h_max) &&
           arguments_number(arguments, "--h-min", &options->has_h_min, &options->h_min) &&
           arguments_number(arguments, "--event-tolerance", &options->has_event_tolerance, &options->event_tolerance) &&
           arguments_number(arguments, "--quantum", &options->has_quantum, &options->quantum) &&
           arguments_number(arguments, "--divergence", &options->has_divergence, &options->divergence) &&
           arguments_number(arguments, "--realtime", &options->has_realtime, &options->realtime) &&
           arguments_number(arguments, "--timeout", &options->has_timeout, &options->timeout) &&
           arguments_number(arguments, "--solver-step", &options->has_solver_step, &options->solver_step);
}

static bool read_level(const struct arguments *arguments, enum tutti_log_level *level)
{
    static const char *const names[] = {"error", "warning", "info", "debug"};
    const char *name = arguments_value(arguments, "--log-level");
    *level = arguments_value(arguments, "--verbose") ? TUTTI_LOG_DEBUG
             : arguments_value(arguments, "--quiet") ? TUTTI_LOG_ERROR
                                                     : TUTTI_LOG_WARNING;
    for (int i = TUTTI_LOG_ERROR; name && i <= TUTTI_LOG_DEBUG; i++)
        if (strcmp(name, names[i]) == 0) {
            *level = (enum tutti_log_level)i;
            return true;
        }
    if (name)
        fprintf(stderr, "tutti %s: --log-level takes error, warning, info or debug, not '%s'\n",
                arguments->command->name, name);
    return !name;
}

/* A whole number from 1 on; 0 if the option is not given. */
static bool read_count(const struct arguments *arguments, const char *option, unsigned most, unsigned *count)
{
    bool given = false;
    double number = 0;
    if (!arguments_number(arguments, option, &given, &number))
        return false;
    if (given && !(number >= 1 && number <= most && number == floor(number))) {
        fprintf(stderr, "tutti %s: %s takes a whole number from 1 to %u\n", arguments->command->name, option, most);
        return false;
    }
    *count = given ? (unsigned)number : 0;
    return true;
}

static bool read_counts(const struct arguments *arguments, struct tutti_run_options *options)
{
    return read_count(arguments, "--max-iterations", 1000000, &options->max_iterations) &&
           read_count(arguments, "--threads", 1024, &options->threads) &&
           read_count(arguments, "--processes", 1024, &options->processes);
}

/* All values of a repeatable option; `room` has place for them. */
static size_t take(const struct arguments *arguments, const char *name, const char *const **values, const char **room)
{
    *values = room;
    return arguments_values(arguments, name, room);
}

/* --step H is for all, --step UNIT=H for one. */
static bool read_steps(const struct arguments *arguments, struct tutti_run_options *options, const char **room)
{
    size_t count = arguments_values(arguments, "--step", room);
    options->unit_steps = room;
    for (size_t i = 0; i < count; i++) {
        if (strchr(room[i], '=')) {
            room[options->unit_step_count++] = room[i];
        } else if (!arguments_read_number(arguments, "--step", room[i], &options->step)) {
            return false;
        } else {
            options->has_step = true;
        }
    }
    return true;
}

/* A flag alone is for all units, with a value for one. */
static size_t take_units(const struct arguments *arguments, const char *name, bool *all, const char *const **units,
                         const char **room)
{
    size_t given = arguments_values(arguments, name, room), count = 0;
    for (size_t i = 0; i < given; i++) {
        *all = *all || !*room[i];
        if (*room[i])
            room[count++] = room[i];
    }
    *units = room;
    return count;
}

int run_options_read(struct run_options *run, const struct arguments *arguments)
{
    *run = (struct run_options){.log = {.write = console_log}};
    run->quiet = arguments_value(arguments, "--quiet") != NULL;
    run->options = (struct tutti_run_options){
        .files = arguments->operands,
        .file_count = arguments->operand_count,
        .convert = arguments_value(arguments, "--convert") != NULL,
        .coupling = arguments_value(arguments, "--coupling"),
        .control = arguments_value(arguments, "--control"),
        .extrapolate = arguments_value(arguments, "--extrapolate"),
        .events = arguments_value(arguments, "--events"),
        .correct = arguments_value(arguments, "--correct") != NULL,
        .smooth = arguments_value(arguments, "--smooth") != NULL,
        .error_per = arguments_value(arguments, "--error-per"),
        .sweeps = arguments_value(arguments, "--sweeps"),
        .accelerate = arguments_value(arguments, "--accelerate"),
        .order = arguments_value(arguments, "--order"),
        .step_log = arguments_value(arguments, "--step-log"),
        .mpi = launcher_is_mpi(),
        .nodes = arguments_value(arguments, "--nodes"),
        .key = arguments_value(arguments, "--key"),
        .mode = arguments_value(arguments, "--mode"),
        .interpolate = arguments_value(arguments, "--interpolate"),
        .input_at = arguments_value(arguments, "--input-at"),
        .interface = arguments_value(arguments, "--interface"),
        .solver = arguments_value(arguments, "--solver"),
        .predictor = arguments_value(arguments, "--predictor"),
        .jacobian = arguments_value(arguments, "--jacobian"),
        .filter = arguments_value(arguments, "--filter"),
        .fmu_logging = arguments_value(arguments, "--verbose") != NULL,
        .log = &run->log,
        .progress = !run->quiet && console_is_terminal() ? console_progress : NULL,
        .interrupt = &signals_received,
    };
    if (launcher_is_foreign())
        return EXIT_USAGE;
    run->values = calloc(8 * arguments->given_count + 1, sizeof *run->values);
    if (!run->values) {
        console_error("out of memory");
        return EXIT_FAILED;
    }
    const char **next = run->values;
    next += run->options.set_count = take(arguments, "--set", &run->options.set, next);
    next += run->options.input_count = take(arguments, "--input", &run->options.inputs, next);
    next += run->options.record_count = take(arguments, "--record", &run->options.record, next);
    next += run->options.connect_count = take(arguments, "--connect", &run->options.connect, next);
    next += run->options.place_count = take(arguments, "--place", &run->options.place, next);
    struct tutti_run_options *options = &run->options;
    next += options->no_event_mode_unit_count =
        take_units(arguments, "--no-event-mode", &options->no_event_mode, &options->no_event_mode_units, next);
    next += options->no_directional_derivatives_unit_count =
        take_units(arguments, "--no-directional-derivatives", &options->no_directional_derivatives,
                   &options->no_directional_derivatives_units, next);
    const char *stats = arguments_value(arguments, "--costs");
    if (stats && !costs_read(stats, &run->costs, &run->options.cost_count))
        return EXIT_FAILED;
    run->options.costs = (const char *const *)run->costs;
    return read_steps(arguments, &run->options, next) && read_numbers(arguments, &run->options) &&
                   read_counts(arguments, &run->options) && read_level(arguments, &run->log.level)
               ? EXIT_DONE
               : EXIT_USAGE;
}

void run_options_fini(struct run_options *run)
{
    free(run->values);
    costs_free(run->costs, run->options.cost_count);
}

int run_exit_status(enum tutti_err err)
{
    switch (err) {
    case TUTTI_OK: return EXIT_DONE;
    case TUTTI_ERR_ARGUMENT: return EXIT_USAGE;
    case TUTTI_ERR_INTERRUPTED: return 128 + (int)signals_received;
    default: return EXIT_FAILED;
    }
}
