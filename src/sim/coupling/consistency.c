/* SPDX-License-Identifier: MIT */
#include "sim/coupling/consistency.h"

#include <math.h>
#include <stdlib.h>

#include "model/plan/eval_order.h"
#include "sim/rank.h"
#include "sim/start/algebraic_loop.h"
#include "sim/start/init.h"

struct tt_consistency {
    struct tt_rank *rank; /* borrowed */
    /* The sequence of computations: nodes of the run's structure, by which signals are laid out. */
    struct tt_eval_action *actions;
    uint32_t action_count;
    uint32_t *nodes;
    bool *takes_part;   /* per component */
    bool enters_events; /* some unit of any rank has to enter event mode */
    struct tt_init_exchange spread;
    struct tt_failure failure; /* of the last solution */
    uint32_t failed;           /* of a loop with this component */
    struct tt_arena arena;
};

/* ---- getting ready ---- */

static bool consistency_is_continuous(const struct tt_structure *running, uint32_t node)
{
    const struct tt_structure_node *n = &running->nodes[node];
    const struct tt_var *var = &running->system->components[n->component].fmu->desc->vars[n->variable];
    return (var->type == TUTTI_TYPE_FLOAT64 || var->type == TUTTI_TYPE_FLOAT32) && var->variability == TUTTI_CONTINUOUS;
}

/* Outputs that follow a continuous input at once, and these inputs. */
static void consistency_find_followers(const struct tt_consistency *c, const struct tt_structure *running, bool *counts)
{
    const struct tt_digraph *graph = &running->graph;
    for (uint32_t n = 0; n < running->node_count; n++)
        for (uint32_t k = graph->first[n]; running->nodes[n].output && k < graph->first[n + 1]; k++)
            if (c->takes_part[running->nodes[n].component] && consistency_is_continuous(running, n) &&
                consistency_is_continuous(running, graph->needs[k]))
                counts[n] = counts[graph->needs[k]] = true;
}

static int consistency_compare_nodes(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return left < right ? -1 : left > right;
}

/* The part of an action of the running system that counts, in nodes of the run's structure. */
static void consistency_add_action(struct tt_consistency *c, const struct tt_structure *running,
                                   const struct tt_eval_order *order, const struct tt_eval_action *action,
                                   const bool *counts, uint32_t *used)
{
    struct tt_eval_action own = {.kind = action->kind, .component = action->component, .first = *used};
    for (uint32_t i = action->first; i < action->first + action->count; i++) {
        const struct tt_structure_node *node = &running->nodes[order->nodes[i]];
        if (counts[order->nodes[i]])
            c->nodes[(*used)++] =
                tt_structure_find(&c->rank->job->structure, node->component, node->variable, node->output);
    }
    own.count = *used - own.first;
    if (own.count == 0)
        return;
    qsort(c->nodes + own.first, own.count, sizeof *c->nodes, consistency_compare_nodes);
    c->actions[c->action_count++] = own;
}

static enum tutti_err consistency_plan(struct tt_consistency *c, const struct tt_structure *running)
{
    struct tt_eval_order order;
    TRY(tt_eval_order_init(&order, running, true));
    bool *counts = tt_arena_array(&c->arena, running->node_count, sizeof *counts);
    c->nodes = tt_arena_array(&c->arena, running->node_count, sizeof *c->nodes);
    c->actions = tt_arena_array(&c->arena, order.action_count, sizeof *c->actions);
    bool all = counts && c->nodes && c->actions;
    if (all) {
        uint32_t used = 0;
        consistency_find_followers(c, running, counts);
        for (uint32_t a = 0; a < order.action_count; a++)
            consistency_add_action(c, running, &order, &order.actions[a], counts, &used);
    }
    tt_eval_order_fini(&order);
    return all ? TUTTI_OK : tt_fail_memory();
}

/* Returns true if one of its continuous outputs depends on an input directly. */
static bool consistency_follows_inputs(const struct tt_structure *running, uint32_t component)
{
    for (uint32_t n = running->component_first[component]; n < running->component_first[component + 1]; n++)
        if (running->nodes[n].output && running->graph.first[n] < running->graph.first[n + 1])
            return true;
    return false;
}

static enum tutti_err check_consistent_units(struct tt_consistency *c, const struct tt_structure *running)
{
    struct tt_rank *rank = c->rank;
    c->takes_part = tt_arena_array(&c->arena, rank->member_count, sizeof *c->takes_part);
    if (!c->takes_part)
        return tt_fail_memory();
    for (uint32_t m = 0; m < rank->member_count; m++) {
        const struct tt_unit *unit = rank->units[m];
        bool able = unit->kind->interface == TUTTI_ME || (unit->has_events && unit->fmu->desc->fmi >= 3);
        c->takes_part[m] = able && consistency_follows_inputs(running, m);
        c->enters_events = c->enters_events || (c->takes_part[m] && unit->kind->interface == TUTTI_CS);
        if (!able && tt_structure_is_in_loop(running, m)) {
            bool me = unit->fmu->desc->interfaces[TUTTI_ME].present;
            return tt_fail(
                TUTTI_ERR_UNSUPPORTED,
                "--correct solve reads units in an algebraic loop again after their inputs are set, and FMI "
                "does not allow that of '%s' (%s): it is for Co-Simulation, and has no event mode (FMI 3.0); "
                "use %s--correct linear or --coupling relax",
                unit->name, unit->fmu->path, me ? "--interface me, " : "an export for Model Exchange, ");
        }
        if (!able && consistency_follows_inputs(running, m) && tt_rank_owns(rank, m))
            tt_log(rank->unit_log, TUTTI_LOG_INFO, unit->name,
                   "--correct solve leaves its outputs as they are: FMI does not allow to read it again; it "
                   "is in no algebraic loop");
    }
    return TUTTI_OK;
}

enum tutti_err tt_consistency_open(struct tt_consistency **out, struct tt_rank *rank,
                                   const struct tt_structure *running)
{
    struct tt_consistency *c = *out = calloc(1, sizeof *c);
    if (!c)
        return tt_fail_memory();
    c->rank = rank;
    TRY(tt_init_exchange_init(&c->spread, rank, &c->arena));
    TRY(check_consistent_units(c, running));
    return consistency_plan(c, running);
}

void tt_consistency_close(struct tt_consistency *c)
{
    if (c)
        tt_arena_fini(&c->arena);
    free(c);
}

/* ---- event mode ---- */

static bool enters_event_mode(const struct tt_consistency *c, const struct tt_member *member)
{
    return c->takes_part[member->component] && member->unit->kind->interface == TUTTI_CS;
}

bool tt_consistency_enters_event_mode(const struct tt_consistency *c)
{
    return c->enters_events;
}

enum tutti_err tt_consistency_is_possible(struct tt_consistency *c, bool *possible)
{
    struct tt_rank *rank = c->rank;
    bool waits = false;
    for (uint32_t m = 0; m < rank->own_count; m++)
        waits = waits || (enters_event_mode(c, rank->own[m]) && rank->own[m]->now.event);
    if (c->enters_events)
        TRY(tt_rank_agree_any(rank, &waits));
    *possible = !waits;
    return TUTTI_OK;
}

static enum tutti_err consistency_leave(struct tt_consistency *c, struct tt_step_result *result)
{
    struct tt_rank *rank = c->rank;
    for (uint32_t m = 0; m < rank->own_count; m++) {
        struct tt_member *member = rank->own[m];
        bool ended = false;
        if (!enters_event_mode(c, member))
            continue;
        TRY(tt_rank_finish_event(rank, member, &ended));
        if (ended)
            tt_step_result_set_ended(result, member->component, member->now.t);
        TRY(tt_wires_get_outputs(member->wires, member->unit));
    }
    return TUTTI_OK;
}

/* ---- solving ---- */

/* A loop without a solution is recorded: all ranks continue to the point where they agree on it. */
static enum tutti_err consistency_solve_loop(struct tt_consistency *c, const uint32_t *nodes, uint32_t count,
                                             const struct tt_loop_in_run *run)
{
    enum tutti_err err = tt_algebraic_loop_solve(c->rank, nodes, count, run, NULL);
    if (err == TUTTI_ERR_SOLVER) {
        tt_fail_save(&c->failure, err);
        c->failed = c->rank->job->structure.nodes[nodes[0]].component;
    }
    return err == TUTTI_ERR_SOLVER ? TUTTI_OK : err;
}

static enum tutti_err exchange_node(struct tt_rank *rank, enum tt_eval_action_kind kind, uint32_t node)
{
    if (kind == TUTTI_ACTION_GET)
        return tt_algebraic_loop_read_node(rank, node);
    TRY(tt_wires_gather_node(&rank->wires, node));
    return tt_algebraic_loop_write_node(rank, node);
}

static enum tutti_err consistency_run_action(struct tt_consistency *c, const struct tt_eval_action *action,
                                             const struct tt_loop_in_run *run)
{
    const uint32_t *nodes = c->nodes + action->first;
    bool here;
    TRY(tt_init_exchange_prepare(&c->spread, nodes, action->count, &here));
    if (here && action->kind == TUTTI_ACTION_SOLVE)
        return consistency_solve_loop(c, nodes, action->count, run);
    for (uint32_t i = 0; i < action->count && here; i++)
        TRY(exchange_node(c->rank, action->kind, nodes[i]));
    return TUTTI_OK;
}

/* Inputs of this unit move, and derivatives of its outputs depend on how. */
static bool derives(const struct tt_member *member)
{
    return member->unit->kind->interface == TUTTI_ME && member->wires->slopes;
}

/* Inputs that moved in the step are now those of its end, with the slopes that they have there. */
static void end_movement(const struct tt_rank *rank, struct tt_member *member)
{
    const struct tt_wires *wires = &rank->wires;
    const struct tt_unit_wires *unit = member->wires;
    double elapsed = member->now.t - member->now.staged_at;
    for (uint32_t i = unit->gather_first; elapsed > 0 && i < unit->gather_first + unit->gather_count; i++) {
        wires->gathered[i] = tt_wires_extrapolate(wires, i, elapsed);
        if (wires->order > 1)
            wires->gathered_slopes[0][i] += elapsed * wires->gathered_slopes[1][i];
    }
}

static void begin_here(const struct tt_consistency *c)
{
    struct tt_rank *rank = c->rank;
    for (uint32_t m = 0; m < rank->own_count; m++) {
        struct tt_member *member = rank->own[m];
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
static enum tutti_err move_on(const struct tt_consistency *c)
{
    struct tt_rank *rank = c->rank;
    for (uint32_t m = 0; m < rank->own_count; m++) {
        struct tt_member *member = rank->own[m];
        if (!c->takes_part[member->component] || !derives(member))
            continue;
        member->now.slopes_at = member->now.t;
        TRY(tt_wires_set_slopes(&rank->wires, member->wires, member->unit));
    }
    return TUTTI_OK;
}

enum tutti_err tt_consistency_solve(struct tt_consistency *c, double t, const double *sizes, bool moves,
                                    struct tt_step_result *result, bool *solved)
{
    struct tt_rank *rank = c->rank;
    struct tt_loop_in_run run = {.t = t, .sizes = sizes};
    c->failure.err = TUTTI_OK;
    for (uint32_t m = 0; m < rank->own_count; m++)
        if (enters_event_mode(c, rank->own[m]))
            TRY(rank->own[m]->unit->kind->enter_event(rank->own[m]->unit));
    begin_here(c);
    for (uint32_t a = 0; a < c->action_count; a++)
        TRY(consistency_run_action(c, &c->actions[a], &run));
    if (moves)
        TRY(move_on(c));
    TRY(consistency_leave(c, result));
    tt_init_exchange_mark_done(&c->spread);
    TRY(tt_channels_exchange(&rank->channels));
    bool failed = c->failure.err != TUTTI_OK;
    if (failed)
        tt_step_result_set_refused(result, c->failed, t);
    TRY(tt_rank_agree_any(rank, &failed));
    *solved = !failed;
    return TUTTI_OK;
}

enum tutti_err tt_consistency_explain(const struct tt_consistency *c)
{
    /* the failed rank has the message */
    return c->failure.err ? tt_fail_restore(&c->failure) : tt_fabric_fail_stopped();
}
