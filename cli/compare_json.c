/* SPDX-License-Identifier: MIT */
#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "compare.h"
#include "text_json.h"

/* JSON has no NaN and no infinity: they become null. */
static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *text_or_null(const char *text)
{
    return text ? text_json(text) : json_null();
}

static json_t *names_json(const char *const *names, size_t count)
{
    json_t *json = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(json, text_json(names[i]));
    return json;
}

static json_t *variables_json(const struct tutti_comparison *comparison)
{
    json_t *json = json_array();
    for (size_t i = 0; i < comparison->count; i++) {
        const struct tutti_compared *variable = &comparison->variables[i];
        const struct tutti_distance *worst = &variable->worst;
        json_array_append_new(json, json_pack("{s:o, s:o, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "name",
                                              text_json(variable->name), "unit", text_or_null(variable->unit), "agrees",
                                              variable->agrees, "held", variable->held, "error", number(worst->error),
                                              "allowed", number(worst->allowed), "share", number(worst->share), "time",
                                              number(worst->time), "result", number(worst->result), "reference",
                                              number(worst->reference)));
    }
    return json;
}

static json_t *units_json(const struct tutti_comparison *comparison)
{
    json_t *json = json_array();
    for (size_t i = 0; i < comparison->unit_count; i++) {
        const struct tutti_unit_conflict *conflict = &comparison->units[i];
        json_array_append_new(json,
                              json_pack("{s:o, s:o, s:o}", "name", text_json(conflict->name), "result",
                                        text_json(conflict->result), "reference", text_json(conflict->reference)));
    }
    return json;
}

static json_t *file_json(const struct tutti_result *result)
{
    return json_pack("{s:o, s:s, s:I, s:I, s:o, s:o}", "file", text_json(result->path), "format", result->format->name,
                     "variables", (json_int_t)result->count, "rows", (json_int_t)result->rows, "start",
                     number(result->times[0]), "stop", number(result->times[result->rows - 1]));
}

bool compare_print_json(const struct compare_report *report)
{
    const struct tutti_comparison *comparison = report->comparison;
    json_t *json = json_pack(
        "{s:b, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:b, s:I, s:I, s:o, s:o, s:o, s:o, s:o}", "agree",
        comparison->agree, "result", file_json(report->result), "reference", file_json(report->reference), "start",
        number(comparison->start), "stop", number(comparison->stop), "covered", comparison->covered, "rtol",
        number(report->options->rtol), "atol", number(report->options->atol), "ttol", number(comparison->ttol),
        "strict", report->options->strict, "compared", (json_int_t)comparison->count, "disagreements",
        (json_int_t)comparison->disagreements, "variables", variables_json(comparison), "only_in_result",
        names_json(comparison->only_result, comparison->only_result_count), "only_in_reference",
        names_json(comparison->only_reference, comparison->only_reference_count), "texts",
        names_json(comparison->texts, comparison->text_count), "units", units_json(comparison));
    if (!json)
        return false;
    json_dumpf(json, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(17));
    putchar('\n');
    json_decref(json);
    return true;
}
