/* SPDX-License-Identifier: MIT */
/* events.h - events at a point that all units have reached. An event may change inputs that cause the next, so events
 * are crossed round by round until they converge. All functions are collective. */
#ifndef TT_SIM_EVENTS_H
#define TT_SIM_EVENTS_H

#include "sim/sim.h"
#include "sim/rank.h"

/* At the point reached, with outputs exchanged: sets here->pending if an event is due for any unit of any rank
 * (member->now.event, changed discrete inputs). All ranks agree on that, on here->jumped, which the caller has filled
 * in, and on rank->ended. */
TUTTI_CHECKED enum tutti_err tt_events_check(struct tt_rank *rank, struct tt_point_events *here);
/* Crosses the events that were found, with a row before and one after. */
TUTTI_CHECKED enum tutti_err tt_events_handle_found(struct tt_sim *master);
/* Checks for events, and crosses them; *crossed: there were any. */
TUTTI_CHECKED enum tutti_err tt_events_handle(struct tt_sim *master, bool *crossed);
/* In the middle of a step, where the units `among` which there are events (per component) are at one separate point:
 * crosses these, without rows. A unit that ends the run is rank->ended. */
TUTTI_CHECKED enum tutti_err tt_events_handle_among(struct tt_rank *rank, const bool *among);
/* An event of one own unit in the middle of a step, with the inputs that are staged. */
TUTTI_CHECKED enum tutti_err tt_events_handle_locally(struct tt_rank *rank, struct tt_member *member);
/* A program, or a federation, has set values (pending_set.h), and a step is about to begin: all units that are at the rank's time take theirs. */
TUTTI_CHECKED enum tutti_err tt_events_apply_pending(struct tt_sim *master);
/* Called after signals have jumped: discards the history of their movement. */
TUTTI_CHECKED enum tutti_err tt_events_restart_signals(struct tt_sim *master);

#endif
