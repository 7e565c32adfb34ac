/* SPDX-License-Identifier: MIT */
/* Steps by quantisation (Awais 2015 eq. 4.5): the next one ends when the first output would have moved by a quantum, if all
 * went on as they did in the last step: h = q |t_n - t_{n-1}| / |v_n - v_{n-1}|. Nothing is taken back. */
#include <math.h>

#include "sim/rank_agree.h"
#include "sim/control/attempt.h"

static enum tutti_err quantum_attempt(struct tt_sim *master, double target, struct tt_attempt *attempt)
{
    struct tt_rank *rank = master->rank;
    double *now = master->compared.whole, most = 0;
    TRY(tt_control_attempt_step(master, target, attempt));
    if (tt_control_attempt_is_over(attempt))
        return TUTTI_OK;
    TRY(tt_outputs_read(&master->outputs, now));
    for (uint32_t i = 0; i < master->outputs.count; i++) {
        double quanta = fabs(now[i] - master->norm.before[i]) / master->quanta[i];
        bool own = tt_rank_owns(rank, tt_outputs_owner(&master->outputs, i).component);
        if (own && quanta > most) {
            most = quanta;
            attempt->driver = i;
        }
    }
    double driver = attempt->driver, found = most;
    TRY(tt_rank_reduce(rank, TUTTI_REDUCE_MAX, &most, 1));
    if (found < most)
        driver = TUTTI_NONE;
    TRY(tt_rank_reduce(rank, TUTTI_REDUCE_MIN, &driver, 1));
    attempt->driver = (uint32_t)driver;
    attempt->estimated = true;
    attempt->error = most;
    return TUTTI_OK;
}

static enum tt_verdict quantum_judge_step(struct tt_sim *master, const struct tt_attempt *attempt)
{
    double h = attempt->target - attempt->from;
    tt_step_size_multiply(&master->memory.stepper, h, attempt->error > 0 ? 1 / attempt->error : INFINITY);
    return TUTTI_ACCEPT;
}

const struct tt_control tt_control_quantum = {.name = "quantum",
                                              .varies = true,
                                              .takes_quantum = true,
                                              .estimates = true,
                                              .attempt = quantum_attempt,
                                              .judge = quantum_judge_step};
