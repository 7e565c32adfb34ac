/* SPDX-License-Identifier: MIT */
#include "sim/control/attempt.h"

#include <math.h>
#include <string.h>

#include "sim/coupling/couple.h"
#include "sim/detector.h"
#include "sim/rank_agree.h"

/* What is not much more than noise is as good, and steps may become a little longer. */
static const double LIKE_NOISE = 5, OF_NOISE = 0.1;
struct tt_attempt tt_control_begin_attempt(const struct tt_rank *rank, double target)
{
    return (struct tt_attempt){
        .from = rank->t, .target = target, .outcome = tt_outcome_begin(), .driver = TUTTI_NONE, .converged = true};
}

/* One step of the coupling, and what it says. */
static enum tutti_err attempt_coupling_step(struct tt_sim *master, double target, struct tt_attempt *attempt)
{
    TRY(tt_coupling_step(master, target, &attempt->outcome));
    attempt->iterations += attempt->outcome.iterations;
    attempt->converged = attempt->converged && attempt->outcome.converged;
    if (master->detector.discretes && attempt->outcome.why == TUTTI_REACHED)
        TRY(tt_detector_detect(&master->detector, &attempt->changed));
    attempt->changed_at = target;
    return TUTTI_OK;
}

/* Of inputs that are held only the mean is right. */
static unsigned order_for_extrapolation(const struct tt_sim *master, unsigned extrapolation)
{
    const struct tt_method *chosen = &master->chosen;
    bool coupled = tt_system_is_coupled(master->rank->job->system);
    if (chosen->order == TUTTI_CUBIC)
        extrapolation = chosen->on_lines || chosen->holding ? 1 : TUTTI_CUBIC;
    unsigned order = coupled ? chosen->coupling->order(extrapolation) : chosen->table_order;
    if (coupled && chosen->last_only && extrapolation == 0) /* most of a step is made with held inputs */
        order = 1;
    unsigned most = chosen->table_order > 0 ? chosen->table_order : master->staging.holds ? 2 : order;
    return order < most ? order : most;
}

unsigned tt_control_attempt_order(const struct tt_sim *master)
{
    return order_for_extrapolation(master, tt_extrapolation_order(&master->extrapolation));
}

unsigned tt_control_full_order(const struct tt_sim *master)
{
    return order_for_extrapolation(master, master->chosen.order);
}

enum tutti_err tt_control_attempt_step(struct tt_sim *master, double target, struct tt_attempt *attempt)
{
    attempt->order = tt_control_attempt_order(master);
    return attempt_coupling_step(master, target, attempt);
}

void tt_control_scale_error(const struct tt_sim *master, struct tt_attempt *attempt)
{
    attempt->error = attempt->size;
    if (!master->norm.per_time)
        return;
    attempt->error /= tt_norm_step_share(&master->norm, attempt->target - attempt->from);
    if (attempt->seen <= LIKE_NOISE * master->memory.learned.noise)
        attempt->error = fmin(attempt->error, OF_NOISE);
}

enum tutti_err tt_control_set_driver(const struct tt_sim *master, struct tt_attempt *attempt, uint32_t driver,
                                     const double *difference)
{
    struct tt_rank *rank = master->rank;
    attempt->driver = driver;
    attempt->difference = 0;
    if (driver == TUTTI_NONE || !master->chosen.detection->outputs)
        return TUTTI_OK;
    if (tt_rank_owns(rank, tt_outputs_owner(&master->outputs, driver).component))
        attempt->difference = fabs(difference[driver]);
    return tt_rank_reduce(rank, TUTTI_REDUCE_MAX, &attempt->difference, 1);
}

enum tutti_err tt_control_estimate_error(struct tt_sim *master, struct tt_attempt *attempt, const double *difference,
                                         const double *now, bool all)
{
    double norm, h = attempt->target - attempt->from;
    uint32_t driver;
    TRY(tt_norm_compute(&master->norm, difference, now, h, all ? TUTTI_WEIGH_ALL : TUTTI_WEIGH_SMOOTH, &norm, &driver));
    if (master->norm.per_time && !attempt->estimated)
        memcpy(master->norm.scale.step, difference, master->outputs.count * sizeof *difference);
    attempt->estimated = true;
    if (norm > attempt->size || attempt->driver == TUTTI_NONE)
        TRY(tt_control_set_driver(master, attempt, driver, difference));
    attempt->size = attempt->seen = fmax(attempt->size, norm);
    tt_control_scale_error(master, attempt);
    return TUTTI_OK;
}

enum tutti_err tt_control_count_error(struct tt_sim *master, struct tt_attempt *attempt, const double *part,
                                      const double *now)
{
    const struct tt_norm *norm = &master->norm;
    double h = attempt->target - attempt->from, value;
    uint32_t driver;
    for (uint32_t i = 0; i < master->outputs.count; i++)
        norm->scale.step[i] = fmax(fabs(norm->scale.step[i]), fabs(part[i]));
    TRY(tt_norm_compute(norm, part, now, h, TUTTI_WEIGH_SMOOTH, &value, &driver));
    attempt->size = fmax(attempt->size, value);
    value /= tt_norm_step_share(norm, h);
    if (!(value > attempt->error))
        return TUTTI_OK;
    attempt->error = value;
    return tt_control_set_driver(master, attempt, driver, part);
}

/* The power of the step that the error goes with, less 1. */
static unsigned error_power(const struct tt_sim *master, const struct tt_attempt *attempt)
{
    return attempt->order - (master->norm.per_time && attempt->order > 0);
}

enum tt_verdict tt_control_check_error(struct tt_sim *master, const struct tt_attempt *attempt)
{
    struct tt_step_size *stepper = &master->memory.stepper;
    double h = attempt->target - attempt->from;
    bool good = attempt->converged && (!attempt->estimated || attempt->error <= 1);
    if (!good && !tt_step_size_is_minimum(stepper, h)) {
        tt_step_size_reject(stepper, h, attempt->converged ? attempt->error : INFINITY, error_power(master, attempt));
        return TUTTI_REJECT;
    }
    tt_step_size_accept(stepper, h, good ? attempt->error : 1, error_power(master, attempt));
    return good ? TUTTI_ACCEPT : TUTTI_FORCE;
}
