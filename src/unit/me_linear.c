/* SPDX-License-Identifier: MIT */
/* Columns that share no row are evaluated together, as in solve/jacobian.c: in one directional derivative of
 * derivatives and outputs by states, or by inputs; or in one difference. */
#include "unit/me_linear.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/str.h"

/* Derivatives above outputs, by states or by inputs: A over C, B over D. */
struct half {
    struct me_axis *columns;
    const double *nominals;            /* of the columns */
    struct tutti_colouring all, upper; /* of both matrices, of the upper one alone */
    double *seed;
};

struct me_linear {
    struct tutti_linear linear;
    struct me_axis inputs, outputs;
    struct half by_states, by_inputs;
    uint32_t *unknowns; /* references: derivatives, then outputs */
    double *product;    /* states + outputs: one call's result */
    double *here, *base, *moved;
    double *input_nominals;
    bool singular; /* derivatives or outputs are not finite here: differences of them tell less than the FMU */
};

static enum tutti_err name_axis(struct me *me, const struct me_axis *axis, size_t count, const char *word, char ***out)
{
    size_t room = 0;
    for (size_t k = 0; k < axis->count; k++)
        if (axis->indices[k] != TUTTI_NONE) {
            const struct tutti_var *var = &me->unit.fmu->desc->vars[axis->indices[k]];
            size_t length = strlen(var->name) + (size_t)var->dimension_count * TUTTI_NUMBER_MAX;
            room = length > room ? length : room;
        }
    room += strlen(word) + TUTTI_NUMBER_MAX;
    *out = calloc(count + 1, sizeof **out);
    char *text = malloc(room);
    bool enough = *out && text;
    for (size_t i = 0; i < count && enough; i++) {
        tutti_me_axis_name(axis, &me->unit, i, word, text, room);
        (*out)[i] = tutti_str_copy(text);
        enough = (*out)[i] != NULL;
    }
    free(text);
    return enough ? TUTTI_OK : tutti_fail_memory();
}

/* The rows of `top`, then those of `bottom`. */
static enum tutti_err stack(const struct tutti_pattern *top, const struct tutti_pattern *bottom,
                            struct tutti_pattern *out)
{
    size_t entries = tutti_pattern_entries(top) + tutti_pattern_entries(bottom), count = 0;
    struct tutti_place *places = malloc((entries + 1) * sizeof *places);
    if (!places)
        return tutti_fail_memory();
    for (int32_t c = 0; c < top->column_count; c++) {
        for (int32_t k = top->starts[c]; k < top->starts[c + 1]; k++)
            places[count++] = (struct tutti_place){top->rows[k], c};
        for (int32_t k = bottom->starts[c]; k < bottom->starts[c + 1]; k++)
            places[count++] = (struct tutti_place){top->row_count + bottom->rows[k], c};
    }
    enum tutti_err err = tutti_pattern_init(out, top->row_count + bottom->row_count, top->column_count, places, count);
    free(places);
    return err;
}

static enum tutti_err outputs_pattern(struct me *me, struct me_linear *own, const struct me_axis *columns,
                                      struct tutti_pattern *pattern)
{
    const struct tutti_unknowns *outputs = &me->unit.fmu->desc->outputs;
    const struct tutti_unknown **unknowns = calloc(own->outputs.count + 1, sizeof *unknowns);
    if (!unknowns)
        return tutti_fail_memory();
    for (size_t row = 0; row < own->outputs.count; row++)
        for (uint32_t i = 0; i < outputs->count; i++)
            if (outputs->items[i].variable == own->outputs.indices[row]) {
                unknowns[row] = &outputs->items[i];
                own->linear.by_model = own->linear.by_model || outputs->items[i].has_dependencies;
            }
    enum tutti_err err = tutti_me_axis_pattern(&me->unit, &own->outputs, unknowns, columns, pattern);
    free(unknowns);
    return err;
}

static enum tutti_err set_up_half(struct me *me, struct me_linear *own, struct half *half, int upper, int lower)
{
    struct tutti_pattern *patterns = own->linear.patterns, both = {0};
    size_t columns = half == &own->by_states ? me->states : own->inputs.size;
    bool together = me->options.integration.jacobian != TUTTI_JACOBIAN_PLAIN, known = false;
    TRY(tutti_me_states_pattern(me, half->columns, &patterns[upper], &known));
    own->linear.by_model = own->linear.by_model || known;
    if (!known)
        TRY(tutti_pattern_full(&patterns[upper], (int32_t)me->states, (int32_t)columns));
    /* FMI 1.0 tells the inputs that an output depends on, not the states: all outputs by all of these. */
    bool told = half->columns->size == columns && (me->unit.fmu->desc->fmi > 1 || half == &own->by_inputs);
    if (told)
        TRY(outputs_pattern(me, own, half->columns, &patterns[lower]));
    else
        TRY(tutti_pattern_full(&patterns[lower], (int32_t)own->outputs.size, (int32_t)columns));
    TRY(stack(&patterns[upper], &patterns[lower], &both));
    enum tutti_err err = tutti_colouring_init(&half->all, &both, (int32_t)columns, together);
    tutti_pattern_fini(&both);
    TRY(err);
    TRY(tutti_colouring_init(&half->upper, &patterns[upper], (int32_t)columns, together));
    half->seed = calloc(columns + 1, sizeof *half->seed);
    for (int m = upper; m <= lower; m += lower - upper) {
        own->linear.values[m] = calloc(tutti_pattern_entries(&patterns[m]) + 1, sizeof(double));
        if (!own->linear.values[m])
            return tutti_fail_memory();
    }
    return half->seed ? TUTTI_OK : tutti_fail_memory();
}

static enum tutti_err take_nominals(struct me *me, struct me_linear *own)
{
    own->by_inputs.nominals = own->input_nominals = calloc(own->inputs.size + 1, sizeof(double));
    if (!own->input_nominals)
        return tutti_fail_memory();
    for (size_t k = 0; k < own->inputs.count; k++) {
        const struct tutti_bounds *bounds = me->unit.fmu->desc->vars[own->inputs.indices[k]].bounds;
        double nominal = bounds && bounds->has_nominal ? fabs(bounds->nominal) : 1;
        for (size_t i = own->inputs.starts[k]; i < own->inputs.starts[k + 1]; i++)
            own->input_nominals[i] = nominal > 0 && isfinite(nominal) ? nominal : 1;
    }
    return TUTTI_OK;
}

static enum tutti_err allocate(struct me *me, struct me_linear *own)
{
    struct tutti_linear *linear = &own->linear;
    size_t longest = me->states + own->outputs.size + own->inputs.size + 1;
    own->unknowns = calloc(me->variables.count + own->outputs.count + 1, sizeof *own->unknowns);
    double **blocks[] = {&own->product,   &own->here,           &own->base,      &own->moved,
                         &linear->states, &linear->derivatives, &linear->inputs, &linear->outputs};
    bool enough = own->unknowns;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        *blocks[i] = calloc(longest, sizeof **blocks[i]);
        enough = enough && *blocks[i];
    }
    return enough ? TUTTI_OK : tutti_fail_memory();
}

static enum tutti_err set_up(struct me *me, struct me_linear *own)
{
    struct tutti_linear *linear = &own->linear;
    TRY(tutti_me_axis_collect(&own->inputs, &me->unit, TUTTI_INPUT));
    TRY(tutti_me_axis_collect(&own->outputs, &me->unit, TUTTI_OUTPUT));
    linear->state_count = me->states;
    linear->input_count = own->inputs.size;
    linear->output_count = own->outputs.size;
    TRY(name_axis(me, &me->variables, linear->state_count, "state", &linear->state_names));
    TRY(name_axis(me, &own->inputs, linear->input_count, "input", &linear->input_names));
    TRY(name_axis(me, &own->outputs, linear->output_count, "output", &linear->output_names));
    own->by_states.columns = &me->variables;
    own->by_states.nominals = me->nominals;
    own->by_inputs.columns = &own->inputs;
    TRY(take_nominals(me, own));
    TRY(set_up_half(me, own, &own->by_states, TUTTI_LINEAR_A, TUTTI_LINEAR_C));
    TRY(set_up_half(me, own, &own->by_inputs, TUTTI_LINEAR_B, TUTTI_LINEAR_D));
    TRY(allocate(me, own));
    linear->exact = (me->unit.can & TUTTI_CAN_DIRECTIONAL) && (me->variables.count > 0 || me->states == 0);
    if (linear->exact && me->states > 0)
        memcpy(own->unknowns, me->derivatives, me->variables.count * sizeof *own->unknowns);
    memcpy(own->unknowns + me->variables.count, own->outputs.references, own->outputs.count * sizeof *own->unknowns);
    return TUTTI_OK;
}

/* FMI 1.0's negated aliases (scalars): from what the reference holds to the variable, and back. */
static void negate(const struct me *me, const struct me_axis *axis, double *values)
{
    for (size_t k = 0; k < axis->count; k++)
        if (me->unit.fmu->desc->vars[axis->indices[k]].negated)
            values[k] = -values[k];
}

static enum tutti_err get_axis(struct me *me, const struct me_axis *axis, double *values)
{
    if (axis->count == 0)
        return TUTTI_OK;
    TRY(tutti_instance_get(me->instance, TUTTI_TYPE_FLOAT64, axis->references, axis->count, values, axis->size));
    negate(me, axis, values);
    return TUTTI_OK;
}

static enum tutti_err discards(const struct me *me)
{
    if (tutti_instance_refused(me->instance)) /* an Error was its answer: in its own words */
        return tutti_fail(TUTTI_ERR_FMU, "%s (%s): it cannot be linearised at t = %s: %s", me->unit.name,
                          me->unit.fmu->path, TIME(me->here_time), tutti_instance_refusal(me->instance));
    return tutti_fail(TUTTI_ERR_FMU, "%s (%s): the FMU discards a point next to t = %s, where it is linearised",
                      me->unit.name, me->unit.fmu->path, TIME(me->here_time));
}

/* Derivatives, and outputs if `lower`, where the FMU stands. */
static enum tutti_err evaluate(struct me *me, struct me_linear *own, bool lower, double *values)
{
    bool discarded = false;
    if (me->states > 0)
        TRY(tutti_instance_get_derivatives(me->instance, values, me->states, &discarded));
    if (discarded)
        return discards(me);
    return lower ? get_axis(me, &own->outputs, values + me->states) : TUTTI_OK;
}

static enum tutti_err move(struct me *me, struct me_linear *own, bool states, double *values)
{
    bool discarded = false;
    if (states) {
        TRY(tutti_me_place(me, me->here_time, values, &discarded));
        return discarded ? discards(me) : TUTTI_OK;
    }
    negate(me, &own->inputs, values);
    enum tutti_err err = tutti_instance_set(me->instance, TUTTI_TYPE_FLOAT64, own->inputs.references, own->inputs.count,
                                            values, own->inputs.size);
    negate(me, &own->inputs, values);
    return err;
}

/* How far column c moves each way: the third root of the rounding, where truncation and cancellation are alike. */
static double reach(const struct me_linear *own, const struct half *half, size_t c)
{
    return 6.055454452393343e-6 * fmax(fabs(own->base[c]), half->nominals[c]);
}

/* A difference both ways about the point: seldom asked for and wanted well. The seed holds 1 in the columns of a
 * colour, and becomes their increments. */
static enum tutti_err by_differences(struct me *me, struct me_linear *own, struct half *half, size_t columns,
                                     bool lower)
{
    bool states = half == &own->by_states;
    size_t rows = me->states + (lower ? own->outputs.size : 0);
    for (int side = -1; side <= 1; side += 2) {
        for (size_t c = 0; c < columns; c++)
            own->moved[c] = own->base[c] + (half->seed[c] != 0 ? side * reach(own, half, c) : 0);
        TRY(move(me, own, states, own->moved));
        TRY(evaluate(me, own, lower, side < 0 ? own->here : own->product));
    }
    for (size_t r = 0; r < rows; r++)
        own->product[r] -= own->here[r];
    for (size_t c = 0; c < columns; c++)
        if (half->seed[c] != 0)
            half->seed[c] = (own->base[c] + reach(own, half, c)) - (own->base[c] - reach(own, half, c));
    return move(me, own, states, own->base);
}

static enum tutti_err by_directional(struct me *me, struct me_linear *own, struct half *half, size_t columns,
                                     bool lower)
{
    size_t unknowns = me->variables.count + (lower ? own->outputs.count : 0);
    me->other_counts.directional++;
    if (own->singular)
        return tutti_instance_get_directional(me->instance, own->unknowns, unknowns, half->columns->references,
                                              half->columns->count, half->seed, columns, own->product,
                                              me->states + (lower ? own->outputs.size : 0));
    return tutti_unit_get_directional(&me->unit, me->instance, me->options.log, own->unknowns, unknowns,
                                      half->columns->references, half->columns->count, half->seed, columns,
                                      own->product, me->states + (lower ? own->outputs.size : 0));
}

static void take(const struct tutti_pattern *pattern, double *values, int32_t column, const double *product,
                 double increment)
{
    for (int32_t k = pattern->starts[column]; k < pattern->starts[column + 1]; k++)
        values[k] = product[pattern->rows[k]] / increment;
}

static enum tutti_err linearize_half(struct me *me, struct me_linear *own, struct half *half, int upper, int lower,
                                     bool want_lower)
{
    struct tutti_linear *linear = &own->linear;
    const struct tutti_colouring *colouring = want_lower ? &half->all : &half->upper;
    size_t columns = (size_t)linear->patterns[upper].column_count;
    if (me->states == 0 && (!want_lower || own->outputs.size == 0))
        return TUTTI_OK;
    for (int32_t colour = 0; colour < colouring->colour_count; colour++) {
        memset(half->seed, 0, columns * sizeof *half->seed);
        for (int32_t k = colouring->starts[colour]; k < colouring->starts[colour + 1]; k++)
            half->seed[colouring->columns[k]] = 1;
        TRY(linear->exact ? by_directional(me, own, half, columns, want_lower)
                          : by_differences(me, own, half, columns, want_lower));
        for (int32_t k = colouring->starts[colour]; k < colouring->starts[colour + 1]; k++) {
            int32_t c = colouring->columns[k];
            take(&linear->patterns[upper], linear->values[upper], c, own->product, half->seed[c]);
            if (want_lower)
                take(&linear->patterns[lower], linear->values[lower], c, own->product + me->states, half->seed[c]);
        }
    }
    return TUTTI_OK;
}

static enum tutti_err read_values(struct me *me, struct me_linear *own)
{
    struct tutti_linear *linear = &own->linear;
    TRY(evaluate(me, own, true, own->product));
    own->singular = false;
    for (size_t i = 0; i < me->states + own->outputs.size; i++)
        own->singular = own->singular || !isfinite(own->product[i]);
    for (size_t i = 0; i < me->states; i++) {
        linear->states[i] = me->here[i];
        linear->derivatives[i] = own->product[i];
    }
    for (size_t i = 0; i < own->outputs.size; i++)
        linear->outputs[i] = own->product[me->states + i];
    return get_axis(me, &own->inputs, linear->inputs);
}

static enum tutti_err linearize(struct me *me, struct me_linear *own, unsigned want)
{
    const double *x = me->here;
    if (want & TUTTI_WANT_VALUES)
        TRY(read_values(me, own));
    if (want & (TUTTI_WANT_A | TUTTI_WANT_C)) {
        if (me->states > 0)
            memcpy(own->base, x, me->states * sizeof *x);
        TRY(linearize_half(me, own, &own->by_states, TUTTI_LINEAR_A, TUTTI_LINEAR_C, want & TUTTI_WANT_C));
        if (!own->linear.exact)
            me->here = x;
    }
    if ((want & (TUTTI_WANT_B | TUTTI_WANT_D)) && own->inputs.count > 0) {
        TRY(get_axis(me, &own->inputs, own->base));
        TRY(linearize_half(me, own, &own->by_inputs, TUTTI_LINEAR_B, TUTTI_LINEAR_D, want & TUTTI_WANT_D));
    }
    return TUTTI_OK;
}

enum tutti_err tutti_me_linearize(struct tutti_unit *unit, unsigned want, struct tutti_linear **linear)
{
    struct me *me = (struct me *)unit;
    struct me_linear *own = me->linear;
    if (!own) {
        own = me->linear = calloc(1, sizeof *own);
        if (!own) {
            tutti_fail_memory();
            return TUTTI_ERR_MEMORY;
        }
        TRY(set_up(me, own));
    }
    if (own->linear.exact)
        TRY(tutti_me_ode_test_directional(me));
    own->linear.exact = own->linear.exact && (unit->can & TUTTI_CAN_DIRECTIONAL);
    enum tutti_err err = linearize(me, own, want);
    if (err == TUTTI_ERR_UNSUPPORTED && own->linear.exact) {
        own->linear.exact = false;
        err = linearize(me, own, want);
    }
    TRY(err);
    *linear = &own->linear;
    return TUTTI_OK;
}

static void free_names(char **names, size_t count)
{
    for (size_t i = 0; names && i < count; i++)
        free(names[i]);
    free(names);
}

void tutti_me_linear_fini(struct me *me)
{
    struct me_linear *own = me->linear;
    if (!own)
        return;
    struct tutti_linear *linear = &own->linear;
    free_names(linear->state_names, linear->state_count);
    free_names(linear->input_names, linear->input_count);
    free_names(linear->output_names, linear->output_count);
    for (int m = 0; m < TUTTI_LINEAR_COUNT; m++) {
        tutti_pattern_fini(&linear->patterns[m]);
        free(linear->values[m]);
    }
    struct half *halves[] = {&own->by_states, &own->by_inputs};
    for (int h = 0; h < 2; h++) {
        tutti_colouring_fini(&halves[h]->all);
        tutti_colouring_fini(&halves[h]->upper);
        free(halves[h]->seed);
    }
    tutti_me_axis_fini(&own->inputs);
    tutti_me_axis_fini(&own->outputs);
    free(own->unknowns);
    free(own->product);
    free(own->here);
    free(own->base);
    free(own->moved);
    free(own->input_nominals);
    free(linear->states);
    free(linear->derivatives);
    free(linear->inputs);
    free(linear->outputs);
    free(own);
}

/* ---- <tutti/extra.h> ---- */

size_t tutti_model_state_count(const struct tutti_model *model)
{
    return ((const struct me *)model)->states;
}

const double *tutti_model_states(const struct tutti_model *model)
{
    return ((const struct me *)model)->here;
}

static struct tutti_matrix matrix_of(const struct tutti_linear *linear, int which)
{
    const struct tutti_pattern *pattern = &linear->patterns[which];
    return (struct tutti_matrix){(size_t)pattern->row_count, (size_t)pattern->column_count, pattern->starts,
                                 pattern->rows, linear->values[which]};
}

enum tutti_err tutti_model_linearize(struct tutti_model *model, unsigned want, struct tutti_state_space *out)
{
    struct me *me = (struct me *)model;
    struct tutti_linear *linear = NULL;
    if (want && !me->here)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "%s: extra equations: `structure` can ask for patterns only",
                          me->unit.name);
    TRY(tutti_me_linearize(&me->unit, want, &linear));
    *out = (struct tutti_state_space){matrix_of(linear, TUTTI_LINEAR_A), matrix_of(linear, TUTTI_LINEAR_B),
                                      matrix_of(linear, TUTTI_LINEAR_C), matrix_of(linear, TUTTI_LINEAR_D)};
    return TUTTI_OK;
}
