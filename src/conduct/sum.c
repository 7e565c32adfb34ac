/* SPDX-License-Identifier: MIT */
#include "conduct/sum.h"

#include <math.h>
#include <stdlib.h>

#include "base/str.h"

static unsigned long most(unsigned long a, unsigned long b)
{
    return a > b ? a : b;
}

/* Of the units that ranks tell for a component, the one that has it. */
static struct tutti_unit_stats *find_unit(struct tutti_run_stats *const *tallies, int ranks, size_t component, int *at)
{
    for (int r = 0; r < ranks; r++)
        if (tallies[r] && component < tallies[r]->unit_count && tallies[r]->units[component].name) {
            *at = r;
            return &tallies[r]->units[component];
        }
    return NULL;
}

/* In the order of components; those of ranks that were lost are left out. */
static enum tutti_err gather_units(struct tutti_run_stats *stats, struct tutti_run_stats *const *tallies, int ranks)
{
    size_t components = 0;
    for (int r = 0; r < ranks; r++)
        if (tallies[r] && tallies[r]->unit_count > components)
            components = tallies[r]->unit_count;
    stats->units = components ? calloc(components, sizeof *stats->units) : NULL;
    if (components && !stats->units)
        return tutti_fail_memory();
    for (size_t c = 0; c < components; c++) {
        int rank = 0;
        struct tutti_unit_stats *unit = find_unit(tallies, ranks, c, &rank);
        if (!unit)
            continue;
        stats->units[stats->unit_count] = *unit;
        stats->units[stats->unit_count++].rank = rank;
        *unit = (struct tutti_unit_stats){0};
    }
    return TUTTI_OK;
}

static void combine(struct tutti_run_stats *stats, const struct tutti_run_stats *tally)
{
    /* The run came as far as the last of them: where it ends by a number, others may have been ahead. */
    stats->steps = tally->steps < stats->steps ? tally->steps : stats->steps;
    stats->stop = fmin(stats->stop, tally->stop);
    stats->rejected += tally->rejected;
    stats->events_located += tally->events_located;
    stats->init_iterations += tally->init_iterations;
    stats->exchanges = most(stats->exchanges, tally->exchanges);
    stats->overruns = most(stats->overruns, tally->overruns);
    stats->most_late = fmax(stats->most_late, tally->most_late);
    stats->setup_seconds = fmax(stats->setup_seconds, tally->setup_seconds);
    stats->loop_seconds = fmax(stats->loop_seconds, tally->loop_seconds);
    stats->terminated_by_fmu = stats->terminated_by_fmu || tally->terminated_by_fmu;
    stats->uses_events = stats->uses_events || tally->uses_events;
}

/* A text out of a tally, or this one where there is none. */
static char *take(char **text, const char *otherwise)
{
    char *taken = text && *text ? *text : tutti_str_copy(otherwise);
    if (text)
        *text = NULL;
    return taken;
}

enum tutti_err tutti_sum_tallies(struct tutti_run_stats *stats, struct tutti_run_stats *const *tallies, int ranks)
{
    struct tutti_run_stats *first = NULL;
    for (int r = ranks - 1; r >= 0; r--)
        first = tallies[r] ? tallies[r] : first;
    *stats = first ? *first : (struct tutti_run_stats){0};
    stats->units = NULL;
    stats->unit_count = 0;
    stats->rejected = stats->events_located = stats->init_iterations = 0;
    stats->ranks = ranks;
    stats->coupling = take(first ? &first->coupling : NULL, "none");
    stats->control = take(first ? &first->control : NULL, "fixed");
    stats->events = take(first ? &first->events : NULL, "none");
    stats->fabric = take(first ? &first->fabric : NULL, "none");
    if (first) /* which had its reasons, and has handed them on */
        first->coupling_reason = first->control_reason = first->extrapolate_reason = first->events_reason =
            first->estimated_in = NULL;
    for (int r = 0; r < ranks; r++)
        if (tallies[r])
            combine(stats, tallies[r]);
    bool named = stats->coupling && stats->control && stats->events && stats->fabric;
    if (named && gather_units(stats, tallies, ranks) == TUTTI_OK)
        return TUTTI_OK;
    tutti_run_stats_fini(stats);
    *stats = (struct tutti_run_stats){0};
    return tutti_fail_memory();
}
