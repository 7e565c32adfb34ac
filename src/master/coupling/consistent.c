/* SPDX-License-Identifier: MIT */
#include "master/coupling/consistent.h"

#include <math.h>
#include <stdlib.h>

#include "plan/order.h"
#include "rank/agree.h"
#include "rank/settle.h"
#include "start/block.h"
#include "start/spread.h"

struct tutti_consistent {
    struct tutti_rank *rank; /* borrowed */
    /* What is computed, one after the other: nodes of the run's structure, which the signals are laid out by. */
    struct tutti_action *actions;
    uint32_t action_count;
    uint32_t *nodes;
    bool *takes_part;   /* per component */
    bool enters_events; /* some unit of any rank has to enter event mode */
    struct tutti_spread spread;
    struct tutti_failure failure; /* of the last solution ... */
    uint32_t failed;              /* ... of a loop with this component */
    struct tutti_arena arena;
};

/* ---- getting ready ---- */

static bool can_be_read_again(const struct tutti_unit *unit)
{
    return unit->kind->interface == TUTTI_ME || (unit->has_events && unit->fmu->desc->fmi >= 3);
}

static bool is_continuous(const struct tutti_structure *running, uint32_t node)
{
    const struct tutti_structure_node *n = &running->nodes[node];
    const struct tutti_var *var = &running->system->components[n->component].fmu->desc->vars[n->variable];
    return (var->type == TUTTI_TYPE_FLOAT64 || var->type == TUTTI_TYPE_FLOAT32) && var->variability == TUTTI_CONTINUOUS;
}

/* Outputs that follow a continuous input at once, and these inputs. */
static void find_followers(const struct tutti_consistent *c, const struct tutti_structure *running, bool *counts)
{
    const struct tutti_digraph *graph = &running->graph;
    for (uint32_t n = 0; n < running->node_count; n++)
        for (uint32_t k = graph->first[n]; running->nodes[n].output && k < graph->first[n + 1]; k++)
            if (c->takes_part[running->nodes[n].component] && is_continuous(running, n) &&
                is_continuous(running, graph->needs[k]))
                counts[n] = counts[graph->needs[k]] = true;
}

static int ascending(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return left < right ? -1 : left > right;
}

/* The part of an action of the running system that counts, in nodes of the run's structure. */
static void add_action(struct tutti_consistent *c, const struct tutti_structure *running,
                       const struct tutti_run_order *order, const struct tutti_action *action, const bool *counts,
                       uint32_t *used)
{
    struct tutti_action own = {.kind = action->kind, .component = action->component, .first = *used};
    for (uint32_t i = action->first; i < action->first + action->count; i++) {
        const struct tutti_structure_node *node = &running->nodes[order->nodes[i]];
        if (counts[order->nodes[i]])
            c->nodes[(*used)++] =
                tutti_structure_find(&c->rank->job->structure, node->component, node->variable, node->output);
    }
    own.count = *used - own.first;
    if (own.count == 0)
        return;
    qsort(c->nodes + own.first, own.count, sizeof *c->nodes, ascending);
    c->actions[c->action_count++] = own;
}

static enum tutti_err plan(struct tutti_consistent *c, const struct tutti_structure *running)
{
    struct tutti_run_order order;
    TRY(tutti_order_init(&order, running, true));
    bool *counts = tutti_arena_array(&c->arena, running->node_count, sizeof *counts);
    c->nodes = tutti_arena_array(&c->arena, running->node_count, sizeof *c->nodes);
    c->actions = tutti_arena_array(&c->arena, order.action_count, sizeof *c->actions);
    bool all = counts && c->nodes && c->actions;
    if (all) {
        uint32_t used = 0;
        find_followers(c, running, counts);
        for (uint32_t a = 0; a < order.action_count; a++)
            add_action(c, running, &order, &order.actions[a], counts, &used);
    }
    tutti_order_fini(&order);
    return all ? TUTTI_OK : tutti_fail_memory();
}

static enum tutti_err refuse(const struct tutti_unit *unit)
{
    bool me = unit->fmu->desc->interfaces[TUTTI_ME].present;
    return tutti_fail(TUTTI_ERR_UNSUPPORTED,
                      "--correct solve reads units in an algebraic loop again after their inputs are set, and FMI does "
                      "not allow that of '%s' (%s): it is for Co-Simulation, and has no event mode (FMI 3.0); use "
                      "%s--correct linear or --coupling relax",
                      unit->name, unit->fmu->path, me ? "--interface me, " : "an export for Model Exchange, ");
}

/* Does one of its continuous outputs follow an input? */
static bool follows(const struct tutti_structure *running, uint32_t component)
{
    for (uint32_t n = running->component_first[component]; n < running->component_first[component + 1]; n++)
        if (running->nodes[n].output && running->graph.first[n] < running->graph.first[n + 1])
            return true;
    return false;
}

static enum tutti_err look_at_units(struct tutti_consistent *c, const struct tutti_structure *running)
{
    struct tutti_rank *rank = c->rank;
    c->takes_part = tutti_arena_array(&c->arena, rank->member_count, sizeof *c->takes_part);
    if (!c->takes_part)
        return tutti_fail_memory();
    for (uint32_t m = 0; m < rank->member_count; m++) {
        const struct tutti_unit *unit = rank->units[m];
        bool able = can_be_read_again(unit);
        c->takes_part[m] = able && follows(running, m);
        c->enters_events = c->enters_events || (c->takes_part[m] && unit->kind->interface == TUTTI_CS);
        if (!able && tutti_structure_is_in_loop(running, m))
            return refuse(unit);
        if (!able && follows(running, m) && tutti_rank_owns(rank, m))
            tutti_log_printf(rank->unit_log, TUTTI_LOG_INFO, unit->name,
                             "--correct solve leaves its outputs as they are: FMI does not allow to read it again; it "
                             "is in no algebraic loop");
    }
    return TUTTI_OK;
}

enum tutti_err tutti_consistent_open(struct tutti_consistent **out, struct tutti_rank *rank,
                                     const struct tutti_structure *running)
{
    struct tutti_consistent *c = *out = calloc(1, sizeof *c);
    if (!c)
        return tutti_fail_memory();
    c->rank = rank;
    TRY(tutti_spread_init(&c->spread, rank, &c->arena));
    TRY(look_at_units(c, running));
    return plan(c, running);
}

void tutti_consistent_close(struct tutti_consistent *c)
{
    if (c)
        tutti_arena_fini(&c->arena);
    free(c);
}

/* ---- event mode ---- */

static bool enters(const struct tutti_consistent *c, const struct tutti_member *member)
{
    return c->takes_part[member->component] && member->unit->kind->interface == TUTTI_CS;
}

bool tutti_consistent_enters_events(const struct tutti_consistent *c)
{
    return c->enters_events;
}

enum tutti_err tutti_consistent_is_possible(struct tutti_consistent *c, bool *possible)
{
    struct tutti_rank *rank = c->rank;
    bool waits = false;
    for (uint32_t m = 0; m < rank->own_count; m++)
        waits = waits || (enters(c, rank->own[m]) && rank->own[m]->now.event);
    if (c->enters_events)
        TRY(tutti_agree_any(rank, &waits));
    *possible = !waits;
    return TUTTI_OK;
}

static enum tutti_err enter(struct tutti_consistent *c)
{
    struct tutti_rank *rank = c->rank;
    for (uint32_t m = 0; m < rank->own_count; m++)
        if (enters(c, rank->own[m]))
            TRY(rank->own[m]->unit->kind->enter_event(rank->own[m]->unit));
    return TUTTI_OK;
}

static enum tutti_err leave(struct tutti_consistent *c, struct tutti_outcome *outcome)
{
    struct tutti_rank *rank = c->rank;
    for (uint32_t m = 0; m < rank->own_count; m++) {
        struct tutti_member *member = rank->own[m];
        bool ended = false;
        if (!enters(c, member))
            continue;
        TRY(tutti_member_settle(rank, member, &ended));
        if (ended)
            tutti_outcome_ended(outcome, member->component, member->now.t);
        TRY(tutti_wires_get(member->wires, member->unit));
    }
    return TUTTI_OK;
}

/* ---- solving ---- */

/* A loop that has no solution is noted: other ranks go on, and so does this one, up to where all agree on it. */
static enum tutti_err solve_loop(struct tutti_consistent *c, const uint32_t *nodes, uint32_t count,
                                 const struct tutti_block_run *run)
{
    enum tutti_err err = tutti_block_solve(c->rank, nodes, count, run, NULL);
    if (err == TUTTI_ERR_SOLVER) {
        tutti_failure_keep(&c->failure, err);
        c->failed = c->rank->job->structure.nodes[nodes[0]].component;
    }
    return err == TUTTI_ERR_SOLVER ? TUTTI_OK : err;
}

static enum tutti_err set_or_get(struct tutti_rank *rank, enum tutti_action_kind kind, uint32_t node)
{
    if (kind == TUTTI_ACTION_GET)
        return tutti_node_read(rank, node);
    TRY(tutti_wires_gather_node(&rank->wires, node));
    return tutti_node_write(rank, node);
}

static enum tutti_err act(struct tutti_consistent *c, const struct tutti_action *action,
                          const struct tutti_block_run *run)
{
    const uint32_t *nodes = c->nodes + action->first;
    bool here;
    TRY(tutti_spread_begin(&c->spread, nodes, action->count, &here));
    if (here && action->kind == TUTTI_ACTION_SOLVE)
        return solve_loop(c, nodes, action->count, run);
    for (uint32_t i = 0; i < action->count && here; i++)
        TRY(set_or_get(c->rank, action->kind, nodes[i]));
    return TUTTI_OK;
}

/* Inputs of this unit move, and derivatives of its outputs depend on how. */
static bool derives(const struct tutti_member *member)
{
    return member->unit->kind->interface == TUTTI_ME && member->wires->slopes;
}

/* Inputs that moved in the step are now those of its end, with the slopes that they have there. */
static void end_movement(const struct tutti_rank *rank, struct tutti_member *member)
{
    const struct tutti_wires *wires = &rank->wires;
    const struct tutti_unit_wires *unit = member->wires;
    double elapsed = member->now.t - member->now.staged_at;
    for (uint32_t i = unit->gather_first; elapsed > 0 && i < unit->gather_first + unit->gather_count; i++) {
        wires->gathered[i] = tutti_wires_moved(wires, i, elapsed);
        if (wires->order > 1)
            wires->gathered_slopes[0][i] += elapsed * wires->gathered_slopes[1][i];
    }
}

static void begin_here(const struct tutti_consistent *c)
{
    struct tutti_rank *rank = c->rank;
    for (uint32_t m = 0; m < rank->own_count; m++) {
        struct tutti_member *member = rank->own[m];
        if (!c->takes_part[member->component])
            continue;
        if (derives(member))
            end_movement(rank, member);
        member->now.staged_at = member->now.t;
        member->now.slopes_at = -INFINITY;
    }
}

/* Values that were set let inputs stand. They move on as before: the second derivatives of outputs follow the slopes of inputs through the
 * states, which no correction of the feed-through sees. */
static enum tutti_err move_on(const struct tutti_consistent *c)
{
    struct tutti_rank *rank = c->rank;
    for (uint32_t m = 0; m < rank->own_count; m++) {
        struct tutti_member *member = rank->own[m];
        if (!c->takes_part[member->component] || !derives(member))
            continue;
        member->now.slopes_at = member->now.t;
        TRY(tutti_wires_set_slopes(&rank->wires, member->wires, member->unit));
    }
    return TUTTI_OK;
}

enum tutti_err tutti_consistent_solve(struct tutti_consistent *c, double t, const double *sizes, bool moves,
                                      struct tutti_outcome *outcome, bool *solved)
{
    struct tutti_rank *rank = c->rank;
    struct tutti_block_run run = {.t = t, .sizes = sizes};
    c->failure.err = TUTTI_OK;
    TRY(enter(c));
    begin_here(c);
    for (uint32_t a = 0; a < c->action_count; a++)
        TRY(act(c, &c->actions[a], &run));
    if (moves)
        TRY(move_on(c));
    TRY(leave(c, outcome));
    tutti_spread_heard(&c->spread);
    TRY(tutti_channels_exchange(&rank->channels));
    bool failed = c->failure.err != TUTTI_OK;
    if (failed)
        tutti_outcome_refused(outcome, c->failed, t);
    TRY(tutti_agree_any(rank, &failed));
    *solved = !failed;
    return TUTTI_OK;
}

enum tutti_err tutti_consistent_explain(const struct tutti_consistent *c)
{
    return c->failure.err ? tutti_failure_return(&c->failure) : tutti_fabric_stopped(); /* the rank that failed tells */
}
