/* SPDX-License-Identifier: MIT */
#include "model/plan/partitioner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/plan/partition_search.h"

/* ---- what crosses ---- */

struct crossing {
    int32_t from, to;
    const struct tt_end *source;
    uint64_t values;
};

static int partitioner_compare_ends(const struct tt_end *a, const struct tt_end *b)
{
    if (a->component != b->component)
        return a->component < b->component ? -1 : 1;
    if (a->variable != b->variable)
        return a->variable < b->variable ? -1 : 1;
    if (a->element.count != b->element.count) /* all of it comes first */
        return a->element.count < b->element.count ? -1 : 1;
    for (unsigned i = 0; i < a->element.count; i++)
        if (a->element.index[i] != b->element.index[i])
            return a->element.index[i] < b->element.index[i] ? -1 : 1;
    return 0;
}

static int compare_crossings(const void *a, const void *b)
{
    const struct crossing *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return partitioner_compare_ends(x->source, y->source);
}

/* Returns true if `before`, which sorts before the end, contains all of its elements. */
static bool partitioner_is_covered(const struct tt_end *end, const struct tt_end *before)
{
    return partitioner_compare_ends(before, end) == 0 ||
           (before->element.count == 0 && before->component == end->component && before->variable == end->variable);
}

static size_t collect_crossings(const struct tt_system *system, const int32_t *place, struct crossing *crossings)
{
    size_t count = 0;
    for (uint32_t i = 0; i < system->connection_count; i++) {
        const struct tt_connection *c = &system->connections[i];
        if (c->at_start_only || c->from.component == TUTTI_NONE || c->to.component == TUTTI_NONE)
            continue;
        int32_t from = place ? place[c->from.component] : (int32_t)c->from.component;
        int32_t to = place ? place[c->to.component] : (int32_t)c->to.component;
        const struct tt_var *var = &system->components[c->from.component].fmu->desc->vars[c->from.variable];
        if (from != to)
            crossings[count++] =
                (struct crossing){from, to, &c->from, c->from.element.count > 0 ? 1 : tt_description_var_size(var)};
    }
    return count;
}

enum tutti_err tt_partitioner_list_traffic(struct tt_traffic **list, size_t *count, const struct tt_system *system,
                                           const int32_t *place)
{
    struct crossing *crossings = calloc((size_t)system->connection_count + 1, sizeof *crossings);
    *list = calloc((size_t)system->connection_count + 1, sizeof **list);
    *count = 0;
    if (!crossings || !*list) {
        free(crossings);
        free(*list);
        *list = NULL;
        return tt_fail_memory();
    }
    size_t total = collect_crossings(system, place, crossings);
    if (total > 1)
        qsort(crossings, total, sizeof *crossings, compare_crossings);
    const struct tt_end *last = NULL; /* that was counted on this way */
    for (size_t i = 0; i < total; i++) {
        struct tt_traffic *way = *count ? &(*list)[*count - 1] : NULL;
        if (!way || way->from != crossings[i].from || way->to != crossings[i].to) {
            way = &(*list)[(*count)++];
            *way = (struct tt_traffic){crossings[i].from, crossings[i].to, 0};
            last = NULL;
        }
        if (last && partitioner_is_covered(crossings[i].source, last))
            continue;
        last = crossings[i].source;
        way->values += crossings[i].values < UINT32_MAX ? crossings[i].values : UINT32_MAX;
    }
    free(crossings);
    return TUTTI_OK;
}

/* ---- the problem ---- */

/* The cost of transferring all connected values, as a share of the cost of all units. No single figure is right: for
 * units that take milliseconds a message is negligible, for faster units it dominates. */
static const double PRICE = 0.25;

static enum tutti_err set_unit_weights(struct tt_partition_problem *parts, const double *costs)
{
    /* Weights add up to about `scale`, which grows with the number of units, so that each has two digits. */
    double total = 0, scale = fmin(fmax(1e6, 100.0 * parts->count), 5e8);
    parts->weights = calloc(parts->count, sizeof *parts->weights);
    if (!parts->weights)
        return tt_fail_memory();
    for (uint32_t u = 0; costs && u < parts->count; u++)
        total += costs[u];
    for (uint32_t u = 0; u < parts->count; u++) {
        double share = costs && total > 0 ? costs[u] / total : 1.0 / parts->count;
        parts->weights[u] = llround(fmax(1, share * scale));
        parts->total += parts->weights[u];
    }
    return TUTTI_OK;
}

static void partitioner_add_edge(struct tt_partition_problem *parts, uint32_t *next, int32_t u, int32_t v,
                                 uint64_t values)
{
    parts->others[next[u]] = (uint32_t)v;
    parts->values[next[u]++] = (int64_t)values;
}

/* Both directions of a pair are one edge: a second entry for the same neighbour is added to the first. */
static void merge_edges(struct tt_partition_problem *parts, uint32_t *seen)
{
    uint32_t kept = 0, begin = 0;
    memset(seen, 0xff, parts->count * sizeof *seen); /* TUTTI_NONE */
    for (uint32_t u = 0; u < parts->count; u++) {
        uint32_t end = parts->first[u + 1], start = kept;
        for (uint32_t k = begin; k < end; k++) {
            uint32_t other = parts->others[k];
            if (seen[other] != TUTTI_NONE && seen[other] >= start) {
                parts->values[seen[other]] += parts->values[k];
                continue;
            }
            seen[other] = kept;
            parts->others[kept] = other;
            parts->values[kept++] = parts->values[k];
        }
        begin = end;
        parts->first[u] = start;
    }
    parts->first[parts->count] = kept;
}

static enum tutti_err build_unit_graph(struct tt_partition_problem *parts, const struct tt_system *system)
{
    struct tt_traffic *list;
    size_t count;
    TRY(tt_partitioner_list_traffic(&list, &count, system, NULL));
    uint32_t *next = calloc((size_t)parts->count + 1, sizeof *next);
    parts->first = calloc((size_t)parts->count + 1, sizeof *parts->first);
    parts->others = calloc(2 * count + 1, sizeof *parts->others);
    parts->values = calloc(2 * count + 1, sizeof *parts->values);
    bool made = next && parts->first && parts->others && parts->values;
    for (size_t i = 0; i < count && made; i++) {
        parts->first[list[i].from + 1]++;
        parts->first[list[i].to + 1]++;
    }
    for (uint32_t u = 0; u < parts->count && made; u++) {
        parts->first[u + 1] += parts->first[u];
        next[u] = parts->first[u];
    }
    for (size_t i = 0; i < count && made; i++) {
        partitioner_add_edge(parts, next, list[i].from, list[i].to, list[i].values);
        partitioner_add_edge(parts, next, list[i].to, list[i].from, list[i].values);
    }
    uint64_t values = 0;
    for (size_t i = 0; i < count; i++)
        values += list[i].values;
    parts->price = values > 0 ? PRICE * (double)parts->total / (double)values : 0;
    if (made)
        merge_edges(parts, next);
    free(next);
    free(list);
    return made ? TUTTI_OK : tt_fail_memory();
}

/* ---- who must be alone ---- */

/* Components that share an FMU and must not share a rank are a family, named by its first one. */
static int32_t family_of(const struct tt_partitioner_task *task, uint32_t c)
{
    const struct tt_component *components = task->system->components;
    if (!task->alone || !task->alone[c])
        return -1;
    for (uint32_t i = 0; i < c; i++)
        if (task->alone[i] && components[i].fmu == components[c].fmu)
            return (int32_t)i;
    return (int32_t)c;
}

static int family_size(const struct tt_system *system, const bool *alone, uint32_t first)
{
    int size = 0;
    for (uint32_t c = first; c < system->component_count; c++)
        size += alone[c] && system->components[c].fmu == system->components[first].fmu;
    return size;
}

int tt_partitioner_least_ranks(const struct tt_system *system, const bool *alone)
{
    int least = 1;
    for (uint32_t c = 0; alone && c < system->component_count; c++) {
        int size = alone[c] ? family_size(system, alone, c) : 0;
        least = size > least ? size : least;
    }
    return least;
}

/* So many units of a family are named. */
enum { MOST_NAMES = 6 };

static enum tutti_err fail_ranks(const struct tt_partitioner_task *task, uint32_t first, int size)
{
    struct tt_text names = {0};
    const struct tt_component *components = task->system->components;
    int named = 0;
    for (uint32_t c = first; c < task->system->component_count; c++) {
        if (!task->alone[c] || components[c].fmu != components[first].fmu)
            continue;
        struct tt_text_excerpt name = tt_text_excerpt(components[c].name);
        if (named++ < MOST_NAMES)
            tt_text_printf(&names, "%s%s", named > 1 ? ", " : "", name.text);
    }
    enum tutti_err err =
        tt_fail(TUTTI_ERR_ARGUMENT,
                "%s%s are of an FMU (%s) that can be instantiated only once per process: they need %d ranks that are "
                "processes, and there %s %d",
                names.text ? names.text : "", named > MOST_NAMES ? ", ..." : "", components[first].fmu->path, size,
                task->ranks == 1 ? "is" : "are", task->ranks);
    tt_text_fini(&names);
    return err;
}

/* No unit is fixed to the rank of another of its family. */
static enum tutti_err check_fixed(const struct tt_partitioner_task *task, const int32_t *family, uint32_t c)
{
    const struct tt_component *components = task->system->components;
    if (!task->fixed || task->fixed[c] < 0 || family[c] < 0)
        return TUTTI_OK;
    for (uint32_t i = (uint32_t)family[c]; i < c; i++)
        if (family[i] == family[c] && task->fixed[i] == task->fixed[c])
            return tt_fail(TUTTI_ERR_ARGUMENT,
                           "%s and %s cannot both be placed on rank %d: their FMU (%s) can be instantiated only once "
                           "per process",
                           components[i].name, components[c].name, (int)task->fixed[c], components[c].fmu->path);
    return TUTTI_OK;
}

/* ---- placing ---- */

/* With a rank for each: in order, around those that are fixed. */
static enum tutti_err place_one_per_rank(uint32_t count, int32_t ranks, const int32_t *fixed, int32_t *place)
{
    bool *taken = calloc((size_t)ranks, sizeof *taken);
    if (!taken)
        return tt_fail_memory();
    for (uint32_t u = 0; u < count; u++)
        if (fixed[u] >= 0)
            taken[fixed[u]] = true;
    int32_t next = 0;
    for (uint32_t u = 0; u < count; u++) {
        if (fixed[u] < 0) {
            while (taken[next])
                next++;
            taken[next] = true;
        }
        place[u] = fixed[u] < 0 ? next : fixed[u];
    }
    free(taken);
    return TUTTI_OK;
}

/* With fewer units than this in all, it is worth the time to begin in two ways; and with fewer on a rank, to let loads go more or
 * less beyond the mean so that less crosses. Beyond that METIS alone has units enough to have both. */
enum { FEW_IN_ALL = 300, FEW_ON_A_RANK = 50 };

/* The best end counts. */
static enum tutti_err place_by_trials(const struct tt_partition_problem *parts, int32_t *place, int32_t *scratch)
{
    static const double tolerances[] = {0.03, 0.1, 0.2, 0.4};
    uint32_t n = parts->count;
    int32_t *spread = scratch, *halves = scratch + n, *trial = halves + n;
    double mean = (double)parts->total / parts->ranks;
    struct tt_partition_merit best = {0}, merit;
    bool linked = parts->first[n] > 0;
    int trials = n / (uint32_t)parts->ranks < FEW_ON_A_RANK ? 4 : 1;
    TRY(tt_partition_search_spread(parts, spread));
    if (linked)
        TRY(tt_partition_search_bisect(parts, halves));
    for (int i = 0; i < trials; i++)
        for (int way = 0; way < 2; way++) {
            if (way == 0 ? linked && n > FEW_IN_ALL : !linked)
                continue;
            memcpy(trial, way ? halves : spread, n * sizeof *trial);
            TRY(tt_partition_search_improve(parts, (int64_t)ceil(mean * (1 + tolerances[i])), trial, &merit));
            if (best.load == 0 || tt_partition_search_is_better(parts, &merit, &best)) {
                best = merit;
                memcpy(place, trial, n * sizeof *place);
            }
        }
    return TUTTI_OK;
}

/* Ranks to which no unit is fixed are alike: numbered by their first unit. */
static void renumber_ranks(const struct tt_partition_problem *parts, int32_t *place, int32_t *name)
{
    for (int32_t r = 0; r < parts->ranks; r++)
        name[r] = -1;
    for (uint32_t u = 0; u < parts->count; u++)
        if (parts->fixed[u] >= 0)
            name[parts->fixed[u]] = parts->fixed[u];
    int32_t next = 0;
    for (uint32_t u = 0; u < parts->count; u++)
        if (name[place[u]] < 0) {
            bool taken = true;
            while (taken) { /* by a rank with a fixed unit */
                taken = false;
                for (int32_t r = 0; r < parts->ranks; r++)
                    taken = taken || name[r] == next;
                next += taken;
            }
            name[place[u]] = next++;
        }
    for (uint32_t u = 0; u < parts->count; u++)
        place[u] = name[place[u]];
}

enum tutti_err tt_partitioner_place(const struct tt_partitioner_task *task, int32_t *place)
{
    uint32_t count = task->system->component_count;
    int32_t *lists = calloc(5 * (size_t)count + 1, sizeof *lists);
    if (!lists)
        return tt_fail_memory();
    int32_t *family = lists, *fixed = lists + count, *scratch = fixed + count;
    struct tt_partition_problem parts = {.count = count, .ranks = task->ranks, .fixed = fixed, .family = family};
    enum tutti_err err = TUTTI_OK;
    for (uint32_t c = 0; c < count && !err; c++) {
        family[c] = family_of(task, c);
        int size = family[c] == (int32_t)c ? family_size(task->system, task->alone, c) : 0;
        err = size > task->ranks ? fail_ranks(task, c, size) : check_fixed(task, family, c);
    }
    for (uint32_t c = 0; c < count; c++)
        fixed[c] = task->fixed ? task->fixed[c] : -1;
    if (!err && (uint32_t)task->ranks >= count)
        err = place_one_per_rank(count, task->ranks, fixed, place);
    else if (!err && task->ranks == 1)
        memset(place, 0, count * sizeof *place);
    else if (!err) {
        err = set_unit_weights(&parts, task->costs);
        if (!err)
            err = build_unit_graph(&parts, task->system);
        if (!err && count <= TUTTI_PARTITION_FEW)
            tt_partition_search_exhaustive(&parts, place);
        else if (!err)
            err = place_by_trials(&parts, place, scratch);
        if (!err)
            renumber_ranks(&parts, place, scratch);
    }
    free(lists);
    free(parts.first);
    free(parts.others);
    free(parts.values);
    free(parts.weights);
    return err;
}
