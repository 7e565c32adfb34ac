/* SPDX-License-Identifier: MIT */
/* agree.h - what ranks decide together. With one rank all of this is next to nothing. */
#ifndef TUTTI_MASTER_AGREE_H
#define TUTTI_MASTER_AGREE_H

#include "master/loop.h"

/* Collective: the least or greatest of all ranks. */
TUTTI_CHECKED enum tutti_err tutti_reduce(struct run *run, enum tutti_reduction reduction, double *values,
                                          size_t count);
/* Collective: is it so on any rank? */
TUTTI_CHECKED enum tutti_err tutti_agree_any(struct run *run, bool *any);

/* Collective, behind a step of a coupling: which unit came back early, refused the step, or ended the run. Of several, the
 * one that one rank alone, which steps unit after unit, would have seen: all ranks know the same then. */
TUTTI_CHECKED enum tutti_err tutti_agree_step(struct run *run);
/* Collective, at a point: has a unit ended the run (then run->ended), is there an event to cross, has an input jumped? */
TUTTI_CHECKED enum tutti_err tutti_agree_point(struct run *run, bool *pending, bool *jumped);

/* Its place among the units in the order in which they step. */
uint32_t tutti_agree_position(const struct run *run, uint32_t component);

#endif
