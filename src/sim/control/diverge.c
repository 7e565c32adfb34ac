/* SPDX-License-Identifier: MIT */
/* Steps by how far the iteration leads away from its first result (Awais 2015 section 5.5.2, eq. 5.22): beyond the
 * tolerance for that, --divergence, the next step is smaller by some percent, else larger. A step is repeated only if the
 * iteration fails. */
#include "sim/control/attempt.h"

static const double SMALLER = 0.8, LARGER = 1.1, REDUCE = 0.2;

static enum tt_verdict diverge_judge_step(struct tt_sim *master, const struct tt_attempt *attempt)
{
    struct tt_step_size *stepper = &master->memory.stepper;
    double h = attempt->target - attempt->from, proposal = stepper->h;
    if (!attempt->converged && !tt_step_size_is_minimum(stepper, h)) {
        tt_step_size_multiply(stepper, h, REDUCE);
        return TUTTI_REJECT;
    }
    bool good = attempt->outcome.divergence <= master->divergence;
    tt_step_size_multiply(stepper, h, good ? LARGER : SMALLER);
    if (good && proposal > stepper->h)
        stepper->h = proposal;
    return attempt->converged ? TUTTI_ACCEPT : TUTTI_FORCE;
}

static enum tutti_err diverge_attempt(struct tt_sim *master, double target, struct tt_attempt *attempt)
{
    TRY(tt_control_attempt_step(master, target, attempt));
    if (attempt->outcome.why != TUTTI_REACHED)
        return TUTTI_OK;
    attempt->estimated = true;
    attempt->error = attempt->outcome.divergence / master->divergence;
    return TUTTI_OK;
}

const struct tt_control tt_control_diverge = {.name = "diverge",
                                              .varies = true,
                                              .rejects = true,
                                              .for_iteration = true,
                                              .takes_divergence = true,
                                              .attempt = diverge_attempt,
                                              .judge = diverge_judge_step};
