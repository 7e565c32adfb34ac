/* SPDX-License-Identifier: MIT */
/* One step, whose outputs are compared with the prediction from earlier points (Galtier 2015 "Coordinated Variable
 * Step"): by Euler's method or that of Adams and Bashforth if units provide derivatives, otherwise by a polynomial; of
 * the order of the coupling. Right after an event, with too few points, a step is doubled instead. */
#include <math.h>

#include "sim/control/control.h"

/* Predictions measure how outputs bend, which bounds the error of the coupling, often poorly: units compute their own
 * share of the bend correctly. So a step is doubled from time to time, which shows the error itself; its ratio to the
 * prediction applies to the following steps. */
enum { GAUGE_EVERY = 16 };
static const double LEAST_GAUGE = 0.02, MOST_GAUGE = 50;
/* as long as errors limit the steps */
static const double WORTH_IT = 0.15;

static enum tutti_err calibrate_prediction(struct tt_sim *master, double target, unsigned degree,
                                           struct tt_step_result *result)
{
    struct tt_rank *rank = master->rank;
    double *defect = master->compared.difference, *now = master->compared.whole, foretold;
    uint32_t driver;
    TRY(tt_doubling_compare(master, target, result));
    if (tt_control_attempt_is_over(result))
        return TUTTI_OK;
    tt_extrapolation_defect(&master->extrapolation, degree, target, now, defect);
    TRY(tt_norm_compute(&master->norm, defect, now, target - rank->t, TUTTI_WEIGH_SMOOTH, &foretold, &driver));
    double found = foretold > 0 ? fmin(fmax(result->size / foretold, LEAST_GAUGE), MOST_GAUGE) : 1;
    /* A ratio: the geometric mean. By the arithmetic one it could fall by half at most, and short runs ended before it was right. */
    master->memory.learned.gauge = fmax(found, sqrt(master->memory.learned.gauge * found));
    master->memory.learned.gauge_due = GAUGE_EVERY;
    TRY(tt_control_add_held_error(master, result, now));
    result->seen = INFINITY; /* not to be compared with what predictions show */
    return TUTTI_OK;
}

/* Doubling shows the error of the coupling only by outputs. The hidden part of it (a dead band, a saturation, no output
 * at all) is estimated from predictions, times the minimum ratio above. */
enum tutti_err tt_embedded_count_prediction(struct tt_sim *master, struct tt_step_result *result, const double *now)
{
    double *defect = master->compared.difference;
    unsigned degree = result->order < TUTTI_HISTORY_DEGREE ? result->order : TUTTI_HISTORY_DEGREE;
    if (!master->norm.per_time || master->extrapolation.history.points <= degree || tt_control_attempt_is_over(result))
        return TUTTI_OK;
    tt_extrapolation_defect(&master->extrapolation, degree, result->target, now, defect);
    for (uint32_t i = 0; i < master->outputs.count; i++)
        defect[i] = i < master->rank->wires.real_count ? LEAST_GAUGE * defect[i] : 0;
    return tt_control_count_error(master, result, defect, now);
}

static enum tutti_err embedded_attempt(struct tt_sim *master, double target, struct tt_step_result *result)
{
    struct tt_rank *rank = master->rank;
    double *defect = master->compared.difference, *now = master->compared.whole;
    unsigned degree = tt_control_attempt_order(master);
    degree = degree < TUTTI_HISTORY_DEGREE ? degree : TUTTI_HISTORY_DEGREE;
    if (master->extrapolation.history.points <= degree)
        return tt_doubling_attempt(master, target, result);
    if (master->norm.per_time && master->memory.learned.gauge_due == 0 &&
        master->memory.stepper.error_before > WORTH_IT && target - rank->t > 1e-9 * rank->span)
        return calibrate_prediction(master, target, degree, result);
    TRY(tt_control_attempt_step(master, target, result));
    result->order = degree;
    if (tt_control_attempt_is_over(result))
        return TUTTI_OK;
    TRY(tt_outputs_read(&master->outputs, now));
    double scale = tt_extrapolation_defect(&master->extrapolation, degree, target, now, defect);
    for (uint32_t i = 0; master->norm.per_time && i < master->outputs.count; i++)
        defect[i] *= master->memory.learned.gauge;
    TRY(tt_control_estimate_error(master, result, defect, now, false));
    result->seen = result->size / (scale * (master->norm.per_time ? master->memory.learned.gauge : 1));
    tt_control_scale_error(master, result);
    return tt_control_add_held_error(master, result, now);
}

const struct tt_control tt_control_embedded = {.name = "embedded",
                                               .varies = true,
                                               .estimates = true,
                                               .bounds_run = true,
                                               .rejects = true,
                                               .predicts = true,
                                               .attempt = embedded_attempt,
                                               .judge = tt_control_check_error};
