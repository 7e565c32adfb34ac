/* SPDX-License-Identifier: MIT */
/* eval_order.h - the order in which the inputs and outputs of a system are computed such that components are evaluated
 * as rarely as possible (Andersson 2016 Alg. 2).
 *
 * Andersson 2016 Alg. 2 joins outputs of one model in Tarjan's order, by comparing every pair. Here the order results
 * from scheduling: an input is set as soon as its source is known; a component whose outstanding outputs can all be
 * computed is evaluated once for all of them; only without such a component, one is evaluated for a part of its
 * outputs. */
#ifndef TT_MODEL_PLAN_EVAL_ORDER_H
#define TT_MODEL_PLAN_EVAL_ORDER_H

#include "model/plan/structure.h"

enum tt_eval_action_kind {
    TUTTI_ACTION_SET,   /* inputs of one component with known sources */
    TUTTI_ACTION_GET,   /* outputs of one component: an evaluation, if something was set since the last one */
    TUTTI_ACTION_SOLVE, /* a strongly connected component of more than one node: an algebraic loop */
};

struct tt_eval_action {
    enum tt_eval_action_kind kind;
    uint32_t component;    /* SET, GET; TUTTI_NONE for SOLVE */
    uint32_t first, count; /* in order->nodes. SOLVE: inputs and outputs of the loop, sorted by component */
};

struct tt_eval_order {
    struct tt_eval_action *actions;
    uint32_t action_count;
    uint32_t *nodes; /* of the structure; each once over all actions */
    uint32_t loop_count;
    /* How many evaluations of components it takes, loops not counted: GETs; where not grouped, only those for which
     * something that the output needs was set since the component's last evaluation, or that are its first. */
    uint32_t evaluations;
};

/* `grouped` false: every output separately, in Tarjan's order: for comparison. */
TUTTI_CHECKED enum tutti_err tt_eval_order_init(struct tt_eval_order *order, const struct tt_structure *structure,
                                                bool grouped);
void tt_eval_order_fini(struct tt_eval_order *order);

#endif
