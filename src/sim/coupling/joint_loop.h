/* SPDX-License-Identifier: MIT */
/* joint_loop.h - an algebraic loop between Model Exchange units, solved in every evaluation of their equations
 * (joint_units.h).
 *
 * The unknowns are the continuous outputs y in the loop, the equations y = g(y), as at the start
 * (sim/start/algebraic_loop.c). Newton's method uses the matrix of an earlier point as long as that converges; then a
 * new one; then KINSOL, with its line search (solve/kinsol.h). */
#ifndef TT_SIM_COUPLING_JOINT_LOOP_H
#define TT_SIM_COUPLING_JOINT_LOOP_H

#include "sim/coupling/joint_units.h"

struct tt_joint_loop;

/* `nodes` are inputs and outputs of the loop; memory is the arena's, but for what fini releases. */
TUTTI_CHECKED enum tutti_err tt_joint_loop_new(struct tt_joint_loop **out, struct tt_joint_units *pool,
                                               const uint32_t *nodes, uint32_t count);
void tt_joint_loop_free(struct tt_joint_loop *loop); /* NULL is fine */

/* Collective. *good is false where the units have no values, or no solution was found (the miss is noted). */
TUTTI_CHECKED enum tutti_err tt_joint_loop_solve(struct tt_joint_loop *loop, double t, bool *good);

/* Collective, after a solver has failed, with all units at a point: records a nearly singular loop as the cause. */
TUTTI_CHECKED enum tutti_err tt_joint_loop_explain_failure(struct tt_joint_loop *loop, double t);

/* The present matrix, as plain data, so that a step can be rolled back. */
size_t tt_joint_loop_size(const struct tt_joint_loop *loop);
void tt_joint_loop_save(const struct tt_joint_loop *loop, void *memory);
void tt_joint_loop_restore(struct tt_joint_loop *loop, const void *memory);

#endif
