/* SPDX-License-Identifier: MIT */
/* apps/study/measures.h - measures of a run: expressions over functions of whole trajectories (base/expr/expression.h):
 *
 *     final(x)  initial(x)      the last and the first value
 *     max(x)  min(x)            the greatest and the least
 *     mean(x)  rms(x)           mean over time, and the root of that of the square
 *     integral(x)               over time
 *     time_of_max(x)  time_of_min(x)   when it is there first
 *     time_when(c)              when c is first true, that is, not 0
 *
 * Between the points of a run integrals follow the trapezoidal rule. Both rows of an event count: a jump takes no time.
 * `time` is a name, too. */
#ifndef TT_APPS_STUDY_MEASURES_H
#define TT_APPS_STUDY_MEASURES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"

struct tt_measures;

/* Creates the measures. `find` returns the index of a variable among the values of a row, and marks it as required.
 * ARGUMENT, with the position in the text. *out is set on success only. */
TUTTI_CHECKED enum tutti_err tt_measures_new(struct tt_measures **out, const char *const *texts, size_t count,
                                             void *context,
                                             enum tutti_err (*find)(void *context, const char *name, size_t *place));
void tt_measures_free(struct tt_measures *measures);

/* Returns true if only final values are used, so that the last row suffices. */
bool tt_measures_are_final(const struct tt_measures *measures);

/* A run begins. */
void tt_measures_start(struct tt_measures *measures);
/* A row of it; in order of time. */
void tt_measures_add_row(struct tt_measures *measures, double t, const double *values);
/* Called at the end of the run: results[i] is the value of texts[i], NaN if it has none. Fails in that case with the
 * first reason, after all other results are filled in. */
TUTTI_CHECKED enum tutti_err tt_measures_finish(struct tt_measures *measures, double *results);

#endif
