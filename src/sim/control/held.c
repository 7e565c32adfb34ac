/* SPDX-License-Identifier: MIT */
/* Inputs that are held in a step although the signals move: components get their mean (coupled_inputs.h), which is right for what they do
 * linearly. What they do otherwise errs, over a step of size h in which the input moves by d, by
 *     h / 24 f_uu d^2
 * (the error of the midpoint rule, Hairer, Norsett, Wanner: Solving ODEs I, II.1), and no output needs to show it: a threshold, a
 * saturation or a meter may hide it for as long as it likes. So it counts by what can be seen, the signal, as if the second derivative
 * f_uu were that of u^2 / s with the range s of the input. With --extrapolate 0 they get the value of the beginning, whose distance from
 * the mean is d / 2: that counts, with f_u = 1 / T for a run of length T. */
#include <math.h>

#include "sim/control/attempt.h"
#include "sim/coupling/coupling.h"
#include "sim/start/signal_links.h"

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
    if (!master->chosen.per_time || !holds || !tt_system_is_coupled(rank->job->system))
        return TUTTI_OK;
    struct held_marker marker = {rank, master->extrapolation.order,
                                 tt_arena_array(&rank->arena, master->outputs.count, sizeof *marker.held)};
    if (!marker.held)
        return tt_fail_memory();
    tt_linear_model_each_link(rank, flag_held_output, &marker);
    master->held = marker.held;
    return TUTTI_OK;
}

enum tutti_err tt_control_add_held_error(struct tt_sim *master, struct tt_attempt *attempt, const double *now)
{
    const struct tt_norm *norm = &master->norm;
    double *part = master->compared.difference, h = attempt->target - attempt->from;
    uint32_t reals = master->rank->wires.real_count;
    bool late = master->extrapolation.order == 0;
    if (!master->held || !norm->per_time || tt_control_attempt_is_over(attempt))
        return TUTTI_OK;
    for (uint32_t i = 0; i < master->outputs.count; i++) {
        double move = i < reals && master->held[i] ? now[i] - norm->before[i] : 0;
        double size = move == 0 ? 0 : tt_norm_output_scale(&norm->scale, i, now[i], move, h);
        double mean = late ? fabs(move) / 2 : size > 0 ? move * move / (12 * size) : 0;
        part[i] = h / master->rank->span * mean;
    }
    return tt_control_count_error(master, attempt, part, now);
}
