/* SPDX-License-Identifier: MIT */
/* METIS is asked for two halves at a time: so it never comes to a half without vertices, of which it would tell standard output.
 * It has no fixed vertices: units that are fixed in a half are one vertex, which goes to its half whatever METIS says. */
#include <metis.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "model/plan/partition_problem.h"

enum { SEED = 1 };

/* What METIS takes, for the units of some ranks. */
struct half {
    const struct tt_partition_problem *parts;
    int32_t begin, middle, end; /* ranks of the first half, and of the second */
    const uint32_t *units;
    uint32_t unit_count;
    uint32_t *vertex; /* per unit of the whole system; only those of `units` mean something */
    uint32_t *member; /* likewise: the half's number, to tell them from others */
    uint32_t stamp;
    idx_t vertices, anchors[2]; /* of units that are fixed in the first, the second half; -1: none */
    idx_t *rows, *columns, *edges, *weights, *sides;
    int64_t divisor; /* of values, so that METIS can add them up */
};

/* ---- calling METIS ---- */

/* METIS reseeds and uses rand(), whose state belongs to the process: it gets one of its own for the while. A SIGTERM, which it
 * would take for an error of its own, waits. */
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

/* Halvings until ranks are single share the tolerance of 3 %. */
static idx_t bisection_tolerance(int32_t ranks)
{
    idx_t levels = 1;
    while ((1 << levels) < ranks)
        levels++;
    return 30 / levels > 1 ? 30 / levels : 1; /* in thousandths */
}

static enum tutti_err bisect_graph(struct half *half)
{
    idx_t options[METIS_NOPTIONS];
    real_t first = (real_t)(half->middle - half->begin) / (real_t)(half->end - half->begin);
    real_t shares[2] = {first, 1 - first};
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = SEED;
    options[METIS_OPTION_UFACTOR] = bisection_tolerance(half->parts->ranks);
    options[METIS_OPTION_NCUTS] = 4; /* the best of so many */
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

/* An anchor's units come together, then each other unit by itself, in the order of vertices. */
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
