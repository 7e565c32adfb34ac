/* SPDX-License-Identifier: MIT */
/* shared_fabric.h - the fabric of ranks that share memory: threads, or processes that were forked.
 *
 * Everything lies in one area, which is created before the ranks. Its creator is the conductor: it reads the ranks'
 * reports and positions, at any time, also after one of them died. It must continue reading until all have left, also
 * after a stop: a rank whose report does not fit waits until it does, so that no report is truncated. */
#ifndef TT_SIM_RANKS_SHARED_FABRIC_H
#define TT_SIM_RANKS_SHARED_FABRIC_H

#include <signal.h>

#include "sim/ranks/fabric.h"
#include "sim/ranks/command_ring.h"

struct tt_shared_fabric;

/* `name` is that of the kind that ranks see ("threads"); borrowed. Reserves addresses, not memory. */
TUTTI_CHECKED enum tutti_err tt_shared_fabric_new(struct tt_shared_fabric **out, int ranks, const char *name);
/* Frees the area once no rank uses it; not needed in a forked process. NULL is allowed. */
void tt_shared_fabric_free(struct tt_shared_fabric *area);

/* Called once by the rank, in its own thread or process. kind->close marks it as left. */
TUTTI_CHECKED enum tutti_err tt_shared_fabric_join(struct tt_shared_fabric *area, int rank, struct tt_fabric **out);

/* For the conductor. */

/* Returns unread reports of the rank: `count` contiguous bytes; 0: none. More may follow once these are consumed. */
const char *tt_shared_fabric_peek_reports(struct tt_shared_fabric *area, int rank, size_t *count);
/* `count` of them are not needed any more. */
void tt_shared_fabric_consume_reports(struct tt_shared_fabric *area, int rank, size_t count);
const struct tt_heartbeat *tt_shared_fabric_heartbeat(const struct tt_shared_fabric *area, int rank);
/* Returns true if the rank has closed its fabric. All its reports are available then. */
bool tt_shared_fabric_has_left(const struct tt_shared_fabric *area, int rank);
/* As kind->stop. */
void tt_shared_fabric_stop(struct tt_shared_fabric *area, uint64_t step);
/* A flag visible to all ranks, also in other processes: 0 until it is set. */
volatile sig_atomic_t *tt_shared_fabric_interrupt_flag(struct tt_shared_fabric *area);

/* Orders to the run, which the first rank takes. */
struct tt_command_ring *tt_shared_fabric_commands(struct tt_shared_fabric *area);

/* Sleeps until a rank needs attention (it has left, requested a stop, or filled half of the room for its reports),
 * `seconds` are over, or a signal came. `seen` is the event count before the conductor's last check. */
uint32_t tt_shared_fabric_event_count(const struct tt_shared_fabric *area);
void tt_shared_fabric_wait(struct tt_shared_fabric *area, uint32_t seen, double seconds);

#endif
