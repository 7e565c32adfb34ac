/* SPDX-License-Identifier: MIT */
/* control.h - how the size of macro steps is chosen: what is tried, whether it is good, and how far to go next. To add a kind:
 * copy fixed.c, list it in control.c, run `ctest -L control`. */
#ifndef TUTTI_MASTER_CONTROL_H
#define TUTTI_MASTER_CONTROL_H

#include "master/loop.h"

/* What came of trying a macro step. */
struct tutti_attempt {
    double from, target;
    bool changed;        /* a discrete output is another than at the start, at the end or wherever the attempt looked */
    double changed_at;   /* ... which a step to this point shows */
    bool in_second_half; /* ... but no: it is behind this point, where a doubled step has its middle */
    bool estimated;      /* `error` is known */
    double error;        /* of the step, weighted by the tolerances: at most 1 is good */
    double size;         /* the same as if this step were the whole run */
    double seen;         /* the difference that it is made of */
    unsigned order;      /* `error` goes with the power order + 1 of the step */
    uint32_t driver;     /* the real with the largest part in it; TUTTI_NONE */
    unsigned iterations; /* of a coupling that iterates; 0: it does not */
    bool converged;      /* ... and it came to its end; true for others */
};

enum tutti_verdict { TUTTI_ACCEPT, TUTTI_FORCE /* accepted, because it cannot be shorter */, TUTTI_REJECT };

struct tutti_control {
    const char *name;   /* "fixed" */
    bool varies;        /* steps have different sizes, so that all units must be able to */
    bool rejects;       /* ... and may be taken back, so that all units must be able to */
    bool for_iteration; /* makes sense with a coupling that iterates only */
    bool predicts;      /* needs the points from before */
    bool estimates;     /* looks at all continuous outputs, also those that nobody reads */
    bool bounds_run;    /* ... by errors that can be added up over a run */
    /* From run->t to `target` with the coupling, in one piece or more. */
    enum tutti_err (*attempt)(struct run *run, double target, struct tutti_attempt *attempt);
    /* Is it good, and which step to propose next (run->master.stepper.h)? A rejected one is tried again with that. */
    enum tutti_verdict (*judge)(struct run *run, const struct tutti_attempt *attempt);
};

extern const struct tutti_control tutti_control_fixed, tutti_control_converge, tutti_control_richardson,
    tutti_control_slope, tutti_control_embedded, tutti_control_diverge, tutti_control_quantum;

/* By name. ARGUMENT, naming all. */
TUTTI_CHECKED enum tutti_err tutti_control_find(const char *name, const struct tutti_control **out);

/* For kinds. One step of the coupling, and a look at discrete outputs. */
TUTTI_CHECKED enum tutti_err tutti_attempt_plain(struct run *run, double target, struct tutti_attempt *attempt);
/* A whole step, then the same in two halves, which stay (001 section 9.1.3). */
TUTTI_CHECKED enum tutti_err tutti_attempt_doubled(struct run *run, double target, struct tutti_attempt *attempt);
/* The same, but the whole step stays: in two halves, then as it is. Not for steps too short to be halved. */
TUTTI_CHECKED enum tutti_err tutti_attempt_compared(struct run *run, double target, struct tutti_attempt *attempt);
/* The order of a step of the coupling as things are: its error goes with the power order + 1. */
unsigned tutti_attempt_order(const struct run *run);
/* Has the attempt come to an end that the step's error says nothing about: an event, a step refused? */
bool tutti_attempt_is_over(const struct run *run, const struct tutti_attempt *attempt);
/* The judgement of controls that estimate an error: accept up to 1; the stepper proposes what is next. */
enum tutti_verdict tutti_judge_error(struct run *run, const struct tutti_attempt *attempt);

/* Takes the error of the continuous reals, or of all, into the attempt if it is larger than what is there: the weighted RMS
 * norm (002 eq. 5, with the mean inside of the root) of `difference`. `now` says how large they are. */
TUTTI_CHECKED enum tutti_err tutti_attempt_estimate(struct run *run, struct tutti_attempt *attempt,
                                                    const double *difference, const double *now, bool all);

/* From attempt->size and ->seen to ->error: what is no noise, as a part of what this step may err by. */
void tutti_attempt_share(const struct run *run, struct tutti_attempt *attempt);

#endif
