/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>

#include "base/fs.h"
#include "base/str.h"
#include "commands.h"
#include "console.h"
#include "signals.h"
#include "stats.h"

static bool read_times(const struct arguments *arguments, struct tutti_run_options *options)
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
        fprintf(stderr, "tutti run: --log-level takes error, warning, info or debug, not '%s'\n", name);
    return !name;
}

static bool records_nothing(const struct tutti_run_options *options)
{
    return options->record_count == 1 && strcmp(options->record[0], "none") == 0;
}

static int exit_status(enum tutti_err err)
{
    switch (err) {
    case TUTTI_OK: return EXIT_DONE;
    case TUTTI_ERR_ARGUMENT: return EXIT_USAGE;
    case TUTTI_ERR_INTERRUPTED: return 128 + (int)signals_received;
    default: return EXIT_FAILED;
    }
}

static int simulate(const struct arguments *arguments, struct tutti_run_options *options)
{
    bool quiet = arguments_value(arguments, "--quiet") != NULL;
    const char *stats_name = arguments_value(arguments, "--stats");
    /* Taken now: code of the FMU may change the folder that the process is in. */
    char *stats_path = !stats_name                    ? NULL
                       : strcmp(stats_name, "-") == 0 ? tutti_str_copy(stats_name)
                                                      : tutti_fs_absolute(stats_name);
    if (stats_name && strcmp(stats_name, options->output) == 0 && !records_nothing(options)) {
        fprintf(stderr, "tutti run: -o and --stats cannot both be '%s'\n", stats_name);
        free(stats_path);
        return EXIT_USAGE;
    }
    options->timing = stats_path != NULL;
    options->interrupt = &signals_received;
    if (!quiet && console_is_terminal())
        options->progress = console_progress;
    struct tutti_run_stats stats;
    signals_in_run(true);
    enum tutti_err err = tutti_run(options, &stats);
    signals_in_run(false);
    console_clear_progress();
    if (err)
        console_error(tutti_err_message());
    if (!quiet && (err == TUTTI_OK || err == TUTTI_ERR_INTERRUPTED))
        console_summary(&stats, records_nothing(options) || strcmp(options->output, "-") == 0 ? NULL : options->output);
    bool told = !stats_path || err == TUTTI_ERR_ARGUMENT || stats_write(&stats, options->file, stats_path);
    free(stats_path);
    tutti_run_stats_fini(&stats);
    return err || told ? exit_status(err) : EXIT_FAILED;
}

int command_run(const struct arguments *arguments)
{
    struct tutti_log log = {.write = console_log};
    const char *output = arguments_value(arguments, "--output");
    struct tutti_run_options options = {
        .file = arguments->operands[0],
        .input = arguments_value(arguments, "--input"),
        .interface = arguments_value(arguments, "--interface"),
        .solver = arguments_value(arguments, "--solver"),
        .predictor = arguments_value(arguments, "--predictor"),
        .jacobian = arguments_value(arguments, "--jacobian"),
        .filter = arguments_value(arguments, "--filter"),
        .output = output ? output : "result.csv",
        .fmu_logging = arguments_value(arguments, "--verbose") != NULL,
        .log = &log,
    };
    const char **values = calloc(2 * arguments->given_count + 1, sizeof *values);
    if (!values) {
        console_error("out of memory");
        return EXIT_FAILED;
    }
    int status = EXIT_USAGE;
    if (read_times(arguments, &options) && read_level(arguments, &log.level)) {
        options.set = values;
        options.set_count = arguments_values(arguments, "--set", values);
        options.record = values + options.set_count;
        options.record_count = arguments_values(arguments, "--record", values + options.set_count);
        status = simulate(arguments, &options);
    }
    free(values);
    return status;
}
