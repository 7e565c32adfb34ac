/* SPDX-License-Identifier: MIT */
#include "sim/control/scale.h"

#include <math.h>

static const double LEAST_RANGE = 0.01; /* as a part of the size */
static const double EARLY = 0.01;       /* as a part of the run */
static const double BEGINS =
    2; /* an output begins to move if its range so far is at most this factor times its change in a step */

static bool output_is_direct(const struct tt_description *desc, uint32_t variable)
{
    for (uint32_t i = 0; i < desc->outputs.count; i++)
        if (desc->outputs.items[i].variable == variable)
            return tt_outputs_follow_inputs(desc, &desc->outputs.items[i]);
    return false;
}

/* Is there a continuous output that follows no input? */
static bool outputs_show_states(const struct tt_description *desc)
{
    for (uint32_t i = 0; i < desc->outputs.count; i++) {
        const struct tt_unknown *output = &desc->outputs.items[i];
        const struct tt_var *var = &desc->vars[output->variable];
        if (var->type == TUTTI_TYPE_FLOAT64 && var->variability == TUTTI_CONTINUOUS && output->has_dependencies &&
            !tt_outputs_follow_inputs(desc, output))
            return true;
    }
    return false;
}

enum tutti_err tt_norm_open_scale(struct tt_scale *scale, const struct tt_outputs *outputs)
{
    struct tt_rank *rank = outputs->rank;
    double **const vectors[] = {&scale->low, &scale->high, &scale->step, &scale->sum};
    uint32_t count = outputs->count;
    scale->outputs = outputs;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        *vectors[i] = tt_arena_array(&rank->arena, count, sizeof(double));
        if (!*vectors[i])
            return tt_fail_memory();
    }
    scale->direct = tt_arena_array(&rank->arena, count, sizeof *scale->direct);
    if (!scale->direct)
        return tt_fail_memory();
    for (uint32_t i = 0; i < count; i++) {
        struct tt_end end = tt_outputs_owner(outputs, i);
        const struct tt_description *desc = rank->job->system->components[end.component].fmu->desc;
        scale->direct[i] = output_is_direct(desc, end.variable) && outputs_show_states(desc);
        scale->low[i] = INFINITY;
        scale->high[i] = -INFINITY;
    }
    return TUTTI_OK;
}

void tt_norm_update_scale(struct tt_scale *scale, const double *values)
{
    for (uint32_t i = 0; i < scale->outputs->count; i++) {
        scale->low[i] = fmin(scale->low[i], values[i]);
        scale->high[i] = fmax(scale->high[i], values[i]);
    }
}

bool tt_norm_scale_is_early(const struct tt_scale *scale)
{
    const struct tt_rank *rank = scale->outputs->rank;
    return rank->t - rank->times.start < EARLY * rank->span;
}

double tt_norm_output_scale(const struct tt_scale *scale, uint32_t output, double now, double move, double h)
{
    const struct tt_rank *rank = scale->outputs->rank;
    double low = fmin(scale->low[output], now), high = fmax(scale->high[output], now), range = high - low;
    bool begins = !(scale->high[output] - scale->low[output] > BEGINS * fabs(move));
    if (tt_norm_scale_is_early(scale) || begins)
        range = fmax(range, fabs(move) / h * EARLY * rank->span);
    return fmax(range, LEAST_RANGE * fmax(fabs(low), fabs(high)));
}

void tt_norm_accept_scale(struct tt_scale *scale)
{
    for (uint32_t i = 0; i < scale->outputs->count; i++)
        scale->sum[i] = scale->direct[i] ? fmax(scale->sum[i], fabs(scale->step[i]))
                                         : scale->sum[i] + fabs(scale->step[i]);
}

enum tutti_err tt_norm_register_scale(struct tt_scale *scale, struct tt_rollback_list *remembered)
{
    if (!scale->sum)
        return TUTTI_OK;
    TRY(tt_outputs_register(scale->outputs, remembered, scale->low));
    TRY(tt_outputs_register(scale->outputs, remembered, scale->high));
    return tt_outputs_register(scale->outputs, remembered, scale->sum);
}
