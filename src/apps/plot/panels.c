/* SPDX-License-Identifier: MIT */
#include "apps/plot/panels.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "apps/plot/plot.h"
#include "base/text.h"

enum { MANY = 5 }; /* curves in a panel that colours alone do not keep apart */

/* Returns true if all curves have only a few whole numbers as values. */
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

/* Explains the dashes, if each curve's label names its variable. */
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

enum {
    MOST_CANDIDATES = 256, /* traces that are read to find panels */
    MOST_CURVES = 8,       /* in a panel */
    FEW = 4,               /* variables of one FMU that get a panel each */
};
static const double ALIKE = 10; /* values of unknown unit share a panel if their sizes differ by less */

/* All traces for one panel, constant ones last. */
struct panel_candidates {
    size_t members[MOST_CANDIDATES];
    size_t count, moving;
    double size; /* the greatest of their values; 0: all are zero */
};

static bool is_in_all_results(const struct tt_plot *plot, const struct tt_plot_trace *trace)
{
    for (size_t r = 0; r < plot->result_count; r++)
        if (trace->place[r] >= plot->results[r]->count)
            return false;
    return true;
}

void tt_plot_panels_mark_wanted(struct tt_plot *plot)
{
    bool some = false;
    for (size_t i = 0; i < plot->trace_count && !some; i++)
        some = is_in_all_results(plot, &plot->traces[i]);
    size_t count = 0;
    for (size_t i = 0; i < plot->trace_count && count < MOST_CANDIDATES; i++)
        if (!some || is_in_all_results(plot, &plot->traces[i])) {
            plot->traces[i].wanted = true;
            count++;
        }
}

/* Properties that variables of a panel share besides their unit of measure: component, variable name, or nothing. */
enum panel_grouping { BY_OWNER, BY_NAME, BY_NOTHING, GROUPINGS };

/* The part of a name that variables of one panel share. */
static const char *panel_groups_shared_part(const char *name, enum panel_grouping grouping, size_t *length)
{
    const char *dot = strrchr(name, '.'), *own = dot ? dot + 1 : name;
    *length = grouping == BY_OWNER && dot ? (size_t)(dot - name) : grouping == BY_NAME ? strlen(own) : 0;
    return grouping == BY_NAME ? own : name;
}

static bool panel_groups_same_part(const char *a, const char *b, enum panel_grouping grouping)
{
    size_t length, other_length;
    const char *part = panel_groups_shared_part(a, grouping, &length),
               *other = panel_groups_shared_part(b, grouping, &other_length);
    return length == other_length && memcmp(part, other, length) == 0;
}

static void panel_groups_extent(const struct tt_plot *plot, const struct tt_plot_trace *trace, double *low,
                                double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t r = 0; r < plot->result_count; r++)
        if (trace->data[r])
            tt_plot_line_curve_extent(trace->data[r], plot->start, plot->stop, low, high);
}

/* The size of all that have this name in any unit: what is apart in one of them is apart in all. */
static double largest_size_of_name(const struct tt_plot *plot, const struct tt_plot_trace *trace)
{
    double size = 0;
    for (size_t i = 0; i < plot->trace_count; i++) {
        if (!plot->traces[i].wanted || !panel_groups_same_part(plot->traces[i].name, trace->name, BY_NAME))
            continue;
        double low, high;
        panel_groups_extent(plot, &plot->traces[i], &low, &high);
        if (low <= high)
            size = fmax(size, fmax(fabs(low), fabs(high)));
    }
    return size;
}

static bool panel_groups_accept(const struct tt_plot *plot, const struct panel_candidates *group,
                                const struct tt_plot_trace *trace, double size, enum panel_grouping grouping)
{
    const struct tt_plot_trace *first = &plot->traces[group->members[0]];
    if (!panel_groups_same_part(trace->name, first->name, grouping))
        return false;
    if (trace->unit && first->unit)
        return strcmp(trace->unit, first->unit) == 0;
    if (trace->unit || first->unit || trace->moves != first->moves)
        return false;
    return size == 0 || group->size == 0 || (size < ALIKE * group->size && group->size < ALIKE * size);
}

static void sort_moving_first(const struct tt_plot *plot, struct panel_candidates *group)
{
    size_t still[MOST_CANDIDATES], still_count = 0;
    for (size_t i = 0; i < group->count; i++) {
        size_t member = group->members[i];
        double low, high;
        panel_groups_extent(plot, &plot->traces[member], &low, &high);
        if (low < high)
            group->members[group->moving++] = member;
        else
            still[still_count++] = member;
    }
    memcpy(group->members + group->moving, still, still_count * sizeof *still);
}

/* Puts every wanted trace into a group; returns how many groups there are. */
static size_t group_traces(const struct tt_plot *plot, struct panel_candidates *groups, enum panel_grouping grouping,
                           bool each)
{
    size_t count = 0;
    for (size_t i = 0; i < plot->trace_count; i++) {
        const struct tt_plot_trace *trace = &plot->traces[i];
        if (!trace->wanted || trace->text)
            continue;
        double size = largest_size_of_name(plot, trace);
        size_t g = 0;
        while (g < count && ((each && !trace->unit) || !panel_groups_accept(plot, &groups[g], trace, size, grouping)))
            g++;
        count += g == count;
        groups[g].members[groups[g].count++] = i;
        groups[g].size = fmax(groups[g].size, size);
    }
    for (size_t g = 0; g < count; g++)
        sort_moving_first(plot, &groups[g]);
    return count;
}

/* Of an array with many elements, some that are spread over those that move. */
static enum tutti_err panel_groups_fill(struct tt_plot *plot, struct tt_plot_group *group,
                                        const struct panel_candidates *from)
{
    size_t spread = from->moving > MOST_CURVES ? from->moving : from->moving > 0 ? MOST_CURVES : from->count;
    group->count = from->count < MOST_CURVES ? from->count : MOST_CURVES;
    group->members = tt_arena_array(&plot->arena, group->count, sizeof *group->members);
    if (!group->members)
        return tt_fail_memory();
    for (size_t i = 0; i < group->count; i++)
        group->members[i] = from->members[group->count == from->count ? i : i * (spread - 1) / (MOST_CURVES - 1)];
    return TUTTI_OK;
}

/* Panels in which something moves come before those in which nothing does. */
static enum tutti_err fill_moving_first(struct tt_plot *plot, struct tt_plot_group *groups, size_t room,
                                        const struct panel_candidates *from, size_t count)
{
    size_t taken = 0;
    for (int still = 0; still <= 1; still++)
        for (size_t i = 0; i < count && taken < room; i++)
            if ((from[i].moving == 0) == (still == 1))
                TRY(panel_groups_fill(plot, &groups[taken++], &from[i]));
    return TUTTI_OK;
}

enum tutti_err tt_plot_panels_find_groups(struct tt_plot *plot, struct tt_plot_group groups[TUTTI_PLOT_MOST_PANELS],
                                          size_t *count)
{
    struct panel_candidates *all = calloc(GROUPINGS * MOST_CANDIDATES, sizeof *all);
    if (!all)
        return tt_fail_memory();
    bool single = true;
    size_t total = 0, shown = 0;
    for (size_t i = 0; i < plot->trace_count; i++) {
        single = single && !strchr(plot->traces[i].name, '.');
        total += !plot->traces[i].text;
    }
    size_t found = group_traces(plot, all, BY_OWNER, single && total <= FEW);
    const struct panel_candidates *chosen = all;
    for (int next = BY_NAME; next < GROUPINGS && found > TUTTI_PLOT_MOST_PANELS && !single; next++) {
        struct panel_candidates *others = all + next * MOST_CANDIDATES;
        size_t count_of_others = group_traces(plot, others, (enum panel_grouping)next, false);
        chosen = count_of_others < found ? others : chosen;
        found = count_of_others < found ? count_of_others : found;
    }
    *count = found < TUTTI_PLOT_MOST_PANELS ? found : TUTTI_PLOT_MOST_PANELS;
    enum tutti_err err =
        found > 0 ? fill_moving_first(plot, groups, *count, chosen, found)
                  : tt_fail(TUTTI_ERR_FORMAT, "%s: the result has no numbers to draw", plot->results[0]->path);
    for (size_t i = 0; i < *count && err == TUTTI_OK; i++)
        shown += groups[i].count;
    free(all);
    if (err == TUTTI_OK && shown < total)
        tt_log(plot->log, TUTTI_LOG_INFO, NULL,
               "%zu of %zu variables are shown; choose others with -v PATTERN, a panel for each", shown, total);
    return err;
}

enum { LONGEST_LIST = 30 }; /* bytes of the names of all curves above a panel, which are in its legend, too */

/* How many bytes all names have in common at their beginning, up to a dot and with it. */
static size_t common_prefix_length(const struct tt_plot *plot, const size_t *members, size_t count)
{
    const char *first = plot->traces[members[0]].name;
    size_t common = strlen(first);
    for (size_t i = 1; i < count; i++) {
        const char *name = plot->traces[members[i]].name;
        size_t same = 0;
        while (same < common && name[same] == first[same])
            same++;
        common = same;
    }
    while (common > 0 && first[common - 1] != '.')
        common--;
    return common;
}

/* The same at their end: the last part, if all have the same, and the dot before it. */
static size_t common_suffix_length(const struct tt_plot *plot, const size_t *members, size_t count)
{
    const char *end = strrchr(plot->traces[members[0]].name, '.');
    for (size_t i = 1; end && i < count; i++) {
        const char *other = strrchr(plot->traces[members[i]].name, '.');
        if (!other || strcmp(other, end) != 0)
            end = NULL;
    }
    return end ? strlen(end) : 0;
}

/* Something is to be left of every name between what all have in common. */
static void shorten_common_parts(const struct tt_plot *plot, const size_t *members, size_t count, size_t *beginning,
                                 size_t *end)
{
    size_t shortest = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(plot->traces[members[i]].name);
        shortest = length < shortest ? length : shortest;
    }
    if (*beginning + *end >= shortest)
        *end = 0;
    if (*beginning >= shortest)
        *beginning = 0;
}

static const char *join_labels(struct tt_plot *plot, const char *const *labels, size_t count)
{
    struct tt_text text = {0};
    for (size_t i = 0; i < count && text.length <= LONGEST_LIST; i++)
        tt_text_printf(&text, "%s%s", i ? ", " : "", labels[i]);
    const char *copy =
        text.length <= LONGEST_LIST && !text.failed ? tt_arena_copy_text(&plot->arena, text.text, text.length) : NULL;
    tt_text_fini(&text);
    return copy;
}

enum tutti_err tt_plot_panels_find_labels(struct tt_plot *plot, struct tt_plot_labels *words, const size_t *members,
                                          size_t count)
{
    const char **labels = tt_arena_array(&plot->arena, count + 1, sizeof *labels);
    *words = (struct tt_plot_labels){.labels = labels};
    if (!labels)
        return tt_fail_memory();
    if (count == 1) {
        words->name = labels[0] = plot->traces[members[0]].name;
        words->unit = plot->traces[members[0]].unit;
        return TUTTI_OK;
    }
    words->legend = true;
    size_t beginning = common_prefix_length(plot, members, count), end = common_suffix_length(plot, members, count);
    shorten_common_parts(plot, members, count, &beginning, &end);
    bool one_unit = true;
    const char *first_unit = plot->traces[members[0]].unit;
    for (size_t i = 1; i < count; i++) {
        const char *unit = plot->traces[members[i]].unit;
        one_unit = one_unit && (unit == first_unit || (unit && first_unit && strcmp(unit, first_unit) == 0));
    }
    for (size_t i = 0; i < count; i++) {
        const struct tt_plot_trace *trace = &plot->traces[members[i]];
        struct tt_text text = {0};
        tt_text_append_n(&text, trace->name + beginning, strlen(trace->name) - beginning - end);
        if (!one_unit && trace->unit)
            tt_text_printf(&text, " in %s", trace->unit);
        labels[i] = text.failed ? NULL : tt_arena_copy_text(&plot->arena, text.text, text.length);
        tt_text_fini(&text);
        if (!labels[i])
            return tt_fail_memory();
    }
    const char *first = plot->traces[members[0]].name;
    words->unit = one_unit ? first_unit : NULL;
    if (end > 0)
        words->name = strrchr(first, '.') + 1;
    else if (beginning > 0)
        words->name = tt_arena_copy_text(&plot->arena, first, beginning - 1);
    else
        words->name = one_unit ? join_labels(plot, labels, count) : NULL;
    return TUTTI_OK;
}
