/* SPDX-License-Identifier: MIT */
#include "sim/control/error_estimate.h"

#include <math.h>

#include "base/number.h"
#include "base/text.h"
#include "sim/choose.h"
#include "sim/control/control.h"
#include "sim/coupling/coupling.h"
#include "sim/rank.h"

enum { FIRST_LOOK = 1024, LOOK = 128, PAUSE = 1920, EARLY = 32 }; /* steps */
static const double GROWN = 1000, SIZEABLE = 0.3;
static const double LEAST_RANGE = 0.01; /* as a part of the size, as in norm.c */

static bool error_estimate_applies(const struct tt_sim *master)
{
    const struct tt_method *chosen = &master->chosen;
    return (chosen->is & TUTTI_METHOD_GENERAL) && tt_system_is_coupled(master->rank->job->system) &&
           !chosen->control->varies && !chosen->coupling->joins && !chosen->coupling->federates;
}

static double error_estimate_value(const struct tt_rank *rank, uint32_t real)
{
    return ((const double *)(const void *)rank->wires.signals)[rank->wires.reals[real].place];
}

enum tutti_err tt_error_estimate_open(struct tt_error_estimate *foretold, struct tt_sim *master)
{
    struct tt_rank *rank = master->rank;
    if (!error_estimate_applies(master) || rank->wires.real_count == 0)
        return TUTTI_OK;
    foretold->items = tt_arena_array(&rank->arena, rank->wires.real_count, sizeof *foretold->items);
    if (!foretold->items)
        return tt_fail_memory();
    foretold->estimates = true;
    foretold->degree = tt_control_full_order(master) >= 2 ? 2 : 1;
    foretold->now.left = FIRST_LOOK;
    foretold->now.weight = 1;
    for (uint32_t i = 0; i < rank->wires.real_count; i++)
        if (rank->wires.reals[i].smooth && tt_rank_owns(rank, rank->wires.reals[i].component))
            foretold->items[foretold->now.count++] =
                (struct tt_estimated_signal){.real = i, .low = INFINITY, .high = -INFINITY};

    /* The values here are the first point. */
    foretold->now.t = rank->t;
    foretold->now.events = rank->own_events;
    for (uint32_t i = 0; i < foretold->now.count; i++)
        foretold->items[i].before[0] = error_estimate_value(rank, foretold->items[i].real);
    foretold->now.points = 1;
    return TUTTI_OK;
}

enum tutti_err tt_error_estimate_register(struct tt_error_estimate *foretold, struct tt_rollback_list *remembered)
{
    TRY(tt_rollback_list_add_of(remembered, TUTTI_OF_RANK, &foretold->now, sizeof foretold->now));
    return tt_rollback_list_add_of(remembered, TUTTI_OF_RANK, foretold->items,
                                   foretold->now.count * sizeof *foretold->items);
}

/* The maximum error of a step, with equidistant points: 1/2 y'' h^2 for held inputs, 5/12 y''' h^3 for lines, by
 * differences (extrapolation.c, scale_of). */
static double error_estimate_step_error(const struct tt_error_estimate *foretold,
                                        const struct tt_estimated_signal *signal, double now)
{
    const double *y = signal->before;
    return foretold->degree == 1 ? fabs(now - 2 * y[0] + y[1]) / 2 : 5 * fabs(now - 3 * y[0] + 3 * y[1] - y[2]) / 12;
}

void tt_error_estimate_update(struct tt_error_estimate *foretold, const struct tt_rank *rank)
{
    struct tt_error_estimate_state *now = &foretold->now;
    double h = rank->t - now->t;
    bool jumped = rank->own_events != now->events;
    if (jumped || !(fabs(h - now->h) <= 1e-6 * h))
        now->points = jumped ? 0 : now->points > 1 ? 1 : now->points;
    double weight = now->points > foretold->degree ? now->weight : 0;
    for (uint32_t i = 0; i < now->count; i++) {
        struct tt_estimated_signal *signal = &foretold->items[i];
        double value = error_estimate_value(rank, signal->real);
        signal->sum += weight > 0 ? weight * error_estimate_step_error(foretold, signal, value) : 0;
        signal->low = fmin(signal->low, value);
        signal->high = fmax(signal->high, value);
        if (signal->early == 0 && now->left <= FIRST_LOOK - EARLY)
            signal->early = signal->high - signal->low;
        signal->before[2] = signal->before[1];
        signal->before[1] = signal->before[0];
        signal->before[0] = value;
    }
    now->points += now->points < 3;
    now->t = rank->t;
    now->h = h;
    now->events = rank->own_events;
    if (--now->left > 0)
        return;
    now->left = LOOK;
    now->pause = PAUSE;
    now->weight = (double)(LOOK + PAUSE) / LOOK;
    now->points = 0;
}

/* The error of a signal as a multiple of the tolerance. */
static double error_estimate_error_share(const struct tt_estimated_signal *signal, const struct tt_norm *norm)
{
    double range = signal->high - signal->low, size = fmax(fabs(signal->low), fabs(signal->high));
    double tolerance = norm->rtol * fmax(range, LEAST_RANGE * size);
    return signal->sum > 0 && tolerance > 0 ? signal->sum / (tolerance + fmin(tolerance, norm->atol)) : 0;
}

/* Fixed steps that the user chose are not judged by a tolerance. But a signal whose range has become a thousand times as large, with an error of a
 * sizeable part of it, shows a coupling that is not stable, or steps that do not resolve an unstable system. */
static void warn_of_growth(const struct tt_sim *master, const struct tt_estimated_signal *signal, const char *name)
{
    const struct tt_rank *rank = master->rank;
    double range = signal->high - signal->low;
    if (!(signal->early > 0) || range < GROWN * signal->early || signal->sum < SIZEABLE * range)
        return;
    tt_log_unfiltered(
        rank->unit_log, TUTTI_LOG_WARNING, NULL,
        "'%s' has grown to %.2g, %.2g times what it was at first, and its error may be %.2g: the coupling is "
        "not stable with steps of %s, or does not resolve a system that is not stable, and the result cannot be "
        "trusted; use a smaller --step, another --coupling, --correct or error control (--rtol)",
        name, range, range / signal->early, signal->sum, NUMBER(rank->times.step));
}

static void error_estimate_warn(const struct tt_sim *master, const char *name)
{
    const struct tt_rank *rank = master->rank;
    const struct tutti_run_options *options = &rank->job->options;
    const struct tt_component_traits *blame = master->chosen.fixed_by;
    bool may_fork = blame && !(blame->is & TUTTI_TRAIT_ROLLBACK) && !(rank->expected.is & TUTTI_METHOD_FORKS);
    if (!blame || options->has_step || rank->stats->estimated_error <= 1 || rank->fabric->rank > 0)
        return;
    tt_log_unfiltered(rank->unit_log, TUTTI_LOG_WARNING, NULL,
                      "the error of the coupling may be %.2g times the tolerance (%s) in '%s' (%.2g), and is not "
                      "controlled: '%s' %s, so all "
                      "steps are of %s; use %sa smaller --step (half of it should give the same result)",
                      rank->stats->estimated_error, NUMBER(master->norm.rtol), name, rank->stats->estimated_size,
                      blame->name, master->chosen.fixed_because, NUMBER(rank->times.step),
                      may_fork ? "--rollback fork, " : tt_choose_suggest_rollback(blame));
}

static enum tutti_err report_estimated_error(const struct tt_error_estimate *foretold, struct tt_sim *master,
                                             bool exploded)
{
    struct tt_rank *rank = master->rank;
    uint32_t count = rank->wires.real_count, worst = 0;
    char name[256];
    if (!foretold->estimates || rank->stats->steps == 0)
        return TUTTI_OK;
    double *shares = tt_arena_array(&rank->arena, count, 2 * sizeof *shares);
    if (!shares)
        return tt_fail_memory();
    double *errors = shares + count;
    for (uint32_t i = 0; i < foretold->now.count; i++) {
        shares[foretold->items[i].real] = error_estimate_error_share(&foretold->items[i], &master->norm);
        errors[foretold->items[i].real] = foretold->items[i].sum;
    }
    TRY(tt_rank_reduce(rank, TUTTI_REDUCE_MAX, shares, 2 * (size_t)count));
    for (uint32_t i = 0; i < count; i++)
        worst = shares[i] > shares[worst] ? i : worst;
    const struct tt_structure_node *node = &rank->job->structure.nodes[rank->wires.reals[worst].node];
    struct tt_end end = {.component = node->component, .variable = node->variable};
    rank->stats->estimated_error = shares[worst];
    rank->stats->estimated_size = errors[worst];
    rank->stats->estimated_in = tt_text_copy(tt_system_name(rank->job->system, &end, name, sizeof name));
    error_estimate_warn(master, name);
    for (uint32_t i = 0; i < foretold->now.count && !exploded; i++)
        if (foretold->items[i].real == worst)
            warn_of_growth(master, &foretold->items[i], name);
    return rank->stats->estimated_in ? TUTTI_OK : tt_fail_memory();
}

enum tutti_err tt_error_estimate_report(const struct tt_error_estimate *foretold, struct tt_sim *master, bool exploded)
{
    const struct tt_rank *rank = master->rank;
    if (rank->fabric->ranks > 1 && rank->t < rank->times.stop) /* ended, which not all ranks may know yet */
        return TUTTI_OK;
    enum tutti_err err = report_estimated_error(foretold, master, exploded);
    return err == TUTTI_ERR_STOPPED ? TUTTI_OK : err;
}
