/* SPDX-License-Identifier: MIT */
#include "sim/coupling/step_jacobian.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/rank.h"
#include "solve/matrix.h"
#include "unit/me_linear.h"

/* How far an input moves, as a part of its size: a tenth of the root of the tolerance that the unit's solver has, so that neither its
 * errors nor the bend of the outputs hide the derivative; the most where Float32 has only 24 bits to show it. */
static const double LEAST_DISTANCE = 1e-6, MOST_DISTANCE = 1e-3, USUAL_DISTANCE = 1e-5;
/* An output that moves by this multiple of that part of its size may have jumped: then the quotient is measured again. */
static const double STEEP = 1e3;

enum tutti_err tt_step_jacobian_init(struct tt_step_jacobian *jacobian, struct tt_rank *rank,
                                     struct tt_step_column *columns, uint32_t column_count, const uint32_t *row_count)
{
    uint32_t most = 0, components = rank->job->system->component_count;
    *jacobian = (struct tt_step_jacobian){.rank = rank, .columns = columns, .column_count = column_count};
    for (uint32_t k = 0; k < column_count; k++) {
        uint32_t rows = row_count[columns[k].component];
        columns[k].first = jacobian->entry_count;
        jacobian->entry_count += rows;
        most = rows > most ? rows : most;
    }
    jacobian->row_first = tt_arena_array(&jacobian->arena, (size_t)components + 1, sizeof *row_count);
    jacobian->entries = tt_arena_array(&jacobian->arena, jacobian->entry_count, sizeof(double));
    jacobian->ahead = tt_arena_array(&jacobian->arena, most, sizeof(double));
    jacobian->again = tt_arena_array(&jacobian->arena, most, sizeof(double));
    if (!jacobian->row_first || !jacobian->entries || !jacobian->ahead || !jacobian->again)
        return tt_fail_memory();
    for (uint32_t c = 0; c < components; c++)
        jacobian->row_first[c + 1] = jacobian->row_first[c] + row_count[c];
    return TUTTI_OK;
}

void tt_step_jacobian_fini(struct tt_step_jacobian *jacobian)
{
    tt_arena_fini(&jacobian->arena);
    *jacobian = (struct tt_step_jacobian){0};
}

static uint32_t step_jacobian_unit_rows(const struct tt_step_jacobian *jacobian, uint32_t component)
{
    return jacobian->row_first[component + 1] - jacobian->row_first[component];
}

/* ---- one column ---- */

struct step_trial {
    struct tt_step_jacobian *jacobian;
    const struct tt_step_probe *probe;
    const struct tt_step_rules *rules;
    const struct tt_snapshot *start;
    double target;
    struct tt_member *member;
    uint32_t column;
    const double *base; /* of the member */
    uint32_t rows;      /* number of its rows */
};

/* The step with the column moved by `distance`, and back; *done: it led to the end of the step. */
static enum tutti_err step_jacobian_trial_step(const struct step_trial *trial, double distance, double *rows,
                                               bool *done)
{
    struct tt_rank *rank = trial->jacobian->rank;
    struct tt_member *member = trial->member;
    struct tt_unit_counts *counts = &member->unit->counts;
    unsigned long before = counts->do_steps, own_events = rank->own_events;
    struct tt_step_result result = tt_step_result_begin(trial->start->t, trial->target);
    TRY(trial->probe->stage(trial->probe->context, member, trial->column, distance));
    enum tutti_err err = tt_component_step(rank, trial->rules, member, trial->target, &result);
    if (err && err != TUTTI_ERR_DISCARD)
        return err;
    *done = !err && result.end == TUTTI_END_REACHED;
    if (*done)
        TRY(trial->probe->read(trial->probe->context, member, rows));
    counts->auxiliary += counts->do_steps - before;
    counts->attributed += counts->do_steps - before;
    trial->jacobian->tried++;
    rank->own_events = own_events;
    return tt_snapshot_restore_member(trial->start, rank, member);
}

static double step_jacobian_trial_distance(const struct step_trial *trial)
{
    const struct tt_step_column *column = &trial->jacobian->columns[trial->column];
    double tolerance = trial->member->setup.tolerance, share = USUAL_DISTANCE;
    if (tolerance > 0)
        share = fmin(fmax(0.1 * sqrt(tolerance), LEAST_DISTANCE), MOST_DISTANCE);
    if (tt_wires_has_narrow(&trial->jacobian->rank->wires, trial->member->component))
        share = MOST_DISTANCE;
    double size = fmax(fabs(column->value), column->size), sign = column->value < 0 ? -1 : 1;
    volatile double moved = column->value + sign * share * size; /* what the distance is once rounded */
    return moved - column->value;
}

static bool step_is_steep(const struct step_trial *trial, double distance)
{
    const struct tt_step_column *column = &trial->jacobian->columns[trial->column];
    double share = STEEP * fabs(distance) / fmax(fabs(column->value), column->size);
    const double *sizes = trial->jacobian->row_sizes;
    uint32_t first = trial->jacobian->row_first[trial->member->component];
    bool steep = false;
    for (uint32_t i = 0; i < trial->rows; i++) {
        double before = trial->base[i], after = trial->jacobian->ahead[i], size = sizes ? sizes[first + i] : 1;
        steep = steep || fabs(after - before) > share * fmax(size, fmax(fabs(before), fabs(after)));
    }
    return steep;
}

/* Quotients of the rows by one distance; *done: they are derivatives. */
static enum tutti_err difference_on_one_side(const struct step_trial *trial, double distance, double *entries,
                                             bool *done)
{
    struct tt_step_jacobian *jacobian = trial->jacobian;
    TRY(step_jacobian_trial_step(trial, distance, jacobian->ahead, done));
    for (uint32_t i = 0; i < trial->rows && *done; i++) {
        entries[i] = (jacobian->ahead[i] - trial->base[i]) / distance;
        *done = isfinite(entries[i]);
    }
    if (!*done || !step_is_steep(trial, distance))
        return TUTTI_OK;
    TRY(step_jacobian_trial_step(trial, 2 * distance, jacobian->again, done));
    for (uint32_t i = 0; i < trial->rows && *done; i++) {
        double over_twice = (jacobian->again[i] - trial->base[i]) / (2 * distance);
        *done = fabs(entries[i] - over_twice) <= 0.1 * fmax(fabs(entries[i]), fabs(over_twice));
    }
    return TUTTI_OK;
}

/* Away from zero; towards it where that leads out of a domain, or over a jump. */
static enum tutti_err step_jacobian_measure_column(const struct step_trial *trial)
{
    double *entries = trial->jacobian->entries + trial->jacobian->columns[trial->column].first;
    double distance = step_jacobian_trial_distance(trial);
    bool done = false;
    for (int side = 0; side < 2 && !done; side++)
        TRY(difference_on_one_side(trial, side ? -distance : distance, entries, &done));
    for (uint32_t i = 0; i < trial->rows && !done; i++)
        entries[i] = NAN;
    return TUTTI_OK;
}

/* ---- all of them ---- */

/* Other ranks' entries are more than any number, so that the least is the one that was measured; NaN wins. */
static enum tutti_err step_jacobian_share_entries(struct tt_step_jacobian *jacobian, uint32_t first, uint32_t end)
{
    struct tt_rank *rank = jacobian->rank;
    size_t begin = jacobian->columns[first].first;
    size_t after = end < jacobian->column_count ? jacobian->columns[end].first : jacobian->entry_count;
    for (uint32_t k = first; k < end; k++) {
        const struct tt_step_column *column = &jacobian->columns[k];
        for (uint32_t i = 0; i < step_jacobian_unit_rows(jacobian, column->component); i++)
            if (!tt_rank_owns(rank, column->component))
                jacobian->entries[column->first + i] = INFINITY;
    }
    return tt_rank_reduce(rank, TUTTI_REDUCE_MIN, jacobian->entries + begin, after - begin);
}

/* All columns of one own unit, `count` of them from trial->column on. */
static enum tutti_err step_jacobian_measure_unit(struct step_trial *trial, uint32_t count)
{
    struct tt_step_jacobian *jacobian = trial->jacobian;
    uint32_t first = trial->column, row_first = jacobian->row_first[trial->member->component];
    bool done = false;
    if (jacobian->meaning)
        TRY(tt_step_jacobian_by_derivatives(jacobian->meaning, jacobian->rank, trial->member, trial->start,
                                            trial->target, first, count, row_first, trial->rows,
                                            jacobian->entries + jacobian->columns[first].first, &done));
    if (done)
        return TUTTI_OK;
    TRY(tt_snapshot_restore_member(trial->start, jacobian->rank, trial->member));
    for (; trial->column < first + count; trial->column++)
        TRY(step_jacobian_measure_column(trial));
    return TUTTI_OK;
}

enum tutti_err tt_step_jacobian_measure(struct tt_step_jacobian *jacobian, const struct tt_step_probe *probe,
                                        const struct tt_step_rules *rules, const struct tt_snapshot *start,
                                        double target, const double *base, uint32_t first, uint32_t count,
                                        bool *complete)
{
    struct tt_rank *rank = jacobian->rank;
    *complete = true;
    if (count == 0)
        return TUTTI_OK;
    for (uint32_t k = first, next; k < first + count; k = next) {
        uint32_t component = jacobian->columns[k].component;
        for (next = k + 1; next < first + count && jacobian->columns[next].component == component;)
            next++;
        struct step_trial trial = {jacobian,
                                   probe,
                                   rules,
                                   start,
                                   target,
                                   &rank->members[component],
                                   k,
                                   base + jacobian->row_first[component],
                                   step_jacobian_unit_rows(jacobian, component)};
        if (tt_rank_owns(rank, component))
            TRY(step_jacobian_measure_unit(&trial, next - k));
    }
    TRY(step_jacobian_share_entries(jacobian, first, first + count));
    for (uint32_t k = first; k < first + count; k++)
        for (uint32_t i = 0; i < step_jacobian_unit_rows(jacobian, jacobian->columns[k].component); i++)
            *complete = *complete && !isnan(jacobian->entries[jacobian->columns[k].first + i]);
    return TUTTI_OK;
}

/* The exponential takes as many operations as the third power of this, times about 30. */
enum { MOST_SIZE = 200 };

/* Dense, column by column: x' = A x + B u, y = C x + D u, u by columns of the Jacobian, y by its rows. */
struct step_matrices {
    size_t states, columns, rows;
    double *a, *b, *c, *d;
};

struct step_derivation {
    const struct tt_step_mapping *meaning;
    struct tt_member *member;
    uint32_t first, row_first;
    struct step_matrices end, begin;
    double *matrix, *flow; /* of the exponential */
};

static const char *derivation_variable_name(const struct step_derivation *of, uint32_t variable)
{
    return of->member->unit->fmu->desc->vars[variable].name;
}

/* SIZE_MAX if the scalar does not exist. */
static size_t find_scalar_name(char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return SIZE_MAX;
}

static void add_matrix_entries(const struct tt_pattern *pattern, const double *values, size_t from, double factor,
                               double *column)
{
    for (int32_t k = pattern->starts[from]; k < pattern->starts[from + 1]; k++)
        column[pattern->rows[k]] += factor * values[k];
}

/* Rows of `from`, which has all outputs, that are wanted. */
static bool select_output_rows(const struct step_derivation *of, const struct tt_linear *linear, const double *from,
                               double *to, size_t rows)
{
    for (size_t i = 0; i < rows; i++) {
        uint32_t variable = of->meaning->row_variables[of->row_first + i];
        size_t output = variable == TUTTI_NONE ? SIZE_MAX
                                               : find_scalar_name(linear->output_names, linear->output_count,
                                                                  derivation_variable_name(of, variable));
        if (output == SIZE_MAX)
            return false;
        to[i] = from[output];
    }
    return true;
}

static bool fill_input_column(const struct step_derivation *of, const struct tt_linear *linear,
                              const struct step_matrices *into, size_t column, double *outputs)
{
    const struct tt_step_mapping *meaning = of->meaning;
    memset(outputs, 0, linear->output_count * sizeof *outputs);
    for (size_t p = meaning->part_first[of->first + column]; p < meaning->part_first[of->first + column + 1]; p++) {
        const struct tt_step_part *part = &meaning->parts[p];
        size_t input =
            find_scalar_name(linear->input_names, linear->input_count, derivation_variable_name(of, part->variable));
        if (input == SIZE_MAX)
            return false;
        add_matrix_entries(&linear->patterns[TUTTI_LINEAR_B], linear->values[TUTTI_LINEAR_B], input, part->factor,
                           into->b + column * into->states);
        add_matrix_entries(&linear->patterns[TUTTI_LINEAR_D], linear->values[TUTTI_LINEAR_D], input, part->factor,
                           outputs);
    }
    return select_output_rows(of, linear, outputs, into->d + column * into->rows, into->rows);
}

static bool fill_step_matrices(const struct step_derivation *of, const struct tt_linear *linear,
                               const struct step_matrices *into)
{
    double *outputs = calloc(linear->output_count + 1, sizeof *outputs);
    bool known = outputs != NULL;
    for (size_t j = 0; j < into->states && known; j++) {
        add_matrix_entries(&linear->patterns[TUTTI_LINEAR_A], linear->values[TUTTI_LINEAR_A], j, 1,
                           into->a + j * into->states);
        memset(outputs, 0, linear->output_count * sizeof *outputs);
        add_matrix_entries(&linear->patterns[TUTTI_LINEAR_C], linear->values[TUTTI_LINEAR_C], j, 1, outputs);
        known = select_output_rows(of, linear, outputs, into->c + j * into->rows, into->rows);
    }
    for (size_t j = 0; j < into->columns && known; j++)
        known = fill_input_column(of, linear, into, j, outputs);
    free(outputs);
    return known;
}

static bool allocate_step_matrices(struct step_matrices *m, size_t states, size_t columns, size_t rows)
{
    *m = (struct step_matrices){.states = states, .columns = columns, .rows = rows};
    m->a = calloc(states * states + states * columns + rows * states + rows * columns + 1, sizeof *m->a);
    if (!m->a)
        return false;
    m->b = m->a + states * states;
    m->c = m->b + states * columns;
    m->d = m->c + rows * states;
    return true;
}

static enum tutti_err linearize_unit_at(struct step_derivation *of, struct step_matrices *into, size_t columns,
                                        size_t rows, bool *done)
{
    struct tt_unit *unit = of->member->unit;
    struct tt_linear *linear = NULL;
    enum tutti_err err =
        unit->kind->linearize(unit, TUTTI_WANT_A | TUTTI_WANT_B | TUTTI_WANT_C | TUTTI_WANT_D, &linear);
    *done = !err && linear->state_count + 2 * columns <= MOST_SIZE;
    if (err == TUTTI_ERR_UNSUPPORTED || err == TUTTI_ERR_DISCARD || err == TUTTI_ERR_FMU) /* differences may do */
        return TUTTI_OK;
    TRY(err);
    if (!*done)
        return TUTTI_OK;
    if (!allocate_step_matrices(into, linear->state_count, columns, rows))
        return tt_fail_memory();
    *done = fill_step_matrices(of, linear, into);
    return TUTTI_OK;
}

/* exp of [h A, h B, 0; 0, 0, I; 0, 0, 0]: what u = s makes of x; without the last rows and columns if it is held. */
static enum tutti_err integrate_step_matrices(struct step_derivation *of, double h, double *entries, bool *done)
{
    const struct step_matrices *last = of->end.a ? &of->end : &of->begin;
    *done = of->begin.a != NULL;
    if (!*done)
        return TUTTI_OK;
    size_t n = last->states, m = last->columns, rows = last->rows, all = n + (of->meaning->line ? 2 : 1) * m;
    of->matrix = calloc(all * all + 1, sizeof *of->matrix);
    of->flow = calloc(all * all + 1, sizeof *of->flow);
    if (!of->matrix || !of->flow)
        return tt_fail_memory();
    for (size_t j = 0; j < n + m; j++)
        for (size_t i = 0; i < n; i++) { /* B lies after A */
            double begin = of->begin.a[j * n + i], end = last->a[j * n + i];
            of->matrix[j * all + i] = h * (begin + (end - begin) / 2);
        }
    for (size_t j = 0; j < m && of->meaning->line; j++)
        of->matrix[(n + m + j) * all + n + j] = 1;
    enum tutti_err err = all > 0 ? tt_matrix_exponential(of->matrix, all, of->flow) : TUTTI_OK;
    *done = !err;
    for (size_t c = 0; c < m && *done; c++)
        for (size_t i = 0; i < rows; i++) {
            double value = last->d[c * rows + i];
            for (size_t j = 0; j < n; j++)
                value += last->c[j * rows + i] * of->flow[(all - m + c) * all + j];
            entries[c * rows + i] = value;
            *done = *done && isfinite(value);
        }
    return err == TUTTI_ERR_SOLVER || err == TUTTI_ERR_LIMIT ? TUTTI_OK : err;
}

static enum tutti_err derive_step(struct step_derivation *of, struct tt_rank *rank, const struct tt_snapshot *start,
                                  double target, uint32_t columns, uint32_t rows, double *entries, bool *done)
{
    *done = true;
    if (of->member->now.t == target)
        TRY(linearize_unit_at(of, &of->end, columns, rows, done));
    TRY(tt_snapshot_restore_member(start, rank, of->member));
    if (of->meaning->begin)
        TRY(of->meaning->begin(rank, of->member));
    if (*done)
        TRY(linearize_unit_at(of, &of->begin, columns, rows, done));
    return *done ? integrate_step_matrices(of, target - of->member->now.t, entries, done) : TUTTI_OK;
}

enum tutti_err tt_step_jacobian_by_derivatives(const struct tt_step_mapping *meaning, struct tt_rank *rank,
                                               struct tt_member *member, const struct tt_snapshot *start, double target,
                                               uint32_t first, uint32_t count, uint32_t row_first, uint32_t rows,
                                               double *entries, bool *done)
{
    struct step_derivation of = {.meaning = meaning, .member = member, .first = first, .row_first = row_first};
    *done = false;
    if (!member->unit->kind->linearize || member->setup.integration.average)
        return TUTTI_OK;
    enum tutti_err err = derive_step(&of, rank, start, target, count, rows, entries, done);
    free(of.end.a);
    free(of.begin.a);
    free(of.matrix);
    free(of.flow);
    return err;
}
