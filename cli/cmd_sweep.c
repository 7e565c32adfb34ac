/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>

#include "base/wall_clock.h"
#include "commands.h"
#include "console.h"
#include "launcher.h"
#include "output.h"
#include "run_options.h"
#include "signals.h"

/* Lists failed runs, the first few by name. */
static void tell_failures(const struct tutti_sweep *sweep)
{
    enum { MOST = 5 };
    size_t bad = tutti_sweep_run_count(sweep) - tutti_sweep_good_count(sweep), told = 0;
    char text[4400];
    for (size_t run = 0; run < tutti_sweep_run_count(sweep) && told < MOST; run++) {
        if (strcmp(tutti_sweep_status(sweep, run), "ok") == 0)
            continue;
        snprintf(text, sizeof text, "run %zu %s: %s", run, tutti_sweep_status(sweep, run),
                 tutti_sweep_message(sweep, run) ? tutti_sweep_message(sweep, run) : "");
        console_error(text);
        told++;
    }
    if (bad > told) {
        snprintf(text, sizeof text, "and %zu further runs; the table tells why", bad - told);
        console_error(text);
    }
}

static void tell(const struct tutti_sweep *sweep, const struct tutti_run_options *options, double seconds)
{
    size_t runs = tutti_sweep_run_count(sweep), found = tutti_sweep_found_count(sweep),
           good = tutti_sweep_good_count(sweep);
    fprintf(stderr, "%-10s %zu, of which %zu are ok", "runs", runs, good);
    if (found > 0)
        fprintf(stderr, "; %zu were there already", found);
    fprintf(stderr, "; %.3g s\n", seconds);
    if (options->trajectories)
        fprintf(stderr, "%-10s %s\n", "rows", options->trajectories);
    if (strcmp(options->output, "-") != 0)
        fprintf(stderr, "%-10s %s\n", "result", options->output);
}

/* One of several processes of mpiexec, the first of which reports the outcome. */
static int follow(struct run_options *run)
{
    struct tutti_sweep *sweep = NULL;
    launcher_unmute(); /* what FMUs print is to be seen */
    signals_keep_quiet();
    output_keep_apart();
    run->options->log = NULL;
    run->options->progress = NULL;
    enum tutti_err err = tutti_sweep_make(&sweep, run->options);
    if (err == TUTTI_ERR_STOPPED)
        return EXIT_DONE;
    if (err && err != TUTTI_ERR_ARGUMENT) /* which all have alike */
        console_error(tutti_err_message());
    return run_exit_status(err);
}

static int sweep(const struct run_options *run)
{
    struct tutti_sweep *sweep = NULL;
    double began = tt_wall_clock_now();
    signals_in_run(true);
    output_keep_apart();
    enum tutti_err err = tutti_sweep_make(&sweep, run->options);
    signals_in_run(false);
    console_clear_progress();
    if (err) {
        console_error(tutti_err_message());
        return run_exit_status(err);
    }
    tell_failures(sweep);
    bool good = tutti_sweep_good_count(sweep) == tutti_sweep_run_count(sweep);
    if (!run->quiet)
        tell(sweep, run->options, tt_wall_clock_now() - began);
    tutti_sweep_free(sweep);
    return good ? EXIT_DONE : EXIT_FAILED;
}

int command_sweep(const struct arguments *arguments)
{
    struct run_options run;
    const char *output = arguments_value(arguments, "--output");
    int status = run_options_read(&run, arguments);
    if (status == EXIT_DONE)
        status = run_exit_status(tutti_options_set(run.options, "output", output ? output : "sweep.csv"));
    if (status == EXIT_DONE && launcher_is_follower()) {
        status = follow(&run);
        run_options_fini(&run);
        return status;
    }
    if (status == EXIT_DONE && strcmp(run.options->output, "-") != 0 && !output_can_be_written(run.options->output))
        status = EXIT_FAILED;
    if (status == EXIT_DONE)
        status = sweep(&run);
    run_options_fini(&run);
    return status;
}
