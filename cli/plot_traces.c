/* SPDX-License-Identifier: MIT */
/* Values are read in portions, and become curves at once: however large a result is, only what a picture shows is kept. */
#include <stdlib.h>

#include "base/str.h"
#include "plot.h"

enum { PORTION = 256 << 20 }; /* bytes of values at a time, if one variable is not more than that */

struct plot_curve_data *plot_new_data(struct plot *plot)
{
    struct plot_curve_data *data = calloc(1, sizeof *data);
    if (data) {
        data->next = plot->data;
        plot->data = data;
    }
    return data;
}

enum tutti_err plot_fail_text(const struct plot_trace *trace)
{
    return tutti_fail(TUTTI_ERR_ARGUMENT, "'%s' is a text, which cannot be drawn", tutti_str_show(trace->name).text);
}

/* Values of some traces in each result; NULL where a trace is not there. */
struct portion {
    size_t *traces;
    size_t count;
    double **values[PLOT_RESULTS];
};

static void portion_fini(struct portion *portion)
{
    for (size_t r = 0; r < PLOT_RESULTS; r++) {
        for (size_t i = 0; portion->values[r] && i < portion->count; i++)
            free(portion->values[r][i]);
        free(portion->values[r]);
    }
}

struct wanted {
    size_t place, index;
};

static int compare_places(const void *a, const void *b)
{
    const struct wanted *left = a, *right = b;
    return (left->place > right->place) - (left->place < right->place);
}

/* The format wants places in ascending order, each once. */
static enum tutti_err read_sorted(struct tutti_result *result, const struct wanted *wanted, size_t count,
                                  double **values)
{
    size_t *places = calloc(count + 1, sizeof *places);
    double **ordered = calloc(count + 1, sizeof *ordered);
    enum tutti_err err = places && ordered ? TUTTI_OK : tutti_fail_memory();
    for (size_t i = 0; err == TUTTI_OK && i < count; i++) {
        places[i] = wanted[i].place;
        ordered[i] = values[wanted[i].index] = malloc((result->rows + 1) * sizeof **values);
        if (!ordered[i])
            err = tutti_fail_memory();
    }
    if (err == TUTTI_OK && count > 0)
        err = tutti_result_read(result, places, count, ordered);
    free(ordered);
    free(places);
    return err;
}

/* What kind of variable it is, a format may know only by its values. */
static void look_at_kinds(const struct portion *portion, struct plot *plot)
{
    for (size_t i = 0; i < portion->count; i++) {
        struct plot_trace *trace = &plot->traces[portion->traces[i]];
        trace->held = true;
        trace->text = false;
        for (size_t r = 0; r < plot->result_count; r++)
            if (trace->place[r] < plot->results[r]->count) {
                const struct tutti_result_variable *variable = &plot->results[r]->variables[trace->place[r]];
                trace->held = trace->held && variable->held;
                trace->text = trace->text || !variable->numeric;
            }
    }
}

static enum tutti_err portion_read(struct portion *portion, struct plot *plot)
{
    struct wanted *wanted = calloc(portion->count + 1, sizeof *wanted);
    enum tutti_err err = wanted ? TUTTI_OK : tutti_fail_memory();
    for (size_t r = 0; err == TUTTI_OK && r < plot->result_count; r++) {
        size_t count = 0;
        for (size_t i = 0; i < portion->count; i++) {
            size_t place = plot->traces[portion->traces[i]].place[r];
            if (place < plot->results[r]->count)
                wanted[count++] = (struct wanted){.place = place, .index = i};
        }
        qsort(wanted, count, sizeof *wanted, compare_places);
        portion->values[r] = calloc(portion->count + 1, sizeof *portion->values[r]);
        err = portion->values[r] ? read_sorted(plot->results[r], wanted, count, portion->values[r])
                                 : tutti_fail_memory();
    }
    free(wanted);
    if (err == TUTTI_OK)
        look_at_kinds(portion, plot);
    return err;
}

static enum tutti_err make_curve(struct plot *plot, const struct plot_curve_data **out,
                                 const struct plot_values *values, size_t columns)
{
    struct plot_curve_data *data = plot_new_data(plot);
    if (!data)
        return tutti_fail_memory();
    plot_thin(data, values, plot->start, plot->stop, columns);
    *out = data;
    return plot_curve_failed(data) ? tutti_fail_memory() : TUTTI_OK;
}

static void without_what_log_cannot_show(double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(values[i] > 1e-300)) /* gnuplot has its limits, too */
            values[i] = NAN;
}

static enum tutti_err make_curves(struct plot *plot, const struct portion *portion, size_t index, size_t columns)
{
    struct plot_trace *trace = &plot->traces[portion->traces[index]];
    struct plot_values values[PLOT_RESULTS];
    bool all = plot->result_count == PLOT_RESULTS;
    for (size_t r = 0; r < plot->result_count; r++) {
        values[r] = (struct plot_values){.t = plot->results[r]->times,
                                         .v = portion->values[r][index],
                                         .count = plot->results[r]->rows,
                                         .held = trace->held};
        all = all && values[r].v;
    }
    if (all && plot->options->difference) {
        double *t = NULL, *v = NULL;
        size_t count = 0;
        enum tutti_err err = plot_difference(&values[0], &values[1], &t, &v, &count) ? TUTTI_OK : tutti_fail_memory();
        struct plot_values difference = {.t = t, .v = v, .count = count, .held = trace->held};
        if (err == TUTTI_OK)
            err = make_curve(plot, &trace->difference, &difference, columns);
        free(t);
        free(v);
        TRY(err);
    }
    for (size_t r = 0; r < plot->result_count; r++) {
        if (!values[r].v)
            continue;
        if (plot->options->y_log)
            without_what_log_cannot_show(portion->values[r][index], values[r].count);
        TRY(make_curve(plot, &trace->data[r], &values[r], columns));
    }
    return TUTTI_OK;
}

enum tutti_err plot_read_traces(struct plot *plot, size_t columns)
{
    size_t rows = 1, most;
    for (size_t r = 0; r < plot->result_count; r++)
        rows += plot->results[r]->rows;
    most = PORTION / (rows * sizeof(double));
    most = most > 0 ? most : 1;
    size_t *places = calloc(plot->trace_count + 1, sizeof *places);
    if (!places)
        return tutti_fail_memory();
    enum tutti_err err = TUTTI_OK;
    for (size_t next = 0; err == TUTTI_OK && next < plot->trace_count;) {
        struct portion portion = {.traces = places};
        for (; next < plot->trace_count && portion.count < most; next++)
            if (plot->traces[next].wanted)
                places[portion.count++] = next;
        err = portion_read(&portion, plot);
        for (size_t i = 0; err == TUTTI_OK && i < portion.count; i++)
            err = plot->traces[places[i]].text ? TUTTI_OK : make_curves(plot, &portion, i, columns);
        portion_fini(&portion);
    }
    free(places);
    return err;
}

enum tutti_err plot_read_phase(struct plot *plot, size_t r, const size_t members[2], const struct plot_curve_data **out)
{
    struct tutti_result *result = plot->results[r];
    size_t traces[2] = {members[0], members[1]}, count = members[0] == members[1] ? 1 : 2;
    struct portion portion = {.traces = traces, .count = count};
    enum tutti_err err = portion_read(&portion, plot);
    for (size_t i = 0; err == TUTTI_OK && i < count; i++)
        if (plot->traces[members[i]].text)
            err = plot_fail_text(&plot->traces[members[i]]);
    const double *x = err == TUTTI_OK ? portion.values[r][0] : NULL;
    const double *y = err == TUTTI_OK ? portion.values[r][count - 1] : NULL;
    *out = NULL;
    if (err == TUTTI_OK && x && y) {
        size_t begin = 0, end = result->rows;
        while (begin < end && result->times[begin] < plot->start)
            begin++;
        while (end > begin && result->times[end - 1] > plot->stop)
            end--;
        struct plot_curve_data *data = plot_new_data(plot);
        if (data)
            plot_thin_phase(data, result->times + begin, x + begin, y + begin, end - begin);
        *out = data;
        err = data && !plot_curve_failed(data) ? TUTTI_OK : tutti_fail_memory();
    }
    portion_fini(&portion);
    return err;
}
