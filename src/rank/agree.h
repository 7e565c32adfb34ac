/* SPDX-License-Identifier: MIT */
/* agree.h - what ranks decide together. With one rank all of this is next to nothing. */
#ifndef TUTTI_RANK_AGREE_H
#define TUTTI_RANK_AGREE_H

#include "rank/rank.h"

/* Collective: the least or greatest of all ranks. */
TUTTI_CHECKED enum tutti_err tutti_reduce(struct tutti_rank *rank, enum tutti_reduction reduction, double *values,
                                          size_t count);
/* Collective: is it so on any rank? */
TUTTI_CHECKED enum tutti_err tutti_agree_any(struct tutti_rank *rank, bool *any);
/* Collective, at a point: has a unit ended the run (then rank->ended; of several the last), is there an event to cross, has an
 * input jumped? */
TUTTI_CHECKED enum tutti_err tutti_agree_point(struct tutti_rank *rank, bool *pending, bool *jumped);

#endif
