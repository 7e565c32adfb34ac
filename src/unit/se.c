/* SPDX-License-Identifier: MIT */
/* Scheduled Execution: the FMU has model partitions, which its importer activates. Between two of them nothing happens in it, so that a step
 * is a move of the unit's time; partitions are activated where their clocks tick (sim/ticks.h). */
#include <math.h>
#include <stdlib.h>

#include "base/wall_clock.h"
#include "base/number.h"
#include "unit/unit.h"

struct se {
    struct tt_unit unit;
    struct tt_unit_options options;
    double t;
    unsigned long activations;
    bool saves;                         /* the FMU saves its state */
    unsigned long measured, measure_at; /* numbers of the last activation, and of the next one that is measured */
};

/* Between two partitions the FMU does not change: without a saved state it comes back as long as none was activated since. */
struct tt_unit_saved {
    struct tt_saved_state fmu;
    bool has_fmu, foreign; /* it is one of another process */
    double t;
    unsigned long activations;
};

static enum tutti_err se_clock_update(void *context, struct tt_instance *instance)
{
    struct se *se = context;
    (void)instance;
    return se->unit.ticking.update ? se->unit.ticking.update(se->unit.ticking.context) : TUTTI_OK;
}

static enum tutti_err se_start(struct tt_unit *unit, const struct tt_unit_options *options)
{
    struct se *se = (struct se *)unit;
    se->options = *options;
    struct tt_instance_options instance = {
        .name = options->name,
        .log = options->log,
        .logging_on = options->logging_on,
        .clock_update = se_clock_update,
        .clock_context = se,
    };
    se->saves = unit->can & TUTTI_CAN_STATE;
    unit->can |= TUTTI_CAN_STATE | TUTTI_CAN_VARIABLE_STEP;
    return tt_instance_new(&unit->instance, unit->fmu->libraries[TUTTI_SE], &instance);
}

static void se_finish(struct tt_unit *unit)
{
    if (unit->instance)
        tt_unit_report(unit, unit->instance, ((struct se *)unit)->options.log);
    tt_instance_free(unit->instance);
}

static enum tutti_err se_configure(struct tt_unit *unit, const struct tt_setting *settings, size_t count)
{
    return tt_unit_configure(unit, unit->instance, settings, count);
}

static enum tutti_err se_set_up(struct tt_unit *unit, const struct tt_experiment_setup *setup)
{
    ((struct se *)unit)->t = setup->start;
    return tt_instance_set_up(unit->instance, setup);
}

static enum tutti_err se_adopt_state(struct tt_unit *unit, const unsigned char *bytes, size_t size)
{
    return tt_unit_adopt(unit, unit->instance, ((struct se *)unit)->options.log, bytes, size);
}

static enum tutti_err se_wait_for_tasks(struct tt_unit *unit)
{
    return unit->ticking.rest ? unit->ticking.rest(unit->ticking.context) : TUTTI_OK;
}

static enum tutti_err se_export_state(struct tt_unit *unit, unsigned char **bytes, size_t *size)
{
    TRY(se_wait_for_tasks(unit));
    return tt_unit_default_export_state(unit, bytes, size);
}

static enum tutti_err se_set(struct tt_unit *unit, const struct tt_block *block)
{
    tt_instance_clocks_lock(unit->instance);
    enum tutti_err err = tt_unit_default_set(unit, block);
    tt_instance_clocks_unlock(unit->instance);
    return err;
}

static enum tutti_err se_get(struct tt_unit *unit, struct tt_block *block)
{
    tt_instance_clocks_lock(unit->instance);
    enum tutti_err err = tt_unit_default_get(unit, block);
    tt_instance_clocks_unlock(unit->instance);
    return err;
}

static enum tutti_err se_try_set(struct tt_unit *unit, const struct tt_block *block, bool *refused)
{
    tt_instance_clocks_lock(unit->instance);
    enum tutti_err err = tt_unit_default_try_set(unit, block, refused);
    tt_instance_clocks_unlock(unit->instance);
    return err;
}

static enum tutti_err se_try_get(struct tt_unit *unit, struct tt_block *block, bool *refused)
{
    tt_instance_clocks_lock(unit->instance);
    enum tutti_err err = tt_unit_default_try_get(unit, block, refused);
    tt_instance_clocks_unlock(unit->instance);
    return err;
}

static enum tutti_err se_set_input_derivatives(struct tt_unit *unit, const uint32_t *references, const size_t *elements,
                                               size_t count, const int32_t *orders, const double *values)
{
    (void)references, (void)elements, (void)count, (void)orders, (void)values;
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "%s: a unit of Scheduled Execution takes no input derivatives", unit->name);
}

static enum tutti_err se_get_output_derivatives(struct tt_unit *unit, const uint32_t *references, size_t count,
                                                int32_t order, double *values)
{
    (void)references, (void)count, (void)order, (void)values;
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "%s: a unit of Scheduled Execution gives no output derivatives", unit->name);
}

static enum tutti_err se_get_directional(struct tt_unit *unit, const uint32_t *unknowns, size_t unknown_count,
                                         const uint32_t *knowns, size_t known_count, const double *seed,
                                         double *sensitivity)
{
    TRY(se_wait_for_tasks(unit));
    return tt_unit_get_directional(unit, unit->instance, ((struct se *)unit)->options.log, unknowns, unknown_count,
                                   knowns, known_count, seed, known_count, sensitivity, unknown_count);
}

static enum tutti_err se_step(struct tt_unit *unit, double t, double h, struct tt_fmi_step *out)
{
    struct se *se = (struct se *)unit;
    unit->counts.do_steps++;
    se->t = t + h;
    *out = (struct tt_fmi_step){.reached = t + h};
    return TUTTI_OK;
}

/* A partition that stands for those since the last one that was measured. */
static __attribute__((noinline)) enum tutti_err se_compute_measured(struct se *se,
                                                                    const struct tt_model_partition *partition,
                                                                    struct tt_fmi_call_modes_watch *watch, double t)
{
    static const double seconds_per_measurement = 20e-6; /* as for do-steps (unit.c) */
    struct tt_unit_times *times = &se->unit.times;
    double before = tt_wall_clock_now();
    TRY(tt_instance_clocks_compute(partition, watch, t));
    double seconds = tt_wall_clock_now() - before;
    times->seconds += fmax(seconds, 0) * (double)(se->activations - se->measured);
    times->timed = se->unit.counts.do_steps;
    se->measured = se->activations;
    double gap = se->options.timing ? 1 : fmin(seconds_per_measurement / fmax(seconds, 1e-9), 1000);
    se->measure_at = se->activations + (gap > 1 ? (unsigned long)gap : 1);
    times->next = se->unit.counts.do_steps + (se->measure_at - se->activations);
    return TUTTI_OK;
}

static enum tutti_err se_activate(struct tt_unit *unit, const struct tt_model_partition *partition,
                                  struct tt_fmi_call_modes_watch *watch, double t)
{
    struct se *se = (struct se *)unit;
    unit->counts.gets += partition->reading_count;
    if (__builtin_expect(++se->activations >= se->measure_at, 0))
        return se_compute_measured(se, partition, watch, t);
    return tt_instance_clocks_compute(partition, watch, t);
}

static void se_record_activation(struct tt_unit *unit, const struct tt_model_partition *partition, double seconds)
{
    struct se *se = (struct se *)unit;
    unit->counts.gets += partition->reading_count;
    unit->times.seconds += seconds;
    se->measured = ++se->activations;
    se->measure_at = se->activations + 1;
}

static enum tutti_err se_enter_event(struct tt_unit *unit)
{
    (void)unit;
    return TUTTI_OK;
}

static enum tutti_err se_update_discrete(struct tt_unit *unit, struct tt_unit_event *event)
{
    (void)unit;
    *event = (struct tt_unit_event){.next_event = INFINITY};
    return TUTTI_OK;
}

static enum tutti_err se_save(struct tt_unit *unit, struct tt_unit_saved **saved)
{
    TRY(se_wait_for_tasks(unit));
    if (!*saved)
        *saved = calloc(1, sizeof **saved);
    if (!*saved)
        return tt_fail_memory();
    const struct se *se = (const struct se *)unit;
    (*saved)->t = se->t;
    (*saved)->activations = se->activations;
    (*saved)->has_fmu = se->saves;
    return se->saves ? tt_saved_state_save(unit->instance, &(*saved)->fmu) : TUTTI_OK;
}

static enum tutti_err se_restore(struct tt_unit *unit, const struct tt_unit_saved *saved)
{
    struct se *se = (struct se *)unit;
    TRY(se_wait_for_tasks(unit));
    unit->counts.rollbacks++;
    if (!saved->has_fmu && se->activations != saved->activations)
        return tt_fail(TUTTI_ERR_UNSUPPORTED,
                       "%s: the FMU cannot save its state (canGetAndSetFMUState), and does not come back to t = %s, "
                       "after which partitions were activated",
                       unit->name, TIME(saved->t));
    bool changed = saved->foreign || se->activations != saved->activations;
    se->t = saved->t;
    se->activations = se->measured = se->measure_at = saved->activations;
    return changed ? tt_saved_state_restore(unit->instance, &saved->fmu) : TUTTI_OK;
}

static void se_discard(struct tt_unit *unit, struct tt_unit_saved *saved)
{
    if (saved)
        tt_saved_state_discard(unit->instance, &saved->fmu);
    free(saved);
}

static enum tutti_err se_pack(struct tt_unit *unit, const struct tt_unit_saved *saved, struct tt_byte_writer *parcel)
{
    if (!saved->has_fmu)
        return tt_fail(TUTTI_ERR_UNSUPPORTED, "%s: the FMU cannot save its state (canGetAndSetFMUState)", unit->name);
    tt_bytes_put_double(parcel, saved->t);
    tt_bytes_put_u64(parcel, saved->activations);
    return tt_saved_state_pack(unit->instance, &saved->fmu, parcel);
}

static enum tutti_err se_unpack(struct tt_unit *unit, struct tt_byte_reader *in, struct tt_unit_saved **saved)
{
    *saved = calloc(1, sizeof **saved);
    if (!*saved)
        return tt_fail_memory();
    (*saved)->t = tt_bytes_get_double(in);
    (*saved)->activations = tt_bytes_get_u64(in);
    (*saved)->has_fmu = (*saved)->foreign = true;
    return tt_saved_state_unpack(unit->instance, in, &(*saved)->fmu);
}

static enum tutti_err se_terminate(struct tt_unit *unit)
{
    TRY(se_wait_for_tasks(unit));
    return tt_unit_default_terminate(unit);
}

const struct tt_unit_kind tt_unit_se = {
    .name = "se",
    .interface = TUTTI_SE,
    .size = sizeof(struct se),
    .start = se_start,
    .finish = se_finish,
    .set_up = se_set_up,
    .configure = se_configure,
    .enter_init = tt_unit_default_enter_init,
    .reset = tt_unit_default_reset,
    .exit_init = tt_unit_default_exit_init,
    .adopt = se_adopt_state,
    .export_state = se_export_state,
    .set = se_set,
    .get = se_get,
    .offer = se_try_set,
    .ask = se_try_get,
    .set_input_derivatives = se_set_input_derivatives,
    .get_output_derivatives = se_get_output_derivatives,
    .get_directional = se_get_directional,
    .step = se_step,
    .activate = se_activate,
    .note_activation = se_record_activation,
    .enter_event = se_enter_event,
    .settle = se_update_discrete,
    .save = se_save,
    .restore = se_restore,
    .discard = se_discard,
    .pack = se_pack,
    .unpack = se_unpack,
    .terminate = se_terminate,
};
