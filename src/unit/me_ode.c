/* SPDX-License-Identifier: MIT */
/* A Model Exchange FMU as an initial value problem. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "unit/me.h"
#include "unit/me_extra.h"

static enum tutti_eval no_value(struct me *me, double t, size_t state)
{
    me->missed = true;
    me->bad_state = state;
    me->bad_time = t;
    return TUTTI_EVAL_NO_VALUE;
}

static enum tutti_eval failed(struct me *me, enum tutti_err err)
{
    me->ode.err = me->fmu_ode.err = err;
    return TUTTI_EVAL_FAILED;
}

static enum tutti_eval rhs(void *context, double t, const double *x, double *dx)
{
    struct me *me = context;
    bool discarded = false;
    enum tutti_err err = tutti_me_place(me, t, x, &discarded);
    if (!err && !discarded)
        err = tutti_instance_get_derivatives(me->instance, dx, me->states, &discarded);
    if (__builtin_expect(err != TUTTI_OK, 0))
        return failed(me, err);
    if (__builtin_expect(discarded, 0)) {
        me->bad_error = tutti_instance_refused(me->instance);
        return no_value(me, t, SIZE_MAX);
    }
    for (size_t i = 0; i < me->states; i++)
        if (__builtin_expect(!isfinite(dx[i]), 0))
            return no_value(me, t, i);
    return TUTTI_EVAL_OK;
}

/* From here on Jacobians are made of differences. */
static enum tutti_eval drop_directional(struct me *me)
{
    me->ode.directional = me->fmu_ode.directional = NULL;
    tutti_me_extra_drop_directional(me);
    return TUTTI_EVAL_NO_VALUE;
}

/* J seed where the FMU stands. UNSUPPORTED: there is no such thing, after all. */
static enum tutti_err derivative_along(struct me *me, const double *seed, double *out)
{
    const struct me_axis *states = &me->variables;
    return tutti_unit_get_directional(&me->unit, me->instance, me->options.log, me->derivatives, states->count,
                                      states->references, states->count, seed, me->states, out, me->states);
}

static enum tutti_eval slopes_beside(struct me *me, double t, const double *x, const double *seed, double distance,
                                     double *beside, double *slopes)
{
    for (size_t i = 0; i < me->states; i++)
        beside[i] = x[i] + distance * seed[i];
    return rhs(me, t, beside, slopes);
}

/* All columns at once, by numbers that do not cancel, against differences; wide ones, because FMUs that iterate are exact
 * to their own tolerance only. The evaluations are none of the solver's and not counted. */
static enum tutti_eval test_directional(struct me *me, double t, const double *x, double *vectors)
{
    const double distance = 1e-4;
    size_t n = me->states, worst = n;
    double *seed = vectors, *along = seed + n, *point = along + n, *here = point + n, *ahead = here + n,
           *behind = ahead + n;
    for (size_t i = 0; i < n; i++)
        seed[i] = (i % 2 ? -1 : 1) * fmax(fabs(x[i]), me->nominals[i]) * (0.5 + 0.5 / (double)(1 + i % 7));
    enum tutti_eval eval = slopes_beside(me, t, x, seed, distance, point, ahead);
    if (eval == TUTTI_EVAL_OK)
        eval = slopes_beside(me, t, x, seed, -distance, point, behind);
    if (eval == TUTTI_EVAL_OK)
        eval = slopes_beside(me, t, x, seed, 0, point, here);
    if (eval != TUTTI_EVAL_OK) /* not here, then; what fails for good will do so again */
        return eval == TUTTI_EVAL_FAILED ? eval : TUTTI_EVAL_OK;
    enum tutti_err err = derivative_along(me, seed, along);
    if (err)
        return err == TUTTI_ERR_UNSUPPORTED ? drop_directional(me) : failed(me, err);
    for (size_t i = n; i-- > 0;)
        if (distance * fabs(along[i]) > 1e-12 * fabs(here[i]) &&
            tutti_unit_contradicts(along[i], (ahead[i] - here[i]) / distance, (here[i] - behind[i]) / distance))
            worst = i;
    if (worst == n)
        return TUTTI_EVAL_OK;
    char why[512];
    snprintf(
        why, sizeof why,
        "the FMU's directional derivatives are wrong: at t = %s that of the derivative of '%s' is %.6g, and %.6g by "
        "differences",
        TIME(t), tutti_me_state_name(me, worst), along[worst], (ahead[worst] - behind[worst]) / (2 * distance));
    tutti_unit_distrust_directional(&me->unit, me->options.log, why);
    return drop_directional(me);
}

static enum tutti_eval test_once(struct me *me, double t, const double *x)
{
    if (me->jacobian_tested)
        return TUTTI_EVAL_OK;
    double *vectors = malloc(6 * me->states * sizeof *vectors);
    if (!vectors)
        return failed(me, tutti_fail_memory());
    me->jacobian_tested = true;
    enum tutti_eval eval = test_directional(me, t, x, vectors);
    free(vectors);
    return eval;
}

enum tutti_err tutti_me_ode_test_directional(struct me *me)
{
    const double *x = me->here;
    double t = me->here_time;
    if (me->jacobian_tested || me->states == 0 || !x) /* NULL: extra equations ask before there is a point */
        return TUTTI_OK;
    if (test_once(me, t, x) == TUTTI_EVAL_FAILED)
        return me->ode.err;
    return tutti_me_place(me, t, x, NULL);
}

/* Columns of one Jacobian come one after another for the same point: the FMU is moved there once. */
static enum tutti_eval directional(void *context, double t, const double *x, const double *seed, double *out)
{
    struct me *me = context;
    size_t bytes = me->states * sizeof *x;
    bool discarded = false;
    enum tutti_err err = TUTTI_OK;
    enum tutti_eval eval = test_once(me, t, x);
    if (eval != TUTTI_EVAL_OK)
        return eval;
    if (me->seen != me->placements || t != me->seen_time || memcmp(x, me->seen_states, bytes) != 0) {
        err = tutti_me_place(me, t, x, &discarded);
        me->seen = me->placements;
        me->seen_time = t;
        memcpy(me->seen_states, x, bytes);
    }
    if (!err && !discarded)
        err = derivative_along(me, seed, out);
    if (err)
        return err == TUTTI_ERR_UNSUPPORTED ? drop_directional(me) : failed(me, err);
    return discarded ? no_value(me, t, SIZE_MAX) : TUTTI_EVAL_OK;
}

enum tutti_err tutti_me_ode_read_nominals(struct me *me, bool *changed)
{
    if (me->states > 0)
        TRY(tutti_instance_get_nominals(me->instance, me->scratch, me->states));
    for (size_t i = 0; i < me->states; i++) {
        double nominal = fabs(me->scratch[i]);
        nominal = nominal > 0 && isfinite(nominal) ? nominal : 1;
        *changed = *changed || nominal != me->nominals[i];
        me->nominals[i] = nominal;
    }
    return TUTTI_OK;
}

static enum tutti_err allocate(struct me *me)
{
    size_t n = me->ode.count;
    me->x = calloc(n + 1, sizeof *me->x);
    me->ahead = calloc(n + 1, sizeof *me->ahead);
    me->scratch = calloc(n + 1, sizeof *me->scratch);
    me->dx = calloc(n + 1, sizeof *me->dx);
    me->nominals = calloc(n + 1, sizeof *me->nominals);
    me->integral = calloc(n + 1, sizeof *me->integral);
    me->seen_states = calloc(n + 1, sizeof *me->seen_states);
    me->slopes_before = calloc(n + 1, sizeof *me->slopes_before);
    bool all = me->x && me->ahead && me->scratch && me->dx && me->nominals && me->integral && me->seen_states &&
               me->slopes_before;
    for (size_t i = 0; all && i < n; i++)
        me->nominals[i] = 1;
    return all ? TUTTI_OK : tutti_fail_memory();
}

enum tutti_err tutti_me_ode_init(struct me *me)
{
    const struct tutti_integration *integration = &me->options.integration;
    me->extra_states = tutti_me_extra_count(me);
    me->ode = (struct tutti_ode){
        .count = me->states + me->extra_states,
        .context = me,
        .rhs = rhs,
        .rtol = integration->rtol,
        .atol = integration->atol,
        .state_name = tutti_me_state_name,
    };
    TRY(allocate(me));
    me->ode.nominals = me->nominals;
    TRY(tutti_me_states_init(me));
    if ((me->unit.can & TUTTI_CAN_DIRECTIONAL) && me->variables.count > 0)
        me->ode.directional = directional;
    bool known = false;
    TRY(tutti_me_states_pattern(me, &me->variables, &me->pattern, &known));
    me->ode.pattern = known ? &me->pattern : NULL;
    me->fmu_ode = me->ode;
    me->fmu_ode.count = me->states;
    if (me->extra_states > 0)
        TRY(tutti_me_extra_init(me));
    if (me->ode.count == 0)
        return TUTTI_OK;
    struct tutti_solver_options options = {
        .h_fixed = integration->h_fixed,
        .h_max = integration->h_max,
        .predictor = integration->predictor,
        .jacobian = integration->jacobian,
    };
    const struct tutti_solver_kind *kind = integration->solver ? integration->solver : tutti_solver_kinds[0];
    return tutti_fail_context(tutti_solver_new(&me->solver, kind, &me->ode, &options), "%s", me->unit.name);
}

void tutti_me_ode_fini(struct me *me)
{
    tutti_solver_free(me->solver);
    tutti_me_extra_fini(me);
    tutti_me_states_fini(me);
    tutti_pattern_fini(&me->pattern);
    free(me->x);
    free(me->ahead);
    free(me->scratch);
    free(me->dx);
    free(me->nominals);
    free(me->integral);
    free(me->seen_states);
    free(me->slopes_before);
}

enum tutti_err tutti_me_ode_explain(struct me *me, enum tutti_err err)
{
    if (err != TUTTI_ERR_SOLVER)
        return err;
    char before[2048], why[1024] = "";
    snprintf(before, sizeof before, "%s", tutti_err_message());
    if (me->missed && me->bad_state == SIZE_MAX && me->bad_error)
        snprintf(why, sizeof why, "; %s", tutti_instance_refusal(me->instance));
    else if (me->missed && me->bad_state == SIZE_MAX)
        snprintf(why, sizeof why, "; the FMU discarded the point at t = %s", TIME(me->bad_time));
    else if (me->missed)
        snprintf(why, sizeof why, "; the derivative of '%s' is not a finite number at t = %s",
                 tutti_me_state_name(me, me->bad_state), TIME(me->bad_time));
    return tutti_fail(err,
                      "%s (%s): %s%s. Check inputs and parameters there, or use other tolerances or another solver",
                      me->unit.name, me->unit.fmu->path, before, why);
}
