/* SPDX-License-Identifier: MIT */
/* attempt.h - what controls have in common: trying a step, and estimating its error. */
#ifndef TT_SIM_CONTROL_ATTEMPT_H
#define TT_SIM_CONTROL_ATTEMPT_H

#include "sim/control/control.h"
#include "sim/sim.h"

/* At the start of a macro step, towards `target`. */
struct tt_attempt tt_control_begin_attempt(const struct tt_rank *rank, double target);

/* One step of the coupling, and a look at discrete outputs. */
TUTTI_CHECKED enum tutti_err tt_control_attempt_step(struct tt_sim *master, double target, struct tt_attempt *attempt);
/* A whole step, then the same in two halves, which stay (Andersson 2016 section 9.1.3). */
TUTTI_CHECKED enum tutti_err tt_doubling_attempt(struct tt_sim *master, double target, struct tt_attempt *attempt);
/* The same, but the whole step stays: in two halves, then as it is, with its outputs in master->compared.whole. Not for steps too
 * short to be halved. */
TUTTI_CHECKED enum tutti_err tt_doubling_compare(struct tt_sim *master, double target, struct tt_attempt *attempt);
/* The order of a step of the coupling as things are: its error goes with the power order + 1. */
unsigned tt_control_attempt_order(const struct tt_sim *master);
/* ... as soon as there are points enough for extrapolation. */
unsigned tt_control_full_order(const struct tt_sim *master);
/* Has the attempt come to an end that the step's error says nothing about: an event, a step refused, the end of the run? */
static inline bool tt_control_attempt_is_over(const struct tt_attempt *attempt)
{
    return attempt->changed || attempt->outcome.why != TUTTI_REACHED;
}
/* The judgement of controls that estimate an error: accept up to 1; the stepper proposes what is next. */
enum tt_verdict tt_control_check_error(struct tt_sim *master, const struct tt_attempt *attempt);

/* Takes the error of the continuous reals, or of all, into the attempt if it is larger than what is there: the norm (norm.h) of
 * `difference`. `now` says how large they are. */
TUTTI_CHECKED enum tutti_err tt_control_estimate_error(struct tt_sim *master, struct tt_attempt *attempt,
                                                       const double *difference, const double *now, bool all);
/* The same of `part`, a possible error that outputs need not show: only if it is more than what is known. After an estimate. */
TUTTI_CHECKED enum tutti_err tt_control_count_error(struct tt_sim *master, struct tt_attempt *attempt,
                                                    const double *part, const double *now);
/* The same of what inputs do that are held in the step, with the outputs at its end (held.c). After an estimate; it uses the room of that. */
TUTTI_CHECKED enum tutti_err tt_control_add_held_error(struct tt_sim *master, struct tt_attempt *attempt,
                                                       const double *now);
/* This output has the largest part in the error: one of `difference`. Collective. */
TUTTI_CHECKED enum tutti_err tt_control_set_driver(const struct tt_sim *master, struct tt_attempt *attempt,
                                                   uint32_t driver, const double *difference);
/* ... of what points before this step say of the outputs that components read, with these at its end. */
TUTTI_CHECKED enum tutti_err tt_embedded_count_prediction(struct tt_sim *master, struct tt_attempt *attempt,
                                                          const double *now);
/* Finds the signals that this is about. */
TUTTI_CHECKED enum tutti_err tt_control_open_held(struct tt_sim *master);
/* From attempt->size and ->seen to ->error: what is no noise, as a part of what this step may err by. */
void tt_control_scale_error(const struct tt_sim *master, struct tt_attempt *attempt);

#endif
