/* SPDX-License-Identifier: MIT */
/* init_exchange.h - who does what where inputs and outputs are computed in the order of their dependencies, and when ranks have to hear
 * of each other.
 *
 * All ranks go through the same list of actions (model/plan/eval_order.h), each does those of its own units. Outputs are sent when a rank is
 * about to read one that is news to it, which all ranks know: the exchange is collective. Actions between two exchanges, whole
 * loops among them, are done on several ranks at once. A loop whose units are on several ranks is solved by all of them, each with
 * the same iteration (algebraic_loop.h). */
#ifndef TT_SIM_START_INIT_EXCHANGE_H
#define TT_SIM_START_INIT_EXCHANGE_H

#include "sim/rank.h"

struct tt_init_exchange {
    struct tt_rank *rank;
    bool *news; /* per node: computed since the last exchange; of the arena */
    bool *told; /* per node, an input: its unit was told; of the arena */
};

TUTTI_CHECKED enum tutti_err tt_init_exchange_init(struct tt_init_exchange *spread, struct tt_rank *rank,
                                                   struct tt_arena *arena);
/* Collective: before an action on these nodes. *here: this rank takes part in it. */
TUTTI_CHECKED enum tutti_err tt_init_exchange_prepare(struct tt_init_exchange *spread, const uint32_t *nodes,
                                                      uint32_t count, bool *here);
/* Collective: all that was computed is known where it is read. */
TUTTI_CHECKED enum tutti_err tt_init_exchange_run(struct tt_init_exchange *spread);
/* ... by another exchange. */
void tt_init_exchange_mark_done(struct tt_init_exchange *spread);

#endif
