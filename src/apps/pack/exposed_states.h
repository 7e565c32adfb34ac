/* SPDX-License-Identifier: MIT */
/* exposed_states.h - what a packed system has besides if it is an FMU for Model Exchange, too: the states of its units and their derivatives, as local variables, and
 * by FMI 3.0 event indicators.
 *
 * It is one if all its units are run by Model Exchange, and their equations are all there is: the importer's solver then has all states in one vector, as
 * `--coupling strong` has. Their order is that of sim/coupling/joint_units.h: units by name. */
#ifndef TT_APPS_PACK_EXPOSED_STATES_H
#define TT_APPS_PACK_EXPOSED_STATES_H

#include "apps/pack/exposed.h"

/* Adds them, if it is one (list->exchange). */
TUTTI_CHECKED enum tutti_err tt_exposed_add_states(struct tt_exposed_list *list, const struct tt_job *job,
                                                   unsigned fmi);

/* The kind of unit that a component becomes, and its own step; 0: none. */
TUTTI_CHECKED enum tutti_err tt_exposed_find_kind(const struct tt_job *job, uint32_t component,
                                                  const struct tt_unit_kind **kind, double *step);

/* Averages over a step are over those of the importer: ARGUMENT for several components with a control that makes other steps. */
TUTTI_CHECKED enum tutti_err tt_exposed_check_averages(const struct tt_job *job);

#endif
