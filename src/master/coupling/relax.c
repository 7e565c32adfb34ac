/* SPDX-License-Identifier: MIT */
/* Waveform relaxation (Awais 2015 section 5.2, Nicolai 2019 section 3.2): the macro step is repeated with what the units
 * gave at its end until that rests. Inputs move on a line between both ends of the step, so that iterating makes the method
 * of order 2.
 *
 * The unknowns are the Float64 outputs at the end: guess -> sweep over all units -> image. A sweep is of the Jacobi or of
 * the Gauss-Seidel sort. Discrete values go as in the explicit method of that sort. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "master/coupling/accelerate.h"
#include "master/couple.h"
#include "options/options.h"

struct relaxation {
    bool seidel; /* sweeps */
    struct tutti_accelerator accelerator;
    struct tutti_snapshot own; /* where the step begins, if that is not the start of a macro step */
    double *begin, *guess, *image, *first, *work, *weights; /* per real */
    unsigned long *before;                                  /* per member: do-steps before the sweep */
};

/* Awais 2015 section 5.5.2 weighs the largest component with "a small positive value". */
static const double LARGEST_WEIGHT = 0.01;

static enum tutti_err open_relax(struct tutti_master *master, void *self)
{
    struct tutti_rank *rank = master->rank;
    struct relaxation *relax = self;
    const char *sweeps = rank->job->options.sweeps ? rank->job->options.sweeps : "seidel";
    int kind;
    relax->seidel = strcmp(sweeps, "seidel") == 0;
    TRY(tutti_option_choose("accelerate", rank->job->options.accelerate, &kind));
    TRY(tutti_accelerator_init(&relax->accelerator, (enum tutti_acceleration)kind, rank->wires.real_count));
    double **const vectors[] = {&relax->begin, &relax->guess, &relax->image,
                                &relax->first, &relax->work,  &relax->weights};
    relax->before = tutti_arena_array(&rank->arena, rank->member_count, sizeof *relax->before);
    bool all = relax->before != NULL;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        *vectors[i] = tutti_arena_array(&rank->arena, rank->wires.real_count, sizeof(double));
        all = all && *vectors[i];
    }
    return all ? TUTTI_OK : tutti_fail_memory();
}

static void close_relax(struct tutti_master *master, void *self)
{
    struct relaxation *relax = self;
    tutti_accelerator_fini(&relax->accelerator);
    tutti_snapshot_fini(&relax->own, master->rank);
}

/* ---- a sweep ---- */

static enum tutti_err sweep_jacobi(struct tutti_master *master, double target, struct tutti_outcome *outcome)
{
    struct tutti_rank *rank = master->rank;
    for (uint32_t m = 0; m < rank->own_count; m++)
        TRY(tutti_staging_stage(&master->staging, rank->own[m], target));
    for (uint32_t m = 0; m < rank->own_count; m++)
        TRY(tutti_member_step(rank, &master->rules, rank->own[m], target, outcome));
    return tutti_channels_exchange(&rank->channels);
}

static enum tutti_err sweep_seidel(struct tutti_master *master, double target, struct tutti_outcome *outcome)
{
    struct tutti_rank *rank = master->rank;
    const struct tutti_sequence *sequence = &master->sequence;
    double h = target - rank->t;
    for (uint32_t w = 0; w < sequence->wave_count; w++) {
        uint32_t first = sequence->wave_first[w], end = sequence->wave_first[w + 1];
        for (uint32_t i = first; i < end; i++)
            if (tutti_rank_owns(rank, sequence->components[i]))
                TRY(tutti_staging_stage(&master->staging, &rank->members[sequence->components[i]], target));
        for (uint32_t i = first; i < end; i++)
            if (tutti_rank_owns(rank, sequence->components[i]))
                TRY(tutti_member_step(rank, &master->rules, &rank->members[sequence->components[i]], target, outcome));
        TRY(tutti_channels_exchange_wave(&rank->channels, w));
        for (uint32_t i = first; i < end; i++)
            tutti_staging_pass_on(&master->staging, sequence->components[i], h);
    }
    return TUTTI_OK;
}

/* All units from the start to `target`; moving inputs come from the values there. */
static enum tutti_err sweep(struct tutti_master *master, struct relaxation *relax, double target,
                            struct tutti_outcome *outcome)
{
    struct tutti_rank *rank = master->rank;
    for (uint32_t m = 0; m < rank->own_count; m++)
        relax->before[m] = rank->own[m]->unit->counts.do_steps;
    rank->wires.source = master->staging.begin;
    enum tutti_err err = relax->seidel ? sweep_seidel(master, target, outcome) : sweep_jacobi(master, target, outcome);
    rank->wires.source = rank->wires.signals;
    outcome->iterations++;
    return err;
}

/* ---- the iteration ---- */

/* Signals move from the start to the guess. */
static void lay_slopes(struct tutti_master *master, struct relaxation *relax, double h)
{
    struct tutti_rank *rank = master->rank;
    for (uint32_t i = 0; i < rank->wires.real_count; i++)
        relax->work[i] = (relax->guess[i] - relax->begin[i]) / h;
    tutti_wires_put_slopes(&rank->wires, 1, relax->work);
    for (unsigned o = 2; o <= rank->wires.order; o++) {
        memset(relax->work, 0, rank->wires.real_count * sizeof *relax->work);
        tutti_wires_put_slopes(&rank->wires, o, relax->work);
    }
}

/* The first guess is where the signals go by extrapolation. */
static void predict(struct tutti_master *master, struct relaxation *relax, double h)
{
    struct tutti_rank *rank = master->rank;
    const struct tutti_wires *wires = &rank->wires;
    for (uint32_t i = 0; i < wires->real_count; i++) {
        double move = 0, power = 1;
        for (unsigned o = 0; o < wires->order; o++) {
            power *= h / (o + 1);
            move += power * wires->slopes[o][wires->reals[i].place];
        }
        relax->guess[i] = relax->begin[i] + (master->extrapolation.order > 0 ? move : 0);
    }
    if (master->extrapolation.order == 0)
        lay_slopes(master, relax, h);
}

/* Where the error of a step may be a part of the tolerance only, a tenth of that; but no less than rounding. */
static double rest_of(const struct tutti_master *master, double target)
{
    const struct tutti_rank *rank = master->rank;
    return master->norm.per_time ? fmax(0.1 * (target - rank->t) / rank->span, 1e-13 / master->norm.rtol) : 1;
}

/* Both kinds of reals count here (Nicolai 2019 eq. 5, with the mean inside of the root). */
static enum tutti_err is_at_rest(struct tutti_master *master, struct relaxation *relax, double target, bool *rest)
{
    struct tutti_rank *rank = master->rank;
    double norm;
    uint32_t driver;
    for (uint32_t i = 0; i < rank->wires.real_count; i++) {
        relax->work[i] = relax->image[i] - relax->guess[i];
        relax->weights[i] =
            1 /
            fmax(master->norm.rtol * fabs(relax->image[i]) + master->norm.atol * rank->wires.reals[i].nominal, DBL_MIN);
    }
    TRY(tutti_norm_of(&master->norm, relax->work, relax->image, target - rank->t, TUTTI_WEIGH_CONNECTED, &norm,
                      &driver));
    *rest = norm <= rest_of(master, target);
    return TUTTI_OK;
}

/* Awais 2015 eq. 5.22: what the iteration changed of its first result. */
static double measure_divergence(const struct tutti_rank *rank, const struct relaxation *relax)
{
    double square = 0, largest = 0;
    for (uint32_t i = 0; i < rank->wires.real_count; i++) {
        double change = fabs(relax->image[i] - relax->first[i]);
        square += change * change;
        largest = fmax(largest, change);
    }
    return sqrt(square) + LARGEST_WEIGHT * largest;
}

/* Do-steps of a sweep that is repeated. */
static void attribute_sweep(const struct tutti_rank *rank, const struct relaxation *relax)
{
    for (uint32_t m = 0; m < rank->own_count; m++) {
        struct tutti_unit_counts *counts = &rank->own[m]->unit->counts;
        unsigned long made = counts->do_steps - relax->before[m];
        counts->auxiliary += made;
        counts->attributed += made;
    }
}

static enum tutti_err iterate(struct tutti_master *master, struct relaxation *relax, double target,
                              const struct tutti_snapshot *start, struct tutti_outcome *outcome)
{
    struct tutti_rank *rank = master->rank;
    bool rest = false;
    for (unsigned k = 0;; k++) {
        TRY(sweep(master, relax, target, outcome));
        TRY(tutti_couple_agree(master, outcome));
        if (outcome->why != TUTTI_REACHED)
            return TUTTI_OK;
        tutti_wires_take_reals(&rank->wires, rank->wires.signals, relax->image);
        if (k == 0)
            memcpy(relax->first, relax->image, rank->wires.real_count * sizeof *relax->first);
        TRY(is_at_rest(master, relax, target, &rest));
        if (rest || k + 1 >= master->most_iterations)
            break;
        tutti_accelerator_next(&relax->accelerator, relax->guess, relax->image, relax->weights);
        attribute_sweep(rank, relax);
        TRY(tutti_snapshot_restore(start, rank));
        memcpy(master->staging.begin, rank->wires.signals, rank->wires.signal_size);
        lay_slopes(master, relax, target - rank->t);
    }
    outcome->converged = rest;
    outcome->divergence = measure_divergence(rank, relax);
    return TUTTI_OK;
}

static enum tutti_err step(struct tutti_master *master, void *self, double target, struct tutti_outcome *outcome)
{
    struct tutti_rank *rank = master->rank;
    struct relaxation *relax = self;
    const struct tutti_snapshot *start = &master->start;
    if (start->t != rank->t) {
        TRY(tutti_snapshot_take(&relax->own, rank));
        start = &relax->own;
    }
    memcpy(master->staging.begin, rank->wires.signals, rank->wires.signal_size);
    tutti_wires_take_reals(&rank->wires, rank->wires.signals, relax->begin);
    predict(master, relax, target - rank->t);
    tutti_accelerator_restart(&relax->accelerator);
    return iterate(master, relax, target, start, outcome);
}

/* Linear interpolation between both ends. */
static unsigned order(unsigned extrapolation)
{
    (void)extrapolation;
    return 2;
}

const struct tutti_coupling tutti_coupling_relax = {.name = "relax",
                                                    .iterates = true,
                                                    .sweeps = true,
                                                    .waves = true,
                                                    .size = sizeof(struct relaxation),
                                                    .open = open_relax,
                                                    .close = close_relax,
                                                    .step = step,
                                                    .order = order};
