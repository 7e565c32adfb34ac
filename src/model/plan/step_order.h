/* SPDX-License-Identifier: MIT */
/* step_order.h - the order in which units step, for couplings that step them sequentially.
 *
 * A unit whose outputs follow its inputs directly should step after the units that feed these inputs: then its outputs
 * at the end of a step match their outputs there. Other inputs only act on states, where the order matters less:
 * outside cycles they count equally; inside a cycle they decide where the first rule leaves the order open. Cycles by
 * the first rule are algebraic loops; inside these, units keep the order in which they are listed. */
#ifndef TT_MODEL_PLAN_STEP_ORDER_H
#define TT_MODEL_PLAN_STEP_ORDER_H

#include "model/plan/structure.h"

struct tt_step_sequence {
    uint32_t count;
    uint32_t *components; /* in order */
    /* Units of one wave do not wait for each other: wave w is components[wave_first[w]] ... [wave_first[w + 1] - 1]. */
    uint32_t wave_count;
    uint32_t *wave_first; /* wave_count + 1 */
};

/* `structure` is of the running phase. `order`: "A,B,C", units that step first, in this order; NULL: none. ARGUMENT for
 * an unknown or repeated name. */
TUTTI_CHECKED enum tutti_err tt_step_order_init_sequence(struct tt_step_sequence *sequence,
                                                         const struct tt_structure *structure, const char *order);
void tt_step_order_fini_sequence(struct tt_step_sequence *sequence);

/* The order in which units step for couplings that repeat steps: units outside cycles step once, each cycle is repeated
 * separately.
 *
 * Units are nodes, connections edges; a strongly connected component with more than one unit, or with a unit that feeds
 * itself, is a cycle. A stage is one cycle, or units in none that do not wait for each other; it comes after all stages
 * that feed it. The stages do not depend on the order in which units are listed, except for that of stages that do not
 * wait for each other. */

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
