/* SPDX-License-Identifier: MIT */
/* parameters.h - has a unit the parameters that it should have (unit/described.h)? Else a run would go on with others in
 * silence. */
#ifndef TUTTI_START_PARAMETERS_H
#define TUTTI_START_PARAMETERS_H

#include "rank/rank.h"

/* Reads the parameters of an own unit that is initialised, one call per type, and warns of those that are not what they were set
 * to, or what the description says. *refused: the FMU did not show them, and FMI lets nobody step it after that. */
TUTTI_CHECKED enum tutti_err tt_init_compare_parameters(struct tt_rank *rank, const struct tt_member *member,
                                                        bool *refused);

#endif
