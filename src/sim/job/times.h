/* SPDX-License-Identifier: MIT */
/* times.h - derives the times of a run from the user's options and the files' proposals. */
#ifndef TT_SIM_JOB_TIMES_H
#define TT_SIM_JOB_TIMES_H

#include "base/log.h"
#include "fmu/fmu.h"
#include "base/options/options.h"
#include "model/system/system.h"

struct tt_times {
    double start, stop, step;
    double output_step; /* 0: every communication point is recorded */
    double tolerance;   /* 0: none */
    bool step_proposed; /* `step` is a file's proposal */
};

/* The times proposed by the files. A single FMU: its default experiment. An SSP: start and stop of its default
 * experiment. FMUs of a command line: those of the first with any. If several FMUs propose a step, the smallest. */
void tt_times_propose(const struct tt_system *system, struct tt_experiment *proposal);

/* Fills in defaults and checks: finite, stop after start, positive steps, few enough steps. ARGUMENT, with what would be
 * right. `kind` is the interface of a single FMU. */
TUTTI_CHECKED enum tutti_err tt_times_resolve(struct tt_times *times, const struct tutti_run_options *options,
                                              const struct tt_system *system, enum tt_interface_kind kind,
                                              const struct tutti_log *log);
/* For an FMU with a fixed step: everything must be on the grid of `own` (0: the communication step). May adapt the
 * communication step, with a warning, if the user gave none. */
TUTTI_CHECKED enum tutti_err tt_times_make_uniform(struct tt_times *times, const struct tutti_run_options *options,
                                                   const struct tt_fmu *fmu, double own, const struct tutti_log *log);
/* The step of a unit's own, which must be a whole number of communication steps; `name` is for the message. */
TUTTI_CHECKED enum tutti_err tt_times_check_multiple(const struct tt_times *times, double own, const char *name);
/* Checks that `step` is a sensible step of a run from start to stop. ARGUMENT, naming its option: it is not a positive
 * number, needs too many steps, or is below the spacing of doubles there. */
TUTTI_CHECKED enum tutti_err tt_times_check_step(const struct tt_times *times, double step, const char *option);

#endif
