/* SPDX-License-Identifier: MIT */
/* Derivatives of outputs: by time, along the solution, and by inputs. Directional derivatives of the FMU where it has them,
 * else differences. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "unit/me.h"

static enum tutti_err get_reals(struct me *me, const uint32_t *references, size_t count, double *values)
{
    me->unit.counts.gets++;
    return tutti_instance_get(me->instance, TUTTI_TYPE_FLOAT64, references, count, values, count);
}

static enum tutti_err no_value(const struct me *me, double t)
{
    bool refused = tutti_instance_refused(me->instance);
    return tutti_fail(TUTTI_ERR_FMU, "%s (%s): the derivatives have no value at t = %s%s%s", me->unit.name,
                      me->unit.fmu->path, TIME(t), refused ? "; " : "",
                      refused ? tutti_instance_refusal(me->instance) : "");
}

/* x' where the unit is, into me->dx. */
static enum tutti_err slopes_here(struct me *me)
{
    if (me->states == 0)
        return TUTTI_OK;
    enum tutti_eval eval = me->fmu_ode.rhs(me, me->t, me->x, me->dx);
    me->other_counts.rhs++;
    if (eval == TUTTI_EVAL_FAILED)
        return me->ode.err;
    return eval == TUTTI_EVAL_OK ? TUTTI_OK : no_value(me, me->t);
}

/* The time in which the solution changes by about its own size: the scale of differences. (The solver's steps are none:
 * they end where the unit's do, and may be as short as these.) */
static double time_scale(const struct me *me)
{
    double scale = 0.1 * (me->setup.stop - me->setup.start);
    for (size_t i = 0; i < me->states; i++)
        if (me->dx[i] != 0)
            scale = fmin(scale, fmax(fabs(me->x[i]), me->nominals[i]) / fabs(me->dx[i]));
    for (size_t i = 0; i < me->inputs.count; i++) {
        const struct me_input *input = &me->inputs.items[i];
        double slope = fabs(tutti_me_input_at(input, me->t, 1));
        if (slope > 0)
            scale = fmin(scale, fmax(fabs(tutti_me_input_at(input, me->t, 0)), 1) / slope);
    }
    return scale;
}

/* How far time may go from here, forwards and back: an FMU need not answer for times behind its next time event or the
 * stop time, nor before its last event. */
struct room {
    double ahead, behind;
};

static struct room room_of(const struct me *me)
{
    double last = fmin(me->next_event, me->setup.has_stop ? me->setup.stop : INFINITY);
    double first = me->events > 0 ? me->event_time : me->setup.start;
    double least = 64 * DBL_EPSILON * fabs(me->t); /* less is lost in rounding */
    struct room room = {last - me->t, me->t - first};
    return (struct room){room.ahead > least ? room.ahead : 0, room.behind > least ? room.behind : 0};
}

/* A distance of this size, if there is room for so many of them; else as much as there is, to the better side. 0: time
 * cannot be moved at all. */
static double reach(const struct me *me, double wanted, int times)
{
    struct room room = room_of(me);
    wanted = fmax(wanted, 64 * DBL_EPSILON * fabs(me->t));
    if (room.ahead >= times * wanted || room.behind >= times * wanted)
        return room.ahead >= times * wanted ? wanted : -wanted;
    return (room.ahead >= room.behind ? room.ahead : -room.behind) / times;
}

/* The FMU at a distance in time from the unit, with these states; its inputs follow their polynomials. `still`: time stays
 * what it is. */
static enum tutti_err place_near(struct me *me, double distance, const double *x, bool still)
{
    TRY(tutti_me_place(me, still ? me->t : me->t + distance, x, NULL));
    return still && me->inputs.moving_count > 0 ? tutti_me_inputs_apply(me, me->t + distance) : TUTTI_OK;
}

/* An output that is a state has that one's derivative; some FMUs know no directional derivatives of states. */
static void take_states(const struct me *me, const uint32_t *references, size_t count, double *values)
{
    for (size_t s = 0; me->variables.count == me->states && s < me->states; s++) /* scalars all */
        for (size_t i = 0; i < count; i++)
            if (references[i] == me->variables.references[s])
                values[i] = me->dx[s];
}

/* y' = dg/dx x' + dg/du u', in one call. */
static enum tutti_err by_chain_rule(struct me *me, const uint32_t *references, size_t count, double *values)
{
    const struct me_axis *states = &me->variables;
    const struct me_inputs *inputs = &me->inputs;
    size_t knowns = states->count + inputs->moving_count, seeds = me->states;
    uint32_t *known = malloc((knowns + 1) * sizeof *known);
    double *seed = malloc((me->states + inputs->count + 1) * sizeof *seed);
    enum tutti_err err = known && seed ? TUTTI_OK : tutti_fail_memory();
    if (!err) {
        memcpy(known, states->references, states->count * sizeof *known);
        memcpy(seed, me->dx, me->states * sizeof *seed);
        for (size_t i = 0; i < inputs->moving_count; i++) {
            const struct me_input_variable *variable = &inputs->variables[inputs->moving[i]];
            known[states->count + i] = variable->reference;
            for (size_t e = 0; e < variable->extent; e++)
                seed[seeds++] = tutti_me_input_at(&inputs->items[variable->first + e], me->t, 1);
        }
        me->other_counts.directional++;
        err = tutti_unit_get_directional(&me->unit, me->instance, me->options.log, references, count, known, knowns,
                                         seed, seeds, values, count);
        if (!err)
            take_states(me, references, count, values);
    }
    free(known);
    free(seed);
    return err;
}

/* y' = (y(t + d) - y(t - d)) / 2d, along the tangent; where there is room to one side only, (y(t + d) - y(t)) / d. */
static enum tutti_err by_differences(struct me *me, const uint32_t *references, size_t count, double *values)
{
    struct room room = room_of(me);
    double scale = time_scale(me), wanted = 6e-6 * scale; /* third root of the rounding, or the second */
    bool both = fmin(room.ahead, room.behind) >= wanted;
    double d = both ? wanted : reach(me, 1e-8 * scale, 1), *there = malloc((count + 1) * sizeof *there);
    bool still = d == 0;
    d = still ? 1e-8 * scale : (me->t + d) - me->t;
    enum tutti_err err = there ? TUTTI_OK : tutti_fail_memory();
    for (int side = 0; side < 2 && !err; side++) {
        double s = side == 0 ? d : both ? -d : 0;
        for (size_t i = 0; i < me->states; i++)
            me->scratch[i] = me->x[i] + s * me->dx[i];
        err = place_near(me, s, me->scratch, still);
        if (!err)
            err = get_reals(me, references, count, side == 0 ? values : there);
    }
    for (size_t i = 0; i < count && !err; i++)
        values[i] = (values[i] - there[i]) / (both ? 2 * d : d);
    free(there);
    return err;
}

/* x'' = (x'(t + d) - x'(t)) / d, along the tangent. */
static enum tutti_err bend_here(struct me *me, double *bend)
{
    double wanted = 1e-8 * time_scale(me), d = reach(me, wanted, 1);
    bool still = d == 0, discarded = false;
    d = still ? wanted : (me->t + d) - me->t;
    if (me->states == 0)
        return TUTTI_OK;
    for (size_t i = 0; i < me->states; i++)
        me->scratch[i] = me->x[i] + d * me->dx[i];
    TRY(place_near(me, d, me->scratch, still));
    me->other_counts.rhs++;
    TRY(tutti_instance_get_derivatives(me->instance, bend, me->states, &discarded));
    if (discarded)
        return no_value(me, me->t + d);
    for (size_t i = 0; i < me->states; i++)
        bend[i] = (bend[i] - me->dx[i]) / d;
    return TUTTI_OK;
}

/* y'' = (y(t - d) - 2 y(t) + y(t + d)) / d^2, or, where there is room to one side only,
 * (2 y(t) - 5 y(t + d) + 4 y(t + 2 d) - y(t + 3 d)) / d^2. The states are those of the Taylor series of order 2: both
 * formulas give 0 for d^3, so what that lacks does not show. */
static enum tutti_err second_along(struct me *me, const uint32_t *references, size_t count, const double *bend,
                                   double *values, double *there)
{
    static const struct {
        int points, at[4];
        double weights[4];
    } central = {3, {0, -1, 1}, {-2, 1, 1}}, aside = {4, {0, 1, 2, 3}, {2, -5, 4, -1}};
    double wanted = 1e-3 * time_scale(me), d = reach(me, wanted, 3);
    struct room room = room_of(me);
    bool still = d == 0, both = still || fmin(room.ahead, room.behind) >= wanted;
    const int points = both ? central.points : aside.points, *at = both ? central.at : aside.at;
    const double *weights = both ? central.weights : aside.weights;
    d = both ? wanted : d;
    memset(values, 0, count * sizeof *values);
    for (int p = 0; p < points; p++) {
        double s = at[p] * d;
        for (size_t i = 0; i < me->states; i++)
            me->scratch[i] = me->x[i] + s * (me->dx[i] + s / 2 * bend[i]);
        TRY(place_near(me, s, me->scratch, still));
        TRY(get_reals(me, references, count, there));
        for (size_t i = 0; i < count; i++)
            values[i] += weights[p] * there[i];
    }
    for (size_t i = 0; i < count; i++)
        values[i] /= d * d;
    return TUTTI_OK;
}

static enum tutti_err second_by_differences(struct me *me, const uint32_t *references, size_t count, double *values)
{
    double *bend = malloc((me->states + count + 1) * sizeof *bend);
    enum tutti_err err = bend ? bend_here(me, bend) : tutti_fail_memory();
    if (!err)
        err = second_along(me, references, count, bend, values, bend + me->states);
    free(bend);
    return err;
}

static int ascending(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return left < right ? -1 : left > right;
}

/* Does the description say that an output does not depend on time itself? It cannot, if it does not name time. */
static bool is_timeless(const struct tutti_desc *desc, const struct tutti_unknown *output)
{
    bool depends = !output->has_dependencies;
    for (uint32_t d = 0; d < output->dependency_count; d++)
        depends = depends || desc->vars[output->dependencies[d]].causality == TUTTI_INDEPENDENT;
    return !depends && desc->vars[output->variable].type == TUTTI_TYPE_FLOAT64;
}

static enum tutti_err find_timeless(struct me *me)
{
    const struct tutti_desc *desc = me->unit.fmu->desc;
    bool named = false;
    me->timeless = calloc((size_t)desc->outputs.count + 1, sizeof *me->timeless);
    if (!me->timeless)
        return tutti_fail_memory();
    for (uint32_t i = 0; i < desc->var_count; i++)
        named = named || desc->vars[i].causality == TUTTI_INDEPENDENT;
    for (uint32_t i = 0; i < desc->outputs.count && named; i++)
        if (is_timeless(desc, &desc->outputs.items[i]))
            me->timeless[me->timeless_count++] = desc->vars[desc->outputs.items[i].variable].reference;
    qsort(me->timeless, me->timeless_count, sizeof *me->timeless, ascending);
    return TUTTI_OK;
}

/* Can the chain rule tell all, because states and inputs are all that these outputs depend on? */
static bool chain_rule_tells(const struct me *me, const uint32_t *references, size_t count)
{
    bool tells = (me->unit.can & TUTTI_CAN_DIRECTIONAL) && me->variables.count > 0;
    for (size_t i = 0; i < count && tells; i++)
        tells = bsearch(&references[i], me->timeless, me->timeless_count, sizeof *me->timeless, ascending) != NULL;
    return tells;
}

enum tutti_err tutti_me_get_output_derivatives(struct tutti_unit *unit, const uint32_t *references, size_t count,
                                               int32_t order, double *values)
{
    struct me *me = (struct me *)unit;
    if (order < 1 || order > unit->output_order)
        return tutti_fail(TUTTI_ERR_UNSUPPORTED, "%s: output derivatives of order 1 and 2 can be had, not %d",
                          unit->name, (int)order);
    if (!me->timeless)
        TRY(find_timeless(me));
    TRY(slopes_here(me));
    enum tutti_err err = TUTTI_ERR_UNSUPPORTED;
    if (order == 2)
        err = second_by_differences(me, references, count, values);
    else if (chain_rule_tells(me, references, count))
        err = by_chain_rule(me, references, count, values);
    if (err == TUTTI_ERR_UNSUPPORTED)
        err = by_differences(me, references, count, values);
    TRY(err);
    return tutti_me_place_back(me);
}

/* d(unknowns) = (g(u + d seed) - g(u - d seed)) / 2 d; both ways, because it is asked for seldom and wanted well. */
static enum tutti_err inputs_by_differences(struct me *me, const uint32_t *unknowns, size_t unknown_count,
                                            const uint32_t *knowns, size_t known_count, const double *seed,
                                            double *sensitivity)
{
    struct tutti_beside beside = {.ahead = sensitivity, .behind = malloc((unknown_count + 1) * sizeof(double))};
    enum tutti_err err = beside.behind ? tutti_unit_look_beside(&me->unit, me->instance, unknowns, unknown_count,
                                                                knowns, known_count, seed, 6e-6, &beside)
                                       : tutti_fail_memory();
    for (size_t i = 0; i < unknown_count && !err; i++)
        sensitivity[i] = beside.distance > 0 ? (sensitivity[i] - beside.behind[i]) / (2 * beside.distance) : 0;
    free(beside.behind);
    return err;
}

enum tutti_err tutti_me_get_directional(struct tutti_unit *unit, const uint32_t *unknowns, size_t unknown_count,
                                        const uint32_t *knowns, size_t known_count, const double *seed,
                                        double *sensitivity)
{
    struct me *me = (struct me *)unit;
    enum tutti_err err = TUTTI_ERR_UNSUPPORTED;
    if (unit->can & TUTTI_CAN_DIRECTIONAL) {
        me->other_counts.directional++;
        err = tutti_unit_get_directional(unit, me->instance, me->options.log, unknowns, unknown_count, knowns,
                                         known_count, seed, known_count, sensitivity, unknown_count);
        if (!err && unit->directional_tests == 0)
            err = tutti_unit_test_directional(unit, me->instance, me->options.log, unknowns, unknown_count, knowns,
                                              known_count, seed, sensitivity);
    }
    if (err && err != TUTTI_ERR_UNSUPPORTED)
        return err;
    return unit->can & TUTTI_CAN_DIRECTIONAL
               ? TUTTI_OK
               : inputs_by_differences(me, unknowns, unknown_count, knowns, known_count, seed, sensitivity);
}
