/* SPDX-License-Identifier: MIT */
#include "unit/me_derivatives.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

/* Reserves room for `numbers` numbers and the corresponding references. */
static enum tutti_err derivatives_reserve(struct tt_me_derivatives *own, size_t numbers, size_t references)
{
    if (numbers >= own->number_room) {
        double *more = realloc(own->numbers, (numbers + 1) * sizeof *more);
        if (!more)
            return tt_fail_memory();
        own->numbers = more;
        own->number_room = numbers + 1;
    }
    if (references >= own->reference_room) {
        uint32_t *more = realloc(own->references, (references + 1) * sizeof *more);
        if (!more)
            return tt_fail_memory();
        own->references = more;
        own->reference_room = references + 1;
    }
    return TUTTI_OK;
}

static enum tutti_err derivatives_get_reals(struct tt_me_derivatives *own, const uint32_t *references, size_t count,
                                            double *values)
{
    struct tt_me_model *model = own->solution->model;
    struct tt_block block = {TUTTI_TYPE_FLOAT64, count, count, (uint32_t *)references, values, NULL};
    model->unit->counts.gets++;
    return tt_me_model_get(model, &block, true);
}

static enum tutti_err derivatives_fail_no_value(const struct tt_me_derivatives *own, double t)
{
    const struct tt_me_model *model = own->solution->model;
    bool refused = tt_instance_refused(model->instance);
    return tt_fail(TUTTI_ERR_FMU, "%s (%s): the derivatives have no value at t = %s%s%s", model->unit->name,
                   model->unit->fmu->path, TIME(t), refused ? "; " : "",
                   refused ? tt_instance_refusal(model->instance) : "");
}

static enum tutti_err compute_slopes_here(struct tt_me_derivatives *own)
{
    struct tt_me_model *model = own->solution->model;
    struct tt_me_solution *solution = own->solution;
    if (model->states == 0)
        return TUTTI_OK;
    enum tt_eval eval = model->ode.rhs(model, solution->t, solution->x, solution->dx);
    model->counts.rhs++;
    if (eval == TUTTI_EVAL_FAILED)
        return model->ode.err;
    return eval == TUTTI_EVAL_OK ? TUTTI_OK : derivatives_fail_no_value(own, solution->t);
}

/* The time in which the solution changes by about its own size: the scale of differences. (The solver's steps are none:
 * they end where the unit's do, and may be as short as these.) */
static double solution_time_scale(const struct tt_me_derivatives *own)
{
    const struct tt_me_model *model = own->solution->model;
    const struct tt_me_solution *solution = own->solution;
    double scale = 0.1 * (model->setup.stop - model->setup.start);
    for (size_t i = 0; i < model->states; i++)
        if (solution->dx[i] != 0)
            scale = fmin(scale, fmax(fabs(solution->x[i]), model->nominals[i]) / fabs(solution->dx[i]));
    for (size_t i = 0; i < model->inputs.count; i++) {
        double slope = fabs(tt_me_inputs_evaluate(&model->inputs, i, solution->t, 1));
        if (slope > 0)
            scale = fmin(scale, fmax(fabs(tt_me_inputs_evaluate(&model->inputs, i, solution->t, 0)), 1) / slope);
    }
    return scale;
}

/* How far time may go from here, forwards and back: an FMU need not answer for times after its next time event or the
 * stop time, nor before its last event. */
struct difference_room {
    double ahead, behind;
};

static struct difference_room difference_room(const struct tt_me_derivatives *own)
{
    const struct tt_me_model *model = own->solution->model;
    const struct tt_me_solution *solution = own->solution;
    double last = fmin(model->calendar.next_event, model->setup.has_stop ? model->setup.stop : INFINITY);
    double first = model->calendar.events > 0 ? model->calendar.event_time : model->setup.start;
    double least = 64 * DBL_EPSILON * fabs(solution->t); /* less is lost in rounding */
    struct difference_room room = {last - solution->t, solution->t - first};
    return (struct difference_room){room.ahead > least ? room.ahead : 0, room.behind > least ? room.behind : 0};
}

/* Returns a distance for differences: of this size, if `count` steps fit, otherwise the largest possible, to the better
 * side. 0: time cannot be moved at all. */
static double difference_distance(const struct tt_me_derivatives *own, double wanted, int times)
{
    const struct tt_me_solution *solution = own->solution;
    struct difference_room room = difference_room(own);
    wanted = fmax(wanted, 64 * DBL_EPSILON * fabs(solution->t));
    if (room.ahead >= times * wanted || room.behind >= times * wanted)
        return room.ahead >= times * wanted ? wanted : -wanted;
    return (room.ahead >= room.behind ? room.ahead : -room.behind) / times;
}

/* The FMU at a distance in time from the unit, with these states; its inputs follow their polynomials. `still`: time stays
 * what it is. */
static enum tutti_err place_at_distance(struct tt_me_derivatives *own, double distance, const double *x, bool still)
{
    struct tt_me_model *model = own->solution->model;
    struct tt_me_solution *solution = own->solution;
    TRY(tt_me_model_place(model, still ? solution->t : solution->t + distance, x, NULL));
    return still && model->inputs.moving_count > 0 ? tt_me_inputs_apply(&model->inputs, solution->t + distance)
                                                   : TUTTI_OK;
}

/* y' = dg/dx x' + dg/du u', in one call. */
static enum tutti_err derive_by_chain_rule(struct tt_me_derivatives *own, const uint32_t *references, size_t count,
                                           double *values)
{
    struct tt_me_model *model = own->solution->model;
    struct tt_me_solution *solution = own->solution;
    const struct tt_me_axis *states = &model->variables;
    const struct tt_me_inputs *inputs = &model->inputs;
    size_t knowns = states->count + inputs->moving_count, seeds = model->states;
    TRY(derivatives_reserve(own, model->states + inputs->count, knowns));
    uint32_t *known = own->references;
    double *seed = own->numbers;
    memcpy(known, states->references, states->count * sizeof *known);
    memcpy(seed, solution->dx, model->states * sizeof *seed);
    for (size_t i = 0; i < inputs->moving_count; i++) {
        const struct tt_me_input_variable *variable = &inputs->variables[inputs->moving[i]];
        known[states->count + i] = variable->reference;
        for (size_t e = 0; e < variable->extent; e++)
            seed[seeds++] = tt_me_inputs_evaluate(inputs, variable->first + e, solution->t, 1);
    }
    model->counts.directional++;
    TRY(tt_unit_get_directional(model->unit, model->instance, model->options->log, references, count, known, knowns,
                                seed, seeds, values, count));

    /* An output that is a state has the state's derivative; some FMUs give no directional derivatives of states. */
    for (size_t s = 0; states->count == model->states && s < model->states; s++) /* only scalars */
        for (size_t i = 0; i < count; i++)
            if (references[i] == states->references[s])
                values[i] = solution->dx[s];
    return TUTTI_OK;
}

/* y' = (y(t + d) - y(t - d)) / 2d, along the tangent; if only one side is available, (y(t + d) - y(t)) / d. */
static enum tutti_err derive_by_differences(struct tt_me_derivatives *own, const uint32_t *references, size_t count,
                                            double *values)
{
    struct tt_me_model *model = own->solution->model;
    struct tt_me_solution *solution = own->solution;
    struct difference_room room = difference_room(own);
    double scale = solution_time_scale(own), wanted = 6e-6 * scale; /* third root of the rounding, or the second */
    bool both = fmin(room.ahead, room.behind) >= wanted;
    double d = both ? wanted : difference_distance(own, 1e-8 * scale, 1);
    bool still = d == 0;
    d = still ? 1e-8 * scale : (solution->t + d) - solution->t;
    TRY(derivatives_reserve(own, count, 0));
    double *there = own->numbers;
    for (int side = 0; side < 2; side++) {
        double s = side == 0 ? d : both ? -d : 0;
        for (size_t i = 0; i < model->states; i++)
            solution->scratch[i] = solution->x[i] + s * solution->dx[i];
        TRY(place_at_distance(own, s, solution->scratch, still));
        TRY(derivatives_get_reals(own, references, count, side == 0 ? values : there));
    }
    for (size_t i = 0; i < count; i++)
        values[i] = (values[i] - there[i]) / (both ? 2 * d : d);
    return TUTTI_OK;
}

/* x'' = (x'(t + d) - x'(t)) / d, along the tangent. */
static enum tutti_err compute_curvature_here(struct tt_me_derivatives *own, double *bend)
{
    struct tt_me_model *model = own->solution->model;
    struct tt_me_solution *solution = own->solution;
    double wanted = 1e-8 * solution_time_scale(own), d = difference_distance(own, wanted, 1);
    bool still = d == 0, discarded = false;
    d = still ? wanted : (solution->t + d) - solution->t;
    if (model->states == 0)
        return TUTTI_OK;
    for (size_t i = 0; i < model->states; i++)
        solution->scratch[i] = solution->x[i] + d * solution->dx[i];
    TRY(place_at_distance(own, d, solution->scratch, still));
    model->counts.rhs++;
    TRY(tt_instance_get_derivatives(model->instance, bend, model->states, &discarded));
    if (discarded)
        return derivatives_fail_no_value(own, solution->t + d);
    for (size_t i = 0; i < model->states; i++)
        bend[i] = (bend[i] - solution->dx[i]) / d;
    return TUTTI_OK;
}

/* y'' = (y(t - d) - 2 y(t) + y(t + d)) / d^2, or, if only one side is available, (2 y(t) - 5 y(t + d) + 4 y(t + 2 d) -
 * y(t + 3 d)) / d^2. The states are those of the Taylor series of order 2: both formulas are exact up to d^3, so the
 * missing terms have no effect. */
static enum tutti_err second_along_tangent(struct tt_me_derivatives *own, const uint32_t *references, size_t count,
                                           const double *bend, double *values, double *there)
{
    struct tt_me_model *model = own->solution->model;
    struct tt_me_solution *solution = own->solution;
    static const struct {
        int points, at[4];
        double weights[4];
    } central = {3, {0, -1, 1}, {-2, 1, 1}}, aside = {4, {0, 1, 2, 3}, {2, -5, 4, -1}};
    double wanted = 1e-3 * solution_time_scale(own), d = difference_distance(own, wanted, 3);
    struct difference_room room = difference_room(own);
    bool still = d == 0, both = still || fmin(room.ahead, room.behind) >= wanted;
    const int points = both ? central.points : aside.points, *at = both ? central.at : aside.at;
    const double *weights = both ? central.weights : aside.weights;
    d = both ? wanted : d;
    memset(values, 0, count * sizeof *values);
    for (int p = 0; p < points; p++) {
        double s = at[p] * d;
        for (size_t i = 0; i < model->states; i++)
            solution->scratch[i] = solution->x[i] + s * (solution->dx[i] + s / 2 * bend[i]);
        TRY(place_at_distance(own, s, solution->scratch, still));
        TRY(derivatives_get_reals(own, references, count, there));
        for (size_t i = 0; i < count; i++)
            values[i] += weights[p] * there[i];
    }
    for (size_t i = 0; i < count; i++)
        values[i] /= d * d;
    return TUTTI_OK;
}

static int compare_references(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return left < right ? -1 : left > right;
}

/* Returns true if the description declares that an output does not depend on time, by not naming time. */
static bool is_timeless(const struct tt_description *desc, const struct tt_unknown *output)
{
    bool depends = !output->has_dependencies;
    for (uint32_t d = 0; d < output->dependency_count; d++)
        depends = depends || desc->vars[output->dependencies[d]].causality == TUTTI_INDEPENDENT;
    return !depends && desc->vars[output->variable].type == TUTTI_TYPE_FLOAT64;
}

static enum tutti_err find_timeless(struct tt_me_derivatives *own)
{
    struct tt_me_model *model = own->solution->model;
    const struct tt_description *desc = model->unit->fmu->desc;
    bool named = false;
    own->timeless = calloc((size_t)desc->outputs.count + 1, sizeof *own->timeless);
    if (!own->timeless)
        return tt_fail_memory();
    for (uint32_t i = 0; i < desc->var_count; i++)
        named = named || desc->vars[i].causality == TUTTI_INDEPENDENT;
    for (uint32_t i = 0; i < desc->outputs.count && named; i++)
        if (is_timeless(desc, &desc->outputs.items[i]))
            own->timeless[own->timeless_count++] = desc->vars[desc->outputs.items[i].variable].reference;
    qsort(own->timeless, own->timeless_count, sizeof *own->timeless, compare_references);
    return TUTTI_OK;
}

/* Checks whether the chain rule suffices, because these outputs depend on states and inputs only. */
static bool check_by_chain_rule(const struct tt_me_derivatives *own, const uint32_t *references, size_t count)
{
    const struct tt_me_model *model = own->solution->model;
    bool tells = (model->unit->can & TUTTI_CAN_DIRECTIONAL) && model->variables.count > 0;
    for (size_t i = 0; i < count && tells; i++)
        tells = bsearch(&references[i], own->timeless, own->timeless_count, sizeof *own->timeless,
                        compare_references) != NULL;
    return tells;
}

enum tutti_err tt_me_derivatives_by_time(struct tt_me_derivatives *own, const uint32_t *references, size_t count,
                                         int32_t order, double *values)
{
    struct tt_me_model *model = own->solution->model;
    struct tt_me_solution *solution = own->solution;
    if (order < 1 || order > model->unit->output_order)
        return tt_fail(TUTTI_ERR_UNSUPPORTED, "%s: output derivatives of order 1 and 2 can be had, not %d",
                       model->unit->name, (int)order);
    if (!own->timeless)
        TRY(find_timeless(own));
    TRY(compute_slopes_here(own));
    enum tutti_err err = TUTTI_ERR_UNSUPPORTED;
    if (order == 2) {
        err = derivatives_reserve(own, model->states + count, 0);
        if (!err)
            err = compute_curvature_here(own, own->numbers);
        if (!err)
            err = second_along_tangent(own, references, count, own->numbers, values, own->numbers + model->states);
    } else if (check_by_chain_rule(own, references, count))
        err = derive_by_chain_rule(own, references, count, values);
    if (err == TUTTI_ERR_UNSUPPORTED)
        err = derive_by_differences(own, references, count, values);
    TRY(err);
    return tt_me_solution_place_back(solution);
}

/* d(unknowns) = (g(u + d seed) - g(u - d seed)) / 2 d; both ways, because it is asked for seldom and wanted well. */
static enum tutti_err derive_inputs_by_differences(struct tt_me_derivatives *own, const uint32_t *unknowns,
                                                   size_t unknown_count, const uint32_t *knowns, size_t known_count,
                                                   const double *seed, double *sensitivity)
{
    struct tt_me_model *model = own->solution->model;
    TRY(derivatives_reserve(own, unknown_count, 0));
    struct tt_central_difference beside = {.ahead = sensitivity, .behind = own->numbers};
    TRY(tt_unit_central_difference(model->unit, model->instance, unknowns, unknown_count, knowns, known_count, seed,
                                   6e-6, &beside));
    for (size_t i = 0; i < unknown_count; i++)
        sensitivity[i] = beside.distance > 0 ? (sensitivity[i] - beside.behind[i]) / (2 * beside.distance) : 0;
    return TUTTI_OK;
}

enum tutti_err tt_me_derivatives_by_inputs(struct tt_me_derivatives *own, const uint32_t *unknowns,
                                           size_t unknown_count, const uint32_t *knowns, size_t known_count,
                                           const double *seed, double *sensitivity)
{
    struct tt_me_model *model = own->solution->model;
    enum tutti_err err = TUTTI_ERR_UNSUPPORTED;
    if (model->unit->can & TUTTI_CAN_DIRECTIONAL) {
        model->counts.directional++;
        err = tt_unit_get_directional(model->unit, model->instance, model->options->log, unknowns, unknown_count,
                                      knowns, known_count, seed, known_count, sensitivity, unknown_count);
        if (!err && model->unit->directional_tests == 0)
            err = tt_unit_test_directional(model->unit, model->instance, model->options->log, unknowns, unknown_count,
                                           knowns, known_count, seed, sensitivity);
    }
    if (err && err != TUTTI_ERR_UNSUPPORTED)
        return err;
    return model->unit->can & TUTTI_CAN_DIRECTIONAL
               ? TUTTI_OK
               : derive_inputs_by_differences(own, unknowns, unknown_count, knowns, known_count, seed, sensitivity);
}

void tt_me_derivatives_fini(struct tt_me_derivatives *own)
{
    free(own->timeless);
    free(own->numbers);
    free(own->references);
}
