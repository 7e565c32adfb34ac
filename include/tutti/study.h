/* SPDX-License-Identifier: MIT */
/* study.h - many runs of one system: sweeps over values of parameters, and parameters from measurements.
 *
 *     struct tutti_run_options *options;
 *     struct tutti_sweep *sweep;
 *     if (tutti_options_make(&options) || tutti_options_set(options, "file", "ball.fmu") ||
 *         tutti_options_set(options, "vary", "e=0.5:0.9:5") || tutti_options_set(options, "measure", "max(v)") ||
 *         tutti_sweep_make(&sweep, options))
 *         puts(tutti_err_message());
 *
 * docs/howto/sweep.md and docs/howto/fit.md explain the options. */
#ifndef TUTTI_STUDY_H
#define TUTTI_STUDY_H

#include <tutti/options.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- sweeps ---- */

/* The outcome of the runs of a sweep. */
struct tutti_sweep;

/* Makes all runs that the options "vary", "sample", "runs", "seed" or "csv" define, in "workers" processes forked from
 * this process, and keeps the values of "measure" for each. "output" writes a table and, until it is complete, a
 * journal beside it, "TABLE.journal": if the sweep is interrupted and started again, it makes only the missing runs.
 * Values do not depend on the number of workers. A failed run is not an error of this function: see tutti_sweep_status.
 * *out is set on success only. ARGUMENT, IO, LIMIT, INTERRUPTED, ... */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_sweep_make(struct tutti_sweep **out,
                                                        const struct tutti_run_options *options);
/* NULL is allowed. */
TUTTI_API void tutti_sweep_free(struct tutti_sweep *sweep);

TUTTI_API size_t tutti_sweep_run_count(const struct tutti_sweep *sweep);
/* The number of all runs; of runs that completed and were measured, in this call or before; of runs found in the
 * journal. */
TUTTI_API size_t tutti_sweep_good_count(const struct tutti_sweep *sweep);
TUTTI_API size_t tutti_sweep_found_count(const struct tutti_sweep *sweep);
/* Numeric columns: parameters, then measures. */
TUTTI_API size_t tutti_sweep_parameter_count(const struct tutti_sweep *sweep);
TUTTI_API size_t tutti_sweep_column_count(const struct tutti_sweep *sweep);
/* Returns the name of a column, "e" or "max(v)"; NULL if there are fewer. */
TUTTI_API const char *tutti_sweep_column_name(const struct tutti_sweep *sweep, size_t column);
/* Returns a value; NaN where a run has none. */
TUTTI_API double tutti_sweep_value(const struct tutti_sweep *sweep, size_t run, size_t column);
/* "ok"; "failed": the run did not complete; "unmeasured": it completed, but a measure has no value; "crashed": its
 * process ended. */
TUTTI_API const char *tutti_sweep_status(const struct tutti_sweep *sweep, size_t run);
/* Returns the reason of the status; NULL if there is none. */
TUTTI_API const char *tutti_sweep_message(const struct tutti_sweep *sweep, size_t run);

/* ---- parameters from measurements ---- */

struct tutti_estimation;

/* An estimated parameter. */
struct tutti_estimated {
    const char *name;
    double value, start;
    double low, high; /* its bounds; -INFINITY, INFINITY: none */
    /* its standard error; NaN if the data do not determine the parameter, or if there are no more values than
     * parameters */
    double error;
    double from, to; /* confidence interval of 95 %; NaN as for `error` */
    bool determined; /* the data determine it */
    bool at_bound;
};

struct tutti_estimation_summary {
    double sum_of_squares; /* sum of the squared weighted differences between run and data */
    size_t residuals, parameters, runs, iterations;
    /* derivatives came from sensitivities ("lm", one FMU by Model Exchange); false: from differences of runs */
    bool sensitivities;
    bool converged; /* false: stopped after "most-runs" runs, or the parameters have no effect */
};

/* Estimates the parameters "fit" with which a run is closest to "data", by "method", with "weight"; all other options
 * are those of a run. "output" writes the parameters as SSV, "trajectories" the best run at the times of the data. Runs
 * are made sequentially in this process. *out is set on success only. ARGUMENT: parameters or data are unusable; FMU,
 * SOLVER, ...: the first run fails. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_estimate(struct tutti_estimation **out,
                                                      const struct tutti_run_options *options);
/* NULL is allowed. */
TUTTI_API void tutti_estimation_free(struct tutti_estimation *estimation);
TUTTI_API struct tutti_estimation_summary tutti_estimation_sum_up(const struct tutti_estimation *estimation);
/* Returns a parameter, in the order of "fit"; false if there are fewer. Texts belong to the estimation. */
TUTTI_API bool tutti_estimation_parameter(const struct tutti_estimation *estimation, size_t parameter,
                                          struct tutti_estimated *out);
/* Returns a covariance; NaN if one of the two parameters is not determined. */
TUTTI_API double tutti_estimation_covariance(const struct tutti_estimation *estimation, size_t i, size_t k);
/* Describes the combination `number`, counted from 0, that the data do not determine: "k against c" if increasing one
 * and decreasing the other changes nothing. NULL if there are fewer. Valid until the next call. */
TUTTI_API const char *tutti_estimation_undetermined(struct tutti_estimation *estimation, size_t number);

#ifdef __cplusplus
}
#endif
#endif
