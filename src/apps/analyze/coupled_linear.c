/* SPDX-License-Identifier: MIT */
#include "apps/analyze/coupled_linear.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "solve/lu.h"

/* A matrix that is made column by column. */
struct sparse_columns {
    int *starts, *rows;
    double *values;
    size_t count, start_room, row_room, value_room, entries;
};

struct coupled_linear {
    struct tutti_linearization *out;
    const struct tt_linear_part *parts;
    size_t part_count;
    const struct tt_linear_link *links; /* by output */
    size_t link_count;
    size_t *link_first;                               /* per output, and one more */
    size_t *first_state, *first_input, *first_output; /* per part, and one more */
    uint32_t *part_of_input;                          /* per input */
    bool *reached;                                    /* ... a connection ends there */
    size_t states, inputs, outputs;
    struct tt_lu *lu;
    double *y, *dx; /* a column: outputs, derivatives */
    struct sparse_columns a, b, c, d;
};

static enum tutti_err finish_column(struct sparse_columns *to, const double *values, size_t count)
{
    if (!tt_vector_reserve(&to->starts, &to->start_room, to->count + 2, sizeof *to->starts))
        return tt_fail_memory();
    to->starts[to->count++] = (int)to->entries;
    for (size_t r = 0; r < count; r++) {
        if (values[r] == 0)
            continue;
        if (to->entries == INT_MAX)
            return tt_fail(TUTTI_ERR_LIMIT, "a matrix of the linearised system has more than %d entries", INT_MAX);
        if (!tt_vector_reserve(&to->rows, &to->row_room, to->entries + 1, sizeof *to->rows) ||
            !tt_vector_reserve(&to->values, &to->value_room, to->entries + 1, sizeof *to->values))
            return tt_fail_memory();
        to->rows[to->entries] = (int)r;
        to->values[to->entries++] = values[r];
    }
    to->starts[to->count] = (int)to->entries;
    return TUTTI_OK;
}

/* Takes what `from` has. */
static enum tutti_err coupled_linear_move_columns(struct sparse_columns *from, size_t rows, struct tutti_matrix *to)
{
    if (!tt_vector_reserve(&from->starts, &from->start_room, 1, sizeof *from->starts) ||
        !tt_vector_reserve(&from->rows, &from->row_room, 1, sizeof *from->rows) ||
        !tt_vector_reserve(&from->values, &from->value_room, 1, sizeof *from->values))
        return tt_fail_memory();
    if (from->count == 0)
        from->starts[0] = 0;
    *to = (struct tutti_matrix){rows, from->count, from->starts, from->rows, from->values};
    *from = (struct sparse_columns){0};
    return TUTTI_OK;
}

/* ---- where everything is ---- */

static enum tutti_err coupled_linear_count_all(struct coupled_linear *w)
{
    size_t *sums = calloc(3 * (w->part_count + 1), sizeof *sums);
    w->first_state = sums;
    if (!sums)
        return tt_fail_memory();
    w->first_input = sums + w->part_count + 1;
    w->first_output = w->first_input + w->part_count + 1;
    for (size_t p = 0; p < w->part_count; p++) {
        const struct tt_linear *linear = w->parts[p].linear;
        w->first_state[p + 1] = w->first_state[p] + linear->state_count;
        w->first_input[p + 1] = w->first_input[p] + linear->input_count;
        w->first_output[p + 1] = w->first_output[p] + linear->output_count;
    }
    w->states = w->first_state[w->part_count];
    w->inputs = w->first_input[w->part_count];
    w->outputs = w->first_output[w->part_count];
    w->link_first = calloc(w->outputs + 2, sizeof *w->link_first);
    w->part_of_input = calloc(w->inputs + 1, sizeof *w->part_of_input);
    w->reached = calloc(w->inputs + 1, sizeof *w->reached);
    w->y = calloc(w->outputs + 1, sizeof *w->y);
    w->dx = calloc(w->states + 1, sizeof *w->dx);
    if (!w->link_first || !w->part_of_input || !w->reached || !w->y || !w->dx)
        return tt_fail_memory();
    for (size_t p = 0; p < w->part_count; p++)
        for (size_t i = w->first_input[p]; i < w->first_input[p + 1]; i++)
            w->part_of_input[i] = (uint32_t)p;
    return TUTTI_OK;
}

static int compare_links_by_output(const void *a, const void *b)
{
    const struct tt_linear_link *left = a, *right = b;
    if (left->output != right->output)
        return left->output < right->output ? -1 : 1;
    return left->input < right->input ? -1 : left->input > right->input;
}

static void sort_links(struct coupled_linear *w, struct tt_linear_link *links)
{
    qsort(links, w->link_count, sizeof *links, compare_links_by_output);
    w->links = links;
    for (size_t l = 0; l < w->link_count; l++) {
        w->link_first[links[l].output + 1]++;
        w->reached[links[l].input] = true;
    }
    for (size_t j = 0; j < w->outputs; j++)
        w->link_first[j + 1] += w->link_first[j];
}

/* ---- I - D L ---- */

/* The column of D that belongs to an input. */
static const struct tt_pattern *coupled_linear_column(const struct coupled_linear *w, size_t input, int which,
                                                      const double **values, int32_t *column)
{
    uint32_t part = w->part_of_input[input];
    const struct tt_linear *linear = w->parts[part].linear;
    *values = linear->values[which];
    *column = (int32_t)(input - w->first_input[part]);
    return &linear->patterns[which];
}

/* Calls for every product of an entry of D and one of L: its place in D L. With `pattern` they are added to `values`, else listed. */
static size_t coupled_linear_multiply(const struct coupled_linear *w, const struct tt_pattern *pattern, double *values,
                                      struct tt_pattern_place *places)
{
    size_t count = 0;
    for (size_t l = 0; l < w->link_count; l++) {
        const struct tt_linear_link *link = &w->links[l];
        const double *entries;
        int32_t column;
        const struct tt_pattern *d = coupled_linear_column(w, link->input, TUTTI_LINEAR_D, &entries, &column);
        size_t first = w->first_output[w->part_of_input[link->input]];
        for (int32_t k = d->starts[column]; k < d->starts[column + 1]; k++, count++) {
            struct tt_pattern_place place = {(int32_t)(first + (size_t)d->rows[k]), (int32_t)link->output};
            if (pattern)
                values[tt_pattern_find(pattern, &place)] += entries[k] * link->factor;
            else if (places)
                places[count] = place;
        }
    }
    return count;
}

static enum tutti_err coupled_linear_factorise(struct coupled_linear *w, const struct tt_pattern *pattern)
{
    bool singular = false;
    double *values = calloc(tt_pattern_entries(pattern) + 1, sizeof *values);
    if (!values)
        return tt_fail_memory();
    coupled_linear_multiply(w, pattern, values, NULL);
    enum tutti_err err = tt_lu_new(&w->lu, w->outputs, pattern, false);
    if (!err)
        err = tt_lu_factor(w->lu, values, 1, 0, &singular);
    free(values);
    TRY(err);
    return singular
               ? tt_fail(
                     TUTTI_ERR_SOLVER,
                     "the system cannot be linearised: I - D L is singular, so an algebraic loop between units has no "
                     "solution, or many")
               : TUTTI_OK;
}

static enum tutti_err solve_loops(struct coupled_linear *w)
{
    size_t count = coupled_linear_multiply(w, NULL, NULL, NULL);
    if (count == 0)
        return TUTTI_OK; /* no output follows a connected input: D L is 0 */
    struct tt_pattern_place *places = malloc(count * sizeof *places);
    struct tt_pattern pattern = {0};
    if (!places)
        return tt_fail_memory();
    coupled_linear_multiply(w, NULL, NULL, places);
    enum tutti_err err = tt_pattern_init(&pattern, (int32_t)w->outputs, (int32_t)w->outputs, places, count);
    free(places);
    TRY(err);
    err = coupled_linear_factorise(w, &pattern);
    tt_pattern_fini(&pattern);
    return err;
}

/* ---- columns ---- */

static void coupled_linear_scatter(const struct tt_pattern *pattern, const double *values, size_t column, double factor,
                                   double *to)
{
    for (int32_t k = pattern->starts[column]; k < pattern->starts[column + 1]; k++)
        to[pattern->rows[k]] += factor * values[k];
}

/* w->dx and w->y hold what one state, or input, does to its own unit; then, what it does to all. */
static void close_loops(struct coupled_linear *w)
{
    if (w->lu)
        tt_lu_solve(w->lu, w->y, NULL);
    for (size_t j = 0; j < w->outputs; j++)
        for (size_t l = w->link_first[j]; l < w->link_first[j + 1] && w->y[j] != 0; l++) {
            const double *values;
            int32_t column;
            const struct tt_pattern *b = coupled_linear_column(w, w->links[l].input, TUTTI_LINEAR_B, &values, &column);
            coupled_linear_scatter(b, values, (size_t)column, w->links[l].factor * w->y[j],
                                   w->dx + w->first_state[w->part_of_input[w->links[l].input]]);
        }
}

static enum tutti_err coupled_linear_add_column(struct coupled_linear *w, size_t part, size_t column, bool state)
{
    const struct tt_linear *linear = w->parts[part].linear;
    int upper = state ? TUTTI_LINEAR_A : TUTTI_LINEAR_B, lower = state ? TUTTI_LINEAR_C : TUTTI_LINEAR_D;
    memset(w->dx, 0, w->states * sizeof *w->dx);
    memset(w->y, 0, w->outputs * sizeof *w->y);
    coupled_linear_scatter(&linear->patterns[upper], linear->values[upper], column, 1, w->dx + w->first_state[part]);
    coupled_linear_scatter(&linear->patterns[lower], linear->values[lower], column, 1, w->y + w->first_output[part]);
    close_loops(w);
    TRY(finish_column(state ? &w->a : &w->b, w->dx, w->states));
    return finish_column(state ? &w->c : &w->d, w->y, w->outputs);
}

/* ---- names and values ---- */

static char *coupled_linear_join_name(const char *unit, const char *name)
{
    size_t size = strlen(unit) + strlen(name) + sizeof ".";
    char *text = malloc(size);
    if (text)
        snprintf(text, size, "%s.%s", unit, name);
    return text;
}

static enum tutti_err coupled_linear_allocate(struct coupled_linear *w)
{
    struct tutti_linearization *out = w->out;
    out->state_names = calloc(w->states + 1, sizeof *out->state_names);
    out->input_names = calloc(w->inputs + 1, sizeof *out->input_names);
    out->output_names = calloc(w->outputs + 1, sizeof *out->output_names);
    out->states = calloc(w->states + 1, sizeof(double));
    out->derivatives = calloc(w->states + 1, sizeof(double));
    out->inputs = calloc(w->inputs + 1, sizeof(double));
    out->outputs = calloc(w->outputs + 1, sizeof(double));
    return out->state_names && out->input_names && out->output_names && out->states && out->derivatives &&
                   out->inputs && out->outputs
               ? TUTTI_OK
               : tt_fail_memory();
}

static enum tutti_err coupled_linear_add_name(char **names, size_t *count, const char *unit, const char *name)
{
    names[*count] = coupled_linear_join_name(unit, name);
    if (!names[*count])
        return tt_fail_memory();
    ++*count;
    return TUTTI_OK;
}

static enum tutti_err name_part(struct coupled_linear *w, size_t part)
{
    struct tutti_linearization *out = w->out;
    const struct tt_linear *linear = w->parts[part].linear;
    const char *unit = w->parts[part].name;
    for (size_t i = 0; i < linear->state_count; i++) {
        out->states[out->state_count] = linear->states[i];
        out->derivatives[out->state_count] = linear->derivatives[i];
        TRY(coupled_linear_add_name(out->state_names, &out->state_count, unit, linear->state_names[i]));
    }
    for (size_t i = 0; i < linear->input_count; i++)
        if (!w->reached[w->first_input[part] + i]) {
            out->inputs[out->input_count] = linear->inputs[i];
            TRY(coupled_linear_add_name(out->input_names, &out->input_count, unit, linear->input_names[i]));
        }
    for (size_t i = 0; i < linear->output_count; i++) {
        out->outputs[out->output_count] = linear->outputs[i];
        TRY(coupled_linear_add_name(out->output_names, &out->output_count, unit, linear->output_names[i]));
    }
    return TUTTI_OK;
}

static enum tutti_err coupled_linear_assemble(struct coupled_linear *w, struct tt_linear_link *links)
{
    struct tutti_linearization *out = w->out;
    out->exact = out->structure_known = true;
    TRY(coupled_linear_count_all(w));
    sort_links(w, links);
    TRY(coupled_linear_allocate(w));
    TRY(solve_loops(w));
    for (size_t p = 0; p < w->part_count; p++) {
        out->exact = out->exact && w->parts[p].linear->exact;
        out->structure_known = out->structure_known && w->parts[p].linear->by_model;
        TRY(name_part(w, p));
        for (size_t k = 0; k < w->parts[p].linear->state_count; k++)
            TRY(coupled_linear_add_column(w, p, k, true));
        for (size_t k = 0; k < w->parts[p].linear->input_count; k++)
            if (!w->reached[w->first_input[p] + k])
                TRY(coupled_linear_add_column(w, p, k, false));
    }
    TRY(coupled_linear_move_columns(&w->a, w->states, &out->a));
    TRY(coupled_linear_move_columns(&w->b, w->states, &out->b));
    TRY(coupled_linear_move_columns(&w->c, w->outputs, &out->c));
    return coupled_linear_move_columns(&w->d, w->outputs, &out->d);
}

static void coupled_linear_free_columns(struct sparse_columns *columns)
{
    free(columns->starts);
    free(columns->rows);
    free(columns->values);
}

enum tutti_err tt_coupled_linear_assemble(struct tutti_linearization *out, const struct tt_linear_part *parts,
                                          size_t part_count, const struct tt_linear_link *links, size_t link_count)
{
    struct coupled_linear w = {.out = out, .parts = parts, .part_count = part_count, .link_count = link_count};
    struct tt_linear_link *sorted = malloc((link_count + 1) * sizeof *sorted);
    if (!sorted)
        return tt_fail_memory();
    if (link_count > 0)
        memcpy(sorted, links, link_count * sizeof *sorted);
    enum tutti_err err = coupled_linear_assemble(&w, sorted);
    free(sorted);
    free(w.link_first);
    free(w.first_state);
    free(w.part_of_input);
    free(w.reached);
    free(w.y);
    free(w.dx);
    tt_lu_free(w.lu);
    coupled_linear_free_columns(&w.a);
    coupled_linear_free_columns(&w.b);
    coupled_linear_free_columns(&w.c);
    coupled_linear_free_columns(&w.d);
    return err;
}
