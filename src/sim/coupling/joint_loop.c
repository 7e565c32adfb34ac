/* SPDX-License-Identifier: MIT */
#include "sim/coupling/joint_loop.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "sim/rank.h"
#include "solve/lu.h"
#include "solve/kinsol.h"

enum { MOST_ITERATIONS = 10, MOST_NAMED = 6 };
static const double TOLERANCE = 1e-12; /* of a residual, relative to its unknown */
static const double ROUGH = 1e-9;      /* FMUs that iterate themselves may not give more digits */
static const double ILL = 1e-6;        /* a matrix that near to a singular one may be why a solver fails */
static const double SLOW = 0.3;        /* a residual that falls less than this needs a new matrix */

struct tt_joint_loop {
    struct tt_joint_units *pool;
    struct tt_joint_group *inputs, *outputs; /* per unit */
    uint32_t unit_count;
    const uint32_t *nodes; /* outputs: all of them */
    uint32_t node_count;
    size_t n;                          /* unknowns */
    double *y, *g, *r, *moved, *scale; /* of these */
    double *matrix;                    /* dg/dy, column-major */
    bool has_matrix, factored;         /* computed at an earlier point */
    struct tt_lu *lu;
    double t;
};

/* ---- g(y) ---- */

static const struct tt_slot *joint_loop_slot(const struct tt_joint_loop *loop, uint32_t node)
{
    return &loop->pool->rank->wires.slots[node];
}

static void joint_loop_write_unknowns(const struct tt_joint_loop *loop, const double *y)
{
    for (uint32_t i = 0; i < loop->node_count; i++) {
        const struct tt_slot *slot = joint_loop_slot(loop, loop->nodes[i]);
        memcpy(slot->values, y, slot->count * sizeof *y);
        y += slot->count;
    }
}

static void joint_loop_read_unknowns(const struct tt_joint_loop *loop, double *y)
{
    const struct tt_rank *rank = loop->pool->rank;
    for (uint32_t i = 0; i < loop->node_count; i++) {
        const struct tt_slot *slot = joint_loop_slot(loop, loop->nodes[i]);
        bool own = tt_rank_owns(rank, rank->wires.structure->nodes[loop->nodes[i]].component);
        for (uint32_t e = 0; e < slot->count; e++)
            *y++ = own ? ((const double *)slot->values)[e] : -INFINITY;
    }
}

/* All inputs first: what one unit makes of them is not what the next one sees. */
static enum tutti_err joint_loop_evaluate_units(struct tt_joint_loop *loop)
{
    for (uint32_t u = 0; u < loop->unit_count; u++)
        if (loop->inputs[u].unit->own)
            TRY(tt_joint_system_set_inputs(loop->pool, &loop->inputs[u]));
    for (uint32_t u = 0; u < loop->unit_count; u++)
        if (loop->outputs[u].unit->own)
            TRY(tt_joint_system_get_outputs(loop->pool, &loop->outputs[u]));
    return TUTTI_OK;
}

/* Collective. `g` has room for one more. */
static enum tutti_err joint_loop_evaluate(void *context, const double *y, double *g, bool *outside)
{
    struct tt_joint_loop *loop = context;
    joint_loop_write_unknowns(loop, y);
    enum tutti_err err = joint_loop_evaluate_units(loop);
    if (err && err != TUTTI_ERR_DISCARD)
        return err;
    joint_loop_read_unknowns(loop, loop->moved);
    loop->moved[loop->n] = err ? 1 : 0;
    for (size_t i = 0; i < loop->n; i++)
        if (isnan(loop->moved[i]) || loop->moved[i] == INFINITY) {
            loop->moved[i] = 0;
            loop->moved[loop->n] = 1;
        }
    TRY(tt_joint_system_share_values(loop->pool, loop->moved, loop->n + 1));
    memcpy(g, loop->moved, loop->n * sizeof *g);
    *outside = loop->moved[loop->n] > 0;
    for (size_t i = 0; i < loop->n; i++)
        *outside = *outside || !isfinite(g[i]);
    return TUTTI_OK;
}

/* ---- Newton's method ---- */

static double joint_loop_unknown_scale(const struct tt_joint_loop *loop, size_t i, double y)
{
    return fmax(fabs(y), loop->scale[i]);
}

/* y - g(y), and its largest part as a share of the unknown. */
static double joint_loop_residual(struct tt_joint_loop *loop)
{
    double largest = 0;
    for (size_t i = 0; i < loop->n; i++) {
        loop->r[i] = loop->y[i] - loop->g[i];
        largest = fmax(largest, fabs(loop->r[i]) / joint_loop_unknown_scale(loop, i, loop->y[i]));
    }
    return largest;
}

/* Differences, one unknown after the other; g at y is known. */
static enum tutti_err measure_loop_matrix(struct tt_joint_loop *loop, bool *outside)
{
    double *there = loop->r;
    for (size_t c = 0; c < loop->n && !*outside; c++) {
        double before = loop->y[c], step = sqrt(DBL_EPSILON) * joint_loop_unknown_scale(loop, c, before);
        loop->y[c] = before + step;
        step = loop->y[c] - before;
        enum tutti_err err = joint_loop_evaluate(loop, loop->y, there, outside);
        loop->y[c] = before;
        TRY(err);
        for (size_t i = 0; i < loop->n; i++)
            loop->matrix[c * loop->n + i] = (there[i] - loop->g[i]) / step;
    }
    loop->has_matrix = !*outside;
    loop->factored = false;
    return TUTTI_OK;
}

/* Of I - dg/dy, each unknown as a part of its size, from a singular one; NAN: not known. */
static double joint_loop_singular_distance(const struct tt_joint_loop *loop)
{
    size_t n = loop->n;
    double *scaled = loop->has_matrix ? malloc(n * n * sizeof *scaled) : NULL;
    for (size_t k = 0; scaled && k < n * n; k++)
        scaled[k] = ((k % (n + 1) == 0) - loop->matrix[k]) * joint_loop_unknown_scale(loop, k / n, loop->y[k / n]) /
                    joint_loop_unknown_scale(loop, k % n, loop->y[k % n]);
    double distance = scaled ? tt_lu_distance_to_singular(scaled, n) : NAN;
    free(scaled);
    return distance;
}

static double joint_loop_residual_share(const struct tt_joint_loop *loop, size_t i)
{
    double share = fabs(loop->r[i]) / joint_loop_unknown_scale(loop, i, loop->y[i]);
    return isnan(share) ? INFINITY : share;
}

/* Returns the unknown with the largest residual that is smaller than that of `after`, or equal and later; n: none. */
static size_t joint_loop_find_worst(const struct tt_joint_loop *loop, size_t after)
{
    size_t worst = loop->n;
    for (size_t i = 0; i < loop->n; i++) {
        bool follows = after == loop->n ||
                       joint_loop_residual_share(loop, i) < joint_loop_residual_share(loop, after) ||
                       (joint_loop_residual_share(loop, i) == joint_loop_residual_share(loop, after) && i > after);
        if (follows &&
            (worst == loop->n || joint_loop_residual_share(loop, i) > joint_loop_residual_share(loop, worst)))
            worst = i;
    }
    return worst;
}

static const struct tt_structure_node *joint_loop_unknown_node(const struct tt_joint_loop *loop, size_t unknown)
{
    uint32_t i = 0;
    for (size_t at = 0; at + joint_loop_slot(loop, loop->nodes[i])->count <= unknown; i++)
        at += joint_loop_slot(loop, loop->nodes[i])->count;
    return &loop->pool->rank->wires.structure->nodes[loop->nodes[i]];
}

/* Formats "a.y = 1 (residual 0.5), ...", the largest residuals first. */
static void joint_loop_record_failure(struct tt_joint_loop *loop, const char *why, double distance)
{
    const struct tt_rank *rank = loop->pool->rank;
    struct tt_text text = {0};
    const double noise = sqrt(DBL_EPSILON); /* of differences */
    char message[480], condition[64] = "";
    (void)joint_loop_residual(loop);
    size_t k = loop->n;
    for (unsigned named = 0; named < MOST_NAMED; named++) {
        k = joint_loop_find_worst(loop, k);
        if (k == loop->n)
            break;
        struct tt_end end = {.component = joint_loop_unknown_node(loop, k)->component,
                             .variable = joint_loop_unknown_node(loop, k)->variable};
        char name[256];
        tt_text_printf(&text, "%s%s = %s (residual %.3g)", named ? ", " : "",
                       tt_system_name(rank->job->system, &end, name, sizeof name), NUMBER(loop->y[k]), loop->r[k]);
    }
    if (!isnan(distance))
        snprintf(condition, sizeof condition, ", with a condition number of %s %.0e,",
                 distance > noise ? "about" : "more than", 1 / fmax(distance, noise));
    snprintf(message, sizeof message, "the algebraic loop of %zu unknown%s%s %s: %s", loop->n, loop->n == 1 ? "" : "s",
             condition, why, text.text ? text.text : "");
    tt_joint_system_record_failure(loop->pool, loop->t, SIZE_MAX, message);
    tt_text_fini(&text);
}

/* Iterates with the present matrix. *left is the remaining residual; INFINITY: values are undefined on the way. */
static enum tutti_err joint_loop_iterate(struct tt_joint_loop *loop, double *left, bool *singular)
{
    bool outside = false;
    *left = joint_loop_residual(loop);
    if (!loop->factored) {
        TRY(tt_lu_factor(loop->lu, loop->matrix, 1, 0, singular)); /* I - dg/dy */
        loop->factored = !*singular;
    }
    for (int k = 0; k<MOST_ITERATIONS && * left> TOLERANCE && !*singular; k++) {
        double before = *left;
        tt_lu_solve(loop->lu, loop->r, NULL);
        for (size_t i = 0; i < loop->n; i++)
            loop->y[i] -= loop->r[i];
        TRY(joint_loop_evaluate(loop, loop->y, loop->g, &outside));
        *left = outside ? INFINITY : joint_loop_residual(loop);
        if (!(*left < SLOW * before))
            break;
    }
    return TUTTI_OK;
}

static enum tutti_err solve_loop_by_kinsol(struct tt_joint_loop *loop, const double *guess, double *left)
{
    struct tt_fixed_point problem = {
        .n = loop->n, .context = loop, .evaluate = joint_loop_evaluate, .scale = loop->scale};
    struct tt_newton_counts counts = {0};
    memcpy(loop->y, guess, loop->n * sizeof *guess);
    enum tutti_err err =
        tt_kinsol(&problem, &(struct tt_kinsol_options){.tolerance = TOLERANCE}, loop->y, loop->r, &counts);
    *left = counts.residual;
    if (err == TUTTI_ERR_SOLVER && !(*left <= ROUGH)) {
        joint_loop_record_failure(loop, "has no solution that could be found",
                                  counts.distance > 0 ? counts.distance : NAN);
        return TUTTI_OK;
    }
    return err == TUTTI_ERR_SOLVER ? TUTTI_OK : err;
}

static enum tutti_err joint_loop_solve(struct tt_joint_loop *loop, const double *guess, bool *good)
{
    double left = INFINITY;
    bool outside = false, singular = false;
    TRY(joint_loop_evaluate(loop, loop->y, loop->g, &outside));
    if (outside) {
        *good = false;
        return TUTTI_OK;
    }
    if (loop->has_matrix)
        TRY(joint_loop_iterate(loop, &left, &singular));
    if (!(left <= ROUGH)) {
        memcpy(loop->y, guess, loop->n * sizeof *guess);
        TRY(joint_loop_evaluate(loop, loop->y, loop->g, &outside));
        TRY(measure_loop_matrix(loop, &outside));
        singular = false;
        if (!outside)
            TRY(joint_loop_iterate(loop, &left, &singular));
    }
    if (singular) {
        joint_loop_record_failure(loop, "is singular", joint_loop_singular_distance(loop));
        loop->has_matrix = false;
        *good = false;
        return TUTTI_OK;
    }
    if (!(left <= ROUGH)) {
        TRY(solve_loop_by_kinsol(loop, guess, &left));
        loop->has_matrix = false;
    }
    *good = left <= ROUGH;
    return TUTTI_OK;
}

enum tutti_err tt_joint_loop_solve(struct tt_joint_loop *loop, double t, bool *good)
{
    double *guess = loop->scale + loop->n;
    bool bad = !*good;
    TRY(tt_rank_agree_any(loop->pool->rank, &bad));
    *good = !bad;
    if (bad)
        return TUTTI_OK;
    loop->t = t;
    joint_loop_read_unknowns(loop, loop->y);
    TRY(tt_joint_system_share_values(loop->pool, loop->y, loop->n));
    for (size_t i = 0; i < loop->n; i++)
        loop->y[i] = isfinite(loop->y[i]) ? loop->y[i] : 0;
    memcpy(guess, loop->y, loop->n * sizeof *guess);
    TRY(joint_loop_solve(loop, guess, good));
    joint_loop_write_unknowns(loop, loop->y);
    if (*good)
        TRY(joint_loop_evaluate_units(loop)); /* with the inputs that belong to it, whatever was tried last */
    joint_loop_write_unknowns(loop, loop->y); /* the same on every rank */
    return TUTTI_OK;
}

enum tutti_err tt_joint_loop_explain_failure(struct tt_joint_loop *loop, double t)
{
    bool outside = false;
    loop->t = t;
    joint_loop_read_unknowns(loop, loop->y);
    TRY(tt_joint_system_share_values(loop->pool, loop->y, loop->n));
    TRY(joint_loop_evaluate(loop, loop->y, loop->g, &outside));
    if (!outside)
        TRY(measure_loop_matrix(loop, &outside));
    double distance = outside ? NAN : joint_loop_singular_distance(loop);
    if (distance < ILL)
        joint_loop_record_failure(loop, "is nearly singular", distance);
    loop->has_matrix = false;
    return TUTTI_OK;
}

/* ---- making ---- */

static enum tutti_err joint_loop_allocate(struct tt_joint_loop *loop)
{
    struct tt_joint_units *pool = loop->pool;
    double **const rooms[] = {&loop->y, &loop->g, &loop->r, &loop->moved};
    bool all = true;
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        *rooms[i] = tt_arena_array(&pool->arena, loop->n + 1, sizeof(double));
        all = all && *rooms[i];
    }
    loop->scale = tt_arena_array(&pool->arena, 2 * loop->n, sizeof(double));
    loop->matrix = tt_arena_array(&pool->arena, loop->n * loop->n, sizeof(double));
    if (!all || !loop->scale || !loop->matrix)
        return tt_fail_memory();
    size_t at = 0;
    for (uint32_t i = 0; i < loop->node_count; i++) {
        const struct tt_structure_node *node = &pool->rank->wires.structure->nodes[loop->nodes[i]];
        const struct tt_description *desc = pool->rank->job->system->components[node->component].fmu->desc;
        for (uint32_t e = 0; e < joint_loop_slot(loop, loop->nodes[i])->count; e++)
            loop->scale[at++] = tt_wire_layout_nominal(&desc->vars[node->variable]);
    }
    return tt_lu_new(&loop->lu, loop->n, NULL, false);
}

static int joint_loop_compare_numbers(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return left < right ? -1 : left > right;
}

/* Node numbers go by component. */
static enum tutti_err list_loop_units(struct tt_joint_loop *loop, uint32_t *nodes, uint32_t count)
{
    struct tt_joint_units *pool = loop->pool;
    const struct tt_wires *wires = &pool->rank->wires;
    uint32_t *outputs = tt_arena_array(&pool->arena, count, sizeof *outputs);
    loop->inputs = tt_arena_array(&pool->arena, count, sizeof *loop->inputs);
    loop->outputs = tt_arena_array(&pool->arena, count, sizeof *loop->outputs);
    if (!outputs || !loop->inputs || !loop->outputs)
        return tt_fail_memory();
    loop->nodes = outputs;
    qsort(nodes, count, sizeof *nodes, joint_loop_compare_numbers);
    for (uint32_t at = 0, end; at < count; at = end) {
        for (end = at; end < count &&
                       wires->structure->nodes[nodes[end]].component == wires->structure->nodes[nodes[at]].component;
             end++)
            if (wires->structure->nodes[nodes[end]].output) {
                outputs[loop->node_count++] = nodes[end];
                loop->n += wires->slots[nodes[end]].count;
            }
        TRY(tt_joint_system_init_group(pool, nodes + at, end - at, false, &loop->inputs[loop->unit_count]));
        TRY(tt_joint_system_init_group(pool, nodes + at, end - at, true, &loop->outputs[loop->unit_count++]));
    }
    return TUTTI_OK;
}

static enum tutti_err joint_loop_reject_float32(const struct tt_joint_units *pool, uint32_t node)
{
    const struct tt_structure_node *n = &pool->rank->wires.structure->nodes[node];
    struct tt_end end = {.component = n->component, .variable = n->variable};
    char name[256];
    return tt_fail(TUTTI_ERR_UNSUPPORTED,
                   "--coupling strong solves algebraic loops of Float64 variables, and '%s', which is part of one, is "
                   "of another type; use --coupling relax",
                   tt_system_name(pool->rank->job->system, &end, name, sizeof name));
}

enum tutti_err tt_joint_loop_new(struct tt_joint_loop **out, struct tt_joint_units *pool, const uint32_t *nodes,
                                 uint32_t count)
{
    struct tt_joint_loop *loop = tt_arena_alloc(&pool->arena, sizeof *loop);
    uint32_t *sorted = tt_arena_array(&pool->arena, count, sizeof *sorted);
    if (!loop || !sorted)
        return tt_fail_memory();
    for (uint32_t i = 0; i < count; i++)
        if (!tt_wires_slot_is_double(&pool->rank->wires.slots[nodes[i]]))
            return joint_loop_reject_float32(pool, nodes[i]);
    memcpy(sorted, nodes, count * sizeof *sorted);
    loop->pool = pool;
    TRY(list_loop_units(loop, sorted, count));
    TRY(joint_loop_allocate(loop));
    *out = loop;
    return TUTTI_OK;
}

void tt_joint_loop_free(struct tt_joint_loop *loop)
{
    if (loop)
        tt_lu_free(loop->lu);
}

/* ---- going back ---- */

size_t tt_joint_loop_size(const struct tt_joint_loop *loop)
{
    return (loop->n * loop->n + 1) * sizeof(double);
}

void tt_joint_loop_save(const struct tt_joint_loop *loop, void *memory)
{
    double *values = memory;
    values[0] = loop->has_matrix;
    memcpy(values + 1, loop->matrix, loop->n * loop->n * sizeof *values);
}

void tt_joint_loop_restore(struct tt_joint_loop *loop, const void *memory)
{
    const double *values = memory;
    loop->has_matrix = values[0] != 0;
    memcpy(loop->matrix, values + 1, loop->n * loop->n * sizeof *values);
    loop->factored = false;
}
