/* SPDX-License-Identifier: MIT */
/* shared_fabric.h - the fabric of ranks that share memory: threads, or processes that were forked.
 *
 * Everything lies in one area, which is made before there are ranks. The process that makes it is the conductor: it
 * reads what ranks report and where they are, at any time, also after one of them died. It must go on reading until all
 * have left, also after a stop: a rank whose report does not fit waits until it does, so that no report is cut short. */
#ifndef TT_SIM_RANKS_SHARED_FABRIC_H
#define TT_SIM_RANKS_SHARED_FABRIC_H

#include <signal.h>

#include "sim/ranks/fabric.h"
#include "sim/ranks/command_ring.h"

struct tt_shared_fabric;

/* `name` is that of the kind that ranks see ("threads"); borrowed. Reserves addresses, not memory. */
TUTTI_CHECKED enum tutti_err tt_shared_fabric_new(struct tt_shared_fabric **out, int ranks, const char *name);
/* Once no rank uses it any more; in a process that was forked, there is no need. NULL is fine. */
void tt_shared_fabric_free(struct tt_shared_fabric *area);

/* Called by the rank, once, in its own thread or process. kind->close says that it has left. */
TUTTI_CHECKED enum tutti_err tt_shared_fabric_join(struct tt_shared_fabric *area, int rank, struct tt_fabric **out);

/* For the conductor. */

/* What the rank reported and is not taken yet: `count` bytes that lie one after the other; 0: nothing. More may lie after
 * them that is not seen before they are taken. */
const char *tt_shared_fabric_peek_reports(struct tt_shared_fabric *area, int rank, size_t *count);
/* `count` of them are not needed any more. */
void tt_shared_fabric_consume_reports(struct tt_shared_fabric *area, int rank, size_t count);
const struct tt_heartbeat *tt_shared_fabric_heartbeat(const struct tt_shared_fabric *area, int rank);
/* Has the rank closed its fabric? Everything that it reported is there then. */
bool tt_shared_fabric_has_left(const struct tt_shared_fabric *area, int rank);
/* As kind->stop. */
void tt_shared_fabric_stop(struct tt_shared_fabric *area, uint64_t step);
/* A flag that all ranks see, also those in other processes: 0 until it is set. */
volatile sig_atomic_t *tt_shared_fabric_interrupt_flag(struct tt_shared_fabric *area);

/* Orders to the run, which the first rank takes. */
struct tt_command_ring *tt_shared_fabric_commands(struct tt_shared_fabric *area);

/* Sleeps until a rank has something that cannot wait (it has left, told all to stop, or half of the room for its reports is
 * used), `seconds` are over, or a signal came. `seen` is what tt_shared_fabric_event_count said before the conductor last looked. */
uint32_t tt_shared_fabric_event_count(const struct tt_shared_fabric *area);
void tt_shared_fabric_wait(struct tt_shared_fabric *area, uint32_t seen, double seconds);

#endif
