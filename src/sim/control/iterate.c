/* SPDX-License-Identifier: MIT */
/* Steps as large as the iteration converges in (Nicolai 2019 section 3.3): where it does not, the step is reduced to a
 * fifth; where it does, the next one is twice as large. Steps of --h-min are accepted as they are. */
#include "sim/control/attempt.h"

static const double REDUCE = 0.2, ENLARGE = 2; /* f_red and f_exp of Nicolai 2019 */

static enum tt_verdict converge_judge_step(struct tt_sim *master, const struct tt_attempt *attempt)
{
    struct tt_step_size *stepper = &master->memory.stepper;
    double h = attempt->target - attempt->from, proposal = stepper->h;
    if (!attempt->converged && !tt_step_size_is_minimum(stepper, h)) {
        tt_step_size_multiply(stepper, h, REDUCE);
        return TUTTI_REJECT;
    }
    tt_step_size_multiply(stepper, h, ENLARGE);
    if (attempt->converged && proposal > stepper->h) /* the step was cut short by something else */
        stepper->h = proposal;
    return attempt->converged ? TUTTI_ACCEPT : TUTTI_FORCE;
}

const struct tt_control tt_control_converge = {.name = "converge",
                                               .varies = true,
                                               .rejects = true,
                                               .for_iteration = true,
                                               .attempt = tt_control_attempt_step,
                                               .judge = converge_judge_step};
