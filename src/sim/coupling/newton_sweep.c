/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "sim/coupling/newton_interface.h"

void tt_interface_newton_count_steps(struct tt_interface_newton *self, const struct tt_member *member)
{
    struct tt_unit_counts *counts = &member->unit->counts;
    unsigned long made = counts->do_steps - self->before[member->component];
    counts->auxiliary += made;
    counts->attributed += made;
    self->before[member->component] = counts->do_steps;
}

static enum tutti_err newton_roll_back(struct tt_newton_cycle *ring)
{
    struct tt_interface_newton *self = ring->interface;
    struct tt_rank *rank = self->master->rank;
    const struct tt_step_stage *stage = ring->cycle->stage;
    for (uint32_t i = 0; i < stage->count; i++) {
        struct tt_member *member = &rank->members[tt_interface_newton_unit_at(self, stage, i)];
        if (!tt_rank_owns(rank, member->component))
            continue;
        tt_interface_newton_count_steps(self, member);
        TRY(tt_snapshot_restore_member(self->start, rank, member));
    }
    rank->own_events = self->own_events;
    ring->away = false;
    return TUTTI_OK;
}

void tt_interface_newton_set_slope(const struct tt_newton_cycle *ring, uint32_t value, const double *x)
{
    const struct tt_interface_newton *self = ring->interface;
    uint32_t real = ring->cycle->reals[value], rate = ring->rates[value];
    double h = self->target - self->master->rank->t;
    tt_coupled_inputs_set_hermite(&self->master->staging, real, self->begin[real], x[value],
                                  rate == TUTTI_NONE ? NAN : x[rate] / h, h);
}

/* --reevaluate last: what was staged for the whole step becomes what it is for the rest of it. An input that goes as it did goes on;
 * others turn to where they are to end. */
static void restage_for_last_step(const struct tt_interface_newton *self, const struct tt_member *member)
{
    struct tt_wires *wires = &self->master->rank->wires;
    double elapsed = member->now.t - self->master->rank->t, h = self->target - self->master->rank->t;
    uint32_t first = member->wires->gather_first;
    for (uint32_t i = first; i < first + member->wires->gather_count && elapsed > 0; i++) {
        double end = tt_wires_extrapolate(wires, i, h), rate = 0;
        bool same = true;
        for (unsigned o = 0; o < wires->order; o++) {
            same = same && wires->gathered_slopes[o][i] == self->guessed_slopes[o][i];
            wires->gathered_slopes[o][i] = self->guessed_slopes[o][i];
        }
        wires->gathered[i] = tt_wires_extrapolate(wires, i, elapsed);
        for (unsigned o = wires->order; o-- > 1;)
            rate = (rate + wires->gathered_slopes[o][i]) * elapsed / o;
        wires->gathered_slopes[0][i] = same ? wires->gathered_slopes[0][i] + rate
                                            : (end - wires->gathered[i]) / (h - elapsed);
        for (unsigned o = 1; o < wires->order && !same; o++)
            wires->gathered_slopes[o][i] = 0;
    }
}

static void hold_at_guess(const struct tt_interface_newton *self, const struct tt_member *member)
{
    const struct tt_wires *wires = &self->master->rank->wires;
    uint32_t first = member->wires->gather_first;
    for (unsigned o = 0; o < wires->order; o++)
        memcpy(self->guessed_slopes[o] + first, wires->gathered_slopes[o] + first,
               member->wires->gather_count * sizeof(double));
}

enum tutti_err tt_interface_newton_stage_unit(struct tt_interface_newton *self, struct tt_member *member, bool discrete)
{
    struct tt_sim *master = self->master;
    struct tt_rank *rank = master->rank;
    enum tutti_err err;
    rank->wires.source = master->staging.begin;
    if (discrete)
        err = tt_coupled_inputs_gather(&master->staging, member, self->target);
    else
        err = tt_wires_gather(&rank->wires, member->wires);
    rank->wires.source = rank->wires.signals;
    if (!err && !discrete)
        tt_coupled_inputs_hold(&master->staging, member, self->target);
    if (!err && self->last && discrete)
        hold_at_guess(self, member);
    else if (!err && self->last)
        restage_for_last_step(self, member);
    return err;
}

/* Values that cannot be computed are a step that is refused. */
static enum tutti_err newton_step_unit(struct tt_interface_newton *self, struct tt_member *member, bool whole,
                                       struct tt_outcome *outcome)
{
    struct tt_rank *rank = self->master->rank;
    self->before[member->component] = member->unit->counts.do_steps;
    member->unit->notes_last = self->last && whole;
    enum tutti_err err = tt_component_step(rank, &self->master->rules, member, self->target, outcome);
    member->unit->notes_last = false;
    if (err == TUTTI_ERR_DISCARD) {
        tt_outcome_set_rejected(outcome, member->component, rank->t);
        return TUTTI_OK;
    }
    return err;
}

enum tutti_err tt_interface_newton_step_stage(struct tt_interface_newton *self, const struct tt_step_stage *stage,
                                              bool discrete, struct tt_outcome *outcome)
{
    struct tt_rank *rank = self->master->rank;
    for (uint32_t i = 0; i < stage->count; i++)
        if (tt_rank_owns(rank, tt_interface_newton_unit_at(self, stage, i)))
            TRY(tt_interface_newton_stage_unit(self, &rank->members[tt_interface_newton_unit_at(self, stage, i)],
                                               discrete));
    for (uint32_t i = 0; i < stage->count; i++)
        if (tt_rank_owns(rank, tt_interface_newton_unit_at(self, stage, i)))
            TRY(newton_step_unit(self, &rank->members[tt_interface_newton_unit_at(self, stage, i)],
                                 discrete && stage->cyclic, outcome));
    TRY(tt_channels_exchange(&rank->channels));
    return tt_coupling_agree(self->master, outcome);
}

double tt_interface_newton_unknown_change(const struct tt_newton_cycle *ring, uint32_t value, double end,
                                          const double *rates)
{
    const struct tt_interface_newton *self = ring->interface;
    uint32_t real = ring->cycle->reals[value];
    return isfinite(rates[real]) ? (self->target - self->master->rank->t) * rates[real] : end - self->begin[real];
}

static void newton_read_image(const struct tt_newton_cycle *ring, double *image)
{
    const struct tt_wires *wires = &ring->interface->master->rank->wires;
    const double *signals = (const double *)(const void *)wires->signals;
    for (uint32_t k = 0; k < ring->cycle->n; k++) {
        uint32_t real = ring->cycle->reals[k];
        image[k] = signals[wires->reals[real].place];
        if (ring->rates[k] != TUTTI_NONE)
            image[ring->rates[k]] =
                tt_interface_newton_unknown_change(ring, k, image[k], ring->interface->master->staging.ends);
    }
}

enum tutti_err tt_interface_newton_get_rates(struct tt_interface_newton *self, const struct tt_step_stage *stage)
{
    for (uint32_t i = 0; i < stage->count; i++)
        if (tt_rank_owns(self->master->rank, tt_interface_newton_unit_at(self, stage, i)))
            TRY(tt_coupled_inputs_get_rates(&self->master->staging, tt_interface_newton_unit_at(self, stage, i)));
    return tt_coupled_inputs_exchange_rates(&self->master->staging);
}

static enum tutti_err roll_back_to_last_step(const struct tt_newton_cycle *ring)
{
    const struct tt_interface_newton *self = ring->interface;
    struct tt_rank *rank = self->master->rank;
    const struct tt_step_stage *stage = ring->cycle->stage;
    for (uint32_t i = 0; i < stage->count; i++)
        if (tt_rank_owns(rank, tt_interface_newton_unit_at(self, stage, i)))
            TRY(tt_component_restore_last_step(rank, &rank->members[tt_interface_newton_unit_at(self, stage, i)]));
    return TUTTI_OK;
}

enum tutti_err tt_interface_newton_sweep(void *context, const double *x, double *image, bool *outside)
{
    struct tt_newton_cycle *ring = context;
    struct tt_interface_newton *self = ring->interface;
    struct tt_outcome outcome = tt_outcome_begin();
    if (ring->away)
        TRY(newton_roll_back(ring));
    if (self->last && ring->sweeps > 0)
        TRY(roll_back_to_last_step(ring));
    for (uint32_t k = 0; k < ring->cycle->n; k++)
        tt_interface_newton_set_slope(ring, k, x);
    ring->away = true;
    TRY(tt_interface_newton_step_stage(self, ring->cycle->stage, ring->sweeps == 0, &outcome));
    ring->sweeps++;
    if (outcome.why == TUTTI_REFUSED && ring->sweeps > 1) {
        *outside = true;
        return TUTTI_OK;
    }
    if (outcome.why != TUTTI_REACHED) {
        outcome.iterations = self->outcome->iterations;
        *self->outcome = outcome;
        self->interrupted = true;
        return TUTTI_ERR_DISCARD;
    }
    TRY(tt_interface_newton_get_rates(self, ring->cycle->stage));
    newton_read_image(ring, ring->image);
    if (ring->sweeps == 1) {
        memcpy(ring->first, ring->image, ring->n * sizeof *ring->first);
        if (self->last) /* events lie before what is repeated */
            self->own_events = self->master->rank->own_events;
    }
    if (ring->begins)
        memcpy(ring->guessed, ring->image, ring->n * sizeof *ring->guessed);
    ring->begins = false;
    memcpy(image, ring->image, ring->n * sizeof *image);
    return TUTTI_OK;
}
