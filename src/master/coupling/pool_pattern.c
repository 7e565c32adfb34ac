/* SPDX-License-Identifier: MIT */
/* Every node has the set of state variables that it depends on: of an output, those that the model structure names, and those of
 * the inputs that it needs; of an input, those of its sources. A derivative has those that its unknown names, and those of its
 * inputs. Nodes are gone through in the order of the strongly connected components, all of one component having the same. */
#include "master/coupling/pool_pattern.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

/* State variables of one unit: arrays are one variable. */
struct axis {
    uint32_t first, count;                    /* among all variables */
    const struct tutti_unknown **derivatives; /* of each; NULL: the model structure does not tell */
    uint32_t (*sorted)[2];                    /* their references, ascending, and numbers */
};

struct set {
    uint32_t *items;
    size_t count, room;
};

struct patterns {
    const struct tutti_pool *pool;
    const struct tutti_structure *cut;
    struct tutti_arena arena;
    struct axis *axes;  /* per unit */
    size_t *starts;     /* per variable, and one more: its first state */
    uint32_t variables; /* of all units */
    struct set *of;     /* per node */
    bool *taken;        /* per variable: it is in the set that is being made */
    struct set work;    /* ... this one */
    struct tutti_pattern_place *places;
    size_t place_count, place_room;
};

/* ---- state variables ---- */

static int by_reference(const void *a, const void *b)
{
    const uint32_t *left = a, *right = b;
    return left[0] < right[0] ? -1 : left[0] > right[0];
}

/* FMI 2.0 and 3.0: in the order of their derivatives. False: the description does not tell them all. */
static enum tutti_err read_states(struct patterns *p, const struct tutti_pool_unit *unit, struct axis *axis,
                                  bool *known)
{
    const struct tutti_unit *of = unit->member->unit;
    const struct tutti_desc *desc = of->fmu->desc;
    uint32_t count = desc->fmi == 1 ? 0 : desc->derivatives.count;
    size_t states = 0;
    *known = count > 0 || unit->states == 0;
    axis->derivatives = tutti_arena_array(&p->arena, count, sizeof(const struct tutti_unknown *));
    axis->sorted = tutti_arena_array(&p->arena, count, sizeof *axis->sorted);
    if (!axis->derivatives || !axis->sorted)
        return tutti_fail_memory();
    for (uint32_t k = 0; k < count && *known; k++) {
        uint32_t state = desc->vars[desc->derivatives.items[k].variable].derivative_of;
        size_t extent = 0;
        *known = state != TUTTI_NONE;
        if (!*known)
            break;
        TRY(tutti_unit_extent(of, state, &extent));
        axis->derivatives[k] = &desc->derivatives.items[k];
        axis->sorted[k][0] = desc->vars[state].reference;
        axis->sorted[k][1] = k;
        p->starts[axis->first + k] = unit->first + states;
        states += extent;
    }
    *known = *known && states == unit->states;
    axis->count = count;
    qsort(axis->sorted, count, sizeof *axis->sorted, by_reference);
    return TUTTI_OK;
}

/* All states of a unit as one variable. */
static void take_as_one(struct patterns *p, const struct tutti_pool_unit *unit, struct axis *axis)
{
    axis->count = unit->states > 0;
    axis->derivatives = NULL;
    if (unit->states > 0)
        p->starts[axis->first] = unit->first;
}

/* With room for `more` of them. */
static enum tutti_err find_variables(struct patterns *p, size_t more)
{
    const struct tutti_pool *pool = p->pool;
    size_t most = pool->states + more;
    for (uint32_t u = 0; u < pool->unit_count; u++)
        most += pool->units[u].member->unit->fmu->desc->derivatives.count + 1;
    p->axes = tutti_arena_array(&p->arena, pool->unit_count, sizeof *p->axes);
    p->starts = tutti_arena_array(&p->arena, most + 1, sizeof *p->starts);
    p->taken = tutti_arena_array(&p->arena, most + 1, sizeof *p->taken);
    if (!p->axes || !p->starts || !p->taken)
        return tutti_fail_memory();
    for (uint32_t u = 0; u < pool->unit_count; u++) {
        bool known;
        p->axes[u].first = p->variables;
        TRY(read_states(p, &pool->units[u], &p->axes[u], &known));
        if (!known)
            take_as_one(p, &pool->units[u], &p->axes[u]);
        p->variables += p->axes[u].count;
    }
    p->starts[p->variables] = pool->states;
    return TUTTI_OK;
}

/* ---- sets ---- */

static enum tutti_err add(struct patterns *p, uint32_t variable)
{
    if (p->taken[variable])
        return TUTTI_OK;
    if (!tutti_vector_reserve(&p->work.items, &p->work.room, p->work.count + 1, sizeof *p->work.items))
        return tutti_fail_memory();
    p->taken[variable] = true;
    p->work.items[p->work.count++] = variable;
    return TUTTI_OK;
}

static enum tutti_err add_set(struct patterns *p, const struct set *set)
{
    for (size_t i = 0; i < set->count; i++)
        TRY(add(p, set->items[i]));
    return TUTTI_OK;
}

static void forget(struct patterns *p)
{
    for (size_t i = 0; i < p->work.count; i++)
        p->taken[p->work.items[i]] = false;
    p->work.count = 0;
}

/* What was added becomes a set. */
static enum tutti_err keep_set(struct patterns *p, struct set *set)
{
    *set =
        (struct set){.items = tutti_arena_array(&p->arena, p->work.count, sizeof *set->items), .count = p->work.count};
    if (!set->items)
        return tutti_fail_memory();
    if (set->count > 0)
        memcpy(set->items, p->work.items, set->count * sizeof *set->items);
    forget(p);
    return TUTTI_OK;
}

/* States that an unknown depends on; NULL, or one that does not tell: all of the unit. */
static enum tutti_err add_states(struct patterns *p, const struct axis *axis, const struct tutti_desc *desc,
                                 const struct tutti_unknown *unknown)
{
    bool told = unknown && unknown->has_dependencies && axis->derivatives;
    for (uint32_t k = 0; k < axis->count && !told; k++)
        TRY(add(p, axis->first + k));
    for (uint32_t d = 0; told && d < unknown->dependency_count; d++) {
        const struct tutti_var *var = &desc->vars[unknown->dependencies[d]];
        const uint32_t key[2] = {var->reference, 0}, *found = NULL;
        if (var->type == TUTTI_TYPE_FLOAT64)
            found = bsearch(key, axis->sorted, axis->count, sizeof *axis->sorted, by_reference);
        if (found)
            TRY(add(p, axis->first + found[1]));
    }
    return TUTTI_OK;
}

/* ---- nodes ---- */

static const struct tutti_desc *desc_of(const struct patterns *p, uint32_t component)
{
    return p->pool->rank->job->system->components[component].fmu->desc;
}

static const struct tutti_unknown *unknown_of(const struct tutti_desc *desc, uint32_t variable)
{
    for (uint32_t i = 0; i < desc->outputs.count && desc->fmi > 1; i++)
        if (desc->outputs.items[i].variable == variable)
            return &desc->outputs.items[i];
    return NULL;
}

static enum tutti_err add_node(struct patterns *p, uint32_t n)
{
    const struct tutti_structure_node *node = &p->cut->nodes[n];
    const struct tutti_pool_unit *unit = p->pool->unit_of[node->component];
    for (uint32_t k = p->cut->graph.first[n]; k < p->cut->graph.first[n + 1]; k++)
        TRY(add_set(p, &p->of[p->cut->graph.needs[k]]));
    if (!unit || !node->output)
        return TUTTI_OK;
    const struct tutti_desc *desc = desc_of(p, node->component);
    return add_states(p, &p->axes[unit - p->pool->units], desc, unknown_of(desc, node->variable));
}

static enum tutti_err find_nodes(struct patterns *p)
{
    const struct tutti_components *scc = &p->cut->scc;
    p->of = tutti_arena_array(&p->arena, p->cut->node_count, sizeof *p->of);
    if (!p->of)
        return tutti_fail_memory();
    for (uint32_t c = 0; c < scc->count; c++) {
        for (uint32_t i = scc->first[c]; i < scc->first[c + 1]; i++)
            TRY(add_node(p, scc->nodes[i]));
        struct set set;
        TRY(keep_set(p, &set));
        for (uint32_t i = scc->first[c]; i < scc->first[c + 1]; i++)
            p->of[scc->nodes[i]] = set;
    }
    return TUTTI_OK;
}

/* ---- derivatives ---- */

/* What the unit's inputs depend on: those that the unknown names, or all. */
static enum tutti_err add_inputs(struct patterns *p, uint32_t component, const struct tutti_unknown *unknown)
{
    const struct tutti_desc *desc = desc_of(p, component);
    bool told = unknown && unknown->has_dependencies;
    for (uint32_t n = p->cut->component_first[component]; n < p->cut->component_first[component + 1]; n++) {
        const struct tutti_var *input = &desc->vars[p->cut->nodes[n].variable];
        bool depends = !told && !p->cut->nodes[n].output;
        for (uint32_t d = 0; told && !p->cut->nodes[n].output && d < unknown->dependency_count && !depends; d++) {
            const struct tutti_var *var = &desc->vars[unknown->dependencies[d]];
            depends = var->type == input->type && var->reference == input->reference;
        }
        if (depends)
            TRY(add_set(p, &p->of[n]));
    }
    return TUTTI_OK;
}

static enum tutti_err add_places(struct patterns *p, uint32_t row)
{
    size_t height = p->starts[row + 1] - p->starts[row];
    for (size_t i = 0; i < p->work.count; i++) {
        size_t first = p->starts[p->work.items[i]], end = p->starts[p->work.items[i] + 1];
        if (!tutti_vector_reserve(&p->places, &p->place_room, p->place_count + height * (end - first),
                                  sizeof *p->places))
            return tutti_fail_memory();
        for (size_t r = p->starts[row]; r < p->starts[row + 1]; r++)
            for (size_t c = first; c < end; c++)
                p->places[p->place_count++] = (struct tutti_pattern_place){(int32_t)r, (int32_t)c};
    }
    return TUTTI_OK;
}

static enum tutti_err find_places(struct patterns *p)
{
    for (uint32_t u = 0; u < p->pool->unit_count; u++) {
        const struct tutti_pool_unit *unit = &p->pool->units[u];
        const struct axis *axis = &p->axes[u];
        uint32_t component = unit->member->component;
        for (uint32_t k = 0; k < axis->count; k++) {
            const struct tutti_unknown *unknown = axis->derivatives ? axis->derivatives[k] : NULL;
            forget(p);
            TRY(add_states(p, axis, desc_of(p, component), unknown));
            TRY(add_inputs(p, component, unknown));
            TRY(add_places(p, axis->first + k));
        }
    }
    return TUTTI_OK;
}

static void release(struct patterns *p)
{
    free(p->work.items);
    free(p->places);
    tutti_arena_fini(&p->arena);
}

enum tutti_err tutti_pool_find_pattern(const struct tutti_pool *pool, const struct tutti_structure *cut,
                                       struct tutti_pattern *pattern)
{
    struct patterns p = {.pool = pool, .cut = cut};
    enum tutti_err err = find_variables(&p, 0);
    if (!err)
        err = find_nodes(&p);
    if (!err)
        err = find_places(&p);
    if (!err)
        err = tutti_pattern_init(pattern, (int32_t)pool->states, (int32_t)pool->states, p.places, p.place_count);
    release(&p);
    return err;
}

/* ---- outputs that are not eliminated ---- */

/* They are variables of their own, and inputs depend on them alone. */
static enum tutti_err find_wide_nodes(struct patterns *p, const uint32_t *unknowns, const uint32_t *values,
                                      uint32_t count)
{
    size_t at = p->pool->states;
    p->of = tutti_arena_array(&p->arena, p->cut->node_count, sizeof *p->of);
    if (!p->of)
        return tutti_fail_memory();
    for (uint32_t k = 0; k < count; k++) {
        p->starts[p->variables + k] = at;
        at += values[k];
        TRY(add(p, p->variables + k));
        TRY(keep_set(p, &p->of[unknowns[k]]));
    }
    p->starts[p->variables + count] = at;
    for (uint32_t n = 0; n < p->cut->node_count; n++) {
        if (p->cut->nodes[n].output)
            continue;
        TRY(add_node(p, n));
        TRY(keep_set(p, &p->of[n]));
    }
    return TUTTI_OK;
}

static enum tutti_err find_wide_places(struct patterns *p, const uint32_t *unknowns, uint32_t count)
{
    TRY(find_places(p));
    for (uint32_t k = 0; k < count; k++) {
        forget(p);
        TRY(add_node(p, unknowns[k]));
        TRY(add_places(p, p->variables + k));
    }
    return TUTTI_OK;
}

enum tutti_err tutti_pool_find_wide_pattern(const struct tutti_pool *pool, const struct tutti_structure *cut,
                                            const uint32_t *unknowns, const uint32_t *values, uint32_t count,
                                            struct tutti_pattern *pattern)
{
    struct patterns p = {.pool = pool, .cut = cut};
    enum tutti_err err = find_variables(&p, count);
    if (!err)
        err = find_wide_nodes(&p, unknowns, values, count);
    if (!err)
        err = find_wide_places(&p, unknowns, count);
    int32_t size = err ? 0 : (int32_t)p.starts[p.variables + count];
    if (!err)
        err = tutti_pattern_init(pattern, size, size, p.places, p.place_count);
    release(&p);
    return err;
}
