/* SPDX-License-Identifier: MIT */
/* Waveform relaxation (Awais 2015 section 5.2, Nicolai 2019 section 3.2): the macro step is repeated with the units'
 * outputs at its end until these converge. Inputs move on a line between both ends of the step, so that iterating makes
 * the method of order 2; or on a cubic (coupled_inputs.h), which makes it one of order 4.
 *
 * Cycle by cycle (model/plan/step_order.h): units outside cycles of connections step once. The unknowns of a cycle are
 * the Float64 outputs of its units at the end, and for cubics their derivatives there, times the step: guess -> sweep
 * over the units -> image. A sweep is of the Jacobi or of the Gauss-Seidel sort. Discrete values are exchanged as in
 * the explicit method of that sort. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/coupling/accelerator.h"
#include "sim/coupling/coupling.h"
#include "base/options/options.h"
#include "model/plan/step_order.h"

struct relax_cycle {
    const struct tt_step_stage *stage;
    uint32_t *reals, n;    /* of its units: wires.reals */
    uint32_t *rates, size; /* per real: the place of its derivative in the vectors, TUTTI_NONE: it has none; of these */
    uint32_t *waves, wave_count; /* of the sequence that have units of it */
    struct tt_accelerator accelerator;
    double *guess, *image, *first, *weights; /* per real of it, then its derivatives */
    unsigned sweeps;                         /* of the step */
};

struct relaxation {
    const struct tt_step_rules *rules; /* of the step that is being made */
    bool seidel;                       /* sweeps */
    struct tt_step_stages stages;
    struct relax_cycle *cycles; /* one per cyclic stage, in their order */
    uint32_t cycle_count;
    struct tt_snapshot own;        /* where the step begins, if that is not the start of a macro step */
    double *begin, *work, *images; /* per real */
    unsigned long *before;         /* per member: do-steps before the sweep */
};

/* Awais 2015 section 5.5.2 weighs the largest component with "a small positive value". */
static const double LARGEST_WEIGHT = 0.01;

static uint32_t unit_of_stage(const struct relaxation *relax, const struct tt_step_stage *stage, uint32_t i)
{
    return relax->stages.components[stage->first + i];
}

static bool stage_contains(const struct relaxation *relax, const struct tt_step_stage *stage, uint32_t component)
{
    return &relax->stages.items[relax->stages.of[component]] == stage;
}

/* ---- opening ---- */

static enum tutti_err relax_list_reals(struct tt_rank *rank, const struct relaxation *relax, struct relax_cycle *cycle)
{
    const struct tt_wires *wires = &rank->wires;
    for (uint32_t i = 0; i < cycle->stage->count; i++) {
        uint32_t component = unit_of_stage(relax, cycle->stage, i);
        cycle->n += wires->real_first[component + 1] - wires->real_first[component];
    }
    cycle->reals = tt_arena_array(&rank->arena, cycle->n, sizeof *cycle->reals);
    cycle->rates = tt_arena_array(&rank->arena, cycle->n, sizeof *cycle->rates);
    if (!cycle->reals || !cycle->rates)
        return tt_fail_memory();
    uint32_t n = 0;
    for (uint32_t i = 0; i < cycle->stage->count; i++) {
        uint32_t component = unit_of_stage(relax, cycle->stage, i);
        for (uint32_t r = wires->real_first[component]; r < wires->real_first[component + 1]; r++)
            cycle->reals[n++] = r;
    }
    return TUTTI_OK;
}

static bool wave_has_units(const struct tt_step_sequence *sequence, uint32_t wave, const struct relaxation *relax,
                           const struct tt_step_stage *stage)
{
    for (uint32_t i = sequence->wave_first[wave]; i < sequence->wave_first[wave + 1]; i++)
        if (stage_contains(relax, stage, sequence->components[i]))
            return true;
    return false;
}

static enum tutti_err list_cycle_waves(struct tt_sim *master, const struct relaxation *relax, struct relax_cycle *cycle)
{
    const struct tt_step_sequence *sequence = &master->sequence;
    cycle->waves = tt_arena_array(&master->rank->arena, cycle->stage->count, sizeof *cycle->waves);
    if (!cycle->waves)
        return tt_fail_memory();
    for (uint32_t w = 0; w < sequence->wave_count; w++)
        if (wave_has_units(sequence, w, relax, cycle->stage))
            cycle->waves[cycle->wave_count++] = w;
    return TUTTI_OK;
}

static enum tutti_err open_relax_cycle(struct tt_sim *master, const struct relaxation *relax, struct relax_cycle *cycle)
{
    struct tt_rank *rank = master->rank;
    double **const vectors[] = {&cycle->guess, &cycle->image, &cycle->first, &cycle->weights};
    int kind;
    TRY(relax_list_reals(rank, relax, cycle));
    cycle->size = cycle->n;
    for (uint32_t k = 0; k < cycle->n; k++) {
        bool known = master->staging.cubic && tt_extrapolation_provides_rates(rank, cycle->reals[k]);
        cycle->rates[k] = known ? cycle->size++ : TUTTI_NONE;
    }
    if (relax->seidel)
        TRY(list_cycle_waves(master, relax, cycle));
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        *vectors[i] = tt_arena_array(&rank->arena, cycle->size, sizeof(double));
        if (!*vectors[i])
            return tt_fail_memory();
    }
    TRY(tt_options_choose("accelerate", rank->job->options.accelerate, &kind));
    if (master->chosen.is & TUTTI_METHOD_ACCELERATES)
        kind = TUTTI_ACCELERATE_ANDERSON;
    return tt_accelerator_init(&cycle->accelerator, (enum tt_acceleration)kind, cycle->size);
}

static enum tutti_err open_relax(struct tt_sim *master, void *self)
{
    struct tt_rank *rank = master->rank;
    struct relaxation *relax = self;
    const char *sweeps = rank->job->options.sweeps ? rank->job->options.sweeps : "seidel";
    double **const vectors[] = {&relax->begin, &relax->work, &relax->images};
    relax->seidel = strcmp(sweeps, "seidel") == 0;
    TRY(tt_step_order_init_stages(&relax->stages, &master->running));
    relax->cycles = tt_arena_array(&rank->arena, relax->stages.count, sizeof *relax->cycles);
    relax->before = tt_arena_array(&rank->arena, rank->member_count, sizeof *relax->before);
    if (!relax->cycles || !relax->before)
        return tt_fail_memory();
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        *vectors[i] = tt_arena_array(&rank->arena, rank->wires.real_count, sizeof(double));
        if (!*vectors[i])
            return tt_fail_memory();
    }
    for (uint32_t s = 0; s < relax->stages.count; s++)
        if (relax->stages.items[s].cyclic) {
            struct relax_cycle *cycle = &relax->cycles[relax->cycle_count++];
            cycle->stage = &relax->stages.items[s];
            TRY(open_relax_cycle(master, relax, cycle));
        }
    return TUTTI_OK;
}

static void close_relax(struct tt_sim *master, void *self)
{
    struct relaxation *relax = self;
    for (uint32_t c = 0; c < relax->cycle_count; c++)
        tt_accelerator_fini(&relax->cycles[c].accelerator);
    tt_step_order_fini_stages(&relax->stages);
    tt_snapshot_fini(&relax->own, master->rank);
}

/* ---- a sweep ---- */

/* Units that do not wait for each other; moving inputs come from the values at the start. */
static enum tutti_err relax_step_units(struct tt_sim *master, struct relaxation *relax, const uint32_t *components,
                                       uint32_t count, const struct tt_step_stage *stage, double target,
                                       struct tt_step_result *result)
{
    struct tt_rank *rank = master->rank;
    struct tt_coupled_inputs *staging = &master->staging;
    for (uint32_t i = 0; i < count; i++)
        if (tt_rank_owns(rank, components[i]) && stage_contains(relax, stage, components[i]))
            TRY(tt_coupled_inputs_gather(staging, staging->begin, &rank->members[components[i]], target));
    for (uint32_t i = 0; i < count; i++) {
        struct tt_member *member = &rank->members[components[i]];
        if (!tt_rank_owns(rank, components[i]) || !stage_contains(relax, stage, components[i]))
            continue;
        relax->before[components[i]] = member->unit->counts.do_steps;
        TRY(tt_component_step(rank, relax->rules, member, target, result));
    }
    return TUTTI_OK;
}

/* Reads the derivatives of outputs from units that have made their step. Values missing because a unit ended the step
 * are not needed: the step is rolled back. */
static enum tutti_err relax_get_derivatives(struct tt_sim *master, const struct relaxation *relax,
                                            const uint32_t *components, uint32_t count,
                                            const struct tt_step_stage *stage, const struct tt_step_result *result)
{
    for (uint32_t i = 0; i < count; i++)
        if (tt_rank_owns(master->rank, components[i]) && stage_contains(relax, stage, components[i]) &&
            result->end == TUTTI_END_REACHED)
            TRY(tt_coupled_inputs_get_rates(&master->staging, components[i]));
    return tt_coupled_inputs_exchange_rates(&master->staging);
}

static void relax_interpolate_outputs(struct tt_sim *master, const struct relaxation *relax, const uint32_t *components,
                                      uint32_t count, const struct tt_step_stage *stage, double h)
{
    for (uint32_t i = 0; i < count; i++)
        if (stage_contains(relax, stage, components[i]))
            tt_coupled_inputs_interpolate(&master->staging, components[i], h);
}

/* All units of a stage from the start to `target`. */
static enum tutti_err step_acyclic_stage(struct tt_sim *master, struct relaxation *relax,
                                         const struct tt_step_stage *stage, double target,
                                         struct tt_step_result *result)
{
    const uint32_t *components = relax->stages.components + stage->first;
    TRY(relax_step_units(master, relax, components, stage->count, stage, target, result));
    TRY(tt_channels_exchange(&master->rank->channels));
    return relax_get_derivatives(master, relax, components, stage->count, stage, result);
}

static enum tutti_err sweep_seidel(struct tt_sim *master, struct relaxation *relax, const struct relax_cycle *cycle,
                                   double target, struct tt_step_result *result)
{
    struct tt_rank *rank = master->rank;
    const struct tt_step_sequence *sequence = &master->sequence;
    for (uint32_t k = 0; k < cycle->wave_count; k++) {
        uint32_t wave = cycle->waves[k], first = sequence->wave_first[wave];
        uint32_t count = sequence->wave_first[wave + 1] - first;
        TRY(relax_step_units(master, relax, sequence->components + first, count, cycle->stage, target, result));
        TRY(tt_channels_exchange_wave(&rank->channels, wave));
        TRY(relax_get_derivatives(master, relax, sequence->components + first, count, cycle->stage, result));
        relax_interpolate_outputs(master, relax, sequence->components + first, count, cycle->stage, target - rank->t);
    }
    return TUTTI_OK;
}

/* ---- the iteration ---- */

/* Signals move from the start to the guess. */
static void set_cycle_slopes(struct tt_sim *master, const struct relaxation *relax, const struct relax_cycle *cycle,
                             double h)
{
    for (uint32_t k = 0; k < cycle->n; k++) {
        double rate = cycle->rates[k] == TUTTI_NONE ? NAN : cycle->guess[cycle->rates[k]] / h;
        tt_coupled_inputs_set_hermite(&master->staging, cycle->reals[k], relax->begin[cycle->reals[k]], cycle->guess[k],
                                      rate, h);
    }
}

/* The first guess is where the signals go by extrapolation. */
static void relax_predict(struct tt_sim *master, const struct relaxation *relax, struct relax_cycle *cycle, double h)
{
    const struct tt_wires *wires = &master->rank->wires;
    for (uint32_t k = 0; k < cycle->n; k++) {
        double move = 0, rate = 0, power = 1;
        for (unsigned o = 0; o < wires->order; o++) {
            double slope = wires->slopes[o][wires->reals[cycle->reals[k]].place];
            rate += power * slope;
            power *= h / (o + 1);
            move += power * slope;
        }
        if (cycle->rates[k] != TUTTI_NONE)
            cycle->guess[cycle->rates[k]] = h * rate;
        cycle->guess[k] = relax->begin[cycle->reals[k]] + (master->extrapolation.order > 0 ? move : 0);
    }
    if (master->extrapolation.order == 0)
        set_cycle_slopes(master, relax, cycle, h);
}

/* Returns the remaining change of a real: by its value, or by its derivative. */
static double relax_change(const struct relax_cycle *cycle, uint32_t k)
{
    uint32_t rate = cycle->rates[k];
    double change = cycle->image[k] - cycle->guess[k];
    double turn = rate == TUTTI_NONE ? 0 : cycle->image[rate] - cycle->guess[rate];
    return fabs(turn) > fabs(change) ? turn : change;
}

/* All ranks know all reals. A sum per unit, then the sum of these, as in norm.c. */
static double relax_weigh(const struct tt_sim *master, const struct relaxation *relax, const struct relax_cycle *cycle)
{
    const struct tt_norm *norm = &master->norm;
    const struct tt_wires *wires = &master->rank->wires;
    double sum = 0;
    for (uint32_t i = 0, k = 0; i < cycle->stage->count; i++) {
        uint32_t component = unit_of_stage(relax, cycle->stage, i);
        double partial = 0;
        for (uint32_t r = wires->real_first[component]; r < wires->real_first[component + 1]; r++, k++) {
            double change = relax_change(cycle, k);
            double size = fmax(fabs(cycle->image[k]), fabs(norm->before[r]));
            double tolerance = norm->rtol * size + tt_norm_absolute_tolerance(norm, r, fmax(size, norm->seen[r]));
            double e = change == 0 ? 0 : fabs(change / tolerance);
            partial += isnan(e) ? INFINITY : e * e;
        }
        sum += partial;
    }
    return cycle->n > 0 ? sqrt(sum / cycle->n) : 0;
}

/* The norm includes both kinds of reals of the cycle (Nicolai 2019 eq. 5, with the mean inside the root). */
static enum tutti_err cycle_has_converged(struct tt_sim *master, struct relaxation *relax, struct relax_cycle *cycle,
                                          double target, bool *rest)
{
    struct tt_rank *rank = master->rank;
    const struct tt_norm *norm = &master->norm;
    double value;
    for (uint32_t k = 0; k < cycle->n; k++) {
        double size = fabs(cycle->image[k]), known = fmax(size, norm->seen[cycle->reals[k]]);
        double tolerance = norm->rtol * size + tt_norm_absolute_tolerance(norm, cycle->reals[k], known);
        cycle->weights[k] = 1 / fmax(tolerance, DBL_MIN);
        if (cycle->rates[k] != TUTTI_NONE)
            cycle->weights[cycle->rates[k]] = cycle->weights[k];
    }
    if (!norm->per_time)
        value = relax_weigh(master, relax, cycle);
    else {
        uint32_t driver;
        memset(relax->work, 0, rank->wires.real_count * sizeof *relax->work);
        for (uint32_t k = 0; k < cycle->n; k++)
            relax->work[cycle->reals[k]] = relax_change(cycle, k);
        tt_wires_get_reals(&rank->wires, rank->wires.signals, relax->images);
        TRY(tt_norm_compute(norm, relax->work, relax->images, target - rank->t, TUTTI_WEIGH_CONNECTED, &value,
                            &driver));
    }

    /* Where the error of a step may be only a part of the tolerance, a tenth of that part; but no less than rounding. */
    double most = norm->per_time ? fmax(0.1 * (target - rank->t) / rank->span, 1e-13 / norm->rtol) : 1;
    *rest = value <= most;
    return TUTTI_OK;
}

/* Do-steps of a sweep that is repeated. */
static void count_sweep_steps(const struct tt_rank *rank, const struct relaxation *relax,
                              const struct tt_step_stage *stage)
{
    for (uint32_t i = 0; i < stage->count; i++) {
        uint32_t component = unit_of_stage(relax, stage, i);
        if (!tt_rank_owns(rank, component))
            continue;
        struct tt_unit_counts *counts = &rank->members[component].unit->counts;
        unsigned long made = counts->do_steps - relax->before[component];
        counts->auxiliary += made;
        counts->attributed += made;
    }
}

/* Units of the cycle go back, and what others see of them. */
static enum tutti_err relax_roll_back(struct tt_sim *master, const struct relaxation *relax,
                                      const struct tt_snapshot *start, const struct tt_step_stage *stage)
{
    struct tt_rank *rank = master->rank;
    count_sweep_steps(rank, relax, stage);
    TRY(tt_snapshot_restore_members(start, rank, relax->stages.components + stage->first, stage->count));
    for (uint32_t i = 0; i < stage->count; i++)
        tt_coupled_inputs_reset_start(&master->staging, unit_of_stage(relax, stage, i));
    return TUTTI_OK;
}

/* Where a unit gives no number for a derivative, that of the line stands for it. */
static void relax_read_image(const struct tt_sim *master, const struct relaxation *relax, struct relax_cycle *cycle,
                             double h)
{
    const struct tt_wires *wires = &master->rank->wires;
    const double *signals = (const double *)(const void *)wires->signals;
    for (uint32_t k = 0; k < cycle->n; k++) {
        uint32_t real = cycle->reals[k];
        cycle->image[k] = signals[wires->reals[real].place];
        if (cycle->rates[k] != TUTTI_NONE)
            cycle->image[cycle->rates[k]] = isfinite(master->staging.ends[real]) ? h * master->staging.ends[real]
                                                                                 : cycle->image[k] - relax->begin[real];
    }
    if (cycle->sweeps == 1)
        memcpy(cycle->first, cycle->image, cycle->n * sizeof *cycle->first);
}

static enum tutti_err relax_iterate(struct tt_sim *master, struct relaxation *relax, struct relax_cycle *cycle,
                                    double target, const struct tt_snapshot *start, struct tt_step_result *result)
{
    struct tt_rank *rank = master->rank;
    unsigned long own_events = rank->own_events;
    bool rest = false;
    cycle->sweeps = 0;
    relax_predict(master, relax, cycle, target - rank->t);
    tt_accelerator_restart(&cycle->accelerator);
    for (;;) {
        cycle->sweeps++;
        TRY(relax->seidel ? sweep_seidel(master, relax, cycle, target, result)
                          : step_acyclic_stage(master, relax, cycle->stage, target, result));
        TRY(tt_coupling_agree(master, result));
        if (result->iterations < cycle->sweeps)
            result->iterations = cycle->sweeps;
        if (result->end != TUTTI_END_REACHED)
            return TUTTI_OK;
        relax_read_image(master, relax, cycle, target - rank->t);
        TRY(cycle_has_converged(master, relax, cycle, target, &rest));
        if (rest || cycle->sweeps >= master->most_iterations)
            break;
        tt_accelerator_next(&cycle->accelerator, cycle->guess, cycle->image, cycle->weights);
        TRY(relax_roll_back(master, relax, start, cycle->stage));
        rank->own_events = own_events;
        set_cycle_slopes(master, relax, cycle, target - rank->t);
    }
    result->converged = result->converged && rest;
    return TUTTI_OK;
}

/* Awais 2015 eq. 5.22: what the iteration changed of its first result. */
static double relax_measure_divergence(const struct relaxation *relax)
{
    double square = 0, largest = 0;
    for (uint32_t c = 0; c < relax->cycle_count; c++)
        for (uint32_t k = 0; k < relax->cycles[c].n; k++) {
            double change = fabs(relax->cycles[c].image[k] - relax->cycles[c].first[k]);
            square += change * change;
            largest = fmax(largest, change);
        }
    return sqrt(square) + LARGEST_WEIGHT * largest;
}

/* ---- a step ---- */

static enum tutti_err step_relax_stages(struct tt_sim *master, struct relaxation *relax, double target,
                                        const struct tt_snapshot *start, struct tt_step_result *result)
{
    uint32_t cycle = 0;
    for (uint32_t s = 0; s < relax->stages.count; s++) {
        const struct tt_step_stage *stage = &relax->stages.items[s];
        if (stage->cyclic)
            TRY(relax_iterate(master, relax, &relax->cycles[cycle++], target, start, result));
        else {
            TRY(step_acyclic_stage(master, relax, stage, target, result));
            TRY(tt_coupling_agree(master, result));
        }
        if (result->end != TUTTI_END_REACHED)
            return TUTTI_OK;
        if (!stage->cyclic || !relax->seidel)
            relax_interpolate_outputs(master, relax, relax->stages.components + stage->first, stage->count, stage,
                                      target - master->rank->t);
    }
    result->divergence = relax_measure_divergence(relax);
    return TUTTI_OK;
}

static enum tutti_err relax_step(struct tt_sim *master, void *self, double target, const struct tt_step_rules *rules,
                                 struct tt_step_result *result)
{
    struct tt_rank *rank = master->rank;
    struct relaxation *relax = self;
    const struct tt_snapshot *start = &master->start;
    relax->rules = rules;
    if (start->t != rank->t) {
        TRY(tt_snapshot_take(&relax->own, rank));
        start = &relax->own;
    }
    memcpy(master->staging.begin, rank->wires.signals, rank->wires.signal_size);
    tt_wires_get_reals(&rank->wires, rank->wires.signals, relax->begin);
    result->iterations = 1;
    return step_relax_stages(master, relax, target, start, result);
}

/* Linear interpolation between both ends, or that of Hermite. */
static unsigned relax_order(unsigned extrapolation)
{
    return extrapolation == TUTTI_CUBIC ? 4 : 2;
}

const struct tt_coupling tt_coupling_relax = {.name = "relax",
                                              .iterates = true,
                                              .sweeps = true,
                                              .waves = true,
                                              .size = sizeof(struct relaxation),
                                              .open = open_relax,
                                              .close = close_relax,
                                              .step = relax_step,
                                              .order = relax_order};
