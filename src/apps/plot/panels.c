/* SPDX-License-Identifier: MIT */
#include "apps/plot/plot.h"
#include "apps/plot/panel_groups.h"

enum { MANY = 5 }; /* curves in a panel that colours alone do not keep apart */

/* Do all curves stay on a few whole numbers? */
static bool plot_panels_has_integer_values(const struct tt_plot_panel *panel, double low, double high)
{
    if (!(high - low <= 8) || low != floor(low) || high != floor(high))
        return false;
    for (size_t c = 0; c < panel->count; c++) {
        const struct tt_plot_line *line = &panel->curves[c].data->line;
        for (size_t i = 0; i < line->count; i++)
            if (!isnan(line->y[i]) && line->y[i] != floor(line->y[i]))
                return false;
    }
    return true;
}

static enum tutti_err plot_panels_fit_axes(struct tt_plot *plot, struct tt_plot_panel *panel,
                                           const struct tt_plot_labels *words)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < panel->count; i++)
        tt_plot_line_curve_extent(panel->curves[i].data, plot->start, plot->stop, &low, &high);
    panel->y.whole = plot_panels_has_integer_values(panel, low, high);
    tt_plot_axis_fit(&panel->y, low, high);
    panel->y.label = tt_plot_axis_label(plot, &panel->y, words->name, words->unit);
    return panel->y.label ? TUTTI_OK : tt_fail_memory();
}

static enum tutti_err plot_panels_add_difference(struct tt_plot *plot, const size_t *members, size_t count,
                                                 struct tt_plot_labels *words)
{
    struct tt_plot_panel *panel = tt_plot_add_panel(plot);
    if (!panel)
        return tt_fail_memory();
    for (size_t i = 0; i < count; i++) {
        const struct tt_plot_trace *trace = &plot->traces[members[i]];
        if (trace->difference)
            TRY(tt_plot_add_curve(panel, (struct tt_plot_curve){.label = words->labels[i],
                                                                .colour = (unsigned)i,
                                                                .marked = count >= MANY,
                                                                .data = trace->difference}));
    }
    if (panel->count == 0) {
        plot->panel_count--;
        return TUTTI_OK;
    }
    words->name = "difference"; /* its legend is that of the panel above */
    return plot_panels_fit_axes(plot, panel, words);
}

/* Leaves texts out, which a pattern may fit, too. */
static enum tutti_err drop_text_traces(const struct tt_plot *plot, struct tt_plot_group *group)
{
    size_t kept = 0;
    for (size_t i = 0; i < group->count; i++)
        if (!plot->traces[group->members[i]].text)
            group->members[kept++] = group->members[i];
    if (kept == 0)
        return tt_plot_traces_fail_text(&plot->traces[group->members[0]]);
    group->count = kept;
    return TUTTI_OK;
}

/* What the dashes mean, where a label of each curve says its variable. */
static enum tutti_err add_key_of_results(struct tt_plot *plot, struct tt_plot_panel *panel)
{
    const struct tt_plot_curve_data *nothing = tt_plot_new_data(plot);
    if (!nothing)
        return tt_fail_memory();
    for (unsigned r = 0; r < plot->result_count; r++)
        TRY(tt_plot_add_curve(panel, (struct tt_plot_curve){.label = plot->names[r],
                                                            .style = TUTTI_PLOT_KEY,
                                                            .colour = TUTTI_PLOT_GREY,
                                                            .result = r,
                                                            .data = nothing}));
    return TUTTI_OK;
}

/* The second result, which may cover the first, is drawn after it. */
static enum tutti_err plot_panels_add_curves(const struct tt_plot *plot, struct tt_plot_panel *panel,
                                             const struct tt_plot_labels *words, const size_t *members, size_t count)
{
    for (unsigned r = 0; r < plot->result_count; r++)
        for (size_t i = 0; i < count; i++) {
            const struct tt_plot_trace *trace = &plot->traces[members[i]];
            struct tt_plot_curve curve = {
                .colour = (unsigned)i, .result = r, .marked = count >= MANY, .data = trace->data[r]};
            if (!curve.data)
                continue;
            if (plot->result_count > 1 && count == 1)
                curve.label = plot->names[r];
            else if (r == 0 || !trace->data[0])
                curve.label = words->labels[i];
            TRY(tt_plot_add_curve(panel, curve));
        }
    return TUTTI_OK;
}

static enum tutti_err add_time_panel(struct tt_plot *plot, const size_t *members, size_t count)
{
    struct tt_plot_labels words;
    TRY(tt_plot_panels_find_labels(plot, &words, members, count));
    struct tt_plot_panel *panel = tt_plot_add_panel(plot);
    if (!panel)
        return tt_fail_memory();
    panel->y.log = plot->options->y_log;
    panel->legend = words.legend || plot->result_count > 1;
    TRY(plot_panels_add_curves(plot, panel, &words, members, count));
    TRY(plot_panels_fit_axes(plot, panel, &words));
    if (plot->result_count > 1 && count > 1)
        TRY(add_key_of_results(plot, panel));
    return plot->options->difference ? plot_panels_add_difference(plot, members, count, &words) : TUTTI_OK;
}

static void plot_panels_extent(const struct tt_plot_panel *panel, bool of_x, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t c = 0; c < panel->count; c++) {
        const struct tt_plot_line *line = &panel->curves[c].data->line;
        for (size_t i = 0; i < line->count; i++) {
            *low = fmin(*low, of_x ? line->x[i] : line->y[i]);
            *high = fmax(*high, of_x ? line->x[i] : line->y[i]);
        }
    }
}

/* A point where each of the first `count` curves begins; one, if that is the same. */
static enum tutti_err add_starts(struct tt_plot *plot, struct tt_plot_panel *panel, size_t count)
{
    const struct tt_plot_line *first = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct tt_plot_line *line = &panel->curves[i].data->line;
        if (line->count == 0 || (first && first->x[0] == line->x[0] && first->y[0] == line->y[0]))
            continue;
        struct tt_plot_curve_data *start = tt_plot_new_data(plot);
        if (!start)
            return tt_fail_memory();
        tt_plot_line_add(&start->line, line->x[0], line->y[0]);
        if (start->line.failed)
            return tt_fail_memory();
        TRY(tt_plot_add_curve(panel, (struct tt_plot_curve){.label = first ? NULL : "start",
                                                            .style = TUTTI_PLOT_START,
                                                            .result = panel->curves[i].result,
                                                            .data = start}));
        first = line;
    }
    return TUTTI_OK;
}

static enum tutti_err add_phase_panel(struct tt_plot *plot, const size_t members[2])
{
    struct tt_plot_panel *panel = tt_plot_add_panel(plot);
    if (!panel)
        return tt_fail_memory();
    panel->phase = true;
    panel->legend = true;
    for (unsigned r = 0; r < plot->result_count; r++) {
        struct tt_plot_curve curve = {.label = plot->result_count > 1 ? plot->names[r] : NULL, .result = r};
        TRY(tt_plot_traces_read_phase(plot, r, members, &curve.data));
        if (curve.data)
            TRY(tt_plot_add_curve(panel, curve));
    }
    TRY(add_starts(plot, panel, panel->count));
    double low, high;
    plot_panels_extent(panel, true, &low, &high);
    tt_plot_axis_fit(&panel->x, low, high);
    plot_panels_extent(panel, false, &low, &high);
    tt_plot_axis_fit(&panel->y, low, high);
    const struct tt_plot_trace *x = &plot->traces[members[0]], *y = &plot->traces[members[1]];
    panel->x.label = tt_plot_axis_label(plot, &panel->x, x->name, x->unit);
    panel->y.label = tt_plot_axis_label(plot, &panel->y, y->name, y->unit);
    return panel->x.label && panel->y.label ? TUTTI_OK : tt_fail_memory();
}

/* Of --xy, and of -v where the results are read for all panels at once. */
static enum tutti_err plot_panels_add_chosen(struct tt_plot *plot, size_t columns, struct tt_plot_group *groups)
{
    const struct tt_plot_options *options = plot->options;
    for (size_t i = 0; i < options->variable_count; i++) {
        groups[i].members = tt_arena_array(&plot->arena, plot->trace_count + 1, sizeof *groups[i].members);
        if (!groups[i].members)
            return tt_fail_memory();
        TRY(tt_plot_traces_find(plot, options->variables[i], groups[i].members, &groups[i].count));
        for (size_t m = 0; m < groups[i].count; m++)
            plot->traces[groups[i].members[m]].wanted = true;
    }
    size_t pair[2];
    for (size_t i = 0; i < options->phase_count; i++) /* before anything is read */
        TRY(tt_plot_traces_find_pair(plot, options->phases[i], pair));
    TRY(tt_plot_traces_read(plot, columns));
    for (size_t i = 0; i < options->variable_count; i++) {
        TRY(drop_text_traces(plot, &groups[i]));
        TRY(add_time_panel(plot, groups[i].members, groups[i].count));
    }
    for (size_t i = 0; i < options->phase_count; i++) {
        TRY(tt_plot_traces_find_pair(plot, options->phases[i], pair));
        TRY(add_phase_panel(plot, pair));
        plot->traces[pair[0]].wanted = plot->traces[pair[1]].wanted = true;
    }
    return TUTTI_OK;
}

static enum tutti_err plot_panels_add_default(struct tt_plot *plot, size_t columns)
{
    tt_plot_panels_mark_wanted(plot);
    TRY(tt_plot_traces_read(plot, columns));
    struct tt_plot_group groups[TUTTI_PLOT_MOST_PANELS];
    size_t count;
    TRY(tt_plot_panels_find_groups(plot, groups, &count));
    for (size_t i = 0; i < count; i++)
        TRY(add_time_panel(plot, groups[i].members, groups[i].count));
    return TUTTI_OK;
}

enum tutti_err tt_plot_panels_create(struct tt_plot *plot, size_t columns)
{
    const struct tt_plot_options *options = plot->options;
    if (options->variable_count + options->phase_count == 0)
        return plot_panels_add_default(plot, columns);
    struct tt_plot_group *groups = tt_arena_array(&plot->arena, options->variable_count + 1, sizeof *groups);
    return groups ? plot_panels_add_chosen(plot, columns, groups) : tt_fail_memory();
}
