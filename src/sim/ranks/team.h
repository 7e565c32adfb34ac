/* SPDX-License-Identifier: MIT */
/* team.h - half of the ranks of a fabric as a separate fabric. Two teams of equal size compute side by side: exchanges
 * and reductions of one neither delay the other nor are visible to it. Ranks with equal numbers in both can send each
 * other bytes.
 *
 * Of 2 n ranks the first n are team 0, the others team 1. A team's exchanges are those of the outer fabric, between
 * fewer ranks; a reduction is an exchange in which every rank of the team sends to all others, and so costs n - 1
 * messages per rank. */
#ifndef TT_SIM_RANKS_TEAM_H
#define TT_SIM_RANKS_TEAM_H

#include "base/bytes.h"
#include "sim/ranks/fabric.h"

struct tt_team;

/* Collective among all ranks of `whole`, before any of them has opened a channel; their number is even. `whole` is borrowed. */
TUTTI_CHECKED enum tutti_err tt_team_join(struct tt_team **out, struct tt_fabric *whole);
void tt_team_leave(struct tt_team *team); /* NULL is fine; `whole` stays open */

/* The team as a fabric: belongs to the team, and its `close` does nothing. */
struct tt_fabric *tt_team_fabric(struct tt_team *team);
/* 0 or 1. */
int tt_team_number(const struct tt_team *team);

/* Waits for all ranks of both teams; all of them call it. */
TUTTI_CHECKED enum tutti_err tt_team_synchronize(struct tt_team *team);
/* Sends bytes to the rank with this number in the other team. Does not wait if it has received the earlier bytes. */
TUTTI_CHECKED enum tutti_err tt_team_send(struct tt_team *team, struct tt_bytes bytes);
/* Returns the next bytes from that rank; valid until the next call. `for_good`: a rank that waits for nothing else, and
 * makes no steps itself: any stop ends the wait (F3). */
TUTTI_CHECKED enum tutti_err tt_team_receive(struct tt_team *team, bool for_good, struct tt_bytes *bytes);

#endif
