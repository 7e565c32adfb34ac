/* SPDX-License-Identifier: MIT */
#include "run_options.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/log.h"
#include "base/random.h"
#include "console.h"
#include "costs.h"
#include "launcher.h"
#include "signals.h"

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

/* Reads "--log HOW". False after a message if it is invalid. */
static bool read_log(const struct arguments *arguments, struct tutti_run_options *options)
{
    uint8_t id[TUTTI_RUN_ID_SIZE];
    bool json = false;
    char text[CONSOLE_RUN_TEXT];
    if (!console_wants_json(arguments, &json))
        return false;
    if (!json || tt_random_bytes(id, sizeof id))
        return true;
    tutti_options_set_run_id(options, id);
    console_show_run(id, text);
    console_use_json(text);
    signals_keep_quiet();
    return true;
}

enum { WORTH_LINES = 60 }; /* seconds */

/* Reads "--progress HOW". False after a message if it is invalid. */
static bool read_progress(const struct arguments *arguments, struct run_options *run)
{
    const char *how = arguments_value(arguments, "--progress");
    bool lines = how && strcmp(how, "lines") == 0, none = how && strcmp(how, "none") == 0;
    if (how && !lines && !none && strcmp(how, "auto") != 0) {
        fprintf(stderr, "tutti %s: --progress takes auto, lines or none, not '%s'\n", arguments->command->name, how);
        return false;
    }
    run->worth_lines = lines ? 0 : WORTH_LINES;
    if (run->quiet || none)
        return true;
    if (console_is_terminal() && !lines && !console_is_json())
        tutti_options_set_progress(run->options, console_progress, NULL);
    else
        tutti_options_set_progress(run->options, console_progress_lines, &run->worth_lines);
    return true;
}

/* The exit status if an option cannot be set. */
static int refuse(const struct arguments *arguments, enum tutti_err err)
{
    if (err == TUTTI_ERR_ARGUMENT)
        fprintf(stderr, "tutti %s: %s\n", arguments->command->name, tutti_err_message());
    else if (err)
        console_error(tutti_err_message());
    return err ? run_exit_status(err) : EXIT_DONE;
}

static enum tutti_err set_given(struct tutti_run_options *options, const struct arguments *arguments)
{
    enum tutti_err err = TUTTI_OK;
    for (size_t i = 0; i < arguments->operand_count && !err; i++)
        err = tutti_options_set(options, "file", arguments->operands[i]);
    for (size_t i = 0; i < arguments->given_count && !err; i++)
        if (arguments->given[i].option->of_run)
            err = tutti_options_set(options, arguments->given[i].option->of_run->name, arguments->given[i].value);
    return err;
}

enum tutti_err run_options_make(struct tutti_run_options **options, const struct arguments *arguments)
{
    TRY(tutti_options_make(options));
    return set_given(*options, arguments);
}

static enum tutti_err make_for_run(struct tutti_run_options **options, const struct arguments *arguments)
{
    enum tutti_err err = run_options_make(options, arguments);
    if (!err && launcher_is_mpi())
        err = tutti_options_set(*options, "mpi", "true");
    if (!err && arguments_value(arguments, "--verbose"))
        err = tutti_options_set(*options, "fmu-logging", "true");
    return err;
}

static void warn_lonely(const struct tutti_log *log)
{
    int tasks = launcher_lonely_tasks();
    if (tasks > 0)
        tt_log(log, TUTTI_LOG_WARNING, NULL,
               "this is one of %d tasks of srun, and each of them makes a run of its own; `srun --mpi=pmi2` makes "
               "one run of them",
               tasks);
}

int run_options_read(struct run_options *run, const struct arguments *arguments)
{
    struct tutti_log log = {.write = console_log};
    *run = (struct run_options){.quiet = arguments_value(arguments, "--quiet") != NULL};
    if (launcher_is_foreign())
        return EXIT_USAGE;
    enum tutti_err err = make_for_run(&run->options, arguments);
    if (err)
        return refuse(arguments, err);
    if (!read_level(arguments, &log.level) || !read_log(arguments, run->options) || !read_progress(arguments, run))
        return EXIT_USAGE;
    tutti_options_set_log(run->options, &log);
    warn_lonely(&log);
    tutti_options_set_interrupt(run->options, &signals_received);
    const char *stats = arguments_value(arguments, "--costs");
    return !stats || costs_read(stats, run->options) ? EXIT_DONE : EXIT_FAILED;
}

void run_options_fini(struct run_options *run)
{
    tutti_options_free(run->options);
}

int run_exit_status(enum tutti_err err)
{
    switch (err) {
    case TUTTI_OK: return EXIT_DONE;
    case TUTTI_ERR_ARGUMENT: return EXIT_USAGE;
    /* Without a signal it was not the user: code of an FMU can write into the memory that ranks share. */
    case TUTTI_ERR_INTERRUPTED: return signals_received ? 128 + (int)signals_received : EXIT_FAILED;
    default: return EXIT_FAILED;
    }
}
