/* SPDX-License-Identifier: MIT */
/* joint_pattern.h - dependencies of the derivatives of all units on all states, by model structures and connections. */
#ifndef TT_SIM_COUPLING_JOINT_PATTERN_H
#define TT_SIM_COUPLING_JOINT_PATTERN_H

#include "sim/coupling/joint_units.h"
#include "model/plan/structure.h"
#include "solve/pattern.h"

/* The pattern of df/dx. `cut` has the dependencies among these units only. */
TUTTI_CHECKED enum tutti_err tt_joint_pattern_find(const struct tt_joint_units *pool, const struct tt_structure *cut,
                                                   struct tt_pattern *pattern);
/* As above if some outputs, the nodes `unknowns` with their numbers of values, are not eliminated: the pattern of
 * derivatives, then unknowns, by states, then unknowns. */
TUTTI_CHECKED enum tutti_err tt_joint_pattern_find_wide(const struct tt_joint_units *pool,
                                                        const struct tt_structure *cut, const uint32_t *unknowns,
                                                        const uint32_t *values, uint32_t count,
                                                        struct tt_pattern *pattern);

#endif
