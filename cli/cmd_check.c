/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "commands.h"
#include "console.h"
#include "output.h"
#include "run_options.h"
#include "signals.h"
#include "apps/describe/check.h"

static void print_finding(void *context, const struct tt_check_finding *finding)
{
    (void)context;
    fprintf(output_standard(), "%s: ", finding->severity == TUTTI_FINDING_ERROR ? "error" : "warning");
    if (finding->file)
        fprintf(output_standard(), finding->line ? "%s:%u: " : "%s: ", finding->file, finding->line);
    fprintf(output_standard(), "%s\n", finding->text);
}

/* Prints a note, which is not a fault. */
static void print_note(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    (void)context;
    (void)level;
    fprintf(stderr, "%s: %s\n", origin ? origin : "", text);
}

static void print_count(const char *file, const struct tt_check_counts *counts)
{
    char *name = tt_text_copy(file);
    if (name)
        tt_text_make_printable(name);
    fprintf(stderr, "%s: %u error%s, %u warning%s\n", name ? name : "", counts->errors, counts->errors == 1 ? "" : "s",
            counts->warnings, counts->warnings == 1 ? "" : "s");
    free(name);
}

static enum tutti_err check(const struct tutti_run_options *options, unsigned how, bool as_json,
                            struct tt_check_counts *counts)
{
    char *json = NULL;
    if (how & TUTTI_CHECK_RUN) {
        output_keep_apart();
        signals_enter_fmus();
    }
    enum tutti_err err = as_json ? tt_check_write_json(&json, options, how, counts)
                                 : tt_check_run(options, how, print_finding, NULL, counts);
    if (how & TUTTI_CHECK_RUN)
        signals_leave_fmus();
    if (json)
        fputs(json, output_standard());
    tutti_tell_free(json);
    return err;
}

int command_check(const struct arguments *arguments)
{
    static const struct tutti_log notes = {TUTTI_LOG_INFO, print_note, NULL};
    struct tutti_run_options *options = NULL;
    struct tt_check_counts counts = {0};
    bool quiet = arguments_value(arguments, "--quiet") != NULL;
    unsigned how = (arguments_value(arguments, "--run") ? TUTTI_CHECK_RUN : 0) |
                   (arguments_value(arguments, "--strict") ? TUTTI_CHECK_STRICT : 0);
    enum tutti_err err = tutti_options_make(&options);
    if (!err)
        err = tutti_options_set(options, "file", arguments->operands[0]);
    if (!err) {
        tutti_options_set_log(options, quiet ? NULL : &notes);
        err = check(options, how, arguments_value(arguments, "--json"), &counts);
    }
    fflush(output_standard()); /* findings before the count, also where both go to one file */
    if (err)
        console_error(tutti_err_message());
    else if (!quiet)
        print_count(arguments->operands[0], &counts);
    tutti_options_free(options);
    return err ? run_exit_status(err) : counts.errors ? EXIT_FAILED : EXIT_DONE;
}
