/* SPDX-License-Identifier: MIT */
#include "solve/fit_minimise.h"

#include <limits.h>
#include <math.h>
#include <nlopt.h>
#include <stdlib.h>

struct minimiser_search {
    const struct tt_fit_problem *problem;
    nlopt_opt optimiser;
    double *r;
    struct tt_failure failure;
    size_t evaluations;
};

/* NLopt goes on from places without a value; they are as bad as can be. */
static double fit_objective(unsigned n, const double *x, double *gradient, void *context)
{
    struct minimiser_search *s = context;
    bool good = false;
    double sum = 0;
    (void)n;
    (void)gradient;
    s->evaluations++;
    enum tutti_err err = s->problem->evaluate(s->problem->context, x, s->r, &good);
    if (err && !s->failure.err) {
        tt_fail_save(&s->failure, err);
        nlopt_force_stop(s->optimiser);
    }
    for (size_t i = 0; i < s->problem->residuals && good; i++)
        sum += s->r[i] * s->r[i];
    return good && isfinite(sum) ? sum : 1e300;
}

static enum tutti_err fit_check_minimiser(const struct tt_fit_problem *problem, enum tt_minimiser method)
{
    if (method == TUTTI_MINIMISE_BOBYQA && problem->unknowns < 2)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "--method bobyqa needs two parameters or more; use lm or nelder-mead for one");
    for (size_t k = 0; k < problem->unknowns && method == TUTTI_MINIMISE_DIRECT; k++)
        if (!isfinite(problem->low[k]) || !isfinite(problem->high[k]))
            return tt_fail(
                TUTTI_ERR_ARGUMENT,
                "--method global looks in all of the bounds: give them to every parameter, --fit P=START:MIN:MAX");
    return TUTTI_OK;
}

static enum tutti_err fit_end_of_search(const struct minimiser_search *s, nlopt_result how,
                                        struct tt_fit_result *result)
{
    if (s->failure.err)
        return tt_fail_restore(&s->failure);
    if (how < 0 && how != NLOPT_ROUNDOFF_LIMITED) {
        const char *words = nlopt_get_errmsg(s->optimiser);
        return how == NLOPT_OUT_OF_MEMORY
                   ? tt_fail_memory()
                   : tt_fail(TUTTI_ERR_SOLVER, "NLopt cannot go on: %s", words ? words : nlopt_result_to_string(how));
    }
    result->end = how == NLOPT_MAXEVAL_REACHED ? TUTTI_FIT_GAVE_UP : TUTTI_FIT_CONVERGED;
    return TUTTI_OK;
}

enum tutti_err tt_fit_minimise(const struct tt_fit_problem *problem, enum tt_minimiser method, double *x,
                               struct tt_fit_result *result)
{
    static const nlopt_algorithm algorithms[] = {NLOPT_LN_BOBYQA, NLOPT_LN_NELDERMEAD, NLOPT_LN_SBPLX,
                                                 NLOPT_GN_DIRECT_L};
    TRY(fit_check_minimiser(problem, method));
    struct minimiser_search s = {.problem = problem,
                                 .optimiser = nlopt_create(algorithms[method], (unsigned)problem->unknowns)};
    s.r = calloc(problem->residuals + 1, sizeof *s.r);
    enum tutti_err err = s.r && s.optimiser ? TUTTI_OK : tt_fail_memory();
    if (!err) {
        double cost = INFINITY;
        nlopt_set_min_objective(s.optimiser, fit_objective, &s);
        nlopt_set_lower_bounds(s.optimiser, problem->low);
        nlopt_set_upper_bounds(s.optimiser, problem->high);
        nlopt_set_xtol_rel(s.optimiser, 1e-9);
        nlopt_set_ftol_rel(s.optimiser, 1e-14);
        nlopt_set_initial_step1(s.optimiser, 0.1);
        nlopt_set_maxeval(s.optimiser, problem->most < INT_MAX ? (int)problem->most : INT_MAX);
        err = fit_end_of_search(&s, nlopt_optimize(s.optimiser, x, &cost), result);
        result->cost = cost;
        result->evaluations += s.evaluations;
    }
    nlopt_destroy(s.optimiser);
    free(s.r);
    return err;
}
