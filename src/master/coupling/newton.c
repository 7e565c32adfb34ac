/* SPDX-License-Identifier: MIT */
/* Interface Newton (Awais 2015 section 5.3; Nicolai 2019 section 3.2): the macro step is repeated until what units see of each
 * other at its end is what they give there, x = Y(x), by Newton's method (KINSOL). Inputs move on a line between both ends of the
 * step, as with relax, so that the method is of order 2; or on a cubic (staging.h), which makes it one of order 4.
 *
 * Cycle by cycle (cycles.h): what lies in no cycle of connections steps once. The unknowns of a cycle are the continuous Float64
 * outputs that its units read of each other, and for cubics their derivatives there, times the step; the Jacobian is I - (dY/du) L of the step (step_jacobian.h). All ranks solve, with the
 * same numbers. Everything else that units of a cycle read of each other (Booleans, integers, discrete Reals, texts) is held while
 * Newton's method runs, at what it was after the last solution, which is repeated until that rests; or, where events are located by
 * changes of discrete outputs, at what it was at the start of the step.
 *
 * With --reevaluate last (Awais 2015 section 5.3, semi-implicit) the first sweep makes the whole step, with the guess; later ones, and
 * tries, repeat the last own step of each unit's solver. There inputs move on a line from where the guess had them to the unknowns.
 *
 * When a Jacobian is made:
 *  Q1  `kept`: if there is none, or it was made for a step that was longer or shorter by a quarter; or if the last iteration has
 *      left more than a tenth of the residual. Else it is kept, also from step to step.
 *  Q2  `full`: in every iteration.
 *  Q3  `broyden`: in the first iteration of a step as with `kept`; then it is updated by what iterations show (Broyden 1965).
 *  N4  After a solution that failed there is none.
 *  N5  A step that is taken back takes what was made in it along: from the start of a macro step, all attempts begin with the same.
 *  N6  It is made of derivatives of Model Exchange units, unless one that was made so has served badly in the iteration before. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/str.h"
#include "master/couple.h"
#include "master/coupling/cycles.h"
#include "master/coupling/step_jacobian.h"
#include "options/options.h"
#include "rank/agree.h"
#include "solve/newton.h"

enum { MOST_NAMED = 3 };

enum kind {
#define TUTTI_LISTED(name, word, meaning) JACOBIAN_##name,
    TUTTI_NEWTONS(TUTTI_LISTED)
#undef TUTTI_LISTED
};

static const double LONGER = 1.25, SLOW = 0.1; /* of Q1 */
/* Of differences for GMRES: beyond what solvers of units leave of errors. */
static const double DISTANCE = 1e-5;
/* A solution that lies further from the guess than this many times the residual there is one of a singular system: derivatives are
 * not known that well, and a residual of the tolerance would say nothing. */
static const double SINGULAR = 1e5;
/* A step that fails is tried again by halves, down to this part of a usual one. */
static const double LEAST_STEP = 1e-3;
/* Awais 2015 section 5.5.2 weighs the largest component with "a small positive value". */
static const double LARGEST_WEIGHT = 0.01;

/* A cycle, and its solution in the step at hand. */
struct ring {
    struct interface *interface;
    const struct tutti_cycle *cycle;
    uint32_t n;       /* unknowns: values, those of the cycle, then derivatives of those that have them */
    uint32_t *rates;  /* per value: the unknown that is its derivative; TUTTI_NONE: it has none */
    uint32_t *values; /* per unknown: the value, itself or the one whose derivative it is */
    uint32_t column_first, column_count; /* of the Jacobian */
    struct tutti_fixed_point problem;
    struct tutti_pattern pattern; /* of dY/dx, if it is sparse */
    struct tutti_newton *solver;
    double *x, *image, *residuals, *scale;
    double *guess, *guessed;     /* of the first sweep of a solution, and what that gave */
    double *first;               /* what the first sweep of the step gave */
    double *matrix;              /* broyden: dY/dx, column by column ... */
    double *seen_x, *seen_image; /* ... updated last there */
    double *at;                  /* where the Jacobian is made */
    double *jacobian_h;          /* the step that the Jacobian was made for; 0: there is none */
    double residual;             /* scaled, in the iteration before */
    bool made;                   /* in that one its Jacobian was made */
    unsigned asked;              /* iterations of this solution */
    unsigned sweeps;             /* of this step */
    bool away;                   /* units are not at the start of the step */
    bool begins;                 /* no sweep of this solution has been made */
};

/* N5 */
struct room {
    double *values, *start; /* now, and at the start of the macro step */
    size_t count;
};

struct interface {
    struct tutti_master *master;
    enum kind kind;
    struct tutti_cycles cycles;
    struct ring *rings;
    struct tutti_step_jacobian jacobian; /* columns of all cycles */
    struct tutti_step_meaning meaning;
    uint32_t *unknowns;                       /* per column: of its cycle */
    uint32_t *row_unknowns;                   /* per row: likewise */
    double *tried;                            /* per real: derivatives at the end of a step that is tried */
    size_t *places;                           /* per entry: in the matrix of its cycle */
    double *base;                             /* of the Jacobian */
    double *jacobian_h;                       /* per cycle */
    bool last;                                /* sweeps repeat the last own step of solvers ... */
    double *guessed_slopes[TUTTI_MOST_ORDER]; /* ... and these are the slopes of gathered inputs in the first one */
    struct room *rooms;                       /* all that Jacobians consist of */
    size_t room_count;
    unsigned long start_step;           /* the number of the macro step whose start they know */
    double *begin;                      /* per real: at the start of the step */
    unsigned long *before;              /* per member: do-steps before its last step */
    struct tutti_snapshot own;          /* where the step begins, if that is not the start of a macro step */
    const struct tutti_snapshot *start; /* ... or there */
    double target;
    struct tutti_outcome *outcome;
    unsigned long own_events;
    bool interrupted; /* the outcome says why */
};

static uint32_t unit_at(const struct interface *self, const struct tutti_stage *stage, uint32_t i)
{
    return self->cycles.stages.components[stage->first + i];
}

/* ---- a sweep over a cycle ---- */

static void attribute(struct interface *self, const struct tutti_member *member)
{
    struct tutti_unit_counts *counts = &member->unit->counts;
    unsigned long made = counts->do_steps - self->before[member->component];
    counts->auxiliary += made;
    counts->attributed += made;
    self->before[member->component] = counts->do_steps;
}

static enum tutti_err take_back(struct ring *ring)
{
    struct interface *self = ring->interface;
    struct tutti_rank *rank = self->master->rank;
    const struct tutti_stage *stage = ring->cycle->stage;
    for (uint32_t i = 0; i < stage->count; i++) {
        struct tutti_member *member = &rank->members[unit_at(self, stage, i)];
        if (!tutti_rank_owns(rank, member->component))
            continue;
        attribute(self, member);
        TRY(tutti_snapshot_restore_member(self->start, rank, member));
    }
    rank->own_events = self->own_events;
    ring->away = false;
    return TUTTI_OK;
}

/* A signal of the cycle moves from the start to the guess. */
static void lay_slope(const struct ring *ring, uint32_t value, const double *x)
{
    const struct interface *self = ring->interface;
    uint32_t real = ring->cycle->reals[value], rate = ring->rates[value];
    double h = self->target - self->master->rank->t;
    tutti_staging_lead(&self->master->staging, real, self->begin[real], x[value],
                       rate == TUTTI_NONE ? NAN : x[rate] / h, h);
}

/* --reevaluate last: what was staged for the whole step becomes what it is for the rest of it. An input that goes as it did goes on;
 * others turn to where they are to end. */
static void redirect(const struct interface *self, const struct tutti_member *member)
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

static void keep_guess(const struct interface *self, const struct tutti_member *member)
{
    const struct tutti_wires *wires = &self->master->rank->wires;
    uint32_t first = member->wires->gather_first;
    for (unsigned o = 0; o < wires->order; o++)
        memcpy(self->guessed_slopes[o] + first, wires->gathered_slopes[o] + first,
               member->wires->gather_count * sizeof(double));
}

/* Discrete inputs are staged before the first sweep, and after a solution (carry). */
static enum tutti_err stage_unit(struct interface *self, struct tutti_member *member, bool discrete)
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
static enum tutti_err step_unit(struct interface *self, struct tutti_member *member, bool whole,
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

static enum tutti_err step_stage(struct interface *self, const struct tutti_stage *stage, bool discrete,
                                 struct tutti_outcome *outcome)
{
    struct tutti_rank *rank = self->master->rank;
    for (uint32_t i = 0; i < stage->count; i++)
        if (tutti_rank_owns(rank, unit_at(self, stage, i)))
            TRY(stage_unit(self, &rank->members[unit_at(self, stage, i)], discrete));
    for (uint32_t i = 0; i < stage->count; i++)
        if (tutti_rank_owns(rank, unit_at(self, stage, i)))
            TRY(step_unit(self, &rank->members[unit_at(self, stage, i)], discrete && stage->cyclic, outcome));
    TRY(tutti_channels_exchange(&rank->channels));
    return tutti_couple_agree(self->master, outcome);
}

/* The step times the derivative of a value at its end; where the unit gives no number, that of the line stands for it. */
static double move_by(const struct ring *ring, uint32_t value, double end, const double *rates)
{
    const struct interface *self = ring->interface;
    uint32_t real = ring->cycle->reals[value];
    return isfinite(rates[real]) ? (self->target - self->master->rank->t) * rates[real] : end - self->begin[real];
}

static void take_image(const struct ring *ring, double *image)
{
    const struct tutti_wires *wires = &ring->interface->master->rank->wires;
    const double *signals = (const double *)(const void *)wires->signals;
    for (uint32_t k = 0; k < ring->cycle->n; k++) {
        uint32_t real = ring->cycle->reals[k];
        image[k] = signals[wires->reals[real].place];
        if (ring->rates[k] != TUTTI_NONE)
            image[ring->rates[k]] = move_by(ring, k, image[k], ring->interface->master->staging.ends);
    }
}

static enum tutti_err ask_units(struct interface *self, const struct tutti_stage *stage)
{
    for (uint32_t i = 0; i < stage->count; i++)
        if (tutti_rank_owns(self->master->rank, unit_at(self, stage, i)))
            TRY(tutti_staging_ask(&self->master->staging, unit_at(self, stage, i)));
    return tutti_staging_share(&self->master->staging);
}

static enum tutti_err go_to_last(const struct ring *ring)
{
    const struct interface *self = ring->interface;
    struct tutti_rank *rank = self->master->rank;
    const struct tutti_stage *stage = ring->cycle->stage;
    for (uint32_t i = 0; i < stage->count; i++)
        if (tutti_rank_owns(rank, unit_at(self, stage, i)))
            TRY(tutti_member_back_to_last(rank, &rank->members[unit_at(self, stage, i)]));
    return TUTTI_OK;
}

/* A guess that a unit refuses is outside, unless it is the first one: then the step is too long. An event ends the solution. */
static enum tutti_err sweep(void *context, const double *x, double *image, bool *outside)
{
    struct ring *ring = context;
    struct interface *self = ring->interface;
    struct tutti_outcome outcome = tutti_outcome_begin();
    if (ring->away)
        TRY(take_back(ring));
    if (self->last && ring->sweeps > 0)
        TRY(go_to_last(ring));
    for (uint32_t k = 0; k < ring->cycle->n; k++)
        lay_slope(ring, k, x);
    ring->away = true;
    TRY(step_stage(self, ring->cycle->stage, ring->sweeps == 0, &outcome));
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
    TRY(ask_units(self, ring->cycle->stage));
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

/* ---- the Jacobian ---- */

static uint32_t rows_of(const struct interface *self, uint32_t component)
{
    return self->jacobian.row_first[component + 1] - self->jacobian.row_first[component];
}

static enum tutti_err move_column(void *context, struct tutti_member *member, uint32_t column, double distance)
{
    const struct ring *ring = context;
    struct interface *self = ring->interface;
    uint32_t unknown = self->unknowns[column];
    double before = ring->at[unknown];
    if (self->last)
        TRY(tutti_member_back_to_last(self->master->rank, member));
    ring->at[unknown] += distance;
    lay_slope(ring, ring->values[unknown], ring->at);
    enum tutti_err err = stage_unit(self, member, false);
    ring->at[unknown] = before;
    lay_slope(ring, ring->values[unknown], ring->at);
    return err;
}

static enum tutti_err read_rows(void *context, struct tutti_member *member, double *rows)
{
    const struct ring *ring = context;
    const struct interface *self = ring->interface;
    const struct tutti_wires *wires = &self->master->rank->wires;
    const double *signals = (const double *)(const void *)wires->signals;
    const uint32_t *unknowns = self->row_unknowns + self->jacobian.row_first[member->component];
    uint32_t count = rows_of(self, member->component);
    if (self->master->staging.cubic)
        TRY(tutti_extrapolation_ask(&self->master->extrapolation, member->component, self->tried));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t value = ring->values[unknowns[i]];
        rows[i] = signals[wires->reals[ring->cycle->reals[value]].place];
        if (unknowns[i] != value)
            rows[i] = move_by(ring, value, rows[i], self->tried);
    }
    return TUTTI_OK;
}

/* Units that are tried are taken back there; others, which read nothing that moves, here. */
static enum tutti_err leave_to_trials(struct ring *ring)
{
    struct interface *self = ring->interface;
    struct tutti_rank *rank = self->master->rank;
    const struct tutti_cycle *cycle = ring->cycle;
    uint32_t c = 0; /* both lists are by component */
    for (uint32_t i = 0; i < cycle->stage->count; i++) {
        struct tutti_member *member = &rank->members[unit_at(self, cycle->stage, i)];
        while (c < cycle->column_count && cycle->columns[c].component < member->component)
            c++;
        if (!tutti_rank_owns(rank, member->component))
            continue;
        attribute(self, member);
        if (c == cycle->column_count || cycle->columns[c].component != member->component)
            TRY(tutti_snapshot_restore_member(self->start, rank, member));
    }
    rank->own_events = self->own_events;
    ring->away = false;
    return TUTTI_OK;
}

/* Where an input has no derivative it is taken for 0: the iteration goes on as that of relax there. */
static enum tutti_err measure(struct ring *ring, const double *x, bool by_derivatives)
{
    struct interface *self = ring->interface;
    struct tutti_master *master = self->master;
    const struct tutti_stage *stage = ring->cycle->stage;
    struct tutti_step_jacobian *jacobian = &self->jacobian;
    uint32_t first = ring->column_first, count = ring->column_count;
    bool complete;
    for (uint32_t i = 0; i < stage->count; i++)
        for (uint32_t component = unit_at(self, stage, i), row = jacobian->row_first[component];
             row < jacobian->row_first[component + 1]; row++)
            self->base[row] = ring->image[self->row_unknowns[row]];
    for (uint32_t c = first; c < first + count; c++)
        jacobian->columns[c].value = x[self->unknowns[c]];
    memcpy(ring->at, x, ring->n * sizeof *x);
    jacobian->meaning = by_derivatives && !master->staging.cubic ? &self->meaning : NULL;
    TRY(leave_to_trials(ring));
    TRY(tutti_step_jacobian_measure(jacobian, &(struct tutti_step_probe){ring, move_column, read_rows}, &master->rules,
                                    self->start, self->target, self->base, first, count, &complete));
    for (uint32_t c = first; c < first + count && !complete; c++)
        for (uint32_t i = 0; i < rows_of(self, jacobian->columns[c].component); i++) {
            double *entry = &jacobian->entries[jacobian->columns[c].first + i];
            *entry = isnan(*entry) ? 0 : *entry;
        }
    *ring->jacobian_h = self->target - master->rank->t;
    master->rank->stats->step_jacobians++;
    return TUTTI_OK;
}

static void put_entries(const struct ring *ring, double *matrix)
{
    const struct interface *self = ring->interface;
    const struct tutti_step_jacobian *jacobian = &self->jacobian;
    for (uint32_t c = ring->column_first; c < ring->column_first + ring->column_count; c++)
        for (uint32_t i = 0; i < rows_of(self, jacobian->columns[c].component); i++)
            matrix[self->places[jacobian->columns[c].first + i]] = jacobian->entries[jacobian->columns[c].first + i];
}

/* M += (dy - M dx) dx^T / dx^T dx, with sizes of the unknowns taken for 1. */
static void update_matrix(struct ring *ring, const double *x)
{
    uint32_t n = ring->n;
    double square = 0;
    for (uint32_t j = 0; j < n; j++)
        square += pow((x[j] - ring->seen_x[j]) / ring->problem.scale[j], 2);
    for (uint32_t i = 0; i < n && square > 0; i++) {
        double miss = ring->image[i] - ring->seen_image[i];
        for (uint32_t j = 0; j < n; j++)
            miss -= ring->matrix[(size_t)j * n + i] * (x[j] - ring->seen_x[j]);
        for (uint32_t j = 0; j < n; j++)
            ring->matrix[(size_t)j * n + i] += miss * (x[j] - ring->seen_x[j]) / pow(ring->problem.scale[j], 2) /
                                               square;
    }
}

static double residual_at(const struct ring *ring, const double *x)
{
    double largest = 0;
    for (uint32_t k = 0; k < ring->n; k++)
        largest = fmax(largest, fabs(x[k] - ring->image[k]) / fmax(ring->scale[k], fabs(x[k])));
    return largest;
}

/* Q1 to Q3. */
static bool must_measure(const struct ring *ring, double residual)
{
    const struct interface *self = ring->interface;
    double h = self->target - self->master->rank->t, made_for = *ring->jacobian_h;
    if (self->kind == JACOBIAN_FULL || !(made_for <= h * LONGER && made_for >= h / LONGER))
        return true;
    return self->kind == JACOBIAN_KEPT && ring->asked > 0 && residual > SLOW * ring->residual;
}

static enum tutti_err make_jacobian(void *context, const double *x, double *matrix)
{
    struct ring *ring = context;
    double residual = residual_at(ring, x);
    size_t size = (size_t)ring->n * ring->n * sizeof *matrix;
    bool made = must_measure(ring, residual);
    if (made) { /* N6 */
        TRY(measure(ring, x, residual <= SLOW * ring->residual || !ring->made));
        if (ring->matrix)
            memset(ring->matrix, 0, size);
        put_entries(ring, ring->matrix ? ring->matrix : matrix);
    } else if (ring->matrix && ring->asked > 0)
        update_matrix(ring, x);
    else if (!ring->matrix)
        put_entries(ring, matrix);
    if (ring->matrix) {
        memcpy(ring->seen_x, x, ring->n * sizeof *x);
        memcpy(ring->seen_image, ring->image, ring->n * sizeof *x);
        memcpy(matrix, ring->matrix, size);
    }
    ring->residual = residual;
    ring->made = made;
    ring->asked++;
    return TUTTI_OK;
}

/* N5 */
static void begin_with_jacobian(struct interface *self)
{
    const struct tutti_master *master = self->master;
    bool begins = master->memory.steps != self->start_step, again = master->start.t == master->rank->t;
    self->start_step = master->memory.steps;
    for (size_t i = 0; i < self->room_count && (begins || again); i++) {
        const struct room *room = &self->rooms[i];
        memcpy(begins ? room->start : room->values, begins ? room->values : room->start,
               room->count * sizeof *room->values);
    }
}

/* ---- opening ---- */

static enum tutti_err add_room(struct interface *self, double *values, size_t count)
{
    struct room *room = &self->rooms[self->room_count++];
    *room = (struct room){values, tutti_arena_array(&self->master->rank->arena, count, sizeof *values), count};
    return room->start ? tutti_remember(&self->master->remembered, values, count * sizeof *values)
                       : tutti_fail_memory();
}

static enum tutti_err open_pattern(struct ring *ring)
{
    struct interface *self = ring->interface;
    size_t count = 0, e = self->jacobian.columns[ring->column_first].first;
    struct tutti_pattern_place *list = calloc(self->jacobian.entry_count + 1, sizeof *list);
    if (!list)
        return tutti_fail_memory();
    for (uint32_t c = ring->column_first; c < ring->column_first + ring->column_count; c++)
        for (uint32_t component = self->jacobian.columns[c].component, row = self->jacobian.row_first[component];
             row < self->jacobian.row_first[component + 1]; row++)
            list[count++] = (struct tutti_pattern_place){(int32_t)self->row_unknowns[row], (int32_t)self->unknowns[c]};
    enum tutti_err err = tutti_pattern_init(&ring->pattern, (int32_t)ring->n, (int32_t)ring->n, list, count);
    bool sparse = !err && self->kind != JACOBIAN_BROYDEN && tutti_pattern_is_worth_sparse(&ring->pattern);
    for (size_t i = 0; i < count && !err; i++)
        self->places[e + i] = sparse ? tutti_pattern_find(&ring->pattern, &list[i])
                                     : (size_t)list[i].column * ring->n + (size_t)list[i].row;
    ring->problem.pattern = sparse ? &ring->pattern : NULL;
    free(list);
    return err;
}

static enum tutti_err open_ring(struct ring *ring)
{
    struct interface *self = ring->interface;
    struct tutti_rank *rank = self->master->rank;
    size_t n = ring->n;
    bool broyden = self->kind == JACOBIAN_BROYDEN;
    double **const vectors[] = {&ring->x,       &ring->image, &ring->residuals, &ring->scale,      &ring->first,
                                &ring->guessed, &ring->guess, &ring->seen_x,    &ring->seen_image, &ring->at};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        *vectors[i] = tutti_arena_array(&rank->arena, n, sizeof(double));
        if (!*vectors[i])
            return tutti_fail_memory();
    }
    if (n == 0)
        return TUTTI_OK;
    for (uint32_t k = 0; k < n; k++) {
        double nominal = rank->wires.reals[ring->cycle->reals[ring->values[k]]].nominal;
        ring->scale[k] = fmax(nominal * self->master->norm.atol / self->master->norm.rtol, 1e-100);
    }
    ring->problem = (struct tutti_fixed_point){.n = n,
                                               .context = ring,
                                               .evaluate = sweep,
                                               .scale = ring->scale,
                                               .krylov = self->kind == JACOBIAN_KRYLOV,
                                               .distance = DISTANCE};
    if (self->kind != JACOBIAN_KRYLOV) {
        ring->problem.jacobian = make_jacobian;
        TRY(open_pattern(ring));
    }
    ring->matrix = broyden ? tutti_arena_array(&rank->arena, n * n, sizeof(double)) : NULL;
    if (broyden && !ring->matrix)
        return tutti_fail_memory();
    if (broyden)
        TRY(add_room(self, ring->matrix, n * n));
    return tutti_newton_new(&ring->solver, &ring->problem);
}

/* Values, and which of them have derivatives. */
static enum tutti_err open_unknowns(struct ring *ring)
{
    const struct tutti_master *master = ring->interface->master;
    const struct tutti_cycle *cycle = ring->cycle;
    ring->n = cycle->n;
    ring->rates = tutti_arena_array(&master->rank->arena, cycle->n, sizeof *ring->rates);
    ring->values = tutti_arena_array(&master->rank->arena, 2 * (size_t)cycle->n, sizeof *ring->values);
    if (!ring->rates || !ring->values)
        return tutti_fail_memory();
    for (uint32_t k = 0; k < cycle->n; k++) {
        bool known = master->staging.cubic && tutti_extrapolation_gives(master->rank, cycle->reals[k]);
        ring->rates[k] = known ? ring->n++ : TUTTI_NONE;
        ring->values[k] = k;
        if (known)
            ring->values[ring->rates[k]] = k;
    }
    return TUTTI_OK;
}

/* Columns of a cycle, by component: a value is followed by its derivative. */
static void list_columns(struct ring *ring, struct tutti_step_column *list, uint32_t first)
{
    struct interface *self = ring->interface;
    const struct tutti_wires *wires = &self->master->rank->wires;
    ring->column_first = first;
    for (uint32_t c = 0; c < ring->cycle->column_count; c++) {
        uint32_t value = ring->cycle->columns[c].unknown;
        struct tutti_step_column column = {.component = ring->cycle->columns[c].component,
                                           .size = wires->reals[ring->cycle->reals[value]].nominal};
        list[first] = column;
        self->unknowns[first++] = value;
        if (ring->rates[value] == TUTTI_NONE)
            continue;
        list[first] = column;
        self->unknowns[first++] = ring->rates[value];
    }
    ring->column_count = first - ring->column_first;
}

static uint32_t component_of(const struct ring *ring, uint32_t unknown)
{
    const struct tutti_wires *wires = &ring->interface->master->rank->wires;
    return wires->reals[ring->cycle->reals[ring->values[unknown]]].component;
}

/* Rows of a unit are the unknowns that are its own. */
static enum tutti_err list_rows(struct interface *self, uint32_t rows)
{
    struct tutti_rank *rank = self->master->rank;
    uint32_t *used = tutti_arena_array(&rank->arena, rank->job->system->component_count, sizeof *used);
    double *sizes = tutti_arena_array(&rank->arena, rows, sizeof *sizes);
    self->base = tutti_arena_array(&rank->arena, rows, sizeof *self->base);
    self->row_unknowns = tutti_arena_array(&rank->arena, rows, sizeof *self->row_unknowns);
    self->places = tutti_arena_array(&rank->arena, self->jacobian.entry_count, sizeof *self->places);
    self->tried = tutti_arena_array(&rank->arena, rank->wires.real_count, sizeof *self->tried);
    if (!used || !sizes || !self->base || !self->row_unknowns || !self->places || !self->tried)
        return tutti_fail_memory();
    for (uint32_t r = 0; r < self->cycles.count; r++)
        for (uint32_t k = 0; k < self->rings[r].n; k++) {
            const struct ring *ring = &self->rings[r];
            uint32_t component = component_of(ring, k), row = self->jacobian.row_first[component] + used[component]++;
            sizes[row] = rank->wires.reals[ring->cycle->reals[ring->values[k]]].nominal;
            self->row_unknowns[row] = k;
        }
    self->jacobian.row_sizes = sizes;
    return TUTTI_OK;
}

/* Columns and rows of all cycles in one Jacobian. */
static enum tutti_err open_jacobian(struct interface *self)
{
    struct tutti_rank *rank = self->master->rank;
    uint32_t columns = 0, rows = 0, components = rank->job->system->component_count;
    for (uint32_t r = 0; r < self->cycles.count; r++)
        columns += 2 * self->cycles.items[r].column_count;
    uint32_t *row_count = tutti_arena_array(&rank->arena, components, sizeof *row_count);
    struct tutti_step_column *list = tutti_arena_array(&rank->arena, columns, sizeof *list);
    self->unknowns = tutti_arena_array(&rank->arena, columns, sizeof *self->unknowns);
    if (!row_count || !list || !self->unknowns)
        return tutti_fail_memory();
    columns = 0;
    for (uint32_t r = 0; r < self->cycles.count; r++) {
        struct ring *ring = &self->rings[r];
        for (uint32_t k = 0; k < ring->n; k++, rows++)
            row_count[component_of(ring, k)]++;
        list_columns(ring, list, columns);
        columns += ring->column_count;
    }
    TRY(tutti_step_jacobian_init(&self->jacobian, rank, list, columns, row_count));
    TRY(list_rows(self, rows));
    if (!self->master->staging.cubic)
        TRY(tutti_cycles_mean(&self->cycles, rank, self->jacobian.row_first, &self->meaning));
    self->meaning.begin = self->last ? tutti_member_back_to_last : NULL;
    return add_room(self, self->jacobian.entries, self->jacobian.entry_count);
}

/* ---- the last own step of solvers ---- */

static enum tutti_err check_last(const struct tutti_member *member)
{
    const struct tutti_unit *unit = member->unit;
    const struct tutti_solver_kind *kind = member->setup.integration.solver;
    kind = kind ? kind : tutti_solver_kinds[0];
    if (unit->kind->interface != TUTTI_ME)
        return tutti_fail(
            TUTTI_ERR_ARGUMENT,
            "--reevaluate last repeats the last step of a unit's solver, and '%s' (%s) is of Co-Simulation, "
            "whose solver is its own; use --interface me, or --reevaluate full",
            unit->name, unit->fmu->path);
    if (!kind->saved_size && unit->fmu->desc->state_count > 0)
        return tutti_fail(
            TUTTI_ERR_ARGUMENT,
            "--reevaluate last repeats the last step of a unit's solver, and %s of '%s' cannot go back to "
            "where that began; use --solver bdf, radau5 or one with fixed steps, or --reevaluate full",
            kind->name, unit->name);
    if (member->setup.integration.average)
        return tutti_fail(TUTTI_ERR_ARGUMENT,
                          "--reevaluate last goes without --filter average: '%s' has averages over whole steps",
                          unit->name);
    return TUTTI_OK;
}

static enum tutti_err open_last(struct interface *self)
{
    struct tutti_rank *rank = self->master->rank;
    self->last = self->master->chosen.last_only;
    for (uint32_t r = 0; r < self->cycles.count && self->last; r++)
        for (uint32_t i = 0; i < self->cycles.items[r].stage->count; i++)
            TRY(check_last(&rank->members[unit_at(self, self->cycles.items[r].stage, i)]));
    for (unsigned o = 0; o < rank->wires.order && self->last; o++) {
        self->guessed_slopes[o] = tutti_arena_array(&rank->arena, rank->wires.gather_count, sizeof(double));
        if (!self->guessed_slopes[o])
            return tutti_fail_memory();
    }
    return TUTTI_OK;
}

static enum tutti_err open_newton(struct tutti_master *master, void *coupling)
{
    struct interface *self = coupling;
    struct tutti_rank *rank = master->rank;
    int kind;
    self->master = master;
    TRY(tutti_option_choose("newton", rank->job->options.newton, &kind));
    self->kind = (enum kind)kind;
    TRY(tutti_cycles_init(&self->cycles, rank, &master->running));
    TRY(open_last(self));
    self->rings = tutti_arena_array(&rank->arena, self->cycles.count, sizeof *self->rings);
    self->rooms = tutti_arena_array(&rank->arena, (size_t)self->cycles.count + 2, sizeof *self->rooms);
    self->jacobian_h = tutti_arena_array(&rank->arena, self->cycles.count, sizeof *self->jacobian_h);
    self->begin = tutti_arena_array(&rank->arena, rank->wires.real_count, sizeof *self->begin);
    self->before = tutti_arena_array(&rank->arena, rank->member_count, sizeof *self->before);
    if (!self->rings || !self->rooms || !self->jacobian_h || !self->begin || !self->before)
        return tutti_fail_memory();
    TRY(tutti_remember(&master->remembered, &self->start_step, sizeof self->start_step));
    TRY(add_room(self, self->jacobian_h, self->cycles.count));
    for (uint32_t r = 0; r < self->cycles.count; r++) {
        self->rings[r].interface = self;
        self->rings[r].cycle = &self->cycles.items[r];
        self->rings[r].jacobian_h = &self->jacobian_h[r];
        TRY(open_unknowns(&self->rings[r]));
    }
    TRY(open_jacobian(self));
    for (uint32_t r = 0; r < self->cycles.count; r++)
        TRY(open_ring(&self->rings[r]));
    return TUTTI_OK;
}

static void close_newton(struct tutti_master *master, void *coupling)
{
    struct interface *self = coupling;
    for (uint32_t r = 0; self->rings && r < self->cycles.count; r++) {
        tutti_newton_free(self->rings[r].solver);
        tutti_pattern_fini(&self->rings[r].pattern);
    }
    tutti_step_jacobian_fini(&self->jacobian);
    tutti_cycles_fini(&self->cycles);
    tutti_snapshot_fini(&self->own, master->rank);
}

/* ---- around a solution ---- */

/* The first guess is where the signals go by extrapolation. */
static void predict(struct ring *ring)
{
    const struct interface *self = ring->interface;
    const struct tutti_wires *wires = &self->master->rank->wires;
    double h = self->target - self->master->rank->t;
    for (uint32_t k = 0; k < ring->cycle->n; k++) {
        double begin = self->begin[ring->cycle->reals[k]], move = 0, rate = 0, power = 1;
        for (unsigned o = 0; o < wires->order && self->master->extrapolation.order > 0; o++) {
            double slope = wires->slopes[o][wires->reals[ring->cycle->reals[k]].place];
            rate += power * slope;
            power *= h / (o + 1);
            move += power * slope;
        }
        ring->x[k] = begin + move;
        if (ring->rates[k] == TUTTI_NONE)
            continue;
        ring->x[ring->rates[k]] = h * rate; /* which counts as much as the value does */
        ring->scale[ring->rates[k]] = fmax(ring->scale[k], fabs(begin));
    }
}

/* Where the error of a step may be a part of the tolerance only, a tenth of that; but no less than rounding. */
static double tolerance_of(const struct interface *self)
{
    const struct tutti_master *master = self->master;
    const struct tutti_norm *norm = &master->norm;
    double part = (self->target - master->rank->t) / master->rank->span;
    return norm->rtol * (norm->per_time ? fmax(0.1 * part, 1e-13 / norm->rtol) : 1);
}

/* What is discrete goes to those of the cycle that read it; *other: it is another than in the last solution. */
static enum tutti_err carry(struct ring *ring, bool *other)
{
    struct interface *self = ring->interface;
    struct tutti_rank *rank = self->master->rank;
    const struct tutti_cycle *cycle = ring->cycle;
    *other = false;
    for (uint32_t i = 0; i < cycle->piece_count; i++) {
        const struct tutti_cycle_piece *piece = &cycle->pieces[i];
        char *begin = self->master->staging.begin + piece->offset;
        const char *now = rank->wires.signals + piece->offset;
        *other = *other || memcmp(begin, now, piece->size) != 0;
        memcpy(begin, now, piece->size);
    }
    for (uint32_t i = 0; i < cycle->stage->count; i++) {
        struct tutti_member *member = &rank->members[unit_at(self, cycle->stage, i)];
        if (!tutti_rank_owns(rank, member->component) || member->unit->has_events)
            continue;
        bool before = member->wires->held_changed;
        member->wires->held_changed = false;
        TRY(tutti_wires_gather_held(&rank->wires, member->wires));
        *other = *other || member->wires->held_changed;
        member->wires->held_changed = member->wires->held_changed || before;
    }
    return tutti_agree_any(rank, other);
}

/* ---- failure ---- */

/* The unknown with the largest residual that is not named yet; ring->n: there is none. */
static uint32_t find_worst(const struct ring *ring, const bool *named)
{
    uint32_t worst = ring->n;
    double largest = -1;
    for (uint32_t k = 0; k < ring->n; k++) {
        double residual = fabs(ring->residuals[k]) / fmax(ring->scale[k], fabs(ring->x[k]));
        residual = isnan(residual) ? INFINITY : residual;
        if (!named[k] && residual > largest) {
            largest = residual;
            worst = k;
        }
    }
    return worst;
}

static const struct tutti_structure_node *node_of(const struct ring *ring, uint32_t unknown)
{
    const struct tutti_rank *rank = ring->interface->master->rank;
    return &rank->job->structure.nodes[rank->wires.reals[ring->cycle->reals[ring->values[unknown]]].node];
}

static uint32_t find_reader(const struct ring *ring, uint32_t unknown)
{
    uint32_t c = 0;
    while (ring->cycle->columns[c].unknown != ring->values[unknown])
        c++;
    return ring->cycle->columns[c].component;
}

/* "'a.y' goes to 'b' as 1.5 and comes back as 1.25, ..." */
static void name_residuals(const struct ring *ring, struct tutti_text *text)
{
    const struct tutti_system *system = ring->interface->master->rank->job->system;
    bool *named = calloc((size_t)ring->n + 1, sizeof *named);
    for (unsigned i = 0; named && i < MOST_NAMED; i++) {
        uint32_t k = find_worst(ring, named);
        if (k == ring->n)
            break;
        char name[256];
        struct tutti_end end = {.component = node_of(ring, k)->component, .variable = node_of(ring, k)->variable};
        bool rate = ring->values[k] != k;
        double unit = rate ? ring->interface->target - ring->interface->master->rank->t : 1;
        tutti_text_printf(text, "%s%s'%s' goes to '%s' as %.9g and comes back as %.9g", i ? ", " : "",
                          rate ? "the derivative of " : "", tutti_system_name(system, &end, name, sizeof name),
                          system->components[find_reader(ring, k)].name, ring->x[k] / unit,
                          (ring->x[k] - ring->residuals[k]) / unit);
        named[k] = true;
    }
    free(named);
}

/* However short the step is. The message is the reason. */
static enum tutti_err give_up(const struct ring *ring, double distance)
{
    const struct interface *self = ring->interface;
    struct tutti_text text = {0};
    char reason[400];
    snprintf(reason, sizeof reason, "%s", tutti_err_message());
    name_residuals(ring, &text);
    if (distance > 0)
        tutti_text_printf(&text, "; the condition number is about %.0e", 1 / distance);
    enum tutti_err err = tutti_fail(
        TUTTI_ERR_SOLVER,
        "t = %s: the step to %s, and all longer ones, have no solution: %s (%s). Look at these connections (tutti "
        "analyze); use another --step, --max-iterations, --newton full, --coupling relax --accelerate anderson, or "
        "--coupling seidel",
        TIME(self->master->rank->t), TIME(self->target), reason, text.text ? text.text : "");
    tutti_text_fini(&text);
    return err;
}

/* A shorter step has a Jacobian that is nearer to I, unless there is an algebraic loop: so halves are tried first. */
static enum tutti_err fail(struct ring *ring, const struct tutti_newton_counts *counts)
{
    struct interface *self = ring->interface;
    const struct tutti_rank *rank = self->master->rank;
    double h = self->target - rank->t;
    *ring->jacobian_h = 0;
    if (h < LEAST_STEP * self->master->memory.stepper.first)
        return give_up(ring, counts->distance);
    bool *none = calloc((size_t)ring->n + 1, sizeof *none);
    if (!none)
        return tutti_fail_memory();
    uint32_t worst = find_worst(ring, none);
    free(none);
    tutti_outcome_refused(self->outcome, node_of(ring, worst)->component, rank->t);
    self->interrupted = true;
    return TUTTI_OK;
}

/* ---- a step ---- */

/* How far the solution is from its first guess, as a multiple of the residual there, both relative to the sizes of the signals. */
static double find_amplification(const struct ring *ring)
{
    double far = 0, residual = 0;
    for (uint32_t k = 0; k < ring->n; k++) {
        double size = fmax(ring->scale[k], fmax(fabs(ring->guess[k]), fabs(ring->x[k])));
        far = fmax(far, fabs(ring->x[k] - ring->guess[k]) / size);
        residual = fmax(residual, fabs(ring->guessed[k] - ring->guess[k]) / size);
    }
    return far > 0 ? far / residual : 0;
}

/* KINSOL has found something: is it a solution? */
static enum tutti_err look_at_solution(struct ring *ring, struct tutti_newton_counts *counts)
{
    double amplification = find_amplification(ring);
    if (!(amplification > SINGULAR))
        return TUTTI_OK;
    counts->distance = 1 / amplification;
    return tutti_fail(TUTTI_ERR_SOLVER, "the Jacobian is singular, up to a relative change of %.0e", 1 / amplification);
}

/* With what is discrete as it is. */
static enum tutti_err solve_reals(struct ring *ring)
{
    struct interface *self = ring->interface;
    struct tutti_rank *rank = self->master->rank;
    struct tutti_newton_counts counts = {0};
    struct tutti_newton_options options = {.tolerance = tolerance_of(self),
                                           .iterations = self->master->most_iterations};
    bool outside = false;
    enum tutti_err err;
    ring->asked = 0;
    ring->made = false;
    ring->begins = true;
    memcpy(ring->guess, ring->x, ring->n * sizeof *ring->guess);
    if (ring->n == 0)
        err = sweep(ring, ring->x, ring->image, &outside);
    else
        err = tutti_newton_solve(ring->solver, &options, ring->x, ring->residuals, &counts);
    rank->stats->newton_iterations += counts.iterations;
    if (self->interrupted)
        return TUTTI_OK;
    if (!err && counts.iterations > 0)
        err = look_at_solution(ring, &counts);
    if (outside) { /* nothing to solve, but repeated for what is discrete */
        tutti_outcome_refused(self->outcome, unit_at(self, ring->cycle->stage, 0), rank->t);
        self->interrupted = true;
    }
    return err == TUTTI_ERR_SOLVER ? fail(ring, &counts) : err;
}

/* What is discrete becomes again what it was at the start of the step. */
static enum tutti_err carry_back(struct ring *ring)
{
    struct interface *self = ring->interface;
    struct tutti_rank *rank = self->master->rank;
    const struct tutti_stage *stage = ring->cycle->stage;
    const uint32_t *components = self->cycles.stages.components + stage->first;
    for (uint32_t i = 0; i < stage->count; i++)
        if (tutti_rank_owns(rank, components[i]))
            attribute(self, &rank->members[components[i]]);
    TRY(tutti_snapshot_restore_some(self->start, rank, components, stage->count));
    rank->own_events = self->own_events;
    ring->away = false;
    for (uint32_t i = 0; i < ring->cycle->piece_count; i++) {
        const struct tutti_cycle_piece *piece = &ring->cycle->pieces[i];
        memcpy(self->master->staging.begin + piece->offset, self->start->signals + piece->offset, piece->size);
    }
    for (uint32_t i = 0; i < stage->count; i++) {
        struct tutti_member *member = &rank->members[components[i]];
        if (tutti_rank_owns(rank, components[i]) && !member->unit->has_events)
            TRY(tutti_wires_gather_held(&rank->wires, member->wires));
    }
    return TUTTI_OK;
}

/* Where changes of discrete outputs are located, they are none inside of a step: such a step is cut there. What flips back and forth
 * (a relay that switches itself off) stays as it was at the start. */
static enum tutti_err settle(struct ring *ring)
{
    struct interface *self = ring->interface;
    bool other = !self->master->chosen.detection->outputs;
    for (unsigned round = 1; other && round < self->master->most_iterations; round++) {
        TRY(carry(ring, &other));
        if (other)
            TRY(solve_reals(ring));
        if (self->interrupted)
            return TUTTI_OK;
    }
    if (!other)
        return TUTTI_OK;
    self->outcome->converged = false;
    TRY(carry_back(ring));
    return solve_reals(ring);
}

static enum tutti_err solve(struct ring *ring)
{
    struct interface *self = ring->interface;
    ring->sweeps = 0;
    ring->away = false;
    self->own_events = self->master->rank->own_events;
    predict(ring);
    TRY(solve_reals(ring));
    if (!self->interrupted)
        TRY(settle(ring));
    if (self->outcome->iterations < ring->sweeps)
        self->outcome->iterations = ring->sweeps;
    return TUTTI_OK;
}

/* Units that lie in no cycle: once. */
static enum tutti_err step_once(struct interface *self, const struct tutti_stage *stage)
{
    struct tutti_outcome outcome = tutti_outcome_begin();
    TRY(step_stage(self, stage, true, &outcome));
    if (outcome.why == TUTTI_REACHED)
        return ask_units(self, stage);
    *self->outcome = outcome;
    self->interrupted = true;
    return TUTTI_OK;
}

/* Awais 2015 eq. 5.22: what the iteration changed of its first result. */
static double measure_divergence(const struct interface *self)
{
    double square = 0, largest = 0;
    for (uint32_t r = 0; r < self->cycles.count; r++)
        for (uint32_t k = 0; k < self->rings[r].cycle->n; k++) {
            double change = fabs(self->rings[r].image[k] - self->rings[r].first[k]);
            square += change * change;
            largest = fmax(largest, change);
        }
    return sqrt(square) + LARGEST_WEIGHT * largest;
}

static enum tutti_err step_all(struct interface *self)
{
    struct tutti_master *master = self->master;
    const struct tutti_stages *stages = &self->cycles.stages;
    uint32_t ring = 0;
    for (uint32_t s = 0; s < stages->count; s++) {
        TRY(stages->items[s].cyclic ? solve(&self->rings[ring++]) : step_once(self, &stages->items[s]));
        if (self->interrupted)
            return TUTTI_OK;
        for (uint32_t i = 0; i < stages->items[s].count; i++)
            tutti_staging_pass_on(&master->staging, unit_at(self, &stages->items[s], i),
                                  self->target - master->rank->t);
    }
    self->outcome->divergence = measure_divergence(self);
    return TUTTI_OK;
}

static enum tutti_err step(struct tutti_master *master, void *coupling, double target, struct tutti_outcome *outcome)
{
    struct interface *self = coupling;
    struct tutti_rank *rank = master->rank;
    self->start = &master->start;
    if (self->start->t != rank->t) {
        TRY(tutti_snapshot_take(&self->own, rank));
        self->start = &self->own;
    }
    self->target = target;
    self->outcome = outcome;
    self->interrupted = false;
    outcome->iterations = 1;
    begin_with_jacobian(self);
    memcpy(master->staging.begin, rank->wires.signals, rank->wires.signal_size);
    tutti_wires_take_reals(&rank->wires, rank->wires.signals, self->begin);
    return step_all(self);
}

/* Linear interpolation between both ends, or that of Hermite. */
static unsigned order(unsigned extrapolation)
{
    return extrapolation == TUTTI_CUBIC ? 4 : 2;
}

const struct tutti_coupling tutti_coupling_newton = {.name = "newton",
                                                     .iterates = true,
                                                     .size = sizeof(struct interface),
                                                     .open = open_newton,
                                                     .close = close_newton,
                                                     .step = step,
                                                     .order = order};
