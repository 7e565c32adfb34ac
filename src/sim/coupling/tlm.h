/* SPDX-License-Identifier: MIT */
/* tlm.h - transmission lines between ends of units (Krus 1995): what leaves one end arrives at the other after a
 * delay, so that units on both sides are apart from each other for as long.
 *
 * In words of the line, with both velocities positive into it and f the force of the line against them,
 *     w = f + Z v   leaves an end,    c = f - Z v   arrives there,    c1(t) = w2(t - D),  c2(t) = w1(t - D).
 * In words of units (model/system/joint.h) the force on the first is -f1 and its velocity v1; on the second f2 and -v2.
 *
 * f = c + Z v has two terms. The second follows the end's own velocity at once, and is a connection of the system; the first is fed
 * by the master: over a step that is no longer than D it is known when the step begins.
 *
 * Invariants:
 *  Y1  What is laid for a step depends on accepted points only.
 *  Y2  All ranks lay the same: every rank knows the velocities of all ends. */
#ifndef TT_SIM_COUPLING_TLM_H
#define TT_SIM_COUPLING_TLM_H

#include "base/rollback_list.h"
#include "sim/rank.h"

struct tt_tlm;

/* The shortest delay of a system; INFINITY: it has no lines. */
double tt_tlm_shortest_delay(const struct tt_system *system);
/* Are steps of the run, and of units that have their own, short enough? ARGUMENT, if `varies` is false and they are not. */
TUTTI_CHECKED enum tutti_err tt_tlm_check(const struct tt_rank *rank, bool varies);

/* For a rank at its first point. *tlm is NULL if its system has none. */
TUTTI_CHECKED enum tutti_err tt_tlm_open(struct tt_tlm **tlm, struct tt_rank *rank);
TUTTI_CHECKED enum tutti_err tt_tlm_register(struct tt_tlm *tlm, struct tt_rollback_list *remembered);
void tt_tlm_close(struct tt_tlm *tlm);

/* NULL is fine from here on. */

/* Feeds what arrives from rank->t to `target`: on a line, if signals move; else its mean. */
void tt_tlm_compute_inputs(const struct tt_tlm *tlm, double target);
/* A point was accepted, or an event happened there: what leaves the ends at rank->t. */
void tt_tlm_record(struct tt_tlm *tlm);

#endif
