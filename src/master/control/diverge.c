/* SPDX-License-Identifier: MIT */
/* Steps by how far the iteration leads away from its first result (Awais 2015 section 5.5.2, eq. 5.22): beyond the
 * tolerance for that, --divergence, the next step is smaller by some percent, else larger. A step is repeated only if the
 * iteration fails. */
#include "master/control/attempt.h"

static const double SMALLER = 0.8, LARGER = 1.1, REDUCE = 0.2;

static enum tutti_verdict judge(struct tutti_master *master, const struct tutti_attempt *attempt)
{
    struct tutti_stepper *stepper = &master->memory.stepper;
    double h = attempt->target - attempt->from, proposal = stepper->h;
    if (!attempt->converged && !tutti_stepper_is_least(stepper, h)) {
        tutti_stepper_scale(stepper, h, REDUCE);
        return TUTTI_REJECT;
    }
    bool good = attempt->outcome.divergence <= master->divergence;
    tutti_stepper_scale(stepper, h, good ? LARGER : SMALLER);
    if (good && proposal > stepper->h)
        stepper->h = proposal;
    return attempt->converged ? TUTTI_ACCEPT : TUTTI_FORCE;
}

static enum tutti_err attempt(struct tutti_master *master, double target, struct tutti_attempt *attempt)
{
    TRY(tutti_attempt_plain(master, target, attempt));
    if (attempt->outcome.why != TUTTI_REACHED)
        return TUTTI_OK;
    attempt->estimated = true;
    attempt->error = attempt->outcome.divergence / master->divergence;
    return TUTTI_OK;
}

const struct tutti_control tutti_control_diverge = {.name = "diverge",
                                                    .varies = true,
                                                    .rejects = true,
                                                    .for_iteration = true,
                                                    .takes_divergence = true,
                                                    .attempt = attempt,
                                                    .judge = judge};
