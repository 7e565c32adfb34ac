/* SPDX-License-Identifier: MIT */
/* Values are read in portions, and become curves at once: however large a result is, only what a picture shows is kept. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "apps/plot/plot.h"
#include "base/map.h"
#include "base/text.h"

enum { PORTION = 512 << 20 }; /* bytes of values at a time, if one variable is not more than that */

enum tutti_err tt_plot_traces_fail_text(const struct tt_plot_trace *trace)
{
    return tt_fail(TUTTI_ERR_ARGUMENT, "'%s' is a text, which cannot be drawn", tt_text_excerpt(trace->name).text);
}

/* Values of some traces in one of the results; NULL where a trace is not there. */
struct trace_portion {
    const size_t *traces;
    size_t count;
    double **values;
};

static void portion_fini(struct trace_portion *portion)
{
    for (size_t i = 0; portion->values && i < portion->count; i++)
        free(portion->values[i]);
    free(portion->values);
}

struct wanted_columns {
    size_t place, index;
};

static int plot_traces_compare_columns(const void *a, const void *b)
{
    const struct wanted_columns *left = a, *right = b;
    return (left->place > right->place) - (left->place < right->place);
}

/* The format requires ascending indices. */
static enum tutti_err read_sorted(struct tutti_result *result, const struct wanted_columns *wanted, size_t count,
                                  double **values)
{
    enum tutti_err err = TUTTI_OK;
    size_t *places = calloc(count + 1, sizeof *places);
    double **ordered = calloc(count + 1, sizeof *ordered);
    if (!places || !ordered) {
        free(ordered);
        free(places);
        return tt_fail_memory();
    }
    for (size_t i = 0; i < count && err == TUTTI_OK; i++) {
        places[i] = wanted[i].place;
        ordered[i] = values[wanted[i].index] = malloc((result->rows + 1) * sizeof **values);
        if (!ordered[i])
            err = tt_fail_memory();
    }
    if (err == TUTTI_OK && count > 0)
        err = tutti_result_read(result, places, count, ordered);
    free(ordered);
    free(places);
    return err;
}

/* Some formats determine the kind of a variable only from its values. */
static void detect_variable_kinds(const struct trace_portion *portion, const struct tt_plot *plot, size_t r)
{
    for (size_t i = 0; i < portion->count; i++) {
        struct tt_plot_trace *trace = &plot->traces[portion->traces[i]];
        if (!portion->values[i])
            continue;
        const struct tutti_result_variable *variable = &plot->results[r]->variables[trace->place[r]];
        trace->moves = trace->moves || !variable->held;
        trace->text = trace->text || !variable->numeric;
    }
}

/* portion_fini follows in any case. */
static enum tutti_err portion_read(struct trace_portion *portion, const struct tt_plot *plot, size_t r)
{
    struct wanted_columns *wanted = calloc(portion->count + 1, sizeof *wanted);
    portion->values = calloc(portion->count + 1, sizeof *portion->values);
    if (!wanted || !portion->values) {
        free(wanted);
        return tt_fail_memory();
    }
    size_t count = 0;
    for (size_t i = 0; i < portion->count; i++) {
        size_t place = plot->traces[portion->traces[i]].place[r];
        if (place < plot->results[r]->count)
            wanted[count++] = (struct wanted_columns){.place = place, .index = i};
    }
    qsort(wanted, count, sizeof *wanted, plot_traces_compare_columns);
    enum tutti_err err = read_sorted(plot->results[r], wanted, count, portion->values);
    free(wanted);
    if (err == TUTTI_OK)
        detect_variable_kinds(portion, plot, r);
    return err;
}

static enum tutti_err create_curve(struct tt_plot *plot, const struct tt_plot_curve_data **out,
                                   const struct tt_plot_values *values, size_t columns)
{
    struct tt_plot_curve_data *data = tt_plot_new_data(plot);
    if (!data)
        return tt_fail_memory();
    tt_plot_line_thin(data, values, plot->start, plot->stop, columns);
    *out = data;
    return tt_plot_line_curve_failed(data) ? tt_fail_memory() : TUTTI_OK;
}

static enum tutti_err create_difference_curve(struct tt_plot *plot, struct tt_plot_trace *trace,
                                              const struct tt_plot_values values[2], size_t columns)
{
    double *t = NULL, *v = NULL;
    size_t count = 0;
    enum tutti_err err = tt_plot_line_difference(&values[0], &values[1], &t, &v, &count) ? TUTTI_OK : tt_fail_memory();
    struct tt_plot_values difference = {.t = t, .v = v, .count = count, .held = !trace->moves};
    if (err == TUTTI_OK)
        err = create_curve(plot, &trace->difference, &difference, columns);
    free(t);
    free(v);
    return err;
}

static enum tutti_err create_curves(struct tt_plot *plot, struct tt_plot_trace *trace,
                                    double *const rows[TUTTI_PLOT_RESULTS], size_t columns)
{
    struct tt_plot_values values[TUTTI_PLOT_RESULTS] = {{0}};
    for (size_t r = 0; r < TUTTI_PLOT_RESULTS; r++)
        if (rows[r])
            values[r] = (struct tt_plot_values){
                .t = plot->results[r]->times, .v = rows[r], .count = plot->results[r]->rows, .held = !trace->moves};
    if (rows[0] && rows[1] && plot->options->difference)
        TRY(create_difference_curve(plot, trace, values, columns));
    for (size_t r = 0; r < TUTTI_PLOT_RESULTS; r++) {
        if (!rows[r])
            continue;
        for (size_t i = 0; plot->options->y_log && i < values[r].count; i++)
            if (!(rows[r][i] >= DBL_MIN)) /* gnuplot draws no smaller numbers */
                rows[r][i] = NAN;
        TRY(create_curve(plot, &trace->data[r], &values[r], columns));
    }
    return TUTTI_OK;
}

/* Reads these traces of all results and makes their curves. */
static enum tutti_err plot_traces_read_some(struct tt_plot *plot, const size_t *traces, size_t count, size_t columns)
{
    struct trace_portion portions[TUTTI_PLOT_RESULTS];
    enum tutti_err err = TUTTI_OK;
    for (size_t r = 0; r < TUTTI_PLOT_RESULTS; r++) {
        portions[r] = (struct trace_portion){.traces = traces, .count = count};
        if (err == TUTTI_OK && r < plot->result_count)
            err = portion_read(&portions[r], plot, r);
    }
    for (size_t i = 0; err == TUTTI_OK && i < count; i++) {
        double *rows[TUTTI_PLOT_RESULTS];
        for (size_t r = 0; r < TUTTI_PLOT_RESULTS; r++)
            rows[r] = portions[r].values ? portions[r].values[i] : NULL;
        if (!plot->traces[traces[i]].text)
            err = create_curves(plot, &plot->traces[traces[i]], rows, columns);
    }
    for (size_t r = 0; r < TUTTI_PLOT_RESULTS; r++)
        portion_fini(&portions[r]);
    return err;
}

enum tutti_err tt_plot_traces_read(struct tt_plot *plot, size_t columns)
{
    size_t rows = 1, most;
    for (size_t r = 0; r < plot->result_count; r++)
        rows += plot->results[r]->rows;
    most = PORTION / (rows * sizeof(double));
    most = most > 0 ? most : 1;
    size_t *traces = calloc(plot->trace_count + 1, sizeof *traces);
    if (!traces)
        return tt_fail_memory();
    enum tutti_err err = TUTTI_OK;
    for (size_t next = 0; err == TUTTI_OK && next < plot->trace_count;) {
        size_t count = 0;
        for (; next < plot->trace_count && count < most; next++)
            if (plot->traces[next].wanted)
                traces[count++] = next;
        err = plot_traces_read_some(plot, traces, count, columns);
    }
    free(traces);
    return err;
}

/* The rows in the time that is shown. */
static enum tutti_err create_phase_curve(struct tt_plot *plot, const struct tutti_result *result, const double *x,
                                         const double *y, const struct tt_plot_curve_data **out)
{
    size_t begin = 0, end = result->rows;
    while (begin < end && result->times[begin] < plot->start)
        begin++;
    while (end > begin && result->times[end - 1] > plot->stop)
        end--;
    struct tt_plot_curve_data *data = tt_plot_new_data(plot);
    if (!data)
        return tt_fail_memory();
    tt_plot_line_thin_phase(data, result->times + begin, x + begin, y + begin, end - begin);
    *out = data;
    return tt_plot_line_curve_failed(data) ? tt_fail_memory() : TUTTI_OK;
}

enum tutti_err tt_plot_traces_read_phase(struct tt_plot *plot, size_t r, const size_t members[2],
                                         const struct tt_plot_curve_data **out)
{
    size_t count = members[0] == members[1] ? 1 : 2;
    struct trace_portion portion = {.traces = members, .count = count};
    *out = NULL;
    enum tutti_err err = portion_read(&portion, plot, r);
    for (size_t i = 0; err == TUTTI_OK && i < count; i++)
        if (plot->traces[members[i]].text)
            err = tt_plot_traces_fail_text(&plot->traces[members[i]]);
    if (err == TUTTI_OK && portion.values[0] && portion.values[count - 1])
        err = create_phase_curve(plot, plot->results[r], portion.values[0], portion.values[count - 1], out);
    portion_fini(&portion);
    return err;
}

/* Units that mean "none". */
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
            if (err != TUTTI_OK)
                break;
            if (earlier == TUTTI_MAP_NONE) {
                struct tt_plot_trace *added = &plot->traces[plot->trace_count++];
                *added = (struct tt_plot_trace){.name = variable->name};
                for (size_t k = 0; k < plot->result_count; k++)
                    added->place[k] = plot->results[k]->count;
            }
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
    size_t left_out; /* number of traces omitted because there are too many */
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
