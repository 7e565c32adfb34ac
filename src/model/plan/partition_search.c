/* SPDX-License-Identifier: MIT */
/* Branch and bound: all figures of a merit only grow as units are placed, so a beginning that is no better than the best
 * placement so far leads nowhere. Ranks without a unit are alike: only the first of them is tried. */
#include <stdlib.h>
#include <string.h>

#include "model/plan/partition_problem.h"

struct branch_search {
    const struct tt_partition_problem *parts;
    int32_t place[TUTTI_PARTITION_FEW], best_place[TUTTI_PARTITION_FEW];
    int64_t loads[TUTTI_PARTITION_FEW]; /* ranks are fewer than units */
    struct tt_partition_merit best;
    uint32_t left;                /* units that are free and not placed */
    int32_t empty, must_be_empty; /* ranks; and so many of them have to stay so */
    bool found;
};

static bool is_allowed_rank(const struct branch_search *search, uint32_t unit, int32_t rank)
{
    const struct tt_partition_problem *parts = search->parts;
    for (uint32_t u = 0; u < parts->count; u++)
        if (parts->family[unit] >= 0 && u != unit && parts->family[u] == parts->family[unit] &&
            search->place[u] == rank)
            return false;
    return true;
}

/* Puts a unit on a rank; what that makes of the merit. */
static struct tt_partition_merit branch_add_unit(struct branch_search *search, struct tt_partition_merit merit,
                                                 uint32_t unit, int32_t rank)
{
    const struct tt_partition_problem *parts = search->parts;
    int64_t weight = parts->weights[unit], load = search->loads[rank];
    search->empty -= load == 0;
    search->place[unit] = rank;
    search->loads[rank] = load + weight;
    merit.load = load + weight > merit.load ? load + weight : merit.load;
    merit.uneven += weight * (weight + 2 * load);
    for (uint32_t k = parts->first[unit]; k < parts->first[unit + 1]; k++) {
        int32_t other = search->place[parts->others[k]];
        merit.cut += other >= 0 && other != rank ? parts->values[k] : 0;
    }
    return merit;
}

static void branch_undo(struct branch_search *search, uint32_t unit)
{
    int32_t rank = search->place[unit];
    search->loads[rank] -= search->parts->weights[unit];
    search->empty += search->loads[rank] == 0;
    search->place[unit] = -1;
}

/* Units from `unit` on. As deep as there are units: ten. */
static void branch_on_unit(struct branch_search *search, uint32_t unit, const struct tt_partition_merit *merit)
{
    const struct tt_partition_problem *parts = search->parts;
    while (unit < parts->count && parts->fixed[unit] >= 0)
        unit++;
    if (unit == parts->count) {
        search->found = true;
        search->best = *merit;
        memcpy(search->best_place, search->place, sizeof search->place);
        return;
    }
    bool tried_empty = false;
    search->left--;
    for (int32_t rank = 0; rank < parts->ranks; rank++) {
        bool is_empty = search->loads[rank] == 0;
        if ((is_empty && tried_empty) || !is_allowed_rank(search, unit, rank))
            continue;
        tried_empty = tried_empty || is_empty;
        struct tt_partition_merit next = branch_add_unit(search, *merit, unit, rank);
        bool fills = search->empty - (int32_t)search->left <= search->must_be_empty;
        if (fills && (!search->found || tt_partition_search_is_better(parts, &next, &search->best)))
            branch_on_unit(search, unit + 1, &next);
        branch_undo(search, unit);
    }
    search->left++;
}

void tt_partition_search_exhaustive(const struct tt_partition_problem *parts, int32_t *place)
{
    struct branch_search search = {.parts = parts, .empty = parts->ranks};
    struct tt_partition_merit merit = {0};
    memset(search.place, 0xff, sizeof search.place); /* -1 */
    for (uint32_t u = 0; u < parts->count; u++)
        if (parts->fixed[u] >= 0)
            merit = branch_add_unit(&search, merit, u, parts->fixed[u]);
        else
            search.left++;
    search.must_be_empty = search.empty > (int32_t)search.left ? search.empty - (int32_t)search.left : 0;
    branch_on_unit(&search, 0, &merit);
    memcpy(place, search.best_place, parts->count * sizeof *place);
}
