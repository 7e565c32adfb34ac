/* SPDX-License-Identifier: MIT */
/* Branch and bound: all figures of a merit only increase as units are placed, so a partial placement that is not better
 * than the best complete one is abandoned. Ranks without a unit are equivalent: only the first of them is tried. */
#include "model/plan/partition_search.h"

#include <metis.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct branch_search {
    const struct tt_partition_problem *parts;
    int32_t place[TUTTI_PARTITION_FEW], best_place[TUTTI_PARTITION_FEW];
    int64_t loads[TUTTI_PARTITION_FEW]; /* ranks are fewer than units */
    struct tt_partition_merit best;
    uint32_t left;                /* units that are free and not placed */
    int32_t empty, must_be_empty; /* number of empty ranks, and the number that must stay empty */
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

/* Places the units from `unit` on. The recursion is as deep as the number of units: ten. */
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

        search->loads[rank] -= search->parts->weights[unit];
        search->empty += search->loads[rank] == 0;
        search->place[unit] = -1;
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

/* METIS only bisects, so that it never gets a half without vertices, which it would report on standard output. It does
 * not support fixed vertices: units that are fixed in a half are merged into one vertex, which is moved to its half
 * whatever METIS returns. */

enum { SEED = 1 };

/* Input of METIS, for the units of some ranks. */
struct half {
    const struct tt_partition_problem *parts;
    int32_t begin, middle, end; /* ranks of the first half, and of the second */
    const uint32_t *units;
    uint32_t unit_count;
    uint32_t *vertex; /* per unit of the whole system; only those of `units` mean something */
    uint32_t *member; /* per unit: the number of its half, which distinguishes it from other units */
    uint32_t stamp;
    idx_t vertices, anchors[2]; /* of units that are fixed in the first, the second half; -1: none */
    idx_t *rows, *columns, *edges, *weights, *sides;
    int64_t divisor; /* of values, so that METIS can add them up */
};

/* ---- calling METIS ---- */

/* METIS reseeds and uses rand(), whose state belongs to the process: it gets a separate state during the call. A
 * SIGTERM, which METIS would treat as an internal error, is blocked meanwhile. */
static int call_metis(struct half *half, idx_t *options, real_t *shares)
{
    char numbers[128];
    sigset_t wait, before;
    idx_t constraints = 1, two = 2, cut = 0;
    sigemptyset(&wait);
    sigaddset(&wait, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &wait, &before);
    char *state = initstate(SEED, numbers, sizeof numbers);
    int status = METIS_PartGraphRecursive(&half->vertices, &constraints, half->rows, half->columns, half->weights, NULL,
                                          half->edges, &two, shares, NULL, options, &cut, half->sides);
    setstate(state);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}

static enum tutti_err bisect_graph(struct half *half)
{
    idx_t options[METIS_NOPTIONS];
    real_t first = (real_t)(half->middle - half->begin) / (real_t)(half->end - half->begin);
    real_t shares[2] = {first, 1 - first};
    /* The halvings until ranks are single share the tolerance of 3 %. */
    idx_t levels = 1;
    while ((1 << levels) < half->parts->ranks)
        levels++;

    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = SEED;
    options[METIS_OPTION_UFACTOR] = 30 / levels > 1 ? 30 / levels : 1; /* in thousandths */
    /* the number of attempts, of which METIS keeps the best */
    options[METIS_OPTION_NCUTS] = 4;
    memset(half->sides, 0, (size_t)half->vertices * sizeof *half->sides);
    if (half->vertices > 1 && call_metis(half, options, shares) != METIS_OK)
        return tt_fail_memory();
    return TUTTI_OK;
}

/* ---- its graph ---- */

static void number_vertices(struct half *half)
{
    half->vertices = 0;
    half->anchors[0] = half->anchors[1] = -1;
    for (uint32_t i = 0; i < half->unit_count; i++) {
        uint32_t u = half->units[i];
        int32_t rank = half->parts->fixed[u];
        half->member[u] = half->stamp;
        if (rank < 0) {
            half->vertex[u] = (uint32_t)half->vertices++;
            continue;
        }
        idx_t *anchor = &half->anchors[rank >= half->middle];
        if (*anchor < 0)
            *anchor = half->vertices++;
        half->vertex[u] = (uint32_t)*anchor;
    }
}

/* Edges of the units of a vertex, those to the same neighbour added up; `seen` is per vertex. */
static idx_t bisect_add_edges(struct half *half, uint32_t u, idx_t start, idx_t end, idx_t *seen)
{
    const struct tt_partition_problem *parts = half->parts;
    for (uint32_t k = parts->first[u]; k < parts->first[u + 1]; k++) {
        uint32_t other = parts->others[k];
        if (half->member[other] != half->stamp || half->vertex[other] == half->vertex[u])
            continue;
        idx_t neighbour = (idx_t)half->vertex[other];
        int64_t value = parts->values[k] / half->divisor > 0 ? parts->values[k] / half->divisor : 1;
        if (seen[neighbour] >= start && seen[neighbour] < end && half->columns[seen[neighbour]] == neighbour) {
            half->edges[seen[neighbour]] += (idx_t)value;
            continue;
        }
        seen[neighbour] = end;
        half->columns[end] = neighbour;
        half->edges[end++] = (idx_t)value;
    }
    return end;
}

/* The units of an anchor come together, then all other units separately, in the order of vertices. */
static void fill_graph(struct half *half, uint32_t *order, idx_t *seen)
{
    uint32_t *next = order + half->unit_count;
    memset(next, 0, ((size_t)half->vertices + 1) * sizeof *next);
    for (uint32_t i = 0; i < half->unit_count; i++)
        next[half->vertex[half->units[i]] + 1]++;
    for (idx_t v = 0; v < half->vertices; v++)
        next[v + 1] += next[v];
    for (uint32_t i = 0; i < half->unit_count; i++)
        order[next[half->vertex[half->units[i]]]++] = half->units[i];
    idx_t end = 0;
    uint32_t at = 0;
    for (idx_t v = 0; v < half->vertices; v++) {
        idx_t start = end;
        half->rows[v] = start;
        half->weights[v] = 0;
        for (; at < next[v]; at++) {
            half->weights[v] += (idx_t)half->parts->weights[order[at]];
            end = bisect_add_edges(half, order[at], start, end, seen);
        }
    }
    half->rows[half->vertices] = end;
}

/* Where the arrays lie in `room`, which the caller frees. */
static enum tutti_err place_arrays(struct half *half, idx_t *room, size_t edges, uint32_t *order)
{
    size_t units = half->unit_count;
    number_vertices(half);
    half->rows = room;
    half->weights = half->rows + units + 1;
    half->columns = half->weights + units;
    half->edges = half->columns + edges;
    half->sides = half->edges + edges;
    fill_graph(half, order, half->sides); /* which are not known yet */
    return bisect_graph(half);
}

/* ---- halving ---- */

struct bisection {
    const struct tt_partition_problem *parts;
    uint32_t *units, *spare; /* those of some ranks are side by side */
    uint32_t *vertex, *member;
    uint32_t stamp;
    int64_t divisor;
    int32_t *place;
};

/* Halves of the same size may change their names: then fewer anchors are on the wrong side. */
static bool sides_are_swapped(const struct half *half)
{
    if (2 * half->middle != half->begin + half->end)
        return false;
    int64_t wrong = 0;
    for (int a = 0; a < 2; a++)
        if (half->anchors[a] >= 0)
            wrong += (half->sides[half->anchors[a]] != a ? 1 : -1) * (int64_t)half->weights[half->anchors[a]];
    return wrong > 0;
}

/* Those of the first half come first; how many there are. */
static uint32_t split_units(struct bisection *work, const struct half *half, uint32_t *units, uint32_t count)
{
    bool crossed = sides_are_swapped(half);
    uint32_t first = 0, second = 0;
    for (uint32_t i = 0; i < count; i++) {
        int32_t rank = work->parts->fixed[units[i]];
        bool is_second = rank >= 0 ? rank >= half->middle : (half->sides[work->vertex[units[i]]] == 1) != crossed;
        if (is_second)
            work->spare[second++] = units[i];
        else
            units[first++] = units[i];
    }
    memcpy(units + first, work->spare, second * sizeof *units);
    return first;
}

static enum tutti_err bisect_units(struct bisection *work, uint32_t *units, uint32_t count, int32_t begin, int32_t end)
{
    if (end - begin == 1 || count == 0) {
        for (uint32_t i = 0; i < count; i++)
            work->place[units[i]] = begin;
        return TUTTI_OK;
    }
    struct half half = {
        .parts = work->parts,
        .begin = begin,
        .middle = begin + (end - begin) / 2,
        .end = end,
        .units = units,
        .unit_count = count,
        .vertex = work->vertex,
        .member = work->member,
        .stamp = ++work->stamp,
        .divisor = work->divisor,
    };
    size_t edges = 0;
    for (uint32_t i = 0; i < count; i++)
        edges += work->parts->first[units[i] + 1] - work->parts->first[units[i]];
    idx_t *room = calloc(3 * (size_t)count + 2 * edges + 1, sizeof *room);
    uint32_t *order = calloc(2 * (size_t)count + 1, sizeof *order), first = 0;
    enum tutti_err err = room && order ? place_arrays(&half, room, edges, order) : tt_fail_memory();
    if (!err && half.sides)
        first = split_units(work, &half, units, count);
    free(order);
    free(room);
    TRY(err);
    TRY(bisect_units(work, units, first, begin, half.middle));
    return bisect_units(work, units + first, count - first, half.middle, end);
}

enum tutti_err tt_partition_search_bisect(const struct tt_partition_problem *parts, int32_t *place)
{
    uint32_t *room = calloc(4 * (size_t)parts->count, sizeof *room), n = parts->count;
    struct bisection work = {.parts = parts, .place = place, .divisor = 1};
    int64_t values = 0;
    if (!room)
        return tt_fail_memory();
    work.units = room;
    work.spare = room + n;
    work.vertex = room + 2 * (size_t)n;
    work.member = room + 3 * (size_t)n;
    for (uint32_t u = 0; u < n; u++)
        work.units[u] = u;
    for (uint32_t k = 0; k < parts->first[n]; k++)
        values += parts->values[k];
    work.divisor = values / (1 << 28) + 1;
    enum tutti_err err = bisect_units(&work, work.units, n, 0, parts->ranks);
    free(room);
    return err;
}

/* Pairs of units are also swapped up to this number of units. */
enum { MOST_TO_SWAP = 300 };
/* Every pass improves the placement; most searches converge in a few passes. */
enum { MOST_PASSES = 50 };

struct improve_state {
    const struct tt_partition_problem *parts;
    int64_t target; /* loads up to it are as good as each other */
    int32_t *place;
    int64_t *loads;
    uint32_t *counts; /* units per rank */
    int64_t *shared;  /* values that the unit in hand shares with each rank */
};

/* The effect of a change, in descending weight: on the total load beyond the target, on the values between ranks, on
 * the sum of squared loads. */
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

/* Returns true if the rank has a unit of this unit's family other than `except`. */
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

/* Returns the best permitted rank for the unit; its current rank if none is better. */
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

    /* Separates families that ended up on one rank. */
    for (uint32_t u = 0; u < state->parts->count; u++) {
        struct rank_change change;
        if (state->parts->fixed[u] < 0 && has_family_member(state, u, state->place[u], u))
            assign_rank(state, u, find_best_rank(state, u, &change));
    }

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
