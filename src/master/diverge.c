/* SPDX-License-Identifier: MIT */
/* Steps by how far the iteration leads away from its first result (000 section 5.5.2, eq. 5.22): beyond the tolerance for that,
 * --divergence, the next step is smaller by some percent, else larger. A step is repeated only if the iteration fails. */
#include "master/control.h"

static const double SMALLER = 0.8, LARGER = 1.1, REDUCE = 0.2;

static enum tutti_verdict judge(struct run *run, const struct tutti_attempt *attempt)
{
    struct tutti_master *master = &run->master;
    struct tutti_stepper *stepper = &master->stepper;
    double h = attempt->target - attempt->from, proposal = stepper->h;
    if (!attempt->converged && !tutti_stepper_is_least(stepper, h)) {
        tutti_stepper_scale(stepper, h, REDUCE);
        return TUTTI_REJECT;
    }
    bool good = master->divergence_found <= master->divergence;
    tutti_stepper_scale(stepper, h, good ? LARGER : SMALLER);
    if (good && proposal > stepper->h)
        stepper->h = proposal;
    return attempt->converged ? TUTTI_ACCEPT : TUTTI_FORCE;
}

static enum tutti_err attempt(struct run *run, double target, struct tutti_attempt *attempt)
{
    TRY(tutti_attempt_plain(run, target, attempt));
    attempt->estimated = true;
    attempt->error = run->master.divergence_found / run->master.divergence;
    return TUTTI_OK;
}

const struct tutti_control tutti_control_diverge =
    {.name = "diverge", .varies = true, .rejects = true, .for_iteration = true, .attempt = attempt, .judge = judge};
