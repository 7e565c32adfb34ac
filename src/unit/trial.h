/* SPDX-License-Identifier: MIT */
/* trial.h - an FMU is run to see whether it does what it says: for `tutti check --run`. */
#ifndef TT_UNIT_TRIAL_H
#define TT_UNIT_TRIAL_H

#include "base/findings.h"
#include "unit/unit.h"

/* Of each interface that the FMU has: instantiates it with these settings, initialises it, steps through its default
 * experiment (a part of it, if that is long), tries whether its parameters have the start values of its description and
 * whether it takes others, and what it claims beyond that: going back to saved states, also those that were serialised,
 * directional derivatives, derivatives of outputs. What fails is a finding: an error where a run would
 * end, else a warning. How it can be taken back, by its saved states or by forking, is told to `notes` (NULL: not tried beyond what
 * it claims). Inputs keep their start values. MEMORY is the only failure. */
TUTTI_CHECKED enum tutti_err tt_trial(struct tt_fmu *fmu, const char *name, const struct tt_setting *settings,
                                      size_t count, struct tt_findings *findings, const struct tutti_log *notes);

#endif
