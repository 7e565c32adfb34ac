/* SPDX-License-Identifier: MIT */
/* Inputs of a Model Exchange unit that move inside a step, as polynomials in time. */
#include <math.h>
#include <stdlib.h>

#include "unit/me.h"

static int by_reference(const void *a, const void *b)
{
    uint32_t left = ((const struct me_input *)a)->reference, right = ((const struct me_input *)b)->reference;
    return left < right ? -1 : left > right;
}

static bool is_continuous(const struct tutti_var *var)
{
    return var->causality == TUTTI_INPUT && tutti_type_is_float(var->type) && var->variability == TUTTI_CONTINUOUS;
}

static bool can_move(const struct tutti_var *var)
{
    return is_continuous(var) && var->type == TUTTI_TYPE_FLOAT64 && var->dimension_count == 0;
}

enum tutti_err tutti_me_inputs_init(struct me *me)
{
    const struct tutti_desc *desc = me->unit.fmu->desc;
    struct me_inputs *inputs = &me->inputs;
    size_t count = 0;
    for (uint32_t i = 0; i < desc->var_count; i++)
        count += is_continuous(&desc->vars[i]);
    inputs->items = calloc(count + 1, sizeof *inputs->items);
    inputs->moving = calloc(count + 1, sizeof *inputs->moving);
    inputs->references = calloc(count + 1, sizeof *inputs->references);
    inputs->values = calloc(count + 1, sizeof *inputs->values);
    inputs->others = calloc(count + 1, sizeof *inputs->others);
    if (!inputs->items || !inputs->moving || !inputs->references || !inputs->values || !inputs->others)
        return tutti_fail_memory();
    for (uint32_t i = 0; i < desc->var_count; i++) {
        const struct tutti_var *var = &desc->vars[i];
        if (can_move(var) && !var->alias)
            inputs->items[inputs->count++] =
                (struct me_input){.reference = var->reference, .value = var->start ? *(const double *)var->start : 0};
        else if (is_continuous(var) && !var->alias)
            inputs->others[inputs->other_count++] = i;
    }
    qsort(inputs->items, inputs->count, sizeof *inputs->items, by_reference);
    size_t kept = 0; /* FMI 2.0: aliases are variables with the same reference */
    for (size_t i = 0; i < inputs->count; i++)
        if (kept == 0 || inputs->items[i].reference != inputs->items[kept - 1].reference)
            inputs->items[kept++] = inputs->items[i];
    inputs->count = kept;
    return TUTTI_OK;
}

enum tutti_err tutti_me_inputs_read(struct me *me)
{
    struct me_inputs *inputs = &me->inputs;
    if (inputs->count == 0)
        return TUTTI_OK;
    for (size_t i = 0; i < inputs->count; i++)
        inputs->references[i] = inputs->items[i].reference;
    bool refused = false; /* then they are what the FMU was told */
    TRY(tutti_instance_ask(me->instance, TUTTI_TYPE_FLOAT64, inputs->references, inputs->count, inputs->values,
                           inputs->count, &refused));
    for (size_t i = 0; i < inputs->count; i++) {
        if (!refused)
            inputs->items[i].value = inputs->values[i];
        inputs->items[i].since = me->t;
    }
    tutti_me_inputs_collect(me); /* which lays `references` out again */
    return TUTTI_OK;
}

void tutti_me_inputs_fini(struct me *me)
{
    free(me->inputs.items);
    free(me->inputs.moving);
    free(me->inputs.references);
    free(me->inputs.values);
    free(me->inputs.others);
}

static struct me_input *find(struct me_inputs *inputs, uint32_t reference)
{
    struct me_input key = {.reference = reference};
    return bsearch(&key, inputs->items, inputs->count, sizeof key, by_reference);
}

double tutti_me_input_at(const struct me_input *input, double t, int order)
{
    double since = t - input->since, sum = 0;
    for (int k = ME_INPUT_ORDERS; k > order; k--) /* Horner's rule on the Taylor series */
        sum = (sum + input->derivatives[k - 1]) * since / (k - order);
    return sum + (order == 0 ? input->value : input->derivatives[order - 1]);
}

static bool moves(const struct me_input *input)
{
    for (int k = 0; k < ME_INPUT_ORDERS; k++)
        if (input->derivatives[k] != 0)
            return true;
    return false;
}

void tutti_me_inputs_collect(struct me *me)
{
    struct me_inputs *inputs = &me->inputs;
    inputs->moving_count = 0;
    for (size_t i = 0; i < inputs->count; i++)
        if (moves(&inputs->items[i])) {
            inputs->references[inputs->moving_count] = inputs->items[i].reference;
            inputs->moving[inputs->moving_count++] = i;
        }
}

/* The value that an input was just set to. Where arrays are in its block, the FMU knows best. */
static enum tutti_err value_set(struct me *me, const struct tutti_block *block, size_t i, double *value)
{
    if (block->count != block->value_count)
        return tutti_instance_get(me->instance, TUTTI_TYPE_FLOAT64, &block->references[i], 1, value, 1);
    *value = ((const double *)block->values)[i];
    return TUTTI_OK;
}

enum tutti_err tutti_me_inputs_note(struct me *me, const struct tutti_block *block, bool *news)
{
    bool collect = false;
    *news = block->type != TUTTI_TYPE_FLOAT64;
    for (size_t i = 0; i < block->count && block->type == TUTTI_TYPE_FLOAT64; i++) {
        struct me_input *input = find(&me->inputs, block->references[i]);
        double value = 0;
        if (!input) {
            *news = true; /* a tunable parameter, a discrete input: whatever it is, it counts */
            continue;
        }
        TRY(value_set(me, block, i, &value));
        bool moving = moves(input);
        *news = *news || moving || value != tutti_me_input_at(input, me->t, 0);
        collect = collect || moving;
        *input = (struct me_input){.reference = input->reference, .value = value, .since = me->t};
    }
    if (collect)
        tutti_me_inputs_collect(me);
    return TUTTI_OK;
}

enum tutti_err tutti_me_inputs_derivatives(struct me *me, const uint32_t *references, size_t count,
                                           const int32_t *orders, const double *values, bool *news)
{
    bool collect = false;
    for (size_t i = 0; i < count; i++) {
        struct me_input *input = find(&me->inputs, references[i]);
        if (!input)
            return tutti_fail(TUTTI_ERR_ARGUMENT, "%s: the variable with reference %u is no continuous Real input",
                              me->unit.name, (unsigned)references[i]);
        if (orders[i] < 1 || orders[i] > ME_INPUT_ORDERS)
            return tutti_fail(TUTTI_ERR_ARGUMENT, "%s: input derivatives go up to order %d, not %d", me->unit.name,
                              ME_INPUT_ORDERS, (int)orders[i]);
        if (input->since != me->t) /* the polynomial goes on from here */
            *input = (struct me_input){.reference = input->reference,
                                       .value = tutti_me_input_at(input, me->t, 0),
                                       .since = me->t,
                                       .derivatives = {tutti_me_input_at(input, me->t, 1),
                                                       tutti_me_input_at(input, me->t, 2),
                                                       tutti_me_input_at(input, me->t, 3)}};
        double *derivative = &input->derivatives[orders[i] - 1];
        if (*derivative != values[i]) {
            *derivative = values[i];
            *news = collect = true;
        }
    }
    if (collect)
        tutti_me_inputs_collect(me);
    return TUTTI_OK;
}

enum tutti_err tutti_me_inputs_write(struct me *me)
{
    struct me_inputs *inputs = &me->inputs;
    if (inputs->count == 0)
        return TUTTI_OK;
    for (size_t i = 0; i < inputs->count; i++) {
        inputs->references[i] = inputs->items[i].reference;
        inputs->values[i] = tutti_me_input_at(&inputs->items[i], me->t, 0);
    }
    TRY(tutti_instance_set(me->instance, TUTTI_TYPE_FLOAT64, inputs->references, inputs->count, inputs->values,
                           inputs->count));
    tutti_me_inputs_collect(me); /* which lays `references` out again */
    return TUTTI_OK;
}

static enum tutti_err hand_over(struct me *me)
{
    const struct me_inputs *inputs = &me->inputs;
    return tutti_instance_set(me->instance, TUTTI_TYPE_FLOAT64, inputs->references, inputs->moving_count,
                              inputs->values, inputs->moving_count);
}

enum tutti_err tutti_me_inputs_apply(struct me *me, double t)
{
    struct me_inputs *inputs = &me->inputs;
    for (size_t i = 0; i < inputs->moving_count; i++)
        inputs->values[i] = tutti_me_input_at(&inputs->items[inputs->moving[i]], t, 0);
    return hand_over(me);
}

/* The mean of a polynomial: its integral, divided by the interval. */
static double average(const struct me_input *input, double t0, double t1)
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

enum tutti_err tutti_me_inputs_apply_average(struct me *me, double t0, double t1)
{
    struct me_inputs *inputs = &me->inputs;
    if (inputs->moving_count == 0)
        return TUTTI_OK;
    for (size_t i = 0; i < inputs->moving_count; i++)
        inputs->values[i] = average(&inputs->items[inputs->moving[i]], t0, t1);
    return hand_over(me);
}
