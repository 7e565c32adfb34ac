/* SPDX-License-Identifier: MIT */
/* One step, and its outputs against what the points before it foretold (003 "Coordinated Variable Step"): by Euler's method or
 * that of Adams and Bashforth where units give derivatives, else by a polynomial; of the order of the coupling. Right behind
 * an event, with too few points, a step is doubled instead. */
#include <math.h>

#include "master/control.h"
#include "master/coupling.h"
#include "master/macro.h"

/* Predictions see how outputs bend, which is a bound of what the coupling makes wrong, and often a bad one: units compute their
 * own share of it rightly. So every now and then a step is doubled, which shows the error itself; what it is of the other goes
 * for the steps that follow. */
enum { GAUGE_EVERY = 16 };
static const double LEAST_GAUGE = 0.02, MOST_GAUGE = 50;
/* ... as long as errors are what bounds the steps. */
static const double WORTH_IT = 0.15;

static enum tutti_err gauge(struct run *run, double target, unsigned degree, struct tutti_attempt *attempt)
{
    struct tutti_master *master = &run->master;
    double *defect = master->values[2], *now = master->values[0], foretold;
    uint32_t driver;
    TRY(tutti_attempt_compared(run, target, attempt));
    if (tutti_attempt_is_over(run, attempt))
        return TUTTI_OK;
    tutti_extrapolation_defect(&master->extrapolation, degree, target, now, defect);
    TRY(tutti_attempt_norm(run, defect, now, target - run->t, TUTTI_NORM_SMOOTH, &foretold, &driver));
    double found = foretold > 0 ? fmin(fmax(attempt->size / foretold, LEAST_GAUGE), MOST_GAUGE) : 1;
    master->learned.gauge = fmax(found, (master->learned.gauge + found) / 2);
    master->learned.gauge_due = GAUGE_EVERY;
    attempt->seen = INFINITY; /* not to be compared with what predictions show */
    return TUTTI_OK;
}

static enum tutti_err attempt(struct run *run, double target, struct tutti_attempt *attempt)
{
    struct tutti_master *master = &run->master;
    double *defect = master->values[0], *now = master->values[1];
    unsigned degree = tutti_attempt_order(run);
    degree = degree < TUTTI_HISTORY_DEGREE ? degree : TUTTI_HISTORY_DEGREE;
    if (master->extrapolation.history.points <= degree)
        return tutti_attempt_doubled(run, target, attempt);
    if (master->per_time && master->learned.gauge_due == 0 && master->stepper.error_before > WORTH_IT &&
        target - run->t > 1e-9 * run->span)
        return gauge(run, target, degree, attempt);
    TRY(tutti_attempt_plain(run, target, attempt));
    attempt->order = degree;
    if (tutti_attempt_is_over(run, attempt))
        return TUTTI_OK;
    TRY(tutti_outputs_take(run, now));
    double scale = tutti_extrapolation_defect(&master->extrapolation, degree, target, now, defect);
    for (uint32_t i = 0; master->per_time && i < master->outputs.count; i++)
        defect[i] *= master->learned.gauge;
    TRY(tutti_attempt_estimate(run, attempt, defect, now, false));
    attempt->seen = attempt->size / (scale * (master->per_time ? master->learned.gauge : 1));
    tutti_attempt_share(run, attempt);
    return TUTTI_OK;
}

const struct tutti_control tutti_control_embedded = {.name = "embedded",
                                                     .varies = true,
                                                     .estimates = true,
                                                     .bounds_run = true,
                                                     .rejects = true,
                                                     .predicts = true,
                                                     .attempt = attempt,
                                                     .judge = tutti_judge_error};
