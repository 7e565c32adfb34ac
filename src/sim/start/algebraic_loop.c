/* SPDX-License-Identifier: MIT */
/* The unknowns are the outputs y in the loop. g(y): their values go to the inputs in the loop, through the connections,
 * and the units make new outputs of them. y = g(y) is solved by Newton's method; dg/dy = D L (Andersson 2016 eq. 5.8d),
 * with D from the units one by one and L from the connections. Values that are not continuous reals (Boolean, Integer,
 * discrete Real ...) are held meanwhile; after each solution they are read again, and the solution repeated, until they
 * converge.
 *
 * A loop through units of several ranks is solved by all ranks, each with an equal iteration on equal values: only g
 * and D are computed on the units' ranks. */
#include "sim/start/algebraic_loop.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "sim/rank.h"
#include "sim/start/feedthrough.h"
#include "solve/matrix.h"
#include "solve/lu.h"
#include "solve/kinsol.h"

enum { MOST_ROUNDS = 100, MOST_NAMED = 12 };

/* Of differences where values are Float32, and what is left of a Jacobian that is singular after their rounding. */
static const double NARROW_DISTANCE = 1e-3, NARROW_SINGULAR = 3e-4;
/* The maximum number of unknowns for which this is checked. */
enum { MOST_NARROW = 200 };

/* FMUs that solve equations internally may not be more accurate. */
#define GOOD_ENOUGH 1e-6

struct algebraic_loop {
    struct tt_rank *rank;
    struct tt_wires *wires;
    uint32_t *reals, *others, *inputs; /* nodes: outputs that are unknowns, other outputs, inputs; ascending */
    uint32_t real_count, other_count, input_count;
    size_t *first;                    /* per real: its first unknown */
    size_t n;                         /* unknowns */
    bool scalar;                      /* one unknown per real, so that D can be had unit by unit */
    bool narrow;                      /* some are Float32: differences are larger, and fewer digits are to be had */
    const double *scale;              /* of the unknowns; NULL: not known */
    double *jacobian;                 /* while it is being filled; column-major */
    bool exact;                       /* computed by directional derivatives */
    bool spread;                      /* over several ranks, all of which take part */
    const struct tt_loop_in_run *run; /* NULL: at the start */
    const struct tt_loop_reinit *late;
};

static struct tt_unit *loop_unit_of(const struct tt_rank *rank, uint32_t node)
{
    return rank->units[rank->job->structure.nodes[node].component];
}

enum tutti_err tt_algebraic_loop_write_node(struct tt_rank *rank, uint32_t node)
{
    struct tt_slot *slot = &rank->wires.slots[node];
    struct tt_unit *unit = loop_unit_of(rank, node);
    if (slot->type == TUTTI_TYPE_CLOCK) /* clocks have no values at the start */
        return TUTTI_OK;
    struct tt_block block = {(enum tt_type)slot->type, 1, slot->count, &slot->reference, slot->values, NULL};
    return unit->kind->set(unit, &block);
}

enum tutti_err tt_algebraic_loop_read_node(struct tt_rank *rank, uint32_t node)
{
    struct tt_slot *slot = &rank->wires.slots[node];
    struct tt_unit *unit = loop_unit_of(rank, node);
    if (slot->type == TUTTI_TYPE_CLOCK)
        return TUTTI_OK;
    struct tt_block block = {(enum tt_type)slot->type, 1, slot->count, &slot->reference, slot->values, slot->owned};
    TRY(unit->kind->get(unit, &block));
    return tt_signals_own(&block);
}

/* The place of a node among the unknowns, or -1. */
static ptrdiff_t loop_unknown_of(const struct algebraic_loop *block, uint32_t node)
{
    uint32_t low = 0, high = block->real_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (block->reals[middle] < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low < block->real_count && block->reals[low] == node ? (ptrdiff_t)block->first[low] : -1;
}

static bool loop_node_is_own(const struct algebraic_loop *block, uint32_t node)
{
    return tt_rank_owns(block->rank, block->rank->job->structure.nodes[node].component);
}

static enum tutti_err loop_exchange(const struct algebraic_loop *block)
{
    return block->spread ? tt_channels_exchange_start(&block->rank->channels) : TUTTI_OK;
}

static enum tutti_err loop_agree_any(const struct algebraic_loop *block, bool *any)
{
    return block->spread ? tt_rank_agree_any(block->rank, any) : TUTTI_OK;
}

/* FMI 1.0 Co-Simulation. */
static bool is_read_after_init(const struct tt_unit *unit)
{
    return unit->fmu->desc->fmi == 1 && unit->kind->interface == TUTTI_CS;
}

static struct tt_member *loop_member_of(const struct algebraic_loop *block, uint32_t node)
{
    return &block->rank->members[block->rank->job->structure.nodes[node].component];
}

/* One evaluation of each unit that `nodes`, which are sorted by unit, belong to. */
static enum tutti_err loop_read_nodes(struct algebraic_loop *block, const uint32_t *nodes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct tt_unit *unit = loop_unit_of(block->rank, nodes[i]);
        if (!loop_node_is_own(block, nodes[i]))
            continue;
        if (block->late && is_read_after_init(unit))
            TRY(block->late->close(block->late->context, loop_member_of(block, nodes[i])));
        if (!block->run && (i == 0 || unit != loop_unit_of(block->rank, nodes[i - 1])))
            unit->counts.init_evaluations++;
        TRY(tt_algebraic_loop_read_node(block->rank, nodes[i]));
    }
    return TUTTI_OK;
}

/* Sets inputs of the loop from the signals; of one unit only, if it is not NULL. */
static enum tutti_err loop_write_inputs(struct algebraic_loop *block, const struct tt_member *member)
{
    for (uint32_t i = 0; i < block->input_count; i++) {
        if ((member && loop_member_of(block, block->inputs[i]) != member) || !loop_node_is_own(block, block->inputs[i]))
            continue;
        TRY(tt_wires_gather_node(block->wires, block->inputs[i]));
        if (block->late && is_read_after_init(loop_unit_of(block->rank, block->inputs[i])))
            TRY(block->late->open(block->late->context, loop_member_of(block, block->inputs[i])));
        TRY(tt_algebraic_loop_write_node(block->rank, block->inputs[i]));
    }
    return TUTTI_OK;
}

/* All of them, also those that no unit of this rank reads. */
static enum tutti_err loop_get_unknowns(const struct algebraic_loop *block, double *x)
{
    for (uint32_t i = 0; i < block->real_count; i++) {
        const struct tt_slot *slot = &block->wires->slots[block->reals[i]];
        memcpy(x + block->first[i], slot->values, slot->count * sizeof(double));
        for (uint32_t e = 0; e < slot->count && !loop_node_is_own(block, block->reals[i]); e++)
            x[block->first[i] + e] = -INFINITY;
    }
    return block->spread ? tt_rank_reduce(block->rank, TUTTI_REDUCE_MAX, x, block->n) : TUTTI_OK;
}

static void loop_put_unknowns(const struct algebraic_loop *block, const double *x)
{
    for (uint32_t i = 0; i < block->real_count; i++) {
        const struct tt_slot *slot = &block->wires->slots[block->reals[i]];
        memcpy(slot->values, x + block->first[i], slot->count * sizeof(double));
    }
}

static enum tutti_err loop_evaluate(void *context, const double *x, double *g, bool *outside)
{
    struct algebraic_loop *block = context;
    loop_put_unknowns(block, x);
    TRY(loop_write_inputs(block, NULL));
    enum tutti_err err = loop_read_nodes(block, block->reals, block->real_count);
    bool discarded = err == TUTTI_ERR_DISCARD;
    if (!discarded)
        TRY(err);
    TRY(loop_agree_any(block, &discarded));
    *outside = discarded;
    if (discarded)
        return TUTTI_OK;
    TRY(loop_get_unknowns(block, g));
    for (size_t i = 0; i < block->n; i++)
        *outside = *outside || !isfinite(g[i]);
    return TUTTI_OK;
}

/* An entry of D, times the row of L that leads to its input. */
static enum tutti_err loop_add_jacobian_entry(void *context, uint32_t output, uint32_t input, double value)
{
    struct algebraic_loop *block = context;
    const struct tt_slot *slot = &block->wires->slots[input];
    ptrdiff_t row = loop_unknown_of(block, output);
    for (uint32_t w = slot->wire_first; w < slot->wire_first + slot->wire_count; w++) {
        const struct tt_wire *wire = &block->wires->wires[w];
        const struct tt_end *from = &wire->connection->from;
        uint32_t source = tt_structure_find(block->wires->structure, from->component, from->variable, true);
        ptrdiff_t column = loop_unknown_of(block, source);
        if (row >= 0 && column >= 0)
            block->jacobian[(size_t)column * block->n + (size_t)row] += value * wire->conversion->factor;
    }
    return TUTTI_OK;
}

/* An input is as large as what feeds it. */
static double loop_input_size(const void *context, uint32_t input)
{
    const struct algebraic_loop *block = context;
    const struct tt_slot *slot = &block->wires->slots[input];
    double size = 0;
    for (uint32_t w = slot->wire_first; block->scale && w < slot->wire_first + slot->wire_count; w++) {
        const struct tt_wire *wire = &block->wires->wires[w];
        const struct tt_end *from = &wire->connection->from;
        uint32_t source = tt_structure_find(block->wires->structure, from->component, from->variable, true);
        ptrdiff_t unknown = loop_unknown_of(block, source);
        if (unknown >= 0)
            size = fmax(size, fabs(wire->conversion->factor) * block->scale[unknown]);
    }
    return size;
}

/* How many of `nodes` from `at` on belong to the unit of the first one. */
static uint32_t count_nodes_of_unit(const struct algebraic_loop *block, const uint32_t *nodes, uint32_t count,
                                    uint32_t at)
{
    uint32_t end = at;
    while (end < count && loop_unit_of(block->rank, nodes[end]) == loop_unit_of(block->rank, nodes[at]))
        end++;
    return end - at;
}

/* How the outputs of one unit follow its inputs. */
static enum tutti_err loop_fill_unit(struct algebraic_loop *block, const uint32_t *inputs, uint32_t input_count,
                                     const uint32_t *outputs, uint32_t output_count)
{
    struct tt_feedthrough_request question = {.unit = loop_unit_of(block->rank, outputs[0]),
                                              .inputs = inputs,
                                              .outputs = outputs,
                                              .input_count = input_count,
                                              .output_count = output_count,
                                              .entry = loop_add_jacobian_entry,
                                              .size = loop_input_size,
                                              .context = block};
    unsigned long evaluations;
    enum tutti_err err = tt_feedthrough(block->wires, &question, &block->exact, &evaluations);
    if (!block->run)
        question.unit->counts.init_evaluations += evaluations;
    return err;
}

static enum tutti_err loop_fill_own_rows(struct algebraic_loop *block)
{
    uint32_t input = 0;
    for (uint32_t at = 0; at < block->real_count;) {
        uint32_t outputs = count_nodes_of_unit(block, block->reals, block->real_count, at);
        struct tt_unit *unit = loop_unit_of(block->rank, block->reals[at]);
        while (input < block->input_count && block->rank->job->structure.nodes[block->inputs[input]].component <
                                                 block->rank->job->structure.nodes[block->reals[at]].component)
            input++;
        uint32_t inputs = 0;
        while (input + inputs < block->input_count && loop_unit_of(block->rank, block->inputs[input + inputs]) == unit)
            inputs++;
        if (loop_node_is_own(block, block->reals[at]))
            TRY(loop_fill_unit(block, block->inputs + input, inputs, block->reals + at, outputs));
        at += outputs;
    }
    return TUTTI_OK;
}

/* Each row comes from the rank of its output. *err becomes the greatest of all. */
static enum tutti_err loop_share_rows(struct algebraic_loop *block, double *jacobian, enum tutti_err *err)
{
    bool inexact = !block->exact;
    double worst = *err;
    for (uint32_t i = 0; i < block->real_count; i++)
        for (uint32_t e = 0;
             e < block->wires->slots[block->reals[i]].count && !loop_node_is_own(block, block->reals[i]); e++)
            for (size_t column = 0; column < block->n; column++)
                jacobian[column * block->n + block->first[i] + e] = -INFINITY;
    TRY(tt_rank_reduce(block->rank, TUTTI_REDUCE_MAX, jacobian, block->n * block->n));
    TRY(tt_rank_agree_any(block->rank, &inexact));
    block->exact = !inexact;
    TRY(tt_rank_reduce(block->rank, TUTTI_REDUCE_MAX, &worst, 1));
    *err = (enum tutti_err)worst;
    return TUTTI_OK;
}

static enum tutti_err loop_fill_jacobian(void *context, const double *x, double *jacobian)
{
    struct algebraic_loop *block = context;
    (void)x; /* the units are there */
    block->jacobian = jacobian;
    enum tutti_err err = loop_fill_own_rows(block), worst = err;
    if (block->spread)
        TRY(loop_share_rows(block, jacobian, &worst));
    if (err || !worst)
        return err;
    if (worst == TUTTI_ERR_UNSUPPORTED) /* which the run may do without */
        return tt_fail(worst, "a unit of another rank does not tell how its outputs follow its inputs");
    return tt_fabric_fail_stopped(); /* the failed rank has the message */
}

static double loop_scale_of(const struct algebraic_loop *block, uint32_t node, double guess)
{
    const struct tt_structure_node *n = &block->rank->job->structure.nodes[node];
    const struct tt_bounds *bounds =
        block->rank->job->system->components[n->component].fmu->desc->vars[n->variable].bounds;
    if (bounds && bounds->has_nominal && bounds->nominal > 0 && isfinite(bounds->nominal))
        return bounds->nominal;
    return fabs(guess) > 1e-100 ? fabs(guess) : 1;
}

/* Formats "a.y = 1 (residual 0.5), b.y = ..." */
static void format_unknowns(const struct algebraic_loop *block, const double *x, const double *residuals,
                            struct tt_text *text)
{
    size_t named = 0;
    for (uint32_t i = 0; i < block->real_count; i++)
        for (uint32_t e = 0; e < block->wires->slots[block->reals[i]].count; e++, named++) {
            const struct tt_structure_node *node = &block->rank->job->structure.nodes[block->reals[i]];
            struct tt_end end = {.component = node->component, .variable = node->variable};
            size_t k = block->first[i] + e;
            char name[256], index[32] = "";
            if (block->wires->slots[block->reals[i]].count > 1)
                snprintf(index, sizeof index, "[%u]", e + 1);
            if (named < MOST_NAMED)
                tt_text_printf(text, "%s%s%s = %s (residual %.3g)", named ? ", " : "",
                               tt_system_name(block->rank->job->system, &end, name, sizeof name), index, NUMBER(x[k]),
                               residuals[k]);
        }
    if (named > MOST_NAMED)
        tt_text_printf(text, " and %zu more", named - MOST_NAMED);
}

/* Formats "a.y to b.u 0.5, ...": the differences between the values of connections and the units' results. */
static void format_connection_residuals(const struct algebraic_loop *block, const double *residuals,
                                        struct tt_text *text)
{
    const struct tt_system *system = block->rank->job->system;
    size_t named = 0;
    for (uint32_t i = 0; i < block->input_count; i++) {
        const struct tt_slot *slot = &block->wires->slots[block->inputs[i]];
        for (uint32_t w = slot->wire_first; w < slot->wire_first + slot->wire_count; w++) {
            const struct tt_connection *connection = block->wires->wires[w].connection;
            uint32_t source =
                tt_structure_find(block->wires->structure, connection->from.component, connection->from.variable, true);
            ptrdiff_t unknown = loop_unknown_of(block, source);
            char from[256], to[256];
            if (unknown < 0 || ++named > MOST_NAMED)
                continue;
            double residual = 0;
            for (uint32_t e = 0; e < block->wires->slots[source].count; e++)
                residual = fmax(residual, fabs(residuals[(size_t)unknown + e]));
            tt_text_printf(text, "%s%s to %s %.3g", named > 1 ? ", " : "",
                           tt_system_name(system, &connection->from, from, sizeof from),
                           tt_system_name(system, &connection->to, to, sizeof to), residual);
        }
    }
    if (named > MOST_NAMED)
        tt_text_printf(text, " and %zu more", named - MOST_NAMED);
}

static enum tutti_err fail_loop_in_run(const struct algebraic_loop *block, const double *residuals, double distance)
{
    char why[1024], condition[64] = "not known";
    snprintf(why, sizeof why, "%s", tutti_err_message());
    if (distance > 0)
        snprintf(condition, sizeof condition, "about %.1e", 1 / distance);
    struct tt_text text = {0};
    format_connection_residuals(block, residuals, &text);
    enum tutti_err err = tt_fail(
        TUTTI_ERR_SOLVER,
        "--correct solve: no outputs were found that fit together in the algebraic loop at the end of the step from t "
        "= "
        "%s: %s. Residuals of its connections: %s. Condition of I - D L: %s. Try a shorter --step, --rtol instead of "
        "--step, --correct linear or --coupling relax; `tutti graph` shows the loop",
        TIME(block->run->t), why, text.text ? text.text : "", condition);
    tt_text_fini(&text);
    return err;
}

static enum tutti_err fail_loop_at_start(const struct algebraic_loop *block, const double *x, const double *residuals)
{
    char why[1024];
    snprintf(why, sizeof why, "%s", tutti_err_message());
    struct tt_text text = {0};
    format_unknowns(block, x, residuals, &text);
    enum tutti_err err =
        tt_fail(TUTTI_ERR_SOLVER,
                "the algebraic loop of %zu unknown%s at the start has no solution that could be found: %s. Last "
                "values: %s. Other "
                "start values (--set) of the inputs in the loop may lead to one; `tutti graph` shows the loop",
                block->n, block->n == 1 ? "" : "s", why, text.text ? text.text : "");
    tt_text_fini(&text);
    return err;
}

/* In a run an unknown may well pass through 0: it is as large as it was so far. */
static double unknown_size_in_run(const struct algebraic_loop *block, uint32_t node, uint32_t element)
{
    const struct tt_wires *wires = block->wires;
    uint32_t component = block->rank->job->structure.nodes[node].component;
    size_t place = (size_t)((const double *)wires->slots[node].values - (const double *)(void *)wires->signals);
    for (uint32_t r = wires->real_first[component]; r < wires->real_first[component + 1]; r++)
        if (wires->reals[r].place == place + element)
            return block->run->sizes[r];
    return 0;
}

/* Updates typical sizes from x and the units' results; returns true if one is far smaller than assumed. */
static bool loop_measure_scales(const struct algebraic_loop *block, const double *x, const double *g, double *scale)
{
    bool smaller = false;
    for (uint32_t i = 0; i < block->real_count; i++)
        for (uint32_t e = 0; e < block->wires->slots[block->reals[i]].count; e++) {
            size_t k = block->first[i] + e;
            double here = isfinite(g[k]) ? fmax(fabs(x[k]), fabs(g[k])) : x[k];
            if (block->run)
                here = fmax(fabs(here), unknown_size_in_run(block, block->reals[i], e));
            double now = loop_scale_of(block, block->reals[i], here);
            smaller = smaller || now < 0.01 * scale[k];
            scale[k] = now;
        }
    return smaller;
}

static enum tutti_err loop_run_newton(struct algebraic_loop *block, const double *scale, double *x, double *residuals,
                                      struct tt_newton_counts *counts)
{
    struct tt_fixed_point problem = {
        .n = block->n,
        .context = block,
        .evaluate = loop_evaluate,
        .jacobian = block->scalar ? loop_fill_jacobian : NULL,
        .scale = scale,
        .distance = block->narrow ? NARROW_DISTANCE : 0,
    };
    block->scale = scale;
    struct tt_kinsol_options options = {.tolerance = block->narrow ? 4 * (double)FLT_EPSILON : 0};
    enum tutti_err err = tt_kinsol(&problem, &options, x, residuals, counts);
    if (!block->spread || block->rank->fabric->rank == 0) { /* a spread loop is counted once */
        struct tutti_run_stats *stats = block->rank->stats;
        *(block->run ? &stats->solve_iterations : &stats->init_iterations) += counts->iterations;
    }
    return err;
}

/* The size of an unknown is assumed to be 1 if nothing determines it, unless the solution is far smaller: then a
 * residual relative to 1 was meaningless. */
static enum tutti_err loop_refine(struct algebraic_loop *block, double *scale, double *x, double *residuals,
                                  double *first)
{
    struct tt_newton_counts counts;
    if (block->run || !loop_measure_scales(block, x, x, scale))
        return TUTTI_OK;
    memcpy(first, x, block->n * sizeof *x);
    enum tutti_err err = loop_run_newton(block, scale, x, residuals, &counts);
    if (err == TUTTI_ERR_SOLVER)
        memcpy(x, first, block->n * sizeof *x); /* no further digits are possible */
    return err == TUTTI_ERR_SOLVER ? TUTTI_OK : err;
}

/* I - dg/dx by differences about x, column-major; `g` and `moved` are room. */
static enum tutti_err difference_float_jacobian(struct algebraic_loop *block, double *x, const double *scale, double *g,
                                                double *moved, double *matrix)
{
    bool outside = false;
    TRY(loop_evaluate(block, x, g, &outside));
    for (size_t j = 0; j < block->n && !outside; j++) {
        double here = x[j], distance = NARROW_DISTANCE * fmax(fabs(here), scale[j]);
        x[j] = here + distance;
        enum tutti_err err = loop_evaluate(block, x, moved, &outside);
        x[j] = here;
        TRY(err);
        for (size_t i = 0; i < block->n; i++)
            matrix[j * block->n + i] = (i == j) - (moved[i] - g[i]) / distance;
    }
    return outside ? TUTTI_ERR_DISCARD : TUTTI_OK;
}

/* Newton's method does not see that a Jacobian is singular where rounding to floats makes it another. */
static enum tutti_err check_float_singularity(struct algebraic_loop *block, double *x, const double *scale,
                                              double *residuals)
{
    double *matrix = calloc(block->n * block->n + 2 * block->n, sizeof *matrix);
    if (!matrix)
        return tt_fail_memory();
    double *room = matrix + block->n * block->n;
    enum tutti_err err = difference_float_jacobian(block, x, scale, room, room + block->n, matrix);
    bool singular = !err && tt_lu_distance_to_singular(matrix, block->n) < NARROW_SINGULAR;
    for (size_t i = 0; i < block->n; i++)
        residuals[i] = x[i] - room[i];
    free(matrix);
    if (!singular)
        return err == TUTTI_ERR_DISCARD ? TUTTI_OK : err;
    return tt_fail(TUTTI_ERR_SOLVER, "the Jacobian is singular, as far as Float32 tells: the equations do not say "
                                     "what all of their unknowns are; look for a variable that depends on nothing "
                                     "but itself");
}

static enum tutti_err loop_solve_reals(struct algebraic_loop *block, double *work)
{
    double *x = work, *residuals = work + block->n, *scale = work + 2 * block->n;
    struct tt_newton_counts counts;
    TRY(loop_get_unknowns(block, x));
    for (size_t i = 0; i < block->n; i++)
        if (!isfinite(x[i]))
            x[i] = 0; /* a guess that is not a number would spoil everything that follows */
    bool outside = false;
    TRY(loop_evaluate(block, x, residuals, &outside));
    (void)loop_measure_scales(block, x, residuals, scale);
    enum tutti_err err = loop_run_newton(block, scale, x, residuals, &counts);
    if (!err && block->narrow && block->n <= MOST_NARROW && counts.iterations > 0) {
        err = check_float_singularity(block, x, scale, residuals);
        counts.residual = err ? INFINITY : counts.residual;
    }
    if (err == TUTTI_ERR_SOLVER && !(counts.residual <= GOOD_ENOUGH))
        return block->run ? fail_loop_in_run(block, residuals, counts.distance)
                          : fail_loop_at_start(block, x, residuals);
    if (err == TUTTI_ERR_SOLVER && !block->run) /* a loop of this rank alone is known to no other rank */
        tt_log(block->spread ? block->rank->log : block->rank->unit_log, TUTTI_LOG_WARNING,
               block->rank->job->system->name, "an algebraic loop at the start is solved to %.1e only; going on (%s)",
               counts.residual, tutti_err_message());
    else if (err != TUTTI_ERR_SOLVER)
        TRY(err ? err : loop_refine(block, scale, x, residuals, work + 3 * block->n));
    loop_put_unknowns(block, x);
    return loop_write_inputs(block, NULL); /* the inputs that belong to the solution, whatever was tried last */
}

/* Reads the outputs that are not unknowns, unit by unit, each with the new values of earlier units: values that
 * oscillate if all change at once often converge this way. *changed: an input of the loop gets a value different from
 * that of the solution. */
static enum tutti_err loop_read_discrete(struct algebraic_loop *block, bool *changed)
{
    struct tt_wires *wires = block->wires;
    for (uint32_t at = 0; at < block->other_count;) {
        uint32_t count = count_nodes_of_unit(block, block->others, block->other_count, at);
        TRY(loop_write_inputs(block, loop_member_of(block, block->others[at])));
        TRY(loop_read_nodes(block, block->others + at, count));
        TRY(loop_exchange(block));
        at += count;
    }
    for (uint32_t i = 0; i < block->input_count; i++) {
        const struct tt_slot *slot = &wires->slots[block->inputs[i]];
        uint32_t end = loop_node_is_own(block, block->inputs[i]) ? slot->wire_first + slot->wire_count
                                                                 : slot->wire_first;
        for (uint32_t w = slot->wire_first; w < end && !*changed; w++)
            TRY(tt_wires_value_differs(wires, wires->signals, &wires->wires[w], changed));
    }
    return loop_agree_any(block, changed);
}

static enum tutti_err loop_fail_diverge(const struct algebraic_loop *block)
{
    struct tt_text text = {0};
    for (uint32_t i = 0; i < block->other_count && i < MOST_NAMED; i++) {
        const struct tt_structure_node *node = &block->rank->job->structure.nodes[block->others[i]];
        struct tt_end end = {.component = node->component, .variable = node->variable};
        char name[256];
        tt_text_printf(&text, "%s'%s'", i ? ", " : "",
                       tt_system_name(block->rank->job->system, &end, name, sizeof name));
    }
    enum tutti_err err = tt_fail(
        TUTTI_ERR_SOLVER,
        "an algebraic loop with discrete values does not come to rest at the start after %d rounds: %s go on changing. "
        "Other start values (--set) may lead to rest; `tutti graph` shows the loop",
        MOST_ROUNDS, text.text ? text.text : "");
    tt_text_fini(&text);
    return err;
}

static enum tutti_err loop_solve(struct algebraic_loop *block, double *work)
{
    /* The first guess: what the units make of their inputs' start values. */
    TRY(loop_read_nodes(block, block->reals, block->real_count));
    TRY(loop_read_nodes(block, block->others, block->other_count));
    TRY(loop_exchange(block));
    for (int round = 0; round < MOST_ROUNDS; round++) {
        bool changed = false;
        if (block->n > 0)
            TRY(loop_solve_reals(block, work));
        else
            TRY(loop_write_inputs(block, NULL));
        if (block->other_count > 0)
            TRY(loop_read_discrete(block, &changed));
        if (!changed)
            return TUTTI_OK;
    }
    return loop_fail_diverge(block);
}

static bool loop_is_unknown(const struct tt_wires *wires, uint32_t node)
{
    const struct tt_structure_node *n = &wires->structure->nodes[node];
    const struct tt_var *var = &wires->structure->system->components[n->component].fmu->desc->vars[n->variable];
    return tt_type_is_float((enum tt_type)var->type) && var->variability == TUTTI_CONTINUOUS;
}

bool tt_algebraic_loop_keeps_starts(const struct tt_unit *unit)
{
    return is_read_after_init(unit) && (unit->fmu->desc->interfaces[TUTTI_CS].flags & TUTTI_ONCE_PER_PROCESS);
}

/* A unit that is created again for each evaluation cannot provide derivatives of its outputs by its inputs. */
static enum tutti_err check_repeatable_unit(const struct algebraic_loop *block, const struct tt_unit *unit)
{
    return block->late
               ? TUTTI_OK
               : tt_fail(TUTTI_ERR_UNSUPPORTED,
                         "%s (%s) is part of an algebraic loop, but FMI 1.0 Co-Simulation cannot say what its "
                         "outputs are before it is initialised; export it for FMI 2.0 or 3.0, or take it out of "
                         "the loop",
                         unit->name, unit->fmu->path);
}

static enum tutti_err loop_sort_nodes(struct algebraic_loop *block, const uint32_t *nodes, uint32_t count)
{
    block->scalar = true;
    for (uint32_t i = 0; i < count; i++) {
        struct tt_unit *unit = loop_unit_of(block->rank, nodes[i]);
        block->spread = block->spread || !loop_node_is_own(block, nodes[i]);
        if (block->late && tt_algebraic_loop_keeps_starts(unit))
            continue;
        if (is_read_after_init(unit)) {
            TRY(check_repeatable_unit(block, unit));
            block->scalar = false; /* differences are those of all units at once */
        }
        if (block->rank->job->system->components[block->rank->job->structure.nodes[nodes[i]].component].has_state &&
            !unit->has_events)
            return tt_fail(
                TUTTI_ERR_UNSUPPORTED,
                "%s begins in a saved state, in which Co-Simulation without event mode does not tell how its "
                "outputs depend on inputs",
                unit->name);
        bool output = block->rank->job->structure.nodes[nodes[i]].output;
        if (!output) {
            block->inputs[block->input_count++] = nodes[i];
            block->scalar = block->scalar && tt_feedthrough_is_real(block->wires, nodes[i]);
        } else if (loop_is_unknown(block->wires, nodes[i])) {
            block->first[block->real_count] = block->n;
            block->reals[block->real_count++] = nodes[i];
            block->n += block->wires->slots[nodes[i]].count;
            block->narrow = block->narrow || block->wires->slots[nodes[i]].narrow;
            block->scalar = block->scalar && block->wires->slots[nodes[i]].count == 1 && !block->narrow;
        } else {
            block->others[block->other_count++] = nodes[i];
            block->scalar = false;
        }
    }
    return TUTTI_OK;
}

static enum tutti_err loop_build(struct algebraic_loop *block, struct tt_rank *rank, const struct tt_loop_reinit *late,
                                 struct tt_arena *arena, const uint32_t *nodes, uint32_t count)
{
    *block = (struct algebraic_loop){.rank = rank, .wires = &rank->wires, .late = late, .exact = true};
    block->reals = tt_arena_array(arena, count, sizeof *block->reals);
    block->others = tt_arena_array(arena, count, sizeof *block->others);
    block->inputs = tt_arena_array(arena, count, sizeof *block->inputs);
    block->first = tt_arena_array(arena, count, sizeof *block->first);
    if (!block->reals || !block->others || !block->inputs || !block->first)
        return tt_fail_memory();
    return loop_sort_nodes(block, nodes, count);
}

enum tutti_err tt_algebraic_loop_solve(struct tt_rank *rank, const uint32_t *nodes, uint32_t count,
                                       const struct tt_loop_in_run *run, const struct tt_loop_reinit *late)
{
    struct algebraic_loop block;
    struct tt_arena arena = {0};
    enum tutti_err err = loop_build(&block, rank, late, &arena, nodes, count);
    block.run = run;
    double *work = err ? NULL : tt_arena_array(&arena, block.n, 4 * sizeof *work);
    if (!err)
        err = work ? loop_solve(&block, work) : tt_fail_memory();
    tt_arena_fini(&arena);
    return err;
}

enum tutti_err tt_algebraic_loop_feedback(struct tt_rank *rank, const uint32_t *nodes, uint32_t count,
                                          struct tt_arena *arena, double **matrix, size_t *n, bool *exact)
{
    struct algebraic_loop block;
    TRY(loop_build(&block, rank, NULL, arena, nodes, count));
    if (!block.scalar)
        return tt_fail(TUTTI_ERR_UNSUPPORTED, "the loop has arrays or discrete values");
    if (block.n > TUTTI_EIGEN_MOST)
        return tt_fail(TUTTI_ERR_UNSUPPORTED, "the loop has %zu unknowns; the limit is %d", block.n, TUTTI_EIGEN_MOST);
    *n = block.n;
    *matrix = tt_arena_array(arena, block.n * block.n, sizeof **matrix);
    if (!*matrix)
        return tt_fail_memory();
    block.spread = rank->fabric->ranks > 1; /* all ranks want to know */
    TRY(loop_read_nodes(&block, block.reals,
                        block.real_count)); /* differences begin at g(y); y itself is only near it */
    TRY(loop_exchange(&block));
    TRY(loop_fill_jacobian(&block, NULL, *matrix));
    *exact = block.exact;
    return TUTTI_OK;
}
