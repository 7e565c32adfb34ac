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
    uint32_t(*pairs)[2] = calloc(edges + 1, sizeof *pairs);
    if (!pairs)
        return tutti_fail_memory();
    *cut = *running;
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
                                   const struct tutti_order *order)
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

static enum tutti_err plan(struct tutti_pool_system *system, const struct tutti_structure *running)
{
    struct tutti_structure cut;
    struct tutti_order order = {0};
    TRY(cut_structure(&system->pool, running, &cut));
    enum tutti_err err = tutti_order_init(&order, &cut, true);
    if (!err)
        err = make_actions(system, &cut, &order);
    if (!err && system->pool.states > 0)
        err = tutti_pool_find_pattern(&system->pool, &cut, &system->pattern);
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

static enum tutti_eval rhs(void *context, double t, const double *x, double *dx)
{
    struct tutti_pool_system *system = context;
    const struct tutti_run_options *options = &system->pool.rank->job->options;
    bool good;
    if (__builtin_expect(!options->checkpoint && options->interrupt && *options->interrupt, 0))
        system->ode.err = tutti_fail(TUTTI_ERR_INTERRUPTED,
                                     "interrupted at t = %s, in a step of the solver; everything recorded is kept",
                                     TIME(t));
    else
        system->ode.err = evaluate_rhs(system, t, x, dx, &good);
    if (system->ode.err)
        return TUTTI_EVAL_FAILED;
    return good ? TUTTI_EVAL_OK : TUTTI_EVAL_NO_VALUE;
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
                                      const struct tutti_structure *running)
{
    TRY(tutti_pool_init(&system->pool, rank));
    if (system->pool.unit_count == 0)
        return TUTTI_OK;
    make_ode(system);
    TRY(find_outside(system));
    TRY(plan(system, running));
    system->ode.pattern = system->pattern.starts ? &system->pattern : NULL;
    return TUTTI_OK;
}

void tutti_pool_system_fini(struct tutti_pool_system *system)
{
    for (uint32_t i = 0; i < system->loop_count; i++)
        tutti_pool_loop_free(system->loops[i]);
    tutti_pattern_fini(&system->pattern);
    tutti_pool_fini(&system->pool);
}
