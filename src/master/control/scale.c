/* SPDX-License-Identifier: MIT */
#include "master/control/scale.h"

#include <math.h>

static const double LEAST_RANGE = 0.01; /* as a part of the size */
static const double EARLY = 0.01;       /* as a part of the run */
static const double BEGINS =
    2; /* an output begins to move if its range so far is at most this factor times its change in a step */

static bool is_direct(const struct tutti_desc *desc, uint32_t variable)
{
    for (uint32_t i = 0; i < desc->outputs.count; i++)
        if (desc->outputs.items[i].variable == variable)
            return tutti_outputs_follow_inputs(desc, &desc->outputs.items[i]);
    return false;
}

/* Is there a continuous output that follows no input? */
static bool shows_states(const struct tutti_desc *desc)
{
    for (uint32_t i = 0; i < desc->outputs.count; i++) {
        const struct tutti_unknown *output = &desc->outputs.items[i];
        const struct tutti_var *var = &desc->vars[output->variable];
        if (var->type == TUTTI_TYPE_FLOAT64 && var->variability == TUTTI_CONTINUOUS && output->has_dependencies &&
            !tutti_outputs_follow_inputs(desc, output))
            return true;
    }
    return false;
}

enum tutti_err tutti_scale_open(struct tutti_scale *scale, const struct tutti_outputs *outputs)
{
    struct tutti_rank *rank = outputs->rank;
    double **const vectors[] = {&scale->low, &scale->high, &scale->step, &scale->sum};
    uint32_t count = outputs->count;
    scale->outputs = outputs;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        *vectors[i] = tutti_arena_array(&rank->arena, count, sizeof(double));
        if (!*vectors[i])
            return tutti_fail_memory();
    }
    scale->direct = tutti_arena_array(&rank->arena, count, sizeof *scale->direct);
    if (!scale->direct)
        return tutti_fail_memory();
    for (uint32_t i = 0; i < count; i++) {
        struct tutti_end end = tutti_outputs_end(outputs, i);
        const struct tutti_desc *desc = rank->job->system->components[end.component].fmu->desc;
        scale->direct[i] = is_direct(desc, end.variable) && shows_states(desc);
        scale->low[i] = INFINITY;
        scale->high[i] = -INFINITY;
    }
    return TUTTI_OK;
}

void tutti_scale_see(struct tutti_scale *scale, const double *values)
{
    for (uint32_t i = 0; i < scale->outputs->count; i++) {
        scale->low[i] = fmin(scale->low[i], values[i]);
        scale->high[i] = fmax(scale->high[i], values[i]);
    }
}

bool tutti_scale_is_early(const struct tutti_scale *scale)
{
    const struct tutti_rank *rank = scale->outputs->rank;
    return rank->t - rank->times.start < EARLY * rank->span;
}

double tutti_scale_of(const struct tutti_scale *scale, uint32_t output, double now, double move, double h)
{
    const struct tutti_rank *rank = scale->outputs->rank;
    double low = fmin(scale->low[output], now), high = fmax(scale->high[output], now), range = high - low;
    bool begins = !(scale->high[output] - scale->low[output] > BEGINS * fabs(move));
    if (tutti_scale_is_early(scale) || begins)
        range = fmax(range, fabs(move) / h * EARLY * rank->span);
    return fmax(range, LEAST_RANGE * fmax(fabs(low), fabs(high)));
}

void tutti_scale_add(struct tutti_scale *scale)
{
    for (uint32_t i = 0; i < scale->outputs->count; i++)
        scale->sum[i] = scale->direct[i] ? fmax(scale->sum[i], fabs(scale->step[i]))
                                         : scale->sum[i] + fabs(scale->step[i]);
}

enum tutti_err tutti_scale_remember(struct tutti_scale *scale, struct tutti_remembered *remembered)
{
    if (!scale->sum)
        return TUTTI_OK;
    TRY(tutti_outputs_remember(scale->outputs, remembered, scale->low));
    TRY(tutti_outputs_remember(scale->outputs, remembered, scale->high));
    return tutti_outputs_remember(scale->outputs, remembered, scale->sum);
}
