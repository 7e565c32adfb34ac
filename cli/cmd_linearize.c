/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>

#include "base/fs.h"
#include "sim/stats.h"
#include "commands.h"
#include "console.h"
#include "linear.h"
#include "output.h"
#include "run_options.h"
#include "signals.h"

typedef bool write_function(const struct tutti_linearization *linearization, const char *fmu, const char *path);

/* By the end of the file's name; NULL after a message. */
static write_function *writer_for(const char *output)
{
    const char *dot = output ? strrchr(output, '.') : NULL;
    if (!output)
        fputs("tutti linearize: -o FILE is needed: OUT.json, OUT.mat, or - for JSON on standard output\n", stderr);
    else if (strcmp(output, "-") == 0 || (dot && strcmp(dot, ".json") == 0))
        return linear_write_json;
    else if (dot && strcmp(dot, ".mat") == 0)
        return linear_write_mat;
    else
        fprintf(stderr, "tutti linearize: -o takes OUT.json or OUT.mat, not '%s'\n", output);
    return NULL;
}

/* Writing must not destroy what is read. */
static bool is_input(const struct tutti_run_options *options, const char *output)
{
    for (size_t i = 0; i < options->input_count; i++) {
        if (!tt_fs_is_same_file(options->inputs[i], output))
            continue;
        fprintf(stderr, "tutti linearize: -o '%s' is the file that --input reads; name another one\n", output);
        return true;
    }
    return false;
}

static int linearize(const struct run_options *run, write_function *write, const char *path)
{
    struct tutti_linearization linearization;
    struct tutti_run_stats stats;
    signals_in_run(true);
    output_keep_apart();
    enum tutti_err err = tutti_linearize(run->options, &stats, &linearization);
    signals_in_run(false);
    console_clear_progress();
    if (err)
        console_error(tutti_err_message());
    int status = run_exit_status(err);
    if (!err && !write(&linearization, run->options->files[0], path))
        status = EXIT_FAILED;
    if (status == EXIT_DONE && !run->quiet)
        linear_print(&linearization, stats.unit_count == 1 ? stats.units[0].name : run->options->files[0],
                     stats.unit_count);
    tutti_linearization_fini(&linearization);
    tt_stats_fini(&stats);
    return status;
}

int command_linearize(const struct arguments *arguments)
{
    struct run_options run;
    const char *output = arguments_value(arguments, "--output");
    write_function *write = writer_for(output);
    if (!write)
        return EXIT_USAGE;
    bool standard = strcmp(output, "-") == 0;
    /* Taken now: code of the FMU may change the folder that the process is in. */
    char *path = standard ? NULL : tt_fs_absolute(output);
    int status = run_options_read(&run, arguments);
    if (status == EXIT_DONE && !standard && is_input(run.options, output))
        status = EXIT_USAGE;
    if (status == EXIT_DONE && write == linear_write_mat && !linear_can_write_mat())
        status = EXIT_FAILED;
    if (status == EXIT_DONE && !standard && !(path && output_can_be_written(output)))
        status = EXIT_FAILED;
    if (status == EXIT_DONE)
        status = linearize(&run, write, standard ? "-" : path);
    if (status == EXIT_DONE && !standard && !run.quiet)
        fprintf(stderr, "%-10s %s\n", "result", output);
    free(path);
    run_options_fini(&run);
    return status;
}
