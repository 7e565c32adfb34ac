/* SPDX-License-Identifier: MIT */
#include "run_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "console.h"
#include "signals.h"

static bool read_numbers(const struct arguments *arguments, struct tutti_run_options *options)
{
    return arguments_number(arguments, "--start", &options->has_start, &options->start) &&
           arguments_number(arguments, "--stop", &options->has_stop, &options->stop) &&
           arguments_number(arguments, "--step", &options->has_step, &options->step) &&
           arguments_number(arguments, "--output-step", &options->has_output_step, &options->output_step) &&
           arguments_number(arguments, "--rtol", &options->has_rtol, &options->rtol) &&
           arguments_number(arguments, "--atol", &options->has_atol, &options->atol) &&
           arguments_number(arguments, "--h-max", &options->has_h_max, &options->h_max) &&
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

int run_options_read(struct run_options *run, const struct arguments *arguments)
{
    *run = (struct run_options){.log = {.write = console_log}};
    run->quiet = arguments_value(arguments, "--quiet") != NULL;
    run->options = (struct tutti_run_options){
        .file = arguments->operands[0],
        .input = arguments_value(arguments, "--input"),
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
    run->values = calloc(2 * arguments->given_count + 1, sizeof *run->values);
    if (!run->values) {
        console_error("out of memory");
        return EXIT_FAILED;
    }
    run->options.set = run->values;
    run->options.set_count = arguments_values(arguments, "--set", run->values);
    run->options.record = run->values + run->options.set_count;
    run->options.record_count = arguments_values(arguments, "--record", run->values + run->options.set_count);
    return read_numbers(arguments, &run->options) && read_level(arguments, &run->log.level) ? EXIT_DONE : EXIT_USAGE;
}

void run_options_fini(struct run_options *run)
{
    free(run->values);
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
