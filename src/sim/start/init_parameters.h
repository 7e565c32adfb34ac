/* SPDX-License-Identifier: MIT */
/* init_parameters.h - has a unit the parameters that it should have (unit/parameter_check.h)? Else a run would go on with others in
 * silence. */
#ifndef TT_SIM_START_INIT_PARAMETERS_H
#define TT_SIM_START_INIT_PARAMETERS_H

#include "sim/rank.h"

/* Reads the parameters of an own unit that is initialised, one call per type, and warns of those that are not what they were set
 * to, or what the description says. *refused: the FMU did not show them, and FMI lets nobody step it after that. */
TUTTI_CHECKED enum tutti_err tt_init_compare_parameters(struct tt_rank *rank, const struct tt_member *member,
                                                        bool *refused);

#endif
