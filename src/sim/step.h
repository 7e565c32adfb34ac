/* SPDX-License-Identifier: MIT */
/* step.h - a macro step whose size may have to be determined by attempts.
 *
 * Invariants:
 *  M1  Every attempt begins at the start of the macro step, with the state of that point.
 *  M2  In an accepted step no watched discrete output has changed, except in the short step across an event.
 *  M3  Every do-step is counted once: accepted, rejected or auxiliary. */
#ifndef TT_SIM_STEP_H
#define TT_SIM_STEP_H

#include "sim/sim.h"

/* A macro step is a state machine: each state makes an attempt, whose case decides by one table (step.c; drawn in docs/design/step.md) what is
 * done about it, and which state follows. */
enum tt_step_state {
    TUTTI_STEP_TRY,    /* a step to the target, judged by the control */
    TUTTI_STEP_LOCATE, /* bisection for an event in the step */
    TUTTI_STEP_CROSS,  /* the short step across a located event */
    TUTTI_STEP_DONE,
};

enum tt_step_case {
    TUTTI_CASE_GOOD,         /* accepted, or forced */
    TUTTI_CASE_ALL_AT_EVENT, /* all components stand at an event or at the end of the run, from which they need not go back */
    TUTTI_CASE_TOO_INEXACT,      /* the error is too large, or an iteration has not converged */
    TUTTI_CASE_JUMP,             /* the error is too large because of a discontinuity in the step */
    TUTTI_CASE_REFUSED,          /* a component discarded the step */
    TUTTI_CASE_EVENT,            /* a component returned on the way, with an event */
    TUTTI_CASE_EVENT_AT_START,   /* a component did not leave the start */
    TUTTI_CASE_EVENT_AGAIN,      /* a component did not leave the start although its event there was handled */
    TUTTI_CASE_EVENT_REPEATED,   /* the event handled at the start returned after a rounding error */
    TUTTI_CASE_CHANGED,          /* a discrete output changed */
    TUTTI_CASE_CHANGED_LATE,     /* a discrete output changed in the second half of a doubled step */
    TUTTI_CASE_END_OF_RUN,       /* a component ended the run on the way */
    TUTTI_CASE_ENDED_AT_START,   /* a component ended the run without moving */
    TUTTI_CASE_NARROWED,         /* the interval of the event has been halved */
    TUTTI_CASE_LOCATED,          /* it is as short as the tolerance; a step to its beginning comes first */
    TUTTI_CASE_LOCATED_AT_START, /* it is as short as the tolerance, and begins at the start of the step */
    TUTTI_STEP_CASES,
};

/* The state that follows. False if the state has no such case. */
bool tt_step_next(enum tt_step_state state, enum tt_step_case found, enum tt_step_state *next);

/* From the rank's time towards `target`, which becomes where it ends: attempt by attempt, until one is good; events in it are
 * located. For runs whose steps vary or may be taken back; others call the coupling alone. */
TUTTI_CHECKED enum tutti_err tt_step_macro(struct tt_sim *master, double *target);
/* Begins it: the rank's time becomes the start of the attempts. For callers with a single attempt (control/twin.h). */
TUTTI_CHECKED enum tutti_err tt_step_begin(struct tt_sim *master);

#endif
