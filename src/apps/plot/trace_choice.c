/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/suggestion.h"
#include "base/text.h"
#include "apps/plot/plot.h"

/* Units that say that there is none. */
static const char *trace_choice_unit(const struct tutti_result_variable *variable)
{
    const char *unit = variable->unit;
    return unit && unit[0] && strcmp(unit, "1") != 0 && strcmp(unit, "-") != 0 ? unit : NULL;
}

/* As it is shown. */
static enum tutti_err copy_trace_unit(struct tt_plot *plot, struct tt_plot_trace *trace,
                                      const struct tutti_result_variable *variable)
{
    const char *unit = trace_choice_unit(variable);
    if (trace->unit || !unit)
        return TUTTI_OK;
    trace->unit = plot->options->unicode ? tt_plot_axis_typeset_unit(plot, unit) : unit;
    return trace->unit ? TUTTI_OK : tt_fail_memory();
}

static void add_trace(struct tt_plot *plot, size_t result, size_t place)
{
    const struct tutti_result_variable *variable = &plot->results[result]->variables[place];
    struct tt_plot_trace *trace = &plot->traces[plot->trace_count++];
    *trace = (struct tt_plot_trace){.name = variable->name};
    for (size_t i = 0; i < plot->result_count; i++)
        trace->place[i] = i == result ? place : plot->results[i]->count;
}

/* The first result's in their order, then what only the second one has. */
enum tutti_err tt_plot_traces_list(struct tt_plot *plot)
{
    size_t most = 0;
    for (size_t i = 0; i < plot->result_count; i++)
        most += plot->results[i]->count;
    plot->traces = tt_arena_array(&plot->arena, most + 1, sizeof *plot->traces);
    struct tt_map names = {0};
    if (!plot->traces)
        return tt_fail_memory();
    enum tutti_err err = tt_map_reserve(&names, most);
    for (size_t i = 0; i < plot->result_count; i++)
        for (size_t v = 0; err == TUTTI_OK && v < plot->results[i]->count; v++) {
            const struct tutti_result_variable *variable = &plot->results[i]->variables[v];
            int64_t earlier = TUTTI_MAP_NONE;
            err = tt_map_add(&names, variable->name, (int64_t)plot->trace_count, &earlier);
            if (err == TUTTI_OK && earlier == TUTTI_MAP_NONE)
                add_trace(plot, i, v);
            if (err != TUTTI_OK)
                break;
            struct tt_plot_trace *trace =
                &plot->traces[earlier == TUTTI_MAP_NONE ? (int64_t)plot->trace_count - 1 : earlier];
            trace->place[i] = v;
            err = copy_trace_unit(plot, trace, variable);
        }
    tt_map_fini(&names);
    return err;
}

void tt_plot_traces_warn_of_units(const struct tt_plot *plot)
{
    const struct tutti_result *a = plot->results[0], *b = plot->results[1];
    const struct tt_plot_trace *first = NULL;
    size_t count = 0;
    if (plot->result_count < 2)
        return;
    for (size_t i = 0; i < plot->trace_count; i++) {
        const struct tt_plot_trace *trace = &plot->traces[i];
        if (!trace->wanted || trace->place[0] == a->count || trace->place[1] == b->count)
            continue;
        const char *unit = trace_choice_unit(&a->variables[trace->place[0]]),
                   *other = trace_choice_unit(&b->variables[trace->place[1]]);
        if (unit && other && strcmp(unit, other) != 0 && count++ == 0)
            first = trace;
    }
    if (a->time_unit && b->time_unit && strcmp(a->time_unit, b->time_unit) != 0)
        tt_log(plot->log, TUTTI_LOG_WARNING, NULL, "times are in %s in %s and in %s in %s: they are drawn as they are",
               a->time_unit, a->path, b->time_unit, b->path);
    if (!first)
        return;
    char more[64];
    snprintf(more, sizeof more, "; units of %zu more differ", count - 1);
    tt_log(plot->log, TUTTI_LOG_WARNING, NULL,
           "'%s' is in %s in %s and in %s in %s: the numbers are drawn as they are%s", first->name,
           a->variables[first->place[0]].unit, a->path, b->variables[first->place[1]].unit, b->path,
           count > 1 ? more : "");
}

enum tutti_err tt_plot_traces_for_each_pattern(struct tt_plot *plot, const char *list,
                                               enum tutti_err (*use)(struct tt_plot *, const char *, void *),
                                               void *context)
{
    for (const char *begin = list, *end = list;; end++) {
        int depth = 0;
        for (; *end && (*end != ',' || depth > 0); end++)
            depth += (*end == '[') - (*end == ']' && depth > 0);
        const char *part = tt_arena_copy_text(&plot->arena, begin, (size_t)(end - begin));
        if (!part)
            return tt_fail_memory();
        TRY(use(plot, part, context));
        if (!*end)
            return TUTTI_OK;
        begin = end + 1;
    }
}

static enum tutti_err matches_no_trace(const struct tt_plot *plot, const char *pattern)
{
    struct tt_text_nearest nearest = {.wanted = pattern};
    for (size_t i = 0; i < plot->trace_count; i++)
        tt_text_nearest_offer(&nearest, plot->traces[i].name);
    return nearest.best ? tt_fail(TUTTI_ERR_ARGUMENT, "no variable fits '%s'; did you mean '%s'?",
                                  tt_text_excerpt(pattern).text, tt_text_excerpt(nearest.best).text)
                        : tt_fail(TUTTI_ERR_ARGUMENT, "no variable fits '%s'", tt_text_excerpt(pattern).text);
}

struct trace_matches {
    size_t *members, count;
    size_t left_out; /* because there are too many */
};

static enum tutti_err add_matching_traces(struct tt_plot *plot, const char *pattern, void *context)
{
    struct trace_matches *found = context;
    bool some = false;
    for (size_t i = 0; i < plot->trace_count; i++) {
        if (!tt_text_glob(pattern, plot->traces[i].name))
            continue;
        some = true;
        bool there = false;
        for (size_t m = 0; m < found->count && !there; m++)
            there = found->members[m] == i;
        if (!there && found->count < TUTTI_PLOT_MOST_CURVES)
            found->members[found->count++] = i;
        else if (!there)
            found->left_out++;
    }
    return some ? TUTTI_OK : matches_no_trace(plot, pattern);
}

enum tutti_err tt_plot_traces_find(struct tt_plot *plot, const char *list, size_t *members, size_t *count)
{
    struct trace_matches found = {.members = members};
    TRY(tt_plot_traces_for_each_pattern(plot, list, add_matching_traces, &found));
    *count = found.count;
    if (found.left_out > 0)
        tt_log(plot->log, TUTTI_LOG_WARNING, NULL,
               "%zu variables fit '%s', and %d curves are the most in a panel: the others are left out",
               found.count + found.left_out, tt_text_excerpt(list).text, TUTTI_PLOT_MOST_CURVES);
    return TUTTI_OK;
}

static enum tutti_err add_trace_to_pair(struct tt_plot *plot, const char *pattern, void *context)
{
    struct trace_matches *pair = context;
    size_t fitting = 0;
    for (size_t i = 0; i < plot->trace_count; i++)
        if (tt_text_glob(pattern, plot->traces[i].name) && fitting++ == 0 && pair->count < 2)
            pair->members[pair->count] = i;
    if (fitting == 0)
        return matches_no_trace(plot, pattern);
    if (fitting > 1)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--xy: %zu variables fit '%s'; it has to be one", fitting,
                       tt_text_excerpt(pattern).text);
    pair->count++;
    return TUTTI_OK;
}

enum tutti_err tt_plot_traces_find_pair(struct tt_plot *plot, const char *text, size_t members[2])
{
    struct trace_matches pair = {.members = members};
    TRY(tt_plot_traces_for_each_pattern(plot, text, add_trace_to_pair, &pair));
    return pair.count == 2
               ? TUTTI_OK
               : tt_fail(TUTTI_ERR_ARGUMENT, "--xy takes two variables, X,Y, not '%s'", tt_text_excerpt(text).text);
}
