/* SPDX-License-Identifier: MIT */
/* error_estimate.h - an estimate of the error of a run with fixed steps, which no control judges.
 *
 * In sampled steps the signals are compared with their prediction from earlier points, by the polynomial of the order
 * of the coupling (extrapolation.h): the difference bounds the coupling's error in a step with inputs that move as
 * these signals do, without any rollback. The differences are summed over the run, as those of accepted steps are
 * (norm.h). The bound is often wide: units compute their own motion correctly, and no doubled step shows their share.
 *
 * The first thousand steps are sampled, later a hundred of every two thousand; only own signals; only statistics and a
 * warning depend on it. */
#ifndef TT_SIM_CONTROL_ERROR_ESTIMATE_H
#define TT_SIM_CONTROL_ERROR_ESTIMATE_H

#include "base/rollback_list.h"
#include "sim/rank.h"

struct tt_sim;

/* One signal. */
struct tt_estimated_signal {
    double early;          /* its range in the first steps; 0: they are not over */
    uint32_t real;         /* index of wires.reals */
    double before[3];      /* its values at the points before, the newest first */
    double sum, low, high; /* parts of the error, and where it moved, in steps that were looked at */
};

/* The progress of the sampling. Plain data. */
struct tt_error_estimate_state {
    uint32_t count;       /* of signals; 0: nothing is estimated */
    uint32_t left, pause; /* steps until a look ends, and until the next one begins; 0: one is being taken */
    uint32_t points;      /* known in a row */
    double t, h;          /* the last point, and the step to it */
    unsigned long events; /* that had happened by then */
    double weight;        /* of an examined step: the number of steps that it represents */
};

struct tt_error_estimate {
    bool estimates;  /* some rank does */
    unsigned degree; /* of the polynomials */
    struct tt_estimated_signal *items;
    struct tt_error_estimate_state now;
};

/* At the first point, when the master is chosen. */
TUTTI_CHECKED enum tutti_err tt_error_estimate_open(struct tt_error_estimate *foretold, struct tt_sim *master);
TUTTI_CHECKED enum tutti_err tt_error_estimate_register(struct tt_error_estimate *foretold,
                                                        struct tt_rollback_list *remembered);
/* Returns true if the accepted point is to be sampled. */
static inline bool tt_error_estimate_is_due(struct tt_error_estimate *foretold)
{
    return foretold->now.count > 0 && (foretold->now.pause == 0 || --foretold->now.pause == 0);
}
/* If so. Allocates nothing. */
void tt_error_estimate_update(struct tt_error_estimate *foretold, const struct tt_rank *rank);
/* After the last step: the estimated error of the run, into the rank's statistics, and a warning if it is more than the tolerance and
 * a unit keeps the run from controlling it. Collective; with several ranks only at the end of the time that was asked for. */
TUTTI_CHECKED enum tutti_err tt_error_estimate_report(const struct tt_error_estimate *foretold, struct tt_sim *master,
                                                      bool exploded);

#endif
