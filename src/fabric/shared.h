/* SPDX-License-Identifier: MIT */
/* shared.h - the fabric of ranks that share memory: threads, or processes that were forked.
 *
 * Everything lies in one area, which is made before there are ranks. The process that makes it is the conductor: it
 * reads what ranks report and where they are, at any time, also after one of them died. It must go on reading until all
 * have left, also after a stop: a rank whose report does not fit waits until it does, so that no report is cut short. */
#ifndef TUTTI_FABRIC_SHARED_H
#define TUTTI_FABRIC_SHARED_H

#include <signal.h>

#include "fabric/fabric.h"
#include "fabric/orders.h"

struct tutti_shared;

/* `name` is that of the kind that ranks see ("threads"); borrowed. Reserves addresses, not memory. */
TUTTI_CHECKED enum tutti_err tutti_shared_new(struct tutti_shared **out, int ranks, const char *name);
/* Once no rank uses it any more; in a process that was forked, there is no need. NULL is fine. */
void tutti_shared_free(struct tutti_shared *area);

/* Called by the rank, once, in its own thread or process. kind->close says that it has left. */
TUTTI_CHECKED enum tutti_err tutti_shared_join(struct tutti_shared *area, int rank, struct tutti_fabric **out);

/* For the conductor. */

/* What the rank reported and is not taken yet: `count` bytes that lie one after the other; 0: nothing. More may lie after
 * them that is not seen before they are taken. */
const char *tutti_shared_reports(struct tutti_shared *area, int rank, size_t *count);
/* `count` of them are not needed any more. */
void tutti_shared_consume(struct tutti_shared *area, int rank, size_t count);
const struct tutti_heartbeat *tutti_shared_heartbeat(const struct tutti_shared *area, int rank);
/* Has the rank closed its fabric? Everything that it reported is there then. */
bool tutti_shared_has_left(const struct tutti_shared *area, int rank);
/* As kind->stop. */
void tutti_shared_stop(struct tutti_shared *area, uint64_t step);
/* A flag that all ranks see, also those in other processes: 0 until it is set. */
volatile sig_atomic_t *tutti_shared_interrupt(struct tutti_shared *area);

/* Orders to the run, which the first rank takes. */
struct tutti_orders *tutti_shared_orders(struct tutti_shared *area);

/* Sleeps until a rank has something that cannot wait (it has left, told all to stop, or half of the room for its reports is
 * used), `seconds` are over, or a signal came. `seen` is what tutti_shared_bell said before the conductor last looked. */
uint32_t tutti_shared_bell(const struct tutti_shared *area);
void tutti_shared_wait(struct tutti_shared *area, uint32_t seen, double seconds);

#endif
