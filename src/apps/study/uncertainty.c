/* SPDX-License-Identifier: MIT */
/* How sure estimated parameters are. With J the Jacobian of the weighted residuals at the best place and s^2 = |r|^2 / (m - rank J), their covariance is
 * s^2 (J'J)^-1 (Seber, Wild: Nonlinear Regression, 1989, eq. 5.10), here by the singular values of J: directions whose singular value is not larger than the
 * error of J itself (Weyl: no singular value moves further than |dJ|) are not determined by the data, and have no error. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "solve/fit_student.h"
#include "solve/matrix_svd.h"
#include "apps/study/estimate.h"

static const double CONFIDENCE = 0.95;

struct estimate_uncertainty {
    size_t n, m;
    double *r, *jacobian, *other, *singular, *right;
};

/* J as good as it can be had, and by differences of another size; their distance says how good the better one is. */
static enum tutti_err compare_two_jacobians(struct tutti_estimation *e, const struct tt_fit_problem *problem,
                                            const double *x, struct estimate_uncertainty *j, double *error)
{
    bool good;
    size_t unused = 0; /* e->found counts */
    TRY(problem->evaluate(e, x, j->r, &good));
    if (good)
        TRY(tt_fit_jacobian(problem, x, j->r, j->jacobian, &unused, &good));
    if (good)
        TRY(tt_fit_differences(problem, x, j->r, 2 * problem->difference, j->other, &unused, &good));
    if (!good)
        return tt_fail_context(tt_fail_restore(&e->reason), "around the best values, whose errors are looked at");
    double sum = 0, size = 0;
    for (size_t i = 0; i < j->n * j->m; i++) {
        double d = j->jacobian[i] - j->other[i];
        sum += d * d;
        size += j->jacobian[i] * j->jacobian[i];
    }
    *error = sqrt(sum) + 100 * DBL_EPSILON * sqrt(size);
    return TUTTI_OK;
}

static void store_null_directions(struct tutti_estimation *e, const struct estimate_uncertainty *j, size_t rank)
{
    e->direction_count = j->n - rank;
    for (size_t d = rank; d < j->n; d++)
        for (size_t k = 0; k < j->n; k++)
            e->directions[(d - rank) * j->n + k] = j->right[d * j->n + k];
}

static void compute_standard_errors(struct tutti_estimation *e, const struct estimate_uncertainty *j, size_t rank)
{
    e->freedom = (double)j->m - (double)rank;
    e->variance = e->freedom > 0 ? e->found.cost / e->freedom : NAN;
    double interval = e->freedom > 0 ? tt_fit_student_interval(CONFIDENCE, e->freedom) : NAN;
    for (size_t i = 0; i < j->n; i++) {
        double lost = 0;
        for (size_t d = rank; d < j->n; d++)
            lost += j->right[d * j->n + i] * j->right[d * j->n + i];
        e->fitted[i].determined = lost < 1e-4;
        for (size_t k = 0; k < j->n; k++) {
            double sum = 0;
            for (size_t d = 0; d < rank; d++)
                sum += j->right[d * j->n + i] * j->right[d * j->n + k] / (j->singular[d] * j->singular[d]);
            e->covariance[i * j->n + k] = e->variance * sum * e->fitted[i].scale * e->fitted[k].scale;
        }
    }
    for (size_t i = 0; i < j->n; i++) {
        bool known = e->fitted[i].determined;
        e->fitted[i].error = known ? sqrt(e->covariance[i * j->n + i]) : NAN;
        e->fitted[i].half = known ? interval * e->fitted[i].error : NAN;
        for (size_t k = 0; k < j->n; k++) /* told, not a number */
            if (!known || !e->fitted[k].determined)
                e->covariance[i * j->n + k] = NAN;
    }
}

static enum tutti_err compute_covariance(struct tutti_estimation *e, const struct tt_fit_problem *problem,
                                         const double *x, struct estimate_uncertainty *j)
{
    double error = 0;
    size_t rank = 0;
    TRY(compare_two_jacobians(e, problem, x, j, &error));
    TRY(tt_matrix_svd(j->jacobian, j->m, j->n, j->singular, j->right));
    while (rank < j->n && j->singular[rank] > error)
        rank++;
    store_null_directions(e, j, rank);
    compute_standard_errors(e, j, rank);
    return TUTTI_OK;
}

enum tutti_err tt_estimate_assess(struct tutti_estimation *e, const struct tt_fit_problem *problem, const double *x)
{
    size_t n = problem->unknowns, m = problem->residuals;
    double *memory = calloc(m + 2 * n * m + n + n * n, sizeof *memory);
    if (!memory)
        return tt_fail_memory();
    struct estimate_uncertainty j = {.n = n, .m = m, .r = memory, .jacobian = memory + m};
    j.other = j.jacobian + n * m;
    j.singular = j.other + n * m;
    j.right = j.singular + n;
    enum tutti_err err = compute_covariance(e, problem, x, &j);
    free(memory);
    return err;
}
