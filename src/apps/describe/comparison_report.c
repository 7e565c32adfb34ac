/* SPDX-License-Identifier: MIT */
#include "apps/describe/comparison_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apps/describe/json.h"
#include "apps/describe/describe.h"

/* ---- options ---- */

/* A tolerance: a number that is not negative. */
static enum tutti_err read_tolerance(const struct tt_display_options *given, const char *name, double *value)
{
    TRY(tt_describe_option_number(given, name, value));
    return !tt_describe_option_value(given, name) || (isfinite(*value) && *value >= 0)
               ? TUTTI_OK
               : tt_fail(TUTTI_ERR_ARGUMENT, "--%s must not be negative", name);
}

static enum tutti_err comparison_report_read_time(const struct tt_display_options *given, const char *name,
                                                  double *value)
{
    TRY(tt_describe_option_number(given, name, value));
    return !tt_describe_option_value(given, name) || isfinite(*value)
               ? TUTTI_OK
               : tt_fail(TUTTI_ERR_ARGUMENT, "--%s must be finite", name);
}

static enum tutti_err comparison_report_read_options(struct tt_compare_options *options,
                                                     const struct tt_display_options *given)
{
    static const char *const names[] = {"rtol", "atol", "ttol", "start", "stop", "variable", "strict", NULL};
    static const size_t memory = (size_t)512 << 20;
    *options = (struct tt_compare_options){
        .rtol = 1e-3, .atol = NAN, .ttol = NAN, .start = NAN, .stop = NAN, .memory = memory};
    TRY(tt_describe_check_options(given, names));
    TRY(tt_describe_option_flag(given, "strict", &options->strict));
    TRY(read_tolerance(given, "rtol", &options->rtol));
    TRY(read_tolerance(given, "atol", &options->atol));
    TRY(read_tolerance(given, "ttol", &options->ttol));
    TRY(comparison_report_read_time(given, "start", &options->start));
    TRY(comparison_report_read_time(given, "stop", &options->stop));
    return options->start > options->stop ? tt_fail(TUTTI_ERR_ARGUMENT, "--stop is before --start") : TUTTI_OK;
}

/* ---- as JSON ---- */

static json_t *comparison_report_names_json(const char *const *names, size_t count)
{
    json_t *json = json_array();
    for (size_t i = 0; i < count; i++)
        tt_json_append(&json, tt_json_text(names[i]));
    return json;
}

static json_t *comparison_value_json(const char *text, double value)
{
    return text ? tt_json_text(text) : tt_json_number(value);
}

static json_t *variables_json(const struct tt_comparison *comparison)
{
    json_t *json = json_array();
    for (size_t i = 0; i < comparison->count; i++) {
        const struct tt_compared_variable *variable = &comparison->variables[i];
        const struct tt_distance *worst = &variable->worst;
        tt_json_append(&json, json_pack("{s:o, s:o, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "name",
                                        tt_json_text(variable->name), "unit",
                                        variable->unit ? tt_json_text(variable->unit) : json_null(), "agrees",
                                        variable->agrees, "held", variable->held, "error", tt_json_number(worst->error),
                                        "allowed", tt_json_number(worst->allowed), "share",
                                        tt_json_number(worst->share), "time", tt_json_number(worst->time), "result",
                                        comparison_value_json(variable->result_text, worst->result), "reference",
                                        comparison_value_json(variable->reference_text, worst->reference)));
    }
    return json;
}

static json_t *comparison_report_units_json(const struct tt_comparison *comparison)
{
    json_t *json = json_array();
    for (size_t i = 0; i < comparison->unit_count; i++) {
        const struct tt_unit_conflict *conflict = &comparison->units[i];
        tt_json_append(&json,
                       json_pack("{s:o, s:o, s:o}", "name", tt_json_text(conflict->name), "result",
                                 tt_json_text(conflict->result), "reference", tt_json_text(conflict->reference)));
    }
    return json;
}

static json_t *file_json(const struct tutti_result *result)
{
    return json_pack("{s:o, s:s, s:I, s:I, s:o, s:o}", "file", tt_json_text(result->path), "format",
                     result->format->name, "variables", (json_int_t)result->count, "rows", (json_int_t)result->rows,
                     "start", tt_json_number(result->times[0]), "stop",
                     tt_json_number(result->times[result->rows - 1]));
}

enum tutti_err tt_comparison_report_write_json(char **text, const struct tt_comparison_report *report)
{
    const struct tt_comparison *comparison = report->comparison;
    json_t *json = json_pack(
        "{s:b, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:b, s:I, s:I, s:o, s:o, s:o, s:o, s:o}", "agree",
        comparison->agree, "result", file_json(report->result), "reference", file_json(report->reference), "start",
        tt_json_number(comparison->start), "stop", tt_json_number(comparison->stop), "covered", comparison->covered,
        "rtol", tt_json_number(report->options->rtol), "atol", tt_json_number(report->options->atol), "ttol",
        tt_json_number(comparison->ttol), "strict", report->options->strict, "compared", (json_int_t)comparison->count,
        "disagreements", (json_int_t)comparison->disagreements, "variables", variables_json(comparison),
        "only_in_result", comparison_report_names_json(comparison->only_result, comparison->only_result_count),
        "only_in_reference", comparison_report_names_json(comparison->only_reference, comparison->only_reference_count),
        "texts", comparison_report_names_json(comparison->texts, comparison->text_count), "units",
        comparison_report_units_json(comparison));
    return tt_describe_write_json(json, JSON_INDENT(2) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(17), text);
}

/* ---- all of it ---- */

enum tutti_err tt_comparison_report_create(
    const char *result, const char *reference, const struct tt_display_options *given, const struct tutti_log *log,
    enum tutti_err (*report)(void *context, const struct tt_comparison_report *report), void *context)
{
    struct tt_compare_options options;
    struct tutti_result *results[2] = {NULL, NULL};
    TRY(comparison_report_read_options(&options, given));
    if (strcmp(result, "-") == 0 && strcmp(reference, "-") == 0)
        return tt_fail(TUTTI_ERR_ARGUMENT, "only one of the files can be standard input");
    const char **patterns = calloc(given->count + 1, sizeof *patterns);
    enum tutti_err err = patterns ? tutti_result_open(&results[0], result, log) : tt_fail_memory();
    if (!err)
        err = tutti_result_open(&results[1], reference, log);
    if (!err) {
        struct tt_comparison comparison;
        options.patterns = patterns;
        options.pattern_count = tt_describe_option_values(given, "variable", patterns);
        err = tt_compare(&comparison, results[0], results[1], &options);
        if (!err)
            err = report(context, &(struct tt_comparison_report){&comparison, results[0], results[1], &options});
        tt_compare_fini(&comparison);
    }
    tutti_result_free(results[0]);
    tutti_result_free(results[1]);
    free(patterns);
    return err;
}

static enum tutti_err comparison_report_to_json(void *context, const struct tt_comparison_report *report)
{
    return tt_comparison_report_write_json(context, report);
}

enum tutti_err tutti_tell_comparison(char **json, const char *result, const char *reference,
                                     const struct tutti_tell_option *options, size_t count, const struct tutti_log *log)
{
    return tt_comparison_report_create(result, reference, &(struct tt_display_options){options, count}, log,
                                       comparison_report_to_json, json);
}
