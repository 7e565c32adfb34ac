/* SPDX-License-Identifier: MIT */
/* One step, and its outputs against what the points before it foretold (003 "Coordinated Variable Step"): by Euler's method or
 * that of Adams and Bashforth where units give derivatives, else by a polynomial; of the order of the coupling. Right behind
 * an event, with too few points, a step is doubled instead. */
#include "master/control.h"
#include "master/coupling.h"

static enum tutti_err attempt(struct run *run, double target, struct tutti_attempt *attempt)
{
    struct tutti_master *master = &run->master;
    double *defect = master->values[0], *now = master->values[1];
    unsigned degree = master->coupling->order(run, tutti_extrapolation_order(&master->extrapolation));
    degree = degree < TUTTI_HISTORY_DEGREE ? degree : TUTTI_HISTORY_DEGREE;
    if (master->extrapolation.history.points <= degree)
        return tutti_attempt_doubled(run, target, attempt);
    TRY(tutti_attempt_plain(run, target, attempt));
    attempt->order = degree;
    if (tutti_attempt_is_over(run, attempt))
        return TUTTI_OK;
    TRY(tutti_outputs_take(run, now));
    tutti_extrapolation_defect(&master->extrapolation, degree, target, now, defect);
    return tutti_attempt_estimate(run, attempt, defect, now, false);
}

const struct tutti_control tutti_control_embedded = {.name = "embedded",
                                                     .varies = true,
                                                     .estimates = true,
                                                     .rejects = true,
                                                     .predicts = true,
                                                     .attempt = attempt,
                                                     .judge = tutti_judge_error};
