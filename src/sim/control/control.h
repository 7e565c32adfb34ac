/* SPDX-License-Identifier: MIT */
/* control.h - how the size of macro steps is chosen: what is tried, whether it is good, and how far to go next. To add a kind:
 * copy fixed.c, list it in TUTTI_CONTROLS, run `ctest -L control`. */
#ifndef TT_SIM_CONTROL_CONTROL_H
#define TT_SIM_CONTROL_CONTROL_H

#include <stddef.h>

#include "base/fail.h"
#include "sim/outcome.h"
#include "base/options/option_words.h"

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

#endif
