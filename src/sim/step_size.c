/* SPDX-License-Identifier: MIT */
#include "sim/step_size.h"

#include <math.h>

/* Below this an error is rounding: the next step grows as far as it may. */
static const double LEAST_ERROR = 1e-8;
static const double P = 0.4, I = 0.7;
static const double STEADY_ERROR = 0.8, STEADY_GROW = 1.2;

static double clamp(double x, double low, double high)
{
    return fmin(fmax(x, low), high);
}

/* The error that steps are to have: that of a step a little shorter than the largest good one. */
static double error_target(unsigned order)
{
    return pow(TUTTI_STEPPER_SAFETY, order + 1);
}

void tt_step_size_init(struct tt_step_size *stepper, double first, double h_min, double h_max)
{
    *stepper = (struct tt_step_size){.first = clamp(first, h_min, h_max), .h_min = h_min, .h_max = h_max};
    stepper->h = stepper->first;
}

void tt_step_size_restart(struct tt_step_size *stepper)
{
    stepper->h = fmin(stepper->h, stepper->first);
    stepper->error_before = 0;
    stepper->rejected = false;
}

void tt_step_size_multiply(struct tt_step_size *stepper, double h, double factor)
{
    stepper->h = clamp(h * factor, stepper->h_min, stepper->h_max);
}

void tt_step_size_accept(struct tt_step_size *stepper, double h, double error, unsigned order)
{
    double q = order + 1, now = fmax(error / error_target(order), LEAST_ERROR), before = stepper->error_before;
    double factor = before > 0 ? pow(now, -I / q) * pow(before, P / q) : pow(now, -1 / q);
    double proposal = stepper->h;
    factor = clamp(factor, TUTTI_STEPPER_SHRINK, stepper->rejected ? 1 : TUTTI_STEPPER_GROW);
    if (stepper->steady && error < STEADY_ERROR && factor < STEADY_GROW)
        factor = 1;
    tt_step_size_multiply(stepper, h, factor);
    if (h < proposal * (1 - 1e-9) && !stepper->rejected)
        stepper->h = fmax(stepper->h, proposal);
    stepper->error_before = fmax(now, 0.1);
    stepper->rejected = false;
}

void tt_step_size_reject(struct tt_step_size *stepper, double h, double error, unsigned order)
{
    double factor = isfinite(error) ? pow(error / error_target(order), -1.0 / (order + 1)) : TUTTI_STEPPER_SHRINK;
    double least = stepper->steady ? TUTTI_STEPPER_SHRINK / 10 : TUTTI_STEPPER_SHRINK;
    tt_step_size_multiply(stepper, h, clamp(factor, least, TUTTI_STEPPER_SAFETY));
    stepper->rejected = true;
}

void tt_step_size_limit(struct tt_step_size *stepper, double h)
{
    stepper->h = fmax(fmin(stepper->h, h), stepper->h_min);
    stepper->rejected = true;
}

bool tt_step_size_is_minimum(const struct tt_step_size *stepper, double h)
{
    return h <= stepper->h_min * (1 + 1e-3); /* with the rounding of times much larger than h */
}
