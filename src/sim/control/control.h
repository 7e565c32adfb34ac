/* SPDX-License-Identifier: MIT */
/* control.h - how the size of macro steps is chosen: what is tried, whether it is good, and how far to go next. To add a kind:
 * copy fixed.c, list it in TUTTI_CONTROLS, run `ctest -L control`. */
#ifndef TT_SIM_CONTROL_CONTROL_H
#define TT_SIM_CONTROL_CONTROL_H

#include <stddef.h>

#include "base/fail.h"
#include "base/options/option_words.h"
#include "sim/step_result.h"
#include "sim/sim.h"

struct tt_sim;

enum tt_verdict {
    TUTTI_ACCEPT,
    TUTTI_FORCE /* accepted, because it cannot be shorter, or would not be better */,
    TUTTI_REJECT
};

/* Controls have no private state: their memory between steps is in struct tt_step_history (sim.h). */
struct tt_control {
    const char *name;      /* "fixed" */
    bool varies;           /* steps have different sizes, so that all units must be able to */
    bool rejects;          /* and may reject steps, so that all units must support rollback */
    bool for_iteration;    /* makes sense with a coupling that iterates only */
    bool takes_quantum;    /* --quantum is for it, and it needs that */
    bool takes_divergence; /* --divergence is for it */
    bool predicts;         /* needs the points from before */
    bool estimates;        /* looks at all continuous outputs, also those that no unit reads */
    bool bounds_run;       /* by errors that can be summed over a run */
    bool doubles;          /* makes every step in one piece and in two halves, which takes --twin */
    /* From the rank's time to `target` with the coupling, in one piece or more. */
    enum tutti_err (*attempt)(struct tt_sim *master, double target, struct tt_step_result *result);
    /* Judges the step, and proposes the next size (memory.stepper), which is also that of the retry after a rejection. */
    enum tt_verdict (*judge)(struct tt_sim *master, const struct tt_step_result *result);
};

/* All of them, by the list in base/options/option_words.h: tt_control_NAME, in NAME.c; slope is in doubling.c. */
#define TUTTI_DECLARE_CONTROL(name, word, meaning) extern const struct tt_control tt_control_##name;
TUTTI_CONTROLS(TUTTI_DECLARE_CONTROL)
#undef TUTTI_DECLARE_CONTROL

/* Returns the controls by number, from 0 on; NULL at the end. */
const struct tt_control *tt_control_at(size_t number);
/* By name; NULL for "auto". ARGUMENT, naming all. */
TUTTI_CHECKED enum tutti_err tt_control_find(const char *name, const struct tt_control **out);

/* Common operations of controls: trying a step, and estimating its error. */

/* One step of the coupling; afterwards discrete outputs are compared with those at the start of the macro step. */
TUTTI_CHECKED enum tutti_err tt_control_attempt_step(struct tt_sim *master, double target,
                                                     struct tt_step_result *result);
/* A whole step, then the same in two halves, which stay (Andersson 2016 section 9.1.3). */
TUTTI_CHECKED enum tutti_err tt_doubling_attempt(struct tt_sim *master, double target, struct tt_step_result *result);
/* The same, but the whole step stays: in two halves, then as it is, with its outputs in master->compared.whole. Not for steps too
 * short to be halved. */
TUTTI_CHECKED enum tutti_err tt_doubling_compare(struct tt_sim *master, double target, struct tt_step_result *result);
/* The order of a step of the coupling as things are: its error goes with the power order + 1. */
unsigned tt_control_attempt_order(const struct tt_sim *master);
/* Returns the order once there are enough points for extrapolation. */
unsigned tt_control_full_order(const struct tt_sim *master);
/* Returns true if the attempt ended without a meaningful error: by an event, a rejected step, the end of the run. */
static inline bool tt_control_attempt_is_over(const struct tt_step_result *result)
{
    return result->end != TUTTI_END_REACHED;
}
/* The judgement of controls that estimate an error: accept up to 1; the stepper proposes what is next. */
enum tt_verdict tt_control_check_error(struct tt_sim *master, const struct tt_step_result *result);

/* Adds the error of the continuous reals, or of all, to the attempt if it is larger: the norm (norm.h) of `difference`.
 * `now` has their present sizes. */
TUTTI_CHECKED enum tutti_err tt_control_estimate_error(struct tt_sim *master, struct tt_step_result *result,
                                                       const double *difference, const double *now, bool all);
/* The same of `part`, a possible error that outputs need not show: only if it is more than what is known. After an estimate. */
TUTTI_CHECKED enum tutti_err tt_control_count_error(struct tt_sim *master, struct tt_step_result *result,
                                                    const double *part, const double *now);
/* The same of what inputs do that are held in the step, with the outputs at its end (control.c). After an estimate; it uses the room of that. */
TUTTI_CHECKED enum tutti_err tt_control_add_held_error(struct tt_sim *master, struct tt_step_result *result,
                                                       const double *now);
/* This output has the largest part in the error: one of `difference`. Collective. */
TUTTI_CHECKED enum tutti_err tt_control_set_driver(const struct tt_sim *master, struct tt_step_result *result,
                                                   uint32_t driver, const double *difference);
/* Adds the error of a prediction, from points before this step, of the outputs that components read, at its end. */
TUTTI_CHECKED enum tutti_err tt_embedded_count_prediction(struct tt_sim *master, struct tt_step_result *result,
                                                          const double *now);
/* Finds the signals that this is about. */
TUTTI_CHECKED enum tutti_err tt_control_open_held(struct tt_sim *master);
/* Computes ->error from attempt->size and ->seen: the part above noise, relative to the permitted error of this step. */
void tt_control_scale_error(const struct tt_sim *master, struct tt_step_result *result);

/* Errors that do not fall with the step: noise of the units' own solvers, or a jump. */

/* Reviews the verdict of a control. A step that would be rejected because of noise is forced, and the step size returns
 * to one that noise did not bound; `first` is the attempt since which the error has not decreased (zeroed: none).
 * *restart becomes true if histories are full of noise, and must restart. */
enum tt_verdict tt_control_check_noise(struct tt_sim *master, const struct tt_step_result *result,
                                       const struct tt_step_result *first, enum tt_verdict verdict, bool *restart);

/* Returns true if the error of two attempts, too large for noise, comes from a jump, or from a kink passed by both. */
bool tt_control_is_jump(const struct tt_step_result *before, const struct tt_step_result *now);

#endif
