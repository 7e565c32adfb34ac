/* SPDX-License-Identifier: MIT */
#include "rank/ticks.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/number.h"
#include "rank/agree.h"
#include "rank/settle.h"

/* ---- intervals ---- */

static enum tutti_err about(const struct tutti_ticking_unit *unit, uint32_t clock, enum tutti_err err)
{
    return tutti_fail_about(err, unit->member->unit->name, tutti_ticking_name(unit, clock), unit->member->now.t);
}

static enum tutti_err take_fraction(const struct tutti_ticking_unit *unit, uint32_t clock,
                                    const struct tutti_timing *timing, struct tutti_fraction *out)
{
    if (timing->fraction) {
        *out = (struct tutti_fraction){timing->counter, timing->resolution};
        return TUTTI_OK;
    }
    if (tutti_fraction_of(timing->decimal, out))
        return TUTTI_OK;
    tutti_fail(TUTTI_ERR_FMU,
               "%s: the clock '%s' has an interval or shift of %s, which is no fraction of two 64-bit numbers",
               unit->member->unit->name, tutti_ticking_name(unit, clock), NUMBER(timing->decimal));
    return about(unit, clock, TUTTI_ERR_FMU);
}

static bool is_periodic(const struct tutti_ticking_clock *clock)
{
    return clock->scheduled ? clock->scheduled->interval.counter > 0 : clock->kind <= TUTTI_INTERVAL_TUNABLE;
}

static enum tutti_err check_period(const struct tutti_ticking_unit *unit, uint32_t clock)
{
    if (unit->states[clock].interval.counter > 0)
        return TUTTI_OK;
    tutti_fail(TUTTI_ERR_FMU, "%s: the periodic clock '%s' has an interval of 0", unit->member->unit->name,
               tutti_ticking_name(unit, clock));
    return about(unit, clock, TUTTI_ERR_FMU);
}

static void set_next(struct tutti_ticking_unit *unit, uint32_t clock, const struct tutti_instant *from,
                     struct tutti_fraction after)
{
    struct tutti_tick_state *state = &unit->states[clock];
    state->next = *from;
    tutti_instant_move(&state->next, after);
    state->time = tutti_instant_time(&state->next);
}

/* What the description says; an FMU whose interval the importer may choose is told that one. */
static enum tutti_err take_described(struct tutti_ticking_unit *unit, uint32_t c, struct tutti_fraction *shift)
{
    const struct tutti_ticking_clock *clock = &unit->clocks[c];
    const struct tutti_clock *told = tutti_ticking_desc(unit)->vars[clock->variable].more->clock;
    bool fraction = told->interval_counter > 0 && told->resolution > 0;
    struct tutti_timing interval = {fraction, told->interval, told->interval_counter, told->resolution, 0},
                        first = {fraction, told->shift, told->shift_counter, told->resolution, 0};
    const struct tutti_fraction *given =
        tutti_schedule_interval(&unit->rank->job->schedule, unit->member->component, clock->variable);
    TRY(take_fraction(unit, c, &first, shift));
    if (given) {
        fraction = true;
        interval = (struct tutti_timing){true, 0, given->counter, given->resolution, 0};
    }
    TRY(take_fraction(unit, c, &interval, &unit->states[c].interval));
    interval.fraction = fraction && clock->fraction;
    if (!interval.fraction && fraction)
        interval.decimal = tutti_fraction_value(unit->states[c].interval);
    bool settable = clock->kind == TUTTI_INTERVAL_FIXED || clock->kind == TUTTI_INTERVAL_TUNABLE;
    return settable ? tutti_instance_set_interval(unit->member->unit->instance, clock->reference, &interval) : TUTTI_OK;
}

static enum tutti_err ask_period(struct tutti_ticking_unit *unit, uint32_t c, struct tutti_fraction *shift)
{
    const struct tutti_ticking_clock *clock = &unit->clocks[c];
    struct tutti_timing interval = {.fraction = clock->fraction}, first = {.fraction = clock->fraction};
    TRY(tutti_instance_get_interval(unit->member->unit->instance, clock->reference, &interval));
    TRY(tutti_instance_get_shift(unit->member->unit->instance, clock->reference, &first));
    if (interval.qualifier == TUTTI_TIMING_NOT_YET_KNOWN) {
        tutti_fail(TUTTI_ERR_FMU,
                   "%s: the FMU does not know the interval of its periodic clock '%s' in its initialisation",
                   unit->member->unit->name, tutti_ticking_name(unit, c));
        return about(unit, c, TUTTI_ERR_FMU);
    }
    TRY(take_fraction(unit, c, &interval, &unit->states[c].interval));
    return take_fraction(unit, c, &first, shift);
}

/* What the FMU says of the next interval, at the instant unit->now. */
enum tutti_err tutti_ticks_take_timing(struct tutti_ticking_unit *unit, uint32_t c, const struct tutti_timing *timing)
{
    const struct tutti_ticking_clock *clock = &unit->clocks[c];
    struct tutti_tick_state *state = &unit->states[c];
    bool changed = timing->qualifier == TUTTI_TIMING_CHANGED;
    if (timing->qualifier == TUTTI_TIMING_NOT_YET_KNOWN)
        state->time = INFINITY;
    if (changed)
        TRY(take_fraction(unit, c, timing, &state->interval));
    if (clock->kind == TUTTI_INTERVAL_COUNTDOWN && changed)
        set_next(unit, c, &unit->now, state->interval);
    if (clock->kind == TUTTI_INTERVAL_CHANGING && timing->qualifier != TUTTI_TIMING_NOT_YET_KNOWN)
        set_next(unit, c, &unit->now, state->interval);
    if (clock->kind == TUTTI_INTERVAL_TUNABLE && changed) {
        TRY(check_period(unit, c));
        if (state->ticks > 0)
            set_next(unit, c, &state->last, state->interval);
        if (state->time < unit->member->now.t) /* it would have ticked by now */
            set_next(unit, c, &unit->now, (struct tutti_fraction){0, 1});
    }
    return TUTTI_OK;
}

/* A changing clock after its tick; a countdown; a tunable one whose interval the FMU computes. */
static enum tutti_err ask_interval(struct tutti_ticking_unit *unit, uint32_t c)
{
    const struct tutti_ticking_clock *clock = &unit->clocks[c];
    struct tutti_timing timing = {.fraction = clock->fraction};
    tutti_instance_hold(unit->member->unit->instance);
    enum tutti_err err = tutti_instance_get_interval(unit->member->unit->instance, clock->reference, &timing);
    tutti_instance_release(unit->member->unit->instance);
    return err ? err : tutti_ticks_take_timing(unit, c, &timing);
}

static enum tutti_err begin_scheduled(struct tutti_ticking_unit *unit, uint32_t c)
{
    const struct tutti_scheduled *line = unit->clocks[c].scheduled;
    const struct tutti_instant zero = {0, {0, 1}};
    set_next(unit, c, &zero, line->first);
    unit->states[c].interval = line->interval;
    if (unit->states[c].time >= unit->rank->times.start)
        return TUTTI_OK;
    return tutti_fail(TUTTI_ERR_ARGUMENT,
                      "--schedule: the clock '%s' of %s ticks first at t = %s, before the start, %s",
                      tutti_ticking_name(unit, c), unit->member->unit->name, NUMBER(unit->states[c].time),
                      NUMBER(unit->rank->times.start));
}

static enum tutti_err begin_clock(struct tutti_ticking_unit *unit, uint32_t c)
{
    const struct tutti_ticking_clock *clock = &unit->clocks[c];
    struct tutti_tick_state *state = &unit->states[c];
    struct tutti_fraction shift = {0, 1};
    *state = (struct tutti_tick_state){.time = INFINITY, .last_time = NAN, .interval = {0, 1}};
    if (clock->scheduled)
        return begin_scheduled(unit, c);
    if (!clock->input || clock->kind == TUTTI_INTERVAL_TRIGGERED)
        return TUTTI_OK;
    if (!is_periodic(clock))
        return ask_interval(unit, c);
    TRY(clock->described ? take_described(unit, c, &shift) : ask_period(unit, c, &shift));
    TRY(check_period(unit, c));
    set_next(unit, c, &unit->now, shift);
    return TUTTI_OK;
}

enum tutti_err tutti_ticks_begin(struct tutti_rank *rank, struct tutti_member *member)
{
    struct tutti_ticking_unit *unit = rank->ticks ? &rank->ticks->units[member->component] : NULL;
    if (!unit)
        return TUTTI_OK;
    unit->now = (struct tutti_instant){rank->times.start, {0, 1}};
    for (uint32_t c = 0; c < unit->clock_count; c++)
        TRY(begin_clock(unit, c));
    return TUTTI_OK;
}

double tutti_ticks_next(const struct tutti_rank *rank, const struct tutti_member *member)
{
    const struct tutti_ticking_unit *unit = &rank->ticks->units[member->component];
    double next = INFINITY;
    for (uint32_t c = 0; c < unit->clock_count; c++)
        next = fmin(next, unit->states[c].time);
    return next;
}

/* ---- what is due ---- */

static bool is_due(const struct tutti_ticking_unit *unit, uint32_t c)
{
    const struct tutti_ticking_clock *clock = &unit->clocks[c];
    const struct tutti_tick_state *state = &unit->states[c];
    return clock->input && (tutti_time_reached(unit->member->now.t, state->time, unit->rank->span) ||
                            (clock->source && *clock->source != state->seen));
}

/* A unit with steps of its own is not where the others are. */
static enum tutti_err is_absent(const struct tutti_ticking_unit *unit, uint32_t c)
{
    tutti_fail(
        TUTTI_ERR_UNSUPPORTED,
        "%s: its clock '%s' ticks at t = %s, in the middle of a step of the unit's own, or of an FMU that cannot "
        "vary its step; use a --step that ends there",
        unit->member->unit->name, tutti_ticking_name(unit, c), TIME(unit->rank->t));
    return about(unit, c, TUTTI_ERR_UNSUPPORTED);
}

/* An output clock that ticked inside of the step that led here, which its unit did not end there: said once. */
static void look_at_output(struct tutti_ticking_unit *unit, uint32_t c)
{
    struct tutti_ticking_clock *clock = &unit->clocks[c];
    const struct tutti_tick_state *state = &unit->states[c];
    double t = unit->rank->t;
    bool new = state->ticks > clock->looked_at;
    clock->looked_at = state->ticks;
    if (!new || clock->late || tutti_time_reached(state->last_time, t, unit->rank->span))
        return;
    clock->late = true;
    tutti_log_insist(unit->rank->unit_log, TUTTI_LOG_WARNING, unit->member->unit->name,
                     "the clock '%s' ticked at t = %s, inside of a step, and others hear of it at the step's end only, "
                     "t = %s (said once): use --events early if the unit can go back, else a shorter --step",
                     tutti_ticking_name(unit, c), TIME(state->last_time), TIME(t));
}

/* ---- a tick ---- */

/* Of the variable's clocks, does one tick? */
static bool ticks_for(const struct tutti_ticking_unit *unit, uint32_t variable)
{
    const struct tutti_var *var = &tutti_ticking_desc(unit)->vars[variable];
    for (uint32_t i = 0; i < var->clock_count; i++)
        for (uint32_t c = 0; c < unit->clock_count; c++)
            if (unit->clocks[c].variable == var->more->clocks[i] && unit->clocks[c].ticks)
                return true;
    return var->clock_count == 0;
}

static enum tutti_err set_inputs(struct tutti_ticking_unit *unit)
{
    struct tutti_rank *rank = unit->rank;
    for (uint32_t i = 0; i < unit->input_count; i++) {
        struct tutti_slot *slot = &rank->wires.slots[unit->inputs[i].node];
        if (!ticks_for(unit, unit->inputs[i].variable))
            continue;
        TRY(tutti_wires_gather_node(&rank->wires, unit->inputs[i].node));
        struct tutti_block block = {(enum tutti_type)slot->type, 1, slot->count, &slot->reference, slot->values, NULL};
        TRY(unit->member->unit->kind->set(unit->member->unit, &block));
    }
    return TUTTI_OK;
}

/* What was read at a tick, to where others see it. */
static enum tutti_err show_output(const struct tutti_ticking_unit *unit, const struct tutti_partition_variable *output)
{
    struct tutti_slot *slot = &unit->rank->wires.slots[output->node];
    const void *from = unit->member->unit->clocked->signals.slots[output->place];
    if (slot->owned)
        return tutti_owned_copy(slot->owned, (enum tutti_type)slot->type, from, slot->values, slot->count);
    memcpy(slot->values, from, slot->count * tutti_type_size((enum tutti_type)slot->type));
    return TUTTI_OK;
}

static enum tutti_err read_outputs(struct tutti_ticking_unit *unit)
{
    struct tutti_unit *of = unit->member->unit;
    for (uint32_t i = 0; i < unit->output_count; i++) {
        const struct tutti_partition_variable *output = &unit->outputs[i];
        if (!ticks_for(unit, output->variable))
            continue;
        TRY(tutti_clocked_read(of, output->place));
        if (output->node != TUTTI_NONE)
            TRY(show_output(unit, output));
    }
    return TUTTI_OK;
}

static void count_tick(struct tutti_ticking_unit *unit, uint32_t c)
{
    struct tutti_tick_state *state = &unit->states[c];
    state->ticks++;
    state->last_time = unit->member->now.t;
    unit->clocks[c].ticked = true;
}

/* CK5 */
static enum tutti_err read_output_clocks(struct tutti_ticking_unit *unit)
{
    uint32_t count = 0, *references = unit->references;
    for (uint32_t c = 0; c < unit->clock_count; c++)
        if (!unit->clocks[c].input && ticks_for(unit, unit->clocks[c].variable))
            references[count++] = unit->clocks[c].reference;
    if (count == 0)
        return TUTTI_OK;
    TRY(tutti_instance_get_clocks(unit->member->unit->instance, references, count, unit->values));
    for (uint32_t c = 0, i = 0; c < unit->clock_count; c++) {
        struct tutti_ticking_clock *clock = &unit->clocks[c];
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
static enum tutti_err before_update(void *context)
{
    struct tutti_ticking_unit *unit = context;
    TRY(read_output_clocks(unit));
    TRY(read_outputs(unit));
    for (uint32_t c = 0; c < unit->clock_count; c++)
        unit->clocks[c].ticks = false; /* the update ends it */
    return TUTTI_OK;
}

static enum tutti_err after_update(void *context)
{
    struct tutti_ticking_unit *unit = context;
    for (uint32_t c = 0; c < unit->clock_count; c++) {
        struct tutti_ticking_clock *clock = &unit->clocks[c];
        bool asks = clock->kind == TUTTI_INTERVAL_COUNTDOWN ||
                    (clock->kind == TUTTI_INTERVAL_CHANGING && clock->ticked) ||
                    (clock->kind == TUTTI_INTERVAL_TUNABLE && !clock->described);
        if (clock->input && asks)
            TRY(ask_interval(unit, c));
        clock->ticked = false;
    }
    unit->now = (struct tutti_instant){unit->member->now.t, {0, 1}};
    return TUTTI_OK;
}

bool tutti_ticks_is_of_clock(const struct tutti_var *var, uint32_t clock)
{
    for (uint32_t i = 0; i < var->clock_count; i++)
        if (var->more->clocks[i] == clock)
            return true;
    return var->clock_count == 0;
}

/* Scheduled Execution, in the callback of a partition. */
static enum tutti_err clock_update(void *context)
{
    struct tutti_ticking_unit *unit = context;
    if (tutti_tasks_context())
        return tutti_ticks_note_news(tutti_tasks_context());
    TRY(read_output_clocks(unit));
    for (uint32_t c = 0; c < unit->clock_count; c++) {
        if (!unit->clocks[c].input)
            unit->clocks[c].ticks = unit->clocks[c].ticked = false;
        else if (unit->clocks[c].kind == TUTTI_INTERVAL_COUNTDOWN)
            TRY(ask_interval(unit, c));
    }
    return TUTTI_OK;
}

void tutti_ticks_listen(struct tutti_ticking_unit *unit)
{
    unit->member->unit->ticking = (struct tutti_unit_ticking){unit, before_update, after_update, clock_update, NULL};
}

static __attribute__((cold, noinline)) enum tutti_err too_short(const struct tutti_ticking_unit *unit, uint32_t c)
{
    const struct tutti_tick_state *state = &unit->states[c];
    tutti_fail(TUTTI_ERR_FMU,
               "%s: the interval of the clock '%s', %llu/%llu, cannot be told from 0 at t = %s: time does not go on",
               unit->member->unit->name, tutti_ticking_name(unit, c), (unsigned long long)state->interval.counter,
               (unsigned long long)state->interval.resolution, TIME(unit->member->now.t));
    return about(unit, c, TUTTI_ERR_FMU);
}

/* The clock ticks now: when does it tick next, as far as that is known? */
static inline __attribute__((always_inline)) enum tutti_err begin_tick(struct tutti_ticking_unit *unit, uint32_t c)
{
    struct tutti_ticking_clock *clock = &unit->clocks[c];
    struct tutti_tick_state *state = &unit->states[c];
    double t = unit->member->now.t;
    bool by_time = tutti_time_reached(t, state->time, unit->rank->span);
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
    if (!is_periodic(clock)) {
        state->time = INFINITY;
        return TUTTI_OK;
    }
    tutti_instant_move(&state->next, state->interval);
    state->time = tutti_instant_time(&state->next);
    if (__builtin_expect(state->time - t > unit->rank->ticks->apart, 1))
        return TUTTI_OK;
    return tutti_time_reached(t, state->time, unit->rank->span) ? too_short(unit, c) : TUTTI_OK;
}

static enum tutti_err set_plain_inputs(struct tutti_ticking_unit *unit)
{
    struct tutti_member *member = unit->member;
    struct tutti_unit_wires *wires = member->wires;
    if (member->inputs)
        TRY(tutti_inputs_cross(member->inputs, member->unit));
    for (unsigned b = 0; b < wires->moving_blocks; b++)
        TRY(member->unit->kind->set(member->unit, &wires->moving[b]));
    for (unsigned b = 0; b < wires->held_blocks && wires->held_changed; b++)
        TRY(member->unit->kind->set(member->unit, &wires->held[b]));
    wires->held_changed = false;
    return TUTTI_OK;
}

/* All clocks of a unit with event mode that are due. */
static enum tutti_err tick_together(struct tutti_ticking_unit *unit)
{
    struct tutti_rank *rank = unit->rank;
    struct tutti_member *member = unit->member;
    uint32_t count = 0;
    unit->now = (struct tutti_instant){member->now.t, {0, 1}};
    for (uint32_t c = 0; c < unit->clock_count; c++) {
        if (!is_due(unit, c))
            continue;
        TRY(begin_tick(unit, c));
        bool known = false; /* lines of a schedule may have one clock, too */
        for (uint32_t i = 0; i < count; i++)
            known = known || unit->references[i] == unit->clocks[c].reference;
        unit->references[count] = unit->clocks[c].reference;
        unit->values[count] = true;
        count += !known;
    }
    if (count == 0)
        return TUTTI_OK;
    tutti_rank_tell_unit(rank, member->component);
    TRY(tutti_wires_gather(&rank->wires, member->wires));
    TRY(tutti_wires_gather_held(&rank->wires, member->wires));
    member->now.event = false;
    member->now.staged_at = member->now.t;
    TRY(member->unit->kind->enter_event(member->unit));
    TRY(set_plain_inputs(unit));
    TRY(tutti_instance_set_clocks(member->unit->instance, unit->references, count, unit->values));
    TRY(set_inputs(unit));
    bool ended = false;
    TRY(tutti_member_settle(rank, member, &ended));
    if (ended) {
        rank->ended = member;
        return TUTTI_OK;
    }
    return tutti_wires_get(member->wires, member->unit);
}

static enum tutti_err ticks_twice(const struct tutti_ticking_unit *unit, uint32_t c)
{
    tutti_fail(TUTTI_ERR_FMU,
               "%s: the clock '%s' ticks again at t = %s: FMI 3.0 has a partition of Scheduled Execution activated "
               "once at a time",
               unit->member->unit->name, tutti_ticking_name(unit, c), TIME(unit->member->now.t));
    return about(unit, c, TUTTI_ERR_FMU);
}

/* The clock, or lines of the schedule that are its: those that are due tick. */
static enum tutti_err begin_partition(struct tutti_ticking_unit *unit, uint32_t variable, uint32_t *partition)
{
    for (uint32_t c = 0; c < unit->clock_count; c++) {
        if (unit->clocks[c].variable != variable || !is_due(unit, c))
            continue;
        if (unit->states[c].last_time == unit->member->now.t)
            return ticks_twice(unit, c);
        TRY(begin_tick(unit, c));
        *partition = c;
    }
    return TUTTI_OK;
}

enum tutti_err tutti_ticks_follow(struct tutti_ticking_unit *unit, uint32_t c)
{
    const struct tutti_ticking_clock *clock = &unit->clocks[c];
    bool computes = clock->kind == TUTTI_INTERVAL_TUNABLE && !clock->described;
    return clock->kind == TUTTI_INTERVAL_CHANGING || computes ? ask_interval(unit, c) : TUTTI_OK;
}

/* The partition of a clock that ticks now. */
static enum tutti_err compute(struct tutti_ticking_unit *unit, uint32_t c)
{
    if (__builtin_expect(unit->rank->ticks->pace.on, 0))
        tutti_ticks_note_latency(unit, tutti_clock_now(), unit->member->now.t);
    TRY(tutti_rank_partition_tick(unit->clocks[c].partition, unit->rank, unit->member, &unit->rank->ticks->watch));
    return tutti_ticks_follow(unit, c);
}

/* One partition of Scheduled Execution, if its clock is due. */
static enum tutti_err tick_partition(struct tutti_ticking_unit *unit, uint32_t variable)
{
    struct tutti_member *member = unit->member;
    uint32_t c = TUTTI_NONE;
    unit->now = (struct tutti_instant){member->now.t, {0, 1}};
    TRY(begin_partition(unit, variable, &c));
    if (c == TUTTI_NONE)
        return TUTTI_OK;
    tutti_rank_tell_unit(unit->rank, member->component);
    if (unit->clocks[c].task != TUTTI_NONE) {
        TRY(tutti_ticks_by_task(unit, c));
    } else {
        struct tutti_frame frame = tutti_modes_enter(&unit->rank->ticks->watch);
        enum tutti_err err = compute(unit, c);
        tutti_modes_leave(&unit->rank->ticks->watch, frame);
        TRY(err);
    }
    for (c = 0; c < unit->clock_count; c++)
        unit->clocks[c].ticks = unit->clocks[c].ticked = false;
    return TUTTI_OK;
}

static enum tutti_err tick_node(struct tutti_rank *rank, const struct tutti_tick_node *node)
{
    struct tutti_ticking_unit *unit = &rank->ticks->units[node->component];
    if (!tutti_member_present(rank, unit->member))
        return TUTTI_OK; /* look finds it */
    return tutti_fail_about(node->clock == TUTTI_NONE ? tick_together(unit) : tick_partition(unit, node->clock),
                            unit->member->unit->name, NULL, rank->t);
}

enum tutti_err tutti_ticks_look(struct tutti_rank *rank, bool *any)
{
    if (rank->ticks && rank->ticks->pace.tasks)
        TRY(tutti_ticks_collect(rank));
    for (uint32_t m = 0; rank->ticks && m < rank->own_count; m++) {
        struct tutti_ticking_unit *unit = &rank->ticks->units[rank->own[m]->component];
        bool present = tutti_member_present(rank, rank->own[m]);
        for (uint32_t c = 0; c < unit->clock_count; c++) {
            bool late = !present && tutti_time_reached(rank->t, unit->states[c].time, rank->span);
            if (late || (!present && unit->clocks[c].source && *unit->clocks[c].source != unit->states[c].seen))
                return is_absent(unit, c);
            if (unit->clocks[c].heard)
                look_at_output(unit, c);
            unit->states[c].due = present && is_due(unit, c);
            *any = *any || unit->states[c].due;
        }
    }
    return TUTTI_OK;
}

enum tutti_err tutti_ticks_pass(struct tutti_rank *rank)
{
    const struct tutti_ticking *order = &rank->ticks->order;
    uint32_t n = 0;
    for (uint32_t wave = 0; wave < order->waves; wave++) {
        for (; n < order->count && order->nodes[n].wave == wave; n++)
            if (tutti_rank_owns(rank, order->nodes[n].component) && !rank->ended)
                TRY(tick_node(rank, &order->nodes[n]));
        TRY(tutti_channels_exchange(&rank->channels));
    }
    return TUTTI_OK;
}

/* ---- partitions one after the other ---- */

/* The clock that ticks next; NULL: another one may tick then, too, or none does before `until`. *others: the first time at which another one
 * may tick, or `until`. */
static struct tutti_tick_state *find_next(const struct tutti_ticks *ticks, double until, double *others)
{
    struct tutti_tick_state *first = NULL;
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

/* All units have made so many steps; that of one in Scheduled Execution is a move of its time. */
static enum tutti_err bring_along(struct tutti_rank *rank, double from, unsigned long steps)
{
    for (uint32_t m = 0; m < rank->member_count && steps > 0; m++) {
        struct tutti_member *member = &rank->members[m];
        struct tutti_step step;
        member->unit->counts.do_steps += steps - 1;
        TRY(member->unit->kind->step(member->unit, from, rank->t - from, &step));
        member->now.t = rank->t;
        member->now.stepped = true;
    }
    return TUTTI_OK;
}

static inline enum tutti_err tick_alone(struct tutti_ticking_unit *unit, uint32_t c)
{
    tutti_rank_tell_unit(unit->rank, unit->member->component);
    unit->member->now.t = unit->rank->t;
    TRY(begin_tick(unit, c));
    TRY(compute(unit, c));
    unit->clocks[c].ticks = unit->clocks[c].ticked = false;
    return TUTTI_OK;
}

/* Ticks of one periodic clock, the first one before `bound`, up to `most` of them, while none of the others changes when it ticks
 * (ticks->steady): what begin_tick does, of which nothing is looked up again. */
static enum tutti_err run_alone(struct tutti_ticking_unit *unit, uint32_t c, double bound, unsigned long most,
                                const volatile sig_atomic_t *interrupt, unsigned long *made)
{
    struct tutti_rank *rank = unit->rank;
    struct tutti_member *member = unit->member;
    struct tutti_tick_state *state = &unit->states[c];
    const struct tutti_rank_partition *partition = unit->clocks[c].partition;
    const double apart = rank->ticks->apart;
    struct tutti_instant now, next = state->next;
    double t = state->time;
    enum tutti_err err = TUTTI_OK;
    tutti_rank_tell_unit(rank, member->component);
    do {
        double time = t;
        rank->t = rank->target = member->now.t = state->last_time = time;
        state->ticks++;
        now = next;
        tutti_instant_move(&next, state->interval);
        t = tutti_instant_time(&next);
        ++*made;
        if (__builtin_expect(!(t - time > apart), 0) && tutti_time_reached(time, t, rank->span))
            err = too_short(unit, c);
        else
            err = tutti_rank_partition_tick(partition, rank, member, &rank->ticks->watch);
    } while (err == TUTTI_OK && t < bound && *made < most && !(interrupt && *interrupt));
    state->last = unit->now = now;
    state->next = next;
    state->time = t;
    return err;
}

static enum tutti_err run(struct tutti_rank *rank, double until, unsigned long most,
                          const volatile sig_atomic_t *interrupt, unsigned long *made)
{
    const struct tutti_ticks *ticks = rank->ticks;
    while (*made < most && !(interrupt && *interrupt)) {
        double others;
        struct tutti_tick_state *state = find_next(ticks, until, &others);
        if (!state || state->time <= rank->t)
            break;
        struct tutti_ticking_unit *unit = ticks->of[state - ticks->states];
        uint32_t c = (uint32_t)(state - unit->states);
        enum tutti_err err;
        if (ticks->steady && is_periodic(&unit->clocks[c])) {
            err = run_alone(unit, c, others, most, interrupt, made);
        } else {
            rank->t = rank->target = state->time;
            ++*made;
            err = tick_alone(unit, c);
        }
        if (__builtin_expect(err != TUTTI_OK, 0))
            return tutti_fail_about(err, unit->member->unit->name, NULL, rank->t);
    }
    return TUTTI_OK;
}

enum tutti_err tutti_ticks_run(struct tutti_rank *rank, double until, unsigned long most,
                               const volatile sig_atomic_t *interrupt, unsigned long *made)
{
    double from = rank->t;
    *made = 0;
    struct tutti_frame frame = tutti_modes_enter(&rank->ticks->watch);
    enum tutti_err err = run(rank, until, most, interrupt, made);
    tutti_modes_leave(&rank->ticks->watch, frame);
    return err == TUTTI_OK ? bring_along(rank, from, *made) : err;
}

enum tutti_err tutti_ticks_do_not_rest(struct tutti_rank *rank)
{
    double first = INFINITY;
    const char *clock = "";
    for (uint32_t m = rank->own_count; m-- > 0;) {
        const struct tutti_ticking_unit *unit = &rank->ticks->units[rank->own[m]->component];
        for (uint32_t c = unit->clock_count; c-- > 0;)
            if (unit->states[c].due) {
                first = rank->own[m]->component;
                clock = tutti_ticking_name(unit, c);
            }
    }
    double own = first;
    TRY(tutti_reduce(rank, TUTTI_REDUCE_MIN, &first, 1));
    struct tutti_text circle = {0};
    tutti_ticking_find_circle(rank->job->system, &circle);
    bool found = !circle.failed && circle.length > 0;
    tutti_fail(TUTTI_ERR_FMU, "%s: clocks%s%s%s tick without end at t = %s: each round of ticks causes the next%s%s",
               rank->members[(uint32_t)first].unit->name, own == first ? " ('" : "", own == first ? clock : "",
               own == first ? "' for one)" : "", TIME(rank->t), found ? "; they make each other tick: " : "",
               found ? circle.text : "");
    tutti_text_fini(&circle);
    return tutti_fail_about(TUTTI_ERR_FMU, rank->members[(uint32_t)first].unit->name, NULL, rank->t);
}

/* ---- what is remembered ---- */

void tutti_ticks_pack(const struct tutti_rank *rank, const struct tutti_member *member, struct tutti_parcel *parcel)
{
    const struct tutti_clocked *clocked = rank->ticks ? member->unit->clocked : NULL;
    if (clocked)
        tutti_signals_pack(&clocked->signals, parcel);
}

enum tutti_err tutti_ticks_unpack(struct tutti_rank *rank, const struct tutti_member *member, struct tutti_unparcel *in)
{
    struct tutti_clocked *clocked = rank->ticks ? member->unit->clocked : NULL;
    const struct tutti_ticking_unit *unit = clocked ? &rank->ticks->units[member->component] : NULL;
    if (!unit)
        return TUTTI_OK;
    TRY(tutti_signals_unpack(&clocked->signals, in));
    for (uint32_t i = 0; i < unit->output_count; i++)
        if (unit->outputs[i].node != TUTTI_NONE)
            TRY(show_output(unit, &unit->outputs[i]));
    return TUTTI_OK;
}

/* What others see of the unit between ticks: numbers; texts come with tutti_ticks_unpack. */
static enum tutti_err remember_signals(struct tutti_ticking_unit *unit, struct tutti_remembered *remembered)
{
    uint32_t component = unit->member->component;
    for (uint32_t c = 0; c < unit->clock_count; c++)
        if (unit->clocks[c].signal)
            TRY(tutti_remember_of(remembered, component, unit->clocks[c].signal, sizeof *unit->clocks[c].signal));
    for (uint32_t i = 0; i < unit->output_count; i++) {
        const struct tutti_slot *slot =
            unit->outputs[i].node == TUTTI_NONE ? NULL : &unit->rank->wires.slots[unit->outputs[i].node];
        if (slot && !slot->owned)
            TRY(tutti_remember_of(remembered, component, slot->values,
                                  slot->count * tutti_type_size((enum tutti_type)slot->type)));
    }
    return tutti_clocked_remember(unit->member->unit->clocked, remembered, component);
}

enum tutti_err tutti_ticks_remember(struct tutti_rank *rank, struct tutti_remembered *remembered)
{
    for (uint32_t m = 0; rank->ticks && m < rank->member_count; m++) {
        struct tutti_ticking_unit *unit = &rank->ticks->units[m];
        if (unit->clock_count > 0)
            TRY(tutti_remember_of(remembered, m, unit->states, unit->clock_count * sizeof *unit->states));
        TRY(remember_signals(unit, remembered));
    }
    return TUTTI_OK;
}
