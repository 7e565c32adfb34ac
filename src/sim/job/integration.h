/* SPDX-License-Identifier: MIT */
/* integration.h - how a Model Exchange FMU is to be integrated: from words of options to choices. */
#ifndef TT_SIM_JOB_INTEGRATION_H
#define TT_SIM_JOB_INTEGRATION_H

#include "base/options/options.h"
#include "model/system/system.h"
#include "sim/job/state_files.h"
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

/* May one solver have the states of all units (--coupling strong), though nobody named it?
 *
 * Where a tolerance is asked for, and nothing about how units are stepped, `auto` takes FMUs that offer both interfaces by Model
 * Exchange, if every unit of the system can be had so. The rule, which looks at options, files and descriptions only, so that all ranks
 * come to the same:
 * J1  --rtol or --atol is given, --step is not, and no option of those that say how coupled units are stepped.
 * J2  The system is one of several units that connections join, without lines and constraints, and its file is not one of another
 *     tool: those mean Co-Simulation.
 * J3  Each unit offers Model Exchange. None is said to be Co-Simulation, by --interface or in the SSP; none has a step, a filter or a
 *     solver of its own, and none begins in or leaves a state of a file, which belongs to an interface.
 * J4  An FMU that offers both must offer by Model Exchange what it offers by Co-Simulation: a state that is saved, and serialised; it must
 *     not need a tool for Model Exchange alone, nor a process of its own for one of the two.
 * J5  There are continuous states, and no algebraic loop: one solver would solve it in each evaluation, by derivatives which a jump that no
 *     event tells of spoils, where steps that end at points get over it.
 * Ranks then try to load the libraries (sim/start/open.c): one that lacks functions of Model Exchange keeps all units as they are. */

/* What of a job (job.h) it looks at. */
struct tt_joining {
    const struct tutti_run_options *asked, *options; /* as given; with what the system's annotation adds */
    const struct tt_system *system;
    const struct tt_state_files *states;
};

/* The options' part for units that are of Model Exchange anyway: accuracy is asked for, and nothing that one solver would not do. */
bool tt_integration_may_join(const struct tutti_run_options *options);
/* J1 to J5, and it makes a difference: some unit would be of Co-Simulation else. */
TUTTI_CHECKED enum tutti_err tt_integration_find_joining(const struct tt_joining *job, bool *joins);

#endif
