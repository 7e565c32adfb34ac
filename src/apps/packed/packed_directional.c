/* SPDX-License-Identifier: MIT */
#include "apps/packed/packed_directional.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apps/analyze/coupled_linear.h"
#include "apps/packed/packed_equations.h"
#include "apps/packed/packed_instance.h"
#include "sim/start/linear_model.h"

/* All units at one point, as one linear system. */
struct tt_packed_directional {
    unsigned long point; /* of packed->points */
    struct tt_linear_collection units;
    struct tutti_linearization whole;
    bool *reached;                 /* per input of the units: a connection ends there */
    double *states, *inputs;       /* a seed; inputs are the whole's */
    double *derivatives, *outputs; /* what follows */
};

void tt_packed_directional_invalidate(struct tt_packed *packed)
{
    if (!packed)
        return;
    struct tt_packed_directional *own = packed->directional;
    packed->directional = NULL;
    if (!own)
        return;
    tt_coupled_linear_free_collection(&own->units);
    tutti_linearization_fini(&own->whole);
    free(own->reached);
    free(own->states);
    free(own->inputs);
    free(own->derivatives);
    free(own->outputs);
    free(own);
}

static enum tutti_err packed_directional_allocate(struct tt_packed_directional *own, size_t inputs)
{
    own->reached = calloc(inputs + 1, sizeof *own->reached);
    own->states = calloc(own->whole.state_count + 1, sizeof *own->states);
    own->inputs = calloc(own->whole.input_count + 1, sizeof *own->inputs);
    own->derivatives = calloc(own->whole.state_count + 1, sizeof *own->derivatives);
    own->outputs = calloc(own->whole.output_count + 1, sizeof *own->outputs);
    if (!own->reached || !own->states || !own->inputs || !own->derivatives || !own->outputs)
        return tt_fail_memory();
    for (size_t l = 0; l < own->units.link_count; l++)
        own->reached[own->units.links[l].input] = true;
    return TUTTI_OK;
}

/* Columns of one Jacobian are asked for one after another, at one point: this is made once. */
static enum tutti_err packed_directional_linearize(struct tt_packed *packed)
{
    if (packed->directional && packed->directional->point == packed->points)
        return TUTTI_OK;
    tt_packed_directional_invalidate(packed);
    if (packed->equations)
        TRY(tt_packed_equations_evaluate(packed));
    struct tt_packed_directional *own = packed->directional = calloc(1, sizeof *own);
    if (!own)
        return tt_fail_memory();
    own->point = packed->points;
    own->units.rank = &packed->simulation->execution.rank;
    uint32_t count = own->units.rank->member_count;
    enum tutti_err err = tt_coupled_linear_collect(&own->units);
    if (!err)
        err = tt_coupled_linear_assemble(&own->whole, own->units.parts, count, own->units.links, own->units.link_count);
    if (!err)
        err = packed_directional_allocate(own, own->units.first_input[count]);
    if (err)
        tt_packed_directional_invalidate(packed);
    return err;
}

/* ---- where a variable is ---- */

enum directional_value_kind { NOWHERE, STATE, DERIVATIVE, INPUT, OUTPUT };

static const struct tt_description *packed_directional_desc(const struct tt_packed *packed, uint32_t component)
{
    return packed->simulation->execution.rank.units[component]->fmu->desc;
}

/* Of a state or a derivative: its first value among all states. */
static bool find_state_index(const struct tt_packed *packed, const struct tt_packed_end *end, bool derivative,
                             size_t *place)
{
    const struct tt_description *desc = packed_directional_desc(packed, end->component);
    *place = packed->directional->units.first_state[end->component];
    for (uint32_t k = 0; k < desc->derivatives.count; k++) {
        uint32_t variable = desc->derivatives.items[k].variable, state = desc->vars[variable].derivative_of;
        size_t extent = 0;
        if ((derivative ? variable : state) == end->variable)
            return true;
        if (tt_unit_extent(packed->simulation->execution.rank.units[end->component], variable, &extent) == TUTTI_OK)
            *place += extent;
    }
    return false;
}

/* The place of an input in the whole's; false: a connection has it. */
static bool packed_directional_find_column(const struct tt_packed_directional *own, size_t input, size_t *column)
{
    *column = 0;
    for (size_t i = 0; i < input; i++)
        *column += !own->reached[i];
    return !own->reached[input];
}

static enum directional_value_kind find_value_place(const struct tt_packed *packed, const struct tt_packed_end *end,
                                                    bool known, size_t *place)
{
    const struct tt_packed_directional *own = packed->directional;
    const struct tt_var *var = &packed_directional_desc(packed, end->component)->vars[end->variable];
    enum directional_value_kind where = NOWHERE;
    *place = 0;
    if (packed->exchange && find_state_index(packed, end, !known, place)) {
        where = known ? STATE : DERIVATIVE;
    } else if (tt_linear_model_is_real(var) && var->causality == (known ? TUTTI_INPUT : TUTTI_OUTPUT)) {
        where = known ? INPUT : OUTPUT;
        *place = tt_coupled_linear_index(&own->units, end->component, end->variable, !known);
    } else if (packed->exchange && !known && find_state_index(packed, end, false, place)) {
        where = STATE; /* a variable that is not an output of its unit */
    }
    size_t element = 0;
    if (where != NOWHERE && end->element.count > 0 &&
        tt_unit_element(packed->simulation->execution.rank.units[end->component], end->variable, &end->element,
                        &element))
        return NOWHERE;
    *place += element;
    return where != INPUT || packed_directional_find_column(own, *place, place) ? where : NOWHERE;
}

static double packed_directional_unit_factor(const struct tt_packed *packed, const struct tt_packed_end *end)
{
    const struct tt_conversion *conversion = tt_packed_values_conversion(packed, end);
    return conversion && conversion->linear ? conversion->factor : 1;
}

static enum tutti_err packed_directional_reject(const struct tt_packed *packed, uint32_t reference, bool known)
{
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s: there are no directional derivatives %s '%s': only of %s", packed->name,
                   known ? "by" : "of",
                   reference > 0 && reference <= packed->table.count ? packed->table.rows[reference - 1].name : "time",
                   known ? (packed->exchange ? "continuous inputs and states" : "continuous inputs")
                         : (packed->exchange ? "continuous outputs and derivatives" : "continuous outputs"));
}

/* ---- through the system ---- */

static enum tutti_err scatter_seed(struct tt_packed *packed, const struct tt_directional_side *knowns,
                                   const double *seed)
{
    struct tt_packed_directional *own = packed->directional;
    memset(own->states, 0, own->whole.state_count * sizeof *own->states);
    memset(own->inputs, 0, own->whole.input_count * sizeof *own->inputs);
    for (size_t i = 0; i < knowns->count; i++) {
        uint32_t reference = knowns->references[i];
        if (reference == 0 || reference > packed->table.count)
            return packed_directional_reject(packed, reference, true);
        const struct tt_packed_variable *variable = &packed->variables[reference - 1];
        for (size_t e = 0; e < variable->end_count; e++) {
            size_t place;
            enum directional_value_kind where = find_value_place(packed, &variable->ends[e], true, &place);
            if (where == NOWHERE)
                return packed_directional_reject(packed, reference, true);
            double *sums = where == STATE ? &own->states[place] : &own->inputs[place];
            for (size_t n = 0; n < variable->size; n++)
                sums[n] += packed_directional_unit_factor(packed, &variable->ends[e]) * seed[n];
        }
        seed += variable->size;
    }
    return TUTTI_OK;
}

static void packed_directional_multiply(const struct tutti_matrix *matrix, const double *vector, double *product)
{
    for (size_t c = 0; c < matrix->column_count; c++)
        for (int k = matrix->starts[c]; k < matrix->starts[c + 1]; k++)
            product[matrix->rows[k]] += matrix->values[k] * vector[c];
}

static enum tutti_err gather_sensitivity(struct tt_packed *packed, const struct tt_directional_side *unknowns,
                                         double *product)
{
    const struct tt_packed_directional *own = packed->directional;
    for (size_t i = 0; i < unknowns->count; i++) {
        uint32_t reference = unknowns->references[i];
        if (reference == 0 || reference > packed->table.count || packed->variables[reference - 1].end_count == 0)
            return packed_directional_reject(packed, reference, false);
        const struct tt_packed_variable *variable = &packed->variables[reference - 1];
        size_t place;
        enum directional_value_kind where = find_value_place(packed, &variable->ends[0], false, &place);
        const double *from = where == DERIVATIVE ? own->derivatives : where == STATE ? own->states : own->outputs;
        if (where == NOWHERE)
            return packed_directional_reject(packed, reference, false);
        for (size_t n = 0; n < variable->size; n++)
            *product++ = packed_directional_unit_factor(packed, &variable->ends[0]) * from[place + n];
    }
    return TUTTI_OK;
}

/* ---- in the initialisation ---- */

static enum tutti_err packed_directional_get_all(struct tt_packed *packed, const struct tt_directional_side *side,
                                                 double *values)
{
    for (size_t i = 0; i < side->count; i++) {
        TRY(tt_packed_values_get(packed, side->references[i], TUTTI_TYPE_FLOAT64, values));
        values += tt_packed_values_size(packed, side->references[i]);
    }
    return TUTTI_OK;
}

static enum tutti_err packed_directional_set_all(struct tt_packed *packed, const struct tt_directional_side *side,
                                                 const double *values)
{
    for (size_t i = 0; i < side->count; i++) {
        TRY(tt_packed_values_set(packed, side->references[i], TUTTI_TYPE_FLOAT64, values));
        values += tt_packed_values_size(packed, side->references[i]);
    }
    return TUTTI_OK;
}

/* Central differences along the seed; `room` is for twice the knowns, then the unknowns. */
static enum tutti_err central_differences(struct tt_packed *packed, const struct tt_directional_side *unknowns,
                                          const struct tt_directional_side *knowns, const double *seed, double *product,
                                          double *room)
{
    double *base = room, *moved = base + knowns->value_count, *before = moved + knowns->value_count;
    double size = 1, largest = 0;
    TRY(packed_directional_get_all(packed, knowns, base));
    for (size_t i = 0; i < knowns->value_count; i++) {
        size = fmax(size, fabs(base[i]));
        largest = fmax(largest, fabs(seed[i]));
    }
    memset(product, 0, unknowns->value_count * sizeof *product);
    if (!(largest > 0))
        return TUTTI_OK;
    double reach = TUTTI_LINEAR_REACH * size / largest;
    for (int side = -1; side <= 1; side += 2) {
        for (size_t i = 0; i < knowns->value_count; i++)
            moved[i] = base[i] + side * reach * seed[i];
        TRY(packed_directional_set_all(packed, knowns, moved));
        TRY(packed_directional_get_all(packed, unknowns, side < 0 ? before : product));
    }
    for (size_t i = 0; i < unknowns->value_count; i++)
        product[i] = (product[i] - before[i]) / (2 * reach);
    return packed_directional_set_all(packed, knowns, base);
}

static enum tutti_err restart_central_differences(struct tt_packed *packed, const struct tt_directional_side *unknowns,
                                                  const struct tt_directional_side *knowns, const double *seed,
                                                  double *product)
{
    double *room = calloc(2 * knowns->value_count + unknowns->value_count + 1, sizeof *room);
    if (!room)
        return tt_fail_memory();
    enum tutti_err err = central_differences(packed, unknowns, knowns, seed, product, room);
    free(room);
    return err;
}

static enum tutti_err check_counts(const struct tt_packed *packed, const struct tt_directional_side *side)
{
    size_t count = 0;
    for (size_t i = 0; i < side->count; i++)
        count += tt_packed_values_size(packed, side->references[i]);
    return count == side->value_count ? TUTTI_OK
                                      : tt_fail(TUTTI_ERR_ARGUMENT, "%s: the variables have %zu values, not %zu",
                                                packed->name, count, side->value_count);
}

enum tutti_err tt_packed_directional_compute(struct tt_packed *packed, const struct tt_directional_side *unknowns,
                                             const struct tt_directional_side *knowns, const double *seed,
                                             double *product)
{
    TRY(tt_packed_check(packed, TUTTI_PACKED_IN(TUTTI_PACKED_INITIALISING) | TUTTI_PACKED_IN(TUTTI_PACKED_RUNNING),
                        "asking for directional derivatives"));
    TRY(check_counts(packed, unknowns));
    TRY(check_counts(packed, knowns));
    if (packed->stage == TUTTI_PACKED_INITIALISING)
        return restart_central_differences(packed, unknowns, knowns, seed, product);
    TRY(packed_directional_linearize(packed));
    struct tt_packed_directional *own = packed->directional;
    TRY(scatter_seed(packed, knowns, seed));
    memset(own->derivatives, 0, own->whole.state_count * sizeof *own->derivatives);
    memset(own->outputs, 0, own->whole.output_count * sizeof *own->outputs);
    packed_directional_multiply(&own->whole.a, own->states, own->derivatives);
    packed_directional_multiply(&own->whole.b, own->inputs, own->derivatives);
    packed_directional_multiply(&own->whole.c, own->states, own->outputs);
    packed_directional_multiply(&own->whole.d, own->inputs, own->outputs);
    return gather_sensitivity(packed, unknowns, product);
}
