/* SPDX-License-Identifier: MIT */
/* tlm.h - transmission lines between ends of units (Krus 1995): a wave that leaves one end arrives at the other after a
 * delay, so that units on both sides are decoupled for that time.
 *
 * In terms of the line, with both velocities positive into it and f the force of the line against them,
 *     w = f + Z v   leaves an end,    c = f - Z v   arrives there,    c1(t) = w2(t - D),  c2(t) = w1(t - D).
 * In terms of units (model/system/joint.h) the force on the first is -f1 and its velocity v1; on the second f2 and -v2.
 *
 * f = c + Z v has two terms. The second depends on the end's own velocity directly, and is a connection of the system;
 * the first is fed by the master: over a step that is no longer than D it is known when the step begins.
 *
 * Invariants:
 *  Y1  Inputs of a step depend on accepted points only.
 *  Y2  All ranks compute equal inputs: every rank has the velocities of all ends. */
#ifndef TT_SIM_COUPLING_TLM_H
#define TT_SIM_COUPLING_TLM_H

#include "base/rollback_list.h"
#include "sim/rank.h"

struct tt_tlm;

/* The shortest delay of a system; INFINITY: it has no lines. */
double tt_tlm_shortest_delay(const struct tt_system *system);
/* Checks that steps of the run, and separate steps of units, are short enough. ARGUMENT if not, unless `varies`. */
TUTTI_CHECKED enum tutti_err tt_tlm_check(const struct tt_rank *rank, bool varies);

/* For a rank at its first point. *tlm is NULL if its system has none. */
TUTTI_CHECKED enum tutti_err tt_tlm_open(struct tt_tlm **tlm, struct tt_rank *rank);
TUTTI_CHECKED enum tutti_err tt_tlm_register(struct tt_tlm *tlm, struct tt_rollback_list *remembered);
void tt_tlm_close(struct tt_tlm *tlm);

/* NULL is fine from here on. */

/* Feeds the waves that arrive from rank->t to `target`: on a line, if signals move; otherwise their mean. */
void tt_tlm_compute_inputs(const struct tt_tlm *tlm, double target);
/* Called after a point was accepted, or an event happened there: records the waves that leave the ends at rank->t. */
void tt_tlm_record(struct tt_tlm *tlm);

#endif
