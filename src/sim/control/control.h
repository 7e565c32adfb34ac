/* SPDX-License-Identifier: MIT */
/* control.h - how the size of macro steps is chosen: what is tried, whether it is good, and how far to go next. To add a kind:
 * copy fixed.c, list it in TUTTI_CONTROLS, run `ctest -L control`. */
#ifndef TT_SIM_CONTROL_CONTROL_H
#define TT_SIM_CONTROL_CONTROL_H

#include <stddef.h>

#include "base/fail.h"
#include "base/options/option_words.h"
#include "sim/outcome.h"
#include "sim/sim.h"

struct tt_sim;

/* What came of trying a macro step. */
struct tt_attempt {
    double from, target;
    bool changed;        /* a discrete output is another than at the start, at the end or wherever the attempt looked */
    double changed_at;   /* ... which a step to this point shows */
    bool in_second_half; /* ... but no: it is after this point, where a doubled step has its middle */
    bool estimated;      /* `error` is known */
    double error;        /* of the step, weighted by the tolerances: at most 1 is good */
    double size;         /* the same as if this step were the whole run */
    double seen;         /* the difference that it is made of */
    unsigned order;      /* `error` goes with the power order + 1 of the step */
    uint32_t driver;     /* the real with the largest part in it; TUTTI_NONE */
    double difference;   /* ... and that part as it is, not weighted; where discrete outputs are looked at */
    struct tt_outcome outcome; /* of its last step of the coupling */
    unsigned iterations;       /* of a coupling that iterates, in all its steps; 0: it does not */
    bool converged;            /* ... and they came to their end; true for others */
};

enum tt_verdict {
    TUTTI_ACCEPT,
    TUTTI_FORCE /* accepted, because it cannot be shorter, or would be no better */,
    TUTTI_REJECT
};

/* A control has no state of its own: what it remembers from step to step is in struct tt_step_history (sim.h). */
struct tt_control {
    const char *name;      /* "fixed" */
    bool varies;           /* steps have different sizes, so that all units must be able to */
    bool rejects;          /* ... and may be taken back, so that all units must be able to */
    bool for_iteration;    /* makes sense with a coupling that iterates only */
    bool takes_quantum;    /* --quantum is for it, and it needs that */
    bool takes_divergence; /* --divergence is for it */
    bool predicts;         /* needs the points from before */
    bool estimates;        /* looks at all continuous outputs, also those that no unit reads */
    bool bounds_run;       /* ... by errors that can be added up over a run */
    bool doubles;          /* makes every step in one piece and in two halves, which takes --twin */
    /* From the rank's time to `target` with the coupling, in one piece or more. */
    enum tutti_err (*attempt)(struct tt_sim *master, double target, struct tt_attempt *attempt);
    /* Is it good, and which step to propose next (memory.stepper)? A rejected one is tried again with that. */
    enum tt_verdict (*judge)(struct tt_sim *master, const struct tt_attempt *attempt);
};

/* All of them, by the list in base/options/option_words.h: tt_control_NAME, in NAME.c; slope is in doubling.c. */
#define TUTTI_DECLARE_CONTROL(name, word, meaning) extern const struct tt_control tt_control_##name;
TUTTI_CONTROLS(TUTTI_DECLARE_CONTROL)
#undef TUTTI_DECLARE_CONTROL

/* One after the other, from 0 on; NULL: there are no more. */
const struct tt_control *tt_control_at(size_t number);
/* By name; NULL for "auto". ARGUMENT, naming all. */
TUTTI_CHECKED enum tutti_err tt_control_find(const char *name, const struct tt_control **out);

/* What controls have in common: trying a step, and estimating its error. */

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
/* The same of what inputs do that are held in the step, with the outputs at its end (control.c). After an estimate; it uses the room of that. */
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

/* Errors that do not fall with the step: noise of the units' own solvers, or a jump. */

/* A second look at the verdict of a control. A step that would be rejected because of noise is forced, and the stepper goes back
 * to where noise did not bound it; `first` is the attempt since which the error has not become less (zeroed: there is none).
 * *restart becomes true if histories are full of noise, and begin anew. */
enum tt_verdict tt_control_check_noise(struct tt_sim *master, const struct tt_attempt *attempt,
                                       const struct tt_attempt *first, enum tt_verdict verdict, bool *restart);

/* Does the error of two attempts, too large for noise, come from a jump, or from a kink that both have passed? */
bool tt_control_is_jump(const struct tt_attempt *before, const struct tt_attempt *now);

#endif
