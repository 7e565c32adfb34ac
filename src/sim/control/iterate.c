/* SPDX-License-Identifier: MIT */
/* Steps as large as the iteration converges in (Nicolai 2019 section 3.3): where it does not, the step is reduced to a
 * fifth; where it does, the next one is twice as large. Steps of --h-min are accepted as they are. */
#include "sim/control/control.h"

static const double REDUCE = 0.2, ENLARGE = 2; /* f_red and f_exp of Nicolai 2019 */

static enum tt_verdict converge_judge_step(struct tt_sim *master, const struct tt_step_result *result)
{
    struct tt_step_size *stepper = &master->memory.stepper;
    double h = result->target - result->from, proposal = stepper->h;
    if (!result->converged && !tt_step_size_is_minimum(stepper, h)) {
        tt_step_size_multiply(stepper, h, REDUCE);
        return TUTTI_REJECT;
    }
    tt_step_size_multiply(stepper, h, ENLARGE);
    if (result->converged && proposal > stepper->h) /* the step was cut short by something else */
        stepper->h = proposal;
    return result->converged ? TUTTI_ACCEPT : TUTTI_FORCE;
}

const struct tt_control tt_control_converge = {.name = "converge",
                                               .varies = true,
                                               .rejects = true,
                                               .for_iteration = true,
                                               .attempt = tt_control_attempt_step,
                                               .judge = converge_judge_step};

/* Controls steps by the distance between the iteration's result and its first iterate (Awais 2015 section 5.5.2, eq.
 * 5.22): beyond its tolerance, --divergence, the next step is smaller by some percent, otherwise larger. A step is
 * retried only if the iteration fails. */

static const double SMALLER = 0.8, LARGER = 1.1, DIVERGE_REDUCE = 0.2;

static enum tt_verdict diverge_judge_step(struct tt_sim *master, const struct tt_step_result *result)
{
    struct tt_step_size *stepper = &master->memory.stepper;
    double h = result->target - result->from, proposal = stepper->h;
    if (!result->converged && !tt_step_size_is_minimum(stepper, h)) {
        tt_step_size_multiply(stepper, h, DIVERGE_REDUCE);
        return TUTTI_REJECT;
    }
    bool good = result->divergence <= master->divergence;
    tt_step_size_multiply(stepper, h, good ? LARGER : SMALLER);
    if (good && proposal > stepper->h)
        stepper->h = proposal;
    return result->converged ? TUTTI_ACCEPT : TUTTI_FORCE;
}

static enum tutti_err diverge_attempt(struct tt_sim *master, double target, struct tt_step_result *result)
{
    TRY(tt_control_attempt_step(master, target, result));
    if (result->end != TUTTI_END_REACHED && result->end != TUTTI_END_OUTPUT_CHANGED)
        return TUTTI_OK;
    result->estimated = true;
    result->error = result->divergence / master->divergence;
    return TUTTI_OK;
}

const struct tt_control tt_control_diverge = {.name = "diverge",
                                              .varies = true,
                                              .rejects = true,
                                              .for_iteration = true,
                                              .takes_divergence = true,
                                              .attempt = diverge_attempt,
                                              .judge = diverge_judge_step};
