/* SPDX-License-Identifier: MIT */
/* trial.h - runs an FMU to test its declared capabilities: for `tutti check --run`. */
#ifndef TT_UNIT_TRIAL_H
#define TT_UNIT_TRIAL_H

#include "base/findings.h"
#include "unit/unit.h"

/* Tests each interface of the FMU: instantiates it with these settings, initialises it, steps through its default
 * experiment (a part of it, if that is long), tests whether its parameters have the start values of its description and
 * accept different ones, and tests declared capabilities: restoring saved states, also serialised ones, directional
 * derivatives, derivatives of outputs. A failure is a finding: an error if a run would end, otherwise a warning.
 * `notes` receives whether it can be rolled back by saved states or by forking (NULL: only declared capabilities are
 * tested). Inputs keep their start values. MEMORY is the only error. */
TUTTI_CHECKED enum tutti_err tt_trial(struct tt_fmu *fmu, const char *name, const struct tt_setting *settings,
                                      size_t count, struct tt_findings *findings, const struct tutti_log *notes);

#endif
