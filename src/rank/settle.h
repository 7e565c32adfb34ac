/* SPDX-License-Identifier: MIT */
/* settle.h - the end of an event of one unit. */
#ifndef TUTTI_RANK_SETTLE_H
#define TUTTI_RANK_SETTLE_H

#include "rank/rank.h"

/* Lets a unit that is in event mode settle; once more if it announces the next event for the same time. *ended becomes true
 * if its FMU ends the run. */
TUTTI_CHECKED enum tutti_err tutti_member_settle(const struct tutti_rank *rank, struct tutti_member *member,
                                                 bool *ended);

/* The error of a unit whose time stands still: `how` says what the FMU does. */
TUTTI_CHECKED enum tutti_err tutti_member_stands_still(const struct tutti_member *member, const char *how);

#endif
