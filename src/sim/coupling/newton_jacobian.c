/* SPDX-License-Identifier: MIT */
/* A Jacobian is made:
 *  Q1  `kept`: if none exists, or it was made for a step that was longer or shorter by a quarter; or if the last
 *      iteration has left more than a tenth of the residual. Otherwise it is kept, also from step to step.
 *  Q2  `full`: in every iteration.
 *  Q3  `broyden`: in the first iteration of a step as with `kept`; then it is updated by what iterations show
 *      (Broyden 1965).
 *  N4  A failed solution discards it.
 *  N5  A rejected step discards the Jacobians made in it: all attempts of a macro step begin with an equal state.
 *  N6  It is made from derivatives of Model Exchange units, unless such a Jacobian has served badly in the previous
 *      iteration. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/coupling/interface_newton.h"

static const double LONGER = 1.25, SLOW = 0.1; /* of Q1 */

static uint32_t newton_jacobian_unit_rows(const struct tt_interface_newton *self, uint32_t component)
{
    return self->jacobian.row_first[component + 1] - self->jacobian.row_first[component];
}

static enum tutti_err move_jacobian_column(void *context, struct tt_member *member, uint32_t column, double distance)
{
    const struct tt_newton_cycle *ring = context;
    struct tt_interface_newton *self = ring->interface;
    uint32_t unknown = self->unknowns[column];
    double before = ring->at[unknown];
    if (self->last)
        TRY(tt_component_restore_last_step(self->master->rank, member));
    ring->at[unknown] += distance;
    tt_interface_newton_set_slope(ring, ring->values[unknown], ring->at);
    enum tutti_err err = tt_interface_newton_stage_unit(self, member, false);
    ring->at[unknown] = before;
    tt_interface_newton_set_slope(ring, ring->values[unknown], ring->at);
    return err;
}

static enum tutti_err newton_jacobian_read_rows(void *context, struct tt_member *member, double *rows)
{
    const struct tt_newton_cycle *ring = context;
    const struct tt_interface_newton *self = ring->interface;
    const struct tt_wires *wires = &self->master->rank->wires;
    const double *signals = (const double *)(const void *)wires->signals;
    const uint32_t *unknowns = self->row_unknowns + self->jacobian.row_first[member->component];
    uint32_t count = newton_jacobian_unit_rows(self, member->component);
    if (self->master->staging.cubic)
        TRY(tt_extrapolation_get_rates(&self->master->extrapolation, member->component, self->tried));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t value = ring->values[unknowns[i]];
        rows[i] = signals[wires->reals[ring->cycle->reals[value]].place];
        if (unknowns[i] != value)
            rows[i] = tt_interface_newton_unknown_change(ring, value, rows[i], self->tried);
    }
    return TUTTI_OK;
}

/* Units that are tried are taken back there; others, which read nothing that moves, here. */
static enum tutti_err restore_for_trials(struct tt_newton_cycle *ring)
{
    struct tt_interface_newton *self = ring->interface;
    struct tt_rank *rank = self->master->rank;
    const struct tt_cycle *cycle = ring->cycle;
    uint32_t c = 0; /* both lists are by component */
    for (uint32_t i = 0; i < cycle->stage->count; i++) {
        struct tt_member *member = &rank->members[tt_interface_newton_unit_at(self, cycle->stage, i)];
        while (c < cycle->column_count && cycle->columns[c].component < member->component)
            c++;
        if (!tt_rank_owns(rank, member->component))
            continue;
        tt_interface_newton_count_steps(self, member);
        if (c == cycle->column_count || cycle->columns[c].component != member->component)
            TRY(tt_snapshot_restore_member(self->start, rank, member));
    }
    rank->own_events = self->own_events;
    ring->away = false;
    return TUTTI_OK;
}

/* If an input has no derivative, 0 is assumed: the iteration there continues as that of relax. */
static enum tutti_err newton_jacobian_measure(struct tt_newton_cycle *ring, const double *x, bool by_derivatives)
{
    struct tt_interface_newton *self = ring->interface;
    struct tt_sim *master = self->master;
    const struct tt_step_stage *stage = ring->cycle->stage;
    struct tt_step_jacobian *jacobian = &self->jacobian;
    uint32_t first = ring->column_first, count = ring->column_count;
    bool complete;
    for (uint32_t i = 0; i < stage->count; i++)
        for (uint32_t component = tt_interface_newton_unit_at(self, stage, i), row = jacobian->row_first[component];
             row < jacobian->row_first[component + 1]; row++)
            self->base[row] = ring->image[self->row_unknowns[row]];
    for (uint32_t c = first; c < first + count; c++)
        jacobian->columns[c].value = x[self->unknowns[c]];
    memcpy(ring->at, x, ring->n * sizeof *x);
    jacobian->meaning = by_derivatives && !master->staging.cubic ? &self->meaning : NULL;
    TRY(restore_for_trials(ring));
    TRY(tt_step_jacobian_measure(jacobian,
                                 &(struct tt_step_probe){ring, move_jacobian_column, newton_jacobian_read_rows},
                                 self->rules, self->start, self->target, self->base, first, count, &complete));
    for (uint32_t c = first; c < first + count && !complete; c++)
        for (uint32_t i = 0; i < newton_jacobian_unit_rows(self, jacobian->columns[c].component); i++) {
            double *entry = &jacobian->entries[jacobian->columns[c].first + i];
            *entry = isnan(*entry) ? 0 : *entry;
        }
    *ring->jacobian_h = self->target - master->rank->t;
    master->rank->stats->step_jacobians++;
    return TUTTI_OK;
}

static void copy_jacobian_entries(const struct tt_newton_cycle *ring, double *matrix)
{
    const struct tt_interface_newton *self = ring->interface;
    const struct tt_step_jacobian *jacobian = &self->jacobian;
    for (uint32_t c = ring->column_first; c < ring->column_first + ring->column_count; c++)
        for (uint32_t i = 0; i < newton_jacobian_unit_rows(self, jacobian->columns[c].component); i++)
            matrix[self->places[jacobian->columns[c].first + i]] = jacobian->entries[jacobian->columns[c].first + i];
}

/* M += (dy - M dx) dx^T / dx^T dx, with sizes of the unknowns taken for 1. */
static void broyden_update(struct tt_newton_cycle *ring, const double *x)
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

/* Q1 to Q3. */
static bool must_remeasure(const struct tt_newton_cycle *ring, double residual)
{
    const struct tt_interface_newton *self = ring->interface;
    double h = self->target - self->master->rank->t, made_for = *ring->jacobian_h;
    if (self->kind == TUTTI_NEWTON_FULL || !(made_for <= h * LONGER && made_for >= h / LONGER))
        return true;
    return self->kind == TUTTI_NEWTON_KEPT && ring->asked > 0 && residual > SLOW * ring->residual;
}

enum tutti_err tt_newton_jacobian_compute(void *context, const double *x, double *matrix)
{
    struct tt_newton_cycle *ring = context;
    double residual = 0;
    for (uint32_t k = 0; k < ring->n; k++)
        residual = fmax(residual, fabs(x[k] - ring->image[k]) / fmax(ring->scale[k], fabs(x[k])));
    size_t size = (size_t)ring->n * ring->n * sizeof *matrix;
    bool made = must_remeasure(ring, residual);
    if (made) { /* N6 */
        TRY(newton_jacobian_measure(ring, x, residual <= SLOW * ring->residual || !ring->made));
        if (ring->matrix)
            memset(ring->matrix, 0, size);
        copy_jacobian_entries(ring, ring->matrix ? ring->matrix : matrix);
    } else if (ring->matrix && ring->asked > 0)
        broyden_update(ring, x);
    else if (!ring->matrix)
        copy_jacobian_entries(ring, matrix);
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
void tt_newton_jacobian_begin(struct tt_interface_newton *self)
{
    const struct tt_sim *master = self->master;
    bool begins = master->memory.steps != self->start_step, again = master->start.t == master->rank->t;
    self->start_step = master->memory.steps;
    for (size_t i = 0; i < self->room_count && (begins || again); i++) {
        const struct tt_newton_saved *room = &self->rooms[i];
        memcpy(begins ? room->start : room->values, begins ? room->values : room->start,
               room->count * sizeof *room->values);
    }
}

/* ---- opening ---- */

/* Columns of a cycle, by component: a value is followed by its derivative. */
static void list_jacobian_columns(struct tt_newton_cycle *ring, struct tt_step_column *list, uint32_t first)
{
    struct tt_interface_newton *self = ring->interface;
    const struct tt_wires *wires = &self->master->rank->wires;
    ring->column_first = first;
    for (uint32_t c = 0; c < ring->cycle->column_count; c++) {
        uint32_t value = ring->cycle->columns[c].unknown;
        struct tt_step_column column = {.component = ring->cycle->columns[c].component,
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

static uint32_t newton_jacobian_unknown_component(const struct tt_newton_cycle *ring, uint32_t unknown)
{
    const struct tt_wires *wires = &ring->interface->master->rank->wires;
    return wires->reals[ring->cycle->reals[ring->values[unknown]]].component;
}

/* Rows of a unit are the unknowns that are its own. */
static enum tutti_err newton_jacobian_list_rows(struct tt_interface_newton *self, uint32_t rows)
{
    struct tt_rank *rank = self->master->rank;
    uint32_t *used = tt_arena_array(&rank->arena, rank->job->system->component_count, sizeof *used);
    double *sizes = tt_arena_array(&rank->arena, rows, sizeof *sizes);
    self->base = tt_arena_array(&rank->arena, rows, sizeof *self->base);
    self->row_unknowns = tt_arena_array(&rank->arena, rows, sizeof *self->row_unknowns);
    self->places = tt_arena_array(&rank->arena, self->jacobian.entry_count, sizeof *self->places);
    self->tried = tt_arena_array(&rank->arena, rank->wires.real_count, sizeof *self->tried);
    if (!used || !sizes || !self->base || !self->row_unknowns || !self->places || !self->tried)
        return tt_fail_memory();
    for (uint32_t r = 0; r < self->cycles.count; r++)
        for (uint32_t k = 0; k < self->rings[r].n; k++) {
            const struct tt_newton_cycle *ring = &self->rings[r];
            uint32_t component = newton_jacobian_unknown_component(ring, k),
                     row = self->jacobian.row_first[component] + used[component]++;
            sizes[row] = rank->wires.reals[ring->cycle->reals[ring->values[k]]].nominal;
            self->row_unknowns[row] = k;
        }
    self->jacobian.row_sizes = sizes;
    return TUTTI_OK;
}

enum tutti_err tt_newton_jacobian_open(struct tt_interface_newton *self)
{
    struct tt_rank *rank = self->master->rank;
    uint32_t columns = 0, rows = 0, components = rank->job->system->component_count;
    for (uint32_t r = 0; r < self->cycles.count; r++)
        columns += 2 * self->cycles.items[r].column_count;
    uint32_t *row_count = tt_arena_array(&rank->arena, components, sizeof *row_count);
    struct tt_step_column *list = tt_arena_array(&rank->arena, columns, sizeof *list);
    self->unknowns = tt_arena_array(&rank->arena, columns, sizeof *self->unknowns);
    if (!row_count || !list || !self->unknowns)
        return tt_fail_memory();
    columns = 0;
    for (uint32_t r = 0; r < self->cycles.count; r++) {
        struct tt_newton_cycle *ring = &self->rings[r];
        for (uint32_t k = 0; k < ring->n; k++, rows++)
            row_count[newton_jacobian_unknown_component(ring, k)]++;
        list_jacobian_columns(ring, list, columns);
        columns += ring->column_count;
    }
    TRY(tt_step_jacobian_init(&self->jacobian, rank, list, columns, row_count));
    TRY(newton_jacobian_list_rows(self, rows));
    if (!self->master->staging.cubic)
        TRY(tt_cycles_describe_columns(&self->cycles, rank, self->jacobian.row_first, &self->meaning));
    self->meaning.begin = self->last ? tt_component_restore_last_step : NULL;
    return tt_newton_jacobian_add_saved(self, self->jacobian.entries, self->jacobian.entry_count);
}

enum tutti_err tt_newton_jacobian_add_saved(struct tt_interface_newton *self, double *values, size_t count)
{
    struct tt_newton_saved *room = &self->rooms[self->room_count++];
    *room = (struct tt_newton_saved){values, tt_arena_array(&self->master->rank->arena, count, sizeof *values), count};
    return room->start ? tt_rollback_list_add(&self->master->remembered, values, count * sizeof *values)
                       : tt_fail_memory();
}

enum tutti_err tt_newton_jacobian_open_pattern(struct tt_newton_cycle *ring)
{
    struct tt_interface_newton *self = ring->interface;
    size_t count = 0, e = self->jacobian.columns[ring->column_first].first;
    struct tt_pattern_place *list = calloc(self->jacobian.entry_count + 1, sizeof *list);
    if (!list)
        return tt_fail_memory();
    for (uint32_t c = ring->column_first; c < ring->column_first + ring->column_count; c++)
        for (uint32_t component = self->jacobian.columns[c].component, row = self->jacobian.row_first[component];
             row < self->jacobian.row_first[component + 1]; row++)
            list[count++] = (struct tt_pattern_place){(int32_t)self->row_unknowns[row], (int32_t)self->unknowns[c]};
    enum tutti_err err = tt_pattern_init(&ring->pattern, (int32_t)ring->n, (int32_t)ring->n, list, count);
    bool sparse = !err && self->kind != TUTTI_NEWTON_BROYDEN && tt_pattern_is_worth_sparse(&ring->pattern);
    for (size_t i = 0; i < count && !err; i++)
        self->places[e + i] = sparse ? tt_pattern_find(&ring->pattern, &list[i])
                                     : (size_t)list[i].column * ring->n + (size_t)list[i].row;
    ring->problem.pattern = sparse ? &ring->pattern : NULL;
    free(list);
    return err;
}
