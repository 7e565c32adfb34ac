/* SPDX-License-Identifier: MIT */
/* block.h - an algebraic loop between units at the start, solved as one (Andersson 2016 section 5.1; Galtier 2015
 * "Co-initialization"). */
#ifndef TUTTI_START_BLOCK_H
#define TUTTI_START_BLOCK_H

#include "rank/rank.h"

/* Solves for the outputs among `nodes` (inputs and outputs of units in initialisation mode, sorted by component), so that
 * they are what the units make of them: continuous ones by Newton's method, others by repetition until they rest.
 * SOLVER, naming the variables with their last values and residuals. UNSUPPORTED for units that cannot be read there. */
TUTTI_CHECKED enum tutti_err tutti_block_solve(struct tutti_rank *rank, const uint32_t *nodes, uint32_t count);

/* DL of a loop (Andersson 2016 eq. 5.8) where its units are: n times n, column-major, in the arena; row and column i belong
 * to output i among `nodes`. UNSUPPORTED for loops with arrays or discrete values, and for those that are too large for
 * what follows. */
TUTTI_CHECKED enum tutti_err tutti_block_feedback(struct tutti_rank *rank, const uint32_t *nodes, uint32_t count,
                                                  struct tutti_arena *arena, double **matrix, size_t *n, bool *exact);

/* Hands the staged value of an input node to its unit; reads an output node into the signals. */
TUTTI_CHECKED enum tutti_err tutti_node_write(struct tutti_rank *rank, uint32_t node);
TUTTI_CHECKED enum tutti_err tutti_node_read(struct tutti_rank *rank, uint32_t node);

#endif
