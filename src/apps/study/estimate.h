/* SPDX-License-Identifier: MIT */
/* apps/study/estimate.h - estimates parameters from measurements. <tutti/study.h> is the public interface. */
#ifndef TT_APPS_STUDY_ESTIMATE_H
#define TT_APPS_STUDY_ESTIMATE_H

#include <tutti/study.h>

#include "apps/study/dataset.h"
#include "apps/study/rerun.h"
#include "base/options/options.h"
#include "solve/fit.h"

/* How variables of a run follow its parameters, at given times, by forward sensitivities (unit/me_sensitivity.h): one run instead of two per
 * parameter for differences. For what --sensitivity is for: one FMU that runs by Model Exchange. */

struct tt_sensitivity_run {
    struct tt_rerun trial;
    struct tutti_run_options options; /* of the trial */
    const char *const *names;         /* of variables; borrowed */
    size_t name_count;
    size_t *columns; /* among the recorded columns: of each variable and, below, parameter */
    size_t column_count;
    double *row, t; /* the last one that was recorded, and when */
    struct tt_arena arena;
};

/* Loads the FMU once more. `values` are some of the parameters that `forward` may run with. An error other than MEMORY
 * means that sensitivities are unavailable, for the reason in the message. Borrows all arguments.
 * tt_estimate_forward_close follows in any case. */
TUTTI_CHECKED enum tutti_err tt_estimate_forward_open(struct tt_sensitivity_run *forward,
                                                      const struct tutti_run_options *options, const char **parameters,
                                                      size_t parameter_count, const double *values,
                                                      const char *const *names, size_t name_count);
void tt_estimate_forward_close(struct tt_sensitivity_run *forward);

/* A run with these values: derivatives[(r * name_count + i) * parameter_count + k] is that of variable i by parameter k at times[r], ascending. */
TUTTI_CHECKED enum tutti_err tt_estimate_forward_run(struct tt_sensitivity_run *forward, const double *values,
                                                     const double *times, size_t count, double *derivatives);

/* A parameter: unknowns of the search are value / scale. */
struct tt_fitted {
    const char *name;
    double start, low, high, scale;
    double value, error; /* error: its standard error; NaN: not known, or it is not determined */
    double half;         /* of the interval of confidence; NaN likewise */
    bool determined, at_bound;
};

struct tutti_estimation {
    struct tutti_run_options options; /* with settings derived from the data */
    struct tt_fitted *fitted;
    size_t count;
    const char **names; /* of them */
    struct tt_dataset data;
    struct tt_rerun trial;
    struct tt_sensitivity_run forward; /* only with sensitivities */
    bool has_forward;
    double *derivatives; /* of the model by the parameters, as of tt_estimate_forward_run */
    size_t *variables;   /* of the simulation, one per variable of the data */
    double *weights;
    double *values, *low, *high; /* for the search */
    double *parameters;          /* of the current run */
    double *best;                /* `model` of the best run */
    double *model;               /* values of the variables at the times of the data, of the last run */
    struct tt_fit_problem problem;
    struct tt_failure reason; /* the reason why the last unusable run failed */
    struct tt_fit_result found;
    double *covariance; /* count x count */
    double *directions; /* that the data do not determine: each `count` numbers, relative to scales */
    size_t direction_count;
    double variance; /* of a residual */
    double freedom;
    struct tt_text text;
    struct tt_arena arena;
};

/* A sum of squares for the search (solve/fit/). */
TUTTI_CHECKED enum tutti_err tt_estimate_evaluate(void *context, const double *x, double *r, bool *good);
/* Errors, intervals and directions without a say, at the values that were found. */
TUTTI_CHECKED enum tutti_err tt_estimate_assess(struct tutti_estimation *estimation,
                                                const struct tt_fit_problem *problem, const double *x);

#endif
