/* SPDX-License-Identifier: MIT */
#include "master/coupling/pool_system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "master/coupling/pool_loop.h"
#include "master/coupling/pool_pattern.h"
#include "plan/order.h"
#include "rank/agree.h"

/* ---- the order of evaluation ---- */

/* Does the node belong to one of the units, and move between events? */
static bool moves(const struct tutti_pool *pool, const struct tutti_structure_node *node)
{
    const struct tutti_var *var = &pool->rank->job->system->components[node->component].fmu->desc->vars[node->variable];
    return pool->unit_of[node->component] && tutti_type_is_float(var->type) && var->variability == TUTTI_CONTINUOUS;
}

/* The dependencies among these units: all else is known before an evaluation begins. */
static enum tutti_err cut_structure(const struct tutti_pool *pool, const struct tutti_structure *running,
                                    struct tutti_structure *cut)
{
    size_t edges = running->graph.first[running->node_count], count = 0;
    *cut = *running;
    uint32_t(*pairs)[2] = calloc(edges + 1, sizeof *pairs);
    if (!pairs)
        return tutti_fail_memory();
    for (uint32_t n = 0; n < running->node_count; n++)
        for (uint32_t k = running->graph.first[n]; k < running->graph.first[n + 1]; k++)
            if (moves(pool, &running->nodes[n]) && moves(pool, &running->nodes[running->graph.needs[k]])) {
                pairs[count][0] = n;
                pairs[count++][1] = running->graph.needs[k];
            }
    enum tutti_err err = tutti_digraph_init(&cut->graph, running->node_count, (const uint32_t(*)[2])pairs, count);
    free(pairs);
    if (err)
        return err;
    err = tutti_components_init(&cut->scc, &cut->graph);
    if (err)
        tutti_digraph_fini(&cut->graph);
    return err;
}

/* Nodes of `cut` that move, as nodes of the structure that wires are laid out by. */
static uint32_t take_nodes(const struct tutti_pool *pool, const struct tutti_structure *cut, const uint32_t *nodes,
                           uint32_t count, uint32_t *taken)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct tutti_structure_node *node = &cut->nodes[nodes[i]];
        if (moves(pool, node))
            taken[kept++] =
                tutti_structure_find(pool->rank->wires.structure, node->component, node->variable, node->output);
    }
    return kept;
}

/* Has an input, or a loop, to wait for outputs that another rank has just read? */
static bool waits(const struct tutti_pool *pool, const struct tutti_structure *cut, const bool *fresh,
                  const uint32_t *nodes, uint32_t count)
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
static enum tutti_err add_action(struct tutti_pool_system *system, const struct tutti_structure *cut,
                                 const uint32_t *nodes, const struct tutti_action *from, bool *fresh, uint32_t *taken)
{
    struct tutti_pool *pool = &system->pool;
    uint32_t count = take_nodes(pool, cut, nodes, from->count, taken);
    struct tutti_pool_action *action;
    if (count == 0)
        return TUTTI_OK;
    if (from->kind != TUTTI_ACTION_GET && waits(pool, cut, fresh, nodes, from->count)) {
        system->actions[system->action_count++].act = TUTTI_POOL_HEAR;
        memset(fresh, 0, cut->node_count * sizeof *fresh);
    }
    for (uint32_t i = 0; i < from->count; i++)
        fresh[nodes[i]] = from->kind == TUTTI_ACTION_GET; /* what a loop leaves, all ranks know */
    action = &system->actions[system->action_count++];
    if (from->kind == TUTTI_ACTION_SOLVE) {
        action->act = TUTTI_POOL_SOLVE;
        TRY(tutti_pool_loop_new(&action->loop, pool, taken, count));
        system->loops[system->loop_count++] = action->loop;
        return TUTTI_OK;
    }
    action->act = from->kind == TUTTI_ACTION_SET ? TUTTI_POOL_SET : TUTTI_POOL_GET;
    return tutti_pool_group_init(pool, taken, count, from->kind == TUTTI_ACTION_GET, &action->group);
}

static enum tutti_err make_actions(struct tutti_pool_system *system, const struct tutti_structure *cut,
                                   const struct tutti_run_order *order)
{
    struct tutti_arena *arena = &system->pool.arena;
    bool *fresh = tutti_arena_array(arena, cut->node_count, sizeof *fresh);
    uint32_t *taken = tutti_arena_array(arena, cut->node_count, sizeof *taken);
    system->actions = tutti_arena_array(arena, order->action_count, 2 * sizeof *system->actions);
    system->loops = tutti_arena_array(arena, order->loop_count, sizeof(struct tutti_pool_loop *));
    if (!fresh || !taken || !system->actions || !system->loops)
        return tutti_fail_memory();
    for (uint32_t a = 0; a < order->action_count; a++)
        TRY(add_action(system, cut, order->nodes + order->actions[a].first, &order->actions[a], fresh, taken));
    return TUTTI_OK;
}

/* ---- outputs as unknowns ---- */

static enum tutti_err refuse_floats(const struct tutti_pool *pool, const struct tutti_structure_node *node)
{
    struct tutti_end end = {.component = node->component, .variable = node->variable};
    char name[256];
    return tutti_fail(TUTTI_ERR_UNSUPPORTED,
                      "--solver ida has outputs of type Float64 as unknowns, and '%s' is of another type; use another "
                      "--solver",
                      tutti_system_name(pool->rank->job->system, &end, name, sizeof name));
}

/* Outputs that inputs of the units read: nodes of `cut`, with the number of their values; in the order of units. */
static enum tutti_err find_unknowns(struct tutti_pool_system *system, const struct tutti_structure *cut,
                                    uint32_t *nodes, uint32_t *values, uint32_t *count)
{
    struct tutti_pool *pool = &system->pool;
    const struct tutti_wires *wires = &pool->rank->wires;
    bool *read = tutti_arena_array(&pool->arena, cut->node_count, sizeof *read);
    if (!read)
        return tutti_fail_memory();
    for (uint32_t n = 0; n < cut->node_count; n++)
        for (uint32_t k = cut->graph.first[n]; !cut->nodes[n].output && k < cut->graph.first[n + 1]; k++)
            read[cut->graph.needs[k]] = true;
    for (uint32_t u = 0; u < pool->unit_count; u++) {
        uint32_t component = pool->units[u].member->component;
        for (uint32_t n = cut->component_first[component]; n < cut->component_first[component + 1]; n++) {
            const struct tutti_structure_node *node = &cut->nodes[n];
            if (!read[n])
                continue;
            uint32_t wired = tutti_structure_find(wires->structure, component, node->variable, true);
            if (!tutti_slot_is_double(&wires->slots[wired]))
                return refuse_floats(pool, node);
            nodes[*count] = n;
            values[(*count)++] = wires->slots[wired].count;
            system->unknowns.dae.count += wires->slots[wired].count;
        }
    }
    return TUTTI_OK;
}

/* What is set and read at every point. `taken`: room for twice the nodes. */
static enum tutti_err group_unit(struct tutti_pool_system *system, const struct tutti_structure *cut,
                                 const uint32_t *unknowns, uint32_t count, uint32_t u, uint32_t *taken)
{
    struct tutti_pool *pool = &system->pool;
    uint32_t component = pool->units[u].member->component, first = 0, end;
    uint32_t all = cut->component_first[component + 1] - cut->component_first[component];
    for (uint32_t i = 0; i < all; i++)
        taken[cut->node_count + i] = cut->component_first[component] + i;
    all = take_nodes(pool, cut, taken + cut->node_count, all, taken);
    TRY(tutti_pool_group_init(pool, taken, all, false, &system->unknowns.inputs[u]));
    while (first < count && cut->nodes[unknowns[first]].component != component)
        first++;
    for (end = first; end < count && cut->nodes[unknowns[end]].component == component;)
        end++;
    all = take_nodes(pool, cut, unknowns + first, end - first, taken);
    return tutti_pool_group_init(pool, taken, all, true, &system->unknowns.outputs[u]);
}

static void take_nominals(struct tutti_pool_system *system)
{
    const struct tutti_pool *pool = &system->pool;
    const struct tutti_wires *wires = &pool->rank->wires;
    double *nominal = system->unknowns.nominals;
    for (uint32_t u = 0; u < pool->unit_count; u++)
        for (uint32_t i = 0; i < system->unknowns.outputs[u].count; i++) {
            uint32_t at = system->unknowns.outputs[u].nodes[i];
            const struct tutti_structure_node *node = &wires->structure->nodes[at];
            const struct tutti_desc *desc = pool->rank->job->system->components[node->component].fmu->desc;
            for (uint32_t e = 0; e < wires->slots[at].count; e++)
                *nominal++ = tutti_wires_nominal(&desc->vars[node->variable]);
        }
}

static enum tutti_err keep_unknowns(struct tutti_pool_system *system, const struct tutti_structure *cut)
{
    struct tutti_pool *pool = &system->pool;
    struct tutti_pool_unknowns *kept = &system->unknowns;
    uint32_t *nodes = tutti_arena_array(&pool->arena, cut->node_count, sizeof *nodes), count = 0;
    uint32_t *values = tutti_arena_array(&pool->arena, cut->node_count, sizeof *values);
    uint32_t *taken = tutti_arena_array(&pool->arena, cut->node_count, 2 * sizeof *taken);
    kept->inputs = tutti_arena_array(&pool->arena, pool->unit_count, sizeof *kept->inputs);
    kept->outputs = tutti_arena_array(&pool->arena, pool->unit_count, sizeof *kept->outputs);
    if (!nodes || !values || !taken || !kept->inputs || !kept->outputs)
        return tutti_fail_memory();
    TRY(find_unknowns(system, cut, nodes, values, &count));
    for (uint32_t u = 0; u < pool->unit_count; u++)
        TRY(group_unit(system, cut, nodes, count, u, taken));
    kept->nominals = tutti_arena_array(&pool->arena, kept->dae.count, sizeof *kept->nominals);
    kept->shared = tutti_arena_array(&pool->arena, pool->states + kept->dae.count + 1, sizeof *kept->shared);
    if (!kept->nominals || !kept->shared)
        return tutti_fail_memory();
    take_nominals(system);
    TRY(tutti_pool_find_wide_pattern(pool, cut, nodes, values, count, &kept->pattern));
    kept->dae.pattern = &kept->pattern;
    kept->dae.nominals = kept->nominals;
    system->ode.dae = &kept->dae;
    return TUTTI_OK;
}

static enum tutti_err plan(struct tutti_pool_system *system, const struct tutti_structure *running, bool keeps)
{
    struct tutti_structure cut;
    struct tutti_run_order order = {0};
    TRY(cut_structure(&system->pool, running, &cut));
    enum tutti_err err = tutti_order_init(&order, &cut, true);
    if (!err)
        err = make_actions(system, &cut, &order);
    if (!err && system->pool.states > 0)
        err = tutti_pool_find_pattern(&system->pool, &cut, &system->pattern);
    if (!err && keeps)
        err = keep_unknowns(system, &cut);
    tutti_order_fini(&order);
    tutti_components_fini(&cut.scc);
    tutti_digraph_fini(&cut.graph);
    return err;
}

/* ---- signals of other units ---- */

static enum tutti_err find_outside(struct tutti_pool_system *system)
{
    struct tutti_pool *pool = &system->pool;
    const struct tutti_wires *wires = &pool->rank->wires;
    bool *read = tutti_arena_array(&pool->arena, wires->signal_size / sizeof(double) + 1, sizeof *read);
    system->outside = tutti_arena_array(&pool->arena, wires->real_count, sizeof *system->outside);
    if (!system->outside || !read)
        return tutti_fail_memory();
    for (uint32_t w = 0; w < wires->wire_count; w++) {
        const struct tutti_wire *wire = &wires->wires[w];
        size_t first = wire->from / sizeof(double);
        for (size_t i = first; i < first + wire->count && i <= wires->signal_size / sizeof(double); i++)
            read[i] = read[i] || pool->unit_of[wire->connection->to.component];
    }
    for (uint32_t i = 0; i < wires->real_count; i++)
        if (read[wires->reals[i].place] && !pool->unit_of[wires->reals[i].component])
            system->outside[system->outside_count++].place = wires->reals[i].place;
    return TUTTI_OK;
}

static double *reals_of(const struct tutti_pool_system *system)
{
    return (double *)(void *)system->pool.rank->wires.signals;
}

static double outside_at(const struct tutti_pool_outside *real, double elapsed)
{
    return real->value + elapsed * (real->rates[0] + elapsed / 2 * real->rates[1]);
}

void tutti_pool_take_outside(struct tutti_pool_system *system, double t, bool *news)
{
    const struct tutti_wires *wires = &system->pool.rank->wires;
    double elapsed = t - system->since;
    for (uint32_t i = 0; i < system->outside_count; i++) {
        struct tutti_pool_outside *real = &system->outside[i], now = {.place = real->place};
        now.value = reals_of(system)[real->place];
        for (unsigned o = 0; o < wires->order; o++)
            now.rates[o] = wires->slopes[o][real->place];
        bool same = now.value == outside_at(real, elapsed) &&
                    now.rates[0] == real->rates[0] + elapsed * real->rates[1] && now.rates[1] == real->rates[1];
        *news = *news || !same;
        *real = now;
    }
    system->since = t;
}

static void move_outside(struct tutti_pool_system *system, double t)
{
    for (uint32_t i = 0; i < system->outside_count; i++)
        reals_of(system)[system->outside[i].place] = outside_at(&system->outside[i], t - system->since);
}

/* ---- evaluation ---- */

/* Discarded points are no errors: the evaluation goes on to its end, so that all ranks meet where they share something. */
static enum tutti_err act(struct tutti_pool *pool, const struct tutti_pool_action *action, double t, bool *good)
{
    const struct tutti_pool_group *group = &action->group;
    if (action->act == TUTTI_POOL_HEAR)
        return tutti_channels_exchange(&pool->rank->channels);
    if (action->act == TUTTI_POOL_SOLVE)
        return tutti_pool_loop_solve(action->loop, t, good);
    if (!group->unit->own || !*good)
        return TUTTI_OK;
    enum tutti_err err = action->act == TUTTI_POOL_SET ? tutti_pool_set_inputs(pool, group)
                                                       : tutti_pool_get_outputs(pool, group);
    *good = err != TUTTI_ERR_DISCARD;
    return *good ? err : TUTTI_OK;
}

static enum tutti_err place_units(struct tutti_pool *pool, double t, const double *x, bool *good)
{
    for (uint32_t u = 0; u < pool->unit_count && *good; u++) {
        const struct tutti_pool_unit *unit = &pool->units[u];
        struct tutti_unit *of = unit->member->unit;
        bool discarded = false;
        if (!unit->own)
            continue;
        tutti_rank_tell_unit(pool->rank, unit->member->component);
        TRY(of->kind->equations->place(of, t, x + unit->first, &discarded));
        *good = !discarded;
    }
    return TUTTI_OK;
}

static enum tutti_err sweep(struct tutti_pool_system *system, double t, const double *x, bool *good)
{
    *good = true;
    move_outside(system, t);
    TRY(place_units(&system->pool, t, x, good));
    for (uint32_t a = 0; a < system->action_count; a++)
        TRY(act(&system->pool, &system->actions[a], t, good));
    return TUTTI_OK;
}

enum tutti_err tutti_pool_evaluate(struct tutti_pool_system *system, double t, const double *x, bool *good)
{
    TRY(sweep(system, t, x, good));
    bool bad = !*good;
    TRY(tutti_agree_any(system->pool.rank, &bad));
    *good = !bad;
    return TUTTI_OK;
}

static enum tutti_err get_derivatives(struct tutti_pool *pool, double t, double *dx, bool *good)
{
    for (size_t i = 0; i < pool->states; i++)
        dx[i] = -INFINITY;
    for (uint32_t u = 0; u < pool->unit_count && *good; u++) {
        const struct tutti_pool_unit *unit = &pool->units[u];
        struct tutti_unit *of = unit->member->unit;
        size_t bad = 0;
        bool discarded = false;
        if (!unit->own)
            continue;
        tutti_rank_tell_unit(pool->rank, unit->member->component);
        TRY(of->kind->equations->get_derivatives(of, dx + unit->first, &bad, &discarded));
        *good = !discarded && bad == unit->states;
        if (!*good)
            tutti_pool_note_miss(pool, t, discarded ? SIZE_MAX : unit->first + bad, "");
    }
    return TUTTI_OK;
}

enum tutti_err tutti_pool_get_derivatives(struct tutti_pool_system *system, double t, double *dx, bool *good)
{
    return get_derivatives(&system->pool, t, dx, good);
}

static enum tutti_err evaluate_rhs(struct tutti_pool_system *system, double t, const double *x, double *dx, bool *good)
{
    struct tutti_pool *pool = &system->pool;
    double *shared = pool->shared;
    TRY(sweep(system, t, x, good));
    TRY(get_derivatives(pool, t, shared, good));
    for (size_t i = 0; i < pool->states && !*good; i++)
        shared[i] = 0;
    shared[pool->states] = *good ? 0 : 1;
    TRY(tutti_pool_share(pool, shared, pool->states + 1));
    *good = shared[pool->states] == 0;
    memcpy(dx, shared, pool->states * sizeof *dx);
    if (!*good && !pool->miss.missed)
        tutti_pool_note_miss(pool, t, SIZE_MAX, "");
    return TUTTI_OK;
}

/* A step of a solver may be any number of evaluations. */
static enum tutti_err check_interrupt(const struct tutti_pool_system *system, double t)
{
    const struct tutti_run_options *options = &system->pool.rank->job->options;
    if (__builtin_expect(!options->checkpoint && options->interrupt && *options->interrupt, 0))
        return tutti_fail(TUTTI_ERR_INTERRUPTED,
                          "interrupted at t = %s, in a step of the solver; everything recorded is kept", TIME(t));
    return TUTTI_OK;
}

static enum tutti_eval tell(struct tutti_pool_system *system, enum tutti_err err, bool good)
{
    system->ode.err = err;
    if (err)
        return TUTTI_EVAL_FAILED;
    return good ? TUTTI_EVAL_OK : TUTTI_EVAL_NO_VALUE;
}

static enum tutti_eval rhs(void *context, double t, const double *x, double *dx)
{
    struct tutti_pool_system *system = context;
    bool good = true;
    enum tutti_err err = check_interrupt(system, t);
    if (!err)
        err = evaluate_rhs(system, t, x, dx, &good);
    return tell(system, err, good);
}

/* Unknowns into the signals; and back, of own units. */
static void put_unknowns(const struct tutti_pool_system *system, const double *w)
{
    const struct tutti_pool *pool = &system->pool;
    for (uint32_t u = 0; u < pool->unit_count; u++)
        for (uint32_t i = 0; i < system->unknowns.outputs[u].count; i++) {
            const struct tutti_slot *slot = &pool->rank->wires.slots[system->unknowns.outputs[u].nodes[i]];
            memcpy(slot->values, w, slot->count * sizeof *w);
            w += slot->count;
        }
}

static void take_unknowns(const struct tutti_pool_system *system, double *w)
{
    const struct tutti_pool *pool = &system->pool;
    for (uint32_t u = 0; u < pool->unit_count; u++)
        for (uint32_t i = 0; i < system->unknowns.outputs[u].count; i++) {
            const struct tutti_slot *slot = &pool->rank->wires.slots[system->unknowns.outputs[u].nodes[i]];
            for (uint32_t e = 0; e < slot->count; e++)
                *w++ = pool->units[u].own ? ((const double *)slot->values)[e] : -INFINITY;
        }
}

/* All units at once: inputs are what the unknowns say. */
static enum tutti_err call_units(struct tutti_pool_system *system)
{
    struct tutti_pool *pool = &system->pool;
    for (uint32_t u = 0; u < pool->unit_count; u++)
        if (pool->units[u].own && system->unknowns.inputs[u].count > 0)
            TRY(tutti_pool_set_inputs(pool, &system->unknowns.inputs[u]));
    for (uint32_t u = 0; u < pool->unit_count; u++)
        if (pool->units[u].own && system->unknowns.outputs[u].count > 0)
            TRY(tutti_pool_get_outputs(pool, &system->unknowns.outputs[u]));
    return TUTTI_OK;
}

/* Collective: derivatives and unknowns of all ranks, from `shared`. */
static enum tutti_err share_wide(struct tutti_pool_system *system, double *dx, double *image, bool *good)
{
    size_t states = system->pool.states, count = system->unknowns.dae.count;
    double *shared = system->unknowns.shared;
    for (size_t i = 0; i < states + count; i++)
        *good = *good && !isnan(shared[i]) && shared[i] != INFINITY;
    for (size_t i = 0; i < states + count && !*good; i++)
        shared[i] = 0;
    shared[states + count] = *good ? 0 : 1;
    TRY(tutti_pool_share(&system->pool, shared, states + count + 1));
    *good = shared[states + count] == 0;
    for (size_t i = 0; i < states + count; i++)
        *good = *good && isfinite(shared[i]);
    if (dx)
        memcpy(dx, shared, states * sizeof *dx);
    memcpy(image, shared + states, count * sizeof *image);
    return TUTTI_OK;
}

static enum tutti_err evaluate_wide(struct tutti_pool_system *system, double t, const double *x, const double *w,
                                    double *dx, double *image, bool *good)
{
    struct tutti_pool *pool = &system->pool;
    TRY(check_interrupt(system, t));
    move_outside(system, t);
    put_unknowns(system, w);
    TRY(place_units(pool, t, x, good));
    enum tutti_err err = *good ? call_units(system) : TUTTI_OK;
    *good = *good && err != TUTTI_ERR_DISCARD;
    TRY(err == TUTTI_ERR_DISCARD ? TUTTI_OK : err);
    TRY(get_derivatives(pool, t, system->unknowns.shared, good));
    take_unknowns(system, system->unknowns.shared + pool->states);
    return share_wide(system, dx, image, good);
}

static enum tutti_eval wide(void *context, double t, const double *x, const double *w, double *dx, double *image)
{
    struct tutti_pool_system *system = context;
    bool good = true;
    enum tutti_err err = evaluate_wide(system, t, x, w, dx, image, &good);
    if (!err && !good && !system->pool.miss.missed)
        tutti_pool_note_miss(&system->pool, t, SIZE_MAX, "");
    return tell(system, err, good);
}

/* As they are where they are eliminated. */
static enum tutti_eval find_consistent(void *context, double t, const double *x, double *w)
{
    struct tutti_pool_system *system = context;
    bool good = true;
    enum tutti_err err = tutti_pool_evaluate(system, t, x, &good);
    for (size_t i = 0; i < system->pool.states; i++)
        system->unknowns.shared[i] = 0;
    take_unknowns(system, system->unknowns.shared + system->pool.states);
    if (!err)
        err = share_wide(system, NULL, w, &good);
    return tell(system, err, good);
}

enum tutti_err tutti_pool_blame_loops(struct tutti_pool_system *system, double t, const double *x)
{
    bool good = true;
    if (system->loop_count > 0)
        TRY(tutti_pool_evaluate(system, t, x, &good));
    for (uint32_t i = 0; i < system->loop_count && good && !system->pool.miss.missed; i++)
        TRY(tutti_pool_loop_blame(system->loops[i], t));
    return TUTTI_OK;
}

enum tutti_err tutti_pool_arrive(struct tutti_pool_system *system, double t, const double *x)
{
    struct tutti_pool *pool = &system->pool;
    bool good;
    TRY(tutti_pool_evaluate(system, t, x, &good));
    if (!good)
        return tutti_fail(TUTTI_ERR_FMU,
                          "the units have no values at t = %s, which their solver had reached%s%s; check inputs and "
                          "parameters there",
                          TIME(t), pool->miss.why[0] ? ": " : "", pool->miss.why);
    for (uint32_t u = 0; u < pool->unit_count; u++) {
        const struct tutti_pool_unit *unit = &pool->units[u];
        struct tutti_unit *of = unit->member->unit;
        const struct tutti_unit_wires *wires = unit->member->wires;
        unit->member->now.t = t;
        if (!unit->own)
            continue;
        tutti_rank_tell_unit(pool->rank, unit->member->component);
        TRY(of->kind->equations->arrive(of, t, x + unit->first, wires->moving, wires->moving_blocks));
        TRY(tutti_wires_get(wires, of));
    }
    return TUTTI_OK;
}

enum tutti_err tutti_pool_get_excess(struct tutti_pool_system *system, double *excess, size_t *bad)
{
    struct tutti_pool *pool = &system->pool;
    double *shared = pool->shared, first = INFINITY;
    for (size_t i = 0; i < pool->marks; i++)
        shared[i] = -INFINITY;
    for (uint32_t u = 0; u < pool->unit_count; u++) {
        const struct tutti_pool_unit *unit = &pool->units[u];
        struct tutti_unit *of = unit->member->unit;
        size_t none;
        if (!unit->own || unit->marks == 0)
            continue;
        tutti_rank_tell_unit(pool->rank, unit->member->component);
        TRY(of->kind->equations->get_excess(of, shared + unit->z_first, &none));
        for (size_t i = none; i < unit->marks; i++)
            shared[unit->z_first + i] = 0;
        if (none < unit->marks)
            first = fmin(first, (double)(unit->z_first + none));
    }
    shared[pool->marks] = -first; /* the least of all ranks, by a maximum */
    TRY(tutti_pool_share(pool, shared, pool->marks + 1));
    memcpy(excess, shared, pool->marks * sizeof *excess);
    *bad = isfinite(shared[pool->marks]) ? (size_t)-shared[pool->marks] : pool->marks;
    return TUTTI_OK;
}

/* ---- open, close ---- */

static const char *state_name(void *context, size_t i)
{
    return tutti_pool_state_name(&((struct tutti_pool_system *)context)->pool, i);
}

/* The tolerance of the strictest. */
static void make_ode(struct tutti_pool_system *system)
{
    const struct tutti_pool *pool = &system->pool;
    system->ode = (struct tutti_ode){.count = pool->states,
                                     .context = system,
                                     .rhs = rhs,
                                     .nominals = pool->nominals,
                                     .rtol = INFINITY,
                                     .atol = INFINITY,
                                     .state_name = state_name};
    for (uint32_t u = 0; u < pool->unit_count; u++) {
        const struct tutti_integration *integration = &pool->units[u].member->setup.integration;
        system->ode.rtol = fmin(system->ode.rtol, integration->rtol);
        system->ode.atol = fmin(system->ode.atol, integration->atol);
    }
}

enum tutti_err tutti_pool_system_init(struct tutti_pool_system *system, struct tutti_rank *rank,
                                      const struct tutti_structure *running, bool keeps)
{
    TRY(tutti_pool_init(&system->pool, rank));
    if (system->pool.unit_count == 0)
        return TUTTI_OK;
    make_ode(system);
    TRY(find_outside(system));
    TRY(plan(system, running, keeps));
    system->ode.pattern = system->pattern.starts ? &system->pattern : NULL;
    system->unknowns.dae.evaluate = wide;
    system->unknowns.dae.find = find_consistent;
    return TUTTI_OK;
}

void tutti_pool_system_fini(struct tutti_pool_system *system)
{
    for (uint32_t i = 0; i < system->loop_count; i++)
        tutti_pool_loop_free(system->loops[i]);
    tutti_pattern_fini(&system->pattern);
    tutti_pattern_fini(&system->unknowns.pattern);
    tutti_pool_fini(&system->pool);
}
