/* SPDX-License-Identifier: MIT */
/* The state between two points has six parts, each with an entry per output: y now and at two points before, H y' and H^2
 * y'' as units give them (Andersson 2016 eq. 6.44 has y and y'), and where inputs were led to in the last step. Every
 * quantity of the next point is a row of coefficients over that state. */
#include "sim/start/propagation.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "solve/matrix.h"

enum propagation_part { NOW, BEFORE, FIRST, SLOPE, BEND, END, PARTS };

struct propagation_builder {
    const struct tt_propagation *of;
    double *rows;
    size_t size; /* of a row */
};

struct step_order {
    uint32_t place;
    size_t output;
};

enum tutti_err tt_stability_spectral_radius(const double *matrix, size_t n, double *re, double *im, double *radius)
{
    struct tt_arena arena = {0};
    int *starts = tt_arena_array(&arena, n + 1, sizeof *starts);
    int *rows = tt_arena_array(&arena, n * n, sizeof *rows);
    re = re ? re : tt_arena_array(&arena, n, sizeof *re);
    im = im ? im : tt_arena_array(&arena, n, sizeof *im);
    enum tutti_err err = starts && rows && re && im ? TUTTI_OK : tt_fail_memory();
    for (size_t c = 0; !err && c <= n; c++)
        starts[c] = (int)(c * n);
    for (size_t i = 0; !err && i < n * n; i++)
        rows[i] = (int)(i % n);
    if (!err)
        err = tt_matrix_eigenvalues(&(struct tutti_matrix){n, n, starts, rows, matrix}, re, im, NULL);
    *radius = 0;
    for (size_t i = 0; !err && i < n; i++)
        *radius = fmax(*radius, hypot(re[i], im[i]));
    tt_arena_fini(&arena);
    return err;
}

static double *propagation_row_of(const struct propagation_builder *p, enum propagation_part part, size_t output)
{
    return p->rows + ((size_t)part * p->of->n + output) * p->size;
}

/* row += factor times this part of the state. */
static void propagation_add(const struct propagation_builder *p, double *row, double factor, enum propagation_part part,
                            size_t output)
{
    row[(size_t)part * p->of->n + output] += factor;
}

static void propagation_add_row(const struct propagation_builder *p, double *row, double factor, const double *other)
{
    for (size_t c = 0; c < p->size; c++)
        row[c] += factor * other[c];
}

/* H times the slope that an output is extrapolated with: that of the line or parabola through its points (Andersson 2016
 * eq. 6.29). */
static void propagation_add_slope(const struct propagation_builder *p, double *row, double factor, size_t output)
{
    if (p->of->followers[output].gives >= 1) {
        propagation_add(p, row, factor, SLOPE, output);
    } else if (p->of->order == 1) {
        propagation_add(p, row, factor, NOW, output);
        propagation_add(p, row, -factor, BEFORE, output);
    } else {
        propagation_add(p, row, 1.5 * factor, NOW, output);
        propagation_add(p, row, -2 * factor, BEFORE, output);
        propagation_add(p, row, 0.5 * factor, FIRST, output);
    }
}

/* H^2 times its second derivative. */
static void propagation_add_curvature(const struct propagation_builder *p, double *row, double factor, size_t output)
{
    if (p->of->order < 2)
        return;
    if (p->of->followers[output].gives >= 2) {
        propagation_add(p, row, factor, BEND, output);
    } else {
        propagation_add(p, row, factor, NOW, output);
        propagation_add(p, row, -2 * factor, BEFORE, output);
        propagation_add(p, row, factor, FIRST, output);
    }
}

/* What it is extrapolated to, at this part of the step. */
static void propagation_add_extrapolated(const struct propagation_builder *p, double *row, double factor, double at,
                                         size_t output)
{
    propagation_add(p, row, factor, NOW, output);
    if (p->of->order == 0)
        return;
    propagation_add_slope(p, row, at * factor, output);
    propagation_add_curvature(p, row, at * at / 2 * factor, output);
}

/* The same of an output that is known at the end of the step: on the line to it, or, with order 2, on the parabola with the
 * slope that is known at the beginning. */
static void propagation_add_known(const struct propagation_builder *p, double *row, double factor, double at,
                                  size_t output)
{
    double end = p->of->order == 0 ? 1 : p->of->order == 1 ? at : at * at;
    propagation_add_row(p, row, factor * end, propagation_row_of(p, NOW, output));
    propagation_add(p, row, factor * (1 - end), NOW, output);
    if (p->of->order == 2)
        propagation_add_slope(p, row, factor * (at - end), output);
}

/* Slope and second derivative at the end of the step, of an input that moves to where an output is known to end. */
static void propagate_known_input(const struct propagation_builder *p, size_t to, double factor, size_t from)
{
    double *slope = propagation_row_of(p, SLOPE, to), *bend = propagation_row_of(p, BEND, to),
           part = p->of->order == 2 ? 2 * factor : factor;
    propagation_add_row(p, slope, part, propagation_row_of(p, NOW, from));
    propagation_add(p, slope, -part, NOW, from);
    if (p->of->order == 1)
        return;
    propagation_add_slope(p, slope, -factor, from);
    propagation_add_row(p, bend, part, propagation_row_of(p, NOW, from));
    propagation_add(p, bend, -part, NOW, from);
    propagation_add_slope(p, bend, -part, from);
}

/* ... of one that is extrapolated. Smoothing leads it along a line from where it was led to before. */
static void propagate_extrapolated_input(const struct propagation_builder *p, size_t to, double factor, size_t from)
{
    double *slope = propagation_row_of(p, SLOPE, to);
    if (p->of->smooths) {
        propagation_add_extrapolated(p, slope, factor, 1, from);
        propagation_add(p, slope, -factor, END, from);
        return;
    }
    propagation_add_slope(p, slope, factor, from);
    propagation_add_curvature(p, slope, factor, from);
    propagation_add_curvature(p, propagation_row_of(p, BEND, to), factor, from);
}

/* y = D u, y' = D u', y'' = D u'' at the end of the step. */
static void propagation_fill_output(const struct propagation_builder *p, size_t to)
{
    const struct tt_follower *follower = &p->of->followers[to];
    bool moves = p->of->order > 0 && follower->takes;
    double at = follower->takes ? 1 : follower->at, *row = propagation_row_of(p, NOW, to);
    for (size_t from = 0; from < p->of->n; from++) {
        double factor = p->of->matrix[from * p->of->n + to];
        bool known = p->of->in_places && p->of->followers[from].place < follower->place;
        if (factor == 0)
            continue;
        if (known)
            propagation_add_known(p, row, factor, at, from);
        else
            propagation_add_extrapolated(p, row, factor, at, from);
        if (moves && known)
            propagate_known_input(p, to, factor, from);
        else if (moves)
            propagate_extrapolated_input(p, to, factor, from);
    }
}

static int compare_step_places(const void *a, const void *b)
{
    const struct step_order *x = a, *y = b;
    return x->place != y->place ? (x->place > y->place) - (x->place < y->place)
                                : (x->output > y->output) - (x->output < y->output);
}

static void propagation_fill(const struct propagation_builder *p, struct step_order *order)
{
    size_t n = p->of->n;
    for (size_t i = 0; i < n; i++)
        order[i] = (struct step_order){p->of->followers[i].place, i};
    qsort(order, n, sizeof *order, compare_step_places);
    for (size_t i = 0; i < n; i++)
        propagation_fill_output(p, order[i].output);
    for (size_t i = 0; p->of->order > 0 && i < n; i++) {
        propagation_add(p, propagation_row_of(p, BEFORE, i), 1, NOW, i);
        propagation_add(p, propagation_row_of(p, FIRST, i), 1, BEFORE, i);
        propagation_add_extrapolated(p, propagation_row_of(p, END, i), 1, 1, i);
    }
}

enum tutti_err tt_stability_propagation_radius(const struct tt_propagation *propagation, double *radius)
{
    struct tt_arena arena = {0};
    struct propagation_builder p = {.of = propagation, .size = (propagation->order > 0 ? PARTS : 1) * propagation->n};
    struct step_order *order = tt_arena_array(&arena, propagation->n, sizeof *order);
    enum tutti_err err = TUTTI_OK;
    if (p.size > TUTTI_EIGEN_MOST)
        err = tt_fail(TUTTI_ERR_LIMIT, "the propagation of %zu outputs has more than %d rows", propagation->n,
                      TUTTI_EIGEN_MOST);
    p.rows = err ? NULL : tt_arena_array(&arena, p.size * p.size, sizeof *p.rows);
    if (!err && (!order || !p.rows))
        err = tt_fail_memory();
    if (!err) {
        propagation_fill(&p, order);
        err = tt_stability_spectral_radius(p.rows, p.size, NULL, NULL, radius);
    }
    tt_arena_fini(&arena);
    return err;
}
