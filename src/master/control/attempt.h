/* SPDX-License-Identifier: MIT */
/* attempt.h - what controls have in common: trying a step, and estimating its error. */
#ifndef TUTTI_MASTER_CONTROL_ATTEMPT_H
#define TUTTI_MASTER_CONTROL_ATTEMPT_H

#include "master/control/control.h"
#include "master/master.h"

/* At the start of a macro step, towards `target`. */
struct tutti_attempt tutti_attempt_begin(const struct tutti_rank *rank, double target);

/* One step of the coupling, and a look at discrete outputs. */
TUTTI_CHECKED enum tutti_err tutti_attempt_plain(struct tutti_master *master, double target,
                                                 struct tutti_attempt *attempt);
/* A whole step, then the same in two halves, which stay (Andersson 2016 section 9.1.3). */
TUTTI_CHECKED enum tutti_err tutti_attempt_doubled(struct tutti_master *master, double target,
                                                   struct tutti_attempt *attempt);
/* The same, but the whole step stays: in two halves, then as it is, with its outputs in master->compared.whole. Not for steps too
 * short to be halved. */
TUTTI_CHECKED enum tutti_err tutti_attempt_compared(struct tutti_master *master, double target,
                                                    struct tutti_attempt *attempt);
/* The order of a step of the coupling as things are: its error goes with the power order + 1. */
unsigned tutti_attempt_order(const struct tutti_master *master);
/* ... as soon as there are points enough for extrapolation. */
unsigned tutti_attempt_full_order(const struct tutti_master *master);
/* Has the attempt come to an end that the step's error says nothing about: an event, a step refused, the end of the run? */
static inline bool tutti_attempt_is_over(const struct tutti_attempt *attempt)
{
    return attempt->changed || attempt->outcome.why != TUTTI_REACHED;
}
/* The judgement of controls that estimate an error: accept up to 1; the stepper proposes what is next. */
enum tutti_verdict tutti_judge_error(struct tutti_master *master, const struct tutti_attempt *attempt);

/* Takes the error of the continuous reals, or of all, into the attempt if it is larger than what is there: the norm (norm.h) of
 * `difference`. `now` says how large they are. */
TUTTI_CHECKED enum tutti_err tutti_attempt_estimate(struct tutti_master *master, struct tutti_attempt *attempt,
                                                    const double *difference, const double *now, bool all);
/* The same of `part`, a possible error that outputs need not show: only if it is more than what is known. After an estimate. */
TUTTI_CHECKED enum tutti_err tutti_attempt_count(struct tutti_master *master, struct tutti_attempt *attempt,
                                                 const double *part, const double *now);
/* The same of what inputs do that are held in the step, with the outputs at its end (held.c). After an estimate; it uses the room of that. */
TUTTI_CHECKED enum tutti_err tutti_attempt_count_held(struct tutti_master *master, struct tutti_attempt *attempt,
                                                      const double *now);
/* This output has the largest part in the error: one of `difference`. Collective. */
TUTTI_CHECKED enum tutti_err tutti_attempt_blame(const struct tutti_master *master, struct tutti_attempt *attempt,
                                                 uint32_t driver, const double *difference);
/* ... of what points before this step say of the outputs that components read, with these at its end. */
TUTTI_CHECKED enum tutti_err tutti_attempt_count_foretold(struct tutti_master *master, struct tutti_attempt *attempt,
                                                          const double *now);
/* Finds the signals that this is about. */
TUTTI_CHECKED enum tutti_err tutti_held_open(struct tutti_master *master);
/* From attempt->size and ->seen to ->error: what is no noise, as a part of what this step may err by. */
void tutti_attempt_share(const struct tutti_master *master, struct tutti_attempt *attempt);

#endif
