/* SPDX-License-Identifier: MIT */
/* Step doubling: a step in one piece against the same in two (Andersson 2016 section 9.1.3, Nicolai 2019 section 4). With a
 * method of order p, the two halves, which stay, err by |y_half - y_full| / (2^p - 1).
 *
 * `slope` adds a test of the slopes of both (Nicolai 2019 eq. 7), which sees what the values do not: jumps that both have
 * passed. It looks at discrete reals, too. */
#include <math.h>

#include "master/control/attempt.h"
#include "master/couple.h"
#include "master/control/twin.h"

/* Nicolai 2019 eq. 7, times h: (y_full - y_begin) - 2 (y_half - y_middle). */
static enum tutti_err test_slopes(struct tutti_master *master, struct tutti_attempt *attempt)
{
    const struct tutti_compared *compared = &master->compared;
    const double *whole = compared->whole, *middle = compared->middle, *halves = compared->halves;
    double before = attempt->error;
    for (uint32_t i = 0; i < master->outputs.count; i++)
        compared->difference[i] = whole[i] - master->norm.before[i] - 2 * (halves[i] - middle[i]);
    TRY(tutti_attempt_estimate(master, attempt, compared->difference, halves, true));
    if (attempt->error > before)
        attempt->order = 1;
    return TUTTI_OK;
}

/* Does a step of the coupling leave anything behind that going back does not undo: a Jacobian, a correction? */
static bool learns(const struct tutti_master *master)
{
    return master->chosen.coupling->size > 0 || master->correction;
}

/* Both ways begin with the same, so that neither depends on whether the other was made before. */
static enum tutti_err keep_start(struct tutti_master *master)
{
    struct tutti_compared *compared = &master->compared;
    if (!learns(master))
        return TUTTI_OK;
    if (!compared->remembered)
        compared->remembered = tutti_arena_alloc(&master->rank->arena, master->remembered.size);
    if (!compared->remembered)
        return tutti_fail_memory();
    tutti_remembered_save(&master->remembered, compared->remembered);
    return TUTTI_OK;
}

static enum tutti_err return_to_start(struct tutti_master *master)
{
    if (master->compared.remembered)
        tutti_remembered_restore(&master->remembered, master->compared.remembered);
    return tutti_couple_go_back(master, false);
}

static enum tutti_err make_whole(struct tutti_master *master, double target, struct tutti_attempt *attempt)
{
    TRY(tutti_attempt_plain(master, target, attempt));
    if (tutti_attempt_is_over(attempt))
        return TUTTI_OK;
    TRY(tutti_outputs_take(&master->outputs, master->compared.whole));
    return return_to_start(master);
}

/* Both halves; rank->t stands in the middle for the second of them. `looks`: at the outputs there. */
static enum tutti_err make_halves(struct tutti_master *master, double target, struct tutti_attempt *attempt, bool looks)
{
    struct tutti_rank *rank = master->rank;
    double start = rank->t, half = start + (target - start) / 2;
    TRY(tutti_attempt_plain(master, half, attempt));
    for (uint32_t m = 0; m < rank->own_count; m++) /* an event that is just there: all have to cross it first */
        if (rank->own[m]->now.event && attempt->outcome.why == TUTTI_REACHED)
            tutti_outcome_early(&attempt->outcome, rank->own[m]->component, half);
    TRY(tutti_couple_agree(master, &attempt->outcome));
    if (tutti_attempt_is_over(attempt))
        return TUTTI_OK;
    TRY(tutti_couple_send(master));
    if (looks)
        TRY(tutti_outputs_take(&master->outputs, master->compared.middle));
    rank->t = half;
    for (uint32_t w = 0; w < rank->watched_count; w++) /* input files go on from there, too */
        if (rank->watched[w]->inputs)
            tutti_inputs_arrive(rank->watched[w]->inputs, rank->watched[w]->unit, half, rank->span);
    TRY(tutti_extrapolation_enter_middle(&master->extrapolation));
    enum tutti_err err = tutti_attempt_plain(master, target, attempt);
    tutti_extrapolation_leave_middle(&master->extrapolation);
    rank->t = start;
    attempt->in_second_half = attempt->changed;
    attempt->changed_at = attempt->changed ? half : target;
    return err;
}

static enum tutti_err make_in_turn(struct tutti_master *master, double target, struct tutti_attempt *attempt,
                                   bool looks)
{
    TRY(make_whole(master, target, attempt));
    return tutti_attempt_is_over(attempt) ? TUTTI_OK : make_halves(master, target, attempt, looks);
}

/* With second instances for the whole step (twin.h). If that is over before its end, halves are not what counts. */
static enum tutti_err make_at_once(struct tutti_master *master, double target, struct tutti_attempt *attempt,
                                   bool looks)
{
    bool over;
    TRY(tutti_twin_order(master->twin, target));
    TRY(make_halves(master, target, attempt, looks));
    TRY(tutti_twin_await(master->twin, attempt, &over));
    if (!over)
        return TUTTI_OK;
    *attempt = tutti_attempt_begin(master->rank, target);
    TRY(return_to_start(master));
    return tutti_attempt_plain(master, target, attempt);
}

static enum tutti_err doubled(struct tutti_master *master, double target, struct tutti_attempt *attempt, bool slopes)
{
    struct tutti_rank *rank = master->rank;
    double room = rank->t + (target - rank->t) / 2;
    if (room <= rank->t || room >= target || target - rank->t < 1e-12 * rank->span)
        return tutti_attempt_plain(master, target, attempt);
    const struct tutti_compared *compared = &master->compared;
    unsigned order = tutti_attempt_order(master); /* of the whole step */
    TRY(keep_start(master));
    TRY(master->twin ? make_at_once(master, target, attempt, slopes) : make_in_turn(master, target, attempt, slopes));
    attempt->order = order;
    if (tutti_attempt_is_over(attempt))
        return TUTTI_OK;
    TRY(tutti_outputs_take(&master->outputs, compared->halves));
    for (uint32_t i = 0; i < master->outputs.count; i++)
        compared->difference[i] = (compared->halves[i] - compared->whole[i]) / (exp2(order) - 1);
    TRY(tutti_attempt_estimate(master, attempt, compared->difference, compared->halves, slopes));
    TRY(slopes ? test_slopes(master, attempt) : TUTTI_OK);
    TRY(tutti_attempt_count_foretold(master, attempt, compared->halves));
    return tutti_attempt_count_held(master, attempt, compared->halves);
}

enum tutti_err tutti_attempt_compared(struct tutti_master *master, double target, struct tutti_attempt *attempt)
{
    const struct tutti_compared *compared = &master->compared;
    double factor = exp2(tutti_attempt_order(master));
    TRY(keep_start(master));
    TRY(make_halves(master, target, attempt, false));
    if (tutti_attempt_is_over(attempt))
        return TUTTI_OK;
    TRY(tutti_outputs_take(&master->outputs, compared->halves));
    TRY(return_to_start(master));
    TRY(tutti_attempt_plain(master, target, attempt));
    if (tutti_attempt_is_over(attempt))
        return TUTTI_OK;
    TRY(tutti_outputs_take(&master->outputs, compared->whole));
    for (uint32_t i = 0; i < master->outputs.count; i++)
        compared->difference[i] = (compared->halves[i] - compared->whole[i]) * factor / (factor - 1);
    return tutti_attempt_estimate(master, attempt, compared->difference, compared->whole, false);
}

enum tutti_err tutti_attempt_doubled(struct tutti_master *master, double target, struct tutti_attempt *attempt)
{
    return doubled(master, target, attempt, false);
}

static enum tutti_err attempt_with_slopes(struct tutti_master *master, double target, struct tutti_attempt *attempt)
{
    return doubled(master, target, attempt, true);
}

const struct tutti_control tutti_control_richardson = {.name = "richardson",
                                                       .varies = true,
                                                       .estimates = true,
                                                       .bounds_run = true,
                                                       .rejects = true,
                                                       .doubles = true,
                                                       .attempt = tutti_attempt_doubled,
                                                       .judge = tutti_judge_error};

const struct tutti_control tutti_control_slope = {.name = "slope",
                                                  .varies = true,
                                                  .estimates = true,
                                                  .rejects = true,
                                                  .doubles = true,
                                                  .attempt = attempt_with_slopes,
                                                  .judge = tutti_judge_error};
