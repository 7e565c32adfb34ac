/* SPDX-License-Identifier: MIT */
#include "tell/comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tell/json.h"
#include "tell/told.h"

/* ---- options ---- */

/* A tolerance: a number that is not negative. */
static enum tutti_err read_tolerance(const struct tutti_given *given, const char *name, double *value)
{
    TRY(tutti_given_number(given, name, value));
    return !tutti_given_value(given, name) || (isfinite(*value) && *value >= 0)
               ? TUTTI_OK
               : tutti_fail(TUTTI_ERR_ARGUMENT, "--%s must not be negative", name);
}

static enum tutti_err read_time(const struct tutti_given *given, const char *name, double *value)
{
    TRY(tutti_given_number(given, name, value));
    return !tutti_given_value(given, name) || isfinite(*value)
               ? TUTTI_OK
               : tutti_fail(TUTTI_ERR_ARGUMENT, "--%s must be finite", name);
}

static enum tutti_err read_options(struct tutti_compare_options *options, const struct tutti_given *given)
{
    static const char *const names[] = {"rtol", "atol", "ttol", "start", "stop", "variable", "strict", NULL};
    static const size_t memory = (size_t)512 << 20;
    *options = (struct tutti_compare_options){
        .rtol = 1e-3, .atol = NAN, .ttol = NAN, .start = NAN, .stop = NAN, .memory = memory};
    TRY(tutti_given_check(given, names));
    TRY(tutti_given_flag(given, "strict", &options->strict));
    TRY(read_tolerance(given, "rtol", &options->rtol));
    TRY(read_tolerance(given, "atol", &options->atol));
    TRY(read_tolerance(given, "ttol", &options->ttol));
    TRY(read_time(given, "start", &options->start));
    TRY(read_time(given, "stop", &options->stop));
    return options->start > options->stop ? tutti_fail(TUTTI_ERR_ARGUMENT, "--stop is before --start") : TUTTI_OK;
}

/* ---- as JSON ---- */

static json_t *text_or_null(const char *text)
{
    return text ? tutti_text_json(text) : json_null();
}

static json_t *names_json(const char *const *names, size_t count)
{
    json_t *json = json_array();
    for (size_t i = 0; i < count; i++)
        tutti_json_append(&json, tutti_text_json(names[i]));
    return json;
}

static json_t *value_json(const char *text, double value)
{
    return text ? tutti_text_json(text) : tutti_number_json(value);
}

static json_t *variables_json(const struct tutti_comparison *comparison)
{
    json_t *json = json_array();
    for (size_t i = 0; i < comparison->count; i++) {
        const struct tutti_compared *variable = &comparison->variables[i];
        const struct tutti_distance *worst = &variable->worst;
        tutti_json_append(&json,
                          json_pack("{s:o, s:o, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "name",
                                    tutti_text_json(variable->name), "unit", text_or_null(variable->unit), "agrees",
                                    variable->agrees, "held", variable->held, "error", tutti_number_json(worst->error),
                                    "allowed", tutti_number_json(worst->allowed), "share",
                                    tutti_number_json(worst->share), "time", tutti_number_json(worst->time), "result",
                                    value_json(variable->result_text, worst->result), "reference",
                                    value_json(variable->reference_text, worst->reference)));
    }
    return json;
}

static json_t *units_json(const struct tutti_comparison *comparison)
{
    json_t *json = json_array();
    for (size_t i = 0; i < comparison->unit_count; i++) {
        const struct tutti_unit_conflict *conflict = &comparison->units[i];
        tutti_json_append(&json, json_pack("{s:o, s:o, s:o}", "name", tutti_text_json(conflict->name), "result",
                                           tutti_text_json(conflict->result), "reference",
                                           tutti_text_json(conflict->reference)));
    }
    return json;
}

static json_t *file_json(const struct tutti_result *result)
{
    return json_pack("{s:o, s:s, s:I, s:I, s:o, s:o}", "file", tutti_text_json(result->path), "format",
                     result->format->name, "variables", (json_int_t)result->count, "rows", (json_int_t)result->rows,
                     "start", tutti_number_json(result->times[0]), "stop",
                     tutti_number_json(result->times[result->rows - 1]));
}

enum tutti_err tutti_comparison_tell(char **text, const struct tutti_comparison_report *report)
{
    const struct tutti_comparison *comparison = report->comparison;
    json_t *json = json_pack("{s:b, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:b, s:I, s:I, s:o, s:o, s:o, s:o, s:o}",
                             "agree", comparison->agree, "result", file_json(report->result), "reference",
                             file_json(report->reference), "start", tutti_number_json(comparison->start), "stop",
                             tutti_number_json(comparison->stop), "covered", comparison->covered, "rtol",
                             tutti_number_json(report->options->rtol), "atol", tutti_number_json(report->options->atol),
                             "ttol", tutti_number_json(comparison->ttol), "strict", report->options->strict, "compared",
                             (json_int_t)comparison->count, "disagreements", (json_int_t)comparison->disagreements,
                             "variables", variables_json(comparison), "only_in_result",
                             names_json(comparison->only_result, comparison->only_result_count), "only_in_reference",
                             names_json(comparison->only_reference, comparison->only_reference_count), "texts",
                             names_json(comparison->texts, comparison->text_count), "units", units_json(comparison));
    return tutti_told_json(json, JSON_INDENT(2) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(17), text);
}

/* ---- all of it ---- */

enum tutti_err tutti_comparison_make(
    const char *result, const char *reference, const struct tutti_given *given, const struct tutti_log *log,
    enum tutti_err (*report)(void *context, const struct tutti_comparison_report *report), void *context)
{
    struct tutti_compare_options options;
    struct tutti_result *results[2] = {NULL, NULL};
    TRY(read_options(&options, given));
    if (strcmp(result, "-") == 0 && strcmp(reference, "-") == 0)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "only one of the files can be standard input");
    const char **patterns = calloc(given->count + 1, sizeof *patterns);
    enum tutti_err err = patterns ? tutti_result_open(&results[0], result, log) : tutti_fail_memory();
    if (!err)
        err = tutti_result_open(&results[1], reference, log);
    if (!err) {
        struct tutti_comparison comparison;
        options.patterns = patterns;
        options.pattern_count = tutti_given_values(given, "variable", patterns);
        err = tutti_compare(&comparison, results[0], results[1], &options);
        if (!err)
            err = report(context, &(struct tutti_comparison_report){&comparison, results[0], results[1], &options});
        tutti_comparison_fini(&comparison);
    }
    tutti_result_free(results[0]);
    tutti_result_free(results[1]);
    free(patterns);
    return err;
}

static enum tutti_err take(void *context, const struct tutti_comparison_report *report)
{
    return tutti_comparison_tell(context, report);
}

enum tutti_err tutti_tell_comparison(char **json, const char *result, const char *reference,
                                     const struct tutti_tell_option *options, size_t count, const struct tutti_log *log)
{
    return tutti_comparison_make(result, reference, &(struct tutti_given){options, count}, log, take, json);
}
