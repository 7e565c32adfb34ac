/* SPDX-License-Identifier: MIT */
/* Clocks of instances: what instance_clocks_header.h and instance.h say of them. */
#include "fmu/instance_clocks.h"

#include <math.h>
#include <stdlib.h>

#include "base/number.h"
#include "fmu/fmi_call.h"
#include "fmu/instance.h"
#include "fmu/instance_clocks_header.h"

struct instance_clock {
    uint32_t reference;
    const struct tt_var *var;
    bool active, ticked; /* now; in the present event mode */
    bool has_activation;
    double activation; /* Scheduled Execution: time of the last one */
};

/* A variable that belongs to clocks: places of these in `of`. */
struct clocked_variable {
    uint32_t reference, first, count;
    const char *name;
};

struct tt_instance_clocks {
    struct instance_clock *clocks; /* by reference */
    struct clocked_variable *clocked;
    uint32_t *of;
    uint32_t clock_count, clocked_count;
    uint32_t
        computed;   /* 1 + the index of the clock whose partition was computed last; 0: none since a different call */
    uint32_t begun; /* 1 + the index of the clock whose partition was begun last; 0: none */
    /* Partitions in several threads. */
    bool preempts;
    pthread_mutex_t preemption;
    unsigned active; /* partitions that have begun and not ended */
};

/* Locks that the partition of this thread has, and has not given back. */
static _Thread_local int locks __attribute__((tls_model("initial-exec")));

static int compare_clocks(const void *a, const void *b)
{
    uint32_t x = ((const struct instance_clock *)a)->reference, y = ((const struct instance_clock *)b)->reference;
    return x < y ? -1 : x > y;
}

static int compare_clocked(const void *a, const void *b)
{
    uint32_t x = ((const struct clocked_variable *)a)->reference, y = ((const struct clocked_variable *)b)->reference;
    return x < y ? -1 : x > y;
}

static struct instance_clock *instance_clocks_find(const struct tt_instance_clocks *clocks, uint32_t reference)
{
    const struct instance_clock key = {.reference = reference};
    return clocks ? bsearch(&key, clocks->clocks, clocks->clock_count, sizeof key, compare_clocks) : NULL;
}

static const struct clocked_variable *instance_clocks_find_clocked(const struct tt_instance_clocks *clocks,
                                                                   uint32_t reference)
{
    const struct clocked_variable key = {.reference = reference};
    return bsearch(&key, clocks->clocked, clocks->clocked_count, sizeof key, compare_clocked);
}

static bool is_clocked_by(const struct tt_instance_clocks *clocks, const struct clocked_variable *clocked,
                          uint32_t place)
{
    for (uint32_t i = 0; i < clocked->count; i++)
        if (clocks->of[clocked->first + i] == place)
            return true;
    return false;
}

static void instance_clocks_fill(struct tt_instance_clocks *clocks, const struct tt_description *desc)
{
    for (uint32_t v = 0; v < desc->var_count; v++)
        if (desc->vars[v].type == TUTTI_TYPE_CLOCK)
            clocks->clocks[clocks->clock_count++] =
                (struct instance_clock){.reference = desc->vars[v].reference, .var = &desc->vars[v]};
    qsort(clocks->clocks, clocks->clock_count, sizeof *clocks->clocks, compare_clocks);
    uint32_t at = 0;
    for (uint32_t v = 0; v < desc->var_count; v++) {
        const struct tt_var *var = &desc->vars[v];
        if (var->clock_count == 0 || var->type == TUTTI_TYPE_CLOCK)
            continue;
        struct clocked_variable *clocked = &clocks->clocked[clocks->clocked_count++];
        *clocked = (struct clocked_variable){.reference = var->reference, .first = at, .name = var->name};
        for (uint32_t i = 0; i < var->clock_count; i++) {
            const struct instance_clock *clock =
                instance_clocks_find(clocks, desc->vars[var->more->clocks[i]].reference);
            if (clock)
                clocks->of[at++] = (uint32_t)(clock - clocks->clocks);
        }
        clocked->count = at - clocked->first;
    }
    qsort(clocks->clocked, clocks->clocked_count, sizeof *clocks->clocked, compare_clocked);
}

enum tutti_err tt_instance_clocks_new(struct tt_instance_clocks **out, const struct tt_description *desc)
{
    size_t clock_count = 0, clocked_count = 0, of_count = 0;
    for (uint32_t v = 0; v < desc->var_count; v++) {
        clock_count += desc->vars[v].type == TUTTI_TYPE_CLOCK;
        clocked_count += desc->vars[v].clock_count > 0;
        of_count += desc->vars[v].clock_count;
    }
    if (clock_count == 0)
        return TUTTI_OK;
    struct tt_instance_clocks *clocks = calloc(1, sizeof *clocks);
    if (!clocks)
        return tt_fail_memory();
    *out = clocks;
    clocks->clocks = calloc(clock_count, sizeof *clocks->clocks);
    clocks->clocked = calloc(clocked_count + 1, sizeof *clocks->clocked);
    clocks->of = calloc(of_count + 1, sizeof *clocks->of);
    if (!clocks->clocks || !clocks->clocked || !clocks->of)
        return tt_fail_memory();
    instance_clocks_fill(clocks, desc);
    return TUTTI_OK;
}

void tt_instance_clocks_free(struct tt_instance_clocks *clocks)
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

static void deactivate_clocks(struct tt_instance *in, bool all)
{
    struct tt_instance_clocks *clocks = in->clocks;
    if (!clocks)
        return;
    for (uint32_t i = 0; i < clocks->clock_count; i++) {
        clocks->clocks[i].active = false;
        clocks->clocks[i].ticked = clocks->clocks[i].ticked && !all;
        clocks->clocks[i].has_activation = clocks->clocks[i].has_activation && !all;
    }
    clocks->computed = 0;
}

void tt_instance_clocks_reset(struct tt_instance *in)
{
    deactivate_clocks(in, true);
}

void tt_instance_clocks_clear_ticks(struct tt_instance *in)
{
    deactivate_clocks(in, false);
}

/* ---- what FMI forbids ---- */

static __attribute__((cold, noinline)) enum tutti_err fail_clocked_access(const struct tt_instance *in,
                                                                          const char *variable, const char *what)
{
    tt_fail(TUTTI_ERR_STATE,
            "%s: FMI 3.0 does not allow to %s ('%s', t = %s); this is a fault in the program that drives the FMU",
            in->options.name, what, variable, TIME(in->time));
    return tt_fail_about(TUTTI_ERR_STATE, in->options.name, variable, in->time);
}

static bool has_active_clock(const struct tt_instance *in, const struct clocked_variable *clocked)
{
    const struct tt_instance_clocks *clocks = in->clocks;
    bool scheduled = in->library->kind == TUTTI_SE;
    for (uint32_t i = 0; i < clocked->count; i++) {
        uint32_t place = clocks->of[clocked->first + i];
        if (scheduled ? clocks->computed == place + 1 : clocks->clocks[place].active)
            return true;
    }
    return false;
}

enum tutti_err tt_instance_clocks_check(const struct tt_instance *in, enum tt_fmi_call call, const uint32_t *references,
                                        size_t count)
{
    const struct tt_instance_clocks *clocks = in->clocks;
    bool set = call == TUTTI_CALL_SET, between = in->state == TUTTI_STATE_STEP || in->state == TUTTI_STATE_STEP_SET;
    bool open = in->state != TUTTI_STATE_EVENT && in->state != TUTTI_STATE_CONTINUOUS && !between;
    if (open || (in->library->kind == TUTTI_SE && set))
        return TUTTI_OK;
    for (size_t i = 0; i < count; i++) {
        const struct clocked_variable *clocked = instance_clocks_find_clocked(clocks, references[i]);
        if (clocked && !has_active_clock(in, clocked))
            return fail_clocked_access(in, clocked->name,
                                       set ? "set a variable whose clocks do not tick"
                                           : "read a variable whose clocks do not tick");
    }
    return TUTTI_OK;
}

static enum tutti_err fail_no_clock(const struct tt_instance *in, uint32_t reference)
{
    tt_fail(TUTTI_ERR_STATE, "%s: value reference %u is no clock; this is a fault in the program that drives the FMU",
            in->options.name, reference);
    return tt_fail_about(TUTTI_ERR_STATE, in->options.name, NULL, in->time);
}

static enum tt_interval instance_clocks_kind_of(const struct instance_clock *clock)
{
    return clock->var->more->clock->interval_variability;
}

static bool instance_clocks_is_periodic(const struct instance_clock *clock)
{
    return instance_clocks_kind_of(clock) <= TUTTI_INTERVAL_TUNABLE;
}

/* ---- ticks ---- */

static enum tutti_err check_activation(const struct tt_instance *in, const struct instance_clock *clock, bool active)
{
    if (clock->var->causality != TUTTI_INPUT)
        return fail_clocked_access(in, clock->var->name, "activate a clock that is no input clock");
    if (!active && !clock->var->more->clock->can_be_deactivated)
        return fail_clocked_access(in, clock->var->name, "deactivate a clock that cannot be (canBeDeactivated)");
    if (active && clock->ticked && instance_clocks_is_periodic(clock))
        return fail_clocked_access(in, clock->var->name, "let a periodic clock tick twice in one event mode");
    return TUTTI_OK;
}

enum tutti_err tt_instance_clocks_set(struct tt_instance *in, const uint32_t *references, size_t count,
                                      const bool *values)
{
    for (size_t i = 0; i < count; i++) {
        const struct instance_clock *clock = instance_clocks_find(in->clocks, references[i]);
        TRY(clock ? check_activation(in, clock, values[i]) : fail_no_clock(in, references[i]));
    }
    CALL(in, TUTTI_CALL_SET_CLOCKS, set_clocks, in, references, count, values);
    for (size_t i = 0; i < count; i++) {
        struct instance_clock *clock = instance_clocks_find(in->clocks, references[i]);
        clock->active = values[i];
        clock->ticked = clock->ticked || values[i];
    }
    return TUTTI_OK;
}

enum tutti_err tt_instance_clocks_get(struct tt_instance *in, const uint32_t *references, size_t count, bool *values)
{
    for (size_t i = 0; i < count; i++)
        TRY(instance_clocks_find(in->clocks, references[i]) ? TUTTI_OK : fail_no_clock(in, references[i]));
    CALL(in, TUTTI_CALL_GET_CLOCKS, get_clocks, in, references, count, values);
    for (size_t i = 0; i < count; i++)
        instance_clocks_find(in->clocks, references[i])->active = values[i];
    return TUTTI_OK;
}

/* ---- intervals ---- */

static bool may_query_timing(const struct tt_instance *in, const struct instance_clock *clock)
{
    enum tt_interval kind = instance_clocks_kind_of(clock);
    bool open = kind == TUTTI_INTERVAL_TUNABLE;
    if (in->state == TUTTI_STATE_INITIALIZATION)
        return kind != TUTTI_INTERVAL_TRIGGERED;
    if (in->library->kind == TUTTI_SE)
        return in->state == TUTTI_STATE_INTERMEDIATE ? kind == TUTTI_INTERVAL_COUNTDOWN
                                                     : open || kind == TUTTI_INTERVAL_CHANGING;
    return open || kind == TUTTI_INTERVAL_COUNTDOWN || (kind == TUTTI_INTERVAL_CHANGING && clock->ticked);
}

/* Answers of an FMU are untrusted: a fraction without a resolution, an invalid time. */
static enum tutti_err check_timing(struct tt_instance *in, const struct instance_clock *clock,
                                   const struct tt_clock_timing *timing)
{
    bool known = timing->qualifier != TUTTI_TIMING_NOT_YET_KNOWN;
    bool good = timing->fraction ? timing->resolution > 0 : isfinite(timing->decimal) && timing->decimal >= 0;
    if (!known || good)
        return TUTTI_OK;
    in->state = TUTTI_STATE_ERROR;
    if (timing->fraction)
        tt_fail(TUTTI_ERR_FMU, "%s (%s): the FMU tells resolution 0 for its clock '%s' at t = %s", in->options.name,
                in->library->file, clock->var->name, TIME(in->time));
    else
        tt_fail(TUTTI_ERR_FMU, "%s (%s): the FMU tells an interval of %s for its clock '%s' at t = %s",
                in->options.name, in->library->file, NUMBER(timing->decimal), clock->var->name, TIME(in->time));
    return tt_fail_about(TUTTI_ERR_FMU, in->options.name, clock->var->name, in->time);
}

enum tutti_err tt_instance_clocks_get_interval(struct tt_instance *in, uint32_t reference,
                                               struct tt_clock_timing *timing)
{
    const struct instance_clock *clock = instance_clocks_find(in->clocks, reference);
    if (!clock)
        return fail_no_clock(in, reference);
    if (tt_fmi_call_may(in, TUTTI_CALL_GET_INTERVAL) && !may_query_timing(in, clock))
        return fail_clocked_access(in, clock->var->name, "ask for the interval of this clock now");
    CALL(in, TUTTI_CALL_GET_INTERVAL, get_interval, in, reference, timing);
    return check_timing(in, clock, timing);
}

enum tutti_err tt_instance_clocks_get_shift(struct tt_instance *in, uint32_t reference, struct tt_clock_timing *timing)
{
    const struct instance_clock *clock = instance_clocks_find(in->clocks, reference);
    if (!clock)
        return fail_no_clock(in, reference);
    if (!instance_clocks_is_periodic(clock))
        return fail_clocked_access(in, clock->var->name, "ask for the shift of a clock that is not periodic");
    timing->qualifier = TUTTI_TIMING_CHANGED;
    CALL(in, TUTTI_CALL_GET_SHIFT, get_shift, in, reference, timing);
    return check_timing(in, clock, timing);
}

enum tutti_err tt_instance_clocks_set_interval(struct tt_instance *in, uint32_t reference,
                                               const struct tt_clock_timing *timing)
{
    const struct instance_clock *clock = instance_clocks_find(in->clocks, reference);
    if (!clock)
        return fail_no_clock(in, reference);
    if (instance_clocks_kind_of(clock) != TUTTI_INTERVAL_FIXED &&
        instance_clocks_kind_of(clock) != TUTTI_INTERVAL_TUNABLE)
        return fail_clocked_access(in, clock->var->name, "tell this clock its interval");
    CALL(in, TUTTI_CALL_SET_INTERVAL, set_interval, in, reference, timing);
    return TUTTI_OK;
}

/* ---- Scheduled Execution ---- */

enum tutti_err tt_instance_clocks_init_partition(struct tt_model_partition *partition, struct tt_instance *in,
                                                 uint32_t reference, const struct tt_model_partition_reading *readings,
                                                 size_t count)
{
    const struct instance_clock *clock = instance_clocks_find(in->clocks, reference);
    if (!clock)
        return fail_no_clock(in, reference);
    if (clock->var->causality != TUTTI_INPUT)
        return fail_clocked_access(in, clock->var->name, "activate the partition of a clock that is no input clock");
    uint32_t place = (uint32_t)(clock - in->clocks->clocks);
    for (size_t r = 0; r < count; r++)
        for (size_t i = 0; i < readings[r].count; i++) {
            const struct clocked_variable *clocked =
                instance_clocks_find_clocked(in->clocks, readings[r].references[i]);
            if (clocked && !is_clocked_by(in->clocks, clocked, place))
                return fail_clocked_access(in, clocked->name, "read a variable whose clocks do not tick");
        }
    *partition = (struct tt_model_partition){in, reference, place, readings, count};
    return TUTTI_OK;
}

/* Handles the outcome of a partition. Errors of callbacks come first, because a status must not hide them. */
static enum tutti_err conclude_activation(struct tt_instance *in, enum tt_fmi_status status, int left)
{
    if (in->callback_error != TUTTI_OK) {
        in->state = in->state == TUTTI_STATE_FATAL ? in->state : TUTTI_STATE_ERROR;
        return in->callback_error;
    }
    TRY(tt_fmi_call_conclude(in, TUTTI_CALL_ACTIVATE,
                             status == TUTTI_STATUS_DISCARD ? TUTTI_STATUS_ERROR : status)); /* as FMI has it here */
    if (__builtin_expect(left == 0, 1))
        return TUTTI_OK;
    return tt_fmi_call_fail(in, TUTTI_ERR_FMU,
                            left > 0 ? "left the preemption locked" : "unlocked a preemption that was not locked");
}

/* I1 for the calls of readings is what it was for the activation: both are made in clock activation mode alone. */
static enum tutti_err partition_read_all(const struct tt_model_partition *partition,
                                         struct tt_fmi_call_modes_watch *watch)
{
    struct tt_instance *in = partition->instance;
    for (size_t r = 0; r < partition->reading_count; r++) {
        const struct tt_model_partition_reading *reading = &partition->readings[r];
        in->call = TUTTI_CALL_GET;
        in->call_type = reading->type;
        enum tt_fmi_status status = in->binding->get(in, reading->type, reading->references, reading->count,
                                                     reading->values, reading->value_count);
        tt_fmi_call_check_each(in, watch);
        TRY(tt_fmi_call_conclude(in, TUTTI_CALL_GET, status));
    }
    return TUTTI_OK;
}

static inline __attribute__((always_inline)) enum tutti_err start_activation(const struct tt_model_partition *partition,
                                                                             double t)
{
    struct tt_instance *in = partition->instance;
    const struct instance_clock *clock = &in->clocks->clocks[partition->place];
    TRY(tt_fmi_call_begin(in, TUTTI_CALL_ACTIVATE));
    if (__builtin_expect((clock->has_activation && !(t > clock->activation)) || t < in->time, 0))
        return fail_clocked_access(in, clock->var->name, "activate a partition twice at one time, or before one");
    in->time = t;
    in->callback_error = TUTTI_OK;
    locks = 0;
    in->clocks->begun = partition->place + 1;
    tt_fmi_call_current = in;
    return TUTTI_OK;
}

static inline void record_activation(const struct tt_model_partition *partition, double t)
{
    struct instance_clock *clock = &partition->instance->clocks->clocks[partition->place];
    clock->has_activation = true;
    clock->activation = t;
}

enum tutti_err tt_instance_clocks_read(const struct tt_model_partition *partition,
                                       struct tt_fmi_call_modes_watch *watch)
{
    struct tt_instance *in = partition->instance;
    in->clocks->computed = partition->place + 1;
    tt_fmi_call_current = in;
    TRY(partition_read_all(partition, watch));
    tt_fmi_call_check_group(in, watch);
    return TUTTI_OK;
}

enum tutti_err tt_instance_clocks_compute(const struct tt_model_partition *partition,
                                          struct tt_fmi_call_modes_watch *watch, double t)
{
    struct tt_instance *in = partition->instance;
    TRY(start_activation(partition, t));
    enum tt_fmi_status status = in->binding->activate(in, partition->reference, t);
    tt_fmi_call_check_each(in, watch);
    TRY(conclude_activation(in, status, locks));
    record_activation(partition, t);
    return tt_instance_clocks_read(partition, watch);
}

/* ---- partitions that interrupt each other ---- */

enum tutti_err tt_instance_clocks_allow_preempt(struct tt_instance *in)
{
    struct tt_instance_clocks *clocks = in->clocks;
    pthread_mutexattr_t attributes;
    if (clocks->preempts)
        return TUTTI_OK;
    if (pthread_mutexattr_init(&attributes) == 0) {
        clocks->preempts = pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE) == 0 &&
                           pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT) == 0 &&
                           pthread_mutex_init(&clocks->preemption, &attributes) == 0;
        pthread_mutexattr_destroy(&attributes);
    }
    return clocks->preempts ? TUTTI_OK : tt_fail(TUTTI_ERR_LIMIT, "the system has no locks that pass on priorities");
}

void tt_instance_clocks_lock(struct tt_instance *in)
{
    if (in->clocks && in->clocks->preempts)
        pthread_mutex_lock(&in->clocks->preemption);
}

void tt_instance_clocks_unlock(struct tt_instance *in)
{
    if (!in->clocks || !in->clocks->preempts)
        return;
    if (in->clocks->active > 0)
        in->call = TUTTI_CALL_ACTIVATE; /* the interrupted call continues */
    pthread_mutex_unlock(&in->clocks->preemption);
}

/* A partition that interrupts a second one keeps its callback errors separate: it ends before the second continues. */
enum tutti_err tt_instance_clocks_activate_part(const struct tt_model_partition *partition,
                                                struct tt_fmi_call_modes_watch *watch, double t)
{
    struct tt_instance *in = partition->instance;
    tt_instance_clocks_lock(in);
    enum tutti_err outer = in->callback_error, err = start_activation(partition, t);
    in->clocks->active++;
    tt_instance_clocks_unlock(in);
    enum tt_fmi_status status = err ? TUTTI_STATUS_OK : in->binding->activate(in, partition->reference, t);
    int left = err ? 0 : locks;
    for (int i = 0; i < left; i++)
        pthread_mutex_unlock(&in->clocks->preemption);
    tt_instance_clocks_lock(in);
    if (!err) {
        tt_fmi_call_check_each(in, watch);
        err = conclude_activation(in, status, left);
    }
    if (!err)
        record_activation(partition, t);
    in->callback_error = outer;
    in->clocks->active--;
    tt_instance_clocks_unlock(in);
    return err;
}

enum tutti_err tt_instance_clocks_activate(struct tt_instance *in, uint32_t reference, double t)
{
    struct tt_model_partition partition = {.instance = in};
    struct tt_fmi_call_modes_watch watch = {0};
    TRY(tt_fmi_call_begin(in, TUTTI_CALL_ACTIVATE));
    TRY(tt_instance_clocks_init_partition(&partition, in, reference, NULL, 0));
    struct tt_fmi_call_frame frame = tt_fmi_call_enter_pass(&watch);
    enum tutti_err err = tt_instance_clocks_compute(&partition, &watch, t);
    tt_fmi_call_leave_pass(&watch, frame);
    return err;
}

const char *tt_instance_clocks_current(const struct tt_instance *in)
{
    const struct tt_instance_clocks *clocks = in->clocks;
    return clocks && clocks->begun > 0 ? clocks->clocks[clocks->begun - 1].var->name : NULL;
}

void tt_instance_clocks_update(struct tt_instance *in)
{
    if (!in || in->call != TUTTI_CALL_ACTIVATE || in->callback_error != TUTTI_OK || !in->options.clock_update)
        return;
    tt_instance_clocks_lock(in);
    enum tt_fmi_state state = in->state;
    in->state = TUTTI_STATE_INTERMEDIATE;
    in->callback_error = in->options.clock_update(in->options.clock_context, in);
    if (in->state == TUTTI_STATE_INTERMEDIATE) /* not if a call failed in it */
        in->state = state;
    in->call = TUTTI_CALL_ACTIVATE;
    tt_instance_clocks_unlock(in);
}

void tt_instance_clocks_lock_preemption(bool locked)
{
    struct tt_instance *in = tt_fmi_call_current_instance();
    if (!in || !in->clocks)
        return;
    if (in->clocks->preempts && locked)
        pthread_mutex_lock(&in->clocks->preemption);
    else if (in->clocks->preempts && locks > 0)
        pthread_mutex_unlock(&in->clocks->preemption);
    locks += locked ? 1 : -1;
}
