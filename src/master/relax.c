/* SPDX-License-Identifier: MIT */
/* Waveform relaxation (000 section 5.2, 002 section 3.2): the macro step is repeated with what the units gave at its end until
 * that rests. Inputs move on a line between both ends of the step, so that iterating makes the method of order 2.
 *
 * The unknowns are the Float64 outputs at the end: guess -> sweep over all units -> image. A sweep is of the Jacobi or of the
 * Gauss-Seidel sort. Discrete values go as in the explicit method of that sort. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "master/accelerate.h"
#include "master/agree.h"
#include "master/coupling.h"
#include "master/macro.h"

struct tutti_relaxation {
    bool seidel; /* sweeps */
    struct tutti_accelerator accelerator;
    struct tutti_snapshot own; /* where the step begins, if that is not the start of a macro step */
    double *begin, *guess, *image, *first, *work, *weights; /* per real */
    unsigned long *before;                                  /* per member: do-steps before the sweep */
};

/* 000 section 5.5.2 weighs the largest component with "a small positive value". */
static const double LARGEST_WEIGHT = 0.01;

static enum tutti_err open_relax(struct run *run)
{
    struct tutti_relaxation *relax = calloc(1, sizeof *relax);
    if (!relax)
        return tutti_fail_memory();
    run->master.relax = relax;
    const char *sweeps = run->options->sweeps ? run->options->sweeps : "seidel";
    const char *accelerate = run->options->accelerate ? run->options->accelerate : "none";
    enum tutti_acceleration kind;
    relax->seidel = strcmp(sweeps, "seidel") == 0;
    TRY(tutti_acceleration_find(accelerate, &kind));
    TRY(tutti_accelerator_init(&relax->accelerator, kind, run->wires.real_count));
    double **const vectors[] = {&relax->begin, &relax->guess, &relax->image,
                                &relax->first, &relax->work,  &relax->weights};
    relax->before = tutti_arena_array(&run->arena, run->member_count, sizeof *relax->before);
    bool all = relax->before != NULL;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        *vectors[i] = tutti_arena_array(&run->arena, run->wires.real_count, sizeof(double));
        all = all && *vectors[i];
    }
    return all ? TUTTI_OK : tutti_fail_memory();
}

static void close_relax(struct run *run)
{
    struct tutti_relaxation *relax = run->master.relax;
    if (!relax)
        return;
    tutti_accelerator_fini(&relax->accelerator);
    tutti_snapshot_fini(&relax->own, run);
    free(relax);
    run->master.relax = NULL;
}

/* ---- a sweep ---- */

static enum tutti_err sweep_jacobi(struct run *run, double target)
{
    for (uint32_t m = 0; m < run->own_count; m++)
        TRY(tutti_coupling_stage(run, run->own[m], target));
    for (uint32_t m = 0; m < run->own_count; m++)
        TRY(tutti_member_step(run, run->own[m], target));
    return tutti_channels_exchange(run);
}

static enum tutti_err sweep_seidel(struct run *run, double target)
{
    const struct tutti_sequence *sequence = &run->master.sequence;
    double h = target - run->t;
    for (uint32_t w = 0; w < sequence->wave_count; w++) {
        uint32_t first = sequence->wave_first[w], end = sequence->wave_first[w + 1];
        for (uint32_t i = first; i < end; i++)
            if (tutti_run_owns(run, sequence->components[i]))
                TRY(tutti_coupling_stage(run, &run->members[sequence->components[i]], target));
        for (uint32_t i = first; i < end; i++)
            if (tutti_run_owns(run, sequence->components[i]))
                TRY(tutti_member_step(run, &run->members[sequence->components[i]], target));
        TRY(tutti_channels_exchange_wave(run, w));
        for (uint32_t i = first; i < end; i++)
            tutti_coupling_pass_on(run, sequence->components[i], h);
    }
    return TUTTI_OK;
}

/* All units from the start to `target`; moving inputs come from the values there. */
static enum tutti_err sweep(struct run *run, double target)
{
    for (uint32_t m = 0; m < run->own_count; m++)
        run->master.relax->before[m] = run->own[m]->unit->counts.do_steps;
    run->wires.source = run->master.begin;
    enum tutti_err err = run->master.relax->seidel ? sweep_seidel(run, target) : sweep_jacobi(run, target);
    run->wires.source = run->wires.signals;
    run->master.iterations++;
    return err;
}

/* ---- the iteration ---- */

/* Signals move from the start to the guess. */
static void lay_slopes(struct run *run, double h)
{
    struct tutti_relaxation *relax = run->master.relax;
    for (uint32_t i = 0; i < run->wires.real_count; i++)
        relax->work[i] = (relax->guess[i] - relax->begin[i]) / h;
    tutti_wires_put_slopes(&run->wires, 1, relax->work);
    for (unsigned o = 2; o <= run->wires.order; o++) {
        memset(relax->work, 0, run->wires.real_count * sizeof *relax->work);
        tutti_wires_put_slopes(&run->wires, o, relax->work);
    }
}

/* The first guess is where the signals go by extrapolation. */
static void predict(struct run *run, double h)
{
    struct tutti_relaxation *relax = run->master.relax;
    const struct tutti_wires *wires = &run->wires;
    for (uint32_t i = 0; i < wires->real_count; i++) {
        double move = 0, power = 1;
        for (unsigned o = 0; o < wires->order; o++) {
            power *= h / (o + 1);
            move += power * wires->slopes[o][wires->reals[i].place];
        }
        relax->guess[i] = relax->begin[i] + (run->master.extrapolation.order > 0 ? move : 0);
    }
    if (run->master.extrapolation.order == 0)
        lay_slopes(run, h);
}

/* Where the error of a step may be a part of the tolerance only, a tenth of that; but no less than rounding. */
static double rest_of(const struct run *run, double target)
{
    const struct tutti_master *master = &run->master;
    return master->per_time ? fmax(0.1 * (target - run->t) / run->span, 1e-13 / master->rtol) : 1;
}

/* Both kinds of reals count here (002 eq. 5, with the mean inside of the root). */
static enum tutti_err is_at_rest(struct run *run, double target, bool *rest)
{
    struct tutti_relaxation *relax = run->master.relax;
    const struct tutti_master *master = &run->master;
    double norm;
    uint32_t driver;
    for (uint32_t i = 0; i < run->wires.real_count; i++) {
        relax->work[i] = relax->image[i] - relax->guess[i];
        relax->weights[i] =
            1 / fmax(master->rtol * fabs(relax->image[i]) + master->atol * run->wires.reals[i].nominal, DBL_MIN);
    }
    TRY(tutti_attempt_norm(run, relax->work, relax->image, target - run->t, TUTTI_NORM_CONNECTED, &norm, &driver));
    *rest = norm <= rest_of(run, target);
    return TUTTI_OK;
}

/* 000 eq. 5.22: what the iteration changed of its first result. */
static void measure_divergence(struct run *run)
{
    const struct tutti_relaxation *relax = run->master.relax;
    double square = 0, largest = 0;
    for (uint32_t i = 0; i < run->wires.real_count; i++) {
        double change = fabs(relax->image[i] - relax->first[i]);
        square += change * change;
        largest = fmax(largest, change);
    }
    run->master.divergence_found = sqrt(square) + LARGEST_WEIGHT * largest;
}

/* Do-steps of a sweep that is repeated. */
static void attribute_sweep(struct run *run)
{
    for (uint32_t m = 0; m < run->own_count; m++) {
        struct tutti_unit_counts *counts = &run->own[m]->unit->counts;
        unsigned long made = counts->do_steps - run->master.relax->before[m];
        counts->auxiliary += made;
        counts->attributed += made;
    }
}

static enum tutti_err iterate(struct run *run, double target, const struct tutti_snapshot *start)
{
    struct tutti_master *master = &run->master;
    struct tutti_relaxation *relax = master->relax;
    bool rest = false;
    for (unsigned k = 0;; k++) {
        TRY(sweep(run, target));
        TRY(tutti_agree_step(run));
        if (master->early < INFINITY || master->refused || run->ended)
            return TUTTI_OK;
        tutti_wires_take_reals(&run->wires, run->wires.signals, relax->image);
        if (k == 0)
            memcpy(relax->first, relax->image, run->wires.real_count * sizeof *relax->first);
        TRY(is_at_rest(run, target, &rest));
        if (rest || k + 1 >= master->most_iterations)
            break;
        tutti_accelerator_next(&relax->accelerator, relax->guess, relax->image, relax->weights);
        attribute_sweep(run);
        TRY(tutti_snapshot_restore(start, run));
        memcpy(run->master.begin, run->wires.signals, run->wires.signal_size);
        lay_slopes(run, target - run->t);
    }
    master->converged = rest;
    measure_divergence(run);
    return TUTTI_OK;
}

static enum tutti_err step(struct run *run, double target)
{
    struct tutti_master *master = &run->master;
    struct tutti_relaxation *relax = master->relax;
    const struct tutti_snapshot *start = &master->start;
    if (start->t != run->t) {
        TRY(tutti_snapshot_take(&relax->own, run));
        start = &relax->own;
    }
    memcpy(run->master.begin, run->wires.signals, run->wires.signal_size);
    tutti_wires_take_reals(&run->wires, run->wires.signals, relax->begin);
    predict(run, target - run->t);
    tutti_accelerator_restart(&relax->accelerator);
    return iterate(run, target, start);
}

/* Linear interpolation between both ends. */
static unsigned order(const struct run *run, unsigned extrapolation)
{
    (void)run;
    (void)extrapolation;
    return 2;
}

const struct tutti_coupling tutti_coupling_relax =
    {.name = "relax", .iterates = true, .open = open_relax, .close = close_relax, .step = step, .order = order};
