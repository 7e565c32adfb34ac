/* SPDX-License-Identifier: MIT */
#include "apps/analyze/coupled_linear.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/vector.h"
#include "sim/start/linear_model.h"
#include "solve/lu.h"

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
    bool *reached;                                    /* per input: a connection ends there */
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

/* Calls the visitor for every product of an entry of D and one of L, with its place in D L. With `pattern` products are
 * added to `values`, otherwise listed. */
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
    size_t size = strlen(unit) + strlen(name) + sizeof ".";
    names[*count] = malloc(size);
    if (!names[*count])
        return tt_fail_memory();
    snprintf(names[*count], size, "%s.%s", unit, name);
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

/* While D is looked for. */
struct cs_linear_search {
    struct tt_cs_linear *own;
    struct tt_unit *unit;
    const struct tt_cs_moment *moment;
    struct tt_colouring colouring;
    struct tt_unit_saved *saved;
    double *seed, *moved, *product, *behind, *nominals;
};

static enum tutti_err cs_linear_read_values(struct tt_unit *unit, const struct tt_me_axis *axis, double *values)
{
    struct tt_block block = {TUTTI_TYPE_FLOAT64, axis->count, axis->size, axis->references, values, NULL};
    if (axis->count > 0)
        TRY(unit->kind->get(unit, &block));
    tt_me_model_axis_negate(axis, unit, values);
    return TUTTI_OK;
}

static enum tutti_err cs_linear_prepare(struct cs_linear_search *s)
{
    struct tt_cs_linear *own = s->own;
    struct tt_linear *linear = &own->linear;
    TRY(tt_me_model_axis_collect(&own->inputs, s->unit, TUTTI_INPUT));
    TRY(tt_me_model_axis_collect(&own->outputs, s->unit, TUTTI_OUTPUT));
    size_t inputs = linear->input_count = own->inputs.size, outputs = linear->output_count = own->outputs.size;
    TRY(tt_me_model_axis_names(&own->inputs, s->unit, 0, "state", &linear->state_names));
    TRY(tt_me_model_axis_names(&own->inputs, s->unit, inputs, "input", &linear->input_names));
    TRY(tt_me_model_axis_names(&own->outputs, s->unit, outputs, "output", &linear->output_names));
    TRY(tt_pattern_full(&linear->patterns[TUTTI_LINEAR_A], 0, 0));
    TRY(tt_pattern_full(&linear->patterns[TUTTI_LINEAR_B], 0, (int32_t)inputs));
    TRY(tt_pattern_full(&linear->patterns[TUTTI_LINEAR_C], (int32_t)outputs, 0));
    TRY(tt_me_model_axis_outputs_pattern(s->unit, &own->outputs, &own->inputs, &linear->patterns[TUTTI_LINEAR_D],
                                         &linear->by_model));
    TRY(tt_pattern_colouring_init(&s->colouring, &linear->patterns[TUTTI_LINEAR_D], (int32_t)inputs, true));
    double **blocks[] = {&s->seed,        &s->moved,       &s->product,
                         &s->behind,      &linear->states, &linear->derivatives,
                         &linear->inputs, &linear->outputs};
    bool enough = true;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        *blocks[i] = calloc(inputs + outputs + 1, sizeof **blocks[i]);
        enough = enough && *blocks[i];
    }
    for (int which = 0; which < TUTTI_LINEAR_COUNT; which++) {
        linear->values[which] = calloc(tt_pattern_entries(&linear->patterns[which]) + 1, sizeof(double));
        enough = enough && linear->values[which];
    }
    s->nominals = tt_me_model_axis_nominals(&own->inputs, s->unit);
    return enough && s->nominals ? TUTTI_OK : tt_fail_memory();
}

/* Outputs after a short step with the inputs `moved`; the FMU is back where it was then. */
static enum tutti_err cs_linear_try_inputs(struct cs_linear_search *s, double *values)
{
    struct tt_unit *unit = s->unit;
    const struct tt_me_axis *axis = &s->own->inputs;
    struct tt_block block = {TUTTI_TYPE_FLOAT64, axis->count, axis->size, axis->references, s->moved, NULL};
    struct tt_fmi_step step = {0};
    double t = s->moment->t, end = t + s->moment->step;
    tt_me_model_axis_negate(axis, unit, s->moved);
    TRY(unit->kind->set(unit, &block));
    TRY(unit->kind->step(unit, t, s->moment->step, &step));
    if (step.discarded || step.early || step.terminate || step.event)
        return tt_fail(
            TUTTI_ERR_FMU,
            "%s (%s): it cannot be linearised at t = %s: it does not make the step to t = %s that shows how outputs "
            "follow inputs",
            unit->name, unit->fmu->path, TIME(t), NUMBER(end));
    TRY(cs_linear_read_values(unit, &s->own->outputs, values));
    return unit->kind->restore(unit, s->saved);
}

static enum tutti_err cs_linear_by_differences(struct cs_linear_search *s)
{
    const struct tt_linear *linear = &s->own->linear;
    size_t columns = linear->input_count;
    for (int side = -1; side <= 1; side += 2) {
        for (size_t c = 0; c < columns; c++)
            s->moved[c] = linear->inputs[c] + side * s->seed[c];
        TRY(cs_linear_try_inputs(s, side < 0 ? s->behind : s->product));
    }
    for (size_t r = 0; r < linear->output_count; r++)
        s->product[r] = (s->product[r] - s->behind[r]) / 2;
    return TUTTI_OK;
}

static enum tutti_err cs_linear_by_directional(struct cs_linear_search *s)
{
    const struct tt_cs_linear *own = s->own;
    return s->unit->kind->get_directional(s->unit, own->outputs.references, own->outputs.count, own->inputs.references,
                                          own->inputs.count, s->seed, s->product);
}

/* The columns of one colour: seed[c] is how far column c moves. */
static enum tutti_err cs_linear_find_columns(struct cs_linear_search *s, int32_t first, int32_t end)
{
    const struct tt_linear *linear = &s->own->linear;
    const struct tt_pattern *pattern = &linear->patterns[TUTTI_LINEAR_D];
    memset(s->seed, 0, linear->input_count * sizeof *s->seed);
    for (int32_t k = first; k < end; k++) {
        int32_t c = s->colouring.columns[k];
        s->seed[c] = linear->exact ? 1 : TUTTI_LINEAR_REACH * fmax(fabs(linear->inputs[c]), s->nominals[c]);
    }
    TRY(linear->exact ? cs_linear_by_directional(s) : cs_linear_by_differences(s));
    for (int32_t k = first; k < end; k++) {
        int32_t c = s->colouring.columns[k];
        for (int32_t e = pattern->starts[c]; e < pattern->starts[c + 1]; e++)
            linear->values[TUTTI_LINEAR_D][e] = s->product[pattern->rows[e]] / s->seed[c];
    }
    return TUTTI_OK;
}

static enum tutti_err cs_linear_find_matrix(struct cs_linear_search *s)
{
    for (int32_t colour = 0; colour < s->colouring.colour_count; colour++)
        TRY(cs_linear_find_columns(s, s->colouring.starts[colour], s->colouring.starts[colour + 1]));
    return TUTTI_OK;
}

/* ---- rows ---- */

/* D times a vector of ones, by rows and by a directional derivative. */
static enum tutti_err cs_linear_check_rows(struct cs_linear_search *s)
{
    const struct tt_linear *linear = &s->own->linear;
    const struct tt_pattern *pattern = &linear->patterns[TUTTI_LINEAR_D];
    double *sums = s->behind, *sizes = s->moved;
    if (!(s->unit->can & TUTTI_CAN_DIRECTIONAL))
        return TUTTI_OK;
    memset(sums, 0, linear->output_count * sizeof *sums);
    memset(sizes, 0, linear->output_count * sizeof *sizes);
    for (size_t c = 0; c < linear->input_count; c++) {
        s->seed[c] = 1;
        for (int32_t e = pattern->starts[c]; e < pattern->starts[c + 1]; e++) {
            sums[pattern->rows[e]] += linear->values[TUTTI_LINEAR_D][e];
            sizes[pattern->rows[e]] += fabs(linear->values[TUTTI_LINEAR_D][e]);
        }
    }
    TRY(cs_linear_by_directional(s));
    for (size_t r = 0; r < linear->output_count; r++)
        if (!(fabs(sums[r] - s->product[r]) <= 1e-6 * fmax(sizes[r], fabs(s->product[r]))))
            return tt_fail(TUTTI_ERR_UNSUPPORTED,
                           "%s: its adjoint derivatives and its directional derivatives contradict each other",
                           s->unit->name);
    return TUTTI_OK;
}

/* UNSUPPORTED: columns will have to do. */
static enum tutti_err cs_linear_find_rows(struct cs_linear_search *s)
{
    const struct tt_cs_linear *own = s->own;
    const struct tt_linear *linear = &own->linear;
    const struct tt_pattern *pattern = &linear->patterns[TUTTI_LINEAR_D];
    for (int32_t r = 0; r < (int32_t)linear->output_count; r++) {
        memset(s->seed, 0, linear->output_count * sizeof *s->seed);
        s->seed[r] = 1;
        TRY(tt_instance_get_adjoint(s->unit->instance, own->outputs.references, own->outputs.count,
                                    own->inputs.references, own->inputs.count, s->seed, linear->output_count,
                                    s->product, linear->input_count));
        for (size_t c = 0; c < linear->input_count; c++) {
            if (!isfinite(s->product[c]))
                return tt_fail(TUTTI_ERR_UNSUPPORTED, "%s: an adjoint derivative is not a finite number",
                               s->unit->name);
            for (int32_t e = pattern->starts[c]; e < pattern->starts[c + 1]; e++)
                if (pattern->rows[e] == r)
                    linear->values[TUTTI_LINEAR_D][e] = s->product[c];
        }
    }
    return cs_linear_check_rows(s);
}

static enum tutti_err prepare_differences(struct cs_linear_search *s)
{
    struct tt_unit *unit = s->unit;
    s->own->linear.exact = false;
    if (unit->uniform)
        return tt_fail(
            TUTTI_ERR_UNSUPPORTED,
            "%s (%s): how its outputs follow its inputs cannot be found: it has no directional derivatives that can be "
            "used, and cannot make a step that is short",
            unit->name, unit->fmu->path);
    if (s->moment->t + s->moment->step > s->moment->latest)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "%s (%s): without directional derivatives it is linearised by a short step from t = %s, and "
                       "that is the end of "
                       "the run; a later --stop leaves room",
                       unit->name, unit->fmu->path, TIME(s->moment->t));
    enum tutti_err err = unit->kind->save(unit, &s->saved);
    return err ? tt_fail_context(
                     err, "how outputs follow inputs is found by short steps that are taken back (--rollback fork "
                          "does so with any FMU)")
               : TUTTI_OK;
}

static enum tutti_err compute_d(struct cs_linear_search *s)
{
    struct tt_cs_linear *own = s->own;
    struct tt_linear *linear = &own->linear;
    TRY(cs_linear_prepare(s));
    TRY(cs_linear_read_values(s->unit, &own->inputs, linear->inputs));
    TRY(cs_linear_read_values(s->unit, &own->outputs, linear->outputs));
    linear->exact = true;
    if (tt_pattern_entries(&linear->patterns[TUTTI_LINEAR_D]) == 0)
        return TUTTI_OK;
    bool scalars = own->inputs.size == own->inputs.count && own->outputs.size == own->outputs.count;
    bool columns = s->unit->can & TUTTI_CAN_DIRECTIONAL;

    /* By adjoint derivatives a row costs what a column costs by directional ones, and one more is made for the check. */
    if (scalars && tt_instance_has_adjoint(s->unit->instance) &&
        (!columns || linear->output_count + 1 < (size_t)s->colouring.colour_count)) {
        enum tutti_err err = cs_linear_find_rows(s);
        if (err != TUTTI_ERR_UNSUPPORTED)
            return err;
    }
    if (scalars && columns) {
        enum tutti_err err = cs_linear_find_matrix(s);
        if (err != TUTTI_ERR_UNSUPPORTED)
            return err;
    }
    TRY(prepare_differences(s));
    return cs_linear_find_matrix(s);
}

enum tutti_err tt_coupled_linear_compute_cs(struct tt_cs_linear *own, struct tt_unit *unit,
                                            const struct tt_cs_moment *moment)
{
    struct cs_linear_search s = {.own = own, .unit = unit, .moment = moment};
    struct tt_failure failure;
    tt_fail_save(&failure, compute_d(&s));
    if (s.saved)
        unit->kind->discard(unit, s.saved);
    tt_pattern_colouring_fini(&s.colouring);
    double *blocks[] = {s.seed, s.moved, s.product, s.behind, s.nominals};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        free(blocks[i]);
    return tt_fail_restore(&failure);
}

void tt_coupled_linear_free_cs(struct tt_cs_linear *own)
{
    tt_me_linear_release(&own->linear);
    tt_me_model_axis_fini(&own->inputs);
    tt_me_model_axis_fini(&own->outputs);
}

static enum tutti_err linearize_collected_unit(struct tt_linear_collection *c, uint32_t m)
{
    struct tt_unit *unit = c->rank->units[m];
    struct tt_linear *linear = NULL;
    unsigned all = TUTTI_WANT_A | TUTTI_WANT_B | TUTTI_WANT_C | TUTTI_WANT_D | TUTTI_WANT_VALUES;
    /* a step so short that states do not move in it */
    double step = fmax(1e-8 * c->rank->times.step, 1e-10 * fmax(fabs(c->rank->t), c->rank->span));
    struct tt_cs_moment moment = {c->rank->t, step, c->rank->times.stop};
    if (unit->kind->linearize) {
        TRY(unit->kind->linearize(unit, all, &linear));
    } else if (unit->kind->interface == TUTTI_CS) {
        TRY(tt_coupled_linear_compute_cs(&c->own[m], unit, &moment));
        linear = &c->own[m].linear;
    } else
        return tt_fail(TUTTI_ERR_UNSUPPORTED, "%s (%s): an FMU for Scheduled Execution cannot be linearised",
                       unit->name, unit->fmu->path);
    c->parts[m] = (struct tt_linear_part){unit->name, linear};
    c->first_state[m + 1] = c->first_state[m] + linear->state_count;
    c->first_input[m + 1] = c->first_input[m] + linear->input_count;
    c->first_output[m + 1] = c->first_output[m] + linear->output_count;
    return TUTTI_OK;
}

/* Continuous Reals in the order of the description. */
size_t tt_coupled_linear_index(const struct tt_linear_collection *collection, uint32_t component, uint32_t variable,
                               bool output)
{
    const struct tt_unit *unit = collection->rank->units[component];
    size_t place = output ? collection->first_output[component] : collection->first_input[component];
    for (uint32_t v = 0; v < variable; v++) {
        const struct tt_var *var = &unit->fmu->desc->vars[v];
        size_t extent = 0;
        if (!tt_linear_model_is_real(var) || var->causality != (output ? TUTTI_OUTPUT : TUTTI_INPUT))
            continue;
        if (tt_unit_extent(unit, v, &extent) == TUTTI_OK) /* its extent was read before, and is not too large */
            place += extent;
    }
    return place;
}

static size_t linear_collection_index(const struct tt_linear_collection *c, uint32_t node)
{
    const struct tt_structure_node *at = &c->rank->job->structure.nodes[node];
    return tt_coupled_linear_index(c, at->component, at->variable, at->output);
}

static void add_collected_link(void *context, const struct tt_signal_link *link)
{
    struct tt_linear_collection *c = context;
    size_t output = linear_collection_index(c, link->from) + link->from_element;
    size_t input = linear_collection_index(c, link->to) + link->to_element;
    c->out_of_memory = c->out_of_memory ||
                       !tt_vector_reserve(&c->links, &c->link_room, c->link_count + link->count, sizeof *c->links);
    for (size_t e = 0; e < link->count && !c->out_of_memory; e++)
        c->links[c->link_count++] = (struct tt_linear_link){output + e, input + e, link->factor};
}

enum tutti_err tt_coupled_linear_collect(struct tt_linear_collection *collection)
{
    size_t count = collection->count = collection->rank->member_count;
    collection->parts = calloc(count, sizeof *collection->parts);
    collection->own = calloc(count, sizeof *collection->own);
    collection->first_state = calloc(count + 1, sizeof *collection->first_state);
    collection->first_input = calloc(count + 1, sizeof *collection->first_input);
    collection->first_output = calloc(count + 1, sizeof *collection->first_output);
    if (!collection->parts || !collection->own || !collection->first_state || !collection->first_input ||
        !collection->first_output)
        return tt_fail_memory();
    for (uint32_t m = 0; m < count; m++)
        TRY(linearize_collected_unit(collection, m));
    tt_linear_model_each_link(collection->rank, add_collected_link, collection);
    return collection->out_of_memory ? tt_fail_memory() : TUTTI_OK;
}

void tt_coupled_linear_free_collection(struct tt_linear_collection *collection)
{
    for (uint32_t m = 0; collection->own && m < collection->count; m++)
        tt_coupled_linear_free_cs(&collection->own[m]);
    free(collection->parts);
    free(collection->own);
    free(collection->first_state);
    free(collection->first_input);
    free(collection->first_output);
    free(collection->links);
    *collection = (struct tt_linear_collection){0};
}
