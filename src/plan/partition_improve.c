/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "plan/partition_parts.h"

/* Pairs of units are tried, too, if there are no more than this. */
enum { MOST_TO_SWAP = 300 };
/* Every pass makes it better; most come to rest in a few. */
enum { MOST_PASSES = 50 };

struct state {
    const struct tutti_partition_problem *parts;
    int64_t target; /* loads up to it are as good as each other */
    int32_t *place;
    int64_t *loads;
    uint32_t *counts; /* units per rank */
    int64_t *shared;  /* values that the unit in hand shares with each rank */
};

/* What a change does, the first one counting first: to the sum of what is beyond the target, to values between ranks, to the sum
 * of the squares of loads. */
struct change {
    int64_t excess, cut, uneven;
};

static const struct change NOTHING = {0, 0, 0};

static bool is_less(const struct change *a, const struct change *b)
{
    if (a->excess != b->excess)
        return a->excess < b->excess;
    return a->cut != b->cut ? a->cut < b->cut : a->uneven < b->uneven;
}

static int64_t excess(const struct state *state, int64_t load)
{
    return load > state->target ? load - state->target : 0;
}

/* Is there another one of the unit's family, but for `except`? */
static bool has_kin(const struct state *state, uint32_t unit, int32_t rank, uint32_t except)
{
    const int32_t *family = state->parts->family;
    if (family[unit] < 0)
        return false;
    for (uint32_t u = (uint32_t)family[unit]; u < state->parts->count; u++)
        if (family[u] == family[unit] && u != unit && u != except && state->place[u] == rank)
            return true;
    return false;
}

static void look_around(const struct state *state, uint32_t unit)
{
    const struct tutti_partition_problem *parts = state->parts;
    memset(state->shared, 0, (size_t)parts->ranks * sizeof *state->shared);
    for (uint32_t k = parts->first[unit]; k < parts->first[unit + 1]; k++)
        state->shared[state->place[parts->others[k]]] += parts->values[k];
}

static int64_t shared_with(const struct state *state, uint32_t unit, int32_t rank)
{
    const struct tutti_partition_problem *parts = state->parts;
    int64_t values = 0;
    for (uint32_t k = parts->first[unit]; k < parts->first[unit + 1]; k++)
        values += state->place[parts->others[k]] == rank ? parts->values[k] : 0;
    return values;
}

/* `weight` more on rank `to` and less on `from`. */
static struct change shift(const struct state *state, int32_t from, int32_t to, int64_t weight)
{
    int64_t a = state->loads[from], b = state->loads[to];
    return (struct change){
        .excess = excess(state, a - weight) + excess(state, b + weight) - excess(state, a) - excess(state, b),
        .uneven = 2 * weight * (weight + b - a),
    };
}

static void put(struct state *state, uint32_t unit, int32_t rank)
{
    int32_t from = state->place[unit];
    state->loads[from] -= state->parts->weights[unit];
    state->counts[from]--;
    state->loads[rank] += state->parts->weights[unit];
    state->counts[rank]++;
    state->place[unit] = rank;
}

/* The best rank for the unit, where it may go; its own if there is none. */
static int32_t find_rank(const struct state *state, uint32_t unit, struct change *best)
{
    int32_t from = state->place[unit], found = from;
    *best = NOTHING;
    look_around(state, unit);
    for (int32_t to = 0; to < state->parts->ranks; to++) {
        if (to == from)
            continue;
        struct change change = shift(state, from, to, state->parts->weights[unit]);
        change.cut = state->shared[from] - state->shared[to];
        if ((found == from || is_less(&change, best)) && !has_kin(state, unit, to, unit)) {
            *best = change;
            found = to;
        }
    }
    return found;
}

static bool move_units(struct state *state)
{
    bool moved = false;
    for (uint32_t u = 0; u < state->parts->count; u++) {
        struct change change;
        if (state->parts->fixed[u] >= 0 || state->counts[state->place[u]] == 1)
            continue;
        int32_t to = find_rank(state, u, &change);
        if (to != state->place[u] && is_less(&change, &NOTHING)) {
            put(state, u, to);
            moved = true;
        }
    }
    return moved;
}

/* With state->shared of u. */
static bool try_swap(struct state *state, uint32_t u, uint32_t v)
{
    const struct tutti_partition_problem *parts = state->parts;
    int32_t a = state->place[u], b = state->place[v];
    if (a == b || parts->fixed[v] >= 0)
        return false;
    struct change change = shift(state, a, b, parts->weights[u] - parts->weights[v]);
    int64_t gain = state->shared[b] - state->shared[a];
    gain += shared_with(state, v, a) - shared_with(state, v, b);
    for (uint32_t k = parts->first[v]; k < parts->first[v + 1]; k++)
        gain -= parts->others[k] == u ? 2 * parts->values[k] : 0; /* between them it stays; both counted it as saved */
    change.cut = -gain;
    if (!is_less(&change, &NOTHING) || has_kin(state, u, b, v) || has_kin(state, v, a, u))
        return false;
    put(state, u, b);
    put(state, v, a);
    return true;
}

static bool swap_units(struct state *state)
{
    bool swapped = false;
    for (uint32_t u = 0; u < state->parts->count; u++) {
        if (state->parts->fixed[u] >= 0)
            continue;
        look_around(state, u);
        for (uint32_t v = u + 1; v < state->parts->count; v++)
            if (try_swap(state, u, v)) {
                swapped = true;
                look_around(state, u);
            }
    }
    return swapped;
}

/* ---- constraints ---- */

static void part_families(struct state *state)
{
    for (uint32_t u = 0; u < state->parts->count; u++) {
        struct change change;
        if (state->parts->fixed[u] < 0 && has_kin(state, u, state->place[u], u))
            put(state, u, find_rank(state, u, &change));
    }
}

/* The unit that is missed least by a rank with several. */
static void fill_rank(struct state *state, int32_t rank)
{
    uint32_t found = UINT32_MAX;
    struct change best = NOTHING;
    for (uint32_t u = 0; u < state->parts->count; u++) {
        int32_t from = state->place[u];
        if (state->parts->fixed[u] >= 0 || state->counts[from] < 2)
            continue;
        struct change change = shift(state, from, rank, state->parts->weights[u]);
        change.cut = shared_with(state, u, from);
        if (found == UINT32_MAX || is_less(&change, &best)) {
            best = change;
            found = u;
        }
    }
    if (found != UINT32_MAX)
        put(state, found, rank);
}

/* ---- as a whole ---- */

static struct tutti_partition_merit judge(const struct state *state)
{
    const struct tutti_partition_problem *parts = state->parts;
    struct tutti_partition_merit merit = {0};
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

static void improve(struct state *state)
{
    for (uint32_t u = 0; u < state->parts->count; u++) {
        state->loads[state->place[u]] += state->parts->weights[u];
        state->counts[state->place[u]]++;
    }
    part_families(state);
    for (int32_t r = 0; r < state->parts->ranks; r++)
        if (state->counts[r] == 0)
            fill_rank(state, r);
    bool better = true;
    for (int pass = 0; pass < MOST_PASSES && better; pass++) {
        better = move_units(state);
        if (!better && state->parts->count <= MOST_TO_SWAP)
            better = swap_units(state);
    }
}

static enum tutti_err begin(struct state *state, const struct tutti_partition_problem *parts, int32_t *place)
{
    size_t ranks = (size_t)parts->ranks;
    *state = (struct state){.parts = parts, .place = place};
    state->loads = calloc(ranks, sizeof *state->loads);
    state->counts = calloc(ranks, sizeof *state->counts);
    state->shared = calloc(ranks, sizeof *state->shared);
    return state->loads && state->counts && state->shared ? TUTTI_OK : tutti_fail_memory();
}

static void end(struct state *state)
{
    free(state->loads);
    free(state->counts);
    free(state->shared);
}

enum tutti_err tutti_partition_improve(const struct tutti_partition_problem *parts, int64_t target, int32_t *place,
                                       struct tutti_partition_merit *merit)
{
    struct state state;
    enum tutti_err err = begin(&state, parts, place);
    state.target = target;
    if (!err) {
        improve(&state);
        *merit = judge(&state);
    }
    end(&state);
    return err;
}

/* ---- the heaviest first ---- */

struct heavy {
    uint32_t unit;
    int64_t weight;
};

static int compare_weights(const void *a, const void *b)
{
    const struct heavy *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return x->unit < y->unit ? -1 : 1;
}

static void spread(struct state *state, const struct heavy *order)
{
    const struct tutti_partition_problem *parts = state->parts;
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
            if ((least < 0 || state->loads[r] < state->loads[least]) && !has_kin(state, u, r, u))
                least = r;
        state->place[u] = least;
        state->loads[least] += parts->weights[u];
    }
}

enum tutti_err tutti_partition_spread(const struct tutti_partition_problem *parts, int32_t *place)
{
    struct state state;
    struct heavy *order = calloc(parts->count, sizeof *order);
    if (!order)
        return tutti_fail_memory();
    for (uint32_t u = 0; u < parts->count; u++)
        order[u] = (struct heavy){u, parts->weights[u]};
    qsort(order, parts->count, sizeof *order, compare_weights);
    enum tutti_err err = begin(&state, parts, place);
    if (!err)
        spread(&state, order);
    free(order);
    end(&state);
    return err;
}
