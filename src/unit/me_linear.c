/* SPDX-License-Identifier: MIT */
/* Columns that share no row are evaluated together, as in solve/jacobian.c: in one directional derivative of
 * derivatives and outputs by states, or by inputs; or in one difference. */
#include "unit/me_linear.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"

static enum tutti_err stack_patterns(const struct tt_pattern *top, const struct tt_pattern *bottom,
                                     struct tt_pattern *out)
{
    size_t entries = tt_pattern_entries(top) + tt_pattern_entries(bottom), count = 0;
    struct tt_pattern_place *places = malloc((entries + 1) * sizeof *places);
    if (!places)
        return tt_fail_memory();
    for (int32_t c = 0; c < top->column_count; c++) {
        for (int32_t k = top->starts[c]; k < top->starts[c + 1]; k++)
            places[count++] = (struct tt_pattern_place){top->rows[k], c};
        for (int32_t k = bottom->starts[c]; k < bottom->starts[c + 1]; k++)
            places[count++] = (struct tt_pattern_place){top->row_count + bottom->rows[k], c};
    }
    enum tutti_err err = tt_pattern_init(out, top->row_count + bottom->row_count, top->column_count, places, count);
    free(places);
    return err;
}

static enum tutti_err colour_rows(const struct tt_pattern *pattern, struct tt_colouring *colouring)
{
    size_t count = 0;
    struct tt_pattern transposed;
    struct tt_pattern_place *places = malloc((tt_pattern_entries(pattern) + 1) * sizeof *places);
    if (!places)
        return tt_fail_memory();
    for (int32_t c = 0; c < pattern->column_count; c++)
        for (int32_t k = pattern->starts[c]; k < pattern->starts[c + 1]; k++)
            places[count++] = (struct tt_pattern_place){c, pattern->rows[k]};
    enum tutti_err err = tt_pattern_init(&transposed, pattern->column_count, pattern->row_count, places, count);
    free(places);
    TRY(err);
    err = tt_pattern_colouring_init(colouring, &transposed, pattern->row_count, true);
    tt_pattern_fini(&transposed);
    return err;
}

static enum tutti_err set_up_half(struct tt_me_linear *own, struct tt_me_linear_half *half, int upper, int lower)
{
    struct tt_me_model *model = own->model;
    struct tt_pattern *patterns = own->linear.patterns, both = {0};
    size_t columns = half == &own->by_states ? model->states : own->inputs.size;
    bool together = model->options->integration.jacobian != TUTTI_JACOBIAN_PLAIN, known = false;
    TRY(tt_me_model_pattern(model, half->columns, &patterns[upper], &known));
    own->linear.by_model = own->linear.by_model || known;
    if (!known)
        TRY(tt_pattern_full(&patterns[upper], (int32_t)model->states, (int32_t)columns));
    /* FMI 1.0 declares the inputs that an output depends on, not the states: all outputs depend on all of these. */
    bool told = half->columns->size == columns && (model->unit->fmu->desc->fmi > 1 || half == &own->by_inputs);
    if (told)
        TRY(tt_me_model_axis_outputs_pattern(model->unit, &own->outputs, half->columns, &patterns[lower],
                                             &own->linear.by_model));
    else
        TRY(tt_pattern_full(&patterns[lower], (int32_t)own->outputs.size, (int32_t)columns));
    TRY(stack_patterns(&patterns[upper], &patterns[lower], &both));
    bool rows = together && tt_instance_has_adjoint(model->instance);
    enum tutti_err err = tt_pattern_colouring_init(&half->all, &both, (int32_t)columns, together);
    if (!err && rows)
        err = colour_rows(&both, &half->all_rows);
    tt_pattern_fini(&both);
    TRY(err);
    TRY(tt_pattern_colouring_init(&half->upper, &patterns[upper], (int32_t)columns, together));
    if (rows)
        TRY(colour_rows(&patterns[upper], &half->upper_rows));
    half->seed = calloc(columns + 1, sizeof *half->seed);
    for (int m = upper; m <= lower; m += lower - upper) {
        own->linear.values[m] = calloc(tt_pattern_entries(&patterns[m]) + 1, sizeof(double));
        if (!own->linear.values[m])
            return tt_fail_memory();
    }
    return half->seed ? TUTTI_OK : tt_fail_memory();
}

static enum tutti_err me_linear_allocate(struct tt_me_linear *own)
{
    struct tt_me_model *model = own->model;
    struct tt_linear *linear = &own->linear;
    size_t longest = model->states + own->outputs.size + own->inputs.size + 1;
    own->unknowns = calloc(model->variables.count + own->outputs.count + 1, sizeof *own->unknowns);
    double **blocks[] = {&own->product,   &own->here,           &own->base,      &own->moved,
                         &linear->states, &linear->derivatives, &linear->inputs, &linear->outputs};
    bool enough = own->unknowns;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        *blocks[i] = calloc(longest, sizeof **blocks[i]);
        enough = enough && *blocks[i];
    }
    return enough ? TUTTI_OK : tt_fail_memory();
}

static enum tutti_err me_linear_set_up(struct tt_me_linear *own)
{
    struct tt_me_model *model = own->model;
    struct tt_linear *linear = &own->linear;
    TRY(tt_me_model_axis_collect(&own->inputs, model->unit, TUTTI_INPUT));
    TRY(tt_me_model_axis_collect(&own->outputs, model->unit, TUTTI_OUTPUT));
    linear->state_count = model->states;
    linear->input_count = own->inputs.size;
    linear->output_count = own->outputs.size;
    TRY(tt_me_model_axis_names(&model->variables, model->unit, linear->state_count, "state", &linear->state_names));
    TRY(tt_me_model_axis_names(&own->inputs, model->unit, linear->input_count, "input", &linear->input_names));
    TRY(tt_me_model_axis_names(&own->outputs, model->unit, linear->output_count, "output", &linear->output_names));
    own->by_states.columns = &model->variables;
    own->by_states.nominals = model->nominals;
    own->by_inputs.columns = &own->inputs;
    own->by_inputs.nominals = own->input_nominals = tt_me_model_axis_nominals(&own->inputs, model->unit);
    if (!own->input_nominals)
        return tt_fail_memory();
    TRY(set_up_half(own, &own->by_states, TUTTI_LINEAR_A, TUTTI_LINEAR_C));
    TRY(set_up_half(own, &own->by_inputs, TUTTI_LINEAR_B, TUTTI_LINEAR_D));
    TRY(me_linear_allocate(own));
    linear->exact = (model->unit->can & TUTTI_CAN_DIRECTIONAL) && (model->variables.count > 0 || model->states == 0);
    if (linear->exact && model->states > 0)
        memcpy(own->unknowns, model->derivatives, model->variables.count * sizeof *own->unknowns);
    memcpy(own->unknowns + model->variables.count, own->outputs.references, own->outputs.count * sizeof *own->unknowns);
    return TUTTI_OK;
}

static enum tutti_err get_axis(struct tt_me_model *model, const struct tt_me_axis *axis, double *values)
{
    if (axis->count == 0)
        return TUTTI_OK;
    struct tt_block block = {TUTTI_TYPE_FLOAT64, axis->count, axis->size, axis->references, values, NULL};
    TRY(tt_me_model_get(model, &block, true));
    tt_me_model_axis_negate(axis, model->unit, values);
    return TUTTI_OK;
}

static enum tutti_err last_point_discarded(const struct tt_me_model *model)
{
    if (tt_instance_refused(model->instance)) /* an Error was its answer: in its own words */
        return tt_fail(TUTTI_ERR_FMU, "%s (%s): it cannot be linearised at t = %s: %s", model->unit->name,
                       model->unit->fmu->path, TIME(model->here_time), tt_instance_refusal(model->instance));
    return tt_fail(TUTTI_ERR_FMU, "%s (%s): the FMU discards a point next to t = %s, where it is linearised",
                   model->unit->name, model->unit->fmu->path, TIME(model->here_time));
}

/* Derivatives, and outputs if `lower`, where the FMU stands. */
static enum tutti_err me_linear_evaluate(struct tt_me_linear *own, bool lower, double *values)
{
    struct tt_me_model *model = own->model;
    bool discarded = false;
    if (model->states > 0)
        TRY(tt_instance_get_derivatives(model->instance, values, model->states, &discarded));
    model->moved = model->moved && model->states == 0;
    if (discarded)
        return last_point_discarded(model);
    return lower ? get_axis(model, &own->outputs, values + model->states) : TUTTI_OK;
}

static enum tutti_err me_linear_move(struct tt_me_linear *own, bool states, double *values)
{
    struct tt_me_model *model = own->model;
    bool discarded = false;
    if (states) {
        TRY(tt_me_model_place(model, model->here_time, values, &discarded));
        return discarded ? last_point_discarded(model) : TUTTI_OK;
    }
    tt_me_model_axis_negate(&own->inputs, model->unit, values);
    tt_me_model_invalidate(model);
    enum tutti_err err = tt_instance_set(model->instance, TUTTI_TYPE_FLOAT64, own->inputs.references, own->inputs.count,
                                         values, own->inputs.size);
    tt_me_model_axis_negate(&own->inputs, model->unit, values);
    return err;
}

/* How far column c moves each way: the third root of the rounding, where truncation and cancellation are alike. */
static double column_distance(const struct tt_me_linear *own, const struct tt_me_linear_half *half, size_t c)
{
    return TUTTI_LINEAR_REACH * fmax(fabs(own->base[c]), half->nominals[c]);
}

/* A difference both ways about the point: seldom asked for and wanted well. The seed holds 1 in the columns of a
 * colour, and becomes their increments. */
static enum tutti_err fill_by_differences(struct tt_me_linear *own, struct tt_me_linear_half *half, size_t columns,
                                          bool lower)
{
    struct tt_me_model *model = own->model;
    bool states = half == &own->by_states;
    size_t rows = model->states + (lower ? own->outputs.size : 0);
    for (int side = -1; side <= 1; side += 2) {
        for (size_t c = 0; c < columns; c++)
            own->moved[c] = own->base[c] + (half->seed[c] != 0 ? side * column_distance(own, half, c) : 0);
        TRY(me_linear_move(own, states, own->moved));
        TRY(me_linear_evaluate(own, lower, side < 0 ? own->here : own->product));
    }
    for (size_t r = 0; r < rows; r++)
        own->product[r] -= own->here[r];
    for (size_t c = 0; c < columns; c++)
        if (half->seed[c] != 0)
            half->seed[c] = (own->base[c] + column_distance(own, half, c)) -
                            (own->base[c] - column_distance(own, half, c));
    return me_linear_move(own, states, own->base);
}

static enum tutti_err fill_by_directional(struct tt_me_linear *own, struct tt_me_linear_half *half, size_t columns,
                                          bool lower)
{
    struct tt_me_model *model = own->model;
    size_t unknowns = model->variables.count + (lower ? own->outputs.count : 0);
    model->counts.directional++;
    if (own->singular)
        return tt_instance_get_directional(model->instance, own->unknowns, unknowns, half->columns->references,
                                           half->columns->count, half->seed, columns, own->product,
                                           model->states + (lower ? own->outputs.size : 0));
    return tt_unit_get_directional(model->unit, model->instance, model->options->log, own->unknowns, unknowns,
                                   half->columns->references, half->columns->count, half->seed, columns, own->product,
                                   model->states + (lower ? own->outputs.size : 0));
}

static void scatter_column(const struct tt_pattern *pattern, double *values, int32_t column, const double *product,
                           double increment)
{
    for (int32_t k = pattern->starts[column]; k < pattern->starts[column + 1]; k++)
        values[k] = product[pattern->rows[k]] / increment;
}

/* ---- by rows: one adjoint derivative for those that share no column ---- */

static bool prefers_adjoint(const struct tt_me_linear *own, const struct tt_me_linear_half *half, bool lower)
{
    const struct tt_colouring *rows = lower ? &half->all_rows : &half->upper_rows,
                              *columns = lower ? &half->all : &half->upper;
    return own->linear.exact && !own->no_rows && !own->singular && rows->colour_count > 0 &&
           rows->colour_count + !half->rows_tested < columns->colour_count;
}

/* `seed` has 1 in the rows of a colour. */
static void scatter_rows(const struct tt_pattern *pattern, double *values, const double *seed, const double *product)
{
    for (int32_t c = 0; c < pattern->column_count; c++)
        for (int32_t k = pattern->starts[c]; k < pattern->starts[c + 1]; k++)
            if (seed[pattern->rows[k]] != 0)
                values[k] = product[c];
}

/* Adds the entries of each row, and their sizes. */
static void add_row_products(const struct tt_pattern *pattern, const double *values, double *sums, double *sizes)
{
    for (int32_t c = 0; c < pattern->column_count; c++)
        for (int32_t k = pattern->starts[c]; k < pattern->starts[c + 1]; k++) {
            sums[pattern->rows[k]] += values[k];
            sizes[pattern->rows[k]] += fabs(values[k]);
        }
}

/* The matrix times a vector of ones, by rows and by a directional derivative: once. */
static enum tutti_err test_adjoint(struct tt_me_linear *own, struct tt_me_linear_half *half, int upper, int lower,
                                   bool both)
{
    const struct tt_linear *linear = &own->linear;
    size_t states = own->model->states, columns = (size_t)linear->patterns[upper].column_count;
    size_t rows = states + (both ? own->outputs.size : 0);
    double *sums = own->here, *sizes = own->moved;
    half->rows_tested = true;
    memset(sums, 0, rows * sizeof *sums);
    memset(sizes, 0, rows * sizeof *sizes);
    add_row_products(&linear->patterns[upper], linear->values[upper], sums, sizes);
    if (both)
        add_row_products(&linear->patterns[lower], linear->values[lower], sums + states, sizes + states);
    for (size_t c = 0; c < columns; c++)
        half->seed[c] = 1;
    TRY(fill_by_directional(own, half, columns, both));
    for (size_t r = 0; r < rows; r++)
        if (!(fabs(sums[r] - own->product[r]) <= 1e-6 * fmax(sizes[r], fabs(own->product[r]))))
            return tt_fail(TUTTI_ERR_UNSUPPORTED,
                           "%s: its adjoint derivatives and its directional derivatives contradict each other",
                           own->model->unit->name);
    return TUTTI_OK;
}

/* UNSUPPORTED: columns will have to do. */
static enum tutti_err fill_by_adjoint(struct tt_me_linear *own, struct tt_me_linear_half *half, int upper, int lower,
                                      bool both)
{
    struct tt_me_model *model = own->model;
    struct tt_linear *linear = &own->linear;
    const struct tt_colouring *colouring = both ? &half->all_rows : &half->upper_rows;
    size_t columns = (size_t)linear->patterns[upper].column_count;
    size_t rows = model->states + (both ? own->outputs.size : 0);
    size_t unknowns = model->variables.count + (both ? own->outputs.count : 0);
    double *seed = own->here;
    for (int32_t colour = 0; colour < colouring->colour_count; colour++) {
        memset(seed, 0, rows * sizeof *seed);
        for (int32_t k = colouring->starts[colour]; k < colouring->starts[colour + 1]; k++)
            seed[colouring->columns[k]] = 1;
        model->counts.directional++;
        TRY(tt_instance_get_adjoint(model->instance, own->unknowns, unknowns, half->columns->references,
                                    half->columns->count, seed, rows, own->product, columns));
        for (size_t c = 0; c < columns; c++)
            if (!isfinite(own->product[c]))
                return tt_fail(TUTTI_ERR_UNSUPPORTED, "%s: an adjoint derivative is not a finite number",
                               model->unit->name);
        scatter_rows(&linear->patterns[upper], linear->values[upper], seed, own->product);
        if (both)
            scatter_rows(&linear->patterns[lower], linear->values[lower], seed + model->states, own->product);
    }
    return half->rows_tested ? TUTTI_OK : test_adjoint(own, half, upper, lower, both);
}

static enum tutti_err linearize_half(struct tt_me_linear *own, struct tt_me_linear_half *half, int upper, int lower,
                                     bool want_lower)
{
    struct tt_me_model *model = own->model;
    struct tt_linear *linear = &own->linear;
    const struct tt_colouring *colouring = want_lower ? &half->all : &half->upper;
    size_t columns = (size_t)linear->patterns[upper].column_count;
    if (model->states == 0 && (!want_lower || own->outputs.size == 0))
        return TUTTI_OK;
    if (prefers_adjoint(own, half, want_lower)) {
        enum tutti_err err = fill_by_adjoint(own, half, upper, lower, want_lower);
        if (err != TUTTI_ERR_UNSUPPORTED)
            return err;
        own->no_rows = true;
        tt_log(model->options->log, TUTTI_LOG_WARNING, NULL, "%s. Columns are asked for instead of rows",
               tutti_err_message());
    }
    for (int32_t colour = 0; colour < colouring->colour_count; colour++) {
        memset(half->seed, 0, columns * sizeof *half->seed);
        for (int32_t k = colouring->starts[colour]; k < colouring->starts[colour + 1]; k++)
            half->seed[colouring->columns[k]] = 1;
        TRY(linear->exact ? fill_by_directional(own, half, columns, want_lower)
                          : fill_by_differences(own, half, columns, want_lower));
        for (int32_t k = colouring->starts[colour]; k < colouring->starts[colour + 1]; k++) {
            int32_t c = colouring->columns[k];
            scatter_column(&linear->patterns[upper], linear->values[upper], c, own->product, half->seed[c]);
            if (want_lower)
                scatter_column(&linear->patterns[lower], linear->values[lower], c, own->product + model->states,
                               half->seed[c]);
        }
    }
    return TUTTI_OK;
}

static enum tutti_err me_linear_read_values(struct tt_me_linear *own)
{
    struct tt_me_model *model = own->model;
    struct tt_linear *linear = &own->linear;
    TRY(me_linear_evaluate(own, true, own->product));
    own->singular = false;
    for (size_t i = 0; i < model->states + own->outputs.size; i++)
        own->singular = own->singular || !isfinite(own->product[i]);
    for (size_t i = 0; i < model->states; i++) {
        linear->states[i] = model->here[i];
        linear->derivatives[i] = own->product[i];
    }
    for (size_t i = 0; i < own->outputs.size; i++)
        linear->outputs[i] = own->product[model->states + i];
    return get_axis(model, &own->inputs, linear->inputs);
}

static enum tutti_err me_linear_compute(struct tt_me_linear *own, unsigned want)
{
    struct tt_me_model *model = own->model;
    const double *x = model->here;
    if (want & TUTTI_WANT_VALUES)
        TRY(me_linear_read_values(own));
    if (want & (TUTTI_WANT_A | TUTTI_WANT_C)) {
        if (model->states > 0)
            memcpy(own->base, x, model->states * sizeof *x);
        TRY(linearize_half(own, &own->by_states, TUTTI_LINEAR_A, TUTTI_LINEAR_C, want & TUTTI_WANT_C));
        if (!own->linear.exact)
            model->here = x;
    }
    if ((want & (TUTTI_WANT_B | TUTTI_WANT_D)) && own->inputs.count > 0) {
        TRY(get_axis(model, &own->inputs, own->base));
        TRY(linearize_half(own, &own->by_inputs, TUTTI_LINEAR_B, TUTTI_LINEAR_D, want & TUTTI_WANT_D));
    }
    return TUTTI_OK;
}

enum tutti_err tt_me_linear_compute(struct tt_me_linear *own, unsigned want, struct tt_linear **linear)
{
    struct tt_me_model *model = own->model;
    if (!own->is_set_up) {
        own->is_set_up = true;
        TRY(me_linear_set_up(own));
    }
    if (own->linear.exact)
        TRY(tt_me_model_test_directional(model));
    own->linear.exact = own->linear.exact && (model->unit->can & TUTTI_CAN_DIRECTIONAL);
    enum tutti_err err = me_linear_compute(own, want);
    if (err == TUTTI_ERR_UNSUPPORTED && own->linear.exact) {
        own->linear.exact = false;
        err = me_linear_compute(own, want);
    }
    TRY(err);
    *linear = &own->linear;
    return TUTTI_OK;
}

void tt_me_linear_release(struct tt_linear *linear)
{
    tt_me_model_axis_free_names(linear->state_names, linear->state_count);
    tt_me_model_axis_free_names(linear->input_names, linear->input_count);
    tt_me_model_axis_free_names(linear->output_names, linear->output_count);
    for (int m = 0; m < TUTTI_LINEAR_COUNT; m++) {
        tt_pattern_fini(&linear->patterns[m]);
        free(linear->values[m]);
    }
    free(linear->states);
    free(linear->derivatives);
    free(linear->inputs);
    free(linear->outputs);
}

void tt_me_linear_fini(struct tt_me_linear *own)
{
    tt_me_linear_release(&own->linear);
    struct tt_me_linear_half *halves[] = {&own->by_states, &own->by_inputs};
    for (int h = 0; h < 2; h++) {
        tt_pattern_colouring_fini(&halves[h]->all);
        tt_pattern_colouring_fini(&halves[h]->upper);
        tt_pattern_colouring_fini(&halves[h]->all_rows);
        tt_pattern_colouring_fini(&halves[h]->upper_rows);
        free(halves[h]->seed);
    }
    tt_me_model_axis_fini(&own->inputs);
    tt_me_model_axis_fini(&own->outputs);
    free(own->unknowns);
    free(own->product);
    free(own->here);
    free(own->base);
    free(own->moved);
    free(own->input_nominals);
}

/* ---- <tutti/extra.h> ---- */

size_t tutti_model_state_count(const struct tutti_model *model)
{
    return ((const struct tt_me_linear *)model)->model->states;
}

const double *tutti_model_states(const struct tutti_model *model)
{
    return ((const struct tt_me_linear *)model)->model->here;
}

enum tutti_err tutti_model_get(struct tutti_model *model, const char *name, double *value)
{
    struct tt_me_model *own = ((const struct tt_me_linear *)model)->model;
    const struct tt_description *desc = own->unit->fmu->desc;
    uint32_t variable = TUTTI_NONE;
    struct tt_indices element;
    TRY(tt_setting_find(desc, name, "tutti_model_get", &variable, &element));
    const struct tt_var *var = &desc->vars[variable];
    if (var->type != TUTTI_TYPE_FLOAT64 || var->dimension_count > 0 || !own->here)
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s: extra equations: '%s' is not one Float64, or `structure` asks for it",
                       own->unit->name, name);
    uint32_t reference = var->reference;
    TRY(tt_me_model_get(own, &(struct tt_block){TUTTI_TYPE_FLOAT64, 1, 1, &reference, value, NULL}, true));
    if (var->negated)
        *value = -*value;
    return TUTTI_OK;
}

static struct tutti_matrix matrix_of(const struct tt_linear *linear, int which)
{
    const struct tt_pattern *pattern = &linear->patterns[which];
    return (struct tutti_matrix){(size_t)pattern->row_count, (size_t)pattern->column_count, pattern->starts,
                                 pattern->rows, linear->values[which]};
}

enum tutti_err tutti_model_linearize(struct tutti_model *model, unsigned want, struct tutti_state_space *out)
{
    struct tt_me_linear *own = (struct tt_me_linear *)model;
    struct tt_linear *linear = NULL;
    if (want && !own->model->here)
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s: extra equations: `structure` can ask for patterns only",
                       own->model->unit->name);
    TRY(tt_me_linear_compute(own, want, &linear));
    *out = (struct tutti_state_space){matrix_of(linear, TUTTI_LINEAR_A), matrix_of(linear, TUTTI_LINEAR_B),
                                      matrix_of(linear, TUTTI_LINEAR_C), matrix_of(linear, TUTTI_LINEAR_D)};
    return TUTTI_OK;
}
