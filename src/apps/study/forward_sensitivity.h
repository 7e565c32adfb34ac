/* SPDX-License-Identifier: MIT */
/* apps/study/forward_sensitivity.h - how variables of a run follow its parameters, at given times, by forward sensitivities (unit/me_sensitivity.h): one run instead of two per
 * parameter for differences. For what --sensitivity is for: one FMU that runs by Model Exchange. */
#ifndef TT_APPS_STUDY_FORWARD_SENSITIVITY_H
#define TT_APPS_STUDY_FORWARD_SENSITIVITY_H

#include "apps/study/rerun.h"

struct tt_sensitivity_run {
    struct tt_rerun trial;
    struct tutti_run_options options; /* of the trial */
    const char *const *names;         /* of variables; borrowed */
    size_t name_count;
    size_t *columns; /* among what is recorded: of each variable and, below, parameter */
    size_t column_count;
    double *row, t; /* the last one that was recorded, and when */
    struct tt_arena arena;
};

/* Loads the FMU once more. `values` are some of the parameters that `forward` may run with. Anything but MEMORY: there are no sensitivities, for the reason that
 * the message says. Borrows all. tt_estimate_forward_close follows in any case. */
TUTTI_CHECKED enum tutti_err tt_estimate_forward_open(struct tt_sensitivity_run *forward,
                                                      const struct tutti_run_options *options, const char **parameters,
                                                      size_t parameter_count, const double *values,
                                                      const char *const *names, size_t name_count);
void tt_estimate_forward_close(struct tt_sensitivity_run *forward);

/* A run with these values: derivatives[(r * name_count + i) * parameter_count + k] is that of variable i by parameter k at times[r], ascending. */
TUTTI_CHECKED enum tutti_err tt_estimate_forward_run(struct tt_sensitivity_run *forward, const double *values,
                                                     const double *times, size_t count, double *derivatives);

#endif
