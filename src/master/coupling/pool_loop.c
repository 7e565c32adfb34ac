/* SPDX-License-Identifier: MIT */
#include "master/coupling/pool_loop.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/str.h"
#include "rank/agree.h"
#include "solve/linear.h"
#include "solve/newton.h"

enum { MOST_ITERATIONS = 10, MOST_NAMED = 6 };
static const double TOLERANCE = 1e-12; /* of a residual, relative to its unknown */
static const double ROUGH = 1e-9;      /* FMUs that iterate themselves may not give more digits */
static const double ILL = 1e-6;        /* a matrix that near to a singular one may be why a solver fails */
static const double SLOW = 0.3;        /* a residual that falls less than this needs a new matrix */

struct tutti_pool_loop {
    struct tutti_pool *pool;
    struct tutti_pool_group *inputs, *outputs; /* per unit */
    uint32_t unit_count;
    const uint32_t *nodes; /* outputs: all of them */
    uint32_t node_count;
    size_t n;                          /* unknowns */
    double *y, *g, *r, *moved, *scale; /* of these */
    double *matrix;                    /* dg/dy, column-major ... */
    bool has_matrix, factored;         /* ... at an earlier point */
    struct tutti_lu *lu;
    double t;
};

/* ---- g(y) ---- */

static const struct tutti_slot *slot_of(const struct tutti_pool_loop *loop, uint32_t node)
{
    return &loop->pool->rank->wires.slots[node];
}

static bool is_own(const struct tutti_pool_loop *loop, uint32_t node)
{
    const struct tutti_rank *rank = loop->pool->rank;
    return tutti_rank_owns(rank, rank->wires.structure->nodes[node].component);
}

static void put(const struct tutti_pool_loop *loop, const double *y)
{
    for (uint32_t i = 0; i < loop->node_count; i++) {
        const struct tutti_slot *slot = slot_of(loop, loop->nodes[i]);
        memcpy(slot->values, y, slot->count * sizeof *y);
        y += slot->count;
    }
}

static void take(const struct tutti_pool_loop *loop, double *y)
{
    for (uint32_t i = 0; i < loop->node_count; i++) {
        const struct tutti_slot *slot = slot_of(loop, loop->nodes[i]);
        for (uint32_t e = 0; e < slot->count; e++)
            *y++ = is_own(loop, loop->nodes[i]) ? ((const double *)slot->values)[e] : -INFINITY;
    }
}

/* All inputs first: what one unit makes of them is not what the next one sees. */
static enum tutti_err call_units(struct tutti_pool_loop *loop)
{
    for (uint32_t u = 0; u < loop->unit_count; u++)
        if (loop->inputs[u].unit->own)
            TRY(tutti_pool_set_inputs(loop->pool, &loop->inputs[u]));
    for (uint32_t u = 0; u < loop->unit_count; u++)
        if (loop->outputs[u].unit->own)
            TRY(tutti_pool_get_outputs(loop->pool, &loop->outputs[u]));
    return TUTTI_OK;
}

/* Collective. `g` has room for one more. */
static enum tutti_err evaluate(void *context, const double *y, double *g, bool *outside)
{
    struct tutti_pool_loop *loop = context;
    put(loop, y);
    enum tutti_err err = call_units(loop);
    if (err && err != TUTTI_ERR_DISCARD)
        return err;
    take(loop, loop->moved);
    loop->moved[loop->n] = err ? 1 : 0;
    for (size_t i = 0; i < loop->n; i++)
        if (isnan(loop->moved[i]) || loop->moved[i] == INFINITY) {
            loop->moved[i] = 0;
            loop->moved[loop->n] = 1;
        }
    TRY(tutti_pool_share(loop->pool, loop->moved, loop->n + 1));
    memcpy(g, loop->moved, loop->n * sizeof *g);
    *outside = loop->moved[loop->n] > 0;
    for (size_t i = 0; i < loop->n; i++)
        *outside = *outside || !isfinite(g[i]);
    return TUTTI_OK;
}

/* ---- Newton's method ---- */

static double scale_of(const struct tutti_pool_loop *loop, size_t i, double y)
{
    return fmax(fabs(y), loop->scale[i]);
}

/* y - g(y), and its largest part as a share of the unknown. */
static double residual(struct tutti_pool_loop *loop)
{
    double largest = 0;
    for (size_t i = 0; i < loop->n; i++) {
        loop->r[i] = loop->y[i] - loop->g[i];
        largest = fmax(largest, fabs(loop->r[i]) / scale_of(loop, i, loop->y[i]));
    }
    return largest;
}

/* Differences, one unknown after the other; g at y is there. */
static enum tutti_err make_matrix(struct tutti_pool_loop *loop, bool *outside)
{
    double *there = loop->r;
    for (size_t c = 0; c < loop->n && !*outside; c++) {
        double before = loop->y[c], step = sqrt(DBL_EPSILON) * scale_of(loop, c, before);
        loop->y[c] = before + step;
        step = loop->y[c] - before;
        enum tutti_err err = evaluate(loop, loop->y, there, outside);
        loop->y[c] = before;
        TRY(err);
        for (size_t i = 0; i < loop->n; i++)
            loop->matrix[c * loop->n + i] = (there[i] - loop->g[i]) / step;
    }
    loop->has_matrix = !*outside;
    loop->factored = false;
    return TUTTI_OK;
}

static enum tutti_err factor(struct tutti_pool_loop *loop, bool *singular)
{
    if (loop->factored)
        return TUTTI_OK;
    TRY(tutti_lu_factor(loop->lu, loop->matrix, 1, 0, singular)); /* I - dg/dy */
    loop->factored = !*singular;
    return TUTTI_OK;
}

/* Of I - dg/dy, each unknown as a part of its size, from a singular one; NAN: not known. */
static double distance_of(const struct tutti_pool_loop *loop)
{
    size_t n = loop->n;
    double *scaled = loop->has_matrix ? malloc(n * n * sizeof *scaled) : NULL;
    for (size_t k = 0; scaled && k < n * n; k++)
        scaled[k] = ((k % (n + 1) == 0) - loop->matrix[k]) * scale_of(loop, k / n, loop->y[k / n]) /
                    scale_of(loop, k % n, loop->y[k % n]);
    double distance = scaled ? tutti_distance_to_singular(scaled, n) : NAN;
    free(scaled);
    return distance;
}

static double share_of(const struct tutti_pool_loop *loop, size_t i)
{
    double share = fabs(loop->r[i]) / scale_of(loop, i, loop->y[i]);
    return isnan(share) ? INFINITY : share;
}

/* The unknown with the largest residual that is smaller than the one of `after`, or as large and later; n: there is none. */
static size_t find_worst(const struct tutti_pool_loop *loop, size_t after)
{
    size_t worst = loop->n;
    for (size_t i = 0; i < loop->n; i++) {
        bool follows = after == loop->n || share_of(loop, i) < share_of(loop, after) ||
                       (share_of(loop, i) == share_of(loop, after) && i > after);
        if (follows && (worst == loop->n || share_of(loop, i) > share_of(loop, worst)))
            worst = i;
    }
    return worst;
}

static const struct tutti_structure_node *node_of(const struct tutti_pool_loop *loop, size_t unknown)
{
    uint32_t i = 0;
    for (size_t at = 0; at + slot_of(loop, loop->nodes[i])->count <= unknown; i++)
        at += slot_of(loop, loop->nodes[i])->count;
    return &loop->pool->rank->wires.structure->nodes[loop->nodes[i]];
}

/* "a.y = 1 (residual 0.5), ...", the largest residuals first. */
static void note(struct tutti_pool_loop *loop, const char *why, double distance)
{
    const struct tutti_rank *rank = loop->pool->rank;
    struct tutti_text text = {0};
    const double noise = sqrt(DBL_EPSILON); /* of differences */
    char message[480], condition[64] = "";
    (void)residual(loop);
    size_t k = loop->n;
    for (unsigned named = 0; named < MOST_NAMED; named++) {
        k = find_worst(loop, k);
        if (k == loop->n)
            break;
        struct tutti_end end = {.component = node_of(loop, k)->component, .variable = node_of(loop, k)->variable};
        char name[256];
        tutti_text_printf(&text, "%s%s = %s (residual %.3g)", named ? ", " : "",
                          tutti_system_name(rank->job->system, &end, name, sizeof name), NUMBER(loop->y[k]),
                          loop->r[k]);
    }
    if (!isnan(distance))
        snprintf(condition, sizeof condition, ", with a condition number of %s %.0e,",
                 distance > noise ? "about" : "more than", 1 / fmax(distance, noise));
    snprintf(message, sizeof message, "the algebraic loop of %zu unknown%s%s %s: %s", loop->n, loop->n == 1 ? "" : "s",
             condition, why, text.text ? text.text : "");
    tutti_pool_note_miss(loop->pool, loop->t, SIZE_MAX, message);
    tutti_text_fini(&text);
}

/* With the matrix at hand. *left is the residual that is left; INFINITY: there are no values on the way. */
static enum tutti_err iterate(struct tutti_pool_loop *loop, double *left, bool *singular)
{
    bool outside = false;
    *left = residual(loop);
    TRY(factor(loop, singular));
    for (int k = 0; k<MOST_ITERATIONS && * left> TOLERANCE && !*singular; k++) {
        double before = *left;
        tutti_lu_solve(loop->lu, loop->r, NULL);
        for (size_t i = 0; i < loop->n; i++)
            loop->y[i] -= loop->r[i];
        TRY(evaluate(loop, loop->y, loop->g, &outside));
        *left = outside ? INFINITY : residual(loop);
        if (!(*left < SLOW * before))
            break;
    }
    return TUTTI_OK;
}

static enum tutti_err run_kinsol(struct tutti_pool_loop *loop, const double *guess, double *left)
{
    struct tutti_fixed_point problem = {.n = loop->n, .context = loop, .evaluate = evaluate, .scale = loop->scale};
    struct tutti_newton_counts counts = {0};
    memcpy(loop->y, guess, loop->n * sizeof *guess);
    enum tutti_err err =
        tutti_newton(&problem, &(struct tutti_newton_options){.tolerance = TOLERANCE}, loop->y, loop->r, &counts);
    *left = counts.residual;
    if (err == TUTTI_ERR_SOLVER && !(*left <= ROUGH)) {
        note(loop, "has no solution that could be found", counts.distance > 0 ? counts.distance : NAN);
        return TUTTI_OK;
    }
    return err == TUTTI_ERR_SOLVER ? TUTTI_OK : err;
}

static enum tutti_err solve(struct tutti_pool_loop *loop, const double *guess, bool *good)
{
    double left = INFINITY;
    bool outside = false, singular = false;
    TRY(evaluate(loop, loop->y, loop->g, &outside));
    if (outside) {
        *good = false;
        return TUTTI_OK;
    }
    if (loop->has_matrix)
        TRY(iterate(loop, &left, &singular));
    if (!(left <= ROUGH)) {
        memcpy(loop->y, guess, loop->n * sizeof *guess);
        TRY(evaluate(loop, loop->y, loop->g, &outside));
        TRY(make_matrix(loop, &outside));
        singular = false;
        if (!outside)
            TRY(iterate(loop, &left, &singular));
    }
    if (singular) {
        note(loop, "is singular", distance_of(loop));
        loop->has_matrix = false;
        *good = false;
        return TUTTI_OK;
    }
    if (!(left <= ROUGH)) {
        TRY(run_kinsol(loop, guess, &left));
        loop->has_matrix = false;
    }
    *good = left <= ROUGH;
    return TUTTI_OK;
}

enum tutti_err tutti_pool_loop_solve(struct tutti_pool_loop *loop, double t, bool *good)
{
    double *guess = loop->scale + loop->n;
    bool bad = !*good;
    TRY(tutti_agree_any(loop->pool->rank, &bad));
    *good = !bad;
    if (bad)
        return TUTTI_OK;
    loop->t = t;
    take(loop, loop->y);
    TRY(tutti_pool_share(loop->pool, loop->y, loop->n));
    for (size_t i = 0; i < loop->n; i++)
        loop->y[i] = isfinite(loop->y[i]) ? loop->y[i] : 0;
    memcpy(guess, loop->y, loop->n * sizeof *guess);
    TRY(solve(loop, guess, good));
    put(loop, loop->y);
    if (*good)
        TRY(call_units(loop)); /* with the inputs that belong to it, whatever was tried last */
    put(loop, loop->y);        /* the same on every rank */
    return TUTTI_OK;
}

enum tutti_err tutti_pool_loop_blame(struct tutti_pool_loop *loop, double t)
{
    bool outside = false;
    loop->t = t;
    take(loop, loop->y);
    TRY(tutti_pool_share(loop->pool, loop->y, loop->n));
    TRY(evaluate(loop, loop->y, loop->g, &outside));
    if (!outside)
        TRY(make_matrix(loop, &outside));
    double distance = outside ? NAN : distance_of(loop);
    if (distance < ILL)
        note(loop, "is nearly singular", distance);
    loop->has_matrix = false;
    return TUTTI_OK;
}

/* ---- making ---- */

static double nominal_of(const struct tutti_pool *pool, const struct tutti_structure_node *node)
{
    return tutti_wires_nominal(&pool->rank->job->system->components[node->component].fmu->desc->vars[node->variable]);
}

static enum tutti_err make_room(struct tutti_pool_loop *loop)
{
    struct tutti_pool *pool = loop->pool;
    double **const rooms[] = {&loop->y, &loop->g, &loop->r, &loop->moved};
    bool all = true;
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        *rooms[i] = tutti_arena_array(&pool->arena, loop->n + 1, sizeof(double));
        all = all && *rooms[i];
    }
    loop->scale = tutti_arena_array(&pool->arena, 2 * loop->n, sizeof(double));
    loop->matrix = tutti_arena_array(&pool->arena, loop->n * loop->n, sizeof(double));
    if (!all || !loop->scale || !loop->matrix)
        return tutti_fail_memory();
    size_t at = 0;
    for (uint32_t i = 0; i < loop->node_count; i++)
        for (uint32_t e = 0; e < slot_of(loop, loop->nodes[i])->count; e++)
            loop->scale[at++] = nominal_of(pool, &pool->rank->wires.structure->nodes[loop->nodes[i]]);
    return tutti_lu_new(&loop->lu, loop->n, NULL, false);
}

static int by_number(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return left < right ? -1 : left > right;
}

/* Node numbers go by component. */
static enum tutti_err take_units(struct tutti_pool_loop *loop, uint32_t *nodes, uint32_t count)
{
    struct tutti_pool *pool = loop->pool;
    const struct tutti_wires *wires = &pool->rank->wires;
    uint32_t *outputs = tutti_arena_array(&pool->arena, count, sizeof *outputs);
    loop->inputs = tutti_arena_array(&pool->arena, count, sizeof *loop->inputs);
    loop->outputs = tutti_arena_array(&pool->arena, count, sizeof *loop->outputs);
    if (!outputs || !loop->inputs || !loop->outputs)
        return tutti_fail_memory();
    loop->nodes = outputs;
    qsort(nodes, count, sizeof *nodes, by_number);
    for (uint32_t at = 0, end; at < count; at = end) {
        for (end = at; end < count &&
                       wires->structure->nodes[nodes[end]].component == wires->structure->nodes[nodes[at]].component;
             end++)
            if (wires->structure->nodes[nodes[end]].output) {
                outputs[loop->node_count++] = nodes[end];
                loop->n += wires->slots[nodes[end]].count;
            }
        TRY(tutti_pool_group_init(pool, nodes + at, end - at, false, &loop->inputs[loop->unit_count]));
        TRY(tutti_pool_group_init(pool, nodes + at, end - at, true, &loop->outputs[loop->unit_count++]));
    }
    return TUTTI_OK;
}

static enum tutti_err refuse_floats(const struct tutti_pool *pool, uint32_t node)
{
    const struct tutti_structure_node *n = &pool->rank->wires.structure->nodes[node];
    struct tutti_end end = {.component = n->component, .variable = n->variable};
    char name[256];
    return tutti_fail(
        TUTTI_ERR_UNSUPPORTED,
        "--coupling strong solves algebraic loops of Float64 variables, and '%s', which is part of one, is "
        "of another type; use --coupling relax",
        tutti_system_name(pool->rank->job->system, &end, name, sizeof name));
}

enum tutti_err tutti_pool_loop_new(struct tutti_pool_loop **out, struct tutti_pool *pool, const uint32_t *nodes,
                                   uint32_t count)
{
    struct tutti_pool_loop *loop = tutti_arena_alloc(&pool->arena, sizeof *loop);
    uint32_t *sorted = tutti_arena_array(&pool->arena, count, sizeof *sorted);
    if (!loop || !sorted)
        return tutti_fail_memory();
    for (uint32_t i = 0; i < count; i++)
        if (!tutti_slot_is_double(&pool->rank->wires.slots[nodes[i]]))
            return refuse_floats(pool, nodes[i]);
    memcpy(sorted, nodes, count * sizeof *sorted);
    loop->pool = pool;
    TRY(take_units(loop, sorted, count));
    TRY(make_room(loop));
    *out = loop;
    return TUTTI_OK;
}

void tutti_pool_loop_free(struct tutti_pool_loop *loop)
{
    if (loop)
        tutti_lu_free(loop->lu);
}

/* ---- going back ---- */

size_t tutti_pool_loop_size(const struct tutti_pool_loop *loop)
{
    return (loop->n * loop->n + 1) * sizeof(double);
}

void tutti_pool_loop_save(const struct tutti_pool_loop *loop, void *memory)
{
    double *values = memory;
    values[0] = loop->has_matrix;
    memcpy(values + 1, loop->matrix, loop->n * loop->n * sizeof *values);
}

void tutti_pool_loop_restore(struct tutti_pool_loop *loop, const void *memory)
{
    const double *values = memory;
    loop->has_matrix = values[0] != 0;
    memcpy(loop->matrix, values + 1, loop->n * loop->n * sizeof *values);
    loop->factored = false;
}
