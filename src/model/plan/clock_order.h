/* SPDX-License-Identifier: MIT */
/* clock_order.h - the order in which units compute when clocks tick at one instant.
 *
 * A unit of Co-Simulation or Model Exchange computes all clocks that tick at once, in event mode; a unit of Scheduled
 * Execution computes each partition separately. Destinations of a clocked variable, and clocks that an output clock
 * triggers, come after it; partitions of one unit are ordered by priority. A cycle is cut before the unit that is
 * listed first in the system, which receives the values of the previous tick. The order is equal on every rank; units
 * that are independent of each other form one wave. */
#ifndef TT_MODEL_PLAN_CLOCK_ORDER_H
#define TT_MODEL_PLAN_CLOCK_ORDER_H

#include "base/arena.h"
#include "base/fail.h"
#include "base/text.h"
#include "model/system/system.h"

struct tt_tick_node {
    uint32_t component;
    uint32_t clock; /* variable of the partition's clock; TUTTI_NONE: all clocks of the unit */
    uint32_t wave;
};

struct tt_clock_order {
    struct tt_tick_node *nodes; /* by waves, from 0 */
    uint32_t count, waves;
};

bool tt_clock_order_has_clocks(const struct tt_system *system);
/* `scheduled`: for each component, true if it runs by Scheduled Execution. All data lies in the arena. */
TUTTI_CHECKED enum tutti_err tt_clock_order_init(struct tt_clock_order *ticking, const struct tt_system *system,
                                                 const bool *scheduled, struct tt_arena *arena);
/* Finds clocks that trigger each other in a cycle: "a.out -> b.in -> b.out -> a.in", as text; empty without a cycle. */
void tt_clock_order_find_cycle(const struct tt_system *system, struct tt_text *text);

#endif
