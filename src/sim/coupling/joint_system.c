/* SPDX-License-Identifier: MIT */
#include "sim/coupling/joint_system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "sim/coupling/joint_loop.h"
#include "sim/coupling/joint_pattern.h"
#include "model/plan/eval_order.h"
#include "sim/rank.h"

/* ---- the order of evaluation ---- */

/* Returns true if the node belongs to one of the units, and moves between events. */
static bool joint_system_node_moves(const struct tt_joint_units *pool, const struct tt_structure_node *node)
{
    const struct tt_var *var = &pool->rank->job->system->components[node->component].fmu->desc->vars[node->variable];
    return pool->unit_of[node->component] && tt_type_is_float(var->type) && var->variability == TUTTI_CONTINUOUS;
}

/* The dependencies among these units: all else is known before an evaluation begins. */
static enum tutti_err cut_joint_structure(const struct tt_joint_units *pool, const struct tt_structure *running,
                                          struct tt_structure *cut)
{
    size_t edges = running->graph.first[running->node_count], count = 0;
    *cut = *running;
    uint32_t(*pairs)[2] = calloc(edges + 1, sizeof *pairs);
    if (!pairs)
        return tt_fail_memory();
    for (uint32_t n = 0; n < running->node_count; n++)
        for (uint32_t k = running->graph.first[n]; k < running->graph.first[n + 1]; k++)
            if (joint_system_node_moves(pool, &running->nodes[n]) &&
                joint_system_node_moves(pool, &running->nodes[running->graph.needs[k]])) {
                pairs[count][0] = n;
                pairs[count++][1] = running->graph.needs[k];
            }
    enum tutti_err err = tt_digraph_init(&cut->graph, running->node_count, (const uint32_t(*)[2])pairs, count);
    free(pairs);
    if (err)
        return err;
    err = tt_digraph_components_init(&cut->scc, &cut->graph);
    if (err)
        tt_digraph_fini(&cut->graph);
    return err;
}

/* Nodes of `cut` that move, as nodes of the structure that wires are laid out by. */
static uint32_t list_moving_nodes(const struct tt_joint_units *pool, const struct tt_structure *cut,
                                  const uint32_t *nodes, uint32_t count, uint32_t *taken)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct tt_structure_node *node = &cut->nodes[nodes[i]];
        if (joint_system_node_moves(pool, node))
            taken[kept++] =
                tt_structure_find(pool->rank->wires.structure, node->component, node->variable, node->output);
    }
    return kept;
}

/* Returns true if an input, or a loop, must wait for outputs that a different rank has just read. */
static bool joint_system_needs_exchange(const struct tt_joint_units *pool, const struct tt_structure *cut,
                                        const bool *fresh, const uint32_t *nodes, uint32_t count)
{
    const int32_t *place = pool->rank->place;
    for (uint32_t i = 0; i < count && place; i++)
        for (uint32_t k = cut->graph.first[nodes[i]]; k < cut->graph.first[nodes[i] + 1]; k++) {
            uint32_t source = cut->graph.needs[k];
            if (fresh[source] && place[cut->nodes[source].component] != place[cut->nodes[nodes[i]].component])
                return true;
        }
    return false;
}

/* `fresh`: per node, it was read since ranks heard of each other last. `taken`: room for nodes. */
static enum tutti_err joint_system_add_action(struct tt_joint_system *system, const struct tt_structure *cut,
                                              const uint32_t *nodes, const struct tt_eval_action *from, bool *fresh,
                                              uint32_t *taken)
{
    struct tt_joint_units *pool = &system->pool;
    uint32_t count = list_moving_nodes(pool, cut, nodes, from->count, taken);
    struct tt_joint_action *action;
    if (count == 0)
        return TUTTI_OK;
    if (from->kind != TUTTI_ACTION_GET && joint_system_needs_exchange(pool, cut, fresh, nodes, from->count)) {
        system->actions[system->action_count++].act = TUTTI_POOL_HEAR;
        memset(fresh, 0, cut->node_count * sizeof *fresh);
    }
    for (uint32_t i = 0; i < from->count; i++)
        fresh[nodes[i]] = from->kind == TUTTI_ACTION_GET; /* what a loop leaves, all ranks know */
    action = &system->actions[system->action_count++];
    if (from->kind == TUTTI_ACTION_SOLVE) {
        action->act = TUTTI_POOL_SOLVE;
        TRY(tt_joint_loop_new(&action->loop, pool, taken, count));
        system->loops[system->loop_count++] = action->loop;
        return TUTTI_OK;
    }
    action->act = from->kind == TUTTI_ACTION_SET ? TUTTI_POOL_SET : TUTTI_POOL_GET;
    return tt_joint_system_init_group(pool, taken, count, from->kind == TUTTI_ACTION_GET, &action->group);
}

static enum tutti_err make_joint_actions(struct tt_joint_system *system, const struct tt_structure *cut,
                                         const struct tt_eval_order *order)
{
    struct tt_arena *arena = &system->pool.arena;
    bool *fresh = tt_arena_array(arena, cut->node_count, sizeof *fresh);
    uint32_t *taken = tt_arena_array(arena, cut->node_count, sizeof *taken);
    system->actions = tt_arena_array(arena, order->action_count, 2 * sizeof *system->actions);
    system->loops = tt_arena_array(arena, order->loop_count, sizeof(struct tt_joint_loop *));
    if (!fresh || !taken || !system->actions || !system->loops)
        return tt_fail_memory();
    for (uint32_t a = 0; a < order->action_count; a++)
        TRY(joint_system_add_action(system, cut, order->nodes + order->actions[a].first, &order->actions[a], fresh,
                                    taken));
    return TUTTI_OK;
}

/* ---- outputs as unknowns ---- */

static enum tutti_err joint_system_reject_float32(const struct tt_joint_units *pool,
                                                  const struct tt_structure_node *node)
{
    struct tt_end end = {.component = node->component, .variable = node->variable};
    char name[256];
    return tt_fail(TUTTI_ERR_UNSUPPORTED,
                   "--solver ida has outputs of type Float64 as unknowns, and '%s' is of another type; use another "
                   "--solver",
                   tt_system_name(pool->rank->job->system, &end, name, sizeof name));
}

/* Outputs that inputs of the units read: nodes of `cut`, with the number of their values; in the order of units. */
static enum tutti_err find_dae_unknowns(struct tt_joint_system *system, const struct tt_structure *cut, uint32_t *nodes,
                                        uint32_t *values, uint32_t *count)
{
    struct tt_joint_units *pool = &system->pool;
    const struct tt_wires *wires = &pool->rank->wires;
    bool *read = tt_arena_array(&pool->arena, cut->node_count, sizeof *read);
    if (!read)
        return tt_fail_memory();
    for (uint32_t n = 0; n < cut->node_count; n++)
        for (uint32_t k = cut->graph.first[n]; !cut->nodes[n].output && k < cut->graph.first[n + 1]; k++)
            read[cut->graph.needs[k]] = true;
    for (uint32_t u = 0; u < pool->unit_count; u++) {
        uint32_t component = pool->units[u].member->component;
        for (uint32_t n = cut->component_first[component]; n < cut->component_first[component + 1]; n++) {
            const struct tt_structure_node *node = &cut->nodes[n];
            if (!read[n])
                continue;
            uint32_t wired = tt_structure_find(wires->structure, component, node->variable, true);
            if (!tt_wires_slot_is_double(&wires->slots[wired]))
                return joint_system_reject_float32(pool, node);
            nodes[*count] = n;
            values[(*count)++] = wires->slots[wired].count;
            system->unknowns.dae.count += wires->slots[wired].count;
        }
    }
    return TUTTI_OK;
}

/* Groups the variables set and read at every point. `taken`: room for twice the nodes. */
static enum tutti_err group_unit_variables(struct tt_joint_system *system, const struct tt_structure *cut,
                                           const uint32_t *unknowns, uint32_t count, uint32_t u, uint32_t *taken)
{
    struct tt_joint_units *pool = &system->pool;
    uint32_t component = pool->units[u].member->component, first = 0, end;
    uint32_t all = cut->component_first[component + 1] - cut->component_first[component];
    for (uint32_t i = 0; i < all; i++)
        taken[cut->node_count + i] = cut->component_first[component] + i;
    all = list_moving_nodes(pool, cut, taken + cut->node_count, all, taken);
    TRY(tt_joint_system_init_group(pool, taken, all, false, &system->unknowns.inputs[u]));
    while (first < count && cut->nodes[unknowns[first]].component != component)
        first++;
    for (end = first; end < count && cut->nodes[unknowns[end]].component == component;)
        end++;
    all = list_moving_nodes(pool, cut, unknowns + first, end - first, taken);
    return tt_joint_system_init_group(pool, taken, all, true, &system->unknowns.outputs[u]);
}

static void read_dae_nominals(struct tt_joint_system *system)
{
    const struct tt_joint_units *pool = &system->pool;
    const struct tt_wires *wires = &pool->rank->wires;
    double *nominal = system->unknowns.nominals;
    for (uint32_t u = 0; u < pool->unit_count; u++)
        for (uint32_t i = 0; i < system->unknowns.outputs[u].count; i++) {
            uint32_t at = system->unknowns.outputs[u].nodes[i];
            const struct tt_structure_node *node = &wires->structure->nodes[at];
            const struct tt_description *desc = pool->rank->job->system->components[node->component].fmu->desc;
            for (uint32_t e = 0; e < wires->slots[at].count; e++)
                *nominal++ = tt_wire_layout_nominal(&desc->vars[node->variable]);
        }
}

static enum tutti_err open_dae_unknowns(struct tt_joint_system *system, const struct tt_structure *cut)
{
    struct tt_joint_units *pool = &system->pool;
    struct tt_joint_unknowns *kept = &system->unknowns;
    uint32_t *nodes = tt_arena_array(&pool->arena, cut->node_count, sizeof *nodes), count = 0;
    uint32_t *values = tt_arena_array(&pool->arena, cut->node_count, sizeof *values);
    uint32_t *taken = tt_arena_array(&pool->arena, cut->node_count, 2 * sizeof *taken);
    kept->inputs = tt_arena_array(&pool->arena, pool->unit_count, sizeof *kept->inputs);
    kept->outputs = tt_arena_array(&pool->arena, pool->unit_count, sizeof *kept->outputs);
    if (!nodes || !values || !taken || !kept->inputs || !kept->outputs)
        return tt_fail_memory();
    TRY(find_dae_unknowns(system, cut, nodes, values, &count));
    for (uint32_t u = 0; u < pool->unit_count; u++)
        TRY(group_unit_variables(system, cut, nodes, count, u, taken));
    kept->nominals = tt_arena_array(&pool->arena, kept->dae.count, sizeof *kept->nominals);
    kept->shared = tt_arena_array(&pool->arena, pool->states + kept->dae.count + 1, sizeof *kept->shared);
    if (!kept->nominals || !kept->shared)
        return tt_fail_memory();
    read_dae_nominals(system);
    TRY(tt_joint_pattern_find_wide(pool, cut, nodes, values, count, &kept->pattern));
    kept->dae.pattern = &kept->pattern;
    kept->dae.nominals = kept->nominals;
    system->ode.dae = &kept->dae;
    return TUTTI_OK;
}

static enum tutti_err joint_system_plan(struct tt_joint_system *system, const struct tt_structure *running, bool keeps)
{
    struct tt_structure cut;
    struct tt_eval_order order = {0};
    TRY(cut_joint_structure(&system->pool, running, &cut));
    enum tutti_err err = tt_eval_order_init(&order, &cut, true);
    if (!err)
        err = make_joint_actions(system, &cut, &order);
    if (!err && system->pool.states > 0)
        err = tt_joint_pattern_find(&system->pool, &cut, &system->pattern);
    if (!err && keeps)
        err = open_dae_unknowns(system, &cut);
    tt_eval_order_fini(&order);
    tt_digraph_components_fini(&cut.scc);
    tt_digraph_fini(&cut.graph);
    return err;
}

/* ---- signals of other units ---- */

static enum tutti_err find_external_inputs(struct tt_joint_system *system)
{
    struct tt_joint_units *pool = &system->pool;
    const struct tt_wires *wires = &pool->rank->wires;
    bool *read = tt_arena_array(&pool->arena, wires->signal_size / sizeof(double) + 1, sizeof *read);
    system->outside = tt_arena_array(&pool->arena, wires->real_count, sizeof *system->outside);
    if (!system->outside || !read)
        return tt_fail_memory();
    for (uint32_t w = 0; w < wires->wire_count; w++) {
        const struct tt_wire *wire = &wires->wires[w];
        size_t first = wire->from / sizeof(double);
        for (size_t i = first; i < first + wire->count && i <= wires->signal_size / sizeof(double); i++)
            read[i] = read[i] || pool->unit_of[wire->connection->to.component];
    }
    for (uint32_t i = 0; i < wires->real_count; i++)
        if (read[wires->reals[i].place] && !pool->unit_of[wires->reals[i].component])
            system->outside[system->outside_count++].place = wires->reals[i].place;
    return TUTTI_OK;
}

static double *count_dae_reals(const struct tt_joint_system *system)
{
    return (double *)(void *)system->pool.rank->wires.signals;
}

static double external_input_at(const struct tt_joint_external *real, double elapsed)
{
    return real->value + elapsed * (real->rates[0] + elapsed / 2 * real->rates[1]);
}

void tt_joint_system_update_external(struct tt_joint_system *system, double t, bool *news)
{
    const struct tt_wires *wires = &system->pool.rank->wires;
    double elapsed = t - system->since;
    for (uint32_t i = 0; i < system->outside_count; i++) {
        struct tt_joint_external *real = &system->outside[i], now = {.place = real->place};
        now.value = count_dae_reals(system)[real->place];
        for (unsigned o = 0; o < wires->order; o++)
            now.rates[o] = wires->slopes[o][real->place];
        bool same = now.value == external_input_at(real, elapsed) &&
                    now.rates[0] == real->rates[0] + elapsed * real->rates[1] && now.rates[1] == real->rates[1];
        *news = *news || !same;
        *real = now;
    }
    system->since = t;
}

static void set_external_inputs(struct tt_joint_system *system, double t)
{
    for (uint32_t i = 0; i < system->outside_count; i++)
        count_dae_reals(system)[system->outside[i].place] = external_input_at(&system->outside[i], t - system->since);
}

/* ---- evaluation ---- */

/* Discarded points are not errors: the evaluation continues to its end, so that all ranks meet at collective calls. */
static enum tutti_err joint_system_run_action(struct tt_joint_units *pool, const struct tt_joint_action *action,
                                              double t, bool *good)
{
    const struct tt_joint_group *group = &action->group;
    if (action->act == TUTTI_POOL_HEAR)
        return tt_channels_exchange(&pool->rank->channels);
    if (action->act == TUTTI_POOL_SOLVE)
        return tt_joint_loop_solve(action->loop, t, good);
    if (!group->unit->own || !*good)
        return TUTTI_OK;
    enum tutti_err err = action->act == TUTTI_POOL_SET ? tt_joint_system_set_inputs(pool, group)
                                                       : tt_joint_system_get_outputs(pool, group);
    *good = err != TUTTI_ERR_DISCARD;
    return *good ? err : TUTTI_OK;
}

static enum tutti_err set_units_to_states(struct tt_joint_units *pool, double t, const double *x, bool *good)
{
    for (uint32_t u = 0; u < pool->unit_count && *good; u++) {
        const struct tt_joint_unit *unit = &pool->units[u];
        struct tt_unit *of = unit->member->unit;
        bool discarded = false;
        if (!unit->own)
            continue;
        tt_rank_publish_unit(pool->rank, unit->member->component);
        TRY(of->kind->equations->place(of, t, x + unit->first, &discarded));
        *good = !discarded;
    }
    return TUTTI_OK;
}

static enum tutti_err joint_system_run_actions(struct tt_joint_system *system, double t, const double *x, bool *good)
{
    *good = true;
    set_external_inputs(system, t);
    TRY(set_units_to_states(&system->pool, t, x, good));
    for (uint32_t a = 0; a < system->action_count; a++)
        TRY(joint_system_run_action(&system->pool, &system->actions[a], t, good));
    return TUTTI_OK;
}

enum tutti_err tt_joint_system_evaluate(struct tt_joint_system *system, double t, const double *x, bool *good)
{
    TRY(joint_system_run_actions(system, t, x, good));
    bool bad = !*good;
    TRY(tt_rank_agree_any(system->pool.rank, &bad));
    *good = !bad;
    return TUTTI_OK;
}

static enum tutti_err joint_system_get_derivatives(struct tt_joint_units *pool, double t, double *dx, bool *good)
{
    for (size_t i = 0; i < pool->states; i++)
        dx[i] = -INFINITY;
    for (uint32_t u = 0; u < pool->unit_count && *good; u++) {
        const struct tt_joint_unit *unit = &pool->units[u];
        struct tt_unit *of = unit->member->unit;
        size_t bad = 0;
        bool discarded = false;
        if (!unit->own)
            continue;
        tt_rank_publish_unit(pool->rank, unit->member->component);
        TRY(of->kind->equations->get_derivatives(of, dx + unit->first, &bad, &discarded));
        *good = !discarded && bad == unit->states;
        if (!*good)
            tt_joint_system_record_failure(pool, t, discarded ? SIZE_MAX : unit->first + bad, "");
    }
    return TUTTI_OK;
}

enum tutti_err tt_joint_system_get_derivatives(struct tt_joint_system *system, double t, double *dx, bool *good)
{
    return joint_system_get_derivatives(&system->pool, t, dx, good);
}

static enum tutti_err evaluate_rhs(struct tt_joint_system *system, double t, const double *x, double *dx, bool *good)
{
    struct tt_joint_units *pool = &system->pool;
    double *shared = pool->shared;
    TRY(joint_system_run_actions(system, t, x, good));
    TRY(joint_system_get_derivatives(pool, t, shared, good));
    for (size_t i = 0; i < pool->states && !*good; i++)
        shared[i] = 0;
    shared[pool->states] = *good ? 0 : 1;
    TRY(tt_joint_system_share_values(pool, shared, pool->states + 1));
    *good = shared[pool->states] == 0;
    memcpy(dx, shared, pool->states * sizeof *dx);
    if (!*good && !pool->miss.missed)
        tt_joint_system_record_failure(pool, t, SIZE_MAX, "");
    return TUTTI_OK;
}

/* A step of a solver may be any number of evaluations. */
static enum tutti_err joint_system_check_interrupt(const struct tt_joint_system *system, double t)
{
    const struct tutti_run_options *options = &system->pool.rank->job->options;
    if (__builtin_expect(!options->checkpoint && options->interrupt && *options->interrupt, 0))
        return tt_fail(TUTTI_ERR_INTERRUPTED,
                       "interrupted at t = %s, in a step of the solver; everything recorded is kept", TIME(t));
    return TUTTI_OK;
}

static enum tt_eval joint_system_solver_result(struct tt_joint_system *system, enum tutti_err err, bool good)
{
    system->ode.err = err;
    if (err)
        return TUTTI_EVAL_FAILED;
    return good ? TUTTI_EVAL_OK : TUTTI_EVAL_NO_VALUE;
}

static enum tt_eval joint_system_rhs(void *context, double t, const double *x, double *dx)
{
    struct tt_joint_system *system = context;
    bool good = true;
    enum tutti_err err = joint_system_check_interrupt(system, t);
    if (!err)
        err = evaluate_rhs(system, t, x, dx, &good);
    return joint_system_solver_result(system, err, good);
}

static void read_dae_unknowns(const struct tt_joint_system *system, double *w)
{
    const struct tt_joint_units *pool = &system->pool;
    for (uint32_t u = 0; u < pool->unit_count; u++)
        for (uint32_t i = 0; i < system->unknowns.outputs[u].count; i++) {
            const struct tt_slot *slot = &pool->rank->wires.slots[system->unknowns.outputs[u].nodes[i]];
            for (uint32_t e = 0; e < slot->count; e++)
                *w++ = pool->units[u].own ? ((const double *)slot->values)[e] : -INFINITY;
        }
}

/* All units at once: inputs are what the unknowns say. */
static enum tutti_err joint_system_evaluate_units(struct tt_joint_system *system)
{
    struct tt_joint_units *pool = &system->pool;
    for (uint32_t u = 0; u < pool->unit_count; u++)
        if (pool->units[u].own && system->unknowns.inputs[u].count > 0)
            TRY(tt_joint_system_set_inputs(pool, &system->unknowns.inputs[u]));
    for (uint32_t u = 0; u < pool->unit_count; u++)
        if (pool->units[u].own && system->unknowns.outputs[u].count > 0)
            TRY(tt_joint_system_get_outputs(pool, &system->unknowns.outputs[u]));
    return TUTTI_OK;
}

/* Collective: derivatives and unknowns of all ranks, from `shared`. */
static enum tutti_err share_dae_values(struct tt_joint_system *system, double *dx, double *image, bool *good)
{
    size_t states = system->pool.states, count = system->unknowns.dae.count;
    double *shared = system->unknowns.shared;
    for (size_t i = 0; i < states + count; i++)
        *good = *good && !isnan(shared[i]) && shared[i] != INFINITY;
    for (size_t i = 0; i < states + count && !*good; i++)
        shared[i] = 0;
    shared[states + count] = *good ? 0 : 1;
    TRY(tt_joint_system_share_values(&system->pool, shared, states + count + 1));
    *good = shared[states + count] == 0;
    for (size_t i = 0; i < states + count; i++)
        *good = *good && isfinite(shared[i]);
    if (dx)
        memcpy(dx, shared, states * sizeof *dx);
    memcpy(image, shared + states, count * sizeof *image);
    return TUTTI_OK;
}

static enum tutti_err evaluate_dae(struct tt_joint_system *system, double t, const double *x, const double *w,
                                   double *dx, double *image, bool *good)
{
    struct tt_joint_units *pool = &system->pool;
    TRY(joint_system_check_interrupt(system, t));
    set_external_inputs(system, t);

    /* The unknowns become the signals. */
    for (uint32_t u = 0; u < pool->unit_count; u++)
        for (uint32_t i = 0; i < system->unknowns.outputs[u].count; i++) {
            const struct tt_slot *slot = &pool->rank->wires.slots[system->unknowns.outputs[u].nodes[i]];
            memcpy(slot->values, w, slot->count * sizeof *w);
            w += slot->count;
        }

    TRY(set_units_to_states(pool, t, x, good));
    enum tutti_err err = *good ? joint_system_evaluate_units(system) : TUTTI_OK;
    *good = *good && err != TUTTI_ERR_DISCARD;
    TRY(err == TUTTI_ERR_DISCARD ? TUTTI_OK : err);
    TRY(joint_system_get_derivatives(pool, t, system->unknowns.shared, good));
    read_dae_unknowns(system, system->unknowns.shared + pool->states);
    return share_dae_values(system, dx, image, good);
}

static enum tt_eval dae_residual(void *context, double t, const double *x, const double *w, double *dx, double *image)
{
    struct tt_joint_system *system = context;
    bool good = true;
    enum tutti_err err = evaluate_dae(system, t, x, w, dx, image, &good);
    if (!err && !good && !system->pool.miss.missed)
        tt_joint_system_record_failure(&system->pool, t, SIZE_MAX, "");
    return joint_system_solver_result(system, err, good);
}

static enum tt_eval find_consistent_unknowns(void *context, double t, const double *x, double *w)
{
    struct tt_joint_system *system = context;
    bool good = true;
    enum tutti_err err = tt_joint_system_evaluate(system, t, x, &good);
    for (size_t i = 0; i < system->pool.states; i++)
        system->unknowns.shared[i] = 0;
    read_dae_unknowns(system, system->unknowns.shared + system->pool.states);
    if (!err)
        err = share_dae_values(system, NULL, w, &good);
    return joint_system_solver_result(system, err, good);
}

enum tutti_err tt_joint_system_explain_loops(struct tt_joint_system *system, double t, const double *x)
{
    bool good = true;
    if (system->loop_count > 0)
        TRY(tt_joint_system_evaluate(system, t, x, &good));
    for (uint32_t i = 0; i < system->loop_count && good && !system->pool.miss.missed; i++)
        TRY(tt_joint_loop_explain_failure(system->loops[i], t));
    return TUTTI_OK;
}

enum tutti_err tt_joint_system_move_to(struct tt_joint_system *system, double t, const double *x)
{
    struct tt_joint_units *pool = &system->pool;
    bool good;
    TRY(tt_joint_system_evaluate(system, t, x, &good));
    if (!good)
        return tt_fail(TUTTI_ERR_FMU,
                       "the units have no values at t = %s, which their solver had reached%s%s; check inputs and "
                       "parameters there",
                       TIME(t), pool->miss.why[0] ? ": " : "", pool->miss.why);
    for (uint32_t u = 0; u < pool->unit_count; u++) {
        const struct tt_joint_unit *unit = &pool->units[u];
        struct tt_unit *of = unit->member->unit;
        const struct tt_unit_wires *wires = unit->member->wires;
        unit->member->now.t = t;
        if (!unit->own)
            continue;
        tt_rank_publish_unit(pool->rank, unit->member->component);
        TRY(of->kind->equations->arrive(of, t, x + unit->first, wires->moving, wires->moving_blocks));
        TRY(tt_wires_get_outputs(wires, of));
    }
    return TUTTI_OK;
}

enum tutti_err tt_joint_system_get_excess(struct tt_joint_system *system, double *excess, size_t *bad)
{
    struct tt_joint_units *pool = &system->pool;
    double *shared = pool->shared, first = INFINITY;
    for (size_t i = 0; i < pool->marks; i++)
        shared[i] = -INFINITY;
    for (uint32_t u = 0; u < pool->unit_count; u++) {
        const struct tt_joint_unit *unit = &pool->units[u];
        struct tt_unit *of = unit->member->unit;
        size_t none;
        if (!unit->own || unit->marks == 0)
            continue;
        tt_rank_publish_unit(pool->rank, unit->member->component);
        TRY(of->kind->equations->get_excess(of, shared + unit->z_first, &none));
        for (size_t i = none; i < unit->marks; i++)
            shared[unit->z_first + i] = 0;
        if (none < unit->marks)
            first = fmin(first, (double)(unit->z_first + none));
    }
    shared[pool->marks] = -first; /* the least of all ranks, by a maximum */
    TRY(tt_joint_system_share_values(pool, shared, pool->marks + 1));
    memcpy(excess, shared, pool->marks * sizeof *excess);
    *bad = isfinite(shared[pool->marks]) ? (size_t)-shared[pool->marks] : pool->marks;
    return TUTTI_OK;
}

/* ---- open, close ---- */

static const char *joint_system_name_state(void *context, size_t i)
{
    return tt_joint_system_state_name(&((struct tt_joint_system *)context)->pool, i);
}

/* The tolerance of the strictest. */
static void make_joint_ode(struct tt_joint_system *system)
{
    const struct tt_joint_units *pool = &system->pool;
    system->ode = (struct tt_ode){.count = pool->states,
                                  .context = system,
                                  .rhs = joint_system_rhs,
                                  .nominals = pool->nominals,
                                  .rtol = INFINITY,
                                  .atol = INFINITY,
                                  .state_name = joint_system_name_state};
    for (uint32_t u = 0; u < pool->unit_count; u++) {
        const struct tt_integration *integration = &pool->units[u].member->setup.integration;
        system->ode.rtol = fmin(system->ode.rtol, integration->rtol);
        system->ode.atol = fmin(system->ode.atol, integration->atol);
    }
}

enum tutti_err tt_joint_system_init(struct tt_joint_system *system, struct tt_rank *rank,
                                    const struct tt_structure *running, bool keeps)
{
    TRY(tt_joint_system_init_units(&system->pool, rank));
    if (system->pool.unit_count == 0)
        return TUTTI_OK;
    make_joint_ode(system);
    TRY(find_external_inputs(system));
    TRY(joint_system_plan(system, running, keeps));
    system->ode.pattern = system->pattern.starts ? &system->pattern : NULL;
    system->unknowns.dae.evaluate = dae_residual;
    system->unknowns.dae.find = find_consistent_unknowns;
    return TUTTI_OK;
}

void tt_joint_system_fini(struct tt_joint_system *system)
{
    for (uint32_t i = 0; i < system->loop_count; i++)
        tt_joint_loop_free(system->loops[i]);
    tt_pattern_fini(&system->pattern);
    tt_pattern_fini(&system->unknowns.pattern);
    tt_joint_system_fini_units(&system->pool);
}
