/* SPDX-License-Identifier: MIT */
#include "master/scale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "master/agree.h"
#include "master/loop.h"
#include "master/macro.h"

static const double LEAST_RANGE = 0.01; /* as a part of the size */
static const double EARLY = 0.01;       /* as a part of the run */

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

enum tutti_err tutti_scale_open(struct run *run)
{
    struct tutti_scale *scale = &run->master.scale;
    double **const vectors[] = {&scale->low, &scale->high, &scale->step, &scale->sum};
    uint32_t count = run->master.outputs.count;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        *vectors[i] = tutti_arena_array(&run->arena, count, sizeof(double));
        if (!*vectors[i])
            return tutti_fail_memory();
    }
    scale->direct = tutti_arena_array(&run->arena, count, sizeof *scale->direct);
    if (!scale->direct)
        return tutti_fail_memory();
    for (uint32_t i = 0; i < count; i++) {
        struct tutti_end end = tutti_outputs_end(run, i);
        const struct tutti_desc *desc = run->system->components[end.component].fmu->desc;
        scale->direct[i] = is_direct(desc, end.variable) && shows_states(desc);
        scale->low[i] = INFINITY;
        scale->high[i] = -INFINITY;
    }
    return TUTTI_OK;
}

void tutti_scale_see(struct run *run, const double *values)
{
    struct tutti_scale *scale = &run->master.scale;
    for (uint32_t i = 0; i < run->master.outputs.count; i++) {
        scale->low[i] = fmin(scale->low[i], values[i]);
        scale->high[i] = fmax(scale->high[i], values[i]);
    }
}

bool tutti_scale_is_early(const struct run *run)
{
    return run->t - run->times.start < EARLY * run->span;
}

double tutti_scale_of(const struct run *run, uint32_t output, double now, double speed)
{
    const struct tutti_scale *scale = &run->master.scale;
    double low = fmin(scale->low[output], now), high = fmax(scale->high[output], now), range = high - low;
    if (tutti_scale_is_early(run))
        range = fmax(range, fabs(speed) * EARLY * run->span);
    return fmax(range, LEAST_RANGE * fmax(fabs(low), fabs(high)));
}

void tutti_scale_add(struct run *run)
{
    struct tutti_scale *scale = &run->master.scale;
    for (uint32_t i = 0; i < run->master.outputs.count; i++)
        scale->sum[i] = scale->direct[i] ? fmax(scale->sum[i], fabs(scale->step[i]))
                                         : scale->sum[i] + fabs(scale->step[i]);
}

enum tutti_err tutti_scale_keep(const struct run *run, double **kept)
{
    const struct tutti_scale *scale = &run->master.scale;
    size_t count = run->master.outputs.count;
    if (!scale->sum)
        return TUTTI_OK;
    if (!*kept)
        *kept = calloc(3 * count + 1, sizeof **kept);
    if (!*kept)
        return tutti_fail_memory();
    memcpy(*kept, scale->low, count * sizeof **kept);
    memcpy(*kept + count, scale->high, count * sizeof **kept);
    memcpy(*kept + 2 * count, scale->sum, count * sizeof **kept);
    return TUTTI_OK;
}

void tutti_scale_bring_back(struct run *run, const double *kept)
{
    struct tutti_scale *scale = &run->master.scale;
    size_t count = run->master.outputs.count;
    if (!kept)
        return;
    memcpy(scale->low, kept, count * sizeof *kept);
    memcpy(scale->high, kept + count, count * sizeof *kept);
    memcpy(scale->sum, kept + 2 * count, count * sizeof *kept);
}

enum tutti_err tutti_scale_estimate(struct run *run)
{
    const struct tutti_scale *scale = &run->master.scale;
    uint32_t driver;
    char name[256];
    if (!run->master.per_time || run->stats->steps == 0)
        return TUTTI_OK;
    TRY(tutti_attempt_norm(run, scale->sum, scale->high, INFINITY, TUTTI_NORM_SMOOTH, &run->stats->estimated_error,
                           &driver));
    if (driver == TUTTI_NONE)
        return TUTTI_OK;
    struct tutti_end end = tutti_outputs_end(run, driver);
    run->stats->estimated_size = tutti_run_owns(run, end.component) ? scale->sum[driver] : 0;
    TRY(tutti_reduce(run, TUTTI_REDUCE_MAX, &run->stats->estimated_size, 1));
    tutti_system_name(run->system, &end, name, sizeof name);
    run->stats->estimated_in = tutti_str_copy(name);
    return run->stats->estimated_in ? TUTTI_OK : tutti_fail_memory();
}
