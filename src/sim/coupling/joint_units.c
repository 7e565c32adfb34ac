/* SPDX-License-Identifier: MIT */
#include "sim/coupling/joint_units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/rank.h"

/* ---- units ---- */

static int joint_system_compare_names(const void *a, const void *b)
{
    const struct tt_joint_unit *left = a, *right = b;
    int order = strcmp(left->member->unit->name, right->member->unit->name);
    return order ? order : (left->member->component > right->member->component) * 2 - 1;
}

static enum tutti_err find_joint_units(struct tt_joint_units *pool)
{
    struct tt_rank *rank = pool->rank;
    pool->units = tt_arena_array(&pool->arena, rank->member_count, sizeof *pool->units);
    pool->unit_of = tt_arena_array(&pool->arena, rank->member_count, sizeof(struct tt_joint_unit *));
    if (!pool->units || !pool->unit_of)
        return tt_fail_memory();
    for (uint32_t m = 0; m < rank->member_count; m++)
        if (rank->units[m]->kind->interface == TUTTI_ME)
            pool->units[pool->unit_count++] =
                (struct tt_joint_unit){.member = &rank->members[m], .own = tt_rank_owns(rank, m)};
    qsort(pool->units, pool->unit_count, sizeof *pool->units, joint_system_compare_names);
    for (uint32_t u = 0; u < pool->unit_count; u++) {
        const struct tt_member *member = pool->units[u].member;
        pool->unit_of[member->component] = &pool->units[u];
        pool->completes = pool->completes ||
                          (member->unit->fmu->desc->interfaces[TUTTI_ME].flags & TUTTI_NEEDS_COMPLETED_STEP) != 0;
        pool->driven = pool->driven || member->driven;
    }
    return TUTTI_OK;
}

/* Collective: only its own rank knows the number of a unit's states. */
static enum tutti_err joint_system_count_states(struct tt_joint_units *pool)
{
    double *counts = tt_arena_array(&pool->arena, pool->unit_count, 2 * sizeof *counts);
    if (!counts)
        return tt_fail_memory();
    for (uint32_t u = 0; u < pool->unit_count; u++) {
        const struct tt_unit *unit = pool->units[u].member->unit;
        size_t states = 0, marks = 0;
        if (pool->units[u].own)
            unit->kind->equations->count(unit, &states, &marks);
        counts[2 * u] = (double)states;
        counts[2 * u + 1] = (double)marks;
    }
    TRY(tt_rank_reduce(pool->rank, TUTTI_REDUCE_MAX, counts, 2 * (size_t)pool->unit_count));
    for (uint32_t u = 0; u < pool->unit_count; u++) {
        struct tt_joint_unit *unit = &pool->units[u];
        unit->first = pool->states;
        unit->z_first = pool->marks;
        unit->states = (size_t)counts[2 * u];
        unit->marks = (size_t)counts[2 * u + 1];
        pool->states += unit->states;
        pool->marks += unit->marks;
    }
    return TUTTI_OK;
}

struct tt_joint_unit *tt_joint_system_unit_of_state(const struct tt_joint_units *pool, size_t state)
{
    for (uint32_t u = 0; u < pool->unit_count; u++)
        if (state >= pool->units[u].first && state < pool->units[u].first + pool->units[u].states)
            return &pool->units[u];
    return NULL;
}

struct tt_joint_unit *tt_joint_system_unit_of_indicator(const struct tt_joint_units *pool, size_t mark)
{
    for (uint32_t u = 0; u < pool->unit_count; u++)
        if (mark >= pool->units[u].z_first && mark < pool->units[u].z_first + pool->units[u].marks)
            return &pool->units[u];
    return NULL;
}

const char *tt_joint_system_state_name(struct tt_joint_units *pool, size_t i)
{
    const struct tt_joint_unit *unit = tt_joint_system_unit_of_state(pool, i);
    struct tt_unit *of = unit->member->unit;
    if (unit->own)
        snprintf(pool->name, sizeof pool->name, "%s.%s", of->name,
                 of->kind->equations->state_name(of, i - unit->first));
    else
        snprintf(pool->name, sizeof pool->name, "%s: state %zu", of->name, i - unit->first + 1);
    return pool->name;
}

/* ---- what an evaluation is made of ---- */

void tt_joint_system_record_failure(struct tt_joint_units *pool, double t, size_t state, const char *why)
{
    pool->miss.missed = true;
    pool->miss.t = t;
    pool->miss.state = state;
    snprintf(pool->miss.why, sizeof pool->miss.why, "%s", why);
}

enum tutti_err tt_joint_system_share_values(struct tt_joint_units *pool, double *values, size_t count)
{
    return tt_rank_reduce(pool->rank, TUTTI_REDUCE_MAX, values, count);
}

static struct tt_block joint_system_slot_block(const struct tt_slot *slot)
{
    return (struct tt_block){
        (enum tt_type)slot->type, 1, slot->count, (uint32_t *)&slot->reference, slot->values, slot->owned};
}

enum tutti_err tt_joint_system_set_inputs(struct tt_joint_units *pool, const struct tt_joint_group *group)
{
    struct tt_wires *wires = &pool->rank->wires;
    struct tt_unit *unit = group->unit->member->unit;
    double *value = pool->values;
    for (uint32_t i = 0; i < group->count; i++) {
        const struct tt_slot *slot = &wires->slots[group->nodes[i]];
        TRY(tt_wires_gather_node(wires, group->nodes[i]));
        if (i >= group->float64s) {
            struct tt_block single = joint_system_slot_block(slot);
            TRY(unit->kind->equations->put(unit, &single));
            continue;
        }
        memcpy(value, slot->values, slot->count * sizeof *value);
        value += slot->count;
    }
    struct tt_block block = {TUTTI_TYPE_FLOAT64, group->float64s, group->values, group->references, pool->values, NULL};
    return group->float64s > 0 ? unit->kind->equations->put(unit, &block) : TUTTI_OK;
}

/* Reads of an evaluation are not counted: `gets` counts those at points that units reach. */
static enum tutti_err joint_system_read_block(struct tt_unit *unit, struct tt_block *block)
{
    enum tutti_err err = unit->kind->get(unit, block);
    unit->counts.gets--;
    return err;
}

enum tutti_err tt_joint_system_get_outputs(struct tt_joint_units *pool, const struct tt_joint_group *group)
{
    const struct tt_wires *wires = &pool->rank->wires;
    struct tt_unit *unit = group->unit->member->unit;
    struct tt_block block = {TUTTI_TYPE_FLOAT64, group->float64s, group->values, group->references, pool->values, NULL};
    if (group->float64s > 0)
        TRY(joint_system_read_block(unit, &block));
    const double *value = pool->values;
    for (uint32_t i = 0; i < group->count; i++) {
        const struct tt_slot *slot = &wires->slots[group->nodes[i]];
        struct tt_block single = joint_system_slot_block(slot);
        if (i >= group->float64s) {
            TRY(joint_system_read_block(unit, &single));
            continue;
        }
        memcpy(slot->values, value, slot->count * sizeof *value);
        value += slot->count;
    }
    return TUTTI_OK;
}

enum tutti_err tt_joint_system_init_group(struct tt_joint_units *pool, const uint32_t *nodes, uint32_t count,
                                          bool outputs, struct tt_joint_group *group)
{
    const struct tt_wires *wires = &pool->rank->wires;
    *group =
        (struct tt_joint_group){.unit = count > 0 ? pool->unit_of[wires->structure->nodes[nodes[0]].component] : NULL,
                                .nodes = tt_arena_array(&pool->arena, count, sizeof *group->nodes),
                                .references = tt_arena_array(&pool->arena, count, sizeof *group->references)};
    if (!group->nodes || !group->references)
        return tt_fail_memory();
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < count; i++) {
            const struct tt_slot *slot = &wires->slots[nodes[i]];
            bool is_double = tt_wires_slot_is_double(slot);
            if (wires->structure->nodes[nodes[i]].output != outputs || is_double != (pass == 0))
                continue;
            group->nodes[group->count++] = nodes[i];
            if (is_double) {
                group->references[group->float64s++] = slot->reference;
                group->values += slot->count;
            }
        }
    if (group->values > pool->room || !pool->values) {
        pool->values = tt_arena_array(&pool->arena, group->values, sizeof *pool->values);
        pool->room = group->values;
    }
    return pool->values ? TUTTI_OK : tt_fail_memory();
}

/* ---- open, close ---- */

enum tutti_err tt_joint_system_init_units(struct tt_joint_units *pool, struct tt_rank *rank)
{
    pool->rank = rank;
    TRY(find_joint_units(pool));
    TRY(joint_system_count_states(pool));
    pool->nominals = tt_arena_array(&pool->arena, pool->states, sizeof *pool->nominals);
    pool->shared = tt_arena_array(&pool->arena, 2 * pool->states + pool->marks + 3 * (size_t)pool->unit_count + 1,
                                  sizeof *pool->shared);
    return pool->nominals && pool->shared ? TUTTI_OK : tt_fail_memory();
}

void tt_joint_system_fini_units(struct tt_joint_units *pool)
{
    tt_arena_fini(&pool->arena);
}
