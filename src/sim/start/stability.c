/* SPDX-License-Identifier: MIT */
#include "sim/start/stability.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "sim/start/algebraic_loop.h"
#include "solve/matrix.h"

enum { MOST_QUICK = 500, MOST_MIXED = 200 };

/* ---- radii ---- */

/* The effect of extrapolation through `points` points on an eigenvalue l of DL: the largest abs(z) that solves
 *     z^p = l (z^p - (z - 1)^p),
 * because the polynomial continues with y_n - (1 - E^-1)^p y_n, E^-1 leading one point back: for p = 2 that is 2 y_n -
 * y_{n-1} (Andersson 2016 eq. 6.40, 6.41), for p = 3 it is 3 y_n - 3 y_{n-1} + y_{n-2}. So w = 1 - 1/z is one of the
 * p-th roots of (l - 1) / l. */
static double extrapolated_radius(double re, double im, int points)
{
    double size = hypot(re, im), nearest = INFINITY;
    if (size == 0)
        return 0;
    if (size > 1e8)
        return points * size; /* where w is 1 to half of the digits */
    double root = pow(hypot(re - 1, im) / size, 1.0 / points), angle = atan2(im, re - 1) - atan2(im, re);
    for (int j = 0; j < points; j++) {
        double phi = (angle + 2 * M_PI * j) / points;
        nearest = fmin(nearest, hypot(1 - root * cos(phi), root * sin(phi)));
    }
    return 1 / nearest;
}

static enum tutti_err find_uniform_radii(const double *matrix, size_t n, struct tt_radii *radii)
{
    struct tt_arena arena = {0};
    double *re = tt_arena_array(&arena, n, sizeof *re), *im = tt_arena_array(&arena, n, sizeof *im);
    enum tutti_err err = re && im ? tt_stability_spectral_radius(matrix, n, re, im, &radii->rho) : tt_fail_memory();
    radii->linear = radii->quadratic = 0;
    for (size_t i = 0; i < n && !err; i++) {
        radii->linear = fmax(radii->linear, extrapolated_radius(re[i], im[i], 2));
        radii->quadratic = fmax(radii->quadratic, extrapolated_radius(re[i], im[i], 3));
    }
    tt_arena_fini(&arena);
    return err;
}

static enum tutti_err find_mixed_radii(struct tt_propagation *propagation, struct tt_radii *radii)
{
    for (unsigned order = 1; order < TUTTI_ORDERS; order++) {
        propagation->order = order;
        propagation->in_places = propagation->smooths = false;
        TRY(tt_stability_propagation_radius(propagation, &radii->jacobi[order]));
        propagation->smooths = true;
        TRY(tt_stability_propagation_radius(propagation, &radii->smooth[order]));
        propagation->smooths = false;
        propagation->in_places = true;
        TRY(tt_stability_propagation_radius(propagation, &radii->seidel[order]));
    }
    return TUTTI_OK;
}

enum tutti_err tt_stability_of_matrix(const double *matrix, size_t n, const struct tt_follower *followers,
                                      enum tt_stability_effort effort, struct tt_radii *radii)
{
    struct tt_propagation propagation = {.matrix = matrix, .n = n, .followers = followers, .in_places = true};
    radii->rho = radii->linear = radii->quadratic = NAN;
    for (int o = 0; o < TUTTI_ORDERS; o++)
        radii->jacobi[o] = radii->seidel[o] = radii->smooth[o] = NAN;
    if (n > (effort == TUTTI_QUICK ? MOST_QUICK : TUTTI_EIGEN_MOST))
        return TUTTI_OK;
    TRY(find_uniform_radii(matrix, n, radii));
    radii->jacobi[0] = radii->rho;
    TRY(tt_stability_propagation_radius(&propagation, &radii->seidel[0]));
    return effort == TUTTI_THOROUGH && n <= MOST_MIXED ? find_mixed_radii(&propagation, radii) : TUTTI_OK;
}

/* ---- loops ---- */

/* For the outputs among `nodes`. Inputs that an output follows are held where they end (tt_coupled_inputs_choose_holds). */
static enum tutti_err describe_followers(const struct tt_rank *rank, const struct tt_structure *running,
                                         const struct tt_step_sequence *sequence, const uint32_t *nodes, uint32_t count,
                                         struct tt_arena *arena, struct tt_follower **followers)
{
    uint32_t *waves = tt_arena_array(arena, rank->job->system->component_count, sizeof *waves), outputs = 0;
    *followers = tt_arena_array(arena, count, sizeof **followers);
    if (!waves || !*followers)
        return tt_fail_memory();
    for (uint32_t w = 0; w < sequence->wave_count; w++)
        for (uint32_t i = sequence->wave_first[w]; i < sequence->wave_first[w + 1]; i++)
            waves[sequence->components[i]] = w;
    for (uint32_t i = 0; i < count; i++) {
        const struct tt_structure_node *node = &rank->job->structure.nodes[nodes[i]];
        const struct tt_unit *unit = rank->units[node->component];
        bool takes = unit->asks_for_inputs || (unit->can & TUTTI_CAN_INPUT_DERIVATIVES);
        if (node->output)
            (*followers)[outputs++] = (struct tt_follower){waves[node->component], takes,
                                                           tt_structure_is_assumed(running, node->component) ? 0.5 : 1,
                                                           unit->output_order};
    }
    return TUTTI_OK;
}

static enum tutti_err measure_loop(struct tt_rank *rank, const struct tt_structure *running,
                                   const struct tt_step_sequence *sequence, struct tt_arena *arena,
                                   const uint32_t *nodes, uint32_t count, enum tt_stability_effort effort,
                                   struct tt_radii *radii)
{
    double *matrix = NULL;
    struct tt_follower *followers = NULL;
    size_t n = 0;
    TRY(tt_algebraic_loop_feedback(rank, nodes, count, arena, &matrix, &n, &radii->exact));
    TRY(describe_followers(rank, running, sequence, nodes, count, arena, &followers));
    TRY(tt_stability_of_matrix(matrix, n, followers, effort, radii));
    for (int o = 0; o < TUTTI_ORDERS && sequence->wave_count == 0; o++)
        radii->seidel[o] = NAN;
    return TUTTI_OK;
}

enum tutti_err tt_stability_of_loop(struct tt_rank *rank, const struct tt_structure *running,
                                    const struct tt_step_sequence *sequence, const uint32_t *loop, uint32_t count,
                                    enum tt_stability_effort effort, struct tt_radii *radii)
{
    struct tt_arena arena = {0};
    uint32_t *nodes = tt_arena_array(&arena, count, sizeof *nodes);
    enum tutti_err err = nodes ? TUTTI_OK : tt_fail_memory();
    *radii = (struct tt_radii){.loops = 1, .exact = true};
    /* In the structure of the initial phase, which the signals are laid out by. */
    for (uint32_t i = 0; i < count && !err; i++) {
        const struct tt_structure_node *node = &running->nodes[loop[i]];
        nodes[i] = tt_structure_find(&rank->job->structure, node->component, node->variable, node->output);
    }
    if (!err)
        err = measure_loop(rank, running, sequence, &arena, nodes, count, effort, radii);
    tt_arena_fini(&arena);
    if (err == TUTTI_ERR_MEMORY)
        return err;
    radii->known = err == TUTTI_OK;
    if (err)
        snprintf(radii->why_not, sizeof radii->why_not, "%s", tutti_err_message());
    return TUTTI_OK;
}

static double larger_radius(double a, double b)
{
    return isnan(a) || isnan(b) ? NAN : fmax(a, b);
}

void tt_stability_join(struct tt_radii *all, const struct tt_radii *one)
{
    if (all->known && !one->known)
        snprintf(all->why_not, sizeof all->why_not, "%s", one->why_not);
    all->loops += one->loops;
    all->known = all->known && one->known;
    all->exact = all->exact && one->exact;
    all->rho = larger_radius(all->rho, one->rho);
    all->linear = larger_radius(all->linear, one->linear);
    all->quadratic = larger_radius(all->quadratic, one->quadratic);
    for (int o = 0; o < TUTTI_ORDERS; o++) {
        all->jacobi[o] = larger_radius(all->jacobi[o], one->jacobi[o]);
        all->seidel[o] = larger_radius(all->seidel[o], one->seidel[o]);
        all->smooth[o] = larger_radius(all->smooth[o], one->smooth[o]);
    }
}

/* Dependencies of outputs may be undeclared, or declared in excess (an integrator's output on its input). A loop
 * without feedback (rho(DL) = 0) is not a loop. Only with declared dependencies and derivatives from the units, which
 * show D at later times, it counts as one: D may be 0 at the start alone. */
static bool is_loop_empty(const struct tt_structure *running, const uint32_t *loop, uint32_t count,
                          const struct tt_radii *radii)
{
    bool assumed = false;
    for (uint32_t i = 0; i < count; i++)
        assumed = assumed || tt_structure_is_assumed(running, running->nodes[loop[i]].component);
    return radii->known && radii->rho <= 1e-6 && (assumed || !radii->exact);
}

enum tutti_err tt_stability_measure(struct tt_rank *rank, const struct tt_structure *running,
                                    const struct tt_step_sequence *sequence, struct tt_radii *radii)
{
    const struct tt_components *scc = &running->scc;
    *radii = (struct tt_radii){.known = true, .exact = true};
    for (uint32_t c = 0; c < scc->count; c++) {
        struct tt_radii one;
        uint32_t count = scc->first[c + 1] - scc->first[c];
        if (count < 2)
            continue;
        TRY(tt_stability_of_loop(rank, running, sequence, scc->nodes + scc->first[c], count, TUTTI_QUICK, &one));
        if (is_loop_empty(running, scc->nodes + scc->first[c], count, &one))
            radii->empty++;
        else
            tt_stability_join(radii, &one);
    }
    return TUTTI_OK;
}

/* The state between two points has six parts, each with an entry per output: y now and at two points before, H y' and H^2
 * y'' as units give them (Andersson 2016 eq. 6.44 has y and y'), and where inputs were led to in the last step. Every
 * quantity of the next point is a row of coefficients over that state. */

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

/* Adds its extrapolated value at this part of the step. */
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

/* Of an extrapolated input. Smoothing moves it along a line from its earlier value. */
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
