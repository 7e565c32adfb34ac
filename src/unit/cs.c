/* SPDX-License-Identifier: MIT */
/* Co-Simulation: the FMU brings its own solver; the unit brings order (fmi/state.h) and what one version lacks. */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/number.h"
#include "unit/unit.h"

struct cs {
    struct tutti_unit unit;
    struct tutti_instance *instance;
    struct tutti_unit_options options;
    double *moving;  /* values of the moving inputs, for the intermediate update */
    int32_t *orders; /* all 1: slopes are first derivatives */
    size_t order_count;
};

/* An FMU may need some rounds to settle; one that needs this many never will. */
enum { MOST_EVENT_ROUNDS = 1000 };

/* FMI 3.0 asks for inputs inside a step: hand it the moving ones (I9: reads, of which there are none, before sets). */
static enum tutti_err intermediate_update(void *context, struct tutti_instance *instance,
                                          struct tutti_intermediate *update)
{
    struct cs *cs = context;
    if (!update->set_requested || cs->options.moving_count == 0)
        return TUTTI_OK;
    cs->options.moving_sample(cs->options.moving_context, update->time, cs->moving);
    cs->unit.counts.sets++;
    return tutti_instance_set(instance, TUTTI_TYPE_FLOAT64, cs->options.moving, cs->options.moving_count, cs->moving,
                              cs->options.moving_count);
}

static enum tutti_err start(struct tutti_unit *unit, const struct tutti_unit_options *options)
{
    struct cs *cs = (struct cs *)unit;
    cs->options = *options;
    unit->uniform = !(unit->can & TUTTI_CAN_VARIABLE_STEP);
    cs->moving = calloc(options->moving_count + 1, sizeof *cs->moving);
    if (!cs->moving)
        return tutti_fail_memory();
    struct tutti_instance_options instance = {
        .name = options->name,
        .log = options->log,
        .logging_on = options->logging_on,
        .event_mode = true,
        .early_return = !unit->uniform, /* it would leave the grid, and could not come back */
        .intermediate = options->moving,
        .intermediate_count = options->moving_count,
        .intermediate_update = options->moving_count ? intermediate_update : NULL,
        .intermediate_context = cs,
    };
    enum tutti_err err = tutti_instance_new(&cs->instance, unit->fmu->libraries[TUTTI_CS], &instance);
    if (err == TUTTI_ERR_FMU && (unit->can & TUTTI_CAN_EVENT_MODE)) {
        /* Some FMUs claim event mode and refuse it. */
        instance.event_mode = false;
        err = tutti_instance_new(&cs->instance, unit->fmu->libraries[TUTTI_CS], &instance);
        if (err == TUTTI_OK)
            tutti_log_printf(options->log, TUTTI_LOG_WARNING, unit->name,
                             "the FMU claims event mode but refuses it; going on without");
    }
    TRY(err);
    unit->has_events = tutti_instance_uses_events(cs->instance);
    return TUTTI_OK;
}

static void finish(struct tutti_unit *unit)
{
    struct cs *cs = (struct cs *)unit;
    if (cs->instance) {
        unsigned long dropped = tutti_instance_dropped_messages(cs->instance);
        unsigned long warnings = tutti_instance_warnings(cs->instance);
        if (dropped > 0)
            tutti_log_printf(cs->options.log, TUTTI_LOG_INFO, unit->name, "%lu repeated messages were not shown",
                             dropped);
        if (warnings > 1)
            tutti_log_printf(cs->options.log, TUTTI_LOG_WARNING, unit->name, "the FMU returned Warning %lu times",
                             warnings);
    }
    tutti_instance_free(cs->instance);
    free(cs->moving);
    free(cs->orders);
}

/* Asks the FMU for the extents of its arrays, which one structural parameter may have changed in several at once. */
static enum tutti_err read_sizes(struct cs *cs)
{
    const struct tutti_desc *desc = cs->unit.fmu->desc;
    for (uint32_t i = 0; i < desc->var_count; i++)
        for (unsigned d = 0; d < desc->vars[i].dimension_count; d++) {
            uint32_t extent = desc->vars[i].dimensions[d].variable;
            if (extent == TUTTI_NONE)
                continue;
            const struct tutti_var *var = &desc->vars[extent];
            if (!cs->unit.sizes)
                cs->unit.sizes = calloc(desc->var_count, sizeof *cs->unit.sizes);
            if (!cs->unit.sizes)
                return tutti_fail_memory();
            if (var->type != TUTTI_TYPE_UINT64)
                return tutti_fail(TUTTI_ERR_FORMAT, "%s: the extent of '%s' is the variable '%s', which is no UInt64",
                                  cs->unit.fmu->path, desc->vars[i].name, var->name);
            TRY(tutti_instance_get(cs->instance, TUTTI_TYPE_UINT64, &var->reference, 1, &cs->unit.sizes[extent], 1));
        }
    return TUTTI_OK;
}

/* I4: structural parameters in configuration mode, and only they. */
static enum tutti_err configure(struct tutti_unit *unit, const struct tutti_setting *settings, size_t count)
{
    struct cs *cs = (struct cs *)unit;
    bool entered = false;
    for (size_t i = 0; i < count; i++) {
        const struct tutti_var *var = &unit->fmu->desc->vars[settings[i].variable];
        if (var->causality != TUTTI_STRUCTURAL_PARAMETER)
            continue;
        if (!entered)
            TRY(tutti_instance_enter_configuration(cs->instance));
        entered = true;
        unit->counts.sets++;
        TRY(tutti_instance_set(cs->instance, var->type, &var->reference, 1, settings[i].values, 1));
    }
    if (entered)
        TRY(tutti_instance_exit_configuration(cs->instance));
    return unit->fmu->desc->fmi == 3 ? read_sizes(cs) : TUTTI_OK;
}

static enum tutti_err enter_init(struct tutti_unit *unit, const struct tutti_experiment_setup *setup)
{
    return tutti_instance_enter_initialization(((struct cs *)unit)->instance, setup);
}

static enum tutti_err exit_init(struct tutti_unit *unit)
{
    unit->counts.init_evaluations++;
    return tutti_instance_exit_initialization(((struct cs *)unit)->instance);
}

static enum tutti_err set(struct tutti_unit *unit, const struct tutti_block *block)
{
    unit->counts.sets++;
    return tutti_instance_set(((struct cs *)unit)->instance, block->type, block->references, block->count,
                              block->values, block->value_count);
}

static enum tutti_err get(struct tutti_unit *unit, struct tutti_block *block)
{
    unit->counts.gets++;
    return tutti_instance_get(((struct cs *)unit)->instance, block->type, block->references, block->count,
                              block->values, block->value_count);
}

static enum tutti_err set_slopes(struct tutti_unit *unit, const uint32_t *references, size_t count,
                                 const double *slopes)
{
    struct cs *cs = (struct cs *)unit;
    if (count > cs->order_count) {
        int32_t *orders = realloc(cs->orders, count * sizeof *orders);
        if (!orders)
            return tutti_fail_memory();
        for (size_t i = 0; i < count; i++)
            orders[i] = 1;
        cs->orders = orders;
        cs->order_count = count;
    }
    return tutti_instance_set_input_derivatives(cs->instance, references, count, cs->orders, slopes);
}

static enum tutti_err step(struct tutti_unit *unit, double t, double h, struct tutti_step *out)
{
    struct cs *cs = (struct cs *)unit;
    unit->counts.do_steps++;
    if (__builtin_expect(!cs->options.timing, 1))
        return tutti_instance_do_step(cs->instance, t, h, true, out);
    double before = tutti_clock_now();
    enum tutti_err err = tutti_instance_do_step(cs->instance, t, h, true, out);
    unit->counts.seconds += tutti_clock_now() - before;
    return err;
}

static enum tutti_err enter_event(struct tutti_unit *unit)
{
    return tutti_instance_enter_event(((struct cs *)unit)->instance);
}

static enum tutti_err settle(struct tutti_unit *unit, struct tutti_unit_event *event)
{
    struct cs *cs = (struct cs *)unit;
    struct tutti_discrete discrete = {.again = true};
    for (int round = 0; discrete.again && !discrete.terminate; round++) {
        if (round == MOST_EVENT_ROUNDS)
            return tutti_fail(TUTTI_ERR_FMU, "%s: the discrete states do not settle after %d rounds at t = %s",
                              unit->name, MOST_EVENT_ROUNDS, NUMBER(tutti_instance_time(cs->instance)));
        TRY(tutti_instance_update_discrete(cs->instance, &discrete));
    }
    event->terminate = discrete.terminate;
    event->next_event = discrete.has_next_event ? discrete.next_event : INFINITY;
    return discrete.terminate ? TUTTI_OK : tutti_instance_enter_step(cs->instance);
}

static enum tutti_err terminate(struct tutti_unit *unit)
{
    return tutti_instance_terminate(((struct cs *)unit)->instance);
}

const struct tutti_unit_kind tutti_unit_cs = {
    .name = "cs",
    .interface = TUTTI_CS,
    .size = sizeof(struct cs),
    .start = start,
    .finish = finish,
    .configure = configure,
    .enter_init = enter_init,
    .exit_init = exit_init,
    .set = set,
    .get = get,
    .set_slopes = set_slopes,
    .step = step,
    .enter_event = enter_event,
    .settle = settle,
    .terminate = terminate,
};
