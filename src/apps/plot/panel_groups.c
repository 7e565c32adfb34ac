/* SPDX-License-Identifier: MIT */
#include "apps/plot/panel_groups.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_CANDIDATES = 256, /* traces that are read to find panels */
    MOST_CURVES = 8,       /* in a panel */
    FEW = 4,               /* variables of one FMU that get a panel each */
};
static const double ALIKE = 10; /* values of unknown unit share a panel if their sizes differ by less */

/* All traces that would be in one panel, those that stand still last. */
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

/* What variables of one panel have in common, beside their physical unit: the unit of the system, the name in it, or nothing. */
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

static bool is_constant_trace(const struct tt_plot *plot, const struct tt_plot_trace *trace)
{
    double low, high;
    panel_groups_extent(plot, trace, &low, &high);
    return !(low < high);
}

static double panel_groups_size(const struct tt_plot *plot, const struct tt_plot_trace *trace)
{
    double low, high;
    panel_groups_extent(plot, trace, &low, &high);
    return low <= high ? fmax(fabs(low), fabs(high)) : 0;
}

/* The size of all that have this name in any unit: what is apart in one of them is apart in all. */
static double largest_size_of_name(const struct tt_plot *plot, const struct tt_plot_trace *trace)
{
    double size = 0;
    for (size_t i = 0; i < plot->trace_count; i++)
        if (plot->traces[i].wanted && panel_groups_same_part(plot->traces[i].name, trace->name, BY_NAME))
            size = fmax(size, panel_groups_size(plot, &plot->traces[i]));
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
        if (is_constant_trace(plot, &plot->traces[member]))
            still[still_count++] = member;
        else
            group->members[group->moving++] = member;
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
