/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "compare.h"
#include "console.h"

enum { SHOWN = 10 };
static const size_t MEMORY = (size_t)512 << 20;

/* A tolerance: a number that is not negative. */
static bool read_tolerance(const struct arguments *arguments, const char *name, double *value)
{
    bool given;
    if (!arguments_number(arguments, name, &given, value))
        return false;
    if (!given || (isfinite(*value) && *value >= 0))
        return true;
    fprintf(stderr, "tutti compare: %s must not be negative\n", name);
    return false;
}

static bool read_time(const struct arguments *arguments, const char *name, double *value)
{
    bool given;
    if (!arguments_number(arguments, name, &given, value))
        return false;
    if (!given || isfinite(*value))
        return true;
    fprintf(stderr, "tutti compare: %s must be finite\n", name);
    return false;
}

static bool read_options(const struct arguments *arguments, struct tutti_compare_options *options)
{
    *options = (struct tutti_compare_options){
        .rtol = 1e-3, .atol = NAN, .ttol = NAN, .start = NAN, .stop = NAN, .memory = MEMORY};
    options->strict = arguments_value(arguments, "--strict") != NULL;
    if (!read_tolerance(arguments, "--rtol", &options->rtol) || !read_tolerance(arguments, "--atol", &options->atol) ||
        !read_tolerance(arguments, "--ttol", &options->ttol) || !read_time(arguments, "--start", &options->start) ||
        !read_time(arguments, "--stop", &options->stop))
        return false;
    if (options->start > options->stop) {
        fputs("tutti compare: --stop is before --start\n", stderr);
        return false;
    }
    if (strcmp(arguments->operands[0], "-") == 0 && strcmp(arguments->operands[1], "-") == 0) {
        fputs("tutti compare: only one of the files can be standard input\n", stderr);
        return false;
    }
    return true;
}

static bool print(const struct arguments *arguments, const struct compare_report *report)
{
    if (arguments_value(arguments, "--quiet"))
        return true;
    size_t most = arguments_value(arguments, "--all") ? SIZE_MAX : SHOWN;
    bool done = arguments_value(arguments, "--json") ? compare_print_json(report) : compare_print(report, most);
    if (!done)
        console_error("out of memory");
    return done;
}

static int compare(const struct arguments *arguments, struct tutti_result *result, struct tutti_result *reference,
                   const struct tutti_compare_options *options)
{
    struct tutti_comparison comparison;
    enum tutti_err err = tutti_compare(&comparison, result, reference, options);
    int status = err == TUTTI_ERR_ARGUMENT ? EXIT_USAGE : EXIT_FAILED;
    if (err != TUTTI_OK)
        console_error(tutti_err_message());
    else if (print(arguments, &(struct compare_report){&comparison, result, reference, options}) && comparison.agree)
        status = EXIT_DONE;
    tutti_comparison_fini(&comparison);
    return status;
}

int command_compare(const struct arguments *arguments)
{
    struct tutti_compare_options options;
    if (!read_options(arguments, &options))
        return EXIT_USAGE;
    const char **patterns = calloc(arguments->given_count + 1, sizeof *patterns);
    if (!patterns) {
        console_error("out of memory");
        return EXIT_FAILED;
    }
    options.patterns = patterns;
    options.pattern_count = arguments_values(arguments, "--variable", patterns);
    struct tutti_log log = {.level = arguments_value(arguments, "--quiet") ? TUTTI_LOG_ERROR : TUTTI_LOG_WARNING,
                            .write = console_log};
    struct tutti_result *result = NULL, *reference = NULL;
    int status = EXIT_FAILED;
    if (tutti_result_open(&result, arguments->operands[0], &log) != TUTTI_OK ||
        tutti_result_open(&reference, arguments->operands[1], &log) != TUTTI_OK)
        console_error(tutti_err_message());
    else
        status = compare(arguments, result, reference, &options);
    tutti_result_free(result);
    tutti_result_free(reference);
    free(patterns);
    return status;
}
