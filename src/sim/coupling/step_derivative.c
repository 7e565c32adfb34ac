/* SPDX-License-Identifier: MIT */
#include "sim/coupling/step_derivative.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solve/matrix_exponential.h"
#include "unit/state_space.h"

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

/* SIZE_MAX: there is no such scalar. */
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

/* One column of B and of D. */
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

/* Where the unit is. */
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
