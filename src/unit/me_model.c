/* SPDX-License-Identifier: MIT */
#include "unit/me_model.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "base/time.h"
#include "base/vector.h"

enum tutti_err tt_me_model_place(struct tt_me_model *model, double t, const double *x, bool *discarded)
{
    bool refused = false;
    if (t < model->calendar.event_time &&
        tt_time_same(t, model->calendar.event_time, model->setup.stop - model->setup.start))
        t = model->calendar.event_time;
    model->placements++;
    tt_me_model_invalidate(model);
    model->here_time = t;
    model->here = x;
    TRY(tt_instance_set_time(model->instance, t, &refused));
    if (model->states > 0)
        TRY(tt_instance_set_states(model->instance, x, model->states, &refused));
    if (model->inputs.moving_count > 0)
        TRY(tt_me_inputs_apply(&model->inputs, t));
    if (discarded)
        *discarded = *discarded || refused;
    else if (refused)
        return tt_fail(TUTTI_ERR_FMU,
                       "%s (%s): the FMU discards the states at t = %s, which solver %s had reached; "
                       "check inputs and parameters there",
                       model->unit->name, model->unit->fmu->path, TIME(t), model->solver_name);
    return TUTTI_OK;
}

/* ---- reading ---- */

enum tutti_err tt_me_model_compute(struct tt_me_model *model)
{
    bool discarded = false;
    if (!model->moved || tt_instance_state(model->instance) != TUTTI_STATE_CONTINUOUS)
        return TUTTI_OK;
    model->moved = false;
    if (model->states == 0)
        return model->indicators == 0
                   ? TUTTI_OK
                   : tt_instance_get_indicators(model->instance, model->computed, model->indicators, &discarded);
    TRY(tt_instance_get_derivatives(model->instance, model->computed, model->states, &discarded));
    model->is_computed = !discarded && model->here;
    for (size_t i = 0; i < model->states; i++)
        model->is_computed = model->is_computed && isfinite(model->computed[i]);
    if (model->is_computed)
        memcpy(model->computed_at, model->here, model->states * sizeof *model->here);
    return TUTTI_OK;
}

static enum tutti_err me_model_read_block(const struct tt_me_model *model, const struct tt_block *block)
{
    return tt_instance_get(model->instance, block->type, block->references, block->count, block->values,
                           block->value_count);
}

/* Reads before and after the derivatives are computed. */
static enum tutti_err test_output_lag(struct tt_me_model *model, const struct tt_block *block)
{
    size_t bytes = block->value_count * sizeof(double);
    double *before = malloc(bytes + 1);
    if (!before)
        return tt_fail_memory();
    enum tutti_err err = me_model_read_block(model, block);
    if (!err) {
        memcpy(before, block->values, bytes);
        err = tt_me_model_compute(model);
    }
    if (!err)
        err = me_model_read_block(model, block);
    model->lags = !err && memcmp(before, block->values, bytes) != 0;
    model->lag_tests++;
    free(before);
    return err;
}

enum tutti_err tt_me_model_get(struct tt_me_model *model, const struct tt_block *block, bool beside)
{
    if (!model->moved || tt_instance_state(model->instance) != TUTTI_STATE_CONTINUOUS)
        return me_model_read_block(model, block);
    if (beside && !model->lags && model->lag_tests >= ME_MOST_LAG_TESTS)
        return me_model_read_block(model, block);
    if (beside && !model->lags && block->type == TUTTI_TYPE_FLOAT64)
        return test_output_lag(model, block);
    TRY(tt_me_model_compute(model));
    return me_model_read_block(model, block);
}

/* ---- what the states are called ---- */

/* FMI 2.0 and 3.0: the order of the derivatives in the model structure is that of the states. */
static enum tutti_err states_from_structure(struct tt_me_model *model)
{
    const struct tt_description *desc = model->unit->fmu->desc;
    struct tt_me_axis axis = {0};
    enum tutti_err err = tt_me_model_axis_init(&axis, desc->derivatives.count);
    for (uint32_t k = 0; k < desc->derivatives.count && !err; k++) {
        uint32_t state = desc->vars[desc->derivatives.items[k].variable].derivative_of;
        size_t extent = 0;
        if (state == TUTTI_NONE)
            break; /* `tutti check` reports it; the vector still works, without names */
        err = tt_unit_extent(model->unit, state, &extent);
        if (!err)
            tt_me_model_axis_add(&axis, desc->vars[state].reference, state, extent);
        model->derivatives[k] = desc->vars[desc->derivatives.items[k].variable].reference;
    }
    if (!err && axis.count == desc->derivatives.count && axis.size == model->states)
        model->variables = axis;
    else
        tt_me_model_axis_fini(&axis);
    return err;
}

static uint32_t variable_with(const struct tt_description *desc, uint32_t reference)
{
    for (uint32_t i = 0; i < desc->var_count; i++)
        if (desc->vars[i].reference == reference && desc->vars[i].type == TUTTI_TYPE_FLOAT64 && !desc->vars[i].alias)
            return i;
    return TUTTI_NONE;
}

/* FMI 1.0: the FMU itself reports them. */
static enum tutti_err states_from_fmu(struct tt_me_model *model)
{
    uint32_t *references = calloc(model->states, sizeof *references);
    if (!references)
        return tt_fail_memory();
    enum tutti_err err = tt_me_model_axis_init(&model->variables, model->states);
    if (!err)
        err = tt_instance_get_state_references(model->instance, references, model->states);
    for (size_t k = 0; k < model->states && !err; k++)
        tt_me_model_axis_add(&model->variables, references[k], variable_with(model->unit->fmu->desc, references[k]), 1);
    free(references);
    if (err == TUTTI_ERR_UNSUPPORTED) { /* states without names, then */
        tt_me_model_axis_fini(&model->variables);
        err = TUTTI_OK;
    }
    return err;
}

const char *tt_me_model_state_name(void *context, size_t i)
{
    struct tt_me_model *model = context;
    if (i >= model->states)
        snprintf(model->name, sizeof model->name, "extra equation %zu", i - model->states + 1);
    else
        tt_me_model_axis_name(&model->variables, model->unit, i, "state", model->name, sizeof model->name);
    return model->name;
}

enum tutti_err tt_me_model_pattern(struct tt_me_model *model, const struct tt_me_axis *columns,
                                   struct tt_pattern *pattern, bool *known)
{
    const struct tt_unknowns *derivatives = &model->unit->fmu->desc->derivatives;
    *known = false;
    for (uint32_t k = 0; k < derivatives->count && model->variables.count == derivatives->count; k++)
        *known = *known || derivatives->items[k].has_dependencies;
    if (!*known)
        return TUTTI_OK;
    const struct tt_unknown **unknowns = calloc(derivatives->count, sizeof *unknowns);
    if (!unknowns)
        return tt_fail_memory();
    for (uint32_t k = 0; k < derivatives->count; k++)
        unknowns[k] = &derivatives->items[k];
    enum tutti_err err = tt_me_model_axis_pattern(model->unit, &model->variables, unknowns, columns, pattern);
    free(unknowns);
    return err;
}

/* ---- the FMU as an initial value problem ---- */

static enum tt_eval me_model_fail_no_value(struct tt_me_model *model, double t, size_t state)
{
    model->missed = true;
    model->bad_state = state;
    model->bad_time = t;
    return TUTTI_EVAL_NO_VALUE;
}

static enum tt_eval me_model_fail_error(struct tt_me_model *model, enum tutti_err err)
{
    model->ode.err = err;
    return TUTTI_EVAL_FAILED;
}

static enum tt_eval me_model_rhs(void *context, double t, const double *x, double *dx)
{
    struct tt_me_model *model = context;
    bool discarded = false;
    /* Checked here, as one step of a solver may be any number of evaluations. */
    if (__builtin_expect(model->options->interrupt && *model->options->interrupt, 0))
        return me_model_fail_error(
            model, tt_fail(TUTTI_ERR_INTERRUPTED,
                           "interrupted at t = %s, in a step of the solver; everything recorded is kept", TIME(t)));
    /* Those of a point at which outputs were read are known. */
    if (model->is_computed && t == model->here_time && memcmp(x, model->computed_at, model->states * sizeof *x) == 0) {
        memcpy(dx, model->computed, model->states * sizeof *dx);
        return TUTTI_EVAL_OK;
    }
    enum tutti_err err = tt_me_model_place(model, t, x, &discarded);
    if (!err && !discarded)
        err = tt_instance_get_derivatives(model->instance, dx, model->states, &discarded);
    model->moved = false;
    if (__builtin_expect(err != TUTTI_OK, 0))
        return me_model_fail_error(model, err);
    if (__builtin_expect(discarded, 0)) {
        model->bad_error = tt_instance_refused(model->instance);
        return me_model_fail_no_value(model, t, SIZE_MAX);
    }
    for (size_t i = 0; i < model->states; i++)
        if (__builtin_expect(!isfinite(dx[i]), 0))
            return me_model_fail_no_value(model, t, i);
    return TUTTI_EVAL_OK;
}

/* From here on Jacobians are made of differences. */
static enum tt_eval disable_directional(struct tt_me_model *model)
{
    model->ode.directional = NULL;
    return TUTTI_EVAL_NO_VALUE;
}

/* J seed at the FMU's current point. UNSUPPORTED if the FMU does not provide it after all. */
static enum tutti_err derivative_along(struct tt_me_model *model, const double *seed, double *out)
{
    const struct tt_me_axis *states = &model->variables;
    return tt_unit_get_directional(model->unit, model->instance, model->options->log, model->derivatives, states->count,
                                   states->references, states->count, seed, model->states, out, model->states);
}

static enum tt_eval difference_along(struct tt_me_model *model, double t, const double *x, const double *seed,
                                     double distance, double *beside, double *slopes)
{
    for (size_t i = 0; i < model->states; i++)
        beside[i] = x[i] + distance * seed[i];
    return me_model_rhs(model, t, beside, slopes);
}

/* Compares all columns at once, by numbers that do not cancel, with differences over a wide distance, because iterating
 * FMUs are accurate only to their own tolerance. These evaluations are not counted as the solver's. */
static enum tt_eval test_jacobian_directional(struct tt_me_model *model, double t, const double *x, double *vectors)
{
    const double distance = 1e-4;
    size_t n = model->states, worst = n;
    double *seed = vectors, *along = seed + n, *point = along + n, *here = point + n, *ahead = here + n,
           *behind = ahead + n;
    for (size_t i = 0; i < n; i++)
        seed[i] = (i % 2 ? -1 : 1) * fmax(fabs(x[i]), model->nominals[i]) * (0.5 + 0.5 / (double)(1 + i % 7));
    enum tt_eval eval = difference_along(model, t, x, seed, distance, point, ahead);
    if (eval == TUTTI_EVAL_OK)
        eval = difference_along(model, t, x, seed, -distance, point, behind);
    if (eval == TUTTI_EVAL_OK)
        eval = difference_along(model, t, x, seed, 0, point, here);
    if (eval != TUTTI_EVAL_OK) /* test it later; a permanent failure will recur */
        return eval == TUTTI_EVAL_FAILED ? eval : TUTTI_EVAL_OK;
    enum tutti_err err = derivative_along(model, seed, along);
    if (err)
        return err == TUTTI_ERR_UNSUPPORTED ? disable_directional(model) : me_model_fail_error(model, err);
    for (size_t i = n; i-- > 0;)
        if (distance * fabs(along[i]) > 1e-12 * fabs(here[i]) &&
            tt_unit_differences_contradict(along[i], (ahead[i] - here[i]) / distance, (here[i] - behind[i]) / distance))
            worst = i;
    if (worst == n)
        return TUTTI_EVAL_OK;
    char why[512];
    snprintf(
        why, sizeof why,
        "the FMU's directional derivatives are wrong: at t = %s that of the derivative of '%s' is %.6g, and %.6g by "
        "differences",
        TIME(t), tt_me_model_state_name(model, worst), along[worst], (ahead[worst] - behind[worst]) / (2 * distance));
    tt_unit_disable_directional(model->unit, model->options->log, why);
    return disable_directional(model);
}

static enum tt_eval test_jacobian_once(struct tt_me_model *model, double t, const double *x)
{
    if (model->jacobian_tested)
        return TUTTI_EVAL_OK;
    double *vectors = malloc(6 * model->states * sizeof *vectors);
    if (!vectors)
        return me_model_fail_error(model, tt_fail_memory());
    model->jacobian_tested = true;
    enum tt_eval eval = test_jacobian_directional(model, t, x, vectors);
    free(vectors);
    return eval;
}

enum tutti_err tt_me_model_test_directional(struct tt_me_model *model)
{
    const double *x = model->here;
    double t = model->here_time;
    if (model->jacobian_tested || model->states == 0 || !x) /* NULL: extra equations call it before the first point */
        return TUTTI_OK;
    if (test_jacobian_once(model, t, x) == TUTTI_EVAL_FAILED)
        return model->ode.err;
    return tt_me_model_place(model, t, x, NULL);
}

/* Columns of one Jacobian come one after another for the same point: the FMU is moved there once. */
static enum tt_eval jacobian_directional(void *context, double t, const double *x, const double *seed, double *out)
{
    struct tt_me_model *model = context;
    size_t bytes = model->states * sizeof *x;
    bool discarded = false;
    enum tutti_err err = TUTTI_OK;
    enum tt_eval eval = test_jacobian_once(model, t, x);
    if (eval != TUTTI_EVAL_OK)
        return eval;
    if (model->seen != model->placements || t != model->seen_time || memcmp(x, model->seen_states, bytes) != 0) {
        err = tt_me_model_place(model, t, x, &discarded);
        model->seen = model->placements;
        model->seen_time = t;
        memcpy(model->seen_states, x, bytes);
    }
    if (!err && !discarded)
        err = derivative_along(model, seed, out);
    if (err)
        return err == TUTTI_ERR_UNSUPPORTED ? disable_directional(model) : me_model_fail_error(model, err);
    return discarded ? me_model_fail_no_value(model, t, SIZE_MAX) : TUTTI_EVAL_OK;
}

enum tutti_err tt_me_model_read_nominals(struct tt_me_model *model, bool *changed)
{
    if (model->states > 0)
        TRY(tt_instance_get_nominals(model->instance, model->scratch, model->states));
    for (size_t i = 0; i < model->states; i++) {
        double nominal = fabs(model->scratch[i]);
        nominal = nominal > 0 && isfinite(nominal) ? nominal : 1;
        if (model->scales && model->scales[i] > 0)
            nominal = model->scales[i];
        *changed = *changed || nominal != model->nominals[i];
        model->nominals[i] = nominal;
    }
    return TUTTI_OK;
}

/* A state is measured by this part of the largest one at least: what is smaller beside that may be noise. */
static const double LEAST_SIZE = 1e-4;
/* Values below this count as 0 in any unit of measure; solvers square values that they divide by it. */
static const double NOTHING = 1e-100;

/* A state of 0 becomes as large as its derivative makes it in this part of the run. */
static const double EARLY = 0.01;

static enum tutti_err estimate_state_sizes(struct tt_me_model *model, double t, const double *x)
{
    bool unknown = false;
    for (size_t i = 0; i < model->states; i++)
        unknown = unknown || (model->largest[i] == 0 && !model->declared[i]);
    double span = model->setup.has_stop ? model->setup.stop - model->setup.start : 0;
    if (!unknown || !(span > 0))
        return TUTTI_OK;
    model->counts.rhs++;
    enum tt_eval eval = model->ode.rhs(model, t, x, model->scratch);
    for (size_t i = 0; i < model->states && eval == TUTTI_EVAL_OK; i++)
        if (model->largest[i] == 0 && isfinite(model->scratch[i]))
            model->largest[i] = fabs(model->scratch[i]) * EARLY * span;
    return eval == TUTTI_EVAL_FAILED ? model->ode.err : TUTTI_OK;
}

enum tutti_err tt_me_model_size_states(struct tt_me_model *model, double t, const double *x)
{
    double largest = 0, rtol = model->ode.rtol, atol = model->ode.atol;

    /* A nominal value of 1 that is not in the description is the default, and says nothing of the state. */
    const struct tt_me_axis *axis = &model->variables;
    const struct tt_description *desc = model->unit->fmu->desc;
    for (size_t i = 0; i < model->states; i++)
        model->declared[i] = model->nominals[i] != 1 || (model->scales && model->scales[i] > 0);
    for (size_t k = 0; k < axis->count; k++) {
        const struct tt_bounds *bounds = axis->indices[k] == TUTTI_NONE ? NULL : desc->vars[axis->indices[k]].bounds;
        for (size_t i = axis->starts[k]; bounds && bounds->has_nominal && i < axis->starts[k + 1]; i++)
            model->declared[i] = true;
    }

    memcpy(model->sizes, model->nominals, (model->states + model->extra) * sizeof *model->sizes);
    for (size_t i = 0; i < model->states; i++) {
        if (isfinite(x[i]))
            model->largest[i] = fmax(model->largest[i], fabs(x[i]));
    }
    if (!model->options->integration.by_size)
        return TUTTI_OK;
    TRY(estimate_state_sizes(model, t, x));
    for (size_t i = 0; i < model->states; i++)
        largest = fmax(largest, model->largest[i]);
    for (size_t i = 0; i < model->states; i++)
        if (model->largest[i] > 0 && !model->declared[i])
            model->sizes[i] = fmin(1, rtol * fmax(fmax(model->largest[i], LEAST_SIZE * largest), NOTHING) / atol);
    return TUTTI_OK;
}

static enum tutti_err fail_no_such_state(const struct tt_me_model *model, const struct tt_state_tolerance *tolerance)
{
    struct tt_text_nearest nearest = {.wanted = tolerance->given};
    const struct tt_description *desc = model->unit->fmu->desc;
    for (size_t k = 0; k < model->variables.count; k++)
        if (model->variables.indices[k] != TUTTI_NONE)
            tt_text_nearest_offer(&nearest, desc->vars[model->variables.indices[k]].name);
    return tt_fail(TUTTI_ERR_ARGUMENT, "--atol %s: this is no continuous state of %s (%s)%s", tolerance->given,
                   model->unit->name, model->unit->fmu->path, tt_text_suggest(nearest.best).text);
}

static enum tutti_err apply_state_tolerances(struct tt_me_model *model)
{
    const struct tt_integration *integration = &model->options->integration;
    const struct tt_me_axis *states = &model->variables;
    if (integration->state_tolerance_count == 0)
        return TUTTI_OK;
    model->scales = calloc(model->states + 1, sizeof *model->scales);
    if (!model->scales)
        return tt_fail_memory();
    for (size_t i = 0; i < integration->state_tolerance_count; i++) {
        const struct tt_state_tolerance *tolerance = &integration->state_tolerances[i];
        size_t k = 0;
        while (k < states->count && states->references[k] != tolerance->reference)
            k++;
        if (k == states->count)
            return fail_no_such_state(model, tolerance);
        for (size_t s = states->starts[k]; s < states->starts[k + 1]; s++)
            model->scales[s] = tolerance->scale;
    }
    return TUTTI_OK;
}

static enum tutti_err me_model_allocate(struct tt_me_model *model, size_t count)
{
    model->nominals = calloc(count + 1, sizeof *model->nominals);
    model->sizes = calloc(count + 1, sizeof *model->sizes);
    model->largest = calloc(model->states + 1, sizeof *model->largest);
    model->declared = calloc(model->states + 1, sizeof *model->declared);
    model->scratch = calloc(model->states + 1, sizeof *model->scratch);
    model->seen_states = calloc(model->states + 1, sizeof *model->seen_states);
    model->computed = calloc(model->states + model->indicators + 1, sizeof *model->computed);
    model->computed_at = calloc(model->states + 1, sizeof *model->computed_at);
    bool all = model->nominals && model->sizes && model->largest && model->declared && model->scratch &&
               model->seen_states && model->computed && model->computed_at;
    for (size_t i = 0; all && i < count; i++)
        model->nominals[i] = model->sizes[i] = 1;
    return all ? TUTTI_OK : tt_fail_memory();
}

enum tutti_err tt_me_model_init(struct tt_me_model *model, size_t extra_states)
{
    const struct tt_integration *integration = &model->options->integration;
    model->solver_name = "none";
    model->ode = (struct tt_ode){
        .count = model->states,
        .context = model,
        .rhs = me_model_rhs,
        .rtol = integration->rtol,
        .atol = integration->atol,
        .state_name = tt_me_model_state_name,
    };
    TRY(me_model_allocate(model, model->states + extra_states));
    model->extra = extra_states;
    model->ode.nominals = model->sizes;
    if (model->states > 0) {
        const struct tt_description *desc = model->unit->fmu->desc;
        model->derivatives = calloc((size_t)desc->derivatives.count + 1, sizeof *model->derivatives);
        if (!model->derivatives)
            return tt_fail_memory();
        TRY(desc->fmi == 1 ? states_from_fmu(model) : states_from_structure(model));
    }
    TRY(apply_state_tolerances(model));
    if ((model->unit->can & TUTTI_CAN_DIRECTIONAL) && model->variables.count > 0)
        model->ode.directional = jacobian_directional;
    bool known = false;
    TRY(tt_me_model_pattern(model, &model->variables, &model->pattern, &known));
    model->ode.pattern = known ? &model->pattern : NULL;
    return TUTTI_OK;
}

void tt_me_model_fini(struct tt_me_model *model)
{
    tt_me_inputs_fini(&model->inputs);
    tt_me_model_axis_fini(&model->variables);
    tt_pattern_fini(&model->pattern);
    free(model->derivatives);
    free(model->nominals);
    free(model->sizes);
    free(model->largest);
    free(model->declared);
    free(model->scales);
    free(model->scratch);
    free(model->seen_states);
    free(model->computed);
    free(model->computed_at);
}

enum tutti_err tt_me_model_explain(struct tt_me_model *model, enum tutti_err err)
{
    if (err != TUTTI_ERR_SOLVER)
        return err;
    char before[2048], why[1024] = "";
    snprintf(before, sizeof before, "%s", tutti_err_message());
    if (model->missed && model->bad_state == SIZE_MAX && model->bad_error)
        snprintf(why, sizeof why, "; %s", tt_instance_refusal(model->instance));
    else if (model->missed && model->bad_state == SIZE_MAX)
        snprintf(why, sizeof why, "; the FMU discarded the point at t = %s", TIME(model->bad_time));
    else if (model->missed)
        snprintf(why, sizeof why, "; the derivative of '%s' is not a finite number at t = %s",
                 tt_me_model_state_name(model, model->bad_state), TIME(model->bad_time));
    bool named = model->missed && model->bad_state != SIZE_MAX;
    tt_fail(err, "%s (%s): %s%s. Check inputs and parameters there, or use other tolerances or another solver",
            model->unit->name, model->unit->fmu->path, before, why);
    return tt_fail_about(err, model->unit->name, named ? tt_me_model_state_name(model, model->bad_state) : NULL,
                         model->missed ? model->bad_time : NAN);
}

enum tutti_err tt_me_model_saved_init(struct tt_me_model_saved *saved, const struct tt_me_model *model)
{
    saved->nominals = calloc(model->states + 1, sizeof *saved->nominals);
    saved->sizes = calloc(model->states + model->extra + 1, sizeof *saved->sizes);
    saved->largest = calloc(model->states + 1, sizeof *saved->largest);
    saved->inputs = tt_me_inputs_saved_new(&model->inputs);
    return saved->nominals && saved->sizes && saved->largest && saved->inputs ? TUTTI_OK : tt_fail_memory();
}

void tt_me_model_saved_fini(struct tt_me_model_saved *saved)
{
    free(saved->nominals);
    free(saved->sizes);
    free(saved->largest);
    free(saved->inputs);
}

void tt_me_model_save(const struct tt_me_model *model, struct tt_me_model_saved *saved)
{
    saved->calendar = model->calendar;
    memcpy(saved->nominals, model->nominals, model->states * sizeof *saved->nominals);
    memcpy(saved->sizes, model->sizes, (model->states + model->extra) * sizeof *saved->sizes);
    memcpy(saved->largest, model->largest, model->states * sizeof *saved->largest);
    tt_me_inputs_save(&model->inputs, saved->inputs);
}

void tt_me_model_restore(struct tt_me_model *model, const struct tt_me_model_saved *saved)
{
    model->calendar = saved->calendar;
    memcpy(model->nominals, saved->nominals, model->states * sizeof *model->nominals);
    memcpy(model->sizes, saved->sizes, (model->states + model->extra) * sizeof *model->sizes);
    memcpy(model->largest, saved->largest, model->states * sizeof *model->largest);
    tt_me_inputs_restore(&model->inputs, saved->inputs);
}

void tt_me_model_pack(const struct tt_me_model *model, const struct tt_me_model_saved *saved,
                      struct tt_byte_writer *parcel)
{
    tt_bytes_put_block(parcel, &saved->calendar, sizeof saved->calendar);
    tt_bytes_put_block(parcel, saved->nominals, model->states * sizeof *saved->nominals);
    tt_bytes_put_block(parcel, saved->sizes, (model->states + model->extra) * sizeof *saved->sizes);
    tt_bytes_put_block(parcel, saved->largest, model->states * sizeof *saved->largest);
    tt_bytes_put_block(parcel, saved->inputs, model->inputs.count * sizeof *saved->inputs);
}

void tt_me_model_unpack(const struct tt_me_model *model, struct tt_byte_reader *in, struct tt_me_model_saved *saved)
{
    (void)tt_bytes_get_copy(in, &saved->calendar, sizeof saved->calendar);
    (void)tt_bytes_get_copy(in, saved->nominals, model->states * sizeof *saved->nominals);
    (void)tt_bytes_get_copy(in, saved->sizes, (model->states + model->extra) * sizeof *saved->sizes);
    (void)tt_bytes_get_copy(in, saved->largest, model->states * sizeof *saved->largest);
    (void)tt_bytes_get_copy(in, saved->inputs, model->inputs.count * sizeof *saved->inputs);
}

enum tutti_err tt_me_model_axis_init(struct tt_me_axis *axis, size_t count)
{
    axis->references = calloc(count + 1, sizeof *axis->references);
    axis->indices = calloc(count + 1, sizeof *axis->indices);
    axis->starts = calloc(count + 1, sizeof *axis->starts);
    return axis->references && axis->indices && axis->starts ? TUTTI_OK : tt_fail_memory();
}

void tt_me_model_axis_fini(struct tt_me_axis *axis)
{
    free(axis->references);
    free(axis->indices);
    free(axis->starts);
    *axis = (struct tt_me_axis){0};
}

void tt_me_model_axis_add(struct tt_me_axis *axis, uint32_t reference, uint32_t index, size_t extent)
{
    axis->references[axis->count] = reference;
    axis->indices[axis->count++] = index;
    axis->size += extent;
    axis->starts[axis->count] = axis->size;
}

static bool axis_has_variable(const struct tt_var *var, enum tt_causality causality)
{
    return var->causality == causality && var->type == TUTTI_TYPE_FLOAT64 && var->variability == TUTTI_CONTINUOUS;
}

enum tutti_err tt_me_model_axis_collect(struct tt_me_axis *axis, const struct tt_unit *unit,
                                        enum tt_causality causality)
{
    const struct tt_description *desc = unit->fmu->desc;
    size_t count = 0;
    for (uint32_t i = 0; i < desc->var_count; i++)
        count += axis_has_variable(&desc->vars[i], causality);
    TRY(tt_me_model_axis_init(axis, count));
    for (uint32_t i = 0; i < desc->var_count; i++)
        if (axis_has_variable(&desc->vars[i], causality)) {
            size_t extent;
            TRY(tt_unit_extent(unit, i, &extent));
            tt_me_model_axis_add(axis, desc->vars[i].reference, i, extent);
        }
    return TUTTI_OK;
}

void tt_me_model_axis_name(const struct tt_me_axis *axis, const struct tt_unit *unit, size_t i, const char *word,
                           char *out, size_t size)
{
    size_t k = 0;
    while (k + 1 < axis->count && axis->starts[k + 1] <= i)
        k++;
    if (k >= axis->count || axis->indices[k] == TUTTI_NONE) {
        snprintf(out, size, "%s %zu", word, i + 1);
        return;
    }
    const struct tt_var *var = &unit->fmu->desc->vars[axis->indices[k]];
    int length = snprintf(out, size, "%s", var->name);
    size_t at = i - axis->starts[k], below = axis->starts[k + 1] - axis->starts[k];
    for (unsigned d = 0; d < var->dimension_count && length >= 0 && (size_t)length < size; d++) {
        below /= (size_t)tt_unit_dimension(unit, &var->dimensions[d]); /* scalars per step of this index */
        length += snprintf(out + length, size - (size_t)length, "%s%zu%s", d ? "," : "[", at / below + 1,
                           d + 1u == var->dimension_count ? "]" : "");
        at %= below;
    }
}

enum tutti_err tt_me_model_axis_names(const struct tt_me_axis *axis, const struct tt_unit *unit, size_t count,
                                      const char *word, char ***out)
{
    size_t room = 0;
    for (size_t k = 0; k < axis->count; k++)
        if (axis->indices[k] != TUTTI_NONE) {
            const struct tt_var *var = &unit->fmu->desc->vars[axis->indices[k]];
            size_t length = strlen(var->name) + (size_t)var->dimension_count * TUTTI_NUMBER_MAX;
            room = length > room ? length : room;
        }
    room += strlen(word) + TUTTI_NUMBER_MAX;
    *out = calloc(count + 1, sizeof **out);
    char *text = malloc(room);
    bool enough = *out && text;
    for (size_t i = 0; i < count && enough; i++) {
        tt_me_model_axis_name(axis, unit, i, word, text, room);
        (*out)[i] = tt_text_copy(text);
        enough = (*out)[i] != NULL;
    }
    free(text);
    return enough ? TUTTI_OK : tt_fail_memory();
}

void tt_me_model_axis_free_names(char **names, size_t count)
{
    for (size_t i = 0; names && i < count; i++)
        free(names[i]);
    free(names);
}

void tt_me_model_axis_negate(const struct tt_me_axis *axis, const struct tt_unit *unit, double *values)
{
    for (size_t k = 0; k < axis->count; k++)
        if (unit->fmu->desc->vars[axis->indices[k]].negated)
            values[k] = -values[k];
}

double *tt_me_model_axis_nominals(const struct tt_me_axis *axis, const struct tt_unit *unit)
{
    double *nominals = calloc(axis->size + 1, sizeof *nominals);
    for (size_t k = 0; nominals && k < axis->count; k++) {
        const struct tt_bounds *bounds = unit->fmu->desc->vars[axis->indices[k]].bounds;
        double nominal = bounds && bounds->has_nominal ? fabs(bounds->nominal) : 1;
        for (size_t i = axis->starts[k]; i < axis->starts[k + 1]; i++)
            nominals[i] = nominal > 0 && isfinite(nominal) ? nominal : 1;
    }
    return nominals;
}

struct pattern_places {
    struct tt_pattern_place *items;
    size_t count, room;
};

/* All scalars of a row variable by all of a column variable. */
static enum tutti_err axis_add_block(struct pattern_places *places, const struct tt_me_axis *rows, size_t row,
                                     const struct tt_me_axis *columns, size_t column)
{
    size_t height = rows->starts[row + 1] - rows->starts[row];
    size_t width = columns->starts[column + 1] - columns->starts[column], more = height * width;
    if (!tt_vector_reserve(&places->items, &places->room, places->count + more, sizeof *places->items))
        return tt_fail_memory();
    for (size_t r = rows->starts[row]; r < rows->starts[row + 1]; r++)
        for (size_t c = columns->starts[column]; c < columns->starts[column + 1]; c++)
            places->items[places->count++] = (struct tt_pattern_place){(int32_t)r, (int32_t)c};
    return TUTTI_OK;
}

static int compare_pattern_places(const void *a, const void *b)
{
    const uint32_t *left = a, *right = b;
    return left[0] < right[0] ? -1 : left[0] > right[0];
}

/* Per variable of the description: its place among the variables of the axis, itself or as an alias (the same
 * reference); TUTTI_NONE for all others. NULL: no memory. */
static uint32_t *axis_map_variables(const struct tt_description *desc, const struct tt_me_axis *axis)
{
    uint32_t *place_of = malloc((desc->var_count + 1) * sizeof *place_of);
    uint32_t(*sorted)[2] = malloc((axis->count + 1) * sizeof *sorted);
    if (!place_of || !sorted) {
        free(place_of);
        free(sorted);
        return NULL;
    }
    for (size_t k = 0; k < axis->count; k++) {
        sorted[k][0] = axis->references[k];
        sorted[k][1] = (uint32_t)k;
    }
    qsort(sorted, axis->count, sizeof *sorted, compare_pattern_places);
    for (uint32_t i = 0; i < desc->var_count; i++) {
        uint32_t key[2] = {desc->vars[i].reference, 0};
        const uint32_t *found = NULL;
        if (desc->vars[i].type == TUTTI_TYPE_FLOAT64)
            found = bsearch(key, sorted, axis->count, sizeof *sorted, compare_pattern_places);
        place_of[i] = found ? found[1] : TUTTI_NONE;
    }
    free(sorted);
    return place_of;
}

static enum tutti_err axis_add_row(struct pattern_places *places, const struct tt_me_axis *rows, size_t row,
                                   const struct tt_unknown *unknown, const struct tt_me_axis *columns,
                                   const uint32_t *place_of)
{
    if (!unknown || !unknown->has_dependencies) {
        for (size_t column = 0; column < columns->count; column++)
            TRY(axis_add_block(places, rows, row, columns, column));
        return TUTTI_OK;
    }
    for (uint32_t d = 0; d < unknown->dependency_count; d++)
        if (place_of[unknown->dependencies[d]] != TUTTI_NONE)
            TRY(axis_add_block(places, rows, row, columns, place_of[unknown->dependencies[d]]));
    return TUTTI_OK;
}

enum tutti_err tt_me_model_axis_pattern(const struct tt_unit *unit, const struct tt_me_axis *rows,
                                        const struct tt_unknown *const *unknowns, const struct tt_me_axis *columns,
                                        struct tt_pattern *pattern)
{
    uint32_t *place_of = axis_map_variables(unit->fmu->desc, columns);
    struct pattern_places places = {0};
    enum tutti_err err = place_of ? TUTTI_OK : tt_fail_memory();
    for (size_t row = 0; row < rows->count && !err; row++)
        err = axis_add_row(&places, rows, row, unknowns[row], columns, place_of);
    if (!err)
        err = tt_pattern_init(pattern, (int32_t)rows->size, (int32_t)columns->size, places.items, places.count);
    free(places.items);
    free(place_of);
    return err;
}

enum tutti_err tt_me_model_axis_outputs_pattern(const struct tt_unit *unit, const struct tt_me_axis *rows,
                                                const struct tt_me_axis *columns, struct tt_pattern *pattern,
                                                bool *known)
{
    const struct tt_unknowns *outputs = &unit->fmu->desc->outputs;
    const struct tt_unknown **unknowns = calloc(rows->count + 1, sizeof *unknowns);
    if (!unknowns)
        return tt_fail_memory();
    for (size_t row = 0; row < rows->count; row++)
        for (uint32_t i = 0; i < outputs->count; i++)
            if (outputs->items[i].variable == rows->indices[row]) {
                unknowns[row] = &outputs->items[i];
                *known = *known || outputs->items[i].has_dependencies;
            }
    enum tutti_err err = tt_me_model_axis_pattern(unit, rows, unknowns, columns, pattern);
    free(unknowns);
    return err;
}
