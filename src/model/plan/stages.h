/* SPDX-License-Identifier: MIT */
/* stages.h - the order in which units step for couplings that repeat steps: what lies in no cycle steps once, each cycle is repeated
 * by itself.
 *
 * Units are nodes, connections edges; a strongly connected component with more than one unit, or with a unit that feeds itself, is a
 * cycle. A stage is one cycle, or units in none that do not wait for each other; it comes after all stages that feed it. The stages do
 * not depend on the order in which units are listed, except for that of stages that do not wait for each other. */
#ifndef TT_MODEL_PLAN_STAGES_H
#define TT_MODEL_PLAN_STAGES_H

#include "model/plan/structure.h"

struct tt_step_stage {
    uint32_t first, count; /* of its units, in tt_step_stages.components, in ascending order */
    bool cyclic;
};

struct tt_step_stages {
    uint32_t count;
    struct tt_step_stage *items; /* in order */
    uint32_t *components;
    uint32_t *of; /* per component: its stage */
};

/* `structure` is of the running phase. */
TUTTI_CHECKED enum tutti_err tt_step_order_init_stages(struct tt_step_stages *stages,
                                                       const struct tt_structure *structure);
void tt_step_order_fini_stages(struct tt_step_stages *stages); /* a zeroed one is fine */

#endif
