/* SPDX-License-Identifier: MIT */
#include "unit/me_sensitivity.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/number.h"
#include "unit/me_events.h"
#include "unit/me_linear.h"
#include "unit/me_model.h"

/* d, relative to the parameter; and the distance of differences along S, relative to the states. */
static const double relative = 1e-7;
/* A twin whose indicator has not left its domain where it should have, by rounding, advances slightly, four times as
 * far at each try. That delays its event, an error of this delay over d. */
enum { BEYOND_TRIES = 16 };

struct parameter_twin {
    uint32_t variable, reference;
    double d;
    struct tt_instance *instance;
    double next_event;      /* that it has announced */
    double e;               /* of the current event */
    double event_time;      /* time of its last event: FMI permits no earlier time */
    double *placed, *after; /* its states before and after it; n each */
};

struct tt_me_sensitivity {
    const struct tt_fmu *fmu;
    size_t count;
    struct parameter_twin *twins;
    size_t states; /* n: scalar ones */
    uint32_t *outputs;
    size_t output_count; /* scalar continuous Float64 outputs that are not states */
    char **names;
    struct tutti_extra extra;
    struct tt_pattern blocks; /* of df/dx, once per parameter */

    /* While a unit runs: */
    struct tt_me_model *model;
    struct tt_me_events *events;
    bool in_event;
    double *memory; /* memory of the arrays below: n each, z one per indicator, y one per output */
    double *before, *slopes_before, *here, *there, *point;
    double *z, *z_twin, *y, *y_twin;
};

/* ---- what is asked for ---- */

static enum tutti_err sensitivity_check_parameter(const struct tt_fmu *fmu, const char *name, uint32_t *variable)
{
    const struct tt_description *desc = fmu->desc;
    struct tt_text_nearest nearest = {.wanted = name};
    *variable = TUTTI_NONE;
    for (uint32_t i = 0; i < desc->var_count; i++) {
        if (strcmp(desc->vars[i].name, name) == 0)
            *variable = i;
        if (desc->vars[i].causality == TUTTI_PARAMETER && desc->vars[i].type == TUTTI_TYPE_FLOAT64)
            tt_text_nearest_offer(&nearest, desc->vars[i].name);
    }
    if (*variable == TUTTI_NONE)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--sensitivity: %s has no parameter '%s'%s", fmu->path, name,
                       tt_text_suggest(nearest.best).text);
    const struct tt_var *var = &desc->vars[*variable];
    if (var->causality != TUTTI_PARAMETER || var->variability == TUTTI_CONSTANT)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "--sensitivity: '%s' is no parameter that can be set but a variable of causality %s, %s", name,
                       tt_description_causality_name(var->causality),
                       tt_description_variability_name(var->variability));
    if (var->type != TUTTI_TYPE_FLOAT64 || var->dimension_count > 0)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--sensitivity: '%s' is no scalar Float64 parameter", name);
    return TUTTI_OK;
}

/* The end of the first name of a list. Names may have commas in brackets: "A[1,2]". */
static const char *end_of_name(const char *at)
{
    int depth = 0;
    for (; *at && (*at != ',' || depth > 0); at++)
        depth += (*at == '[') - (*at == ']' && depth > 0);
    return at;
}

static enum tutti_err add_parameters(struct tt_me_sensitivity *own, const char *text)
{
    const char *end;
    for (const char *at = text; at; at = *end ? end + 1 : NULL) {
        end = end_of_name(at);
        char name[512];
        snprintf(name, sizeof name, "%.*s", (int)(end - at < 500 ? end - at : 500), at);
        struct parameter_twin *twins = realloc(own->twins, (own->count + 1) * sizeof *twins);
        if (!twins)
            return tt_fail_memory();
        own->twins = twins;
        struct parameter_twin *twin = &twins[own->count];
        *twin = (struct parameter_twin){.next_event = INFINITY, .event_time = -INFINITY};
        TRY(sensitivity_check_parameter(own->fmu, name, &twin->variable));
        for (size_t i = 0; i < own->count; i++)
            if (own->twins[i].variable == twin->variable)
                return tt_fail(TUTTI_ERR_ARGUMENT, "--sensitivity: '%s' is named twice", name);
        twin->reference = own->fmu->desc->vars[twin->variable].reference;
        own->count++;
    }
    return TUTTI_OK;
}

/* Finds states by the model structure, and outputs that are not states. */
static enum tutti_err sensitivity_find_columns(struct tt_me_sensitivity *own)
{
    const struct tt_description *desc = own->fmu->desc;
    own->states = desc->derivatives.count;
    own->outputs = calloc(desc->var_count + 1, sizeof *own->outputs);
    if (!own->outputs)
        return tt_fail_memory();
    for (uint32_t k = 0; k < desc->derivatives.count; k++) {
        uint32_t state = desc->vars[desc->derivatives.items[k].variable].derivative_of;
        if (state == TUTTI_NONE || desc->vars[state].dimension_count > 0)
            return tt_fail(TUTTI_ERR_UNSUPPORTED, "%s: --sensitivity needs states that are named, and are no arrays",
                           own->fmu->path);
    }
    for (uint32_t i = 0; i < desc->var_count; i++) {
        const struct tt_var *var = &desc->vars[i];
        bool state = false;
        for (uint32_t k = 0; k < desc->derivatives.count; k++)
            state = state || desc->vars[desc->derivatives.items[k].variable].derivative_of == i;
        if (!state && var->causality == TUTTI_OUTPUT && var->type == TUTTI_TYPE_FLOAT64 && var->dimension_count == 0 &&
            var->variability == TUTTI_CONTINUOUS)
            own->outputs[own->output_count++] = i;
    }
    return TUTTI_OK;
}

static enum tutti_err sensitivity_make_names(struct tt_me_sensitivity *own)
{
    const struct tt_description *desc = own->fmu->desc;
    size_t each = own->states + own->output_count;
    own->names = calloc(own->count * each + 1, sizeof *own->names);
    if (!own->names)
        return tt_fail_memory();
    for (size_t i = 0; i < own->count; i++)
        for (size_t k = 0; k < each; k++) {
            uint32_t variable = k < own->states ? desc->vars[desc->derivatives.items[k].variable].derivative_of
                                                : own->outputs[k - own->states];
            const char *of = desc->vars[variable].name, *by = desc->vars[own->twins[i].variable].name;
            size_t size = strlen(of) + strlen(by) + sizeof "d()/d()";
            char *name = own->names[i * each + k] = malloc(size);
            if (!name)
                return tt_fail_memory();
            snprintf(name, size, "d(%s)/d(%s)", of, by);
        }
    return TUTTI_OK;
}

/* ---- the equations ---- */

/* *lost: the FMU discards the point. */
static enum tutti_err place_twin(const struct tt_me_sensitivity *own, const struct parameter_twin *twin, double t,
                                 const double *x, bool *lost)
{
    TRY(tt_instance_set_time(twin->instance, fmax(t, twin->event_time), lost));
    TRY(tt_instance_set_states(twin->instance, x, own->states, lost));
    return tt_me_inputs_write_instance(&own->model->inputs, twin->instance, t);
}

/* df/dx s at (t, x), where f is own->here, into `out`, by a difference. */
static enum tutti_err difference_along_solution(struct tt_me_sensitivity *own, double t, const double *x,
                                                const double *s, double *out)
{
    struct tt_me_model *model = own->model;
    double largest = 0;
    for (size_t i = 0; i < own->states; i++)
        largest = fmax(largest, fabs(s[i]) / fmax(fabs(x[i]), model->nominals[i]));
    if (largest == 0) {
        memset(out, 0, own->states * sizeof *out);
        return TUTTI_OK;
    }
    enum tt_eval eval = TUTTI_EVAL_NO_VALUE;
    if (model->ode.directional) {
        model->counts.directional++;
        eval = model->ode.directional(model, t, x, s, out);
    }
    double distance = relative / largest;
    if (eval == TUTTI_EVAL_NO_VALUE) {
        for (size_t i = 0; i < own->states; i++)
            own->point[i] = x[i] + distance * s[i];
        model->counts.rhs++;
        eval = model->ode.rhs(model, t, own->point, out);
        for (size_t i = 0; i < own->states; i++)
            out[i] = eval == TUTTI_EVAL_OK ? (out[i] - own->here[i]) / distance : NAN;
    }
    return eval == TUTTI_EVAL_FAILED ? model->ode.err : TUTTI_OK;
}

/* The FMU is at (t, x). Undefined values are NaN: the solver tries a different point. */
static enum tutti_err sensitivity_rhs(void *context, struct tutti_model *unused, double t, const double *p, double *dp)
{
    struct tt_me_sensitivity *own = context;
    struct tt_me_model *model = own->model;
    size_t n = own->states;
    const double *x = model->here;
    bool lost = false;
    (void)unused;
    TRY(tt_instance_get_derivatives(model->instance, own->here, n, &lost));
    for (size_t i = 0; i < own->count && !lost; i++) {
        TRY(place_twin(own, &own->twins[i], t, x, &lost));
        model->counts.rhs++;
        if (!lost)
            TRY(tt_instance_get_derivatives(own->twins[i].instance, own->there, n, &lost));
        TRY(difference_along_solution(own, t, x, p + i * n, dp + i * n));
        for (size_t k = 0; k < n && !lost; k++)
            dp[i * n + k] += (own->there[k] - own->here[k]) / own->twins[i].d;
    }
    for (size_t k = 0; k < own->count * n && lost; k++)
        dp[k] = NAN;
    return TUTTI_OK;
}

static enum tutti_err sensitivity_start(void *context, struct tutti_model *unused, double t, double *p)
{
    struct tt_me_sensitivity *own = context;
    struct tt_me_model *model = own->model;
    size_t n = own->states;
    (void)unused, (void)t;
    for (size_t i = 0; i < own->count; i++)
        for (size_t k = 0; k < n; k++) {
            p[i * n + k] = (own->twins[i].after[k] - model->here[k]) / own->twins[i].d;
            model->nominals[n + i * n + k] = model->nominals[k] * relative / own->twins[i].d; /* per size of p */
        }
    return TUTTI_OK;
}

static enum tutti_err sensitivity_structure(void *context, struct tutti_model *model, const int **starts,
                                            const int **rows)
{
    struct tt_me_sensitivity *own = context;
    struct tutti_state_space space;
    size_t n = own->states;
    TRY(tutti_model_linearize(model, 0, &space));
    size_t entries = (size_t)space.a.starts[n];
    free(own->blocks.starts);
    free(own->blocks.rows);
    own->blocks.starts = calloc(own->count * n + 1, sizeof *own->blocks.starts);
    own->blocks.rows = calloc(own->count * entries + 1, sizeof *own->blocks.rows);
    if (!own->blocks.starts || !own->blocks.rows)
        return tt_fail_memory();
    for (size_t i = 0; i < own->count; i++) {
        for (size_t c = 0; c < n; c++)
            own->blocks.starts[i * n + c + 1] = (int32_t)(i * entries) + space.a.starts[c + 1];
        for (size_t k = 0; k < entries; k++)
            own->blocks.rows[i * entries + k] = (int32_t)(i * n) + space.a.rows[k];
    }
    *starts = own->blocks.starts;
    *rows = own->blocks.rows;
    return TUTTI_OK;
}

static enum tutti_err sensitivity_jacobian(void *context, struct tutti_model *model, double t, const double *p,
                                           double *values)
{
    struct tt_me_sensitivity *own = context;
    struct tutti_state_space space;
    (void)t, (void)p;
    TRY(tutti_model_linearize(model, TUTTI_WANT_A, &space));
    size_t entries = (size_t)space.a.starts[own->states];
    for (size_t i = 0; i < own->count; i++)
        memcpy(values + i * entries, space.a.values, entries * sizeof *values);
    return TUTTI_OK;
}

static enum tutti_err sensitivity_read_outputs(const struct tt_me_sensitivity *own, struct tt_instance *instance,
                                               double *values)
{
    for (size_t k = 0; k < own->output_count; k++) {
        uint32_t reference = own->fmu->desc->vars[own->outputs[k]].reference;
        TRY(tt_instance_get(instance, TUTTI_TYPE_FLOAT64, &reference, 1, &values[k], 1));
    }
    return TUTTI_OK;
}

static enum tutti_err sensitivity_output(void *context, struct tutti_model *unused, double t, const double *p,
                                         double *values)
{
    struct tt_me_sensitivity *own = context;
    size_t n = own->states, each = n + own->output_count;
    (void)unused;
    if (own->output_count > 0)
        TRY(sensitivity_read_outputs(own, own->model->instance, own->y));
    for (size_t i = 0; i < own->count; i++) {
        memcpy(values + i * each, p + i * n, n * sizeof *values);
        if (own->output_count == 0)
            continue;
        bool lost = false;
        for (size_t k = 0; k < n; k++)
            own->point[k] = own->model->here[k] + own->twins[i].d * p[i * n + k];
        TRY(place_twin(own, &own->twins[i], t, own->point, &lost));
        TRY(sensitivity_read_outputs(own, own->twins[i].instance, own->y_twin));
        for (size_t k = 0; k < own->output_count; k++)
            values[i * each + n + k] = lost ? NAN : (own->y_twin[k] - own->y[k]) / own->twins[i].d;
    }
    return TUTTI_OK;
}

enum tutti_err tt_me_sensitivity_new(struct tt_me_sensitivity **out, const struct tt_fmu *fmu, const char *const *texts,
                                     size_t count)
{
    struct tt_me_sensitivity *own = calloc(1, sizeof *own);
    if (!own)
        return tt_fail_memory();
    own->fmu = fmu;
    enum tutti_err err = TUTTI_OK;
    if (fmu->desc->fmi == 1)
        err =
            tt_fail(TUTTI_ERR_UNSUPPORTED, "%s: --sensitivity needs FMI 2.0 or 3.0, which name the states", fmu->path);
    for (size_t i = 0; i < count && !err; i++)
        err = add_parameters(own, texts[i]);
    if (!err)
        err = sensitivity_find_columns(own);
    if (!err)
        err = sensitivity_make_names(own);
    if (err) {
        tt_me_sensitivity_free(own);
        return err;
    }
    own->extra = (struct tutti_extra){.count = own->count * own->states,
                                      .context = own,
                                      .start = sensitivity_start,
                                      .rhs = sensitivity_rhs,
                                      .structure = sensitivity_structure,
                                      .jacobian = sensitivity_jacobian,
                                      .output_count = own->count * (own->states + own->output_count),
                                      .output_names = (const char *const *)own->names,
                                      .output = sensitivity_output};
    *out = own;
    return TUTTI_OK;
}

void tt_me_sensitivity_free(struct tt_me_sensitivity *own)
{
    if (!own)
        return;
    tt_me_sensitivity_finish(own);
    for (size_t i = 0; own->names && i < own->count * (own->states + own->output_count); i++)
        free(own->names[i]);
    free(own->names);
    free(own->outputs);
    free(own->twins);
    free(own->blocks.starts);
    free(own->blocks.rows);
    free(own);
}

const struct tutti_extra *tt_me_sensitivity_extra(const struct tt_me_sensitivity *own)
{
    return &own->extra;
}

/* ---- twins ---- */

enum tutti_err tt_me_sensitivity_start(struct tt_me_sensitivity *own, struct tt_me_model *model,
                                       struct tt_me_events *events, const struct tt_instance_options *options)
{
    if (!own)
        return TUTTI_OK;
    own->model = model;
    own->events = events;
    struct tt_instance_options twin = *options;
    twin.forked = false;
    for (size_t i = 0; i < own->count; i++)
        TRY(tt_fail_context(tt_instance_new(&own->twins[i].instance, own->fmu->libraries[TUTTI_ME], &twin),
                            "--sensitivity needs another instance of the FMU for each parameter"));
    return TUTTI_OK;
}

void tt_me_sensitivity_finish(struct tt_me_sensitivity *own)
{
    if (!own)
        return;
    for (size_t i = 0; i < own->count; i++) {
        tt_instance_free(own->twins[i].instance);
        free(own->twins[i].placed);
        own->twins[i].instance = NULL;
        own->twins[i].placed = own->twins[i].after = NULL;
    }
    free(own->memory);
    own->memory = NULL;
    own->model = NULL;
}

#define EACH_TWIN(own, twin)                                                                                           \
    for (struct parameter_twin *twin = (own) ? (own)->twins : NULL; twin && twin < (own)->twins + (own)->count; twin++)

enum tutti_err tt_me_sensitivity_configure(struct tt_me_sensitivity *own, const struct tt_setting *settings,
                                           size_t count)
{
    EACH_TWIN(own, twin)
    TRY(tt_unit_configure(own->model->unit, twin->instance, settings, count));
    return TUTTI_OK;
}

enum tutti_err tt_me_sensitivity_set_up(struct tt_me_sensitivity *own, const struct tt_experiment_setup *setup)
{
    EACH_TWIN(own, twin)
    TRY(tt_instance_set_up(twin->instance, setup));
    return TUTTI_OK;
}

enum tutti_err tt_me_sensitivity_set(struct tt_me_sensitivity *own, const struct tt_block *block)
{
    EACH_TWIN(own, twin)
    TRY(tt_instance_set(twin->instance, block->type, block->references, block->count, block->values,
                        block->value_count));
    return TUTTI_OK;
}

enum tutti_err tt_me_sensitivity_try_set(struct tt_me_sensitivity *own, const struct tt_block *block, bool *refused)
{
    EACH_TWIN(own, twin)
    TRY(tt_instance_try_set(twin->instance, block->type, block->references, block->count, block->values,
                            block->value_count, refused));
    return TUTTI_OK;
}

enum tutti_err tt_me_sensitivity_reset(struct tt_me_sensitivity *own)
{
    EACH_TWIN(own, twin)
    TRY(tt_instance_reset(twin->instance));
    return TUTTI_OK;
}

enum tutti_err tt_me_sensitivity_enter_init(struct tt_me_sensitivity *own)
{
    EACH_TWIN(own, twin)
    {
        const struct tt_var *var = &own->fmu->desc->vars[twin->variable];
        double value = 0, moved;
        TRY(tt_instance_enter_initialization(twin->instance, NULL));
        TRY(tt_instance_get(own->model->instance, TUTTI_TYPE_FLOAT64, &twin->reference, 1, &value, 1));
        moved = value + relative * (value != 0 ? fabs(value) : 1);
        if (var->bounds && moved > ((const struct tt_bounds *)var->bounds)->max)
            moved = value - (moved - value);
        twin->d = moved - value;
        TRY(tt_fail_context(tt_instance_set(twin->instance, TUTTI_TYPE_FLOAT64, &twin->reference, 1, &moved, 1),
                            "--sensitivity: parameter '%s' cannot be set", var->name));
    }
    return TUTTI_OK;
}

enum tutti_err tt_me_sensitivity_exit_init(struct tt_me_sensitivity *own)
{
    if (!own)
        return TUTTI_OK;
    size_t n = own->states, indicators = own->events->count;
    if (own->model->states != n)
        return tt_fail(TUTTI_ERR_FMU, "%s: %zu states, but the description names %zu", own->fmu->path,
                       own->model->states, n);
    own->memory = calloc(5 * n + 2 * indicators + 2 * own->output_count + 1, sizeof *own->memory);
    if (!own->memory)
        return tt_fail_memory();
    own->before = own->memory;
    own->slopes_before = own->before + n;
    own->here = own->slopes_before + n;
    own->there = own->here + n;
    own->point = own->there + n;
    own->z = own->point + n;
    own->z_twin = own->z + indicators;
    own->y = own->z_twin + indicators;
    own->y_twin = own->y + own->output_count;
    EACH_TWIN(own, twin)
    {
        TRY(tt_instance_exit_initialization(twin->instance));
        twin->placed = calloc(2 * n + 1, sizeof *twin->placed);
        if (!twin->placed)
            return tt_fail_memory();
        twin->after = twin->placed + n;
    }
    own->in_event = true;
    return TUTTI_OK;
}

enum tutti_err tt_me_sensitivity_complete(struct tt_me_sensitivity *own, double t, const double *x)
{
    bool lost = false, event, terminate;
    EACH_TWIN(own, twin)
    {
        TRY(place_twin(own, twin, t, x, &lost));
        TRY(tt_instance_completed_step(twin->instance, true, &event, &terminate));
    }
    return TUTTI_OK;
}

/* Reads the indicator of a twin at time t + e of its solution, which begins at x + d S with slope f-. */
static enum tutti_err read_twin_indicator(struct tt_me_sensitivity *own, const struct parameter_twin *twin,
                                          const double *s, double t, double e, size_t indicator, double *z)
{
    bool lost = false;
    for (size_t k = 0; k < own->states; k++)
        twin->placed[k] = own->before[k] + twin->d * s[k] + e * own->slopes_before[k];
    TRY(place_twin(own, twin, t + e, twin->placed, &lost));
    TRY(tt_instance_get_indicators(twin->instance, own->z_twin, own->events->count, &lost));
    *z = lost ? NAN : own->z_twin[indicator];
    return TUTTI_OK;
}

/* e: when the twin's indicator is what that of the FMU is, and a bit more, so that it has left its domain. */
static enum tutti_err find_twin_crossing(struct tt_me_sensitivity *own, struct parameter_twin *twin, const double *s,
                                         double t, size_t indicator)
{
    double wanted = own->z[indicator], span = own->model->setup.stop - own->model->setup.start, z0, z1, e = 0;
    double probe = relative * span;
    TRY(read_twin_indicator(own, twin, s, t, 0, indicator, &z0));
    TRY(read_twin_indicator(own, twin, s, t, probe, indicator, &z1));
    double slope = (z1 - z0) / probe;
    if (!(fabs(slope) > 0) || !isfinite(slope))
        return tt_fail(
            TUTTI_ERR_SOLVER,
            "%s: the event at t = %s has no sensitivity: its indicator %zu does not cross 0 there but touches it",
            own->model->unit->name, TIME(t), indicator + 1);
    e = (wanted - z0) / slope;
    TRY(read_twin_indicator(own, twin, s, t, e, indicator, &z1));
    e += (wanted - z1) / slope;
    double more = 0, least = 2 * DBL_EPSILON * fmax(fabs(t), 1e-3 * span);
    for (int tries = 0; tries < BEYOND_TRIES; tries++) {
        if (tries > 0)
            more = more > 0 ? 4 * more : least;
        TRY(read_twin_indicator(own, twin, s, t, e + more, indicator, &z1));
        if (own->events->positive[indicator] != (z1 > 0))
            break;
    }
    twin->e = e + more;
    return TUTTI_OK;
}

enum tutti_err tt_me_sensitivity_enter_event(struct tt_me_sensitivity *own, double t, const double *x, size_t indicator)
{
    if (!own || own->in_event)
        return TUTTI_OK;
    struct tt_me_model *model = own->model;
    size_t n = own->states;
    bool lost = false;
    own->in_event = true;
    memcpy(own->before, x, n * sizeof *x);
    TRY(tt_instance_get_derivatives(model->instance, own->slopes_before, n, &lost));
    if (indicator != SIZE_MAX)
        TRY(tt_instance_get_indicators(model->instance, own->z, own->events->count, &lost));
    if (lost)
        return tt_fail(TUTTI_ERR_FMU, "%s: the FMU discards the point of the event at t = %s", model->unit->name,
                       TIME(t));
    EACH_TWIN(own, twin)
    {
        const double *s = x + n + (size_t)(twin - own->twins) * n;
        double next = model->calendar.next_event;
        twin->e = 0;
        if (indicator != SIZE_MAX)
            TRY(find_twin_crossing(own, twin, s, t, indicator));
        else if (next < INFINITY && tt_time_same(next, t, model->setup.stop - model->setup.start) &&
                 twin->next_event < INFINITY)
            twin->e = twin->next_event - next;
        for (size_t k = 0; k < n; k++)
            twin->placed[k] = x[k] + twin->d * s[k] + twin->e * own->slopes_before[k];
        TRY(place_twin(own, twin, t + twin->e, twin->placed, &lost));
        twin->event_time = fmax(t + twin->e, twin->event_time);
        TRY(tt_instance_enter_event(twin->instance));
    }
    return TUTTI_OK;
}

enum tutti_err tt_me_sensitivity_leave_event(struct tt_me_sensitivity *own, double t, double *x, bool first,
                                             bool *changed)
{
    if (!own || !own->in_event)
        return TUTTI_OK;
    struct tt_me_model *model = own->model;
    size_t n = own->states;
    own->in_event = false;
    TRY(tt_me_model_place(model, t, x, NULL));
    bool lost = false;
    TRY(tt_instance_get_derivatives(model->instance, own->here, n, &lost));
    EACH_TWIN(own, twin)
    {
        struct tt_discrete_update discrete;
        TRY(tt_unit_update_discrete(model->unit, twin->instance, &discrete));
        twin->next_event = discrete.has_next_event ? discrete.next_event : INFINITY;
        TRY(tt_instance_get_states(twin->instance, twin->after, n));
        TRY(tt_instance_enter_continuous(twin->instance));
        double *s = x + n + (size_t)(twin - own->twins) * n;
        for (size_t k = 0; k < n && !first; k++) {
            double now = s[k] + (own->slopes_before[k] - own->here[k]) * (twin->e / twin->d) +
                         ((twin->after[k] - twin->placed[k]) - (x[k] - own->before[k])) / twin->d;
            *changed = *changed || now != s[k];
            s[k] = now;
        }
    }
    return TUTTI_OK;
}
