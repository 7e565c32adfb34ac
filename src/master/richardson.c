/* SPDX-License-Identifier: MIT */
/* Step doubling: a step in one piece against the same in two (001 section 9.1.3, 002 section 4). With a method of order p, the
 * two halves, which stay, err by |y_half - y_full| / (2^p - 1).
 *
 * `slope` adds a test of the slopes of both (002 eq. 7), which sees what the values do not: jumps that both have passed. It
 * looks at discrete reals, too. */
#include <math.h>

#include "master/agree.h"
#include "master/control.h"
#include "master/coupling.h"
#include "master/macro.h"

/* 002 eq. 7, times h: (y_full - y_begin) - 2 (y_half - y_middle). */
static enum tutti_err test_slopes(struct run *run, struct tutti_attempt *attempt, const double *full,
                                  const double *middle, const double *half)
{
    double before = attempt->error, *difference = run->master.values[3];
    for (uint32_t i = 0; i < run->master.outputs.count; i++)
        difference[i] = full[i] - run->master.before[i] - 2 * (half[i] - middle[i]);
    TRY(tutti_attempt_estimate(run, attempt, difference, half, true));
    if (attempt->error > before)
        attempt->order = 1;
    return TUTTI_OK;
}

static enum tutti_err make_whole(struct run *run, double target, struct tutti_attempt *attempt, double *full)
{
    TRY(tutti_attempt_plain(run, target, attempt));
    if (tutti_attempt_is_over(run, attempt))
        return TUTTI_OK;
    TRY(tutti_outputs_take(run, full));
    return tutti_macro_go_back(run, false);
}

/* Both halves; run->t stands in the middle for the second of them. */
static enum tutti_err make_halves(struct run *run, double target, struct tutti_attempt *attempt, double *middle)
{
    double start = run->t, half = start + (target - start) / 2;
    TRY(tutti_attempt_plain(run, half, attempt));
    for (uint32_t m = 0; m < run->own_count; m++) /* an event that is just there: all have to cross it first */
        if (run->own[m]->event && run->master.early == INFINITY) {
            run->master.early = half;
            run->master.early_member = run->own[m]->component;
        }
    TRY(tutti_agree_step(run));
    if (tutti_attempt_is_over(run, attempt))
        return TUTTI_OK;
    TRY(tutti_coupling_pay(run));
    if (middle)
        TRY(tutti_outputs_take(run, middle));
    run->t = half;
    for (uint32_t w = 0; w < run->watched_count; w++) /* input files go on from there, too */
        if (run->watched[w]->inputs)
            tutti_inputs_arrive(run->watched[w]->inputs, run->watched[w]->unit, half, run->span);
    TRY(tutti_extrapolation_enter_middle(run));
    enum tutti_err err = tutti_attempt_plain(run, target, attempt);
    tutti_extrapolation_leave_middle(run);
    run->t = start;
    attempt->in_second_half = attempt->changed;
    attempt->changed_at = attempt->changed ? half : target;
    return err;
}

static enum tutti_err doubled(struct run *run, double target, struct tutti_attempt *attempt, bool slopes)
{
    double room = run->t + (target - run->t) / 2;
    if (room <= run->t || room >= target || target - run->t < 1e-12 * run->span)
        return tutti_attempt_plain(run, target, attempt);
    double *full = run->master.values[0], *half = run->master.values[1], *middle = run->master.values[2];
    TRY(make_whole(run, target, attempt, full));
    unsigned order = attempt->order;
    if (!tutti_attempt_is_over(run, attempt))
        TRY(make_halves(run, target, attempt, slopes ? middle : NULL));
    attempt->order = order;
    if (tutti_attempt_is_over(run, attempt))
        return TUTTI_OK;
    TRY(tutti_outputs_take(run, half));
    double *difference = run->master.values[3];
    for (uint32_t i = 0; i < run->master.outputs.count; i++)
        difference[i] = (half[i] - full[i]) / (exp2(order) - 1);
    TRY(tutti_attempt_estimate(run, attempt, difference, half, slopes));
    return slopes ? test_slopes(run, attempt, full, middle, half) : TUTTI_OK;
}

enum tutti_err tutti_attempt_compared(struct run *run, double target, struct tutti_attempt *attempt)
{
    double *half = run->master.values[1], *full = run->master.values[0], *difference = run->master.values[3];
    double factor = exp2(tutti_attempt_order(run));
    TRY(make_halves(run, target, attempt, NULL));
    if (tutti_attempt_is_over(run, attempt))
        return TUTTI_OK;
    TRY(tutti_outputs_take(run, half));
    TRY(tutti_macro_go_back(run, false));
    TRY(tutti_attempt_plain(run, target, attempt));
    if (tutti_attempt_is_over(run, attempt))
        return TUTTI_OK;
    TRY(tutti_outputs_take(run, full));
    for (uint32_t i = 0; i < run->master.outputs.count; i++)
        difference[i] = (half[i] - full[i]) * factor / (factor - 1);
    return tutti_attempt_estimate(run, attempt, difference, full, false);
}

enum tutti_err tutti_attempt_doubled(struct run *run, double target, struct tutti_attempt *attempt)
{
    return doubled(run, target, attempt, false);
}

static enum tutti_err attempt_with_slopes(struct run *run, double target, struct tutti_attempt *attempt)
{
    return doubled(run, target, attempt, true);
}

const struct tutti_control tutti_control_richardson = {.name = "richardson",
                                                       .varies = true,
                                                       .estimates = true,
                                                       .bounds_run = true,
                                                       .rejects = true,
                                                       .attempt = tutti_attempt_doubled,
                                                       .judge = tutti_judge_error};

const struct tutti_control tutti_control_slope = {.name = "slope",
                                                  .varies = true,
                                                  .estimates = true,
                                                  .rejects = true,
                                                  .attempt = attempt_with_slopes,
                                                  .judge = tutti_judge_error};
