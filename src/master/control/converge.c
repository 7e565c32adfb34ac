/* SPDX-License-Identifier: MIT */
/* Steps as large as the iteration converges in (Nicolai 2019 section 3.3): where it does not, the step is reduced to a
 * fifth; where it does, the next one is twice as large. Steps of --h-min are accepted as they are. */
#include "master/control/attempt.h"

static const double REDUCE = 0.2, ENLARGE = 2; /* f_red and f_exp of Nicolai 2019 */

static enum tutti_verdict judge(struct tutti_master *master, const struct tutti_attempt *attempt)
{
    struct tutti_stepper *stepper = &master->memory.stepper;
    double h = attempt->target - attempt->from, proposal = stepper->h;
    if (!attempt->converged && !tutti_stepper_is_least(stepper, h)) {
        tutti_stepper_scale(stepper, h, REDUCE);
        return TUTTI_REJECT;
    }
    tutti_stepper_scale(stepper, h, ENLARGE);
    if (attempt->converged && proposal > stepper->h) /* the step was cut short by something else */
        stepper->h = proposal;
    return attempt->converged ? TUTTI_ACCEPT : TUTTI_FORCE;
}

const struct tutti_control tutti_control_converge = {.name = "converge",
                                                     .varies = true,
                                                     .rejects = true,
                                                     .for_iteration = true,
                                                     .attempt = tutti_attempt_plain,
                                                     .judge = judge};
