/* SPDX-License-Identifier: MIT */
/* Every node has the set of state variables that it depends on: of an output, those that the model structure names, and those of
 * the inputs that it needs; of an input, those of its sources. A derivative has those that its unknown names, and those of its
 * inputs. Nodes are gone through in the order of the strongly connected components, all of one component having the same. */
#include "sim/coupling/joint_pattern.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

/* State variables of one unit: arrays are one variable. */
struct state_axis {
    uint32_t first, count;                 /* among all variables */
    const struct tt_unknown **derivatives; /* of each; NULL: the model structure does not list them */
    uint32_t (*sorted)[2];                 /* their references, ascending, and numbers */
};

struct variable_set {
    uint32_t *items;
    size_t count, room;
};

struct pattern_builder {
    const struct tt_joint_units *pool;
    const struct tt_structure *cut;
    struct tt_arena arena;
    struct state_axis *axes;  /* per unit */
    size_t *starts;           /* per variable, and one more: its first state */
    uint32_t variables;       /* of all units */
    struct variable_set *of;  /* per node */
    bool *taken;              /* per variable: it is in the set that is being made */
    struct variable_set work; /* working set */
    struct tt_pattern_place *places;
    size_t place_count, place_room;
};

/* ---- state variables ---- */

static int joint_pattern_compare_references(const void *a, const void *b)
{
    const uint32_t *left = a, *right = b;
    return left[0] < right[0] ? -1 : left[0] > right[0];
}

/* FMI 2.0 and 3.0: in the order of their derivatives. False: the description does not list all. */
static enum tutti_err read_state_variables(struct pattern_builder *p, const struct tt_joint_unit *unit,
                                           struct state_axis *axis, bool *known)
{
    const struct tt_unit *of = unit->member->unit;
    const struct tt_description *desc = of->fmu->desc;
    uint32_t count = desc->fmi == 1 ? 0 : desc->derivatives.count;
    size_t states = 0;
    *known = count > 0 || unit->states == 0;
    axis->derivatives = tt_arena_array(&p->arena, count, sizeof(const struct tt_unknown *));
    axis->sorted = tt_arena_array(&p->arena, count, sizeof *axis->sorted);
    if (!axis->derivatives || !axis->sorted)
        return tt_fail_memory();
    for (uint32_t k = 0; k < count && *known; k++) {
        uint32_t state = desc->vars[desc->derivatives.items[k].variable].derivative_of;
        size_t extent = 0;
        *known = state != TUTTI_NONE;
        if (!*known)
            break;
        TRY(tt_unit_extent(of, state, &extent));
        axis->derivatives[k] = &desc->derivatives.items[k];
        axis->sorted[k][0] = desc->vars[state].reference;
        axis->sorted[k][1] = k;
        p->starts[axis->first + k] = unit->first + states;
        states += extent;
    }
    *known = *known && states == unit->states;
    axis->count = count;
    qsort(axis->sorted, count, sizeof *axis->sorted, joint_pattern_compare_references);
    return TUTTI_OK;
}

/* With room for `more` of them. */
static enum tutti_err find_state_variables(struct pattern_builder *p, size_t more)
{
    const struct tt_joint_units *pool = p->pool;
    size_t most = pool->states + more;
    for (uint32_t u = 0; u < pool->unit_count; u++)
        most += pool->units[u].member->unit->fmu->desc->derivatives.count + 1;
    p->axes = tt_arena_array(&p->arena, pool->unit_count, sizeof *p->axes);
    p->starts = tt_arena_array(&p->arena, most + 1, sizeof *p->starts);
    p->taken = tt_arena_array(&p->arena, most + 1, sizeof *p->taken);
    if (!p->axes || !p->starts || !p->taken)
        return tt_fail_memory();
    for (uint32_t u = 0; u < pool->unit_count; u++) {
        bool known;
        struct state_axis *axis = &p->axes[u];
        axis->first = p->variables;
        TRY(read_state_variables(p, &pool->units[u], axis, &known));
        if (!known) { /* all states of the unit as one variable */
            axis->count = pool->units[u].states > 0;
            axis->derivatives = NULL;
            if (pool->units[u].states > 0)
                p->starts[axis->first] = pool->units[u].first;
        }
        p->variables += axis->count;
    }
    p->starts[p->variables] = pool->states;
    return TUTTI_OK;
}

/* ---- sets ---- */

static enum tutti_err joint_pattern_add_variable(struct pattern_builder *p, uint32_t variable)
{
    if (p->taken[variable])
        return TUTTI_OK;
    if (!tt_vector_reserve(&p->work.items, &p->work.room, p->work.count + 1, sizeof *p->work.items))
        return tt_fail_memory();
    p->taken[variable] = true;
    p->work.items[p->work.count++] = variable;
    return TUTTI_OK;
}

static enum tutti_err joint_pattern_add_set(struct pattern_builder *p, const struct variable_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        TRY(joint_pattern_add_variable(p, set->items[i]));
    return TUTTI_OK;
}

static void joint_pattern_clear_set(struct pattern_builder *p)
{
    for (size_t i = 0; i < p->work.count; i++)
        p->taken[p->work.items[i]] = false;
    p->work.count = 0;
}

static enum tutti_err store_variable_set(struct pattern_builder *p, struct variable_set *set)
{
    *set = (struct variable_set){.items = tt_arena_array(&p->arena, p->work.count, sizeof *set->items),
                                 .count = p->work.count};
    if (!set->items)
        return tt_fail_memory();
    if (set->count > 0)
        memcpy(set->items, p->work.items, set->count * sizeof *set->items);
    joint_pattern_clear_set(p);
    return TUTTI_OK;
}

/* Adds states that an unknown depends on; all of the unit if it is NULL, or without declared dependencies. */
static enum tutti_err add_state_dependencies(struct pattern_builder *p, const struct state_axis *axis,
                                             const struct tt_description *desc, const struct tt_unknown *unknown)
{
    bool told = unknown && unknown->has_dependencies && axis->derivatives;
    for (uint32_t k = 0; k < axis->count && !told; k++)
        TRY(joint_pattern_add_variable(p, axis->first + k));
    for (uint32_t d = 0; told && d < unknown->dependency_count; d++) {
        const struct tt_var *var = &desc->vars[unknown->dependencies[d]];
        const uint32_t key[2] = {var->reference, 0}, *found = NULL;
        if (var->type == TUTTI_TYPE_FLOAT64)
            found = bsearch(key, axis->sorted, axis->count, sizeof *axis->sorted, joint_pattern_compare_references);
        if (found)
            TRY(joint_pattern_add_variable(p, axis->first + found[1]));
    }
    return TUTTI_OK;
}

/* ---- nodes ---- */

static const struct tt_description *joint_pattern_desc(const struct pattern_builder *p, uint32_t component)
{
    return p->pool->rank->job->system->components[component].fmu->desc;
}

static const struct tt_unknown *joint_pattern_find_unknown(const struct tt_description *desc, uint32_t variable)
{
    for (uint32_t i = 0; i < desc->outputs.count && desc->fmi > 1; i++)
        if (desc->outputs.items[i].variable == variable)
            return &desc->outputs.items[i];
    return NULL;
}

static enum tutti_err add_pattern_node(struct pattern_builder *p, uint32_t n)
{
    const struct tt_structure_node *node = &p->cut->nodes[n];
    const struct tt_joint_unit *unit = p->pool->unit_of[node->component];
    for (uint32_t k = p->cut->graph.first[n]; k < p->cut->graph.first[n + 1]; k++)
        TRY(joint_pattern_add_set(p, &p->of[p->cut->graph.needs[k]]));
    if (!unit || !node->output)
        return TUTTI_OK;
    const struct tt_description *desc = joint_pattern_desc(p, node->component);
    return add_state_dependencies(p, &p->axes[unit - p->pool->units], desc,
                                  joint_pattern_find_unknown(desc, node->variable));
}

static enum tutti_err find_pattern_nodes(struct pattern_builder *p)
{
    const struct tt_components *scc = &p->cut->scc;
    p->of = tt_arena_array(&p->arena, p->cut->node_count, sizeof *p->of);
    if (!p->of)
        return tt_fail_memory();
    for (uint32_t c = 0; c < scc->count; c++) {
        for (uint32_t i = scc->first[c]; i < scc->first[c + 1]; i++)
            TRY(add_pattern_node(p, scc->nodes[i]));
        struct variable_set set;
        TRY(store_variable_set(p, &set));
        for (uint32_t i = scc->first[c]; i < scc->first[c + 1]; i++)
            p->of[scc->nodes[i]] = set;
    }
    return TUTTI_OK;
}

/* ---- derivatives ---- */

/* Adds the dependencies of the unit's inputs: those that the unknown names, or all. */
static enum tutti_err add_input_dependencies(struct pattern_builder *p, uint32_t component,
                                             const struct tt_unknown *unknown)
{
    const struct tt_description *desc = joint_pattern_desc(p, component);
    bool told = unknown && unknown->has_dependencies;
    for (uint32_t n = p->cut->component_first[component]; n < p->cut->component_first[component + 1]; n++) {
        const struct tt_var *input = &desc->vars[p->cut->nodes[n].variable];
        bool depends = !told && !p->cut->nodes[n].output;
        for (uint32_t d = 0; told && !p->cut->nodes[n].output && d < unknown->dependency_count && !depends; d++) {
            const struct tt_var *var = &desc->vars[unknown->dependencies[d]];
            depends = var->type == input->type && var->reference == input->reference;
        }
        if (depends)
            TRY(joint_pattern_add_set(p, &p->of[n]));
    }
    return TUTTI_OK;
}

static enum tutti_err add_pattern_places(struct pattern_builder *p, uint32_t row)
{
    size_t height = p->starts[row + 1] - p->starts[row];
    for (size_t i = 0; i < p->work.count; i++) {
        size_t first = p->starts[p->work.items[i]], end = p->starts[p->work.items[i] + 1];
        if (!tt_vector_reserve(&p->places, &p->place_room, p->place_count + height * (end - first), sizeof *p->places))
            return tt_fail_memory();
        for (size_t r = p->starts[row]; r < p->starts[row + 1]; r++)
            for (size_t c = first; c < end; c++)
                p->places[p->place_count++] = (struct tt_pattern_place){(int32_t)r, (int32_t)c};
    }
    return TUTTI_OK;
}

static enum tutti_err joint_pattern_find_places(struct pattern_builder *p)
{
    for (uint32_t u = 0; u < p->pool->unit_count; u++) {
        const struct tt_joint_unit *unit = &p->pool->units[u];
        const struct state_axis *axis = &p->axes[u];
        uint32_t component = unit->member->component;
        for (uint32_t k = 0; k < axis->count; k++) {
            const struct tt_unknown *unknown = axis->derivatives ? axis->derivatives[k] : NULL;
            joint_pattern_clear_set(p);
            TRY(add_state_dependencies(p, axis, joint_pattern_desc(p, component), unknown));
            TRY(add_input_dependencies(p, component, unknown));
            TRY(add_pattern_places(p, axis->first + k));
        }
    }
    return TUTTI_OK;
}

static void joint_pattern_release(struct pattern_builder *p)
{
    free(p->work.items);
    free(p->places);
    tt_arena_fini(&p->arena);
}

enum tutti_err tt_joint_pattern_find(const struct tt_joint_units *pool, const struct tt_structure *cut,
                                     struct tt_pattern *pattern)
{
    struct pattern_builder p = {.pool = pool, .cut = cut};
    enum tutti_err err = find_state_variables(&p, 0);
    if (!err)
        err = find_pattern_nodes(&p);
    if (!err)
        err = joint_pattern_find_places(&p);
    if (!err)
        err = tt_pattern_init(pattern, (int32_t)pool->states, (int32_t)pool->states, p.places, p.place_count);
    joint_pattern_release(&p);
    return err;
}

/* ---- outputs that are not eliminated ---- */

/* These nodes are separate variables, and inputs depend on them alone. */
static enum tutti_err find_wide_nodes(struct pattern_builder *p, const uint32_t *unknowns, const uint32_t *values,
                                      uint32_t count)
{
    size_t at = p->pool->states;
    p->of = tt_arena_array(&p->arena, p->cut->node_count, sizeof *p->of);
    if (!p->of)
        return tt_fail_memory();
    for (uint32_t k = 0; k < count; k++) {
        p->starts[p->variables + k] = at;
        at += values[k];
        TRY(joint_pattern_add_variable(p, p->variables + k));
        TRY(store_variable_set(p, &p->of[unknowns[k]]));
    }
    p->starts[p->variables + count] = at;
    for (uint32_t n = 0; n < p->cut->node_count; n++) {
        if (p->cut->nodes[n].output)
            continue;
        TRY(add_pattern_node(p, n));
        TRY(store_variable_set(p, &p->of[n]));
    }
    return TUTTI_OK;
}

static enum tutti_err find_wide_places(struct pattern_builder *p, const uint32_t *unknowns, uint32_t count)
{
    TRY(joint_pattern_find_places(p));
    for (uint32_t k = 0; k < count; k++) {
        joint_pattern_clear_set(p);
        TRY(add_pattern_node(p, unknowns[k]));
        TRY(add_pattern_places(p, p->variables + k));
    }
    return TUTTI_OK;
}

enum tutti_err tt_joint_pattern_find_wide(const struct tt_joint_units *pool, const struct tt_structure *cut,
                                          const uint32_t *unknowns, const uint32_t *values, uint32_t count,
                                          struct tt_pattern *pattern)
{
    struct pattern_builder p = {.pool = pool, .cut = cut};
    enum tutti_err err = find_state_variables(&p, count);
    if (!err)
        err = find_wide_nodes(&p, unknowns, values, count);
    if (!err)
        err = find_wide_places(&p, unknowns, count);
    int32_t size = err ? 0 : (int32_t)p.starts[p.variables + count];
    if (!err)
        err = tt_pattern_init(pattern, size, size, p.places, p.place_count);
    joint_pattern_release(&p);
    return err;
}
