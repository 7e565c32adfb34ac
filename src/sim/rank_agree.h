/* SPDX-License-Identifier: MIT */
/* rank_agree.h - what ranks decide together. With one rank all of this is next to nothing. */
#ifndef TT_SIM_RANK_AGREE_H
#define TT_SIM_RANK_AGREE_H

#include "sim/rank.h"

/* Collective: the least or greatest of all ranks. */
TUTTI_CHECKED enum tutti_err tt_rank_reduce(struct tt_rank *rank, enum tt_fabric_reduction reduction, double *values,
                                            size_t count);
/* Collective: is it so on any rank? */
TUTTI_CHECKED enum tutti_err tt_rank_agree_any(struct tt_rank *rank, bool *any);

/* What has happened at a point that units have reached. */
struct tt_point_events {
    bool pending; /* an event is to be crossed */
    bool ticks;   /* a clock is due (ticks.h) */
    bool jumped;  /* an input from a file has jumped */
};
/* Collective: all that has happened there on any rank, which also becomes known of units that have ended the run (rank->ended; of
 * several the last). */
TUTTI_CHECKED enum tutti_err tt_rank_agree_point(struct tt_rank *rank, struct tt_point_events *here);

#endif
