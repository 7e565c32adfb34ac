/* SPDX-License-Identifier: MIT */
/* Co-Simulation: the FMU brings its own solver; the unit brings order (fmu/fmi_state.h) and what one version lacks. */
#include <math.h>
#include <stdlib.h>

#include "base/wall_clock.h"
#include "unit/ramp.h"
#include "unit/replay.h"
#include "unit/stop_time.h"

/* One input at a time, as a rule. Before the first step, where nothing is lost by them. */
enum { MOST_DIRECTIONAL_TESTS = 8 };

struct cs {
    struct tt_unit unit;
    struct tt_unit_options options;
    double *moving;          /* values of the moving inputs, for the intermediate update; made with the first one */
    size_t moving_values[2]; /* of Float64 variables; of Float32 ones, which follow */
    int32_t *orders;         /* of output derivatives, for the call that asks for them */
    size_t order_count;
    double begun;           /* on the clock: a step that may be pending */
    struct tt_fresh *fresh; /* for tests of the FMU; NULL: none */
    bool noting;            /* a test is still pending */
    bool slopes_tested;
    struct tt_stop_time *stop_time;
};

struct tt_unit_saved {
    struct tt_saved_state fmu;
};

static enum tutti_err cs_prepare_moving(struct cs *cs)
{
    if (cs->moving)
        return TUTTI_OK;
    cs->options.moving_extents(cs->options.moving_context, &cs->moving_values[0], &cs->moving_values[1]);
    cs->moving = calloc(cs->moving_values[0] + cs->moving_values[1] + 1, sizeof *cs->moving);
    return cs->moving ? TUTTI_OK : tt_fail_memory();
}

static enum tutti_err cs_set_moving(struct cs *cs, struct tt_instance *instance)
{
    const struct tt_unit_options *options = &cs->options;
    const uint32_t *references[] = {options->moving, options->moving + options->moving_doubles};
    const size_t counts[] = {options->moving_doubles, options->moving_count - options->moving_doubles};
    const double *values = cs->moving;
    for (int narrow = 0; narrow < 2; narrow++) {
        cs->unit.counts.sets += counts[narrow] > 0;
        if (counts[narrow] > 0)
            TRY(tt_instance_set(instance, TUTTI_TYPE_FLOAT64, references[narrow], counts[narrow], values,
                                cs->moving_values[narrow]));
        values += cs->moving_values[narrow];
    }
    return TUTTI_OK;
}

/* FMI 3.0 requests inputs inside a step: passes the moving ones (I9: reads, which do not occur here, precede sets). */
static enum tutti_err cs_intermediate_update(void *context, struct tt_instance *instance,
                                             struct tt_intermediate_update *update)
{
    struct cs *cs = context;
    if (!update->set_requested || cs->options.moving_count == 0)
        return TUTTI_OK;
    TRY(cs_prepare_moving(cs));
    size_t values = cs->moving_values[0] + cs->moving_values[1];
    if (!tt_replay_read_moving(cs->unit.replay, cs->moving, values)) {
        cs->options.moving_sample(cs->options.moving_context, update->time, cs->moving);
        tt_replay_record_moving(cs->unit.replay, cs->moving, values);
    }
    return cs_set_moving(cs, instance);
}

static bool cs_takes_slopes(const struct cs *cs)
{
    return cs->unit.can & TUTTI_CAN_INPUT_DERIVATIVES;
}

static enum tutti_err cs_start(struct tt_unit *unit, const struct tt_unit_options *options)
{
    struct cs *cs = (struct cs *)unit;
    cs->options = *options;
    unit->uniform = !(unit->can & TUTTI_CAN_VARIABLE_STEP);
    unit->overlaps = (unit->can & TUTTI_CAN_RUN_ASYNCHRONOUSLY) && !unit->forked;
    if (unit->can & TUTTI_CAN_OUTPUT_DERIVATIVES)
        unit->output_order = (int)unit->fmu->desc->interfaces[TUTTI_CS].max_output_derivative_order;
    struct tt_instance_options instance = {
        .name = options->name,
        .log = options->log,
        .logging_on = options->logging_on,
        .event_mode = unit->can & TUTTI_CAN_EVENT_MODE,
        .forked = options->forked,
        .rejects = unit->rejects,
        .early_return = !unit->uniform, /* it would leave the grid, and could not come back */
        .intermediate = options->moving,
        .intermediate_count = options->moving_count,
        .intermediate_update = options->moving_count ? cs_intermediate_update : NULL,
        .intermediate_context = cs,
    };
    enum tutti_err err = tt_instance_new(&unit->instance, unit->fmu->libraries[TUTTI_CS], &instance);
    if (err == TUTTI_ERR_FMU && (unit->can & TUTTI_CAN_EVENT_MODE)) {
        /* Some FMUs claim event mode and refuse it. */
        instance.event_mode = false;
        err = tt_instance_new(&unit->instance, unit->fmu->libraries[TUTTI_CS], &instance);
        if (err == TUTTI_OK)
            tt_log(options->log, TUTTI_LOG_WARNING, unit->name,
                   "the FMU claims event mode but refuses it; going on without");
    }
    TRY(err);
    unit->has_events = tt_instance_uses_events(unit->instance);
    return TUTTI_OK;
}

static void cs_finish(struct tt_unit *unit)
{
    struct cs *cs = (struct cs *)unit;
    if (unit->instance)
        tt_unit_report(unit, unit->instance, cs->options.log);
    tt_instance_free(unit->instance);
    tt_stop_time_free(cs->stop_time);
    free(cs->fresh);
    free(cs->moving);
    free(cs->orders);
}

static enum tutti_err cs_configure(struct tt_unit *unit, const struct tt_setting *settings, size_t count)
{
    struct cs *cs = (struct cs *)unit;
    if (cs->fresh) {
        cs->fresh->settings = settings;
        cs->fresh->setting_count = count;
    }
    return tt_unit_configure(unit, unit->instance, settings, count);
}

static enum tutti_err cs_set_up(struct tt_unit *unit, const struct tt_experiment_setup *setup)
{
    struct cs *cs = (struct cs *)unit;
    tt_stop_time_free(cs->stop_time);
    cs->stop_time = NULL;
    free(cs->fresh);
    TRY(tt_fresh_new(&cs->fresh, unit, &cs->options, setup));
    TRY(tt_stop_time_new(&cs->stop_time, unit, cs->fresh));
    cs->noting = cs->stop_time || (cs->fresh && cs_takes_slopes(cs));
    return tt_instance_set_up(unit->instance, setup);
}

static enum tutti_err cs_exit_init(struct tt_unit *unit)
{
    struct cs *cs = (struct cs *)unit;
    TRY(tt_instance_exit_initialization(unit->instance));
    return tt_stop_time_start(cs->stop_time);
}

static enum tutti_err cs_adopt_state(struct tt_unit *unit, const unsigned char *bytes, size_t size)
{
    struct cs *cs = (struct cs *)unit;
    TRY(tt_unit_adopt(unit, unit->instance, cs->options.log, bytes, size));
    return unit->has_events ? tt_instance_enter_event(unit->instance) : TUTTI_OK;
}

static enum tutti_err cs_set(struct tt_unit *unit, const struct tt_block *block)
{
    if (((struct cs *)unit)->noting)
        tt_fresh_note(((struct cs *)unit)->fresh, block);
    return tt_unit_default_set(unit, block);
}

static void refuse_slopes(struct cs *cs, const char *why)
{
    cs->unit.can &= ~(uint32_t)TUTTI_CAN_INPUT_DERIVATIVES;
    tt_log(cs->options.log, TUTTI_LOG_WARNING, cs->unit.name,
           "%s; it claims to take derivatives of inputs (canInterpolateInputs): inputs are held in each step "
           "from now on. Files and signals are read at the end of a step; --input-at begin, middle or end "
           "says otherwise, and saves the attempt",
           why);
}

/* Tested once, at the first derivatives that are not 0: a variable that shows that they are ignored; TUTTI_NONE. */
static uint32_t find_ignored(struct cs *cs, const uint32_t *references, size_t count, const int32_t *orders,
                             const double *values)
{
    uint32_t first[TUTTI_MOST_NOTED];
    double slopes[TUTTI_MOST_NOTED];
    struct tt_ramp ramp = {cs->fresh, first, slopes, 0, cs->unit.step_size};
    bool moves = false;
    for (size_t i = 0; i < count && ramp.count < TUTTI_MOST_NOTED; i++) {
        if (orders[i] != 1)
            continue;
        first[ramp.count] = references[i];
        slopes[ramp.count++] = values[i];
        moves = moves || values[i] != 0;
    }
    if (!moves || !(ramp.h > 0))
        return TUTTI_NONE;
    cs->slopes_tested = true;
    return tt_ramp_find_ignored(&ramp);
}

static enum tutti_err cs_set_input_derivatives(struct tt_unit *unit, const uint32_t *references, const size_t *elements,
                                               size_t count, const int32_t *orders, const double *values)
{
    struct cs *cs = (struct cs *)unit;
    struct tt_text text = {0};
    (void)elements; /* versions that have such derivatives have no arrays */
    if (!cs_takes_slopes(cs))
        return TUTTI_OK;
    uint32_t variable = cs->noting && !cs->slopes_tested ? find_ignored(cs, references, count, orders, values)
                                                         : TUTTI_NONE;
    if (variable != TUTTI_NONE) {
        tt_text_printf(&text, "the FMU ignores derivatives of inputs: '%s' is the same with and without them",
                       unit->fmu->desc->vars[variable].name);
        refuse_slopes(cs, text.failed ? "the FMU ignores derivatives of inputs" : text.text);
        tt_text_fini(&text);
        return TUTTI_OK;
    }
    enum tutti_err err = tt_instance_set_input_derivatives(unit->instance, references, count, orders, values);
    if (err != TUTTI_ERR_UNSUPPORTED)
        return err;
    refuse_slopes(cs, tutti_err_message());
    return TUTTI_OK;
}

static enum tutti_err cs_get_output_derivatives(struct tt_unit *unit, const uint32_t *references, size_t count,
                                                int32_t order, double *values)
{
    struct cs *cs = (struct cs *)unit;
    if (order > unit->output_order)
        return tt_fail(TUTTI_ERR_UNSUPPORTED, "%s: the FMU gives output derivatives up to order %d, not %d", unit->name,
                       unit->output_order, (int)order);
    if (count > cs->order_count) {
        int32_t *more = realloc(cs->orders, count * sizeof *more);
        if (!more)
            return tt_fail_memory();
        cs->orders = more;
        cs->order_count = count;
    }
    for (size_t i = 0; i < count; i++)
        cs->orders[i] = order;
    unit->counts.gets++;
    return tt_instance_get_output_derivatives(unit->instance, references, count, cs->orders, values);
}

static enum tutti_err cs_get_directional(struct tt_unit *unit, const uint32_t *unknowns, size_t unknown_count,
                                         const uint32_t *knowns, size_t known_count, const double *seed,
                                         double *sensitivity)
{
    struct cs *cs = (struct cs *)unit;
    TRY(tt_unit_get_directional(unit, unit->instance, cs->options.log, unknowns, unknown_count, knowns, known_count,
                                seed, known_count, sensitivity, unknown_count));
    bool allowed = tt_instance_state(unit->instance) == TUTTI_STATE_INITIALIZATION; /* to set and read */
    if (!allowed || unit->directional_tests >= MOST_DIRECTIONAL_TESTS)
        return TUTTI_OK;
    TRY(tt_unit_test_directional(unit, unit->instance, cs->options.log, unknowns, unknown_count, knowns, known_count,
                                 seed, sensitivity));
    return unit->can & TUTTI_CAN_DIRECTIONAL
               ? TUTTI_OK
               : tt_fail(TUTTI_ERR_UNSUPPORTED, "%s: the FMU's directional derivatives are wrong", unit->name);
}

/* The noSetFMUStatePriorToCurrentPoint of a step from t. Going back to the start of the current step is not "prior to the
 * current communication point". Some FMUs do not advance if it is false, so it is false only for rollbacks beyond that
 * start. An FMU that is rolled back by forking needs no saved data. */
static bool cs_forgets_past(const struct cs *cs, double t)
{
    return cs->unit.unsteady || cs->unit.forked || !(cs->unit.back_to < t);
}

/* The first steps are among those that are measured, which no fast path makes. */
static enum tutti_err cs_check_stop_time(struct cs *cs, double t, const struct tt_fmi_step *out)
{
    if (cs->stop_time) {
        TRY(tt_stop_time_check_step(cs->stop_time, t, out));
        if (tt_stop_time_is_open(cs->stop_time)) {
            cs->unit.times.next = cs->unit.counts.do_steps + 1;
            return TUTTI_OK;
        }
        tt_stop_time_free(cs->stop_time);
        cs->stop_time = NULL;
    }
    cs->noting = cs->noting && cs_takes_slopes(cs) && !cs->slopes_tested;
    return TUTTI_OK;
}

/* One measurement stands for many steps: it is made without what reading the clock takes. */
static __attribute__((noinline)) enum tutti_err cs_step_timed(struct cs *cs, double t, double h,
                                                              struct tt_fmi_step *out)
{
    bool all = cs->options.timing;
    double idle = all ? 0 : tt_wall_clock_now(), before = tt_wall_clock_now();
    enum tutti_err err = tt_instance_do_step(cs->unit.instance, t, h, cs_forgets_past(cs, t), out, NULL);
    double took = tt_wall_clock_now() - before;
    tt_unit_record_time(&cs->unit, all, all ? took : took - (before - idle));
    return err ? err : cs_check_stop_time(cs, t, out);
}

static enum tutti_err cs_step(struct tt_unit *unit, double t, double h, struct tt_fmi_step *out)
{
    struct cs *cs = (struct cs *)unit;
    if (__builtin_expect(++unit->counts.do_steps >= unit->times.next, 0))
        return cs_step_timed(cs, t, h, out);
    return tt_instance_do_step(unit->instance, t, h, cs_forgets_past(cs, t), out, NULL);
}

static enum tutti_err cs_begin_step(struct tt_unit *unit, double t, double h, struct tt_fmi_step *out, bool *pending)
{
    struct cs *cs = (struct cs *)unit;
    unit->counts.do_steps++;
    cs->begun = tt_wall_clock_now();
    *pending = false;
    TRY(tt_instance_do_step(unit->instance, t, h, cs_forgets_past(cs, t), out, pending));
    return *pending ? TUTTI_OK : tt_stop_time_check_step(cs->stop_time, t, out);
}

static enum tutti_err cs_end_step(struct tt_unit *unit, double t, double h, struct tt_fmi_step *out)
{
    struct cs *cs = (struct cs *)unit;
    TRY(tt_instance_end_step(unit->instance, t, h, out));
    tt_unit_record_time(unit, cs->options.timing, tt_wall_clock_now() - cs->begun);
    return cs_check_stop_time(cs, t, out);
}

static struct tt_batched_call_values batched_call_values(const struct tt_block *block)
{
    return block ? (struct tt_batched_call_values){block->references, block->values, (uint32_t)block->count,
                                                   (uint32_t)block->value_count}
                 : (struct tt_batched_call_values){0};
}

static bool cs_make_batched_call(struct tt_unit *unit, const struct tt_block *inputs, const struct tt_block *outputs,
                                 struct tt_batched_call *triple)
{
    struct tt_batched_call_values in = batched_call_values(inputs), out = batched_call_values(outputs);
    return tt_batched_call_make(triple, unit->instance, &in, &out);
}

static enum tutti_err cs_enter_event(struct tt_unit *unit)
{
    return tt_instance_enter_event(unit->instance);
}

static enum tutti_err cs_update_discrete(struct tt_unit *unit, struct tt_unit_event *event)
{
    struct tt_discrete_update discrete;
    TRY(tt_unit_update_discrete(unit, unit->instance, &discrete));
    event->terminate = discrete.terminate;
    event->next_event = discrete.has_next_event ? discrete.next_event : INFINITY;
    return discrete.terminate ? TUTTI_OK : tt_instance_enter_step(unit->instance);
}

static enum tutti_err cs_save(struct tt_unit *unit, struct tt_unit_saved **saved)
{
    if (!*saved)
        *saved = calloc(1, sizeof **saved);
    return *saved ? tt_saved_state_save(unit->instance, &(*saved)->fmu) : tt_fail_memory();
}

static enum tutti_err cs_restore(struct tt_unit *unit, const struct tt_unit_saved *saved)
{
    unit->counts.rollbacks++;
    return tt_saved_state_restore(unit->instance, &saved->fmu);
}

static void cs_discard(struct tt_unit *unit, struct tt_unit_saved *saved)
{
    if (saved)
        tt_saved_state_discard(unit->instance, &saved->fmu);
    free(saved);
}

static enum tutti_err cs_pack(struct tt_unit *unit, const struct tt_unit_saved *saved, struct tt_byte_writer *parcel)
{
    return tt_saved_state_pack(unit->instance, &saved->fmu, parcel);
}

static enum tutti_err cs_unpack(struct tt_unit *unit, struct tt_byte_reader *in, struct tt_unit_saved **saved)
{
    *saved = calloc(1, sizeof **saved);
    return *saved ? tt_saved_state_unpack(unit->instance, in, &(*saved)->fmu) : tt_fail_memory();
}

const struct tt_unit_kind tt_unit_cs = {
    .name = "cs",
    .interface = TUTTI_CS,
    .size = sizeof(struct cs),
    .start = cs_start,
    .finish = cs_finish,
    .set_up = cs_set_up,
    .configure = cs_configure,
    .enter_init = tt_unit_default_enter_init,
    .reset = tt_unit_default_reset,
    .exit_init = cs_exit_init,
    .adopt = cs_adopt_state,
    .export_state = tt_unit_default_export_state,
    .set = cs_set,
    .get = tt_unit_default_get,
    .offer = tt_unit_default_try_set,
    .ask = tt_unit_default_try_get,
    .set_input_derivatives = cs_set_input_derivatives,
    .get_output_derivatives = cs_get_output_derivatives,
    .get_directional = cs_get_directional,
    .step = cs_step,
    .begin_step = cs_begin_step,
    .end_step = cs_end_step,
    .make_triple = cs_make_batched_call,
    .enter_event = cs_enter_event,
    .settle = cs_update_discrete,
    .save = cs_save,
    .restore = cs_restore,
    .discard = cs_discard,
    .pack = cs_pack,
    .unpack = cs_unpack,
    .terminate = tt_unit_default_terminate,
};
