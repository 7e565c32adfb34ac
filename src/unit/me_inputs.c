/* SPDX-License-Identifier: MIT */
/* Inputs of a Model Exchange unit that move inside a step, as polynomials in time: scalars and arrays, Float64 and
 * Float32. */
#include "unit/me_inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

static int compare_input_references(const void *a, const void *b)
{
    const struct tt_me_input_variable *left = a, *right = b;
    if (left->type != right->type)
        return left->type < right->type ? -1 : 1;
    return left->reference < right->reference ? -1 : left->reference > right->reference;
}

static bool is_continuous_input(const struct tt_var *var)
{
    return var->causality == TUTTI_INPUT && tt_type_is_float(var->type) && var->variability == TUTTI_CONTINUOUS &&
           !var->alias;
}

/* The variables, each once: FMI 2.0 has aliases that are variables with the same reference. */
static enum tutti_err collect_input_variables(struct tt_me_inputs *inputs)
{
    const struct tt_description *desc = inputs->unit->fmu->desc;
    size_t count = 0, kept = 0;
    for (uint32_t i = 0; i < desc->var_count; i++)
        count += is_continuous_input(&desc->vars[i]);
    inputs->variables = calloc(count + 1, sizeof *inputs->variables);
    if (!inputs->variables)
        return tt_fail_memory();
    for (uint32_t i = 0; i < desc->var_count; i++) {
        const struct tt_var *var = &desc->vars[i];
        if (!is_continuous_input(var))
            continue;
        struct tt_me_input_variable *variable = &inputs->variables[inputs->variable_count++];
        *variable = (struct tt_me_input_variable){.type = var->type, .reference = var->reference, .variable = i};
        TRY(tt_unit_extent(inputs->unit, i, &variable->extent));
    }
    qsort(inputs->variables, inputs->variable_count, sizeof *inputs->variables, compare_input_references);
    for (size_t i = 0; i < inputs->variable_count; i++) {
        if (kept > 0 && compare_input_references(&inputs->variables[i], &inputs->variables[kept - 1]) == 0)
            continue;
        inputs->variables[kept] = inputs->variables[i];
        inputs->variables[kept++].first = inputs->count;
        inputs->count += inputs->variables[i].extent;
    }
    inputs->variable_count = kept;
    return TUTTI_OK;
}

/* Sets the described start values if the FMU does not report any: one value for each element, or one for all. */
static void set_described_starts(struct tt_me_inputs *inputs)
{
    for (size_t v = 0; v < inputs->variable_count; v++) {
        const struct tt_me_input_variable *variable = &inputs->variables[v];
        const struct tt_var *var = &inputs->unit->fmu->desc->vars[variable->variable];
        for (size_t e = 0; e < variable->extent && var->start && var->start_count > 0; e++) {
            size_t at = e < var->start_count ? e : var->start_count - 1;
            inputs->items[variable->first + e].value = variable->type == TUTTI_TYPE_FLOAT64
                                                           ? ((const double *)var->start)[at]
                                                           : ((const float *)var->start)[at];
        }
    }
}

/* When they are first needed: extents of arrays are known only after the configuration. */
static enum tutti_err me_inputs_prepare(struct tt_me_inputs *inputs)
{
    if (inputs->variables)
        return TUTTI_OK;
    TRY(collect_input_variables(inputs));
    inputs->items = calloc(inputs->count + 1, sizeof *inputs->items);
    inputs->moving = calloc(inputs->variable_count + 1, sizeof *inputs->moving);
    inputs->references = calloc(inputs->variable_count + 1, sizeof *inputs->references);
    inputs->values = calloc(inputs->count + 1, sizeof *inputs->values);
    inputs->floats = calloc(inputs->count + 1, sizeof *inputs->floats);
    inputs->curve_of = calloc(inputs->count + 1, sizeof *inputs->curve_of);
    if (!inputs->curve_of || !inputs->items || !inputs->moving || !inputs->references || !inputs->values ||
        !inputs->floats)
        return tt_fail_memory();
    set_described_starts(inputs);
    return TUTTI_OK;
}

void tt_me_inputs_fini(struct tt_me_inputs *inputs)
{
    free(inputs->variables);
    free(inputs->items);
    free(inputs->moving);
    free(inputs->references);
    free(inputs->values);
    free(inputs->floats);
    free(inputs->curve_of);
}

static struct tt_me_input_variable *me_inputs_find(struct tt_me_inputs *inputs, enum tt_type type, uint32_t reference)
{
    struct tt_me_input_variable key = {.type = type, .reference = reference};
    return bsearch(&key, inputs->variables, inputs->variable_count, sizeof key, compare_input_references);
}

/* Of either type: only FMI 3.0 has Float32, and there a reference has one type. */
static struct tt_me_input_variable *me_inputs_find_any(struct tt_me_inputs *inputs, uint32_t reference)
{
    struct tt_me_input_variable *variable = me_inputs_find(inputs, TUTTI_TYPE_FLOAT64, reference);
    return variable ? variable : me_inputs_find(inputs, TUTTI_TYPE_FLOAT32, reference);
}

static double polynomial_at(const struct tt_me_input *input, double t, int order)
{
    double since = t - input->since, sum = 0;
    for (int k = ME_INPUT_ORDERS; k > order; k--) /* Horner's rule on the Taylor series */
        sum = (sum + input->derivatives[k - 1]) * since / (k - order);
    return sum + (order == 0 ? input->value : input->derivatives[order - 1]);
}

double tt_me_inputs_evaluate(const struct tt_me_inputs *inputs, size_t item, double t, int order)
{
    size_t curve = inputs->curve_of[item];
    if (curve > 0)
        return order > 1 ? 0 : inputs->curves.at(inputs->curves.context, curve - 1, t, order);
    return polynomial_at(&inputs->items[item], t, order);
}

static bool me_input_is_moving(const struct tt_me_input *input)
{
    for (int k = 0; k < ME_INPUT_ORDERS; k++)
        if (input->derivatives[k] != 0)
            return true;
    return false;
}

void tt_me_inputs_collect(struct tt_me_inputs *inputs)
{
    inputs->moving_count = 0;
    for (size_t v = 0; v < inputs->variable_count; v++) {
        const struct tt_me_input_variable *variable = &inputs->variables[v];
        bool moving = false;
        for (size_t e = 0; e < variable->extent; e++)
            moving = moving || inputs->curve_of[variable->first + e] > 0 ||
                     me_input_is_moving(&inputs->items[variable->first + e]);
        if (moving)
            inputs->moving[inputs->moving_count++] = v;
    }
}

/* Variables of one type, in one call. *refused: the FMU does not let them be read. */
static enum tutti_err read_inputs_of_type(struct tt_me_inputs *inputs, enum tt_type type, size_t count, size_t values,
                                          bool *refused)
{
    void *to = type == TUTTI_TYPE_FLOAT64 ? (void *)inputs->values : (void *)inputs->floats;
    if (count == 0)
        return TUTTI_OK;
    TRY(tt_instance_try_get(inputs->instance, type, inputs->references, count, to, values, refused));
    for (size_t i = 0; i < values && type == TUTTI_TYPE_FLOAT32; i++)
        inputs->values[i] = inputs->floats[i];
    return TUTTI_OK;
}

static enum tutti_err write_inputs_of_type(struct tt_me_inputs *inputs, enum tt_type type, size_t count, size_t values)
{
    const void *from = type == TUTTI_TYPE_FLOAT64 ? (const void *)inputs->values : (const void *)inputs->floats;
    if (count == 0)
        return TUTTI_OK;
    for (size_t i = 0; i < values && type == TUTTI_TYPE_FLOAT32; i++)
        inputs->floats[i] = (float)inputs->values[i];
    return tt_instance_set(inputs->instance, type, inputs->references, count, from, values);
}

static const enum tt_type types[] = {TUTTI_TYPE_FLOAT64, TUTTI_TYPE_FLOAT32};
enum { TYPES = sizeof types / sizeof *types };

enum tutti_err tt_me_inputs_read(struct tt_me_inputs *inputs, double t)
{
    TRY(me_inputs_prepare(inputs));
    for (size_t type = 0; type < TYPES; type++) {
        size_t count = 0, values = 0;
        for (size_t v = 0; v < inputs->variable_count; v++)
            if (inputs->variables[v].type == types[type]) {
                inputs->references[count++] = inputs->variables[v].reference;
                values += inputs->variables[v].extent;
            }
        bool refused = false; /* then they are the values last set in the FMU */
        TRY(read_inputs_of_type(inputs, types[type], count, values, &refused));
        const double *value = inputs->values;
        for (size_t v = 0; v < inputs->variable_count; v++)
            for (size_t e = 0; e < inputs->variables[v].extent && inputs->variables[v].type == types[type]; e++) {
                struct tt_me_input *input = &inputs->items[inputs->variables[v].first + e];
                input->value = refused ? input->value : *value++;
                input->since = t;
            }
    }
    tt_me_inputs_collect(inputs);
    return TUTTI_OK;
}

/* Collects the values just set to a variable, as doubles, in `values`. After a variable that is not an input here the
 * position in the block is unknown (*at is SIZE_MAX): then the values are read from the FMU. */
static enum tutti_err collect_set_values(struct tt_me_inputs *inputs, const struct tt_block *block, size_t i,
                                         size_t extent, size_t *at)
{
    if (*at == SIZE_MAX) {
        bool refused = false;
        inputs->references[0] = block->references[i];
        TRY(read_inputs_of_type(inputs, block->type, 1, extent, &refused));
        return refused ? tt_fail(TUTTI_ERR_FMU, "%s: the FMU does not let its input with reference %u be read",
                                 inputs->unit->name, (unsigned)block->references[i])
                       : TUTTI_OK;
    }
    for (size_t e = 0; e < extent; e++)
        inputs->values[e] = block->type == TUTTI_TYPE_FLOAT64 ? ((const double *)block->values)[*at + e]
                                                              : ((const float *)block->values)[*at + e];
    *at += extent;
    return TUTTI_OK;
}

enum tutti_err tt_me_inputs_record(struct tt_me_inputs *inputs, double t, const struct tt_block *block, bool *news)
{
    TRY(me_inputs_prepare(inputs));
    bool collect = false, ours = block->type == TUTTI_TYPE_FLOAT64 || block->type == TUTTI_TYPE_FLOAT32;
    size_t at = 0;
    *news = !ours;
    for (size_t i = 0; i < block->count && ours; i++) {
        const struct tt_me_input_variable *variable = me_inputs_find_any(inputs, block->references[i]);
        if (!variable) {
            *news = true; /* a tunable parameter, a discrete input: whatever it is, it counts */
            at = block->count == block->value_count && at != SIZE_MAX ? at + 1 : SIZE_MAX;
            continue;
        }
        TRY(collect_set_values(inputs, block, i, variable->extent, &at));
        for (size_t e = 0; e < variable->extent; e++) {
            struct tt_me_input *input = &inputs->items[variable->first + e];
            if (inputs->curve_of[variable->first + e] > 0)
                continue; /* which is known already */
            bool moving = me_input_is_moving(input);
            *news = *news || moving || inputs->values[e] != polynomial_at(input, t, 0);
            collect = collect || moving;
            *input = (struct tt_me_input){.value = inputs->values[e], .since = t};
        }
    }
    if (collect)
        tt_me_inputs_collect(inputs);
    return TUTTI_OK;
}

static enum tutti_err fail_no_continuous_input(const struct tt_me_inputs *inputs, uint32_t reference)
{
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s: the variable with reference %u is no continuous Real input",
                   inputs->unit->name, (unsigned)reference);
}

static void set_input_derivative(struct tt_me_input *input, double t, int32_t order, double value, bool *changed)
{
    if (input->since != t) /* the polynomial continues from here */
        *input = (struct tt_me_input){
            .value = polynomial_at(input, t, 0),
            .since = t,
            .derivatives = {polynomial_at(input, t, 1), polynomial_at(input, t, 2), polynomial_at(input, t, 3)}};
    *changed = *changed || input->derivatives[order - 1] != value;
    input->derivatives[order - 1] = value;
}

enum tutti_err tt_me_inputs_set_derivatives(struct tt_me_inputs *inputs, double t, const uint32_t *references,
                                            const size_t *elements, size_t count, const int32_t *orders,
                                            const double *values, bool *news)
{
    TRY(me_inputs_prepare(inputs));
    bool changed = false;
    for (size_t i = 0; i < count; i++) {
        size_t element = elements ? elements[i] : 0;
        const struct tt_me_input_variable *variable = me_inputs_find_any(inputs, references[i]);
        if (!variable || element >= variable->extent)
            return fail_no_continuous_input(inputs, references[i]);
        if (orders[i] < 1 || orders[i] > ME_INPUT_ORDERS)
            return tt_fail(TUTTI_ERR_ARGUMENT, "%s: input derivatives go up to order %d, not %d", inputs->unit->name,
                           ME_INPUT_ORDERS, (int)orders[i]);
        set_input_derivative(&inputs->items[variable->first + element], t, orders[i], values[i], &changed);
    }
    *news = *news || changed;
    if (changed)
        tt_me_inputs_collect(inputs);
    return TUTTI_OK;
}

/* How an input is handed over: as it is at t1, or its mean from t0 to t1. */
struct input_sample {
    bool mean;
    double t0, t1;
};

/* The mean of a polynomial: its integral, divided by the interval. */
static double polynomial_average(const struct tt_me_input *input, double t0, double t1)
{
    double a = t0 - input->since, b = t1 - input->since, sum = input->value * (b - a);
    double pa = a, pb = b, factor = 1;
    for (int k = 1; k <= ME_INPUT_ORDERS; k++) {
        pa *= a;
        pb *= b;
        factor *= k + 1;
        sum += input->derivatives[k - 1] * (pb - pa) / factor;
    }
    return sum / (b - a);
}

/* The value of an item as it is to be handed over. The mean of a curve is by Gauss's formula with three points. */
static double sample_input(const struct tt_me_inputs *inputs, size_t item, const struct input_sample *sample)
{
    if (!sample->mean)
        return tt_me_inputs_evaluate(inputs, item, sample->t1, 0);
    if (inputs->curve_of[item] == 0)
        return polynomial_average(&inputs->items[item], sample->t0, sample->t1);
    double middle = (sample->t0 + sample->t1) / 2, off = sqrt(0.6) * (sample->t1 - sample->t0) / 2;
    return (5 * tt_me_inputs_evaluate(inputs, item, middle - off, 0) +
            8 * tt_me_inputs_evaluate(inputs, item, middle, 0) +
            5 * tt_me_inputs_evaluate(inputs, item, middle + off, 0)) /
           18;
}

static enum tutti_err fail_input_not_finite(const struct tt_me_inputs *inputs,
                                            const struct tt_me_input_variable *variable, double t)
{
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s: the signal that drives '%s' is not a finite number at t = %s",
                   inputs->unit->name, inputs->unit->fmu->desc->vars[variable->variable].name, NUMBER(t));
}

/* Hands variables to the FMU, one call per type: those that move, or all. */
static enum tutti_err me_inputs_hand_over(struct tt_me_inputs *inputs, bool all, const struct input_sample *sample)
{
    size_t variables = all ? inputs->variable_count : inputs->moving_count;
    for (size_t type = 0; type < TYPES; type++) {
        size_t count = 0, values = 0;
        for (size_t v = 0; v < variables; v++) {
            const struct tt_me_input_variable *variable = &inputs->variables[all ? v : inputs->moving[v]];
            if (variable->type != types[type])
                continue;
            inputs->references[count++] = variable->reference;
            for (size_t e = 0; e < variable->extent; e++) {
                inputs->values[values] = sample_input(inputs, variable->first + e, sample);
                if (__builtin_expect(!isfinite(inputs->values[values++]) && inputs->curve_of[variable->first + e] > 0,
                                     0))
                    return fail_input_not_finite(inputs, variable, sample->t1);
            }
        }
        TRY(write_inputs_of_type(inputs, types[type], count, values));
    }
    return TUTTI_OK;
}

enum tutti_err tt_me_inputs_write(struct tt_me_inputs *inputs, double t)
{
    return me_inputs_hand_over(inputs, true, &(struct input_sample){.t1 = t});
}

enum tutti_err tt_me_inputs_write_instance(struct tt_me_inputs *inputs, struct tt_instance *instance, double t)
{
    struct tt_instance *own = inputs->instance;
    inputs->instance = instance;
    enum tutti_err err = tt_me_inputs_write(inputs, t);
    inputs->instance = own;
    return err;
}

enum tutti_err tt_me_inputs_apply(struct tt_me_inputs *inputs, double t)
{
    return me_inputs_hand_over(inputs, false, &(struct input_sample){.t1 = t});
}

enum tutti_err tt_me_inputs_apply_average(struct tt_me_inputs *inputs, double t0, double t1)
{
    return me_inputs_hand_over(inputs, false, &(struct input_sample){true, t0, t1});
}

enum tutti_err tt_me_inputs_attach_curves(struct tt_me_inputs *inputs, const struct tt_input_curves *curves)
{
    TRY(me_inputs_prepare(inputs));
    inputs->curves = *curves;
    for (size_t i = 0; i < curves->count; i++) {
        const struct tt_me_input_variable *variable = me_inputs_find_any(inputs, curves->references[i]);
        if (!variable || curves->elements[i] >= variable->extent)
            return fail_no_continuous_input(inputs, curves->references[i]);
        inputs->curve_of[variable->first + curves->elements[i]] = i + 1;
    }
    tt_me_inputs_collect(inputs);
    return TUTTI_OK;
}

struct tt_me_input *tt_me_inputs_saved_new(const struct tt_me_inputs *inputs)
{
    return calloc(inputs->count + 1, sizeof(struct tt_me_input));
}

void tt_me_inputs_save(const struct tt_me_inputs *inputs, struct tt_me_input *saved)
{
    memcpy(saved, inputs->items, inputs->count * sizeof *saved);
}

void tt_me_inputs_restore(struct tt_me_inputs *inputs, const struct tt_me_input *saved)
{
    memcpy(inputs->items, saved, inputs->count * sizeof *saved);
    tt_me_inputs_collect(inputs);
}
