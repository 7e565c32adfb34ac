/* SPDX-License-Identifier: MIT */
/* clocks.c - clocks and the partitions that they drive (FMI 3.0, chapters 2.2.9, 2.3.5 and 5.2).
 *
 * A partition is computed once for every tick: when the first of its variables, or an output clock, is read, or the discrete states are
 * updated; in Scheduled Execution when it is activated. Until then its clocked inputs can be set. */
#include "core.h"
#include "fault.h"

static struct kit_clock *clock_of(const struct kit *k, unsigned vr)
{
    bool is = vr > 0 && vr <= k->model->variable_count && k->slots[vr].type == KIT_CLOCK;
    return is ? k->slots[vr].data : NULL;
}

/* ---- clocked variables ---- */

static bool ticks_for(const struct kit *k, const struct kit_slot *slot)
{
    for (const unsigned *clock = slot->clocks; *clock; clock++)
        if (k->interface == KIT_SE ? clock_of(k, *clock)->readable : clock_of(k, *clock)->active)
            return true;
    return false;
}

static bool any_is_computed(const struct kit *k, const struct kit_slot *slot)
{
    for (const unsigned *clock = slot->clocks; *clock; clock++)
        if (clock_of(k, *clock)->active && clock_of(k, *clock)->computed)
            return true;
    return false;
}

enum kit_status kit_clocked_access(struct kit *k, const char *call, const struct kit_slot *slot, bool set)
{
    const char *name = kit_var_name(slot->var);
    bool open = KIT_MODE(k->mode) & (KIT_MODE(KIT_INSTANTIATED) | KIT_MODE(KIT_INITIALISATION) |
                                     KIT_MODE(KIT_TERMINATED) | KIT_MODE(KIT_IN_ERROR));
    if (open || !slot->clocks)
        return KIT_OK;
    if (k->mode == KIT_CLOCK_ACTIVATION)
        return set || ticks_for(k, slot)
                   ? KIT_OK
                   : kit_fail(k, KIT_ERROR, "%s: %s is read after a partition that is not its own", call, name);
    if (k->mode != KIT_IN_EVENT || !ticks_for(k, slot))
        return kit_fail(k, KIT_ERROR, "%s: %s belongs to a clock that does not tick now", call, name);
    if (set && any_is_computed(k, slot))
        return kit_fail(k, KIT_ERROR, "%s: %s is set after its partition was computed", call, name);
    return set ? KIT_OK : kit_compute_partitions(k);
}

/* ---- ticks ---- */

static enum kit_status compute(struct kit *k, unsigned vr)
{
    struct kit_clock *clock = clock_of(k, vr);
    clock->computed = true;
    k->stale |= KIT_STALE_POINT;
    if (!k->model->tick)
        return KIT_OK;
    enum kit_status status = k->model->tick(k, k->self, k->time, clock);
    if (status > KIT_WARNING)
        return kit_fail(k, status == KIT_DISCARD ? KIT_ERROR : status, "tick() of %s failed at t = %.17g",
                        kit_var_name(k->slots[vr].var), k->time);
    return status;
}

static bool is_input_clock(const struct kit_slot *slot)
{
    return slot->type == KIT_CLOCK && slot->var->causality == KIT_INPUT;
}

enum kit_status kit_compute_partitions(struct kit *k)
{
    enum kit_status status = KIT_OK;
    for (unsigned vr = 1; vr <= k->model->variable_count && status <= KIT_WARNING; vr++) {
        const struct kit_clock *clock = is_input_clock(&k->slots[vr]) ? k->slots[vr].data : NULL;
        if (clock && clock->active && !clock->computed)
            status = kit_worse(status, compute(k, vr));
    }
    return status;
}

static void end_ticks(struct kit *k, bool begin)
{
    for (unsigned vr = 1; vr <= k->model->variable_count; vr++) {
        struct kit_clock *clock = clock_of(k, vr);
        if (!clock)
            continue;
        clock->active = clock->computed = false;
        clock->ticked = clock->ticked && !begin;
    }
}

void kit_begin_ticks(struct kit *k)
{
    end_ticks(k, true);
}

void kit_end_ticks(struct kit *k)
{
    end_ticks(k, false);
}

bool kit_output_clock_ticks(const struct kit *k)
{
    for (unsigned vr = 1; vr <= k->model->variable_count; vr++)
        if (clock_of(k, vr) && k->slots[vr].var->causality == KIT_OUTPUT && clock_of(k, vr)->active)
            return true;
    return false;
}

static enum kit_status no_clock(struct kit *k, const char *call, unsigned vr)
{
    return kit_fail(k, KIT_ERROR, "%s: value reference %u is no clock", call, vr);
}

static enum kit_status get_clock(struct kit *k, unsigned vr, bool *value)
{
    struct kit_clock *clock = clock_of(k, vr);
    if (!clock)
        return no_clock(k, "GetClock", vr);
    enum kit_status status = KIT_OK;
    const struct kit_slot *slot = &k->slots[vr];
    if (k->mode == KIT_IN_EVENT)
        status = slot->clocks ? kit_clocked_access(k, "GetClock", slot, false) : kit_compute_partitions(k);
    *value = clock->active;
    if (k->interface == KIT_SE) /* only the first answer reports a tick */
        clock->active = false;
    return status;
}

enum kit_status kit_get_clocks(struct kit *k, const unsigned vr[], size_t n, bool values[])
{
    enum kit_status status = KIT_OK;
    for (size_t i = 0; i < n && status <= KIT_WARNING; i++)
        status = kit_worse(status, get_clock(k, vr[i], &values[i]));
    return status;
}

static bool is_periodic(const struct kit_var *var)
{
    return var->clock >= KIT_INTERVAL_CONSTANT && var->clock <= KIT_INTERVAL_TUNABLE;
}

static enum kit_status set_clock(struct kit *k, unsigned vr, bool value)
{
    struct kit_clock *clock = clock_of(k, vr);
    if (!clock)
        return no_clock(k, "SetClock", vr);
    const struct kit_var *var = k->slots[vr].var;
    if (var->causality != KIT_INPUT)
        return kit_fail(k, KIT_ERROR, "SetClock: %s is no input clock", kit_var_name(var));
    if (!value && clock->active && !var->can_be_deactivated)
        return kit_fail(k, KIT_ERROR, "SetClock: %s cannot be deactivated", kit_var_name(var));
    if (value && clock->active)
        return KIT_OK;
    if (value && clock->ticked && is_periodic(var))
        return kit_fail(k, KIT_ERROR, "SetClock: the periodic clock %s ticks twice in one event mode",
                        kit_var_name(var));
    if (value && k->slots[vr].clocks && !ticks_for(k, &k->slots[vr]))
        return kit_fail(k, KIT_ERROR, "SetClock: %s belongs to a clock that does not tick now", kit_var_name(var));
    clock->active = value;
    clock->ticked = clock->ticked || value;
    k->update_needed = true;
    if (value && var->clock == KIT_INTERVAL_COUNTDOWN)
        clock->qualifier = 0; /* the next interval is not yet known */
    return KIT_OK;
}

enum kit_status kit_set_clocks(struct kit *k, const unsigned vr[], size_t n, const bool values[])
{
    enum kit_status status = KIT_OK;
    for (size_t i = 0; i < n && status == KIT_OK; i++)
        status = set_clock(k, vr[i], values[i]);
    return status;
}

/* ---- intervals ---- */

enum { NOT_YET_KNOWN, UNCHANGED, CHANGED };

enum kit_status kit_set_interval(struct kit *kit, struct kit_clock *clock, uint64_t counter, uint64_t resolution)
{
    if (resolution == 0)
        return kit_fail(kit, KIT_ERROR, "the interval of a clock has resolution 0");
    clock->counter = counter;
    clock->resolution = resolution;
    clock->interval = (double)counter / (double)resolution;
    clock->qualifier = CHANGED;
    return KIT_OK;
}

enum kit_status kit_set_shift(struct kit *kit, struct kit_clock *clock, uint64_t counter, uint64_t resolution)
{
    if (resolution == 0)
        return kit_fail(kit, KIT_ERROR, "the shift of a clock has resolution 0");
    clock->shift_counter = counter;
    clock->shift_resolution = resolution;
    clock->shift = (double)counter / (double)resolution;
    return KIT_OK;
}

/* The common checks: a time-based clock, of the kind that the call is for, with fractions if required. NULL: rejected. */
static struct kit_clock *timed_clock(struct kit *k, const char *call, unsigned vr, bool fraction, bool shift)
{
    struct kit_clock *clock = clock_of(k, vr);
    if (!clock) {
        no_clock(k, call, vr);
        return NULL;
    }
    const struct kit_var *var = k->slots[vr].var;
    const char *why = var->clock == KIT_TRIGGERED          ? "ticks by no time"
                      : shift && !is_periodic(var)         ? "has no shift"
                      : fraction && !kit_has_fraction(var) ? "has no fractions"
                                                           : NULL;
    if (!why)
        return clock;
    kit_fail(k, KIT_ERROR, "%s: the clock %s %s", call, kit_var_name(var), why);
    return NULL;
}

static bool may_ask(const struct kit *k, const struct kit_var *var, const struct kit_clock *clock)
{
    switch (k->mode) {
    case KIT_INITIALISATION: return true;
    case KIT_IN_EVENT:
        return var->clock == KIT_INTERVAL_COUNTDOWN || (var->clock == KIT_INTERVAL_CHANGING && clock->ticked) ||
               (var->clock == KIT_INTERVAL_TUNABLE && !var->period);
    case KIT_CLOCK_ACTIVATION:
        return var->clock == KIT_INTERVAL_CHANGING || (var->clock == KIT_INTERVAL_TUNABLE && !var->period);
    case KIT_CLOCK_UPDATE: return var->clock == KIT_INTERVAL_COUNTDOWN;
    default: return false;
    }
}

struct kit_clock *kit_clock_to_get(struct kit *k, const char *call, unsigned vr, bool fraction, bool shift)
{
    struct kit_clock *clock = timed_clock(k, call, vr, fraction, shift);
    if (!clock)
        return NULL;
    const struct kit_var *var = k->slots[vr].var;
    bool allowed = shift ? k->mode == KIT_INITIALISATION : may_ask(k, var, clock);
    if (k->mode == KIT_INITIALISATION && kit_refresh(k, KIT_STALE_START) > KIT_WARNING)
        return NULL;
    if (allowed)
        return clock;
    kit_fail(k, KIT_ERROR, "%s: the clock %s is not asked for it now", call, kit_var_name(var));
    return NULL;
}

struct kit_clock *kit_clock_to_set(struct kit *k, const char *call, unsigned vr, bool fraction, bool shift)
{
    struct kit_clock *clock = timed_clock(k, call, vr, fraction, shift);
    if (!clock)
        return NULL;
    const struct kit_var *var = k->slots[vr].var;
    bool settable = var->period && (var->clock == KIT_INTERVAL_FIXED || var->clock == KIT_INTERVAL_TUNABLE);
    bool now = k->mode == KIT_INITIALISATION || (var->clock == KIT_INTERVAL_TUNABLE && !shift);
    if (settable && now)
        return clock;
    kit_fail(k, KIT_ERROR, "%s: the clock %s must not be told it%s", call, kit_var_name(var), settable ? " now" : "");
    return NULL;
}

int kit_tell_qualifier(struct kit_clock *clock)
{
    int qualifier = clock->qualifier;
    if (qualifier == CHANGED)
        clock->qualifier = UNCHANGED;
    return qualifier;
}

/* ---- Scheduled Execution ---- */

void kit_lock_preemption(struct kit *kit)
{
    if (kit->lock)
        kit->lock();
}

void kit_unlock_preemption(struct kit *kit)
{
    if (kit->unlock)
        kit->unlock();
}

static bool countdown_began(const struct kit *k)
{
    for (unsigned vr = 1; vr <= k->model->variable_count; vr++)
        if (clock_of(k, vr) && k->slots[vr].var->clock == KIT_INTERVAL_COUNTDOWN &&
            clock_of(k, vr)->qualifier == CHANGED)
            return true;
    return false;
}

/* A partition of higher priority (a smaller number) may interrupt a second one, whose variables are then read later. */
static void end_reading(struct kit *k, unsigned priority)
{
    for (unsigned vr = 1; vr <= k->model->variable_count; vr++)
        if (clock_of(k, vr) && k->slots[vr].var->priority <= priority)
            clock_of(k, vr)->readable = false;
}

enum kit_status kit_activate(struct kit *k, unsigned vr, double t)
{
    struct kit_clock *clock = clock_of(k, vr);
    if (!clock || !is_input_clock(&k->slots[vr]))
        return kit_fail(k, KIT_ERROR, "ActivateModelPartition: value reference %u is no input clock", vr);
    const char *name = kit_var_name(k->slots[vr].var);
    if (clock->has_activation && !(t > clock->activation))
        return kit_fail(k, KIT_ERROR, "ActivateModelPartition: %s is activated at t = %.17g after %.17g", name, t,
                        clock->activation);
    if (t < k->time)
        return kit_fail(k, KIT_ERROR, "ActivateModelPartition: t = %.17g lies before %.17g", t, k->time);
    clock->has_activation = true;
    clock->activation = k->time = k->last_time = t;
    k->set_in_step = false;
    end_reading(k, k->slots[vr].var->priority);
    clock->readable = true;
    if (k->slots[vr].var->clock == KIT_INTERVAL_COUNTDOWN)
        clock->qualifier = NOT_YET_KNOWN;
    enum kit_status status = compute(k, vr);
    if (status <= KIT_WARNING && k->clock_update && (kit_output_clock_ticks(k) || countdown_began(k))) {
        k->mode = KIT_CLOCK_UPDATE;
        k->clock_update(k);
        if (k->mode == KIT_CLOCK_UPDATE)
            k->mode = KIT_CLOCK_ACTIVATION;
        else
            status = KIT_ERROR;
    }
    return status;
}
