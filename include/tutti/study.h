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
 * docs/howto/sweep.md and docs/howto/fit.md tell what the options mean. */
#ifndef TUTTI_STUDY_H
#define TUTTI_STUDY_H

#include <tutti/options.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- sweeps ---- */

/* What became of the runs of a sweep. */
struct tutti_sweep;

/* Makes all runs that the options "vary", "sample", "runs", "seed" or "csv" say, in "workers" processes that are forked from this one, and keeps what
 * "measure" says of each. With "output" there is a table, and while it is not whole a journal beside it, "TABLE.journal": the same sweep, begun again after
 * whatever ended it, makes only the runs that are missing. The same values whatever the number of workers. A run that fails is none of the errors here:
 * tutti_sweep_status. *out is set on success only. ARGUMENT, IO, LIMIT, INTERRUPTED, ... */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_sweep_make(struct tutti_sweep **out,
                                                        const struct tutti_run_options *options);
/* NULL is fine. */
TUTTI_API void tutti_sweep_free(struct tutti_sweep *sweep);

TUTTI_API size_t tutti_sweep_run_count(const struct tutti_sweep *sweep);
/* How many of them came to their end, and were measured, in this call and before; how many were found in the journal. */
TUTTI_API size_t tutti_sweep_good_count(const struct tutti_sweep *sweep);
TUTTI_API size_t tutti_sweep_found_count(const struct tutti_sweep *sweep);
/* Columns of numbers: parameters, then measures. */
TUTTI_API size_t tutti_sweep_parameter_count(const struct tutti_sweep *sweep);
TUTTI_API size_t tutti_sweep_column_count(const struct tutti_sweep *sweep);
/* "e", "max(v)"; NULL: there are fewer. */
TUTTI_API const char *tutti_sweep_column_name(const struct tutti_sweep *sweep, size_t column);
/* NaN where a run has none. */
TUTTI_API double tutti_sweep_value(const struct tutti_sweep *sweep, size_t run, size_t column);
/* "ok"; "failed": the run did not come to its end; "unmeasured": it did, but a measure has no value; "crashed": its process ended. */
TUTTI_API const char *tutti_sweep_status(const struct tutti_sweep *sweep, size_t run);
/* Why; NULL: there is nothing to say. */
TUTTI_API const char *tutti_sweep_message(const struct tutti_sweep *sweep, size_t run);

/* ---- parameters from measurements ---- */

struct tutti_estimation;

/* A parameter that was looked for. */
struct tutti_estimated {
    const char *name;
    double value, start;
    double low, high; /* its bounds; -INFINITY, INFINITY: none */
    double
        error; /* its standard error; NaN: the data do not determine it, or there are no more values than parameters */
    double from, to; /* in which it lies with a confidence of 95 %; NaN likewise */
    bool determined; /* by the data */
    bool at_bound;
};

struct tutti_estimation_summary {
    double sum_of_squares; /* of the weighted differences between run and data */
    size_t residuals, parameters, runs, iterations;
    bool sensitivities; /* derivatives came from them ("lm", one FMU by Model Exchange), not from differences of runs */
    bool converged; /* false: it was given up after "most-runs" runs, or nothing that is looked for changes anything */
};

/* Finds the parameters "fit" with which a run comes closest to "data", by "method", with "weight"; all else as for a run. With "output" they are written
 * as SSV, with "trajectories" the best run at the times of the data. Runs are made in this process, one after the other. *out is set on success only.
 * ARGUMENT: what is to be found or was measured makes no sense; FMU, SOLVER, ...: the first run fails. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_estimate(struct tutti_estimation **out,
                                                      const struct tutti_run_options *options);
/* NULL is fine. */
TUTTI_API void tutti_estimation_free(struct tutti_estimation *estimation);
TUTTI_API struct tutti_estimation_summary tutti_estimation_sum_up(const struct tutti_estimation *estimation);
/* In the order of "fit"; false: there are fewer. Texts are the estimation's. */
TUTTI_API bool tutti_estimation_parameter(const struct tutti_estimation *estimation, size_t parameter,
                                          struct tutti_estimated *out);
/* NaN where one of both is not determined. */
TUTTI_API double tutti_estimation_covariance(const struct tutti_estimation *estimation, size_t i, size_t k);
/* What the data do not determine, from 0 on: "k against c" if more of one and less of the other comes to the same. NULL: there are fewer. Good until the
 * next call. */
TUTTI_API const char *tutti_estimation_undetermined(struct tutti_estimation *estimation, size_t number);

#ifdef __cplusplus
}
#endif
#endif
