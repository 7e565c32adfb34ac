/* SPDX-License-Identifier: MIT */
#include "apps/analyze/cs_linear.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

/* While D is looked for. */
struct cs_linear_search {
    struct tt_cs_linear *own;
    struct tt_unit *unit;
    const struct tt_cs_moment *moment;
    struct tt_colouring colouring;
    struct tt_unit_saved *saved;
    double *seed, *moved, *product, *behind, *nominals;
};

static enum tutti_err cs_linear_read_values(struct tt_unit *unit, const struct tt_me_axis *axis, double *values)
{
    struct tt_block block = {TUTTI_TYPE_FLOAT64, axis->count, axis->size, axis->references, values, NULL};
    if (axis->count > 0)
        TRY(unit->kind->get(unit, &block));
    tt_me_model_axis_negate(axis, unit, values);
    return TUTTI_OK;
}

static enum tutti_err cs_linear_prepare(struct cs_linear_search *s)
{
    struct tt_cs_linear *own = s->own;
    struct tt_linear *linear = &own->linear;
    TRY(tt_me_model_axis_collect(&own->inputs, s->unit, TUTTI_INPUT));
    TRY(tt_me_model_axis_collect(&own->outputs, s->unit, TUTTI_OUTPUT));
    size_t inputs = linear->input_count = own->inputs.size, outputs = linear->output_count = own->outputs.size;
    TRY(tt_me_model_axis_names(&own->inputs, s->unit, 0, "state", &linear->state_names));
    TRY(tt_me_model_axis_names(&own->inputs, s->unit, inputs, "input", &linear->input_names));
    TRY(tt_me_model_axis_names(&own->outputs, s->unit, outputs, "output", &linear->output_names));
    TRY(tt_pattern_full(&linear->patterns[TUTTI_LINEAR_A], 0, 0));
    TRY(tt_pattern_full(&linear->patterns[TUTTI_LINEAR_B], 0, (int32_t)inputs));
    TRY(tt_pattern_full(&linear->patterns[TUTTI_LINEAR_C], (int32_t)outputs, 0));
    TRY(tt_me_model_axis_outputs_pattern(s->unit, &own->outputs, &own->inputs, &linear->patterns[TUTTI_LINEAR_D],
                                         &linear->by_model));
    TRY(tt_pattern_colouring_init(&s->colouring, &linear->patterns[TUTTI_LINEAR_D], (int32_t)inputs, true));
    double **blocks[] = {&s->seed,        &s->moved,       &s->product,
                         &s->behind,      &linear->states, &linear->derivatives,
                         &linear->inputs, &linear->outputs};
    bool enough = true;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        *blocks[i] = calloc(inputs + outputs + 1, sizeof **blocks[i]);
        enough = enough && *blocks[i];
    }
    for (int which = 0; which < TUTTI_LINEAR_COUNT; which++) {
        linear->values[which] = calloc(tt_pattern_entries(&linear->patterns[which]) + 1, sizeof(double));
        enough = enough && linear->values[which];
    }
    s->nominals = tt_me_model_axis_nominals(&own->inputs, s->unit);
    return enough && s->nominals ? TUTTI_OK : tt_fail_memory();
}

/* Outputs after a short step with the inputs `moved`; the FMU is back where it was then. */
static enum tutti_err cs_linear_try_inputs(struct cs_linear_search *s, double *values)
{
    struct tt_unit *unit = s->unit;
    const struct tt_me_axis *axis = &s->own->inputs;
    struct tt_block block = {TUTTI_TYPE_FLOAT64, axis->count, axis->size, axis->references, s->moved, NULL};
    struct tt_fmi_step step = {0};
    double t = s->moment->t, end = t + s->moment->step;
    tt_me_model_axis_negate(axis, unit, s->moved);
    TRY(unit->kind->set(unit, &block));
    TRY(unit->kind->step(unit, t, s->moment->step, &step));
    if (step.discarded || step.early || step.terminate || step.event)
        return tt_fail(
            TUTTI_ERR_FMU,
            "%s (%s): it cannot be linearised at t = %s: it does not make the step to t = %s that shows how outputs "
            "follow inputs",
            unit->name, unit->fmu->path, TIME(t), NUMBER(end));
    TRY(cs_linear_read_values(unit, &s->own->outputs, values));
    return unit->kind->restore(unit, s->saved);
}

static enum tutti_err cs_linear_by_differences(struct cs_linear_search *s)
{
    const struct tt_linear *linear = &s->own->linear;
    size_t columns = linear->input_count;
    for (int side = -1; side <= 1; side += 2) {
        for (size_t c = 0; c < columns; c++)
            s->moved[c] = linear->inputs[c] + side * s->seed[c];
        TRY(cs_linear_try_inputs(s, side < 0 ? s->behind : s->product));
    }
    for (size_t r = 0; r < linear->output_count; r++)
        s->product[r] = (s->product[r] - s->behind[r]) / 2;
    return TUTTI_OK;
}

static enum tutti_err cs_linear_by_directional(struct cs_linear_search *s)
{
    const struct tt_cs_linear *own = s->own;
    return s->unit->kind->get_directional(s->unit, own->outputs.references, own->outputs.count, own->inputs.references,
                                          own->inputs.count, s->seed, s->product);
}

/* The columns of one colour: seed[c] is how far column c moves. */
static enum tutti_err cs_linear_find_columns(struct cs_linear_search *s, int32_t first, int32_t end)
{
    const struct tt_linear *linear = &s->own->linear;
    const struct tt_pattern *pattern = &linear->patterns[TUTTI_LINEAR_D];
    memset(s->seed, 0, linear->input_count * sizeof *s->seed);
    for (int32_t k = first; k < end; k++) {
        int32_t c = s->colouring.columns[k];
        s->seed[c] = linear->exact ? 1 : TUTTI_LINEAR_REACH * fmax(fabs(linear->inputs[c]), s->nominals[c]);
    }
    TRY(linear->exact ? cs_linear_by_directional(s) : cs_linear_by_differences(s));
    for (int32_t k = first; k < end; k++) {
        int32_t c = s->colouring.columns[k];
        for (int32_t e = pattern->starts[c]; e < pattern->starts[c + 1]; e++)
            linear->values[TUTTI_LINEAR_D][e] = s->product[pattern->rows[e]] / s->seed[c];
    }
    return TUTTI_OK;
}

static enum tutti_err cs_linear_find_matrix(struct cs_linear_search *s)
{
    for (int32_t colour = 0; colour < s->colouring.colour_count; colour++)
        TRY(cs_linear_find_columns(s, s->colouring.starts[colour], s->colouring.starts[colour + 1]));
    return TUTTI_OK;
}

/* ---- rows ---- */

/* By adjoint derivatives a row costs what a column costs by directional ones: is that less, with one more for the check? */
static bool cs_linear_prefers_rows(const struct cs_linear_search *s)
{
    const struct tt_linear *linear = &s->own->linear;
    bool columns = s->unit->can & TUTTI_CAN_DIRECTIONAL;
    return tt_instance_has_adjoint(s->unit->instance) &&
           (!columns || linear->output_count + 1 < (size_t)s->colouring.colour_count);
}

/* D times a vector of ones, by rows and by a directional derivative. */
static enum tutti_err cs_linear_check_rows(struct cs_linear_search *s)
{
    const struct tt_linear *linear = &s->own->linear;
    const struct tt_pattern *pattern = &linear->patterns[TUTTI_LINEAR_D];
    double *sums = s->behind, *sizes = s->moved;
    if (!(s->unit->can & TUTTI_CAN_DIRECTIONAL))
        return TUTTI_OK;
    memset(sums, 0, linear->output_count * sizeof *sums);
    memset(sizes, 0, linear->output_count * sizeof *sizes);
    for (size_t c = 0; c < linear->input_count; c++) {
        s->seed[c] = 1;
        for (int32_t e = pattern->starts[c]; e < pattern->starts[c + 1]; e++) {
            sums[pattern->rows[e]] += linear->values[TUTTI_LINEAR_D][e];
            sizes[pattern->rows[e]] += fabs(linear->values[TUTTI_LINEAR_D][e]);
        }
    }
    TRY(cs_linear_by_directional(s));
    for (size_t r = 0; r < linear->output_count; r++)
        if (!(fabs(sums[r] - s->product[r]) <= 1e-6 * fmax(sizes[r], fabs(s->product[r]))))
            return tt_fail(TUTTI_ERR_UNSUPPORTED,
                           "%s: its adjoint derivatives and its directional derivatives contradict each other",
                           s->unit->name);
    return TUTTI_OK;
}

/* UNSUPPORTED: columns will have to do. */
static enum tutti_err cs_linear_find_rows(struct cs_linear_search *s)
{
    const struct tt_cs_linear *own = s->own;
    const struct tt_linear *linear = &own->linear;
    const struct tt_pattern *pattern = &linear->patterns[TUTTI_LINEAR_D];
    for (int32_t r = 0; r < (int32_t)linear->output_count; r++) {
        memset(s->seed, 0, linear->output_count * sizeof *s->seed);
        s->seed[r] = 1;
        TRY(tt_instance_get_adjoint(s->unit->instance, own->outputs.references, own->outputs.count,
                                    own->inputs.references, own->inputs.count, s->seed, linear->output_count,
                                    s->product, linear->input_count));
        for (size_t c = 0; c < linear->input_count; c++) {
            if (!isfinite(s->product[c]))
                return tt_fail(TUTTI_ERR_UNSUPPORTED, "%s: an adjoint derivative is not a finite number",
                               s->unit->name);
            for (int32_t e = pattern->starts[c]; e < pattern->starts[c + 1]; e++)
                if (pattern->rows[e] == r)
                    linear->values[TUTTI_LINEAR_D][e] = s->product[c];
        }
    }
    return cs_linear_check_rows(s);
}

/* May a short step be tried? */
static enum tutti_err prepare_differences(struct cs_linear_search *s)
{
    struct tt_unit *unit = s->unit;
    s->own->linear.exact = false;
    if (unit->uniform)
        return tt_fail(
            TUTTI_ERR_UNSUPPORTED,
            "%s (%s): how its outputs follow its inputs cannot be found: it has no directional derivatives that can be "
            "used, and cannot make a step that is short",
            unit->name, unit->fmu->path);
    if (s->moment->t + s->moment->step > s->moment->latest)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "%s (%s): without directional derivatives it is linearised by a short step from t = %s, and "
                       "that is the end of "
                       "the run; a later --stop leaves room",
                       unit->name, unit->fmu->path, TIME(s->moment->t));
    enum tutti_err err = unit->kind->save(unit, &s->saved);
    return err ? tt_fail_context(
                     err, "how outputs follow inputs is found by short steps that are taken back (--rollback fork "
                          "does so with any FMU)")
               : TUTTI_OK;
}

static enum tutti_err compute_d(struct cs_linear_search *s)
{
    struct tt_cs_linear *own = s->own;
    struct tt_linear *linear = &own->linear;
    TRY(cs_linear_prepare(s));
    TRY(cs_linear_read_values(s->unit, &own->inputs, linear->inputs));
    TRY(cs_linear_read_values(s->unit, &own->outputs, linear->outputs));
    linear->exact = true;
    if (tt_pattern_entries(&linear->patterns[TUTTI_LINEAR_D]) == 0)
        return TUTTI_OK;
    bool scalars = own->inputs.size == own->inputs.count && own->outputs.size == own->outputs.count;
    if (scalars && cs_linear_prefers_rows(s)) {
        enum tutti_err err = cs_linear_find_rows(s);
        if (err != TUTTI_ERR_UNSUPPORTED)
            return err;
    }
    if (scalars && (s->unit->can & TUTTI_CAN_DIRECTIONAL)) {
        enum tutti_err err = cs_linear_find_matrix(s);
        if (err != TUTTI_ERR_UNSUPPORTED)
            return err;
    }
    TRY(prepare_differences(s));
    return cs_linear_find_matrix(s);
}

enum tutti_err tt_coupled_linear_compute_cs(struct tt_cs_linear *own, struct tt_unit *unit,
                                            const struct tt_cs_moment *moment)
{
    struct cs_linear_search s = {.own = own, .unit = unit, .moment = moment};
    struct tt_failure failure;
    tt_fail_save(&failure, compute_d(&s));
    if (s.saved)
        unit->kind->discard(unit, s.saved);
    tt_pattern_colouring_fini(&s.colouring);
    double *blocks[] = {s.seed, s.moved, s.product, s.behind, s.nominals};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        free(blocks[i]);
    return tt_fail_restore(&failure);
}

void tt_coupled_linear_free_cs(struct tt_cs_linear *own)
{
    tt_me_linear_release(&own->linear);
    tt_me_model_axis_fini(&own->inputs);
    tt_me_model_axis_fini(&own->outputs);
}
