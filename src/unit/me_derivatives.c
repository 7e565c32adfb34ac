/* SPDX-License-Identifier: MIT */
/* Derivatives of outputs: by time, along the solution, and by inputs. Directional derivatives of the FMU where it has them,
 * else differences. */
#include <float.h>
#include <math.h>
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
    return tutti_fail(TUTTI_ERR_FMU, "%s (%s): the derivatives have no value at t = %s", me->unit.name,
                      me->unit.fmu->path, NUMBER(t));
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

/* A distance in time over which differences lose as little as they can: the root (of the order) of the rounding, on the
 * scale of the solver's steps. */
static double distance(const struct me *me, double root)
{
    double scale = me->solver && me->solver->t > me->solver->before ? me->solver->t - me->solver->before : 0;
    if (scale == 0)
        scale = 1e-3 * (me->setup.stop - me->setup.start);
    return fmax(root * scale, 64 * DBL_EPSILON * fabs(me->t));
}

/* The FMU `ahead` of the unit, on the tangent of the solution; its inputs follow their polynomials. */
static enum tutti_err place_on_tangent(struct me *me, double ahead)
{
    for (size_t i = 0; i < me->states; i++)
        me->scratch[i] = me->x[i] + ahead * me->dx[i];
    return tutti_me_place(me, me->t + ahead, me->scratch, NULL);
}

/* Does an output depend on time itself? Then what states and inputs do is not all. */
static bool depends_on_time(const struct tutti_desc *desc)
{
    for (uint32_t i = 0; i < desc->outputs.count; i++) {
        const struct tutti_unknown *output = &desc->outputs.items[i];
        if (!output->has_dependencies)
            return true;
        for (uint32_t d = 0; d < output->dependency_count; d++)
            if (desc->vars[output->dependencies[d]].causality == TUTTI_INDEPENDENT)
                return true;
    }
    return false;
}

/* y' = dg/dx x' + dg/du u', in one call. */
static enum tutti_err by_chain_rule(struct me *me, const uint32_t *references, size_t count, double *values)
{
    const struct me_axis *states = &me->variables;
    const struct me_inputs *inputs = &me->inputs;
    size_t knowns = states->count + inputs->moving_count, seeds = me->states + inputs->moving_count;
    uint32_t *known = malloc((knowns + 1) * sizeof *known);
    double *seed = malloc((seeds + 1) * sizeof *seed);
    enum tutti_err err = known && seed ? TUTTI_OK : tutti_fail_memory();
    if (!err) {
        memcpy(known, states->references, states->count * sizeof *known);
        memcpy(seed, me->dx, me->states * sizeof *seed);
        for (size_t i = 0; i < inputs->moving_count; i++) {
            known[states->count + i] = inputs->references[i];
            seed[me->states + i] = tutti_me_input_at(&inputs->items[inputs->moving[i]], me->t, 1);
        }
        me->other_counts.directional++;
        err =
            tutti_instance_get_directional(me->instance, references, count, known, knowns, seed, seeds, values, count);
    }
    free(known);
    free(seed);
    return err;
}

/* y' = (y(t + d) - y(t)) / d along the tangent, y'' = (y(t + d) - 2 y(t) + y(t - d)) / d^2 along the parabola. */
static enum tutti_err by_differences(struct me *me, const uint32_t *references, size_t count, double *values)
{
    double d = distance(me, 1e-8), *here = malloc((count + 1) * sizeof *here);
    enum tutti_err err = here ? get_reals(me, references, count, here) : tutti_fail_memory();
    if (!err)
        err = place_on_tangent(me, d);
    if (!err)
        err = get_reals(me, references, count, values);
    for (size_t i = 0; i < count && !err; i++)
        values[i] = (values[i] - here[i]) / ((me->t + d) - me->t);
    free(here);
    return err;
}

/* x at t + d by the Taylor series of order 2; `slope` is x' at t + d0 on the tangent, so x'' = (slope - x') / d0. */
static enum tutti_err second_by_differences(struct me *me, const uint32_t *references, size_t count, double *values)
{
    size_t n = me->states;
    double d = distance(me, 1e-3), d0 = distance(me, 1e-8);
    double *memory = malloc((n + 2 * count + 1) * sizeof *memory), *bend = memory, *here = bend + n,
           *behind = here + count;
    if (!memory)
        return tutti_fail_memory();
    enum tutti_err err = get_reals(me, references, count, here);
    for (size_t i = 0; i < n; i++)
        me->scratch[i] = me->x[i] + d0 * me->dx[i];
    if (!err && n > 0) {
        enum tutti_eval eval = me->fmu_ode.rhs(me, me->t + d0, me->scratch, bend);
        err = eval == TUTTI_EVAL_OK ? TUTTI_OK : eval == TUTTI_EVAL_FAILED ? me->ode.err : no_value(me, me->t + d0);
    }
    for (size_t i = 0; i < n; i++)
        bend[i] = (bend[i] - me->dx[i]) / d0;
    for (int side = 1; side >= -1 && !err; side -= 2) {
        for (size_t i = 0; i < n; i++)
            me->scratch[i] = me->x[i] + side * d * me->dx[i] + d * d / 2 * bend[i];
        err = tutti_me_place(me, me->t + side * d, me->scratch, NULL);
        if (!err)
            err = get_reals(me, references, count, side > 0 ? values : behind);
    }
    for (size_t i = 0; i < count && !err; i++)
        values[i] = (values[i] - 2 * here[i] + behind[i]) / (d * d);
    free(memory);
    return err;
}

enum tutti_err tutti_me_get_output_derivatives(struct tutti_unit *unit, const uint32_t *references, size_t count,
                                               int32_t order, double *values)
{
    struct me *me = (struct me *)unit;
    if (order < 1 || order > unit->output_order)
        return tutti_fail(TUTTI_ERR_UNSUPPORTED, "%s: output derivatives of order 1 and 2 can be had, not %d",
                          unit->name, (int)order);
    TRY(slopes_here(me));
    bool exact = (unit->can & TUTTI_CAN_DIRECTIONAL) && me->variables.count > 0 && !depends_on_time(unit->fmu->desc);
    enum tutti_err err = order == 2 ? second_by_differences(me, references, count, values)
                         : exact    ? by_chain_rule(me, references, count, values)
                                    : by_differences(me, references, count, values);
    TRY(err);
    return tutti_me_place_back(me);
}

/* d(unknowns) = g(u + d seed) - g(u); differences both ways, because it is asked for seldom and wanted well. */
static enum tutti_err inputs_by_differences(struct me *me, const uint32_t *unknowns, size_t unknown_count,
                                            const uint32_t *knowns, size_t known_count, const double *seed,
                                            double *sensitivity)
{
    double *memory = malloc((2 * known_count + unknown_count + 1) * sizeof *memory), *base = memory,
           *moved = base + known_count, *below = moved + known_count, largest = 0, scale = 0;
    if (!memory)
        return tutti_fail_memory();
    enum tutti_err err = get_reals(me, knowns, known_count, base);
    for (size_t i = 0; i < known_count; i++) {
        largest = fmax(largest, fabs(seed[i]));
        scale = fmax(scale, fabs(base[i]));
    }
    double d = largest > 0 ? 6e-6 * fmax(scale, 1) / largest : 0;
    for (int side = -1; side <= 1 && !err && d > 0; side += 2) {
        for (size_t i = 0; i < known_count; i++)
            moved[i] = base[i] + side * d * seed[i];
        err = tutti_instance_set(me->instance, TUTTI_TYPE_FLOAT64, knowns, known_count, moved, known_count);
        if (!err)
            err = get_reals(me, unknowns, unknown_count, side < 0 ? below : sensitivity);
    }
    for (size_t i = 0; i < unknown_count && !err; i++)
        sensitivity[i] = d > 0 ? (sensitivity[i] - below[i]) / (2 * d) : 0;
    if (!err)
        err = tutti_instance_set(me->instance, TUTTI_TYPE_FLOAT64, knowns, known_count, base, known_count);
    free(memory);
    return err;
}

enum tutti_err tutti_me_get_directional(struct tutti_unit *unit, const uint32_t *unknowns, size_t unknown_count,
                                        const uint32_t *knowns, size_t known_count, const double *seed,
                                        double *sensitivity)
{
    struct me *me = (struct me *)unit;
    if (!(unit->can & TUTTI_CAN_DIRECTIONAL))
        return inputs_by_differences(me, unknowns, unknown_count, knowns, known_count, seed, sensitivity);
    me->other_counts.directional++;
    return tutti_instance_get_directional(me->instance, unknowns, unknown_count, knowns, known_count, seed, known_count,
                                          sensitivity, unknown_count);
}
