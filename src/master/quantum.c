/* SPDX-License-Identifier: MIT */
/* Steps by quantisation (000 eq. 4.5): the next one ends when the first output would have moved by a quantum, if all went on
 * as they did in the last step: h = q |t_n - t_{n-1}| / |v_n - v_{n-1}|. Nothing is taken back. */
#include <math.h>

#include "master/agree.h"
#include "master/control.h"

static enum tutti_err attempt(struct run *run, double target, struct tutti_attempt *attempt)
{
    struct tutti_master *master = &run->master;
    double *now = master->values[0], most = 0;
    TRY(tutti_attempt_plain(run, target, attempt));
    if (tutti_attempt_is_over(run, attempt))
        return TUTTI_OK;
    TRY(tutti_outputs_take(run, now));
    for (uint32_t i = 0; i < run->master.outputs.count; i++) {
        double quanta = fabs(now[i] - master->before[i]) / master->quantum;
        bool smooth = i >= run->wires.real_count || run->wires.reals[i].smooth;
        bool own = tutti_run_owns(run, tutti_outputs_end(run, i).component);
        if (own && smooth && quanta > most) {
            most = quanta;
            attempt->driver = i;
        }
    }
    double driver = attempt->driver, found = most;
    TRY(tutti_reduce(run, TUTTI_REDUCE_MAX, &most, 1));
    if (found < most)
        driver = TUTTI_NONE;
    TRY(tutti_reduce(run, TUTTI_REDUCE_MIN, &driver, 1));
    attempt->driver = (uint32_t)driver;
    attempt->estimated = true;
    attempt->error = most;
    return TUTTI_OK;
}

static enum tutti_verdict judge(struct run *run, const struct tutti_attempt *attempt)
{
    double h = attempt->target - attempt->from;
    tutti_stepper_scale(&run->master.stepper, h, attempt->error > 0 ? 1 / attempt->error : INFINITY);
    return TUTTI_ACCEPT;
}

const struct tutti_control tutti_control_quantum = {.name = "quantum",
                                                    .varies = true,
                                                    .estimates = true,
                                                    .attempt = attempt,
                                                    .judge = judge};
