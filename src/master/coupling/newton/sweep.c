/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "master/coupling/newton/interface.h"

void tutti_newton_attribute(struct tutti_interface_newton *self, const struct tutti_member *member)
{
    struct tutti_unit_counts *counts = &member->unit->counts;
    unsigned long made = counts->do_steps - self->before[member->component];
    counts->auxiliary += made;
    counts->attributed += made;
    self->before[member->component] = counts->do_steps;
}

static enum tutti_err take_back(struct tutti_ring *ring)
{
    struct tutti_interface_newton *self = ring->interface;
    struct tutti_rank *rank = self->master->rank;
    const struct tutti_stage *stage = ring->cycle->stage;
    for (uint32_t i = 0; i < stage->count; i++) {
        struct tutti_member *member = &rank->members[tutti_newton_unit_at(self, stage, i)];
        if (!tutti_rank_owns(rank, member->component))
            continue;
        tutti_newton_attribute(self, member);
        TRY(tutti_snapshot_restore_member(self->start, rank, member));
    }
    rank->own_events = self->own_events;
    ring->away = false;
    return TUTTI_OK;
}

void tutti_ring_lay_slope(const struct tutti_ring *ring, uint32_t value, const double *x)
{
    const struct tutti_interface_newton *self = ring->interface;
    uint32_t real = ring->cycle->reals[value], rate = ring->rates[value];
    double h = self->target - self->master->rank->t;
    tutti_staging_lead(&self->master->staging, real, self->begin[real], x[value],
                       rate == TUTTI_NONE ? NAN : x[rate] / h, h);
}

/* --reevaluate last: what was staged for the whole step becomes what it is for the rest of it. An input that goes as it did goes on;
 * others turn to where they are to end. */
static void redirect(const struct tutti_interface_newton *self, const struct tutti_member *member)
{
    struct tutti_wires *wires = &self->master->rank->wires;
    double elapsed = member->now.t - self->master->rank->t, h = self->target - self->master->rank->t;
    uint32_t first = member->wires->gather_first;
    for (uint32_t i = first; i < first + member->wires->gather_count && elapsed > 0; i++) {
        double end = tutti_wires_moved(wires, i, h), rate = 0;
        bool same = true;
        for (unsigned o = 0; o < wires->order; o++) {
            same = same && wires->gathered_slopes[o][i] == self->guessed_slopes[o][i];
            wires->gathered_slopes[o][i] = self->guessed_slopes[o][i];
        }
        wires->gathered[i] = tutti_wires_moved(wires, i, elapsed);
        for (unsigned o = wires->order; o-- > 1;)
            rate = (rate + wires->gathered_slopes[o][i]) * elapsed / o;
        wires->gathered_slopes[0][i] = same ? wires->gathered_slopes[0][i] + rate
                                            : (end - wires->gathered[i]) / (h - elapsed);
        for (unsigned o = 1; o < wires->order && !same; o++)
            wires->gathered_slopes[o][i] = 0;
    }
}

static void keep_guess(const struct tutti_interface_newton *self, const struct tutti_member *member)
{
    const struct tutti_wires *wires = &self->master->rank->wires;
    uint32_t first = member->wires->gather_first;
    for (unsigned o = 0; o < wires->order; o++)
        memcpy(self->guessed_slopes[o] + first, wires->gathered_slopes[o] + first,
               member->wires->gather_count * sizeof(double));
}

enum tutti_err tutti_newton_stage_unit(struct tutti_interface_newton *self, struct tutti_member *member, bool discrete)
{
    struct tutti_master *master = self->master;
    struct tutti_rank *rank = master->rank;
    enum tutti_err err;
    rank->wires.source = master->staging.begin;
    if (discrete)
        err = tutti_staging_stage(&master->staging, member, self->target);
    else
        err = tutti_wires_gather(&rank->wires, member->wires);
    rank->wires.source = rank->wires.signals;
    if (!err && !discrete)
        tutti_staging_hold(&master->staging, member, self->target);
    if (!err && self->last && discrete)
        keep_guess(self, member);
    else if (!err && self->last)
        redirect(self, member);
    return err;
}

/* Values that cannot be computed are a step that is refused. */
static enum tutti_err step_unit(struct tutti_interface_newton *self, struct tutti_member *member, bool whole,
                                struct tutti_outcome *outcome)
{
    struct tutti_rank *rank = self->master->rank;
    self->before[member->component] = member->unit->counts.do_steps;
    member->unit->notes_last = self->last && whole;
    enum tutti_err err = tutti_member_step(rank, &self->master->rules, member, self->target, outcome);
    member->unit->notes_last = false;
    if (err == TUTTI_ERR_DISCARD) {
        tutti_outcome_refused(outcome, member->component, rank->t);
        return TUTTI_OK;
    }
    return err;
}

enum tutti_err tutti_newton_step_stage(struct tutti_interface_newton *self, const struct tutti_stage *stage,
                                       bool discrete, struct tutti_outcome *outcome)
{
    struct tutti_rank *rank = self->master->rank;
    for (uint32_t i = 0; i < stage->count; i++)
        if (tutti_rank_owns(rank, tutti_newton_unit_at(self, stage, i)))
            TRY(tutti_newton_stage_unit(self, &rank->members[tutti_newton_unit_at(self, stage, i)], discrete));
    for (uint32_t i = 0; i < stage->count; i++)
        if (tutti_rank_owns(rank, tutti_newton_unit_at(self, stage, i)))
            TRY(step_unit(self, &rank->members[tutti_newton_unit_at(self, stage, i)], discrete && stage->cyclic,
                          outcome));
    TRY(tutti_channels_exchange(&rank->channels));
    return tutti_couple_agree(self->master, outcome);
}

double tutti_ring_move_by(const struct tutti_ring *ring, uint32_t value, double end, const double *rates)
{
    const struct tutti_interface_newton *self = ring->interface;
    uint32_t real = ring->cycle->reals[value];
    return isfinite(rates[real]) ? (self->target - self->master->rank->t) * rates[real] : end - self->begin[real];
}

static void take_image(const struct tutti_ring *ring, double *image)
{
    const struct tutti_wires *wires = &ring->interface->master->rank->wires;
    const double *signals = (const double *)(const void *)wires->signals;
    for (uint32_t k = 0; k < ring->cycle->n; k++) {
        uint32_t real = ring->cycle->reals[k];
        image[k] = signals[wires->reals[real].place];
        if (ring->rates[k] != TUTTI_NONE)
            image[ring->rates[k]] = tutti_ring_move_by(ring, k, image[k], ring->interface->master->staging.ends);
    }
}

enum tutti_err tutti_newton_ask_units(struct tutti_interface_newton *self, const struct tutti_stage *stage)
{
    for (uint32_t i = 0; i < stage->count; i++)
        if (tutti_rank_owns(self->master->rank, tutti_newton_unit_at(self, stage, i)))
            TRY(tutti_staging_ask(&self->master->staging, tutti_newton_unit_at(self, stage, i)));
    return tutti_staging_share(&self->master->staging);
}

static enum tutti_err go_to_last(const struct tutti_ring *ring)
{
    const struct tutti_interface_newton *self = ring->interface;
    struct tutti_rank *rank = self->master->rank;
    const struct tutti_stage *stage = ring->cycle->stage;
    for (uint32_t i = 0; i < stage->count; i++)
        if (tutti_rank_owns(rank, tutti_newton_unit_at(self, stage, i)))
            TRY(tutti_member_back_to_last(rank, &rank->members[tutti_newton_unit_at(self, stage, i)]));
    return TUTTI_OK;
}

enum tutti_err tutti_ring_sweep(void *context, const double *x, double *image, bool *outside)
{
    struct tutti_ring *ring = context;
    struct tutti_interface_newton *self = ring->interface;
    struct tutti_outcome outcome = tutti_outcome_begin();
    if (ring->away)
        TRY(take_back(ring));
    if (self->last && ring->sweeps > 0)
        TRY(go_to_last(ring));
    for (uint32_t k = 0; k < ring->cycle->n; k++)
        tutti_ring_lay_slope(ring, k, x);
    ring->away = true;
    TRY(tutti_newton_step_stage(self, ring->cycle->stage, ring->sweeps == 0, &outcome));
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
    TRY(tutti_newton_ask_units(self, ring->cycle->stage));
    take_image(ring, ring->image);
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
