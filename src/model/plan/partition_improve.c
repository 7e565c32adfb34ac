/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "model/plan/partition_problem.h"

/* Pairs of units are tried, too, if there are no more than this. */
enum { MOST_TO_SWAP = 300 };
/* Every pass makes it better; most come to rest in a few. */
enum { MOST_PASSES = 50 };

struct improve_state {
    const struct tt_partition_problem *parts;
    int64_t target; /* loads up to it are as good as each other */
    int32_t *place;
    int64_t *loads;
    uint32_t *counts; /* units per rank */
    int64_t *shared;  /* values that the unit in hand shares with each rank */
};

/* What a change does, the first one counting first: to the sum of what is beyond the target, to values between ranks, to the sum
 * of the squares of loads. */
struct rank_change {
    int64_t excess, cut, uneven;
};

static const struct rank_change NOTHING = {0, 0, 0};

static bool improve_is_less(const struct rank_change *a, const struct rank_change *b)
{
    if (a->excess != b->excess)
        return a->excess < b->excess;
    return a->cut != b->cut ? a->cut < b->cut : a->uneven < b->uneven;
}

static int64_t excess_load(const struct improve_state *state, int64_t load)
{
    return load > state->target ? load - state->target : 0;
}

/* Is there another one of the unit's family, but for `except`? */
static bool has_family_member(const struct improve_state *state, uint32_t unit, int32_t rank, uint32_t except)
{
    const int32_t *family = state->parts->family;
    if (family[unit] < 0)
        return false;
    for (uint32_t u = (uint32_t)family[unit]; u < state->parts->count; u++)
        if (family[u] == family[unit] && u != unit && u != except && state->place[u] == rank)
            return true;
    return false;
}

static void sum_shared_values(const struct improve_state *state, uint32_t unit)
{
    const struct tt_partition_problem *parts = state->parts;
    memset(state->shared, 0, (size_t)parts->ranks * sizeof *state->shared);
    for (uint32_t k = parts->first[unit]; k < parts->first[unit + 1]; k++)
        state->shared[state->place[parts->others[k]]] += parts->values[k];
}

static int64_t values_shared_with(const struct improve_state *state, uint32_t unit, int32_t rank)
{
    const struct tt_partition_problem *parts = state->parts;
    int64_t values = 0;
    for (uint32_t k = parts->first[unit]; k < parts->first[unit + 1]; k++)
        values += state->place[parts->others[k]] == rank ? parts->values[k] : 0;
    return values;
}

/* `weight` more on rank `to` and less on `from`. */
static struct rank_change shift_load(const struct improve_state *state, int32_t from, int32_t to, int64_t weight)
{
    int64_t a = state->loads[from], b = state->loads[to];
    return (struct rank_change){
        .excess = excess_load(state, a - weight) + excess_load(state, b + weight) - excess_load(state, a) -
                  excess_load(state, b),
        .uneven = 2 * weight * (weight + b - a),
    };
}

static void assign_rank(struct improve_state *state, uint32_t unit, int32_t rank)
{
    int32_t from = state->place[unit];
    state->loads[from] -= state->parts->weights[unit];
    state->counts[from]--;
    state->loads[rank] += state->parts->weights[unit];
    state->counts[rank]++;
    state->place[unit] = rank;
}

/* The best rank for the unit, where it may go; its own if there is none. */
static int32_t find_best_rank(const struct improve_state *state, uint32_t unit, struct rank_change *best)
{
    int32_t from = state->place[unit], found = from;
    *best = NOTHING;
    sum_shared_values(state, unit);
    for (int32_t to = 0; to < state->parts->ranks; to++) {
        if (to == from)
            continue;
        struct rank_change change = shift_load(state, from, to, state->parts->weights[unit]);
        change.cut = state->shared[from] - state->shared[to];
        if ((found == from || improve_is_less(&change, best)) && !has_family_member(state, unit, to, unit)) {
            *best = change;
            found = to;
        }
    }
    return found;
}

static bool move_units(struct improve_state *state)
{
    bool moved = false;
    for (uint32_t u = 0; u < state->parts->count; u++) {
        struct rank_change change;
        if (state->parts->fixed[u] >= 0 || state->counts[state->place[u]] == 1)
            continue;
        int32_t to = find_best_rank(state, u, &change);
        if (to != state->place[u] && improve_is_less(&change, &NOTHING)) {
            assign_rank(state, u, to);
            moved = true;
        }
    }
    return moved;
}

/* With state->shared of u. */
static bool try_swap(struct improve_state *state, uint32_t u, uint32_t v)
{
    const struct tt_partition_problem *parts = state->parts;
    int32_t a = state->place[u], b = state->place[v];
    if (a == b || parts->fixed[v] >= 0)
        return false;
    struct rank_change change = shift_load(state, a, b, parts->weights[u] - parts->weights[v]);
    int64_t gain = state->shared[b] - state->shared[a];
    gain += values_shared_with(state, v, a) - values_shared_with(state, v, b);
    for (uint32_t k = parts->first[v]; k < parts->first[v + 1]; k++)
        gain -= parts->others[k] == u ? 2 * parts->values[k] : 0; /* between them it stays; both counted it as saved */
    change.cut = -gain;
    if (!improve_is_less(&change, &NOTHING) || has_family_member(state, u, b, v) || has_family_member(state, v, a, u))
        return false;
    assign_rank(state, u, b);
    assign_rank(state, v, a);
    return true;
}

static bool swap_units(struct improve_state *state)
{
    bool swapped = false;
    for (uint32_t u = 0; u < state->parts->count; u++) {
        if (state->parts->fixed[u] >= 0)
            continue;
        sum_shared_values(state, u);
        for (uint32_t v = u + 1; v < state->parts->count; v++)
            if (try_swap(state, u, v)) {
                swapped = true;
                sum_shared_values(state, u);
            }
    }
    return swapped;
}

/* ---- constraints ---- */

static void separate_families(struct improve_state *state)
{
    for (uint32_t u = 0; u < state->parts->count; u++) {
        struct rank_change change;
        if (state->parts->fixed[u] < 0 && has_family_member(state, u, state->place[u], u))
            assign_rank(state, u, find_best_rank(state, u, &change));
    }
}

/* The unit that is missed least by a rank with several. */
static void fill_empty_rank(struct improve_state *state, int32_t rank)
{
    uint32_t found = UINT32_MAX;
    struct rank_change best = NOTHING;
    for (uint32_t u = 0; u < state->parts->count; u++) {
        int32_t from = state->place[u];
        if (state->parts->fixed[u] >= 0 || state->counts[from] < 2)
            continue;
        struct rank_change change = shift_load(state, from, rank, state->parts->weights[u]);
        change.cut = values_shared_with(state, u, from);
        if (found == UINT32_MAX || improve_is_less(&change, &best)) {
            best = change;
            found = u;
        }
    }
    if (found != UINT32_MAX)
        assign_rank(state, found, rank);
}

/* ---- as a whole ---- */

static struct tt_partition_merit improve_rate(const struct improve_state *state)
{
    const struct tt_partition_problem *parts = state->parts;
    struct tt_partition_merit merit = {0};
    for (int32_t r = 0; r < parts->ranks; r++) {
        merit.load = state->loads[r] > merit.load ? state->loads[r] : merit.load;
        merit.uneven += state->loads[r] * state->loads[r];
    }
    for (uint32_t u = 0; u < parts->count; u++)
        for (uint32_t k = parts->first[u]; k < parts->first[u + 1]; k++)
            merit.cut += state->place[u] != state->place[parts->others[k]] ? parts->values[k] : 0;
    merit.cut /= 2; /* each was seen from both sides */
    return merit;
}

static void improve_placement(struct improve_state *state)
{
    for (uint32_t u = 0; u < state->parts->count; u++) {
        state->loads[state->place[u]] += state->parts->weights[u];
        state->counts[state->place[u]]++;
    }
    separate_families(state);
    for (int32_t r = 0; r < state->parts->ranks; r++)
        if (state->counts[r] == 0)
            fill_empty_rank(state, r);
    bool better = true;
    for (int pass = 0; pass < MOST_PASSES && better; pass++) {
        better = move_units(state);
        if (!better && state->parts->count <= MOST_TO_SWAP)
            better = swap_units(state);
    }
}

static enum tutti_err improve_start(struct improve_state *state, const struct tt_partition_problem *parts,
                                    int32_t *place)
{
    size_t ranks = (size_t)parts->ranks;
    *state = (struct improve_state){.parts = parts, .place = place};
    state->loads = calloc(ranks, sizeof *state->loads);
    state->counts = calloc(ranks, sizeof *state->counts);
    state->shared = calloc(ranks, sizeof *state->shared);
    return state->loads && state->counts && state->shared ? TUTTI_OK : tt_fail_memory();
}

static void improve_finish(struct improve_state *state)
{
    free(state->loads);
    free(state->counts);
    free(state->shared);
}

enum tutti_err tt_partition_search_improve(const struct tt_partition_problem *parts, int64_t target, int32_t *place,
                                           struct tt_partition_merit *merit)
{
    struct improve_state state;
    enum tutti_err err = improve_start(&state, parts, place);
    state.target = target;
    if (!err) {
        improve_placement(&state);
        *merit = improve_rate(&state);
    }
    improve_finish(&state);
    return err;
}

/* ---- the heaviest first ---- */

struct weighted_unit {
    uint32_t unit;
    int64_t weight;
};

static int compare_weights(const void *a, const void *b)
{
    const struct weighted_unit *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return x->unit < y->unit ? -1 : 1;
}

static void assign_by_load(struct improve_state *state, const struct weighted_unit *order)
{
    const struct tt_partition_problem *parts = state->parts;
    for (uint32_t u = 0; u < parts->count; u++) {
        state->place[u] = parts->fixed[u];
        if (parts->fixed[u] >= 0)
            state->loads[parts->fixed[u]] += parts->weights[u];
    }
    for (uint32_t i = 0; i < parts->count; i++) {
        uint32_t u = order[i].unit;
        if (parts->fixed[u] >= 0)
            continue;
        int32_t least = -1;
        for (int32_t r = 0; r < parts->ranks; r++)
            if ((least < 0 || state->loads[r] < state->loads[least]) && !has_family_member(state, u, r, u))
                least = r;
        state->place[u] = least;
        state->loads[least] += parts->weights[u];
    }
}

enum tutti_err tt_partition_search_spread(const struct tt_partition_problem *parts, int32_t *place)
{
    struct improve_state state;
    struct weighted_unit *order = calloc(parts->count, sizeof *order);
    if (!order)
        return tt_fail_memory();
    for (uint32_t u = 0; u < parts->count; u++)
        order[u] = (struct weighted_unit){u, parts->weights[u]};
    qsort(order, parts->count, sizeof *order, compare_weights);
    enum tutti_err err = improve_start(&state, parts, place);
    if (!err)
        assign_by_load(&state, order);
    free(order);
    improve_finish(&state);
    return err;
}
