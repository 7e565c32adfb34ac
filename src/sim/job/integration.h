/* SPDX-License-Identifier: MIT */
/* integration.h - how a Model Exchange FMU is to be integrated: from words of options to choices. */
#ifndef TT_SIM_JOB_INTEGRATION_H
#define TT_SIM_JOB_INTEGRATION_H

#include "base/options/options.h"
#include "model/system/system.h"
#include "sim/job/state_files.h"
#include "sim/job/times.h"
#include "unit/unit.h"

/* Returns true if the choice is left to `auto`. NULL: the option is not given. */
bool tt_integration_is_auto(const char *word);
/* ARGUMENT, listing the possible words, for any other word. */
TUTTI_CHECKED enum tutti_err tt_integration_choose_interface(const struct tutti_run_options *options,
                                                             enum tt_interface_choice *choice);
/* Finds the kind of unit for an FMU of a system, or for one that is `alone`: Model Exchange, unless specified
 * otherwise, if the FMU has it, and a solver is named, or a coupling with one solver for all units. */
TUTTI_CHECKED enum tutti_err tt_integration_find_interface(const struct tutti_run_options *options,
                                                           const struct tt_fmu *fmu, bool alone,
                                                           const struct tt_unit_kind **kind);
/* Fills in defaults and checks, for a Model Exchange unit; `disturbed`: its inputs change on the way, or it is taken back. */
TUTTI_CHECKED enum tutti_err tt_integration_resolve(struct tt_integration *integration,
                                                    const struct tutti_run_options *options,
                                                    const struct tt_times *times, double tolerance, bool disturbed,
                                                    bool coupled);
/* For Model Exchange, and for the control of steps, unless an option sets it. */
#define TUTTI_DEFAULT_RTOL 1e-4

/* Without Model Exchange: ARGUMENT if an option requires it (`coupled`: or the control of steps). */
TUTTI_CHECKED enum tutti_err tt_integration_reject_options(const struct tutti_run_options *options, bool coupled);

/* Decides whether one solver has the states of all units (--coupling strong), although no option selects it.
 *
 * If a tolerance is given, and no option specifies how units are stepped, `auto` runs FMUs with both interfaces by
 * Model Exchange, if every unit of the system permits it. The rule depends on options, files and descriptions only, so
 * that all ranks decide alike:
 * J1  --rtol or --atol is given, --step is not, and no option that specifies how coupled units are stepped.
 * J2  The system has several units that connections join, without lines and constraints, and its file is not one of
 * another
 *     tool: those imply Co-Simulation.
 * J3  Each unit offers Model Exchange. None is selected as Co-Simulation, by --interface or in the SSP; none has a
 * separate
 *     step, filter or solver, and none uses --initial-state or --final-state, whose files belong to an interface.
 * J4  An FMU that offers both must offer by Model Exchange what it offers by Co-Simulation: saving and serialising
 * states; it
 *     must not need a tool for Model Exchange alone, nor a separate process for one of the two.
 * J5  There are continuous states, and no algebraic loop: one solver would solve it in each evaluation, by derivatives
 * which an
 *     unannounced jump spoils, whereas steps that end at points get past it.
 * Ranks then try to load the libraries (sim/start/open.c): if one lacks functions of Model Exchange, all units stay
 * unchanged. */

/* The parts of a job (job.h) that it depends on. */
struct tt_joining {
    const struct tutti_run_options *asked, *options; /* as given; with the system's annotation */
    const struct tt_system *system;
    const struct tt_state_files *states;
};

/* The condition on options for units that run by Model Exchange anyway: accuracy is requested, and nothing that one
 * solver would not do. */
bool tt_integration_may_join(const struct tutti_run_options *options);
/* J1 to J5, and it makes a difference: otherwise some unit would run by Co-Simulation. */
TUTTI_CHECKED enum tutti_err tt_integration_find_joining(const struct tt_joining *job, bool *joins);

#endif
