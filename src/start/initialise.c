/* SPDX-License-Identifier: MIT */
/* From configured units to a consistent start (Andersson 2016 chapter 5): inputs and outputs are computed in the order of their
 * dependencies, loops as blocks; then every unit leaves its initialisation mode.
 *
 * FMI 1.0 has no such mode: its units are initialised when the first of their outputs is needed, with the inputs known by
 * then; those that come later are set before the first step, of Model Exchange at once: it can be read and set afterwards,
 * so that it may be part of a loop. */
#include <stdio.h>
#include <string.h>

#include "rank/agree.h"
#include "start/block.h"
#include "rank/settle.h"
#include "rank/ticks.h"
#include "start/initialise.h"
#include "start/rehearse.h"
#include "start/members.h"
#include "start/parameters.h"
#include "start/spread.h"
#include "plan/order.h"

static bool reads_late(const struct tutti_member *member)
{
    return member->unit->fmu->desc->fmi == 1;
}

static struct tutti_member *member_of(struct tutti_rank *rank, uint32_t component)
{
    return &rank->members[component];
}

/* Is the value of an output known before anything is computed? Then it is put among the signals. */
static bool put_known(struct tutti_rank *rank, uint32_t node)
{
    const struct tutti_structure_node *of = &rank->job->structure.nodes[node];
    const struct tutti_component *component = &rank->job->system->components[of->component];
    const struct tutti_var *var = &component->fmu->desc->vars[of->variable];
    const struct tutti_slot *slot = &rank->wires.slots[node];
    const char *values = var->initial == TUTTI_EXACT ? var->start : NULL;
    size_t count = var->start_count, size = tutti_type_size(var->type);
    for (size_t i = 0; i < component->setting_count; i++)
        if (component->settings[i].variable == of->variable) {
            values = component->settings[i].element.count == 0 ? component->settings[i].values : NULL;
            count = component->settings[i].count;
        }
    if (!values || component->has_state || var->negated || tutti_type_is_text(var->type) ||
        (count != 1 && count != slot->count))
        return false;
    for (uint32_t i = 0; i < slot->count; i++) {
        const char *from = values + (count == 1 ? 0 : i) * size;
        if (slot->narrow) /* staged as doubles */
            ((double *)slot->values)[i] = *(const float *)(const void *)from;
        else
            memcpy((char *)slot->values + i * size, from, size);
    }
    return true;
}

static bool all_sources_known(struct tutti_rank *rank, const struct tutti_slot *slot)
{
    for (uint32_t w = slot->wire_first; w < slot->wire_first + slot->wire_count; w++) {
        const struct tutti_end *from = &rank->wires.wires[w].connection->from;
        uint32_t source = tutti_structure_find(&rank->job->structure, from->component, from->variable, true);
        if (source == TUTTI_NONE || !put_known(rank, source))
            return false;
    }
    return slot->wire_count > 0 && !tutti_type_is_text((enum tutti_type)slot->type);
}

static enum tutti_err offer_connected(struct tutti_rank *rank, struct tutti_member *member, bool *refused)
{
    const struct tutti_structure *structure = &rank->job->structure;
    for (uint32_t n = structure->component_first[member->component];
         n < structure->component_first[member->component + 1]; n++) {
        struct tutti_slot *slot = &rank->wires.slots[n];
        if (structure->nodes[n].output || !all_sources_known(rank, slot))
            continue;
        TRY(tutti_wires_gather_node(&rank->wires, n));
        struct tutti_block block = {(enum tutti_type)slot->type, 1, slot->count, &slot->reference, slot->values, NULL};
        TRY(member->unit->kind->offer(member->unit, &block, refused));
    }
    return TUTTI_OK;
}

/* The inputs as far as they are known before the initialisation. FMI 2.0 takes them in the initialisation mode only; but
 * some FMUs solve their initial equations when they enter it. */
static enum tutti_err offer_inputs(struct tutti_rank *rank, struct tutti_member *member, bool *refused)
{
    const struct tutti_component *component = &rank->job->system->components[member->component];
    TRY(tutti_unit_offer_inputs(member->unit, component->settings, component->setting_count, refused));
    TRY(offer_connected(rank, member, refused));
    return member->inputs ? tutti_inputs_offer(member->inputs, member->unit, refused) : TUTTI_OK;
}

/* An FMU that took the offer for an error, as it may, is brought back by a reset. */
static enum tutti_err enter_mode(struct tutti_rank *rank, struct tutti_member *member)
{
    const struct tutti_unit_kind *kind = member->unit->kind;
    bool refused = false;
    if (!reads_late(member))
        TRY(offer_inputs(rank, member, &refused));
    enum tutti_err err = kind->enter_init(member->unit);
    if (!refused || err != TUTTI_ERR_FMU)
        return err;
    TRY(kind->reset(member->unit));
    TRY(tutti_member_configure(rank, member->component));
    return kind->enter_init(member->unit);
}

/* Discrete inputs are set with the first step. (With event mode it would take an event.) */
static void hold_for_step(struct tutti_member *member)
{
    if (member->unit->has_events)
        return;
    member->wires->held_changed = true;
    if (member->inputs)
        member->inputs->now.held_changed = true;
}

/* A unit that begins in a saved state is initialised. In event mode it is told its inputs at once; without, what it would be asked for then
 * is its state's, so that they come with the first step (tutti_start_apply_late). */
static enum tutti_err adopt(struct tutti_rank *rank, struct tutti_member *member,
                            const struct tutti_initial_state *state)
{
    const struct tutti_component *component = &rank->job->system->components[member->component];
    struct tutti_unit *unit = member->unit;
    if (rank->ticks && rank->ticks->units[member->component].clock_count > 0)
        return tutti_fail(
            TUTTI_ERR_UNSUPPORTED,
            "%s: --initial-state of a unit with clocks: intervals are asked for in the initialisation only",
            unit->name);
    TRY(tutti_fail_context(unit->kind->adopt(unit, state->bytes, state->size), "--initial-state '%s'", state->path));
    member->ready = true;
    hold_for_step(member);
    if (!unit->has_events)
        return TUTTI_OK;
    TRY(tutti_unit_apply_tunable(unit, component->settings, component->setting_count));
    return member->inputs ? tutti_inputs_set_all(member->inputs, unit) : TUTTI_OK;
}

static enum tutti_err enter(struct tutti_rank *rank, struct tutti_member *member)
{
    const struct tutti_component *component = &rank->job->system->components[member->component];
    const struct tutti_initial_state *state = tutti_states_initial(&rank->job->states, member->component);
    tutti_rank_tell_unit(rank, member->component);
    if (member->inputs) {
        member->inputs->now.time = rank->times.start;
        tutti_inputs_sample(member->inputs, rank->times.start, true);
    }
    if (state)
        return adopt(rank, member, state);
    TRY(enter_mode(rank, member));
    TRY(tutti_unit_apply_inputs(member->unit, component->settings, component->setting_count));
    return member->inputs ? tutti_inputs_set_all(member->inputs, member->unit) : TUTTI_OK;
}

/* Some FMUs put their inputs back at the end of the initialisation, though nothing changed since. */
static enum tutti_err leave(struct tutti_rank *rank, struct tutti_member *member)
{
    if (member->ready)
        return TUTTI_OK;
    TRY(tutti_ticks_begin(rank, member));
    member->ready = true;
    hold_for_step(member);
    return member->unit->kind->exit_init(member->unit);
}

/* A unit that is initialised gets its inputs with the first step. FMI 1.0 has no other way to read what follows them: Model Exchange can be told
 * them at once; but in a saved state its outputs are those of the inputs that it had. */
static enum tutti_err set_inputs(struct tutti_rank *rank, struct tutti_member *member, const uint32_t *nodes,
                                 uint32_t count)
{
    bool begun = rank->job->system->components[member->component].has_state;
    for (uint32_t i = 0; i < count; i++) {
        TRY(tutti_wires_gather_node(&rank->wires, nodes[i]));
        if (!member->ready || (member->unit->kind->interface == TUTTI_ME && !begun))
            TRY(tutti_node_write(rank, nodes[i]));
        else
            member->wires->held_changed = true;
    }
    return TUTTI_OK;
}

static enum tutti_err get_outputs(struct tutti_rank *rank, struct tutti_member *member, const uint32_t *nodes,
                                  uint32_t count)
{
    tutti_rank_tell_unit(rank, member->component);
    if (reads_late(member))
        TRY(leave(rank, member));
    member->unit->counts.init_evaluations++;
    for (uint32_t i = 0; i < count; i++)
        TRY(tutti_node_read(rank, nodes[i]));
    return TUTTI_OK;
}

/* ---- FMI 1.0 Co-Simulation in a loop (block.h) ---- */

static enum tutti_err open_late(void *context, struct tutti_member *member)
{
    struct tutti_spread *spread = context;
    struct tutti_rank *rank = spread->rank;
    const uint32_t *first = rank->job->structure.component_first;
    struct tutti_unit_counts counts = member->unit->counts;
    if (!member->ready)
        return TUTTI_OK;
    TRY(tutti_member_renew(rank, member));
    member->ready = false;
    TRY(enter(rank, member));
    for (uint32_t n = first[member->component]; n < first[member->component + 1]; n++)
        if (spread->told[n])
            TRY(tutti_node_write(rank, n));
    member->unit->counts = counts;
    return TUTTI_OK;
}

static enum tutti_err close_late(void *context, struct tutti_member *member)
{
    return leave(((struct tutti_spread *)context)->rank, member);
}

static bool is_set(const struct tutti_component *component, uint32_t variable)
{
    for (size_t i = 0; i < component->setting_count; i++)
        if (component->settings[i].variable == variable)
            return true;
    return false;
}

/* An input of one that starts as given: as the user has set it, or as the start values of its sources are, or as the FMU has it. */
static enum tutti_err give_start(struct tutti_rank *rank, struct tutti_member *member, uint32_t node)
{
    const struct tutti_structure_node *of = &rank->job->structure.nodes[node];
    member->wires->held_changed = true; /* what the loop comes to is set with the first step */
    if (is_set(&rank->job->system->components[of->component], of->variable) ||
        !all_sources_known(rank, &rank->wires.slots[node]))
        return TUTTI_OK;
    TRY(tutti_wires_gather_node(&rank->wires, node));
    return tutti_node_write(rank, node);
}

/* A unit of a loop that is not solved for it: `nodes`, which are all its nodes there. */
static enum tutti_err start_as_given(struct tutti_rank *rank, struct tutti_member *member, const uint32_t *nodes,
                                     uint32_t count)
{
    struct tutti_text inputs = {0};
    tutti_rank_tell_unit(rank, member->component);
    for (uint32_t i = 0; i < count; i++) {
        const struct tutti_structure_node *of = &rank->job->structure.nodes[nodes[i]];
        if (of->output)
            continue;
        tutti_text_printf(&inputs, "%s'%s'", inputs.length ? ", " : "",
                          member->unit->fmu->desc->vars[of->variable].name);
        if (!member->ready)
            TRY(give_start(rank, member, nodes[i]));
    }
    TRY(leave(rank, member));
    member->wires->held_changed = true;
    for (uint32_t i = 0; i < count; i++)
        if (rank->job->structure.nodes[nodes[i]].output)
            TRY(tutti_node_read(rank, nodes[i]));
    tutti_log_printf(
        rank->unit_log, TUTTI_LOG_WARNING, member->unit->name,
        "is part of an algebraic loop that is not solved for it at the start: FMI 1.0 Co-Simulation cannot say what "
        "its "
        "outputs are before it is initialised, and this FMU can be made once only. Until its first step its outputs "
        "are "
        "those of the start values of %s: choose them near the solution (--set), or export it for FMI 2.0 or 3.0",
        inputs.text ? inputs.text : "its inputs");
    tutti_text_fini(&inputs);
    return TUTTI_OK;
}

/* All such units among `nodes`, which are sorted by unit, that are this rank's. */
static enum tutti_err start_all_as_given(struct tutti_rank *rank, const uint32_t *nodes, uint32_t count)
{
    const struct tutti_structure_node *all = rank->job->structure.nodes;
    for (uint32_t at = 0; at < count;) {
        uint32_t component = all[nodes[at]].component, end = at;
        while (end < count && all[nodes[end]].component == component)
            end++;
        if (tutti_rank_owns(rank, component) && tutti_block_starts_as_given(rank->units[component]))
            TRY(start_as_given(rank, member_of(rank, component), nodes + at, end - at));
        at = end;
    }
    return TUTTI_OK;
}

static enum tutti_err solve(struct tutti_spread *spread, const uint32_t *nodes, uint32_t count)
{
    struct tutti_rank *rank = spread->rank;
    TRY(start_all_as_given(rank, nodes, count));
    struct tutti_block_late late = {.context = spread, .open = open_late, .close = close_late};
    rank->stats->init_loops++;
    for (uint32_t i = 0; i < count; i++) {
        struct tutti_member *member = member_of(rank, rank->job->structure.nodes[nodes[i]].component);
        if (reads_late(member) && member->unit->kind->interface == TUTTI_ME)
            TRY(leave(rank, member));
    }
    return tutti_block_solve(rank, nodes, count, NULL, &late);
}

static enum tutti_err act(struct tutti_spread *spread, const struct tutti_run_order *order,
                          const struct tutti_action *action)
{
    struct tutti_rank *rank = spread->rank;
    const uint32_t *nodes = order->nodes + action->first;
    bool here;
    TRY(tutti_spread_begin(spread, nodes, action->count, &here));
    if (action->kind == TUTTI_ACTION_SOLVE)
        rank->stats->init_loops += !here; /* counted by all alike */
    if (!here)
        return TUTTI_OK;
    for (uint32_t i = 0; action->kind == TUTTI_ACTION_SET && i < action->count; i++)
        spread->told[nodes[i]] = true;
    switch (action->kind) {
    case TUTTI_ACTION_SET: return set_inputs(rank, member_of(rank, action->component), nodes, action->count);
    case TUTTI_ACTION_GET: return get_outputs(rank, member_of(rank, action->component), nodes, action->count);
    case TUTTI_ACTION_SOLVE: break;
    }
    return solve(spread, nodes, action->count);
}

static enum tutti_err compute_in_order(struct tutti_rank *rank, const struct tutti_run_order *order,
                                       struct tutti_arena *arena)
{
    struct tutti_spread spread;
    TRY(tutti_spread_init(&spread, rank, arena));
    for (uint32_t a = 0; a < order->action_count; a++)
        TRY(act(&spread, order, &order->actions[a]));
    return tutti_spread_hear(&spread);
}

static enum tutti_err compute(struct tutti_rank *rank)
{
    struct tutti_run_order order;
    struct tutti_arena arena = {0};
    TRY(tutti_order_init(&order, &rank->job->structure, true));
    enum tutti_err err = compute_in_order(rank, &order, &arena);
    tutti_order_fini(&order);
    tutti_arena_fini(&arena);
    return err;
}

static enum tutti_err settle_member(struct tutti_rank *rank, struct tutti_member *member)
{
    bool ended = false;
    if (!member->unit->has_events)
        return TUTTI_OK;
    TRY(tutti_member_settle(rank, member, &ended));
    if (ended)
        rank->ended = member;
    return TUTTI_OK;
}

/* What units with events say at the end of their initialisation, and what others see of it. */
static enum tutti_err settle(struct tutti_rank *rank)
{
    struct tutti_at_point here = {0};
    for (uint32_t m = 0; m < rank->own_count; m++) {
        struct tutti_member *member = rank->own[m];
        TRY(settle_member(rank, member));
        if (!rank->ended)
            TRY(tutti_wires_get(member->wires, member->unit));
    }
    TRY(tutti_channels_exchange_start(&rank->channels));
    return tutti_agree_point(rank, &here);
}

/* ---- units that are to be taken back ---- */

/* A unit that did not come back as it was begins anew, with the inputs that it has got by now. */
static enum tutti_err begin_anew(struct tutti_rank *rank, struct tutti_member *member)
{
    uint32_t c = member->component;
    struct tutti_unit_counts counts = member->unit->counts;
    TRY(tutti_member_renew(rank, member));
    TRY(tutti_ticks_renew(rank, member));
    member->ready = false;
    TRY(enter(rank, member));
    for (uint32_t n = rank->job->structure.component_first[c]; n < rank->job->structure.component_first[c + 1]; n++)
        if (!rank->job->structure.nodes[n].output)
            TRY(set_inputs(rank, member, &n, 1));
    TRY(leave(rank, member));
    TRY(settle_member(rank, member));
    member->unit->counts = counts;
    return rank->ended ? TUTTI_OK : tutti_wires_get(member->wires, member->unit);
}

/* Have units the parameters that they should have? One that takes the question for an error begins anew, as FMI has it after an
 * Error; one that can be made once only goes on: many do. */
static enum tutti_err compare_parameters(struct tutti_rank *rank)
{
    for (uint32_t m = 0; m < rank->own_count && !rank->ended; m++) {
        struct tutti_member *member = rank->own[m];
        const struct tutti_interface *interface = &member->unit->fmu->desc->interfaces[member->unit->kind->interface];
        bool refused;
        tutti_rank_tell_unit(rank, member->component);
        TRY(tutti_parameters_compare(rank, member, &refused));
        if (refused && !(interface->flags & TUTTI_ONCE_PER_PROCESS))
            TRY(begin_anew(rank, member));
    }
    return TUTTI_OK;
}

/* Found out by the unit's rank, known by all. */
static enum tutti_err spread_findings(struct tutti_rank *rank, double *findings, bool *forgets)
{
    const double *undeclared = findings + rank->member_count;
    TRY(tutti_reduce(rank, TUTTI_REDUCE_MAX, findings, 2 * (size_t)rank->member_count));
    for (uint32_t m = 0; m < rank->member_count; m++) {
        struct tutti_member *member = &rank->members[m];
        member->unit->undeclared = undeclared[m] > 0;
        if (findings[m] == 2 && tutti_rank_owns(rank, m))
            TRY(begin_anew(rank, member));
        member->unit->unsteady = findings[m] == 1;
        if (findings[m] < 2)
            continue;
        *forgets = member->unit->forgets = true;
        member->unit->can &= ~(uint32_t)TUTTI_CAN_STATE;
    }
    return TUTTI_OK;
}

/* A unit whose own saved states are incomplete may be taken back by forking, which is tried, too; one that cannot be taken back
 * so is not, unless that was asked for. */
static enum tutti_err rehearse(struct tutti_rank *rank, struct tutti_member *member, struct tutti_rehearsal *rehearsal)
{
    bool was_forked = member->setup.forked;
    TRY(tutti_rehearse(rank, member, rehearsal));
    if (rehearsal->forgets && !was_forked && tutti_member_may_fork(rank, member)) {
        tutti_log_printf(rank->unit_log, TUTTI_LOG_WARNING, member->unit->name,
                         "the FMU does not come back to a state that it saved (canGetAndSetFMUState): %s; it is taken "
                         "back by forking its process (--rollback)",
                         rehearsal->why);
        member->setup.forked = true;
        TRY(begin_anew(rank, member));
        TRY(tutti_rehearse(rank, member, rehearsal));
    }
    if (!rehearsal->forgets) /* nothing can be read where a step was rejected */
        return member->unit->rejects && rehearsal->tried ? begin_anew(rank, member) : TUTTI_OK;
    if (member->setup.rollback == TUTTI_ROLLBACK_FORK)
        return tutti_fail(TUTTI_ERR_UNSUPPORTED, "%s", rehearsal->why);
    if (member->setup.forked)
        tutti_log_printf(rank->unit_log, TUTTI_LOG_WARNING, NULL, "%s; it is treated as one that cannot go back",
                         rehearsal->why);
    else
        tutti_log_printf(
            rank->unit_log, TUTTI_LOG_WARNING, member->unit->name,
            "the FMU does not come back to a state that it saved (canGetAndSetFMUState): %s; it is treated "
            "as one that cannot go back",
            rehearsal->why);
    member->setup.forked = false;
    return TUTTI_OK;
}

/* Where connections feed it, a loop through it may not be seen. */
static void warn_of_undeclared(const struct tutti_rank *rank, const struct tutti_member *member, uint32_t output)
{
    const char *unit = member->unit->name;
    char text[512];
    snprintf(text, sizeof text,
             "'%.200s' follows inputs at once, and the FMU's model structure says that it does not (dependencies); its "
             "steps are made as if all outputs did",
             member->unit->fmu->desc->vars[output].name);
    if (member->wires->gather_count > 0)
        tutti_log_insist(rank->unit_log, TUTTI_LOG_WARNING, unit,
                         "%s, but algebraic loops through it are not found: use --coupling relax if it is part of one",
                         text);
    else
        tutti_log_printf(rank->unit_log, TUTTI_LOG_WARNING, unit, "%s", text);
}

enum tutti_err tutti_start_rehearse(struct tutti_rank *rank, bool *forgets)
{
    *forgets = false;
    double *findings = tutti_arena_array(&rank->arena, rank->member_count, 2 * sizeof *findings);
    if (!findings)
        return tutti_fail_memory();
    for (uint32_t i = 0; i < rank->own_count; i++) {
        struct tutti_member *member = rank->own[i];
        struct tutti_rehearsal rehearsal;
        TRY(rehearse(rank, member, &rehearsal));
        findings[member->component] = rehearsal.forgets ? 2 : rehearsal.unsteady ? 1 : 0;
        findings[rank->member_count + member->component] = rehearsal.undeclared != TUTTI_NONE;
        if (rehearsal.undeclared != TUTTI_NONE)
            warn_of_undeclared(rank, member, rehearsal.undeclared);
    }
    return spread_findings(rank, findings, forgets);
}

/* ---- the way ---- */

enum tutti_err tutti_start_compute(struct tutti_rank *rank)
{
    for (uint32_t m = 0; m < rank->own_count; m++)
        TRY(enter(rank, rank->own[m]));
    TRY(compute(rank));
    bool unused = false;
    return tutti_agree_any(rank, &unused); /* no rank complains of what follows while another still fails at this */
}

enum tutti_err tutti_start_leave(struct tutti_rank *rank)
{
    for (uint32_t m = 0; m < rank->own_count; m++) {
        struct tutti_unit *unit = rank->own[m]->unit;
        tutti_rank_tell_unit(rank, rank->own[m]->component);
        TRY(leave(rank, rank->own[m]));
        if (unit->counts.init_evaluations == 0)
            unit->counts.init_evaluations = 1; /* no other unit asked, but it was done */
    }
    TRY(settle(rank));
    return compare_parameters(rank);
}

enum tutti_err tutti_start_apply_late(struct tutti_rank *rank)
{
    for (uint32_t m = 0; m < rank->own_count; m++) {
        const struct tutti_component *component = &rank->job->system->components[rank->own[m]->component];
        if (component->has_state && !rank->own[m]->unit->has_events)
            TRY(tutti_unit_apply_tunable(rank->own[m]->unit, component->settings, component->setting_count));
    }
    return TUTTI_OK;
}
