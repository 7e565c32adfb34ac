/* SPDX-License-Identifier: MIT */
/* Step doubling: a step in one piece against the same in two (Andersson 2016 section 9.1.3, Nicolai 2019 section 4). With a
 * method of order p, the two halves, which stay, err by |y_half - y_full| / (2^p - 1).
 *
 * `slope` adds a test of the slopes of both (Nicolai 2019 eq. 7), which sees what the values do not: jumps that both have
 * passed. It looks at discrete reals, too. */
#include <math.h>

#include "sim/control/control.h"
#include "sim/coupling/coupling.h"
#include "sim/control/twin.h"

/* Nicolai 2019 eq. 7, times h: (y_full - y_begin) - 2 (y_half - y_middle). */
static enum tutti_err test_output_slopes(struct tt_sim *master, struct tt_step_result *result)
{
    const struct tt_step_comparison *compared = &master->compared;
    const double *whole = compared->whole, *middle = compared->middle, *halves = compared->halves;
    double before = result->error;
    for (uint32_t i = 0; i < master->outputs.count; i++)
        compared->difference[i] = whole[i] - master->norm.before[i] - 2 * (halves[i] - middle[i]);
    TRY(tt_control_estimate_error(master, result, compared->difference, halves, true));
    if (result->error > before)
        result->order = 1;
    return TUTTI_OK;
}

/* Both ways begin with equal state, so that neither depends on whether the other was made before. */
static enum tutti_err save_doubling_start(struct tt_sim *master)
{
    struct tt_step_comparison *compared = &master->compared;
    /* Without a Jacobian and a correction, a step of the coupling leaves nothing that a rollback does not undo. */
    if (master->chosen.coupling->size == 0 && !master->correction)
        return TUTTI_OK;
    if (!compared->remembered)
        compared->remembered = tt_arena_alloc(&master->rank->arena, master->remembered.size);
    if (!compared->remembered)
        return tt_fail_memory();
    tt_rollback_list_save(&master->remembered, compared->remembered);
    return TUTTI_OK;
}

static enum tutti_err restore_doubling_start(struct tt_sim *master)
{
    if (master->compared.remembered)
        tt_rollback_list_restore(&master->remembered, master->compared.remembered);
    return tt_coupling_roll_back(master, false);
}

/* Both halves; rank->t stands in the middle for the second of them. `looks`: at the outputs there. */
static enum tutti_err step_in_halves(struct tt_sim *master, double target, struct tt_step_result *result, bool looks)
{
    struct tt_rank *rank = master->rank;
    double start = rank->t, half = start + (target - start) / 2;
    TRY(tt_control_attempt_step(master, half, result));
    for (uint32_t m = 0; m < rank->own_count; m++) /* an event that is just there: all have to cross it first */
        if (rank->own[m]->now.event && result->end == TUTTI_END_REACHED)
            tt_step_result_set_event(result, rank->own[m]->component, half);
    TRY(tt_coupling_agree(master, result));
    if (tt_control_attempt_is_over(result))
        return TUTTI_OK;
    TRY(tt_coupling_send_deferred(master));
    if (looks)
        TRY(tt_outputs_read(&master->outputs, master->compared.middle));
    rank->t = half;
    for (uint32_t w = 0; w < rank->watched_count; w++) /* input files continue from there, too */
        if (rank->watched[w]->inputs)
            tt_inputs_update(rank->watched[w]->inputs, rank->watched[w]->unit, half, rank->span);
    TRY(tt_extrapolation_enter_middle(&master->extrapolation));
    enum tutti_err err = tt_control_attempt_step(master, target, result);
    tt_extrapolation_leave_middle(&master->extrapolation);
    rank->t = start;
    if (result->end == TUTTI_END_OUTPUT_CHANGED) {
        result->in_second_half = true;
        result->at = half;
    }
    return err;
}

/* With second instances for the whole step (twin.h). If that is over before its end, halves are not what counts. */
static enum tutti_err step_whole_by_twin(struct tt_sim *master, double target, struct tt_step_result *result,
                                         bool looks)
{
    bool over;
    TRY(tt_twin_request_step(master->twin, target));
    TRY(step_in_halves(master, target, result, looks));
    TRY(tt_twin_await(master->twin, result, &over));
    if (!over)
        return TUTTI_OK;
    *result = tt_step_result_begin(master->rank->t, target);
    TRY(restore_doubling_start(master));
    return tt_control_attempt_step(master, target, result);
}

static enum tutti_err doubling_attempt(struct tt_sim *master, double target, struct tt_step_result *result, bool slopes)
{
    struct tt_rank *rank = master->rank;
    double room = rank->t + (target - rank->t) / 2;
    if (room <= rank->t || room >= target || target - rank->t < 1e-12 * rank->span)
        return tt_control_attempt_step(master, target, result);
    const struct tt_step_comparison *compared = &master->compared;
    unsigned order = tt_control_attempt_order(master); /* of the whole step */
    TRY(save_doubling_start(master));
    if (master->twin) {
        TRY(step_whole_by_twin(master, target, result, slopes));
    } else {
        TRY(tt_control_attempt_step(master, target, result));
        if (tt_control_attempt_is_over(result))
            return TUTTI_OK;
        TRY(tt_outputs_read(&master->outputs, compared->whole));
        TRY(restore_doubling_start(master));
        TRY(step_in_halves(master, target, result, slopes));
    }
    result->order = order;
    if (tt_control_attempt_is_over(result))
        return TUTTI_OK;
    TRY(tt_outputs_read(&master->outputs, compared->halves));
    for (uint32_t i = 0; i < master->outputs.count; i++)
        compared->difference[i] = (compared->halves[i] - compared->whole[i]) / (exp2(order) - 1);
    TRY(tt_control_estimate_error(master, result, compared->difference, compared->halves, slopes));
    TRY(slopes ? test_output_slopes(master, result) : TUTTI_OK);
    TRY(tt_embedded_count_prediction(master, result, compared->halves));
    return tt_control_add_held_error(master, result, compared->halves);
}

enum tutti_err tt_doubling_compare(struct tt_sim *master, double target, struct tt_step_result *result)
{
    const struct tt_step_comparison *compared = &master->compared;
    double factor = exp2(tt_control_attempt_order(master));
    TRY(save_doubling_start(master));
    TRY(step_in_halves(master, target, result, false));
    if (tt_control_attempt_is_over(result))
        return TUTTI_OK;
    TRY(tt_outputs_read(&master->outputs, compared->halves));
    TRY(restore_doubling_start(master));
    TRY(tt_control_attempt_step(master, target, result));
    if (tt_control_attempt_is_over(result))
        return TUTTI_OK;
    TRY(tt_outputs_read(&master->outputs, compared->whole));
    for (uint32_t i = 0; i < master->outputs.count; i++)
        compared->difference[i] = (compared->halves[i] - compared->whole[i]) * factor / (factor - 1);
    return tt_control_estimate_error(master, result, compared->difference, compared->whole, false);
}

enum tutti_err tt_doubling_attempt(struct tt_sim *master, double target, struct tt_step_result *result)
{
    return doubling_attempt(master, target, result, false);
}

static enum tutti_err slope_attempt(struct tt_sim *master, double target, struct tt_step_result *result)
{
    return doubling_attempt(master, target, result, true);
}

const struct tt_control tt_control_richardson = {.name = "richardson",
                                                 .varies = true,
                                                 .estimates = true,
                                                 .bounds_run = true,
                                                 .rejects = true,
                                                 .doubles = true,
                                                 .attempt = tt_doubling_attempt,
                                                 .judge = tt_control_check_error};

const struct tt_control tt_control_slope = {.name = "slope",
                                            .varies = true,
                                            .estimates = true,
                                            .rejects = true,
                                            .doubles = true,
                                            .attempt = slope_attempt,
                                            .judge = tt_control_check_error};
