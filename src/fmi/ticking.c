/* SPDX-License-Identifier: MIT */
/* Clocks of instances: what clocks.h and instance.h say of them. */
#include "fmi/clocks.h"

#include <math.h>
#include <stdlib.h>

#include "base/number.h"
#include "fmi/call.h"
#include "fmi/instance.h"
#include "fmi/partition.h"

struct clock {
    uint32_t reference;
    const struct tutti_var *var;
    bool active, ticked; /* now; in the present event mode */
    bool has_activation;
    double activation; /* Scheduled Execution: time of the last one */
};

/* A variable that belongs to clocks: places of these in `of`. */
struct clocked {
    uint32_t reference, first, count;
    const char *name;
};

struct tutti_instance_clocks {
    struct clock *clocks; /* by reference */
    struct clocked *clocked;
    uint32_t *of;
    uint32_t clock_count, clocked_count;
    uint32_t
        computed; /* 1 + the place of the clock whose partition was computed last; 0: none since something else happened */
    uint32_t begun; /* 1 + the place of the one whose partition was begun last; 0: none */
    /* Partitions in several threads. */
    bool preempts;
    pthread_mutex_t preemption;
    unsigned active; /* partitions that have begun and not ended */
};

/* Locks that the partition of this thread has, and has not given back. */
static _Thread_local int locks __attribute__((tls_model("initial-exec")));

static int compare_clocks(const void *a, const void *b)
{
    uint32_t x = ((const struct clock *)a)->reference, y = ((const struct clock *)b)->reference;
    return x < y ? -1 : x > y;
}

static int compare_clocked(const void *a, const void *b)
{
    uint32_t x = ((const struct clocked *)a)->reference, y = ((const struct clocked *)b)->reference;
    return x < y ? -1 : x > y;
}

static struct clock *find(const struct tutti_instance_clocks *clocks, uint32_t reference)
{
    const struct clock key = {.reference = reference};
    return clocks ? bsearch(&key, clocks->clocks, clocks->clock_count, sizeof key, compare_clocks) : NULL;
}

static const struct clocked *find_clocked(const struct tutti_instance_clocks *clocks, uint32_t reference)
{
    const struct clocked key = {.reference = reference};
    return bsearch(&key, clocks->clocked, clocks->clocked_count, sizeof key, compare_clocked);
}

static bool is_of(const struct tutti_instance_clocks *clocks, const struct clocked *clocked, uint32_t place)
{
    for (uint32_t i = 0; i < clocked->count; i++)
        if (clocks->of[clocked->first + i] == place)
            return true;
    return false;
}

static void fill(struct tutti_instance_clocks *clocks, const struct tutti_desc *desc)
{
    for (uint32_t v = 0; v < desc->var_count; v++)
        if (desc->vars[v].type == TUTTI_TYPE_CLOCK)
            clocks->clocks[clocks->clock_count++] =
                (struct clock){.reference = desc->vars[v].reference, .var = &desc->vars[v]};
    qsort(clocks->clocks, clocks->clock_count, sizeof *clocks->clocks, compare_clocks);
    uint32_t at = 0;
    for (uint32_t v = 0; v < desc->var_count; v++) {
        const struct tutti_var *var = &desc->vars[v];
        if (var->clock_count == 0 || var->type == TUTTI_TYPE_CLOCK)
            continue;
        struct clocked *clocked = &clocks->clocked[clocks->clocked_count++];
        *clocked = (struct clocked){.reference = var->reference, .first = at, .name = var->name};
        for (uint32_t i = 0; i < var->clock_count; i++) {
            const struct clock *clock = find(clocks, desc->vars[var->more->clocks[i]].reference);
            if (clock)
                clocks->of[at++] = (uint32_t)(clock - clocks->clocks);
        }
        clocked->count = at - clocked->first;
    }
    qsort(clocks->clocked, clocks->clocked_count, sizeof *clocks->clocked, compare_clocked);
}

enum tutti_err tutti_instance_clocks_new(struct tutti_instance_clocks **out, const struct tutti_desc *desc)
{
    size_t clock_count = 0, clocked_count = 0, of_count = 0;
    for (uint32_t v = 0; v < desc->var_count; v++) {
        clock_count += desc->vars[v].type == TUTTI_TYPE_CLOCK;
        clocked_count += desc->vars[v].clock_count > 0;
        of_count += desc->vars[v].clock_count;
    }
    if (clock_count == 0)
        return TUTTI_OK;
    struct tutti_instance_clocks *clocks = calloc(1, sizeof *clocks);
    if (!clocks)
        return tutti_fail_memory();
    *out = clocks;
    clocks->clocks = calloc(clock_count, sizeof *clocks->clocks);
    clocks->clocked = calloc(clocked_count + 1, sizeof *clocks->clocked);
    clocks->of = calloc(of_count + 1, sizeof *clocks->of);
    if (!clocks->clocks || !clocks->clocked || !clocks->of)
        return tutti_fail_memory();
    fill(clocks, desc);
    return TUTTI_OK;
}

void tutti_instance_clocks_free(struct tutti_instance_clocks *clocks)
{
    if (!clocks)
        return;
    if (clocks->preempts)
        pthread_mutex_destroy(&clocks->preemption);
    free(clocks->clocks);
    free(clocks->clocked);
    free(clocks->of);
    free(clocks);
}

static void silence(struct tutti_instance *in, bool all)
{
    struct tutti_instance_clocks *clocks = in->clocks;
    if (!clocks)
        return;
    for (uint32_t i = 0; i < clocks->clock_count; i++) {
        clocks->clocks[i].active = false;
        clocks->clocks[i].ticked = clocks->clocks[i].ticked && !all;
        clocks->clocks[i].has_activation = clocks->clocks[i].has_activation && !all;
    }
    clocks->computed = 0;
}

void tutti_instance_clocks_rest(struct tutti_instance *in)
{
    silence(in, true);
}

void tutti_instance_clocks_pass(struct tutti_instance *in)
{
    silence(in, false);
}

/* ---- what FMI forbids ---- */

static __attribute__((cold, noinline)) enum tutti_err forbidden(const struct tutti_instance *in, const char *variable,
                                                                const char *what)
{
    tutti_fail(TUTTI_ERR_STATE,
               "%s: FMI 3.0 does not allow to %s ('%s', t = %s); this is a fault in the program that drives the FMU",
               in->options.name, what, variable, TIME(in->time));
    return tutti_fail_about(TUTTI_ERR_STATE, in->options.name, variable, in->time);
}

static bool ticks(const struct tutti_instance *in, const struct clocked *clocked)
{
    const struct tutti_instance_clocks *clocks = in->clocks;
    bool scheduled = in->library->kind == TUTTI_SE;
    for (uint32_t i = 0; i < clocked->count; i++) {
        uint32_t place = clocks->of[clocked->first + i];
        if (scheduled ? clocks->computed == place + 1 : clocks->clocks[place].active)
            return true;
    }
    return false;
}

enum tutti_err tutti_instance_clocks_check(const struct tutti_instance *in, enum tutti_call call,
                                           const uint32_t *references, size_t count)
{
    const struct tutti_instance_clocks *clocks = in->clocks;
    bool set = call == TUTTI_CALL_SET, between = in->state == TUTTI_STATE_STEP || in->state == TUTTI_STATE_STEP_SET;
    bool open = in->state != TUTTI_STATE_EVENT && in->state != TUTTI_STATE_CONTINUOUS && !between;
    if (open || (in->library->kind == TUTTI_SE && set))
        return TUTTI_OK;
    for (size_t i = 0; i < count; i++) {
        const struct clocked *clocked = find_clocked(clocks, references[i]);
        if (clocked && !ticks(in, clocked))
            return forbidden(in, clocked->name,
                             set ? "set a variable whose clocks do not tick"
                                 : "read a variable whose clocks do not tick");
    }
    return TUTTI_OK;
}

static enum tutti_err no_clock(const struct tutti_instance *in, uint32_t reference)
{
    tutti_fail(TUTTI_ERR_STATE,
               "%s: value reference %u is no clock; this is a fault in the program that drives the FMU",
               in->options.name, reference);
    return tutti_fail_about(TUTTI_ERR_STATE, in->options.name, NULL, in->time);
}

static enum tutti_interval kind_of(const struct clock *clock)
{
    return clock->var->more->clock->interval_variability;
}

static bool is_periodic(const struct clock *clock)
{
    return kind_of(clock) <= TUTTI_INTERVAL_TUNABLE;
}

/* ---- ticks ---- */

static enum tutti_err check_activation(const struct tutti_instance *in, const struct clock *clock, bool active)
{
    if (clock->var->causality != TUTTI_INPUT)
        return forbidden(in, clock->var->name, "activate a clock that is no input clock");
    if (!active && !clock->var->more->clock->can_be_deactivated)
        return forbidden(in, clock->var->name, "deactivate a clock that cannot be (canBeDeactivated)");
    if (active && clock->ticked && is_periodic(clock))
        return forbidden(in, clock->var->name, "let a periodic clock tick twice in one event mode");
    return TUTTI_OK;
}

enum tutti_err tutti_instance_set_clocks(struct tutti_instance *in, const uint32_t *references, size_t count,
                                         const bool *values)
{
    for (size_t i = 0; i < count; i++) {
        const struct clock *clock = find(in->clocks, references[i]);
        TRY(clock ? check_activation(in, clock, values[i]) : no_clock(in, references[i]));
    }
    CALL(in, TUTTI_CALL_SET_CLOCKS, set_clocks, in, references, count, values);
    for (size_t i = 0; i < count; i++) {
        struct clock *clock = find(in->clocks, references[i]);
        clock->active = values[i];
        clock->ticked = clock->ticked || values[i];
    }
    return TUTTI_OK;
}

enum tutti_err tutti_instance_get_clocks(struct tutti_instance *in, const uint32_t *references, size_t count,
                                         bool *values)
{
    for (size_t i = 0; i < count; i++)
        TRY(find(in->clocks, references[i]) ? TUTTI_OK : no_clock(in, references[i]));
    CALL(in, TUTTI_CALL_GET_CLOCKS, get_clocks, in, references, count, values);
    for (size_t i = 0; i < count; i++)
        find(in->clocks, references[i])->active = values[i];
    return TUTTI_OK;
}

/* ---- intervals ---- */

static bool may_ask(const struct tutti_instance *in, const struct clock *clock)
{
    enum tutti_interval kind = kind_of(clock);
    bool open = kind == TUTTI_INTERVAL_TUNABLE;
    if (in->state == TUTTI_STATE_INITIALIZATION)
        return kind != TUTTI_INTERVAL_TRIGGERED;
    if (in->library->kind == TUTTI_SE)
        return in->state == TUTTI_STATE_INTERMEDIATE ? kind == TUTTI_INTERVAL_COUNTDOWN
                                                     : open || kind == TUTTI_INTERVAL_CHANGING;
    return open || kind == TUTTI_INTERVAL_COUNTDOWN || (kind == TUTTI_INTERVAL_CHANGING && clock->ticked);
}

/* What an FMU tells is foreign: a fraction without a resolution, a time that is none. */
static enum tutti_err check_timing(struct tutti_instance *in, const struct clock *clock,
                                   const struct tutti_timing *timing)
{
    bool known = timing->qualifier != TUTTI_TIMING_NOT_YET_KNOWN;
    bool good = timing->fraction ? timing->resolution > 0 : isfinite(timing->decimal) && timing->decimal >= 0;
    if (!known || good)
        return TUTTI_OK;
    in->state = TUTTI_STATE_ERROR;
    if (timing->fraction)
        tutti_fail(TUTTI_ERR_FMU, "%s (%s): the FMU tells resolution 0 for its clock '%s' at t = %s", in->options.name,
                   in->library->file, clock->var->name, TIME(in->time));
    else
        tutti_fail(TUTTI_ERR_FMU, "%s (%s): the FMU tells an interval of %s for its clock '%s' at t = %s",
                   in->options.name, in->library->file, NUMBER(timing->decimal), clock->var->name, TIME(in->time));
    return tutti_fail_about(TUTTI_ERR_FMU, in->options.name, clock->var->name, in->time);
}

enum tutti_err tutti_instance_get_interval(struct tutti_instance *in, uint32_t reference, struct tutti_timing *timing)
{
    const struct clock *clock = find(in->clocks, reference);
    if (!clock)
        return no_clock(in, reference);
    if (tutti_call_may(in, TUTTI_CALL_GET_INTERVAL) && !may_ask(in, clock))
        return forbidden(in, clock->var->name, "ask for the interval of this clock now");
    CALL(in, TUTTI_CALL_GET_INTERVAL, get_interval, in, reference, timing);
    return check_timing(in, clock, timing);
}

enum tutti_err tutti_instance_get_shift(struct tutti_instance *in, uint32_t reference, struct tutti_timing *timing)
{
    const struct clock *clock = find(in->clocks, reference);
    if (!clock)
        return no_clock(in, reference);
    if (!is_periodic(clock))
        return forbidden(in, clock->var->name, "ask for the shift of a clock that is not periodic");
    timing->qualifier = TUTTI_TIMING_CHANGED;
    CALL(in, TUTTI_CALL_GET_SHIFT, get_shift, in, reference, timing);
    return check_timing(in, clock, timing);
}

enum tutti_err tutti_instance_set_interval(struct tutti_instance *in, uint32_t reference,
                                           const struct tutti_timing *timing)
{
    const struct clock *clock = find(in->clocks, reference);
    if (!clock)
        return no_clock(in, reference);
    if (kind_of(clock) != TUTTI_INTERVAL_FIXED && kind_of(clock) != TUTTI_INTERVAL_TUNABLE)
        return forbidden(in, clock->var->name, "tell this clock its interval");
    CALL(in, TUTTI_CALL_SET_INTERVAL, set_interval, in, reference, timing);
    return TUTTI_OK;
}

/* ---- Scheduled Execution ---- */

enum tutti_err tutti_partition_init(struct tutti_partition *partition, struct tutti_instance *in, uint32_t reference,
                                    const struct tutti_reading *readings, size_t count)
{
    const struct clock *clock = find(in->clocks, reference);
    if (!clock)
        return no_clock(in, reference);
    if (clock->var->causality != TUTTI_INPUT)
        return forbidden(in, clock->var->name, "activate the partition of a clock that is no input clock");
    uint32_t place = (uint32_t)(clock - in->clocks->clocks);
    for (size_t r = 0; r < count; r++)
        for (size_t i = 0; i < readings[r].count; i++) {
            const struct clocked *clocked = find_clocked(in->clocks, readings[r].references[i]);
            if (clocked && !is_of(in->clocks, clocked, place))
                return forbidden(in, clocked->name, "read a variable whose clocks do not tick");
        }
    *partition = (struct tutti_partition){in, reference, place, readings, count};
    return TUTTI_OK;
}

/* What a partition left: errors of callbacks first, which a status must not hide. */
static enum tutti_err conclude_activation(struct tutti_instance *in, enum tutti_status status, int left)
{
    if (in->callback_error != TUTTI_OK) {
        in->state = in->state == TUTTI_STATE_FATAL ? in->state : TUTTI_STATE_ERROR;
        return in->callback_error;
    }
    TRY(tutti_call_conclude(in, TUTTI_CALL_ACTIVATE,
                            status == TUTTI_STATUS_DISCARD ? TUTTI_STATUS_ERROR : status)); /* as FMI has it here */
    if (__builtin_expect(left == 0, 1))
        return TUTTI_OK;
    return tutti_call_fail(in, TUTTI_ERR_FMU,
                           left > 0 ? "left the preemption locked" : "unlocked a preemption that was not locked");
}

/* I1 for the calls of readings is what it was for the activation: both are made in clock activation mode alone. */
static enum tutti_err read_all(const struct tutti_partition *partition, struct tutti_modes_watch *watch)
{
    struct tutti_instance *in = partition->instance;
    for (size_t r = 0; r < partition->reading_count; r++) {
        const struct tutti_reading *reading = &partition->readings[r];
        in->call = TUTTI_CALL_GET;
        in->call_type = reading->type;
        enum tutti_status status = in->binding->get(in, reading->type, reading->references, reading->count,
                                                    reading->values, reading->value_count);
        tutti_modes_check_call(in, watch);
        TRY(tutti_call_conclude(in, TUTTI_CALL_GET, status));
    }
    return TUTTI_OK;
}

static inline __attribute__((always_inline)) enum tutti_err begin_activation(const struct tutti_partition *partition,
                                                                             double t)
{
    struct tutti_instance *in = partition->instance;
    const struct clock *clock = &in->clocks->clocks[partition->place];
    TRY(tutti_call_begin(in, TUTTI_CALL_ACTIVATE));
    if (__builtin_expect((clock->has_activation && !(t > clock->activation)) || t < in->time, 0))
        return forbidden(in, clock->var->name, "activate a partition twice at one time, or before one");
    in->time = t;
    in->callback_error = TUTTI_OK;
    locks = 0;
    in->clocks->begun = partition->place + 1;
    tutti_call_current = in;
    return TUTTI_OK;
}

static inline void note_activation(const struct tutti_partition *partition, double t)
{
    struct clock *clock = &partition->instance->clocks->clocks[partition->place];
    clock->has_activation = true;
    clock->activation = t;
}

enum tutti_err tutti_partition_read(const struct tutti_partition *partition, struct tutti_modes_watch *watch)
{
    struct tutti_instance *in = partition->instance;
    in->clocks->computed = partition->place + 1;
    tutti_call_current = in;
    TRY(read_all(partition, watch));
    tutti_modes_check_group(in, watch);
    return TUTTI_OK;
}

enum tutti_err tutti_partition_compute(const struct tutti_partition *partition, struct tutti_modes_watch *watch,
                                       double t)
{
    struct tutti_instance *in = partition->instance;
    TRY(begin_activation(partition, t));
    enum tutti_status status = in->binding->activate(in, partition->reference, t);
    tutti_modes_check_call(in, watch);
    TRY(conclude_activation(in, status, locks));
    note_activation(partition, t);
    return tutti_partition_read(partition, watch);
}

/* ---- partitions that interrupt each other ---- */

enum tutti_err tutti_instance_let_preempt(struct tutti_instance *in)
{
    struct tutti_instance_clocks *clocks = in->clocks;
    pthread_mutexattr_t attributes;
    if (clocks->preempts)
        return TUTTI_OK;
    if (pthread_mutexattr_init(&attributes) == 0) {
        clocks->preempts = pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE) == 0 &&
                           pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT) == 0 &&
                           pthread_mutex_init(&clocks->preemption, &attributes) == 0;
        pthread_mutexattr_destroy(&attributes);
    }
    return clocks->preempts ? TUTTI_OK : tutti_fail(TUTTI_ERR_LIMIT, "the system has no locks that pass on priorities");
}

void tutti_instance_hold(struct tutti_instance *in)
{
    if (in->clocks && in->clocks->preempts)
        pthread_mutex_lock(&in->clocks->preemption);
}

void tutti_instance_release(struct tutti_instance *in)
{
    if (!in->clocks || !in->clocks->preempts)
        return;
    if (in->clocks->active > 0)
        in->call = TUTTI_CALL_ACTIVATE; /* which goes on */
    pthread_mutex_unlock(&in->clocks->preemption);
}

/* One that interrupts another has errors of callbacks to itself: it has ended when the other goes on. */
enum tutti_err tutti_partition_activate(const struct tutti_partition *partition, struct tutti_modes_watch *watch,
                                        double t)
{
    struct tutti_instance *in = partition->instance;
    tutti_instance_hold(in);
    enum tutti_err outer = in->callback_error, err = begin_activation(partition, t);
    in->clocks->active++;
    tutti_instance_release(in);
    enum tutti_status status = err ? TUTTI_STATUS_OK : in->binding->activate(in, partition->reference, t);
    int left = err ? 0 : locks;
    for (int i = 0; i < left; i++)
        pthread_mutex_unlock(&in->clocks->preemption);
    tutti_instance_hold(in);
    if (!err) {
        tutti_modes_check_call(in, watch);
        err = conclude_activation(in, status, left);
    }
    if (!err)
        note_activation(partition, t);
    in->callback_error = outer;
    in->clocks->active--;
    tutti_instance_release(in);
    return err;
}

enum tutti_err tutti_instance_activate(struct tutti_instance *in, uint32_t reference, double t)
{
    struct tutti_partition partition = {.instance = in};
    struct tutti_modes_watch watch = {0};
    TRY(tutti_call_begin(in, TUTTI_CALL_ACTIVATE));
    TRY(tutti_partition_init(&partition, in, reference, NULL, 0));
    struct tutti_frame frame = tutti_modes_enter(&watch);
    enum tutti_err err = tutti_partition_compute(&partition, &watch, t);
    tutti_modes_leave(&watch, frame);
    return err;
}

const char *tutti_instance_partition(const struct tutti_instance *in)
{
    const struct tutti_instance_clocks *clocks = in->clocks;
    return clocks && clocks->begun > 0 ? clocks->clocks[clocks->begun - 1].var->name : NULL;
}

void tutti_instance_clock_update(struct tutti_instance *in)
{
    if (!in || in->call != TUTTI_CALL_ACTIVATE || in->callback_error != TUTTI_OK || !in->options.clock_update)
        return;
    tutti_instance_hold(in);
    enum tutti_state state = in->state;
    in->state = TUTTI_STATE_INTERMEDIATE;
    in->callback_error = in->options.clock_update(in->options.clock_context, in);
    if (in->state == TUTTI_STATE_INTERMEDIATE) /* not if a call failed in it */
        in->state = state;
    in->call = TUTTI_CALL_ACTIVATE;
    tutti_instance_release(in);
}

void tutti_instance_lock_preemption(bool locked)
{
    struct tutti_instance *in = tutti_instance_current();
    if (!in || !in->clocks)
        return;
    if (in->clocks->preempts && locked)
        pthread_mutex_lock(&in->clocks->preemption);
    else if (in->clocks->preempts && locks > 0)
        pthread_mutex_unlock(&in->clocks->preemption);
    locks += locked ? 1 : -1;
}
