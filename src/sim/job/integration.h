/* SPDX-License-Identifier: MIT */
/* integration.h - how a Model Exchange FMU is to be integrated: from words of options to choices. */
#ifndef TT_SIM_JOB_INTEGRATION_H
#define TT_SIM_JOB_INTEGRATION_H

#include "sim/job/times.h"
#include "unit/unit.h"

/* ARGUMENT for a word that is none of the possible ones, naming these. */
TUTTI_CHECKED enum tutti_err tt_integration_choose_interface(const struct tutti_run_options *options,
                                                             enum tt_interface_choice *choice);
/* The kind of unit that an FMU of a system, or one that is `alone`, becomes: of Model Exchange, if nothing else is said and it
 * has that, where a solver is named, or a coupling that has one for all units. */
TUTTI_CHECKED enum tutti_err tt_integration_find_interface(const struct tutti_run_options *options,
                                                           const struct tt_fmu *fmu, bool alone,
                                                           const struct tt_unit_kind **kind);
/* Fills in defaults and checks, for a Model Exchange unit; `disturbed`: its inputs change on the way, or it is taken back. */
TUTTI_CHECKED enum tutti_err tt_integration_resolve(struct tt_integration *integration,
                                                    const struct tutti_run_options *options,
                                                    const struct tt_times *times, double tolerance, bool disturbed,
                                                    bool coupled);
/* Of Model Exchange, and of the control of steps, where no option gives another. */
#define TUTTI_DEFAULT_RTOL 1e-4

/* Where nothing is Model Exchange: ARGUMENT if an option asks for what only that has (`coupled`: or the control of steps). */
TUTTI_CHECKED enum tutti_err tt_integration_reject_options(const struct tutti_run_options *options, bool coupled);

#endif
