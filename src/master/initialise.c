/* SPDX-License-Identifier: MIT */
/* From configured units to a consistent start (001 chapter 5): inputs and outputs are computed in the order of their
 * dependencies, loops as blocks; then every unit leaves its initialisation mode.
 *
 * FMI 1.0 has no such mode: its units are initialised when the first of their outputs is needed, with the inputs known by
 * then; those that come later are set before the first step, of Model Exchange at once: it can be read and set afterwards,
 * so that it may be part of a loop. */
#include <math.h>

#include "master/block.h"
#include "master/choose.h"
#include "master/loop.h"
#include "plan/order.h"

static bool reads_late(const struct tutti_member *member)
{
    return member->unit->fmu->desc->fmi == 1;
}

static struct tutti_member *member_of(struct run *run, uint32_t component)
{
    return &run->members[component]; /* one rank: all components are its own, in their order */
}

static enum tutti_err enter(struct run *run, struct tutti_member *member, const struct tutti_component *component)
{
    struct tutti_experiment_setup setup = {
        .start = run->times.start,
        .stop = run->times.stop,
        .has_stop = true,
        .tolerance = member->tolerance * (member->share > 0 ? member->share : 1),
        .has_tolerance = member->tolerance > 0,
    };
    TRY(member->unit->kind->enter_init(member->unit, &setup));
    TRY(tutti_unit_apply_inputs(member->unit, component->settings, component->setting_count));
    if (!member->inputs)
        return TUTTI_OK;
    member->inputs->time = run->times.start;
    tutti_inputs_sample(member->inputs, run->times.start, true);
    return tutti_inputs_set_all(member->inputs, member->unit);
}

static enum tutti_err leave(struct tutti_member *member)
{
    if (member->ready)
        return TUTTI_OK;
    member->ready = true;
    return member->unit->kind->exit_init(member->unit);
}

static enum tutti_err set_inputs(struct run *run, struct tutti_member *member, const uint32_t *nodes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        TRY(tutti_wires_gather_node(&run->wires, nodes[i]));
        if (!member->ready || member->unit->kind->interface == TUTTI_ME)
            TRY(tutti_node_write(run, nodes[i]));
        else
            member->wires->held_changed = true;
    }
    return TUTTI_OK;
}

static enum tutti_err get_outputs(struct run *run, struct tutti_member *member, const uint32_t *nodes, uint32_t count)
{
    if (reads_late(member))
        TRY(leave(member));
    member->unit->counts.init_evaluations++;
    for (uint32_t i = 0; i < count; i++)
        TRY(tutti_node_read(run, nodes[i]));
    return TUTTI_OK;
}

static enum tutti_err act(struct run *run, const struct tutti_order *order, const struct tutti_action *action)
{
    const uint32_t *nodes = order->nodes + action->first;
    switch (action->kind) {
    case TUTTI_ACTION_SET: return set_inputs(run, member_of(run, action->component), nodes, action->count);
    case TUTTI_ACTION_GET: return get_outputs(run, member_of(run, action->component), nodes, action->count);
    case TUTTI_ACTION_SOLVE: break;
    }
    run->stats->init_loops++;
    for (uint32_t i = 0; i < action->count; i++) {
        struct tutti_member *member = member_of(run, run->structure.nodes[nodes[i]].component);
        if (reads_late(member) && member->unit->kind->interface == TUTTI_ME)
            TRY(leave(member));
    }
    return tutti_block_solve(run, nodes, action->count);
}

static enum tutti_err compute(struct run *run)
{
    struct tutti_order order;
    TRY(tutti_order_init(&order, &run->structure, true));
    enum tutti_err err = TUTTI_OK;
    for (uint32_t a = 0; a < order.action_count && !err; a++)
        err = act(run, &order, &order.actions[a]);
    tutti_order_fini(&order);
    return err;
}

/* What units with events say at the end of their initialisation, and what others see of it. */
static enum tutti_err settle(struct run *run)
{
    for (uint32_t m = 0; m < run->member_count; m++) {
        struct tutti_member *member = &run->members[m];
        if (member->unit->has_events)
            TRY(tutti_member_settle(run, member));
        if (!run->ended)
            TRY(tutti_wires_get(member->wires, member->unit));
    }
    return tutti_channels_exchange(run);
}

enum tutti_err tutti_initialise(struct run *run)
{
    for (uint32_t m = 0; m < run->member_count; m++)
        TRY(enter(run, &run->members[m], &run->system->components[m]));
    TRY(compute(run));
    if (run->at_start)
        return run->at_start(run->at_start_context, run);
    TRY(tutti_master_choose(run));
    for (uint32_t m = 0; m < run->member_count; m++) {
        struct tutti_unit *unit = run->members[m].unit;
        TRY(leave(&run->members[m]));
        if (unit->counts.init_evaluations == 0)
            unit->counts.init_evaluations = 1; /* nobody asked, but it was done */
    }
    return settle(run);
}
