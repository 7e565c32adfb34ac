/* SPDX-License-Identifier: MIT */
/* experiment.h - from what a person asked for and what the FMU proposes to the times of a run. */
#ifndef TUTTI_MASTER_EXPERIMENT_H
#define TUTTI_MASTER_EXPERIMENT_H

#include <tutti/run.h>

#include "base/log.h"
#include "fmi/fmu.h"

struct tutti_times {
    double start, stop, step;
    double output_step; /* 0: every communication point is recorded */
    double tolerance;   /* 0: none */
};

/* Fills in defaults and checks: finite, stop after start, positive steps, few enough steps; for an FMU that cannot vary
 * its step, also that everything falls on the grid. ARGUMENT, with what would be right. */
TUTTI_CHECKED enum tutti_err tutti_times_resolve(struct tutti_times *times, const struct tutti_run_options *options,
                                                 const struct tutti_fmu *fmu, enum tutti_interface_kind kind,
                                                 const struct tutti_log *log);
/* Is `step` a sensible step of a run from start to stop? ARGUMENT, naming the option that it comes from: it is not a
 * positive number, would take too many, or is below the spacing of doubles there. */
TUTTI_CHECKED enum tutti_err tutti_times_check_step(const struct tutti_times *times, double step, const char *option);

#endif
