/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>

#include "base/fs.h"
#include "base/text.h"
#include "sim/job/job.h"
#include "account.h"
#include "commands.h"
#include "compare_solvers.h"
#include "console.h"
#include "guard.h"
#include "launcher.h"
#include "output.h"
#include "run_options.h"
#include "signals.h"
#include "stats.h"
#include "summary.h"

/* One of several processes of a run, a different one of which reports the outcome. */
static int follow(struct run_options *run)
{
    launcher_unmute(); /* what FMUs print is to be seen */
    signals_keep_quiet();
    output_keep_apart();
    signals_begin_run(run->options);
    enum tutti_err err = tutti_run(run->options, NULL);
    signals_in_run(false);
    if (err == TUTTI_ERR_STOPPED)
        return EXIT_DONE;
    if (err && err != TUTTI_ERR_ARGUMENT) /* which all have alike */
        console_error(tutti_err_message());
    return run_exit_status(err);
}

/* Returns the option whose file --stats would overwrite; NULL if there is none. */
static const char *file_of_stats(const struct tutti_run_options *options, const char *stats)
{
    bool standard = stats && strcmp(stats, "-") == 0 && strcmp(options->output, "-") == 0;
    if (!tt_options_records_nothing(options) && (standard || tt_fs_is_same_file(stats, options->output)))
        return "-o";
    const char *read = tt_job_path_is_read(options, stats);
    for (size_t i = 0; !read && stats && i < options->final_state_count; i++) {
        const char *text = options->final_states[i], *equals = strchr(text, '=');
        if (tt_fs_is_same_file(stats, text) || (equals && tt_fs_is_same_file(stats, equals + 1)))
            read = "--final-state";
    }
    return read ? read : tt_fs_is_same_file(stats, options->step_log) ? "--step-log" : NULL;
}

/* The data for the messages at the end of a run. */
struct ending {
    const struct run_options *run;
    struct account account;
    const char *stats_path; /* NULL: no --stats */
    char *output_path;      /* NULL: no result file */
    char *step_log;         /* its path; NULL: none */
    bool is_told;
    int status; /* to exit with */
};

static bool write_stats(struct ending *ending, enum tutti_err err, const char *error,
                        const struct tutti_run_stats *stats)
{
    const struct tutti_run_options *options = ending->run->options;
    char kept[4096];
    snprintf(kept, sizeof kept, "%s", error); /* files are looked at now, which may fail */
    account_add_written(&ending->account, "result", options->output, ending->output_path);
    account_add_written(&ending->account, "step-log", options->step_log, ending->step_log);
    return stats_write(account_json(&ending->account, account_status(err), err ? kept : NULL), stats,
                       ending->stats_path);
}

/* In place of the summary. */
static void tell_end(const struct tutti_run_stats *stats, enum tutti_err err)
{
    char text[160];
    double seconds = stats->setup_seconds + stats->loop_seconds;
    snprintf(text, sizeof text, "%s: t = %.9g to %.9g, %lu steps, %lu rows, %.3g s", account_status(err), stats->start,
             stats->stop, stats->steps, stats->rows, seconds);
    console_write_json(TUTTI_LOG_INFO,
                       json_pack("{s:s, s:f, s:I, s:I, s:f}", "status", account_status(err), "t", stats->stop, "steps",
                                 (json_int_t)stats->steps, "rows", (json_int_t)stats->rows, "elapsed_seconds", seconds),
                       text);
}

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
    bool shows = err == TUTTI_OK || (err == TUTTI_ERR_INTERRUPTED && stats->coupling); /* it came to that */
    if (!ending->run->quiet && shows && console_is_json())
        tell_end(stats, err);
    else if (!ending->run->quiet && shows)
        summary_print(&(struct summary){stats, options->files, options->file_count,
                                        ending->output_path ? options->output : NULL, ending->output_path,
                                        options->has_rtol});
    bool written = !ending->stats_path || err == TUTTI_ERR_ARGUMENT ||
                   write_stats(ending, err, tutti_err_message(), stats->coupling ? stats : NULL);
    ending->status = err || written ? run_exit_status(err) : EXIT_FAILED;
    guard_tell();
    if (output_finish())
        signals_all_told(ending->status);
}

/* The process of the FMUs has ended without reporting the outcome. */
static void tell_loss(void *context, bool interrupted, const char *how)
{
    struct ending *ending = context;
    (void)write_stats(ending, interrupted ? TUTTI_ERR_INTERRUPTED : TUTTI_ERR_LOST, how, NULL);
    (void)output_finish();
}

/* A run in the process that reports how it went. */
static int conduct(struct run_options *run, const char *stats_path)
{
    struct tutti_run_options *options = run->options;
    bool makes_file = !tt_options_records_nothing(options) && strcmp(options->output, "-") != 0;
    struct ending ending = {.run = run,
                            .stats_path = stats_path,
                            .output_path = makes_file ? tt_fs_absolute(options->output) : NULL,
                            .step_log = options->step_log ? tt_fs_absolute(options->step_log) : NULL};
    struct tutti_run_stats stats;
    options->ends_hangs = !launcher_is_mpi();
    account_begin(&ending.account, options);
    tutti_options_set_finished(options, tell, &ending);
    if (stats_path) {
        tutti_options_set_used(options, account_add_used, &ending.account);
        guard_on_loss(tell_loss, &ending);
    }
    output_keep_apart();
    signals_begin_run(options);
    enum tutti_err err = tutti_run(options, &stats);
    signals_in_run(false);
    tell(&ending, err, &stats);
    signals_all_told(-1);
    free(ending.output_path);
    free(ending.step_log);
    account_fini(&ending.account);
    tt_stats_fini(&stats);
    return ending.status;
}

int command_run(const struct arguments *arguments)
{
    struct run_options run;
    int status = run_options_read(&run, arguments);
    if (status == EXIT_DONE && arguments_value(arguments, "--compare-solvers")) {
        status = compare_solvers(&run, arguments);
        run_options_fini(&run);
        return status;
    }
    if (status == EXIT_DONE && !run.options->output)
        status = run_exit_status(tutti_options_set(run.options, "output", "result.csv"));
    if (status != EXIT_DONE) {
        run_options_fini(&run);
        return status;
    }

    const char *stats_name = arguments_value(arguments, "--stats");
    /* Absolute from now on: code of the FMU may change the folder that the process is in. */
    char *stats_path = !stats_name                    ? NULL
                       : strcmp(stats_name, "-") == 0 ? tt_text_copy(stats_name)
                                                      : tt_fs_absolute(stats_name);
    const char *other = file_of_stats(run.options, stats_name);
    status = EXIT_FAILED;
    if (other) {
        fprintf(stderr, "tutti run: %s and --stats cannot both be '%s'\n", other, stats_name);
        status = EXIT_USAGE;
    } else if (stats_path && !stats_may_replace(stats_path)) {
        fprintf(stderr, "tutti run: --stats '%s' is there, and holds something else than JSON; name another file\n",
                stats_name);
        status = EXIT_USAGE;
    } else if (launcher_is_follower()) {
        status = follow(&run);
    } else if (!stats_path || strcmp(stats_path, "-") == 0 ||
               output_can_be_written(stats_path)) { /* before hours of work */
        status = conduct(&run, stats_path);
    }
    free(stats_path);
    run_options_fini(&run);
    return status;
}
