/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>

#include "base/fs.h"
#include "base/str.h"
#include "job/job.h"
#include "commands.h"
#include "console.h"
#include "launcher.h"
#include "output.h"
#include "run_options.h"
#include "signals.h"
#include "stats.h"
#include "summary.h"

static bool records_nothing(const struct tutti_run_options *options)
{
    return options->record_count == 1 && strcmp(options->records[0], "none") == 0;
}

/* One of several processes of a run, of which another one tells how it went. */
static int follow(struct run_options *run)
{
    launcher_unmute(); /* what FMUs print is to be seen */
    signals_keep_quiet();
    output_keep_apart();
    enum tutti_err err = signals_run(run->options, NULL);
    if (err == TUTTI_ERR_STOPPED)
        return EXIT_DONE;
    if (err && err != TUTTI_ERR_ARGUMENT) /* which all have alike */
        console_error(tutti_err_message());
    return run_exit_status(err);
}

/* The option whose file --stats would destroy; NULL: none. */
static const char *file_of_stats(const struct tutti_run_options *options, const char *stats)
{
    bool standard = stats && strcmp(stats, "-") == 0 && strcmp(options->output, "-") == 0;
    if (!records_nothing(options) && (standard || tutti_fs_is_same(stats, options->output)))
        return "-o";
    const char *read = tutti_job_reads(options, stats);
    return read ? read : tutti_fs_is_same(stats, options->step_log) ? "--step-log" : NULL;
}

/* An FMU that the system refers to is known only now. */
static bool is_fmu(const struct tutti_run_stats *stats, const char *path)
{
    for (size_t i = 0; i < stats->unit_count; i++)
        if (tutti_fs_is_same(path, stats->units[i].fmu)) {
            fprintf(stderr, "tutti: error: --stats '%s' is an FMU of the system, and not written; name another file\n",
                    path);
            return true;
        }
    return false;
}

/* What is told at the end of a run. */
struct ending {
    const struct run_options *run;
    const char *stats_path;  /* NULL: no --stats */
    const char *output_path; /* NULL: no result file */
    bool is_told;
    int status; /* to exit with */
};

static void tell(void *context, enum tutti_err err, const struct tutti_run_stats *stats)
{
    struct ending *ending = context;
    const struct tutti_run_options *options = ending->run->options;
    if (ending->is_told)
        return;
    ending->is_told = true;
    console_clear_progress();
    if (err)
        console_error(tutti_err_message());
    bool nothing = err == TUTTI_ERR_ARGUMENT || (err && !stats->coupling); /* it did not come to that */
    if (!ending->run->quiet && !nothing && (err == TUTTI_OK || err == TUTTI_ERR_INTERRUPTED))
        summary_print(&(struct summary){stats, options->files, options->file_count,
                                        ending->output_path ? options->output : NULL, ending->output_path});
    bool written = !ending->stats_path || nothing ||
                   (!is_fmu(stats, ending->stats_path) && stats_write(stats, options->files[0], ending->stats_path));
    ending->status = err || written ? run_exit_status(err) : EXIT_FAILED;
    if (output_finish())
        signals_all_told(ending->status);
}

static int conduct(struct run_options *run, const char *stats_path)
{
    struct tutti_run_options *options = run->options;
    bool makes_file = !records_nothing(options) && strcmp(options->output, "-") != 0;
    char *output_path = makes_file ? tutti_fs_absolute(options->output) : NULL;
    struct ending ending = {.run = run, .stats_path = stats_path, .output_path = output_path};
    struct tutti_run_stats stats;
    tutti_options_set_finished(options, tell, &ending);
    output_keep_apart();
    enum tutti_err err = signals_run(options, &stats);
    tell(&ending, err, &stats);
    signals_all_told(-1);
    free(output_path);
    tutti_run_stats_fini(&stats);
    return ending.status;
}

static int simulate(const struct arguments *arguments, struct run_options *run)
{
    const char *stats_name = arguments_value(arguments, "--stats");
    /* Taken now: code of the FMU may change the folder that the process is in. */
    char *stats_path = !stats_name                    ? NULL
                       : strcmp(stats_name, "-") == 0 ? tutti_str_copy(stats_name)
                                                      : tutti_fs_absolute(stats_name);
    const char *other = file_of_stats(run->options, stats_name);
    int status = EXIT_FAILED;
    if (other) {
        fprintf(stderr, "tutti run: %s and --stats cannot both be '%s'\n", other, stats_name);
        status = EXIT_USAGE;
    } else if (launcher_is_follower()) {
        status = follow(run);
    } else if (!stats_path || strcmp(stats_path, "-") == 0 ||
               output_can_be_written(stats_path)) { /* before hours of work */
        status = conduct(run, stats_path);
    }
    free(stats_path);
    return status;
}

int command_run(const struct arguments *arguments)
{
    struct run_options run;
    int status = run_options_read(&run, arguments);
    if (status == EXIT_DONE && !run.options->output)
        status = run_exit_status(tutti_options_set(run.options, "output", "result.csv"));
    if (status == EXIT_DONE)
        status = simulate(arguments, &run);
    run_options_fini(&run);
    return status;
}
