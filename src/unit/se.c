/* SPDX-License-Identifier: MIT */
/* Scheduled Execution: the FMU has model partitions, which its importer activates. Between two of them nothing happens in it, so that a step
 * is a move of the unit's time; partitions are activated where their clocks tick (rank/ticks.h). */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/number.h"
#include "unit/unit.h"

struct se {
    struct tutti_unit unit;
    struct tutti_unit_options options;
    double t;
    unsigned long activations;
    bool saves;                         /* the FMU saves its state */
    unsigned long measured, measure_at; /* of the activations the last, and the next, whose time is taken */
};

/* Between two partitions the FMU does not change: without a saved state it comes back as long as none was activated since. */
struct tutti_unit_saved {
    struct tutti_saved fmu;
    bool has_fmu, foreign; /* it is one of another process */
    double t;
    unsigned long activations;
};

static enum tutti_err clock_update(void *context, struct tutti_instance *instance)
{
    struct se *se = context;
    (void)instance;
    return se->unit.ticking.update ? se->unit.ticking.update(se->unit.ticking.context) : TUTTI_OK;
}

static enum tutti_err start(struct tutti_unit *unit, const struct tutti_unit_options *options)
{
    struct se *se = (struct se *)unit;
    se->options = *options;
    struct tutti_instance_options instance = {
        .name = options->name,
        .log = options->log,
        .logging_on = options->logging_on,
        .clock_update = clock_update,
        .clock_context = se,
    };
    se->saves = unit->can & TUTTI_CAN_STATE;
    unit->can |= TUTTI_CAN_STATE | TUTTI_CAN_VARIABLE_STEP;
    return tutti_instance_new(&unit->instance, unit->fmu->libraries[TUTTI_SE], &instance);
}

static void finish(struct tutti_unit *unit)
{
    if (unit->instance)
        tutti_unit_report(unit, unit->instance, ((struct se *)unit)->options.log);
    tutti_instance_free(unit->instance);
}

static enum tutti_err configure(struct tutti_unit *unit, const struct tutti_setting *settings, size_t count)
{
    return tutti_unit_configure(unit, unit->instance, settings, count);
}

static enum tutti_err set_up(struct tutti_unit *unit, const struct tutti_experiment_setup *setup)
{
    ((struct se *)unit)->t = setup->start;
    return tutti_instance_set_up(unit->instance, setup);
}

static enum tutti_err enter_init(struct tutti_unit *unit)
{
    return tutti_instance_enter_initialization(unit->instance, NULL);
}

static enum tutti_err reset(struct tutti_unit *unit)
{
    return tutti_instance_reset(unit->instance);
}

static enum tutti_err exit_init(struct tutti_unit *unit)
{
    return tutti_instance_exit_initialization(unit->instance);
}

static enum tutti_err adopt(struct tutti_unit *unit, const unsigned char *bytes, size_t size)
{
    return tutti_unit_adopt(unit, unit->instance, ((struct se *)unit)->options.log, bytes, size);
}

static enum tutti_err rest(struct tutti_unit *unit)
{
    return unit->ticking.rest ? unit->ticking.rest(unit->ticking.context) : TUTTI_OK;
}

static enum tutti_err export_state(struct tutti_unit *unit, unsigned char **bytes, size_t *size)
{
    TRY(rest(unit));
    return tutti_instance_export(unit->instance, bytes, size);
}

static enum tutti_err set(struct tutti_unit *unit, const struct tutti_block *block)
{
    unit->counts.sets++;
    tutti_instance_hold(unit->instance);
    enum tutti_err err = tutti_instance_set(unit->instance, block->type, block->references, block->count, block->values,
                                            block->value_count);
    tutti_instance_release(unit->instance);
    return err;
}

static enum tutti_err get(struct tutti_unit *unit, struct tutti_block *block)
{
    unit->counts.gets++;
    tutti_instance_hold(unit->instance);
    enum tutti_err err = tutti_instance_get(unit->instance, block->type, block->references, block->count, block->values,
                                            block->value_count);
    tutti_instance_release(unit->instance);
    return err;
}

static enum tutti_err offer(struct tutti_unit *unit, const struct tutti_block *block, bool *refused)
{
    tutti_instance_hold(unit->instance);
    enum tutti_err err = tutti_instance_offer(unit->instance, block->type, block->references, block->count,
                                              block->values, block->value_count, refused);
    tutti_instance_release(unit->instance);
    return err;
}

static enum tutti_err ask(struct tutti_unit *unit, struct tutti_block *block, bool *refused)
{
    tutti_instance_hold(unit->instance);
    enum tutti_err err = tutti_instance_ask(unit->instance, block->type, block->references, block->count, block->values,
                                            block->value_count, refused);
    tutti_instance_release(unit->instance);
    return err;
}

static enum tutti_err set_input_derivatives(struct tutti_unit *unit, const uint32_t *references, const size_t *elements,
                                            size_t count, const int32_t *orders, const double *values)
{
    (void)references, (void)elements, (void)count, (void)orders, (void)values;
    return tutti_fail(TUTTI_ERR_UNSUPPORTED, "%s: a unit of Scheduled Execution takes no input derivatives",
                      unit->name);
}

static enum tutti_err get_output_derivatives(struct tutti_unit *unit, const uint32_t *references, size_t count,
                                             int32_t order, double *values)
{
    (void)references, (void)count, (void)order, (void)values;
    return tutti_fail(TUTTI_ERR_UNSUPPORTED, "%s: a unit of Scheduled Execution gives no output derivatives",
                      unit->name);
}

static enum tutti_err get_directional(struct tutti_unit *unit, const uint32_t *unknowns, size_t unknown_count,
                                      const uint32_t *knowns, size_t known_count, const double *seed,
                                      double *sensitivity)
{
    TRY(rest(unit));
    return tutti_unit_get_directional(unit, unit->instance, ((struct se *)unit)->options.log, unknowns, unknown_count,
                                      knowns, known_count, seed, known_count, sensitivity, unknown_count);
}

static enum tutti_err step(struct tutti_unit *unit, double t, double h, struct tutti_step *out)
{
    struct se *se = (struct se *)unit;
    unit->counts.do_steps++;
    se->t = t + h;
    *out = (struct tutti_step){.reached = t + h};
    return TUTTI_OK;
}

/* A partition that stands for those since the last one that was measured. */
static __attribute__((noinline)) enum tutti_err compute_measured(struct se *se, const struct tutti_partition *partition,
                                                                 struct tutti_modes_watch *watch, double t)
{
    static const double seconds_per_measurement = 20e-6; /* as for do-steps (common.c) */
    struct tutti_unit_counts *counts = &se->unit.counts;
    double before = tutti_clock_now();
    TRY(tutti_partition_compute(partition, watch, t));
    double seconds = tutti_clock_now() - before;
    counts->seconds += fmax(seconds, 0) * (double)(se->activations - se->measured);
    counts->timed = counts->do_steps;
    se->measured = se->activations;
    double gap = se->options.timing ? 1 : fmin(seconds_per_measurement / fmax(seconds, 1e-9), 1000);
    se->measure_at = se->activations + (gap > 1 ? (unsigned long)gap : 1);
    counts->time_next = counts->do_steps + (se->measure_at - se->activations);
    return TUTTI_OK;
}

static enum tutti_err activate(struct tutti_unit *unit, const struct tutti_partition *partition,
                               struct tutti_modes_watch *watch, double t)
{
    struct se *se = (struct se *)unit;
    unit->counts.gets += partition->reading_count;
    if (__builtin_expect(++se->activations >= se->measure_at, 0))
        return compute_measured(se, partition, watch, t);
    return tutti_partition_compute(partition, watch, t);
}

static void note_activation(struct tutti_unit *unit, const struct tutti_partition *partition, double seconds)
{
    struct se *se = (struct se *)unit;
    unit->counts.gets += partition->reading_count;
    unit->counts.seconds += seconds;
    se->measured = ++se->activations;
    se->measure_at = se->activations + 1;
}

/* There is no event mode (unit->has_events). */
static enum tutti_err enter_event(struct tutti_unit *unit)
{
    (void)unit;
    return TUTTI_OK;
}

static enum tutti_err settle(struct tutti_unit *unit, struct tutti_unit_event *event)
{
    (void)unit;
    *event = (struct tutti_unit_event){.next_event = INFINITY};
    return TUTTI_OK;
}

static enum tutti_err save(struct tutti_unit *unit, struct tutti_unit_saved **saved)
{
    TRY(rest(unit));
    if (!*saved)
        *saved = calloc(1, sizeof **saved);
    if (!*saved)
        return tutti_fail_memory();
    const struct se *se = (const struct se *)unit;
    (*saved)->t = se->t;
    (*saved)->activations = se->activations;
    (*saved)->has_fmu = se->saves;
    return se->saves ? tutti_instance_save(unit->instance, &(*saved)->fmu) : TUTTI_OK;
}

static enum tutti_err restore(struct tutti_unit *unit, const struct tutti_unit_saved *saved)
{
    struct se *se = (struct se *)unit;
    TRY(rest(unit));
    unit->counts.rollbacks++;
    if (!saved->has_fmu && se->activations != saved->activations)
        return tutti_fail(TUTTI_ERR_UNSUPPORTED,
                          "%s: the FMU cannot save its state (canGetAndSetFMUState), and does not come back to t = %s, "
                          "after which partitions were activated",
                          unit->name, TIME(saved->t));
    bool changed = saved->foreign || se->activations != saved->activations;
    se->t = saved->t;
    se->activations = se->measured = se->measure_at = saved->activations;
    return changed ? tutti_instance_restore(unit->instance, &saved->fmu) : TUTTI_OK;
}

static void discard(struct tutti_unit *unit, struct tutti_unit_saved *saved)
{
    if (saved)
        tutti_instance_discard_saved(unit->instance, &saved->fmu);
    free(saved);
}

static enum tutti_err pack(struct tutti_unit *unit, const struct tutti_unit_saved *saved, struct tutti_parcel *parcel)
{
    if (!saved->has_fmu)
        return tutti_fail(TUTTI_ERR_UNSUPPORTED, "%s: the FMU cannot save its state (canGetAndSetFMUState)",
                          unit->name);
    tutti_parcel_put_double(parcel, saved->t);
    tutti_parcel_put_u64(parcel, saved->activations);
    return tutti_instance_pack(unit->instance, &saved->fmu, parcel);
}

static enum tutti_err unpack(struct tutti_unit *unit, struct tutti_unparcel *in, struct tutti_unit_saved **saved)
{
    *saved = calloc(1, sizeof **saved);
    if (!*saved)
        return tutti_fail_memory();
    (*saved)->t = tutti_unparcel_double(in);
    (*saved)->activations = tutti_unparcel_u64(in);
    (*saved)->has_fmu = (*saved)->foreign = true;
    return tutti_instance_unpack(unit->instance, in, &(*saved)->fmu);
}

static enum tutti_err terminate(struct tutti_unit *unit)
{
    TRY(rest(unit));
    return tutti_instance_terminate(unit->instance);
}

const struct tutti_unit_kind tutti_unit_se = {
    .name = "se",
    .interface = TUTTI_SE,
    .size = sizeof(struct se),
    .start = start,
    .finish = finish,
    .set_up = set_up,
    .configure = configure,
    .enter_init = enter_init,
    .reset = reset,
    .exit_init = exit_init,
    .adopt = adopt,
    .export_state = export_state,
    .set = set,
    .get = get,
    .offer = offer,
    .ask = ask,
    .set_input_derivatives = set_input_derivatives,
    .get_output_derivatives = get_output_derivatives,
    .get_directional = get_directional,
    .step = step,
    .activate = activate,
    .note_activation = note_activation,
    .enter_event = enter_event,
    .settle = settle,
    .save = save,
    .restore = restore,
    .discard = discard,
    .pack = pack,
    .unpack = unpack,
    .terminate = terminate,
};
