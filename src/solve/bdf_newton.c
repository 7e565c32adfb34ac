/* SPDX-License-Identifier: MIT */
/* bdf_newton.c - the implicit equation of a step of bdf.c, by Newton's method with matrices that are kept for as long as
 * they do (Brown, Byrne, Hindmarsh 1989, section 3; the constants are theirs).
 *
 * In the notation of nordsieck.h the slope at the end of the step is p' + l_1 e / h, so that e solves
 *
 *     r(e) = f(t, x + e) - p' - e / gamma = 0,    gamma = h / l_1,
 *
 * x being the prediction: an iteration adds delta with (I / gamma - J) delta = r(e). */
#include <math.h>
#include <string.h>

#include "solve/bdf.h"

enum { MOST_ITERATIONS = 3, LU_AGE = 20, JACOBIAN_AGE = 50 };
static const double gamma_change = 0.3;       /* of relative size: factorise again */
static const double gamma_blame = 0.2;        /* less than this: it was not gamma that kept Newton from converging */
static const double rate_fade = 0.3;          /* of the rate seen in earlier iterations */
static const double divergence = 2;           /* of corrections */
static const double share_of_tolerance = 0.1; /* of the equation's error in that of the step */

static bool setup_due(const struct tutti_bdf *bdf, double gamma)
{
    const struct tutti_bdf_memory *m = &bdf->m;
    return !m->has_lu || m->lu_age >= LU_AGE || fabs(gamma / m->gamma - 1) > gamma_change;
}

static enum tutti_err factorise(struct tutti_bdf *bdf, double gamma, bool *singular)
{
    struct tutti_bdf_memory *m = &bdf->m;
    bdf->solver.counts.factorisations++;
    TRY(tutti_lu_factor(bdf->lu, bdf->jacobian.values, 1 / gamma, 0, singular));
    if (tutti_lu_reordered(bdf->lu))
        m->order_gamma = gamma;
    m->gamma = gamma;
    return TUTTI_OK;
}

enum tutti_err tutti_bdf_set_up(struct tutti_bdf *bdf, double t, double gamma, bool evaluate,
                                enum tutti_bdf_outcome *outcome, enum tutti_eval *eval)
{
    struct tutti_bdf_memory *m = &bdf->m;
    *outcome = TUTTI_BDF_FAILED;
    if (evaluate || !m->has_lu)
        tutti_lu_forget(bdf->lu);
    m->has_lu = false;
    if (evaluate) {
        m->has_jacobian = bdf->lu_lost = false;
        m->jacobian_age = 0;
        *eval = tutti_jacobian_update(&bdf->jacobian, t, bdf->x, bdf->dx, bdf->array.h, &bdf->solver.counts);
        if (*eval != TUTTI_EVAL_OK)
            return TUTTI_OK;
        m->has_jacobian = true;
    }
    bool singular = false;
    TRY(factorise(bdf, gamma, &singular));
    m->has_lu = !singular;
    m->lu_age = 0;
    m->rate = 1;
    *outcome = singular ? TUTTI_BDF_FAILED : TUTTI_BDF_CONVERGED;
    return TUTTI_OK;
}

/* In the same order of rows, for the same bits. */
enum tutti_err tutti_bdf_recover(struct tutti_bdf *bdf)
{
    double gamma = bdf->m.gamma;
    bool singular = false;
    if (!bdf->lu_lost)
        return TUTTI_OK;
    bdf->lu_lost = false;
    tutti_lu_forget(bdf->lu);
    TRY(factorise(bdf, bdf->m.order_gamma, &singular));
    return gamma == bdf->m.order_gamma ? TUTTI_OK : factorise(bdf, gamma, &singular);
}

/* Iterates from the prediction. dx is f there. The convergence test is that of Brown, Byrne, Hindmarsh 1989: the next
 * correction would be below a share of the error that the step may have. */
static enum tutti_bdf_outcome iterate(struct tutti_bdf *bdf, double t, const struct tutti_nordsieck_step *step,
                                      double gamma, enum tutti_eval *eval, size_t *worst)
{
    struct tutti_solver *solver = &bdf->solver;
    struct tutti_bdf_memory *m = &bdf->m;
    size_t n = solver->ode->count;
    const double *slope = bdf->predicted + n; /* h p' */
    double ratio = gamma / m->gamma, damping = 2 * ratio / (1 + ratio), before = 0;
    for (int k = 0; k < MOST_ITERATIONS; k++) {
        if (k > 0)
            *eval = tutti_solver_rhs(solver, t, bdf->x, bdf->dx);
        if (*eval != TUTTI_EVAL_OK)
            return TUTTI_BDF_FAILED;
        solver->counts.iterations++;
        for (size_t i = 0; i < n; i++)
            bdf->delta[i] = bdf->dx[i] - slope[i] / bdf->array.h - bdf->e[i] / gamma;
        tutti_lu_solve(bdf->lu, bdf->delta, NULL);
        for (size_t i = 0; i < n; i++) {
            bdf->delta[i] *= damping;
            bdf->e[i] += bdf->delta[i];
            bdf->x[i] = bdf->predicted[i] + bdf->e[i];
        }
        double size = tutti_solver_norm(solver, bdf->delta, bdf->scale_point, worst);
        if (k > 0)
            m->rate = fmax(rate_fade * m->rate, size / before);
        if (size * fmin(1, m->rate) * step->error <= share_of_tolerance)
            return TUTTI_BDF_CONVERGED;
        if (!isfinite(size) || (k > 0 && size > divergence * before))
            return TUTTI_BDF_DIVERGED;
        before = size;
    }
    return TUTTI_BDF_DIVERGED;
}

enum tutti_err tutti_bdf_solve(struct tutti_bdf *bdf, double t, const struct tutti_nordsieck_step *step,
                               enum tutti_bdf_trust trust, enum tutti_bdf_outcome *outcome, enum tutti_eval *eval,
                               size_t *worst)
{
    struct tutti_solver *solver = &bdf->solver;
    struct tutti_bdf_memory *m = &bdf->m;
    size_t bytes = solver->ode->count * sizeof(double);
    double gamma = bdf->array.h / step->l[1];
    bool due = trust != TUTTI_BDF_TRUST || setup_due(bdf, gamma);
    if (!m->has_jacobian || m->jacobian_age > JACOBIAN_AGE)
        trust = TUTTI_BDF_REEVALUATE;
    if (!due || trust != TUTTI_BDF_REEVALUATE)
        TRY(tutti_bdf_recover(bdf));
    for (;;) {
        memcpy(bdf->x, bdf->predicted, bytes);
        memset(bdf->e, 0, bytes);
        *outcome = TUTTI_BDF_FAILED;
        *eval = tutti_solver_rhs(solver, t, bdf->x, bdf->dx);
        if (*eval != TUTTI_EVAL_OK)
            return TUTTI_OK;
        *outcome = TUTTI_BDF_CONVERGED;
        if (due)
            TRY(tutti_bdf_set_up(bdf, t, gamma, trust == TUTTI_BDF_REEVALUATE, outcome, eval));
        if (*outcome == TUTTI_BDF_CONVERGED)
            *outcome = iterate(bdf, t, step, gamma, eval, worst);
        if (*outcome == TUTTI_BDF_CONVERGED || *eval == TUTTI_EVAL_FAILED || m->jacobian_age == 0)
            return TUTTI_OK;
        /* Not with this J: once more with another one, unless it may have been gamma. */
        bool blame_jacobian = due || fabs(gamma / m->gamma - 1) < gamma_blame;
        trust = blame_jacobian ? TUTTI_BDF_REEVALUATE : TUTTI_BDF_REFACTOR;
        due = true;
    }
}
