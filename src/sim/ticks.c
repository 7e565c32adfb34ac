/* SPDX-License-Identifier: MIT */
#include "sim/ticks.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/wall_clock.h"
#include "sim/rank.h"

/* ---- intervals ---- */

static enum tutti_err clock_error(const struct tt_tick_unit *unit, uint32_t clock, enum tutti_err err)
{
    return tt_fail_about(err, unit->member->unit->name, tt_ticks_clock_name(unit, clock), unit->member->now.t);
}

static enum tutti_err accept_interval_fraction(const struct tt_tick_unit *unit, uint32_t clock,
                                               const struct tt_clock_timing *timing, struct tt_fraction *out)
{
    if (timing->fraction) {
        *out = (struct tt_fraction){timing->counter, timing->resolution};
        return TUTTI_OK;
    }
    if (tt_time_fraction_of(timing->decimal, out))
        return TUTTI_OK;
    tt_fail(TUTTI_ERR_FMU,
            "%s: the clock '%s' has an interval or shift of %s, which is no fraction of two 64-bit numbers",
            unit->member->unit->name, tt_ticks_clock_name(unit, clock), NUMBER(timing->decimal));
    return clock_error(unit, clock, TUTTI_ERR_FMU);
}

static bool clock_is_periodic(const struct tt_tick_clock *clock)
{
    return clock->scheduled ? clock->scheduled->interval.counter > 0 : clock->kind <= TUTTI_INTERVAL_TUNABLE;
}

static enum tutti_err check_clock_period(const struct tt_tick_unit *unit, uint32_t clock)
{
    if (unit->states[clock].interval.counter > 0)
        return TUTTI_OK;
    tt_fail(TUTTI_ERR_FMU, "%s: the periodic clock '%s' has an interval of 0", unit->member->unit->name,
            tt_ticks_clock_name(unit, clock));
    return clock_error(unit, clock, TUTTI_ERR_FMU);
}

static void set_next_tick(struct tt_tick_unit *unit, uint32_t clock, const struct tt_instant *from,
                          struct tt_fraction after)
{
    struct tt_tick_state *state = &unit->states[clock];
    state->next = *from;
    tt_time_instant_move(&state->next, after);
    state->time = tt_time_of_instant(&state->next);
}

/* Applies the description; an FMU whose importer may choose the interval receives it. */
static enum tutti_err use_described_interval(struct tt_tick_unit *unit, uint32_t c, struct tt_fraction *shift)
{
    const struct tt_tick_clock *clock = &unit->clocks[c];
    const struct tt_clock *told = tt_ticks_unit_desc(unit)->vars[clock->variable].more->clock;
    bool fraction = told->interval_counter > 0 && told->resolution > 0;
    struct tt_clock_timing interval = {fraction, told->interval, told->interval_counter, told->resolution, 0},
                           first = {fraction, told->shift, told->shift_counter, told->resolution, 0};
    const struct tt_fraction *given =
        tt_schedule_find_interval(&unit->rank->job->schedule, unit->member->component, clock->variable);
    TRY(accept_interval_fraction(unit, c, &first, shift));
    if (given) {
        fraction = true;
        interval = (struct tt_clock_timing){true, 0, given->counter, given->resolution, 0};
    }
    TRY(accept_interval_fraction(unit, c, &interval, &unit->states[c].interval));
    interval.fraction = fraction && clock->fraction;
    if (!interval.fraction && fraction)
        interval.decimal = tt_time_fraction_value(unit->states[c].interval);
    bool settable = clock->kind == TUTTI_INTERVAL_FIXED || clock->kind == TUTTI_INTERVAL_TUNABLE;
    return settable ? tt_instance_clocks_set_interval(unit->member->unit->instance, clock->reference, &interval)
                    : TUTTI_OK;
}

static enum tutti_err query_clock_period(struct tt_tick_unit *unit, uint32_t c, struct tt_fraction *shift)
{
    const struct tt_tick_clock *clock = &unit->clocks[c];
    struct tt_clock_timing interval = {.fraction = clock->fraction}, first = {.fraction = clock->fraction};
    TRY(tt_instance_clocks_get_interval(unit->member->unit->instance, clock->reference, &interval));
    TRY(tt_instance_clocks_get_shift(unit->member->unit->instance, clock->reference, &first));
    if (interval.qualifier == TUTTI_TIMING_NOT_YET_KNOWN) {
        tt_fail(TUTTI_ERR_FMU,
                "%s: the FMU does not know the interval of its periodic clock '%s' in its initialisation",
                unit->member->unit->name, tt_ticks_clock_name(unit, c));
        return clock_error(unit, c, TUTTI_ERR_FMU);
    }
    TRY(accept_interval_fraction(unit, c, &interval, &unit->states[c].interval));
    return accept_interval_fraction(unit, c, &first, shift);
}

/* Applies the next interval that the FMU reports, at the instant unit->now. */
enum tutti_err tt_ticks_accept_timing(struct tt_tick_unit *unit, uint32_t c, const struct tt_clock_timing *timing)
{
    const struct tt_tick_clock *clock = &unit->clocks[c];
    struct tt_tick_state *state = &unit->states[c];
    bool changed = timing->qualifier == TUTTI_TIMING_CHANGED;
    if (timing->qualifier == TUTTI_TIMING_NOT_YET_KNOWN)
        state->time = INFINITY;
    if (changed)
        TRY(accept_interval_fraction(unit, c, timing, &state->interval));
    if (clock->kind == TUTTI_INTERVAL_COUNTDOWN && changed)
        set_next_tick(unit, c, &unit->now, state->interval);
    if (clock->kind == TUTTI_INTERVAL_CHANGING && timing->qualifier != TUTTI_TIMING_NOT_YET_KNOWN)
        set_next_tick(unit, c, &unit->now, state->interval);
    if (clock->kind == TUTTI_INTERVAL_TUNABLE && changed) {
        TRY(check_clock_period(unit, c));
        if (state->ticks > 0)
            set_next_tick(unit, c, &state->last, state->interval);
        if (state->time < unit->member->now.t) /* it would have ticked by now */
            set_next_tick(unit, c, &unit->now, (struct tt_fraction){0, 1});
    }
    return TUTTI_OK;
}

/* A changing clock after its tick; a countdown; a tunable one whose interval the FMU computes. */
static enum tutti_err query_clock_interval(struct tt_tick_unit *unit, uint32_t c)
{
    const struct tt_tick_clock *clock = &unit->clocks[c];
    struct tt_clock_timing timing = {.fraction = clock->fraction};
    tt_instance_clocks_lock(unit->member->unit->instance);
    enum tutti_err err = tt_instance_clocks_get_interval(unit->member->unit->instance, clock->reference, &timing);
    tt_instance_clocks_unlock(unit->member->unit->instance);
    return err ? err : tt_ticks_accept_timing(unit, c, &timing);
}

static enum tutti_err start_scheduled_clock(struct tt_tick_unit *unit, uint32_t c)
{
    const struct tt_scheduled *line = unit->clocks[c].scheduled;
    const struct tt_instant zero = {0, {0, 1}};
    set_next_tick(unit, c, &zero, line->first);
    unit->states[c].interval = line->interval;
    if (unit->states[c].time >= unit->rank->times.start)
        return TUTTI_OK;
    return tt_fail(TUTTI_ERR_ARGUMENT, "--schedule: the clock '%s' of %s ticks first at t = %s, before the start, %s",
                   tt_ticks_clock_name(unit, c), unit->member->unit->name, NUMBER(unit->states[c].time),
                   NUMBER(unit->rank->times.start));
}

static enum tutti_err start_clock(struct tt_tick_unit *unit, uint32_t c)
{
    const struct tt_tick_clock *clock = &unit->clocks[c];
    struct tt_tick_state *state = &unit->states[c];
    struct tt_fraction shift = {0, 1};
    *state = (struct tt_tick_state){.time = INFINITY, .last_time = NAN, .interval = {0, 1}};
    if (clock->scheduled)
        return start_scheduled_clock(unit, c);
    if (!clock->input || clock->kind == TUTTI_INTERVAL_TRIGGERED)
        return TUTTI_OK;
    if (!clock_is_periodic(clock))
        return query_clock_interval(unit, c);
    TRY(clock->described ? use_described_interval(unit, c, &shift) : query_clock_period(unit, c, &shift));
    TRY(check_clock_period(unit, c));
    set_next_tick(unit, c, &unit->now, shift);
    return TUTTI_OK;
}

enum tutti_err tt_ticks_start(struct tt_rank *rank, struct tt_member *member)
{
    struct tt_tick_unit *unit = rank->ticks ? &rank->ticks->units[member->component] : NULL;
    if (!unit)
        return TUTTI_OK;
    unit->now = (struct tt_instant){rank->times.start, {0, 1}};
    for (uint32_t c = 0; c < unit->clock_count; c++)
        TRY(start_clock(unit, c));
    return TUTTI_OK;
}

double tt_ticks_next(const struct tt_rank *rank, const struct tt_member *member)
{
    const struct tt_tick_unit *unit = &rank->ticks->units[member->component];
    double next = INFINITY;
    for (uint32_t c = 0; c < unit->clock_count; c++)
        next = fmin(next, unit->states[c].time);
    return next;
}

/* ---- what is due ---- */

static bool clock_is_due(const struct tt_tick_unit *unit, uint32_t c)
{
    const struct tt_tick_clock *clock = &unit->clocks[c];
    const struct tt_tick_state *state = &unit->states[c];
    return clock->input && (tt_time_reached(unit->member->now.t, state->time, unit->rank->span) ||
                            (clock->source && *clock->source != state->seen));
}

/* Returns true if a unit with separate steps is at a different time. */
static enum tutti_err is_unit_elsewhere(const struct tt_tick_unit *unit, uint32_t c)
{
    tt_fail(TUTTI_ERR_UNSUPPORTED,
            "%s: its clock '%s' ticks at t = %s, in the middle of a step of the unit's own, or of an FMU that cannot "
            "vary its step; use a --step that ends there",
            unit->member->unit->name, tt_ticks_clock_name(unit, c), TIME(unit->rank->t));
    return clock_error(unit, c, TUTTI_ERR_UNSUPPORTED);
}

/* Detects an output clock that ticked inside the last step, which its unit did not end there: reported once. */
static void check_output_clock(struct tt_tick_unit *unit, uint32_t c)
{
    struct tt_tick_clock *clock = &unit->clocks[c];
    const struct tt_tick_state *state = &unit->states[c];
    double t = unit->rank->t;
    bool new = state->ticks > clock->looked_at;
    clock->looked_at = state->ticks;
    if (!new || clock->late || tt_time_reached(state->last_time, t, unit->rank->span))
        return;
    clock->late = true;
    tt_log_unfiltered(
        unit->rank->unit_log, TUTTI_LOG_WARNING, unit->member->unit->name,
        "the clock '%s' ticked at t = %s, inside of a step, and others hear of it at the step's end only, "
        "t = %s (said once): use --events early if the unit can go back, else a shorter --step",
        tt_ticks_clock_name(unit, c), TIME(state->last_time), TIME(t));
}

/* ---- a tick ---- */

/* Returns true if one of the variable's clocks ticks. */
static bool variable_ticks(const struct tt_tick_unit *unit, uint32_t variable)
{
    const struct tt_var *var = &tt_ticks_unit_desc(unit)->vars[variable];
    for (uint32_t i = 0; i < var->clock_count; i++)
        for (uint32_t c = 0; c < unit->clock_count; c++)
            if (unit->clocks[c].variable == var->more->clocks[i] && unit->clocks[c].ticks)
                return true;
    return var->clock_count == 0;
}

static enum tutti_err ticks_set_inputs(struct tt_tick_unit *unit)
{
    struct tt_rank *rank = unit->rank;
    for (uint32_t i = 0; i < unit->input_count; i++) {
        struct tt_slot *slot = &rank->wires.slots[unit->inputs[i].node];
        if (!variable_ticks(unit, unit->inputs[i].variable))
            continue;
        TRY(tt_wires_gather_node(&rank->wires, unit->inputs[i].node));
        struct tt_block block = {(enum tt_type)slot->type, 1, slot->count, &slot->reference, slot->values, NULL};
        TRY(unit->member->unit->kind->set(unit->member->unit, &block));
    }
    return TUTTI_OK;
}

/* Copies a value read at a tick to where readers access it. */
static enum tutti_err publish_tick_output(const struct tt_tick_unit *unit, const struct tt_tick_variable *output)
{
    struct tt_slot *slot = &unit->rank->wires.slots[output->node];
    const void *from = unit->member->unit->clocked->signals.slots[output->place];
    if (slot->owned)
        return tt_signals_owned_copy(slot->owned, (enum tt_type)slot->type, from, slot->values, slot->count);
    memcpy(slot->values, from, slot->count * tt_type_size((enum tt_type)slot->type));
    return TUTTI_OK;
}

static enum tutti_err ticks_read_outputs(struct tt_tick_unit *unit)
{
    struct tt_unit *of = unit->member->unit;
    for (uint32_t i = 0; i < unit->output_count; i++) {
        const struct tt_tick_variable *output = &unit->outputs[i];
        if (!variable_ticks(unit, output->variable))
            continue;
        TRY(tt_clocked_read(of, output->place));
        if (output->node != TUTTI_NONE)
            TRY(publish_tick_output(unit, output));
    }
    return TUTTI_OK;
}

static void count_tick(struct tt_tick_unit *unit, uint32_t c)
{
    struct tt_tick_state *state = &unit->states[c];
    state->ticks++;
    state->last_time = unit->member->now.t;
    unit->clocks[c].ticked = true;
}

/* CK5 */
static enum tutti_err read_output_clocks(struct tt_tick_unit *unit)
{
    uint32_t count = 0, *references = unit->references;
    for (uint32_t c = 0; c < unit->clock_count; c++)
        if (!unit->clocks[c].input && variable_ticks(unit, unit->clocks[c].variable))
            references[count++] = unit->clocks[c].reference;
    if (count == 0)
        return TUTTI_OK;
    TRY(tt_instance_clocks_get(unit->member->unit->instance, references, count, unit->values));
    for (uint32_t c = 0, i = 0; c < unit->clock_count; c++) {
        struct tt_tick_clock *clock = &unit->clocks[c];
        if (i >= count || clock->input || clock->reference != references[i])
            continue;
        clock->ticks = unit->values[i++];
        if (!clock->ticks)
            continue;
        count_tick(unit, c);
        if (clock->signal)
            ++*clock->signal;
    }
    return TUTTI_OK;
}

/* In event mode, before the discrete states are updated. */
static enum tutti_err set_inputs_before_update(void *context)
{
    struct tt_tick_unit *unit = context;
    TRY(read_output_clocks(unit));
    TRY(ticks_read_outputs(unit));
    for (uint32_t c = 0; c < unit->clock_count; c++)
        unit->clocks[c].ticks = false; /* the update ends it */
    return TUTTI_OK;
}

static enum tutti_err read_outputs_after_update(void *context)
{
    struct tt_tick_unit *unit = context;
    for (uint32_t c = 0; c < unit->clock_count; c++) {
        struct tt_tick_clock *clock = &unit->clocks[c];
        bool asks = clock->kind == TUTTI_INTERVAL_COUNTDOWN ||
                    (clock->kind == TUTTI_INTERVAL_CHANGING && clock->ticked) ||
                    (clock->kind == TUTTI_INTERVAL_TUNABLE && !clock->described);
        if (clock->input && asks)
            TRY(query_clock_interval(unit, c));
        clock->ticked = false;
    }
    unit->now = (struct tt_instant){unit->member->now.t, {0, 1}};
    return TUTTI_OK;
}

bool tt_ticks_has_clock(const struct tt_var *var, uint32_t clock)
{
    for (uint32_t i = 0; i < var->clock_count; i++)
        if (var->more->clocks[i] == clock)
            return true;
    return var->clock_count == 0;
}

/* Scheduled Execution, in the callback of a partition. */
static enum tutti_err ticks_clock_update(void *context)
{
    struct tt_tick_unit *unit = context;
    if (tt_tasks_context())
        return tt_tick_pace_store_update(tt_tasks_context());
    TRY(read_output_clocks(unit));
    for (uint32_t c = 0; c < unit->clock_count; c++) {
        if (!unit->clocks[c].input)
            unit->clocks[c].ticks = unit->clocks[c].ticked = false;
        else if (unit->clocks[c].kind == TUTTI_INTERVAL_COUNTDOWN)
            TRY(query_clock_interval(unit, c));
    }
    return TUTTI_OK;
}

void tt_ticks_install_callbacks(struct tt_tick_unit *unit)
{
    unit->member->unit->ticking =
        (struct tt_unit_ticking){unit, set_inputs_before_update, read_outputs_after_update, ticks_clock_update, NULL};
}

static __attribute__((cold, noinline)) enum tutti_err fail_interval_too_short(const struct tt_tick_unit *unit,
                                                                              uint32_t c)
{
    const struct tt_tick_state *state = &unit->states[c];
    tt_fail(TUTTI_ERR_FMU,
            "%s: the interval of the clock '%s', %llu/%llu, cannot be told from 0 at t = %s: time does not go on",
            unit->member->unit->name, tt_ticks_clock_name(unit, c), (unsigned long long)state->interval.counter,
            (unsigned long long)state->interval.resolution, TIME(unit->member->now.t));
    return clock_error(unit, c, TUTTI_ERR_FMU);
}

/* The clock ticks now: determines its next tick, as far as it is known. */
static inline __attribute__((always_inline)) enum tutti_err start_tick(struct tt_tick_unit *unit, uint32_t c)
{
    struct tt_tick_clock *clock = &unit->clocks[c];
    struct tt_tick_state *state = &unit->states[c];
    double t = unit->member->now.t;
    bool by_time = tt_time_reached(t, state->time, unit->rank->span);
    clock->ticks = true;
    count_tick(unit, c);
    state->due = false;
    if (clock->source)
        state->seen = *clock->source;
    if (clock->signal)
        ++*clock->signal; /* CK5 */
    if (!by_time)
        return TUTTI_OK;
    state->last = unit->now = state->next;
    if (!clock_is_periodic(clock)) {
        state->time = INFINITY;
        return TUTTI_OK;
    }
    tt_time_instant_move(&state->next, state->interval);
    state->time = tt_time_of_instant(&state->next);
    if (__builtin_expect(state->time - t > unit->rank->ticks->apart, 1))
        return TUTTI_OK;
    return tt_time_reached(t, state->time, unit->rank->span) ? fail_interval_too_short(unit, c) : TUTTI_OK;
}

static enum tutti_err set_plain_inputs(struct tt_tick_unit *unit)
{
    struct tt_member *member = unit->member;
    struct tt_unit_wires *wires = member->wires;
    if (member->inputs)
        TRY(tt_inputs_apply_jump(member->inputs, member->unit));
    for (unsigned b = 0; b < wires->moving_blocks; b++)
        TRY(member->unit->kind->set(member->unit, &wires->moving[b]));
    for (unsigned b = 0; b < wires->held_blocks && wires->held_changed; b++)
        TRY(member->unit->kind->set(member->unit, &wires->held[b]));
    wires->held_changed = false;
    return TUTTI_OK;
}

/* All clocks of a unit with event mode that are due. */
static enum tutti_err tick_event_mode(struct tt_tick_unit *unit)
{
    struct tt_rank *rank = unit->rank;
    struct tt_member *member = unit->member;
    uint32_t count = 0;
    unit->now = (struct tt_instant){member->now.t, {0, 1}};
    for (uint32_t c = 0; c < unit->clock_count; c++) {
        if (!clock_is_due(unit, c))
            continue;
        TRY(start_tick(unit, c));
        bool known = false; /* lines of a schedule may have one clock, too */
        for (uint32_t i = 0; i < count; i++)
            known = known || unit->references[i] == unit->clocks[c].reference;
        unit->references[count] = unit->clocks[c].reference;
        unit->values[count] = true;
        count += !known;
    }
    if (count == 0)
        return TUTTI_OK;
    tt_rank_publish_unit(rank, member->component);
    TRY(tt_wires_gather(&rank->wires, rank->wires.signals, member->wires));
    TRY(tt_wires_gather_held(&rank->wires, rank->wires.signals, member->wires));
    member->now.event = false;
    member->now.staged_at = member->now.t;
    TRY(member->unit->kind->enter_event(member->unit));
    TRY(set_plain_inputs(unit));
    TRY(tt_instance_clocks_set(member->unit->instance, unit->references, count, unit->values));
    TRY(ticks_set_inputs(unit));
    bool ended = false;
    TRY(tt_rank_finish_event(rank, member, &ended));
    if (ended) {
        rank->ended = member;
        return TUTTI_OK;
    }
    return tt_wires_get_outputs(member->wires, member->unit);
}

/* The clock, or lines of the schedule that are its: those that are due tick. */
static enum tutti_err start_partition(struct tt_tick_unit *unit, uint32_t variable, uint32_t *partition)
{
    for (uint32_t c = 0; c < unit->clock_count; c++) {
        if (unit->clocks[c].variable != variable || !clock_is_due(unit, c))
            continue;
        if (unit->states[c].last_time == unit->member->now.t) {
            tt_fail(
                TUTTI_ERR_FMU,
                "%s: the clock '%s' ticks again at t = %s: FMI 3.0 has a partition of Scheduled Execution activated "
                "once at a time",
                unit->member->unit->name, tt_ticks_clock_name(unit, c), TIME(unit->member->now.t));
            return clock_error(unit, c, TUTTI_ERR_FMU);
        }
        TRY(start_tick(unit, c));
        *partition = c;
    }
    return TUTTI_OK;
}

enum tutti_err tt_ticks_query_interval(struct tt_tick_unit *unit, uint32_t c)
{
    const struct tt_tick_clock *clock = &unit->clocks[c];
    bool computes = clock->kind == TUTTI_INTERVAL_TUNABLE && !clock->described;
    return clock->kind == TUTTI_INTERVAL_CHANGING || computes ? query_clock_interval(unit, c) : TUTTI_OK;
}

static enum tutti_err ticks_compute_partition(struct tt_tick_unit *unit, uint32_t c)
{
    if (__builtin_expect(unit->rank->ticks->pace.on, 0))
        tt_tick_pace_count_latency(unit, tt_wall_clock_now(), unit->member->now.t);
    TRY(tt_ticks_partition_tick(unit->clocks[c].partition, unit->rank, unit->member, &unit->rank->ticks->watch));
    return tt_ticks_query_interval(unit, c);
}

/* One partition of Scheduled Execution, if its clock is due. */
static enum tutti_err tick_partition(struct tt_tick_unit *unit, uint32_t variable)
{
    struct tt_member *member = unit->member;
    uint32_t c = TUTTI_NONE;
    unit->now = (struct tt_instant){member->now.t, {0, 1}};
    TRY(start_partition(unit, variable, &c));
    if (c == TUTTI_NONE)
        return TUTTI_OK;
    tt_rank_publish_unit(unit->rank, member->component);
    if (unit->clocks[c].task != TUTTI_NONE) {
        TRY(tt_tick_pace_run_in_task(unit, c));
    } else {
        struct tt_fmi_call_frame frame = tt_fmi_call_enter_pass(&unit->rank->ticks->watch);
        enum tutti_err err = ticks_compute_partition(unit, c);
        tt_fmi_call_leave_pass(&unit->rank->ticks->watch, frame);
        TRY(err);
    }
    for (c = 0; c < unit->clock_count; c++)
        unit->clocks[c].ticks = unit->clocks[c].ticked = false;
    return TUTTI_OK;
}

static enum tutti_err tick_node(struct tt_rank *rank, const struct tt_tick_node *node)
{
    struct tt_tick_unit *unit = &rank->ticks->units[node->component];
    if (!tt_rank_member_is_present(rank, unit->member))
        return TUTTI_OK; /* look finds it */
    return tt_fail_about(node->clock == TUTTI_NONE ? tick_event_mode(unit) : tick_partition(unit, node->clock),
                         unit->member->unit->name, NULL, rank->t);
}

enum tutti_err tt_ticks_check_due(struct tt_rank *rank, bool *any)
{
    if (rank->ticks->pace.tasks)
        TRY(tt_tick_pace_collect(rank));
    for (uint32_t m = 0; m < rank->own_count; m++) {
        struct tt_tick_unit *unit = &rank->ticks->units[rank->own[m]->component];
        bool present = tt_rank_member_is_present(rank, rank->own[m]);
        for (uint32_t c = 0; c < unit->clock_count; c++) {
            bool late = !present && tt_time_reached(rank->t, unit->states[c].time, rank->span);
            if (late || (!present && unit->clocks[c].source && *unit->clocks[c].source != unit->states[c].seen))
                return is_unit_elsewhere(unit, c);
            if (unit->clocks[c].heard)
                check_output_clock(unit, c);
            unit->states[c].due = present && clock_is_due(unit, c);
            *any = *any || unit->states[c].due;
        }
    }
    return TUTTI_OK;
}

enum tutti_err tt_ticks_handle_due(struct tt_rank *rank)
{
    const struct tt_clock_order *order = &rank->ticks->order;
    uint32_t n = 0;
    for (uint32_t wave = 0; wave < order->waves; wave++) {
        for (; n < order->count && order->nodes[n].wave == wave; n++)
            if (tt_rank_owns(rank, order->nodes[n].component) && !rank->ended)
                TRY(tick_node(rank, &order->nodes[n]));
        TRY(tt_channels_exchange(&rank->channels));
    }
    return TUTTI_OK;
}

/* ---- partitions in sequence ---- */

/* The clock that ticks next; NULL: another one may tick then, too, or none does before `until`. *others: the first time at which another one
 * may tick, or `until`. */
static struct tt_tick_state *find_next_tick(const struct tt_ticks *ticks, double until, double *others)
{
    struct tt_tick_state *first = NULL;
    double t = until - ticks->apart, other = INFINITY;
    for (size_t s = 0; s < ticks->state_count; s++) {
        double time = ticks->states[s].time;
        if (time < t) {
            other = t;
            t = time;
            first = &ticks->states[s];
        } else if (time < other)
            other = time;
    }
    *others = fmin(other, until) - ticks->apart;
    return other - t > ticks->apart ? first : NULL;
}

static inline enum tutti_err tick_single_partition(struct tt_tick_unit *unit, uint32_t c)
{
    tt_rank_publish_unit(unit->rank, unit->member->component);
    unit->member->now.t = unit->rank->t;
    TRY(start_tick(unit, c));
    TRY(ticks_compute_partition(unit, c));
    unit->clocks[c].ticks = unit->clocks[c].ticked = false;
    return TUTTI_OK;
}

/* Makes ticks of one periodic clock, the first one before `bound`, up to `most` of them, while no other changes when it
 * ticks (ticks->steady): as start_tick does, without repeated lookups. */
static enum tutti_err run_single_clock(struct tt_tick_unit *unit, uint32_t c, double bound, unsigned long most,
                                       const volatile sig_atomic_t *interrupt, unsigned long *made)
{
    struct tt_rank *rank = unit->rank;
    struct tt_member *member = unit->member;
    struct tt_tick_state *state = &unit->states[c];
    const struct tt_tick_partition *partition = unit->clocks[c].partition;
    const double apart = rank->ticks->apart;
    struct tt_instant now, next = state->next;
    double t = state->time;
    enum tutti_err err = TUTTI_OK;
    tt_rank_publish_unit(rank, member->component);
    do {
        double time = t;
        rank->t = rank->target = member->now.t = state->last_time = time;
        state->ticks++;
        now = next;
        tt_time_instant_move(&next, state->interval);
        t = tt_time_of_instant(&next);
        ++*made;
        if (__builtin_expect(!(t - time > apart), 0) && tt_time_reached(time, t, rank->span))
            err = fail_interval_too_short(unit, c);
        else
            err = tt_ticks_partition_tick(partition, rank, member, &rank->ticks->watch);
    } while (err == TUTTI_OK && t < bound && *made < most && !(interrupt && *interrupt));
    state->last = unit->now = now;
    state->next = next;
    state->time = t;
    return err;
}

static enum tutti_err ticks_run_until(struct tt_rank *rank, double until, unsigned long most,
                                      const volatile sig_atomic_t *interrupt, unsigned long *made)
{
    const struct tt_ticks *ticks = rank->ticks;
    while (*made < most && !(interrupt && *interrupt)) {
        double others;
        struct tt_tick_state *state = find_next_tick(ticks, until, &others);
        if (!state || state->time <= rank->t)
            break;
        struct tt_tick_unit *unit = ticks->of[state - ticks->states];
        uint32_t c = (uint32_t)(state - unit->states);
        enum tutti_err err;
        if (ticks->steady && clock_is_periodic(&unit->clocks[c])) {
            err = run_single_clock(unit, c, others, most, interrupt, made);
        } else {
            rank->t = rank->target = state->time;
            ++*made;
            err = tick_single_partition(unit, c);
        }
        if (__builtin_expect(err != TUTTI_OK, 0))
            return tt_fail_about(err, unit->member->unit->name, NULL, rank->t);
    }
    return TUTTI_OK;
}

enum tutti_err tt_ticks_run(struct tt_rank *rank, double until, unsigned long most,
                            const volatile sig_atomic_t *interrupt, unsigned long *made)
{
    double from = rank->t;
    *made = 0;
    struct tt_fmi_call_frame frame = tt_fmi_call_enter_pass(&rank->ticks->watch);
    enum tutti_err err = ticks_run_until(rank, until, most, interrupt, made);
    tt_fmi_call_leave_pass(&rank->ticks->watch, frame);
    TRY(err);

    /* All units have made that number of steps; one in Scheduled Execution only moves its time. */
    for (uint32_t m = 0; m<rank->member_count && * made> 0; m++) {
        struct tt_member *member = &rank->members[m];
        struct tt_fmi_step step;
        member->unit->counts.do_steps += *made - 1;
        TRY(member->unit->kind->step(member->unit, from, rank->t - from, &step));
        member->now.t = rank->t;
        member->now.stepped = true;
    }
    return TUTTI_OK;
}

enum tutti_err tt_ticks_fail_diverge(struct tt_rank *rank)
{
    double first = INFINITY;
    const char *clock = "";
    for (uint32_t m = rank->own_count; m-- > 0;) {
        const struct tt_tick_unit *unit = &rank->ticks->units[rank->own[m]->component];
        for (uint32_t c = unit->clock_count; c-- > 0;)
            if (unit->states[c].due) {
                first = rank->own[m]->component;
                clock = tt_ticks_clock_name(unit, c);
            }
    }
    double own = first;
    TRY(tt_rank_reduce(rank, TUTTI_REDUCE_MIN, &first, 1));
    struct tt_text circle = {0};
    tt_clock_order_find_cycle(rank->job->system, &circle);
    bool found = !circle.failed && circle.length > 0;
    tt_fail(TUTTI_ERR_FMU, "%s: clocks%s%s%s tick without end at t = %s: each round of ticks causes the next%s%s",
            rank->members[(uint32_t)first].unit->name, own == first ? " ('" : "", own == first ? clock : "",
            own == first ? "' for one)" : "", TIME(rank->t), found ? "; they make each other tick: " : "",
            found ? circle.text : "");
    tt_text_fini(&circle);
    return tt_fail_about(TUTTI_ERR_FMU, rank->members[(uint32_t)first].unit->name, NULL, rank->t);
}

/* ---- what is remembered ---- */

void tt_ticks_pack(const struct tt_rank *rank, const struct tt_member *member, struct tt_byte_writer *parcel)
{
    const struct tt_clocked *clocked = rank->ticks ? member->unit->clocked : NULL;
    if (clocked)
        tt_signals_pack(&clocked->signals, parcel);
}

enum tutti_err tt_ticks_unpack(struct tt_rank *rank, const struct tt_member *member, struct tt_byte_reader *in)
{
    struct tt_clocked *clocked = rank->ticks ? member->unit->clocked : NULL;
    const struct tt_tick_unit *unit = clocked ? &rank->ticks->units[member->component] : NULL;
    if (!unit)
        return TUTTI_OK;
    TRY(tt_signals_unpack(&clocked->signals, in));
    for (uint32_t i = 0; i < unit->output_count; i++)
        if (unit->outputs[i].node != TUTTI_NONE)
            TRY(publish_tick_output(unit, &unit->outputs[i]));
    return TUTTI_OK;
}

/* Registers the unit's values visible between ticks: numbers; texts are handled by tt_ticks_unpack. */
static enum tutti_err register_tick_signals(struct tt_tick_unit *unit, struct tt_rollback_list *remembered)
{
    uint32_t component = unit->member->component;
    for (uint32_t c = 0; c < unit->clock_count; c++)
        if (unit->clocks[c].signal)
            TRY(tt_rollback_list_add_of(remembered, component, unit->clocks[c].signal, sizeof *unit->clocks[c].signal));
    for (uint32_t i = 0; i < unit->output_count; i++) {
        const struct tt_slot *slot =
            unit->outputs[i].node == TUTTI_NONE ? NULL : &unit->rank->wires.slots[unit->outputs[i].node];
        if (slot && !slot->owned)
            TRY(tt_rollback_list_add_of(remembered, component, slot->values,
                                        slot->count * tt_type_size((enum tt_type)slot->type)));
    }
    return tt_clocked_register(unit->member->unit->clocked, remembered, component);
}

enum tutti_err tt_ticks_register(struct tt_rank *rank, struct tt_rollback_list *remembered)
{
    for (uint32_t m = 0; rank->ticks && m < rank->member_count; m++) {
        struct tt_tick_unit *unit = &rank->ticks->units[m];
        if (unit->clock_count > 0)
            TRY(tt_rollback_list_add_of(remembered, m, unit->states, unit->clock_count * sizeof *unit->states));
        TRY(register_tick_signals(unit, remembered));
    }
    return TUTTI_OK;
}

/* In Scheduled Execution what has no clock belongs to all. */
static bool partition_has_variable(const struct tt_description *desc, uint32_t variable, uint32_t clock)
{
    const struct tt_var *var = &desc->vars[variable];
    for (uint32_t i = 0; i < var->clock_count; i++)
        if (var->more->clocks[i] == clock)
            return true;
    return var->clock_count == 0;
}

static void partition_add_output(struct tt_tick_partition *partition, const struct tt_rank *rank,
                                 const struct tt_unit *unit, const struct tt_tick_variable *output)
{
    const struct tt_var *var = &unit->fmu->desc->vars[output->variable];
    if (var->type == TUTTI_TYPE_STRING || var->type == TUTTI_TYPE_BINARY) {
        partition->texts[partition->text_count++] = *output;
        return;
    }
    const struct tt_signals *signals = &unit->clocked->signals;
    size_t read = partition->calls.reading_count++;
    partition->references[read] = var->reference;
    partition->readings[read] =
        (struct tt_model_partition_reading){(enum tt_type)var->type, &partition->references[read], 1,
                                            signals->slots[output->place], signals->extents[output->place]};
    if (output->node == TUTTI_NONE)
        return;
    const struct tt_slot *slot = &rank->wires.slots[output->node];
    partition->copies[partition->copy_count++] = (struct tt_tick_copy){
        signals->slots[output->place], slot->values, slot->count * tt_type_size((enum tt_type)slot->type)};
}

static enum tutti_err partition_allocate(struct tt_tick_partition *partition, struct tt_rank *rank,
                                         uint32_t input_count, uint32_t output_count)
{
    struct tt_arena *arena = &rank->arena;
    partition->inputs = tt_arena_array(arena, input_count, sizeof *partition->inputs);
    partition->readings = tt_arena_array(arena, output_count, sizeof *partition->readings);
    partition->references = tt_arena_array(arena, output_count, sizeof *partition->references);
    partition->copies = tt_arena_array(arena, output_count, sizeof *partition->copies);
    partition->texts = tt_arena_array(arena, output_count, sizeof *partition->texts);
    bool made = partition->inputs && partition->readings && partition->references && partition->copies &&
                partition->texts;
    return made ? TUTTI_OK : tt_fail_memory();
}

enum tutti_err tt_ticks_partition_init(struct tt_tick_partition *partition, struct tt_rank *rank,
                                       struct tt_member *member, uint32_t clock, const struct tt_tick_variable *inputs,
                                       uint32_t input_count, const struct tt_tick_variable *outputs,
                                       uint32_t output_count)
{
    struct tt_unit *unit = member->unit;
    const struct tt_description *desc = unit->fmu->desc;
    *partition = (struct tt_tick_partition){0};
    TRY(partition_allocate(partition, rank, input_count, output_count));
    for (uint32_t i = 0; i < input_count; i++)
        if (partition_has_variable(desc, inputs[i].variable, clock))
            partition->inputs[partition->input_count++] = inputs[i].node;
    for (uint32_t i = 0; i < output_count; i++)
        if (partition_has_variable(desc, outputs[i].variable, clock))
            partition_add_output(partition, rank, unit, &outputs[i]);
    partition->hands_on = partition->copy_count > 0 || partition->text_count > 0 || member->wires->output_blocks > 0;
    return tt_instance_clocks_init_partition(&partition->calls, unit->instance, desc->vars[clock].reference,
                                             partition->readings, partition->calls.reading_count);
}

static __attribute__((noinline)) enum tutti_err partition_set_input(struct tt_rank *rank, struct tt_unit *unit,
                                                                    uint32_t node)
{
    struct tt_slot *slot = &rank->wires.slots[node];
    TRY(tt_wires_gather_node(&rank->wires, node));
    struct tt_block block = {(enum tt_type)slot->type, 1, slot->count, &slot->reference, slot->values, NULL};
    return unit->kind->set(unit, &block);
}

static enum tutti_err partition_read_text(const struct tt_rank *rank, struct tt_unit *unit,
                                          const struct tt_tick_variable *text)
{
    TRY(tt_clocked_read(unit, text->place));
    if (text->node == TUTTI_NONE)
        return TUTTI_OK;
    const struct tt_slot *slot = &rank->wires.slots[text->node];
    return tt_signals_owned_copy(slot->owned, (enum tt_type)slot->type, unit->clocked->signals.slots[text->place],
                                 slot->values, slot->count);
}

/* Publishes the values that were read; single reads. */
static __attribute__((noinline)) enum tutti_err partition_propagate(const struct tt_tick_partition *partition,
                                                                    const struct tt_rank *rank,
                                                                    struct tt_member *member)
{
    struct tt_unit *unit = member->unit;
    for (uint32_t i = 0; i < partition->copy_count; i++)
        memcpy(partition->copies[i].to, partition->copies[i].from, partition->copies[i].size);
    for (uint32_t i = 0; i < partition->text_count; i++)
        TRY(partition_read_text(rank, unit, &partition->texts[i]));
    return tt_wires_get_outputs(member->wires, unit);
}

enum tutti_err tt_ticks_partition_set(const struct tt_tick_partition *partition, struct tt_rank *rank,
                                      struct tt_member *member)
{
    for (uint32_t i = 0; i < partition->input_count; i++)
        TRY(partition_set_input(rank, member->unit, partition->inputs[i]));
    return TUTTI_OK;
}

enum tutti_err tt_ticks_partition_read(const struct tt_tick_partition *partition, const struct tt_rank *rank,
                                       struct tt_member *member, struct tt_fmi_call_modes_watch *watch)
{
    struct tt_unit *unit = member->unit;
    tt_instance_clocks_lock(unit->instance);
    struct tt_fmi_call_frame frame = tt_fmi_call_enter_pass(watch);
    enum tutti_err err = tt_instance_clocks_read(&partition->calls, watch);
    tt_fmi_call_leave_pass(watch, frame);
    if (!err && partition->hands_on)
        err = partition_propagate(partition, rank, member);
    tt_instance_clocks_unlock(unit->instance);
    return err;
}

enum tutti_err tt_ticks_partition_tick(const struct tt_tick_partition *partition, struct tt_rank *rank,
                                       struct tt_member *member, struct tt_fmi_call_modes_watch *watch)
{
    struct tt_unit *unit = member->unit;
    TRY(tt_ticks_partition_set(partition, rank, member));
    TRY(unit->kind->activate(unit, &partition->calls, watch, member->now.t));
    return partition->hands_on ? partition_propagate(partition, rank, member) : TUTTI_OK;
}
