/* SPDX-License-Identifier: MIT */
#include "master/control/attempt.h"

#include <math.h>
#include <string.h>

#include "master/couple.h"
#include "master/detect.h"
#include "rank/agree.h"

/* What is not much more than noise is as good, and steps may become a little longer. */
static const double LIKE_NOISE = 5, OF_NOISE = 0.1;
struct tutti_attempt tutti_attempt_begin(const struct tutti_rank *rank, double target)
{
    return (struct tutti_attempt){
        .from = rank->t, .target = target, .outcome = tutti_outcome_begin(), .driver = TUTTI_NONE, .converged = true};
}

/* One step of the coupling, and what it says. */
static enum tutti_err step(struct tutti_master *master, double target, struct tutti_attempt *attempt)
{
    TRY(tutti_couple(master, target, &attempt->outcome));
    attempt->iterations += attempt->outcome.iterations;
    attempt->converged = attempt->converged && attempt->outcome.converged;
    if (master->detector.discretes && attempt->outcome.why == TUTTI_REACHED)
        TRY(tutti_detector_look(&master->detector, &attempt->changed));
    attempt->changed_at = target;
    return TUTTI_OK;
}

/* Of inputs that are held only the mean is right. */
static unsigned order_with(const struct tutti_master *master, unsigned extrapolation)
{
    const struct tutti_chosen *chosen = &master->chosen;
    bool coupled = tutti_system_is_coupled(master->rank->job->system);
    if (chosen->order == TUTTI_CUBIC)
        extrapolation = chosen->on_lines || chosen->holding ? 1 : TUTTI_CUBIC;
    unsigned order = coupled ? chosen->coupling->order(extrapolation) : chosen->table_order;
    if (coupled && chosen->last_only && extrapolation == 0) /* most of a step is made with held inputs */
        order = 1;
    unsigned most = chosen->table_order > 0 ? chosen->table_order : master->staging.holds ? 2 : order;
    return order < most ? order : most;
}

unsigned tutti_attempt_order(const struct tutti_master *master)
{
    return order_with(master, tutti_extrapolation_order(&master->extrapolation));
}

unsigned tutti_attempt_full_order(const struct tutti_master *master)
{
    return order_with(master, master->chosen.order);
}

enum tutti_err tutti_attempt_plain(struct tutti_master *master, double target, struct tutti_attempt *attempt)
{
    attempt->order = tutti_attempt_order(master);
    return step(master, target, attempt);
}

void tutti_attempt_share(const struct tutti_master *master, struct tutti_attempt *attempt)
{
    attempt->error = attempt->size;
    if (!master->norm.per_time)
        return;
    attempt->error /= tutti_norm_part(&master->norm, attempt->target - attempt->from);
    if (attempt->seen <= LIKE_NOISE * master->memory.learned.noise)
        attempt->error = fmin(attempt->error, OF_NOISE);
}

enum tutti_err tutti_attempt_blame(const struct tutti_master *master, struct tutti_attempt *attempt, uint32_t driver,
                                   const double *difference)
{
    struct tutti_rank *rank = master->rank;
    attempt->driver = driver;
    attempt->difference = 0;
    if (driver == TUTTI_NONE || !master->chosen.detection->outputs)
        return TUTTI_OK;
    if (tutti_rank_owns(rank, tutti_outputs_end(&master->outputs, driver).component))
        attempt->difference = fabs(difference[driver]);
    return tutti_reduce(rank, TUTTI_REDUCE_MAX, &attempt->difference, 1);
}

enum tutti_err tutti_attempt_estimate(struct tutti_master *master, struct tutti_attempt *attempt,
                                      const double *difference, const double *now, bool all)
{
    double norm, h = attempt->target - attempt->from;
    uint32_t driver;
    TRY(tutti_norm_of(&master->norm, difference, now, h, all ? TUTTI_WEIGH_ALL : TUTTI_WEIGH_SMOOTH, &norm, &driver));
    if (master->norm.per_time && !attempt->estimated)
        memcpy(master->norm.scale.step, difference, master->outputs.count * sizeof *difference);
    attempt->estimated = true;
    if (norm > attempt->size || attempt->driver == TUTTI_NONE)
        TRY(tutti_attempt_blame(master, attempt, driver, difference));
    attempt->size = attempt->seen = fmax(attempt->size, norm);
    tutti_attempt_share(master, attempt);
    return TUTTI_OK;
}

enum tutti_err tutti_attempt_count(struct tutti_master *master, struct tutti_attempt *attempt, const double *part,
                                   const double *now)
{
    const struct tutti_norm *norm = &master->norm;
    double h = attempt->target - attempt->from, value;
    uint32_t driver;
    for (uint32_t i = 0; i < master->outputs.count; i++)
        norm->scale.step[i] = fmax(fabs(norm->scale.step[i]), fabs(part[i]));
    TRY(tutti_norm_of(norm, part, now, h, TUTTI_WEIGH_SMOOTH, &value, &driver));
    attempt->size = fmax(attempt->size, value);
    value /= tutti_norm_part(norm, h);
    if (!(value > attempt->error))
        return TUTTI_OK;
    attempt->error = value;
    return tutti_attempt_blame(master, attempt, driver, part);
}

/* The power of the step that the error goes with, less 1. */
static unsigned power_of(const struct tutti_master *master, const struct tutti_attempt *attempt)
{
    return attempt->order - (master->norm.per_time && attempt->order > 0);
}

enum tutti_verdict tutti_judge_error(struct tutti_master *master, const struct tutti_attempt *attempt)
{
    struct tutti_stepper *stepper = &master->memory.stepper;
    double h = attempt->target - attempt->from;
    bool good = attempt->converged && (!attempt->estimated || attempt->error <= 1);
    if (!good && !tutti_stepper_is_least(stepper, h)) {
        tutti_stepper_reject(stepper, h, attempt->converged ? attempt->error : INFINITY, power_of(master, attempt));
        return TUTTI_REJECT;
    }
    tutti_stepper_accept(stepper, h, good ? attempt->error : 1, power_of(master, attempt));
    return good ? TUTTI_ACCEPT : TUTTI_FORCE;
}
