/* SPDX-License-Identifier: MIT */
#include "sim/control/control.h"

#include <math.h>
#include <string.h>

#include "base/options/options.h"
#include "sim/coupling/coupling.h"
#include "sim/detector.h"
#include "sim/rank.h"
#include "sim/start/linear_model.h"

#define LISTED(name, word, meaning) &tt_control_##name,
static const struct tt_control *const controls[] = {TUTTI_CONTROLS(LISTED)};

const struct tt_control *tt_control_at(size_t number)
{
    return number < sizeof controls / sizeof *controls ? controls[number] : NULL;
}

enum tutti_err tt_control_find(const char *name, const struct tt_control **out)
{
    int place;
    TRY(tt_options_choose("control", name, &place));
    *out = place > 0 ? controls[place - 1] : NULL; /* the first word is auto */
    return TUTTI_OK;
}

/* An error slightly above the noise is treated as noise, and steps may become slightly longer. */
static const double LIKE_NOISE = 5, OF_NOISE = 0.1;

/* Of inputs that are held only the mean is right. */
static unsigned order_for_extrapolation(const struct tt_sim *master, unsigned extrapolation)
{
    const struct tt_method *chosen = &master->chosen;
    bool coupled = tt_system_is_coupled(master->rank->job->system);
    if (chosen->order == TUTTI_CUBIC)
        extrapolation = chosen->on_lines || chosen->holding ? 1 : TUTTI_CUBIC;
    unsigned order = coupled ? chosen->coupling->order(extrapolation) : chosen->table_order;
    if (coupled && (chosen->is & TUTTI_METHOD_LAST_ONLY) &&
        extrapolation == 0) /* most of a step is made with held inputs */
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

enum tutti_err tt_control_attempt_step(struct tt_sim *master, double target, struct tt_step_result *result)
{
    struct tt_step_result step;
    result->order = tt_control_attempt_order(master);
    TRY(tt_coupling_step(master, target, &master->rules, &step));
    if (master->detector.discretes && step.end == TUTTI_END_REACHED)
        TRY(tt_detector_detect(&master->detector, target, &step));
    tt_step_result_add(result, &step);
    return TUTTI_OK;
}

void tt_control_scale_error(const struct tt_sim *master, struct tt_step_result *result)
{
    result->error = result->size;
    if (!master->norm.per_time)
        return;
    result->error /= tt_norm_step_share(&master->norm, result->target - result->from);
    if (result->seen <= LIKE_NOISE * master->memory.learned.noise)
        result->error = fmin(result->error, OF_NOISE);
}

enum tutti_err tt_control_set_driver(const struct tt_sim *master, struct tt_step_result *result, uint32_t driver,
                                     const double *difference)
{
    struct tt_rank *rank = master->rank;
    result->driver = driver;
    result->difference = 0;
    if (driver == TUTTI_NONE || !master->chosen.detection->outputs)
        return TUTTI_OK;
    if (tt_rank_owns(rank, tt_outputs_owner(&master->outputs, driver).component))
        result->difference = fabs(difference[driver]);
    return tt_rank_reduce(rank, TUTTI_REDUCE_MAX, &result->difference, 1);
}

enum tutti_err tt_control_estimate_error(struct tt_sim *master, struct tt_step_result *result, const double *difference,
                                         const double *now, bool all)
{
    double norm, h = result->target - result->from;
    uint32_t driver;
    TRY(tt_norm_compute(&master->norm, difference, now, h, all ? TUTTI_WEIGH_ALL : TUTTI_WEIGH_SMOOTH, &norm, &driver));
    if (master->norm.per_time && !result->estimated)
        memcpy(master->norm.scale.step, difference, master->outputs.count * sizeof *difference);
    result->estimated = true;
    if (norm > result->size || result->driver == TUTTI_NONE)
        TRY(tt_control_set_driver(master, result, driver, difference));
    result->size = result->seen = fmax(result->size, norm);
    tt_control_scale_error(master, result);
    return TUTTI_OK;
}

enum tutti_err tt_control_count_error(struct tt_sim *master, struct tt_step_result *result, const double *part,
                                      const double *now)
{
    const struct tt_norm *norm = &master->norm;
    double h = result->target - result->from, value;
    uint32_t driver;
    for (uint32_t i = 0; i < master->outputs.count; i++)
        norm->scale.step[i] = fmax(fabs(norm->scale.step[i]), fabs(part[i]));
    TRY(tt_norm_compute(norm, part, now, h, TUTTI_WEIGH_SMOOTH, &value, &driver));
    result->size = fmax(result->size, value);
    value /= tt_norm_step_share(norm, h);
    if (!(value > result->error))
        return TUTTI_OK;
    result->error = value;
    return tt_control_set_driver(master, result, driver, part);
}

/* The power of the step that the error goes with, less 1. */
static unsigned error_power(const struct tt_sim *master, const struct tt_step_result *result)
{
    return result->order - (master->norm.per_time && result->order > 0);
}

enum tt_verdict tt_control_check_error(struct tt_sim *master, const struct tt_step_result *result)
{
    struct tt_step_size *stepper = &master->memory.stepper;
    double h = result->target - result->from;
    bool good = result->converged && (!result->estimated || result->error <= 1);
    if (!good && !tt_step_size_is_minimum(stepper, h)) {
        tt_step_size_reject(stepper, h, result->converged ? result->error : INFINITY, error_power(master, result));
        return TUTTI_REJECT;
    }
    tt_step_size_accept(stepper, h, good ? result->error : 1, error_power(master, result));
    return good ? TUTTI_ACCEPT : TUTTI_FORCE;
}

/* Inputs that are held in a step although the signals move: components get their mean (coupled_inputs.h), which is
 * exact for linear effects. The remaining error, over a step of size h in which the input moves by d, is
 *     h / 24 f_uu d^2
 * (the error of the midpoint rule, Hairer, Norsett, Wanner: Solving ODEs I, II.1), and no output needs to show it: a
 * threshold, a saturation or a meter may hide it. So it is estimated from the visible signal, as if the second
 * derivative f_uu were that of u^2 / s with the range s of the input. With --extrapolate 0 components get the value of
 * the beginning, whose distance from the mean is d / 2: its error uses f_u = 1 / T for a run of length T. */

struct held_marker {
    const struct tt_rank *rank;
    unsigned order; /* of extrapolation */
    bool *held;
};

/* Marks the outputs that a unit reads which holds its inputs. */
static void flag_held_output(void *context, const struct tt_signal_link *link)
{
    const struct held_marker *marker = context;
    const struct tt_wires *wires = &marker->rank->wires;
    uint32_t reader = marker->rank->job->structure.nodes[link->to].component;
    size_t element = 0;
    if (wires->units[reader].slopes && marker->order > 0)
        return;
    for (uint32_t i = 0; i < wires->real_count; i++)
        if (wires->reals[i].node == link->from) {
            if (element >= link->from_element && element < link->from_element + link->count)
                marker->held[i] = true;
            element++;
        }
}

enum tutti_err tt_control_open_held(struct tt_sim *master)
{
    struct tt_rank *rank = master->rank;
    bool holds = master->staging.holds || (master->extrapolation.order == 0 && !master->chosen.coupling->joins);
    if (!(master->chosen.is & TUTTI_METHOD_PER_TIME) || !holds || !tt_system_is_coupled(rank->job->system))
        return TUTTI_OK;
    struct held_marker marker = {rank, master->extrapolation.order,
                                 tt_arena_array(&rank->arena, master->outputs.count, sizeof *marker.held)};
    if (!marker.held)
        return tt_fail_memory();
    tt_linear_model_each_link(rank, flag_held_output, &marker);
    master->held = marker.held;
    return TUTTI_OK;
}

enum tutti_err tt_control_add_held_error(struct tt_sim *master, struct tt_step_result *result, const double *now)
{
    const struct tt_norm *norm = &master->norm;
    double *part = master->compared.difference, h = result->target - result->from;
    uint32_t reals = master->rank->wires.real_count;
    bool late = master->extrapolation.order == 0;
    if (!master->held || !norm->per_time || tt_control_attempt_is_over(result))
        return TUTTI_OK;
    for (uint32_t i = 0; i < master->outputs.count; i++) {
        double move = i < reals && master->held[i] ? now[i] - norm->before[i] : 0;
        double size = move == 0 ? 0 : tt_norm_output_scale(&norm->scale, i, now[i], move, h);
        double mean = late ? fabs(move) / 2 : size > 0 ? move * move / (12 * size) : 0;
        part[i] = h / master->rank->span * mean;
    }
    return tt_control_count_error(master, result, part, now);
}

/* An error above this number of tolerances is not noise. */
static const double MOST_NOISE = 100;
/* The same where the tolerance is for the whole run. */
static const double MOST_NOISE_PER_TIME = 0.1;
/* The error of smooth signals falls with the step, if only with its first power where it depends on points from before. One that
 * hardly falls comes from a jump, or from a kink that both attempts have passed. Of one signal the error itself is meant: as a part of
 * how far the signal came in the step, that of one which begins at 0 is the same for all steps. */
bool tt_control_is_jump(const struct tt_step_result *before, const struct tt_step_result *now)
{
    double h1 = before->target - before->from, h2 = now->target - now->from;
    if (!before->converged || !now->converged || !(before->size > MOST_NOISE) || !(now->size > MOST_NOISE) ||
        h2 > h1 / 2)
        return false;
    bool same = before->driver == now->driver;
    double fall = same ? before->difference / now->difference : before->size / now->size;
    return log(fall) < 0.5 * log(h1 / h2);
}

/* A small error that does not decrease while the step becomes much shorter: the solvers inside the units are no more
 * accurate, and shorter steps do not help. */
static bool error_is_noise(const struct tt_step_result *first, const struct tt_step_result *now)
{
    double h1 = first->target - first->from, h2 = now->target - now->from;
    return now->converged && first->error > 1 && now->error < MOST_NOISE && h2 <= h1 / 8 &&
           now->error > first->error / 2;
}

/* Per unit of time, noise of any size is too much for short steps. Measured noise, scaled to the order of the method,
 * decreases once if a step is much shorter than the previous ones; so the first measurement does not count. Errors of
 * smooth signals at least decrease with the step, also from one macro step to the next; otherwise the step would not
 * have to become shorter. (After a bend of a table they do not at once.) */
static bool error_is_noise_per_time(struct tt_sim *master, const struct tt_step_result *now)
{
    struct tt_error_model *learned = &master->memory.learned;
    double h = now->target - now->from, before = learned->noise_h;
    if (!now->converged || !(now->seen < MOST_NOISE_PER_TIME) || tt_extrapolation_begins(&master->extrapolation) ||
        (master->chosen.is &
         TUTTI_METHOD_LATE)) /* then outputs jump where the step changes, by as much as the step was before */
        return false;

    /* Predictions from here may look back over a point where signals have bent. */
    const struct tt_signal_history *history = &master->extrapolation.history;
    if (history->points > 0 && history->times[history->points - 1] < learned->bent_at) {
        learned->noise_h = 0;
        return false;
    }
    if (before > 0 && h <= before / 8 && now->seen > learned->noise_seen * pow(h / before, 0.6)) {
        learned->noise = fmax(learned->noise, now->seen);
        return true;
    }
    if (!(before > 0) || h <= before / 8 || h > before) {
        learned->noise_h = h;
        learned->noise_seen = now->seen;
    }
    return false;
}

/* A step of this size was accepted: forgets estimates of shorter steps. */
static void discard_noise_estimates(struct tt_sim *master, double h)
{
    master->memory.learned.noise *= 0.9;
    master->memory.learned.gauge_due -= master->memory.learned.gauge_due > 0;
    if (h > 10 * master->memory.stepper.h_min)
        master->memory.learned.least -= master->memory.learned.least > 0;
    if (h >= master->memory.learned.noise_h)
        master->memory.learned.noise_h = 0;
}

enum tt_verdict tt_control_check_noise(struct tt_sim *master, const struct tt_step_result *result,
                                       const struct tt_step_result *first, enum tt_verdict verdict, bool *restart)
{
    struct tt_step_history *memory = &master->memory;
    if (verdict == TUTTI_ACCEPT)
        discard_noise_estimates(master, result->target - result->from);
    if (verdict != TUTTI_REJECT)
        return verdict;
    if (master->norm.per_time && error_is_noise_per_time(master, result)) {
        tt_step_size_multiply(&memory->stepper, memory->learned.noise_h,
                              1); /* the noise was at most that of this size */
        memory->learned.noise_h = 0;
        *restart = true;
        return TUTTI_FORCE;
    }
    if (!master->norm.per_time && error_is_noise(first, result)) {
        memory->stepper.h = first->target - first->from;
        return TUTTI_FORCE;
    }
    return verdict;
}
