/* SPDX-License-Identifier: MIT */
#include "sim/control/norm.h"

#include <float.h>
#include <math.h>

#include "base/text.h"
#include "sim/job/integration.h"
#include "sim/rank.h"

/* The part of a run's tolerance that each of the first steps may take. */
static const double BEGINNING = 0.002;
/* and per step, so that no accuracy is requested that rounding prevents */
static const double LEAST_PART = 1e-5;
/* and the part of it permitted for an output that does not accumulate errors */
static const double DIRECT = 0.1;
/* In the first steps, with inputs held, it follows them late; right at the start ranges are still small. */
static const double DIRECT_BEGINNING = 1, DIRECT_START = 10;
/* A signal is measured by this part of the largest one at least: what is smaller beside that may be noise of solvers. */
static const double LEAST_SIZE = 1e-4;
/* Values below this count as 0 in any unit of measure. */
static const double NOTHING = 1e-100;

static enum tutti_err describe_norm_outputs(struct tt_norm *norm)
{
    const struct tt_outputs *outputs = norm->outputs;
    struct tt_rank *rank = outputs->rank;
    norm->declared = tt_arena_array(&rank->arena, outputs->count, sizeof *norm->declared);
    norm->nominal = tt_arena_array(&rank->arena, outputs->count, sizeof *norm->nominal);
    norm->seen = tt_arena_array(&rank->arena, outputs->count, sizeof *norm->seen);
    if (!norm->declared || !norm->nominal || !norm->seen)
        return tt_fail_memory();
    for (uint32_t i = 0; i < outputs->count; i++) {
        struct tt_end end = tt_outputs_owner(outputs, i);
        const struct tt_var *var = &rank->job->system->components[end.component].fmu->desc->vars[end.variable];
        norm->nominal[i] = tt_wire_layout_nominal(var);
        norm->declared[i] = var->bounds && var->bounds->has_nominal;
    }
    return TUTTI_OK;
}

enum tutti_err tt_norm_open(struct tt_norm *norm, const struct tt_outputs *outputs,
                            const struct tt_extrapolation *extrapolation)
{
    struct tt_rank *rank = outputs->rank;
    norm->outputs = outputs;
    norm->extrapolation = extrapolation;
    norm->calibration = 1;
    norm->partial = tt_arena_array(&rank->arena, rank->job->system->component_count, 3 * sizeof *norm->partial);
    norm->before = tt_arena_array(&rank->arena, outputs->count, sizeof *norm->before);
    if (!norm->partial || !norm->before)
        return tt_fail_memory();
    TRY(describe_norm_outputs(norm));
    return norm->per_time ? tt_norm_open_scale(&norm->scale, outputs) : TUTTI_OK;
}

/* Returns true if this rank has the value of an output. */
static bool norm_is_known(const struct tt_norm *norm, uint32_t i)
{
    const struct tt_rank *rank = norm->outputs->rank;
    if (i < rank->wires.real_count && norm->knows_all)
        return true;
    return tt_rank_owns(rank, tt_outputs_owner(norm->outputs, i).component);
}

/* Ranks compare the largest signal in the steps 1, 2, 4, 8 ... only, which is often enough for its order of magnitude. */
enum tutti_err tt_norm_begin_step(struct tt_norm *norm)
{
    double largest = 0;
    if (norm->per_time)
        tt_norm_update_scale(&norm->scale, norm->before);
    for (uint32_t i = 0; i < norm->outputs->count; i++)
        if (norm_is_known(norm, i) && isfinite(norm->before[i]))
            norm->seen[i] = fmax(norm->seen[i], fabs(norm->before[i]));
    norm->begun++;
    if ((norm->begun & (norm->begun - 1)) != 0)
        return TUTTI_OK;
    for (uint32_t i = 0; i < norm->outputs->count; i++)
        largest = fmax(largest, norm->seen[i]);
    TRY(tt_rank_reduce(norm->outputs->rank, TUTTI_REDUCE_MAX, &largest, 1));
    norm->largest = largest;
    return TUTTI_OK;
}

double tt_norm_absolute_tolerance(const struct tt_norm *norm, uint32_t output, double size)
{
    double usual = norm->atol * norm->nominal[output];
    if (!norm->by_size || norm->declared[output] || norm->largest == 0)
        return usual;
    return fmin(usual, norm->rtol * fmax(fmax(size, LEAST_SIZE * norm->largest), NOTHING));
}

enum tutti_err tt_norm_register(struct tt_norm *norm, struct tt_rollback_list *remembered)
{
    TRY(tt_rollback_list_add(remembered, &norm->per_time, sizeof norm->per_time));
    TRY(tt_rollback_list_add(remembered, &norm->largest, sizeof norm->largest));
    TRY(tt_rollback_list_add(remembered, &norm->begun, sizeof norm->begun));
    if (norm->seen && norm->knows_all)
        TRY(tt_rollback_list_add(remembered, norm->seen, norm->outputs->rank->wires.real_count * sizeof *norm->seen));
    if (norm->seen)
        TRY(tt_outputs_register(norm->outputs, remembered, norm->seen));
    return tt_norm_register_scale(&norm->scale, remembered);
}

/* CALIBRATION is measured, by bench/bench_accuracy.py: with it errors fall at least with the power 0.9 of rtol. At CALIBRATED_AT
 * nothing changes; beyond LOOSEST a tolerance means little anyway. */
void tt_norm_calibrate(struct tt_norm *norm)
{
    static const double CALIBRATED_AT = TUTTI_DEFAULT_RTOL, CALIBRATION = 0.12, LOOSEST = 1e-2;
    norm->calibration = pow(fmin(norm->rtol, LOOSEST) / CALIBRATED_AT, CALIBRATION);
}

double tt_norm_step_share(const struct tt_norm *norm, double h)
{
    double least = tt_extrapolation_begins(norm->extrapolation) ? BEGINNING : LEAST_PART;
    return norm->calibration * fmax(h / norm->outputs->rank->span, least);
}

struct norm_weighing {
    enum tt_weighed what;
    uint32_t driver;
    double worst;
    double h;    /* the step */
    double part; /* of the tolerance that the step may take */
};

static double direct_output_share(const struct tt_norm *norm)
{
    double part = DIRECT;
    if (tt_extrapolation_begins(norm->extrapolation))
        part = tt_norm_scale_is_early(&norm->scale) ? DIRECT_START : DIRECT_BEGINNING;
    return norm->calibration * part;
}

static double norm_weigh(const struct tt_norm *norm, uint32_t i, const double *difference, const double *now,
                         struct norm_weighing *weighing)
{
    double size = fmax(fabs(now[i]), fabs(norm->before[i])), known = fmax(size, norm->seen[i]);
    if (norm->per_time)
        size = known = tt_norm_output_scale(&norm->scale, i, now[i], now[i] - norm->before[i], weighing->h);

    /* Differences below the last bits of a Float32 are ignored. */
    const struct tt_wires *wires = &norm->outputs->rank->wires;
    bool narrow = i < wires->real_count && wires->reals[i].narrow;
    double rtol = narrow ? fmax(norm->rtol, 2 * (double)FLT_EPSILON) : norm->rtol;
    double tolerance = rtol * size + tt_norm_absolute_tolerance(norm, i, known);
    double e = difference[i] == 0 ? 0 : fabs(difference[i] / tolerance);
    if (norm->per_time && norm->scale.direct[i])
        e *= fmin(weighing->part / direct_output_share(norm), 1);
    e = isnan(e) ? INFINITY : e;
    if (e > weighing->worst) {
        weighing->worst = e;
        weighing->driver = i;
    }
    return e * e;
}

static double norm_add_unit(const struct tt_norm *norm, uint32_t component, const double *difference, const double *now,
                            struct norm_weighing *weighing)
{
    const struct tt_rank *rank = norm->outputs->rank;
    const struct tt_wires *wires = &rank->wires;
    const struct tt_outputs *outputs = norm->outputs;
    double sum = 0;
    for (uint32_t i = wires->real_first[component]; i < wires->real_first[component + 1]; i++)
        if (weighing->what != TUTTI_WEIGH_SMOOTH || wires->reals[i].smooth)
            sum += norm_weigh(norm, i, difference, now, weighing);
    if (weighing->what == TUTTI_WEIGH_CONNECTED || !outputs->unread_first)
        return sum;
    for (uint32_t u = outputs->unread_first[component]; u < outputs->unread_first[component + 1]; u++)
        sum += norm_weigh(norm, wires->real_count + u, difference, now, weighing);
    return sum;
}

/* So many values are weighed, of all ranks. */
static uint32_t count_weighed(const struct tt_norm *norm, enum tt_weighed what)
{
    const struct tt_rank *rank = norm->outputs->rank;
    const struct tt_wires *wires = &rank->wires;
    uint32_t count = what == TUTTI_WEIGH_CONNECTED ? 0 : norm->outputs->count - wires->real_count;
    for (uint32_t i = 0; i < wires->real_count; i++)
        count += what != TUTTI_WEIGH_SMOOTH || wires->reals[i].smooth;
    return count;
}

/* The same bits wherever units are: a sum per unit, made by its rank, then the sum of these in the order of units. */
enum tutti_err tt_norm_compute(const struct tt_norm *norm, const double *difference, const double *now, double h,
                               enum tt_weighed what, double *value, uint32_t *driver)
{
    struct tt_rank *rank = norm->outputs->rank;
    uint32_t components = rank->job->system->component_count, count = count_weighed(norm, what);
    double *partial = norm->partial, *worst = partial + components, *who = worst + components;
    double sum = 0, most = 0, part = tt_norm_step_share(norm, h);
    for (uint32_t c = 0; c < components; c++) {
        struct norm_weighing weighing = {.what = what, .driver = TUTTI_NONE, .h = h, .part = part};
        partial[c] = tt_rank_owns(rank, c) ? norm_add_unit(norm, c, difference, now, &weighing) : 0;
        worst[c] = weighing.worst;
        who[c] = weighing.driver == TUTTI_NONE ? -1 : (double)weighing.driver;
    }
    TRY(tt_rank_reduce(rank, TUTTI_REDUCE_MAX, partial, (size_t)3 * components));
    *driver = TUTTI_NONE;
    for (uint32_t c = 0; c < components; c++) {
        sum += partial[c];
        if (worst[c] > most) {
            most = worst[c];
            *driver = (uint32_t)who[c];
        }
    }
    /* Of many outputs each is to be right: a mean hides the one that is not. */
    *value = norm->per_time ? most : count ? sqrt(sum / count) : 0;
    return TUTTI_OK;
}

/* An error larger than this factor times rtol times the range of a signal is reported. */
static const double BLIND = 10;

/* How much more than that an output may be off by, as far as is known, because its tolerance is not relative to its range: a declared
 * nominal value is much larger, or so is its distance from 0. 0: it is not. */
static double output_blindness(const struct tt_norm *norm, uint32_t i)
{
    const struct tt_scale *scale = &norm->scale;
    const struct tt_wires *wires = &norm->outputs->rank->wires;
    double range = scale->high[i] - scale->low[i], size = fmax(fabs(scale->low[i]), fabs(scale->high[i]));
    double wanted = BLIND * norm->rtol * range;
    double tolerance = norm->rtol * tt_norm_output_scale(scale, i, scale->high[i], 0, INFINITY);
    if ((i < wires->real_count && !wires->reals[i].smooth) || !(range > norm->rtol * size) ||
        !tt_rank_owns(norm->outputs->rank, tt_outputs_owner(norm->outputs, i).component))
        return 0;
    tolerance += tt_norm_absolute_tolerance(norm, i, range);
    return tolerance > wanted && scale->sum[i] > wanted ? scale->sum[i] / wanted : 0;
}

/* The signal that is controlled worst. Collective. */
static enum tutti_err warn_loose_tolerance(const struct tt_norm *norm)
{
    struct tt_rank *rank = norm->outputs->rank;
    double worst = 0, own, component = INFINITY;
    uint32_t output = 0;
    char name[256];
    for (uint32_t i = 0; i < norm->outputs->count && norm->by_size; i++)
        if (output_blindness(norm, i) > worst) {
            worst = output_blindness(norm, i);
            output = i;
        }
    own = worst;
    TRY(tt_rank_reduce(rank, TUTTI_REDUCE_MAX, &worst, 1));
    if (worst == 0)
        return TUTTI_OK;
    struct tt_end end = tt_outputs_owner(norm->outputs, output);
    if (own == worst)
        component = end.component;
    TRY(tt_rank_reduce(rank, TUTTI_REDUCE_MIN, &component, 1));
    if (own != worst || component != end.component)
        return TUTTI_OK;
    double range = norm->scale.high[output] - norm->scale.low[output];
    tt_log_unfiltered(
        rank->unit_log, TUTTI_LOG_WARNING, NULL,
        "'%s' moves over a range of %.2g, and may be off by %.2g, which is %.2g times --rtol of it: its tolerance is "
        "for its %s (%.2g); use a smaller --rtol, or --atol",
        tt_system_name(rank->job->system, &end, name, sizeof name), range, norm->scale.sum[output],
        norm->scale.sum[output] / range / norm->rtol, norm->declared[output] ? "nominal value" : "size",
        norm->declared[output] ? norm->nominal[output] : norm->seen[output]);
    return TUTTI_OK;
}

enum tutti_err tt_norm_estimate_run(const struct tt_norm *norm)
{
    const struct tt_scale *scale = &norm->scale;
    struct tt_rank *rank = norm->outputs ? norm->outputs->rank : NULL;
    uint32_t driver;
    char name[256];
    if (!rank || !norm->per_time || rank->stats->steps == 0)
        return TUTTI_OK;
    TRY(tt_norm_compute(norm, scale->sum, scale->high, INFINITY, TUTTI_WEIGH_SMOOTH, &rank->stats->estimated_error,
                        &driver));
    TRY(warn_loose_tolerance(norm));
    if (driver == TUTTI_NONE)
        return TUTTI_OK;
    struct tt_end end = tt_outputs_owner(norm->outputs, driver);
    rank->stats->estimated_size = tt_rank_owns(rank, end.component) ? scale->sum[driver] : 0;
    TRY(tt_rank_reduce(rank, TUTTI_REDUCE_MAX, &rank->stats->estimated_size, 1));
    tt_system_name(rank->job->system, &end, name, sizeof name);
    rank->stats->estimated_in = tt_text_copy(name);
    return rank->stats->estimated_in ? TUTTI_OK : tt_fail_memory();
}

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

/* Returns true if a continuous output does not depend on inputs directly. */
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
