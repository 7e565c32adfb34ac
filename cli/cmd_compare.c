/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "compare.h"
#include "console.h"
#include "told_options.h"

enum { SHOWN = 10 };

struct teller {
    bool quiet, json, all, agree;
};

static enum tutti_err print(void *context, const struct tt_comparison_report *report)
{
    struct teller *teller = context;
    char *json = NULL;
    teller->agree = report->comparison->agree;
    if (teller->quiet)
        return TUTTI_OK;
    if (!teller->json)
        return compare_print(report, teller->all ? SIZE_MAX : SHOWN) ? TUTTI_OK : tt_fail_memory();
    TRY(tt_comparison_report_write_json(&json, report));
    fputs(json, stdout);
    tutti_tell_free(json);
    return TUTTI_OK;
}

int command_compare(const struct arguments *arguments)
{
    static const char *const own[] = {"--all", "--json", "--quiet", NULL};
    struct teller teller = {.quiet = arguments_value(arguments, "--quiet"),
                            .json = arguments_value(arguments, "--json"),
                            .all = arguments_value(arguments, "--all")};
    struct tutti_log log = {.level = teller.quiet ? TUTTI_LOG_ERROR : TUTTI_LOG_WARNING, .write = console_log};
    struct tt_display_options given;
    enum tutti_err err = told_options_read(&given, arguments, own);
    if (!err)
        err = tt_comparison_report_create(arguments->operands[0], arguments->operands[1], &given, &log, print, &teller);
    free((void *)given.options);
    if (err)
        return told_options_fail(arguments, err);
    return teller.agree ? EXIT_DONE : EXIT_FAILED;
}
