/* SPDX-License-Identifier: MIT */
/* command_ring.h - commands of viewers on their way to the first rank, which checks them periodically and agrees on
 * them with the other ranks.
 *
 * A ring in memory that both sides share, also between two processes: zeroed it is empty. It has one writer and one
 * reader. */
#ifndef TT_SIM_RANKS_COMMAND_RING_H
#define TT_SIM_RANKS_COMMAND_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tt_run_command_kind {
    TUTTI_ORDER_WATCH, /* rows are wanted (`value` 1), or not (0) */
    TUTTI_ORDER_PAUSE, /* after the step that is under way */
    TUTTI_ORDER_GO,
    TUTTI_ORDER_STEP, /* while it pauses: `value` macro steps */
    TUTTI_ORDER_STOP, /* the run ends, and its result is kept */
    TUTTI_ORDER_SET,  /* a variable to `value` */
    TUTTI_ORDER_MAKE, /* of a sweep: its run `value` */
    TUTTI_ORDER_KINDS
};

struct tt_run_command {
    uint32_t kind; /* enum tt_run_command_kind */
    uint32_t component, variable;
    double value;
};

enum { TUTTI_ORDERS_MOST = 256 }; /* that wait; a power of 2 */

struct tt_command_ring {
    _Atomic uint32_t given, taken; /* total numbers */
    struct tt_run_command waiting[TUTTI_ORDERS_MOST];
};

/* False: too many wait. */
bool tt_command_ring_push(struct tt_command_ring *orders, const struct tt_run_command *order);
/* Those that wait, in their order, at most `most`; returns how many. */
size_t tt_command_ring_pop(struct tt_command_ring *orders, struct tt_run_command *out, size_t most);

#endif
