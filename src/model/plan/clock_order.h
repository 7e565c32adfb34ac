/* SPDX-License-Identifier: MIT */
/* clock_order.h - in which order units compute where clocks tick at one instant.
 *
 * A unit of Co-Simulation or Model Exchange computes all its clocks that tick at once, in event mode; one of Scheduled Execution each partition
 * by itself. What a clocked variable is connected to, and the clocks that an output clock makes tick, come after it; partitions of one unit
 * come by their priorities. Where that is a circle, it is cut before the unit that comes first in the system: it sees what the others
 * computed at the tick before. The order is the same on every rank; what does not depend on each other is one wave. */
#ifndef TT_MODEL_PLAN_CLOCK_ORDER_H
#define TT_MODEL_PLAN_CLOCK_ORDER_H

#include "base/arena.h"
#include "base/fail.h"
#include "base/text.h"
#include "model/system/system.h"

struct tt_tick_node {
    uint32_t component;
    uint32_t clock; /* variable of the clock whose partition it is; TUTTI_NONE: all clocks of the unit */
    uint32_t wave;
};

struct tt_clock_order {
    struct tt_tick_node *nodes; /* by waves, from 0 */
    uint32_t count, waves;
};

bool tt_clock_order_has_clocks(const struct tt_system *system);
/* `scheduled`: per component, is it one of Scheduled Execution? All of it lies in the arena. */
TUTTI_CHECKED enum tutti_err tt_clock_order_init(struct tt_clock_order *ticking, const struct tt_system *system,
                                                 const bool *scheduled, struct tt_arena *arena);
/* Clocks that make each other tick in a circle: "a.out -> b.in -> b.out -> a.in", as text; none is found: text stays empty. */
void tt_clock_order_find_cycle(const struct tt_system *system, struct tt_text *text);

#endif
