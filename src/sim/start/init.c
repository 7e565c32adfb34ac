/* SPDX-License-Identifier: MIT */
/* From configured units to a consistent start (Andersson 2016 chapter 5): inputs and outputs are computed in the order of their
 * dependencies, loops as blocks; then every unit leaves its initialisation mode.
 *
 * FMI 1.0 has no such mode: its units are initialised when the first of their outputs is needed, with the inputs known by
 * then; those that come later are set before the first step, of Model Exchange at once: it can be read and set afterwards,
 * so that it may be part of a loop. */
#include "sim/start/init.h"

#include <stdio.h>
#include <string.h>

#include "model/plan/eval_order.h"
#include "sim/rank.h"
#include "sim/start/algebraic_loop.h"
#include "sim/start/open.h"
#include "sim/start/startup_tests.h"
#include "sim/ticks.h"
#include "unit/parameter_check.h"

static bool reads_after_init(const struct tt_member *member)
{
    return member->unit->fmu->desc->fmi == 1;
}

static struct tt_member *init_member_of(struct tt_rank *rank, uint32_t component)
{
    return &rank->members[component];
}

/* Stores an output that is known before anything is computed among the signals; returns true if it is. */
static bool put_known_output(struct tt_rank *rank, uint32_t node)
{
    const struct tt_structure_node *of = &rank->job->structure.nodes[node];
    const struct tt_component *component = &rank->job->system->components[of->component];
    const struct tt_var *var = &component->fmu->desc->vars[of->variable];
    const struct tt_slot *slot = &rank->wires.slots[node];
    const char *values = var->initial == TUTTI_EXACT ? var->start : NULL;
    size_t count = var->start_count, size = tt_type_size(var->type);
    for (size_t i = 0; i < component->setting_count; i++)
        if (component->settings[i].variable == of->variable) {
            values = component->settings[i].element.count == 0 ? component->settings[i].values : NULL;
            count = component->settings[i].count;
        }
    if (!values || component->has_state || var->negated || tt_type_is_text(var->type) ||
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

static bool all_sources_known(struct tt_rank *rank, const struct tt_slot *slot)
{
    for (uint32_t w = slot->wire_first; w < slot->wire_first + slot->wire_count; w++) {
        const struct tt_end *from = &rank->wires.wires[w].connection->from;
        uint32_t source = tt_structure_find(&rank->job->structure, from->component, from->variable, true);
        if (source == TUTTI_NONE || !put_known_output(rank, source))
            return false;
    }
    return slot->wire_count > 0 && !tt_type_is_text((enum tt_type)slot->type);
}

static enum tutti_err try_connected_inputs(struct tt_rank *rank, struct tt_member *member, bool *refused)
{
    const struct tt_structure *structure = &rank->job->structure;
    for (uint32_t n = structure->component_first[member->component];
         n < structure->component_first[member->component + 1]; n++) {
        struct tt_slot *slot = &rank->wires.slots[n];
        if (structure->nodes[n].output || !all_sources_known(rank, slot))
            continue;
        TRY(tt_wires_gather_node(&rank->wires, n));
        struct tt_block block = {(enum tt_type)slot->type, 1, slot->count, &slot->reference, slot->values, NULL};
        TRY(member->unit->kind->offer(member->unit, &block, refused));
    }
    return TUTTI_OK;
}

/* The inputs as far as they are known before the initialisation. FMI 2.0 takes them in the initialisation mode only; but
 * some FMUs solve their initial equations when they enter it. */
static enum tutti_err init_try_inputs(struct tt_rank *rank, struct tt_member *member, bool *refused)
{
    const struct tt_component *component = &rank->job->system->components[member->component];
    TRY(tt_unit_try_inputs(member->unit, component->settings, component->setting_count, refused));
    TRY(try_connected_inputs(rank, member, refused));
    return member->inputs ? tt_inputs_try_set(member->inputs, member->unit, refused) : TUTTI_OK;
}

/* An FMU that took the offer for an error, as it may, is brought back by a reset. */
static enum tutti_err enter_init_mode(struct tt_rank *rank, struct tt_member *member)
{
    const struct tt_unit_kind *kind = member->unit->kind;
    bool refused = false;
    if (!reads_after_init(member))
        TRY(init_try_inputs(rank, member, &refused));
    enum tutti_err err = kind->enter_init(member->unit);
    if (!refused || err != TUTTI_ERR_FMU)
        return err;
    TRY(kind->reset(member->unit));
    TRY(tt_open_configure_component(rank, member->component));
    return kind->enter_init(member->unit);
}

/* Discrete inputs are set with the first step. (With event mode it would take an event.) */
static void defer_discrete_inputs(struct tt_member *member)
{
    if (member->unit->has_events)
        return;
    member->wires->held_changed = true;
    if (member->inputs)
        member->inputs->now.held_changed = true;
}

/* A unit that begins in a saved state counts as initialised. In event mode its inputs are set at once; without, outputs
 * are those of its state, so that inputs are set with the first step (tt_init_apply_late). */
static enum tutti_err init_adopt_state(struct tt_rank *rank, struct tt_member *member,
                                       const struct tt_initial_state *state)
{
    const struct tt_component *component = &rank->job->system->components[member->component];
    struct tt_unit *unit = member->unit;
    if (rank->ticks && rank->ticks->units[member->component].clock_count > 0)
        return tt_fail(TUTTI_ERR_UNSUPPORTED,
                       "%s: --initial-state of a unit with clocks: intervals are asked for in the initialisation only",
                       unit->name);
    TRY(tt_fail_context(unit->kind->adopt(unit, state->bytes, state->size), "--initial-state '%s'", state->path));
    member->ready = true;
    defer_discrete_inputs(member);
    if (!unit->has_events)
        return TUTTI_OK;
    TRY(tt_unit_apply_tunable(unit, component->settings, component->setting_count));
    return member->inputs ? tt_inputs_set_all(member->inputs, unit) : TUTTI_OK;
}

static enum tutti_err init_enter_unit(struct tt_rank *rank, struct tt_member *member)
{
    const struct tt_component *component = &rank->job->system->components[member->component];
    const struct tt_initial_state *state = tt_state_files_initial(&rank->job->states, member->component);
    tt_rank_publish_unit(rank, member->component);
    if (member->inputs) {
        member->inputs->now.time = rank->times.start;
        tt_inputs_sample(member->inputs, rank->times.start, true);
    }
    if (state)
        return init_adopt_state(rank, member, state);
    TRY(enter_init_mode(rank, member));
    TRY(tt_unit_apply_inputs(member->unit, component->settings, component->setting_count));
    return member->inputs ? tt_inputs_set_all(member->inputs, member->unit) : TUTTI_OK;
}

/* Some FMUs put their inputs back at the end of the initialisation, though nothing changed since. */
static enum tutti_err init_leave_unit(struct tt_rank *rank, struct tt_member *member)
{
    if (member->ready)
        return TUTTI_OK;
    TRY(tt_ticks_start(rank, member));
    member->ready = true;
    defer_discrete_inputs(member);
    return member->unit->kind->exit_init(member->unit);
}

/* An initialised unit gets its inputs with the first step. FMI 1.0 has no other way to read their effect: Model
 * Exchange permits setting them at once; but in a saved state its outputs are those of the inputs that it had. */
static enum tutti_err init_set_inputs(struct tt_rank *rank, struct tt_member *member, const uint32_t *nodes,
                                      uint32_t count)
{
    bool begun = rank->job->system->components[member->component].has_state;
    for (uint32_t i = 0; i < count; i++) {
        TRY(tt_wires_gather_node(&rank->wires, nodes[i]));
        if (!member->ready || (member->unit->kind->interface == TUTTI_ME && !begun))
            TRY(tt_algebraic_loop_write_node(rank, nodes[i]));
        else
            member->wires->held_changed = true;
    }
    return TUTTI_OK;
}

static enum tutti_err init_get_outputs(struct tt_rank *rank, struct tt_member *member, const uint32_t *nodes,
                                       uint32_t count)
{
    tt_rank_publish_unit(rank, member->component);
    if (reads_after_init(member))
        TRY(init_leave_unit(rank, member));
    member->unit->counts.init_evaluations++;
    for (uint32_t i = 0; i < count; i++)
        TRY(tt_algebraic_loop_read_node(rank, nodes[i]));
    return TUTTI_OK;
}

/* ---- FMI 1.0 Co-Simulation in a loop (algebraic_loop.h) ---- */

static enum tutti_err reopen_for_inputs(void *context, struct tt_member *member)
{
    struct tt_init_exchange *spread = context;
    struct tt_rank *rank = spread->rank;
    const uint32_t *first = rank->job->structure.component_first;
    struct tt_unit_counts counts = member->unit->counts;
    if (!member->ready)
        return TUTTI_OK;
    TRY(tt_open_restart_component(rank, member));
    member->ready = false;
    TRY(init_enter_unit(rank, member));
    for (uint32_t n = first[member->component]; n < first[member->component + 1]; n++)
        if (spread->told[n])
            TRY(tt_algebraic_loop_write_node(rank, n));
    member->unit->counts = counts;
    return TUTTI_OK;
}

static enum tutti_err finish_for_outputs(void *context, struct tt_member *member)
{
    return init_leave_unit(((struct tt_init_exchange *)context)->rank, member);
}

static bool init_input_is_set(const struct tt_component *component, uint32_t variable)
{
    for (size_t i = 0; i < component->setting_count; i++)
        if (component->settings[i].variable == variable)
            return true;
    return false;
}

/* An input of one that starts as given: as the user has set it, or as the start values of its sources are, or as the FMU has it. */
static enum tutti_err give_start_value(struct tt_rank *rank, struct tt_member *member, uint32_t node)
{
    const struct tt_structure_node *of = &rank->job->structure.nodes[node];
    member->wires->held_changed = true; /* what the loop comes to is set with the first step */
    if (init_input_is_set(&rank->job->system->components[of->component], of->variable) ||
        !all_sources_known(rank, &rank->wires.slots[node]))
        return TUTTI_OK;
    TRY(tt_wires_gather_node(&rank->wires, node));
    return tt_algebraic_loop_write_node(rank, node);
}

/* A unit of a loop that is not solved for it: `nodes`, which are all its nodes there. */
static enum tutti_err compute_from_start_values(struct tt_rank *rank, struct tt_member *member, const uint32_t *nodes,
                                                uint32_t count)
{
    struct tt_text inputs = {0};
    tt_rank_publish_unit(rank, member->component);
    for (uint32_t i = 0; i < count; i++) {
        const struct tt_structure_node *of = &rank->job->structure.nodes[nodes[i]];
        if (of->output)
            continue;
        tt_text_printf(&inputs, "%s'%s'", inputs.length ? ", " : "", member->unit->fmu->desc->vars[of->variable].name);
        if (!member->ready)
            TRY(give_start_value(rank, member, nodes[i]));
    }
    TRY(init_leave_unit(rank, member));
    member->wires->held_changed = true;
    for (uint32_t i = 0; i < count; i++)
        if (rank->job->structure.nodes[nodes[i]].output)
            TRY(tt_algebraic_loop_read_node(rank, nodes[i]));
    tt_log(rank->unit_log, TUTTI_LOG_WARNING, member->unit->name,
           "is part of an algebraic loop that is not solved for it at the start: FMI 1.0 Co-Simulation cannot say what "
           "its "
           "outputs are before it is initialised, and this FMU can be made once only. Until its first step its outputs "
           "are "
           "those of the start values of %s: choose them near the solution (--set), or export it for FMI 2.0 or 3.0",
           inputs.text ? inputs.text : "its inputs");
    tt_text_fini(&inputs);
    return TUTTI_OK;
}

/* All such units among `nodes`, which are sorted by unit, that are this rank's. */
static enum tutti_err compute_all_from_starts(struct tt_rank *rank, const uint32_t *nodes, uint32_t count)
{
    const struct tt_structure_node *all = rank->job->structure.nodes;
    for (uint32_t at = 0; at < count;) {
        uint32_t component = all[nodes[at]].component, end = at;
        while (end < count && all[nodes[end]].component == component)
            end++;
        if (tt_rank_owns(rank, component) && tt_algebraic_loop_keeps_starts(rank->units[component]))
            TRY(compute_from_start_values(rank, init_member_of(rank, component), nodes + at, end - at));
        at = end;
    }
    return TUTTI_OK;
}

static enum tutti_err init_solve_loop(struct tt_init_exchange *spread, const uint32_t *nodes, uint32_t count)
{
    struct tt_rank *rank = spread->rank;
    TRY(compute_all_from_starts(rank, nodes, count));
    struct tt_loop_reinit late = {.context = spread, .open = reopen_for_inputs, .close = finish_for_outputs};
    rank->stats->init_loops++;
    for (uint32_t i = 0; i < count; i++) {
        struct tt_member *member = init_member_of(rank, rank->job->structure.nodes[nodes[i]].component);
        if (reads_after_init(member) && member->unit->kind->interface == TUTTI_ME)
            TRY(init_leave_unit(rank, member));
    }
    return tt_algebraic_loop_solve(rank, nodes, count, NULL, &late);
}

static enum tutti_err init_perform_action(struct tt_init_exchange *spread, const struct tt_eval_order *order,
                                          const struct tt_eval_action *action)
{
    struct tt_rank *rank = spread->rank;
    const uint32_t *nodes = order->nodes + action->first;
    bool here;
    TRY(tt_init_exchange_prepare(spread, nodes, action->count, &here));
    if (action->kind == TUTTI_ACTION_SOLVE)
        rank->stats->init_loops += !here; /* counted by all alike */
    if (!here)
        return TUTTI_OK;
    for (uint32_t i = 0; action->kind == TUTTI_ACTION_SET && i < action->count; i++)
        spread->told[nodes[i]] = true;
    switch (action->kind) {
    case TUTTI_ACTION_SET: return init_set_inputs(rank, init_member_of(rank, action->component), nodes, action->count);
    case TUTTI_ACTION_GET: return init_get_outputs(rank, init_member_of(rank, action->component), nodes, action->count);
    case TUTTI_ACTION_SOLVE: break;
    }
    return init_solve_loop(spread, nodes, action->count);
}

static enum tutti_err compute_in_order(struct tt_rank *rank, const struct tt_eval_order *order, struct tt_arena *arena)
{
    struct tt_init_exchange spread;
    TRY(tt_init_exchange_init(&spread, rank, arena));
    for (uint32_t a = 0; a < order->action_count; a++)
        TRY(init_perform_action(&spread, order, &order->actions[a]));
    return tt_init_exchange_run(&spread);
}

static enum tutti_err init_finish_member_event(struct tt_rank *rank, struct tt_member *member)
{
    bool ended = false;
    if (!member->unit->has_events)
        return TUTTI_OK;
    TRY(tt_rank_finish_event(rank, member, &ended));
    if (ended)
        rank->ended = member;
    return TUTTI_OK;
}

/* ---- units that are to be taken back ---- */

/* A unit that was not restored exactly is restarted, with its present inputs. */
static enum tutti_err init_restart_unit(struct tt_rank *rank, struct tt_member *member)
{
    uint32_t c = member->component;
    struct tt_unit_counts counts = member->unit->counts;
    TRY(tt_open_restart_component(rank, member));
    TRY(tt_tick_setup_restart(rank, member));
    member->ready = false;
    TRY(init_enter_unit(rank, member));
    for (uint32_t n = rank->job->structure.component_first[c]; n < rank->job->structure.component_first[c + 1]; n++)
        if (!rank->job->structure.nodes[n].output)
            TRY(init_set_inputs(rank, member, &n, 1));
    TRY(init_leave_unit(rank, member));
    TRY(init_finish_member_event(rank, member));
    member->unit->counts = counts;
    return rank->ended ? TUTTI_OK : tt_wires_get_outputs(member->wires, member->unit);
}

/* Compares parameters with the values that were set. A unit that reports an error for reading them is restarted, as FMI
 * requires after an Error; one that can be created only once continues, as many can. */
static enum tutti_err compare_parameters(struct tt_rank *rank)
{
    for (uint32_t m = 0; m < rank->own_count && !rank->ended; m++) {
        struct tt_member *member = rank->own[m];
        const struct tt_interface *interface = &member->unit->fmu->desc->interfaces[member->unit->kind->interface];
        bool refused;
        tt_rank_publish_unit(rank, member->component);
        TRY(tt_init_compare_parameters(rank, member, &refused));
        if (refused && !(interface->flags & TUTTI_ONCE_PER_PROCESS))
            TRY(init_restart_unit(rank, member));
    }
    return TUTTI_OK;
}

/* Found out by the unit's rank, known by all. */
static enum tutti_err share_test_findings(struct tt_rank *rank, double *findings, bool *forgets)
{
    const double *undeclared = findings + rank->member_count;
    TRY(tt_rank_reduce(rank, TUTTI_REDUCE_MAX, findings, 2 * (size_t)rank->member_count));
    for (uint32_t m = 0; m < rank->member_count; m++) {
        struct tt_member *member = &rank->members[m];
        member->unit->undeclared = undeclared[m] > 0;
        if (findings[m] == 2 && tt_rank_owns(rank, m))
            TRY(init_restart_unit(rank, member));
        member->unit->unsteady = findings[m] == 1;
        if (findings[m] < 2)
            continue;
        *forgets = member->unit->forgets = true;
        member->unit->can &= ~(uint32_t)TUTTI_CAN_STATE;
    }
    return TUTTI_OK;
}

/* A unit whose saved states are incomplete may be rolled back by forking, which is tested, too; a unit that cannot be
 * rolled back by that is not, unless an option requests it. */
static enum tutti_err init_test_unit(struct tt_rank *rank, struct tt_member *member,
                                     struct tt_startup_test_result *rehearsal)
{
    bool was_forked = member->setup.forked;
    TRY(tt_startup_tests_run(rank, member, rehearsal));
    if (rehearsal->forgets && !was_forked && tt_open_may_fork(rank, member)) {
        tt_log(rank->unit_log, TUTTI_LOG_WARNING, member->unit->name,
               "the FMU does not come back to a state that it saved (canGetAndSetFMUState): %s; it is taken "
               "back by forking its process (--rollback)",
               rehearsal->why);
        member->setup.forked = true;
        TRY(init_restart_unit(rank, member));
        TRY(tt_startup_tests_run(rank, member, rehearsal));
    }
    if (!rehearsal->forgets) /* nothing can be read where a step was rejected */
        return member->unit->rejects && rehearsal->tried ? init_restart_unit(rank, member) : TUTTI_OK;
    if (member->setup.rollback == TUTTI_ROLLBACK_FORK)
        return tt_fail(TUTTI_ERR_UNSUPPORTED, "%s", rehearsal->why);
    if (member->setup.forked)
        tt_log(rank->unit_log, TUTTI_LOG_WARNING, NULL, "%s; it is treated as one that cannot go back", rehearsal->why);
    else
        tt_log(rank->unit_log, TUTTI_LOG_WARNING, member->unit->name,
               "the FMU does not come back to a state that it saved (canGetAndSetFMUState): %s; it is treated "
               "as one that cannot go back",
               rehearsal->why);
    member->setup.forked = false;
    return TUTTI_OK;
}

/* Where connections feed it, a loop through it may not be seen. */
static void warn_undeclared_dependency(const struct tt_rank *rank, const struct tt_member *member, uint32_t output)
{
    const char *unit = member->unit->name;
    char text[512];
    snprintf(text, sizeof text,
             "'%.200s' follows inputs at once, and the FMU's model structure says that it does not (dependencies); its "
             "steps are made as if all outputs did",
             member->unit->fmu->desc->vars[output].name);
    if (member->wires->gather_count > 0)
        tt_log_unfiltered(rank->unit_log, TUTTI_LOG_WARNING, unit,
                          "%s, but algebraic loops through it are not found: use --coupling relax if it is part of one",
                          text);
    else
        tt_log(rank->unit_log, TUTTI_LOG_WARNING, unit, "%s", text);
}

enum tutti_err tt_init_test_units(struct tt_rank *rank, bool *forgets)
{
    *forgets = false;
    double *findings = tt_arena_array(&rank->arena, rank->member_count, 2 * sizeof *findings);
    if (!findings)
        return tt_fail_memory();
    for (uint32_t i = 0; i < rank->own_count; i++) {
        struct tt_member *member = rank->own[i];
        struct tt_startup_test_result rehearsal;
        TRY(init_test_unit(rank, member, &rehearsal));
        findings[member->component] = rehearsal.forgets ? 2 : rehearsal.unsteady ? 1 : 0;
        findings[rank->member_count + member->component] = rehearsal.undeclared != TUTTI_NONE;
        if (rehearsal.undeclared != TUTTI_NONE)
            warn_undeclared_dependency(rank, member, rehearsal.undeclared);
    }
    return share_test_findings(rank, findings, forgets);
}

/* ---- the way ---- */

enum tutti_err tt_init_compute(struct tt_rank *rank)
{
    for (uint32_t m = 0; m < rank->own_count; m++)
        TRY(init_enter_unit(rank, rank->own[m]));

    struct tt_eval_order order;
    struct tt_arena arena = {0};
    TRY(tt_eval_order_init(&order, &rank->job->structure, true));
    enum tutti_err err = compute_in_order(rank, &order, &arena);
    tt_eval_order_fini(&order);
    tt_arena_fini(&arena);
    TRY(err);
    bool unused = false;
    return tt_rank_agree_any(rank, &unused); /* no rank complains of what follows while another still fails at this */
}

enum tutti_err tt_init_exit(struct tt_rank *rank)
{
    for (uint32_t m = 0; m < rank->own_count; m++) {
        struct tt_unit *unit = rank->own[m]->unit;
        tt_rank_publish_unit(rank, rank->own[m]->component);
        TRY(init_leave_unit(rank, rank->own[m]));
        if (unit->counts.init_evaluations == 0)
            unit->counts.init_evaluations = 1; /* no other unit asked, but it was done */
    }

    /* The values of units with events at the end of their initialisation reach the units that read them. */
    struct tt_point_events here = {0};
    for (uint32_t m = 0; m < rank->own_count; m++) {
        struct tt_member *member = rank->own[m];
        TRY(init_finish_member_event(rank, member));
        if (!rank->ended)
            TRY(tt_wires_get_outputs(member->wires, member->unit));
    }
    TRY(tt_channels_exchange_start(&rank->channels));
    TRY(tt_rank_agree_point(rank, &here));
    return compare_parameters(rank);
}

enum tutti_err tt_init_apply_late(struct tt_rank *rank)
{
    for (uint32_t m = 0; m < rank->own_count; m++) {
        const struct tt_component *component = &rank->job->system->components[rank->own[m]->component];
        if (component->has_state && !rank->own[m]->unit->has_events)
            TRY(tt_unit_apply_tunable(rank->own[m]->unit, component->settings, component->setting_count));
    }
    return TUTTI_OK;
}

enum tutti_err tt_init_exchange_init(struct tt_init_exchange *spread, struct tt_rank *rank, struct tt_arena *arena)
{
    *spread =
        (struct tt_init_exchange){.rank = rank,
                                  .news = tt_arena_array(arena, rank->job->structure.node_count, sizeof *spread->news),
                                  .told = tt_arena_array(arena, rank->job->structure.node_count, sizeof *spread->told)};
    return spread->news && spread->told ? TUTTI_OK : tt_fail_memory();
}

static int32_t exchange_rank_of(const struct tt_rank *rank, uint32_t node)
{
    return rank->place ? rank->place[rank->job->structure.nodes[node].component] : 0;
}

/* Returns the rank of all the nodes' units; -1: several. */
static int32_t single_rank_of(const struct tt_rank *rank, const uint32_t *nodes, uint32_t count)
{
    int32_t only = exchange_rank_of(rank, nodes[0]);
    for (uint32_t i = 1; i < count; i++)
        if (exchange_rank_of(rank, nodes[i]) != only)
            return -1;
    return only;
}

/* Returns true if an input among the nodes comes from a value that its rank has not received yet. */
static bool reads_unexchanged(const struct tt_init_exchange *spread, const uint32_t *nodes, uint32_t count)
{
    const struct tt_rank *rank = spread->rank;
    for (uint32_t i = 0; i < count && rank->place; i++) {
        const struct tt_slot *slot = &rank->wires.slots[nodes[i]];
        if (rank->job->structure.nodes[nodes[i]].output)
            continue;
        for (uint32_t w = slot->wire_first; w < slot->wire_first + slot->wire_count; w++) {
            const struct tt_end *from = &rank->wires.wires[w].connection->from;
            uint32_t source = tt_structure_find(&rank->job->structure, from->component, from->variable, true);
            if (spread->news[source] && exchange_rank_of(rank, source) != exchange_rank_of(rank, nodes[i]))
                return true;
        }
    }
    return false;
}

void tt_init_exchange_mark_done(struct tt_init_exchange *spread)
{
    memset(spread->news, 0, spread->rank->job->structure.node_count * sizeof *spread->news);
}

enum tutti_err tt_init_exchange_run(struct tt_init_exchange *spread)
{
    tt_init_exchange_mark_done(spread);
    return tt_channels_exchange_start(&spread->rank->channels);
}

enum tutti_err tt_init_exchange_prepare(struct tt_init_exchange *spread, const uint32_t *nodes, uint32_t count,
                                        bool *here)
{
    struct tt_rank *rank = spread->rank;
    int32_t only = single_rank_of(rank, nodes, count);
    if (reads_unexchanged(spread, nodes, count))
        TRY(tt_init_exchange_run(spread));
    for (uint32_t i = 0; i < count && only >= 0; i++)
        spread->news[nodes[i]] = rank->job->structure.nodes[nodes[i]].output;
    *here = only < 0 || only == rank->fabric->rank;
    return TUTTI_OK;
}

struct parameter_context {
    const struct tt_rank *rank;
    const struct tt_member *member;
};

static bool parameter_is_set(const struct tt_component *component, uint32_t variable)
{
    for (size_t i = 0; i < component->setting_count; i++)
        if (component->settings[i].variable == variable)
            return true;
    return false;
}

/* A saved state has its own parameters; tunable ones that are set come later, or have come (tt_init_apply_late). */
static bool parameter_from_state(const struct parameter_context *place, uint32_t variable)
{
    const struct tt_component *component = &place->rank->job->system->components[place->member->component];
    return component->has_state &&
           (!parameter_is_set(component, variable) || tt_unit_is_settable_late(place->member->unit, variable));
}

/* A connection, an input file or a saved state has the say. */
static bool parameter_has_other_source(const void *context, uint32_t variable)
{
    const struct parameter_context *place = context;
    const struct tt_inputs *inputs = place->member->inputs;
    return (inputs && inputs->signal_of[variable] > 0) || parameter_from_state(place, variable) ||
           tt_structure_find(&place->rank->job->structure, place->member->component, variable, false) != TUTTI_NONE;
}

static enum tutti_err warn_parameter_differs(const struct tt_rank *rank, const struct tt_member *member,
                                             const struct tt_parameter_difference *first, size_t count)
{
    const struct tt_component *component = &rank->job->system->components[member->component];
    const struct tt_description *desc = component->fmu->desc;
    const struct tt_var *var = &desc->vars[first->variable];
    const struct tt_end end = {.component = member->component, .variable = first->variable};
    struct tt_text expected = {0}, found = {0};
    char name[256], more[80] = "";
    tt_setting_write(&expected, desc, var, first->expected);
    tt_setting_write(&found, desc, var, first->found);
    bool told = !expected.failed && !found.failed;
    if (count > 1)
        snprintf(more, sizeof more, " (and %zu more parameters have other values, too)", count - 1);
    if (told && component->has_state)
        tt_log_unfiltered(rank->unit_log, TUTTI_LOG_WARNING, member->unit->name,
                          "the initial state has another parameter: '%s' was set to %s, and is %s in the state of "
                          "--initial-state%s; the run goes on with what the state has",
                          var->name, expected.text, found.text, more);
    else if (told && parameter_is_set(component, first->variable))
        tt_log_unfiltered(
            rank->unit_log, TUTTI_LOG_WARNING, member->unit->name,
            "the FMU does not take a parameter: '%s' was set to %s, and is %s after the initialisation%s; "
            "the run goes on with what the FMU has",
            var->name, expected.text, found.text, more);
    else if (told)
        tt_log_unfiltered(rank->unit_log, TUTTI_LOG_WARNING, member->unit->name,
                          "the FMU ignores start values of its description: '%s' should be %s, and is %s after the "
                          "initialisation%s; the run goes on with what the FMU has; --set %s=%s sets it",
                          var->name, expected.text, found.text, more,
                          tt_system_name(rank->job->system, &end, name, sizeof name),
                          var->dimension_count > 0 ? "..." : expected.text);
    tt_text_fini(&expected);
    tt_text_fini(&found);
    return told ? TUTTI_OK : tt_fail_memory();
}

enum tutti_err tt_init_compare_parameters(struct tt_rank *rank, const struct tt_member *member, bool *refused)
{
    const struct tt_component *component = &rank->job->system->components[member->component];
    const struct parameter_context place = {rank, member};
    struct tt_parameter_check described;
    struct tt_parameter_difference first;
    *refused = false;
    TRY(tt_parameter_check_init(&described, member->unit, component->settings, component->setting_count,
                                parameter_has_other_source, &place));
    enum tutti_err err = TUTTI_OK;
    for (size_t b = 0; b < described.found.block_count && !err && !*refused; b++)
        err = member->unit->kind->ask(member->unit, &described.found.blocks[b], refused);
    size_t count = err || *refused ? 0 : tt_parameter_check_compare(&described, &first);
    if (count > 0)
        err = warn_parameter_differs(rank, member, &first, count);
    tt_parameter_check_fini(&described);
    return err;
}
