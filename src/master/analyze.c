/* SPDX-License-Identifier: MIT */
#include "master/analyze.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "master/block.h"
#include "master/loop.h"
#include "master/setup.h"
#include "solve/eigen.h"

struct analyst {
    struct tutti_analysis analysis;
    struct tutti_structure running;
    struct tutti_order order;
    struct tutti_loop_analysis *loops;
    struct tutti_arena arena;
    char failure[1024];
};

/* The largest magnitude of an eigenvalue of a dense matrix, column-major. */
static enum tutti_err spectral_radius(struct tutti_arena *arena, double *values, size_t n, double *rho)
{
    int *first = tutti_arena_array(arena, n + 1, sizeof *first);
    int *rows = tutti_arena_array(arena, n * n, sizeof *rows);
    double *re = tutti_arena_array(arena, n, sizeof *re), *im = tutti_arena_array(arena, n, sizeof *im);
    if (!first || !rows || !re || !im)
        return tutti_fail_memory();
    for (size_t c = 0; c <= n; c++)
        first[c] = (int)(c * n);
    for (size_t i = 0; i < n * n; i++)
        rows[i] = (int)(i % n);
    struct tutti_matrix matrix = {n, n, first, rows, values};
    TRY(tutti_eigenvalues(&matrix, re, im, NULL));
    *rho = 0;
    for (size_t i = 0; i < n; i++)
        *rho = fmax(*rho, hypot(re[i], im[i]));
    return TUTTI_OK;
}

/* The loop's nodes in the structure of the initial phase, which the signals are laid out by. */
static enum tutti_err look_at_loop(struct analyst *analyst, struct run *run, struct tutti_loop_analysis *loop)
{
    uint32_t *nodes = tutti_arena_array(&analyst->arena, loop->count, sizeof *nodes);
    if (!nodes)
        return tutti_fail_memory();
    for (uint32_t i = 0; i < loop->count; i++) {
        const struct tutti_structure_node *node = &analyst->running.nodes[loop->nodes[i]];
        nodes[i] = tutti_structure_find(&run->structure, node->component, node->variable, node->output);
    }
    double *matrix = NULL;
    size_t n = 0;
    enum tutti_err err = tutti_block_feedback(run, nodes, loop->count, &analyst->arena, &matrix, &n, &loop->exact);
    if (!err)
        err = spectral_radius(&analyst->arena, matrix, n, &loop->rho);
    if (err == TUTTI_ERR_MEMORY)
        return err;
    loop->has_rho = err == TUTTI_OK;
    if (err)
        loop->why_not = tutti_arena_text(&analyst->arena, tutti_err_message(), strlen(tutti_err_message()));
    return TUTTI_OK;
}

/* With every unit initialised and none stepped. */
static enum tutti_err look_at_loops(void *context, struct run *run)
{
    struct analyst *analyst = context;
    analyst->analysis.initialised = true;
    for (size_t i = 0; i < analyst->analysis.loop_count; i++)
        TRY(look_at_loop(analyst, run, &analyst->loops[i]));
    return TUTTI_OK;
}

static enum tutti_err find_loops(struct analyst *analyst)
{
    const struct tutti_components *scc = &analyst->running.scc;
    analyst->loops = tutti_arena_array(&analyst->arena, scc->count, sizeof *analyst->loops);
    if (!analyst->loops)
        return tutti_fail_memory();
    for (uint32_t c = 0; c < scc->count; c++)
        if (scc->first[c + 1] - scc->first[c] > 1)
            analyst->loops[analyst->analysis.loop_count++] = (struct tutti_loop_analysis){
                .nodes = scc->nodes + scc->first[c], .count = scc->first[c + 1] - scc->first[c], .exact = true};
    analyst->analysis.loops = analyst->loops;
    return TUTTI_OK;
}

static bool is_in_loop(const struct tutti_structure *structure, uint32_t node)
{
    uint32_t c = structure->scc.of[node];
    return structure->scc.first[c + 1] - structure->scc.first[c] > 1;
}

static bool is_same(const struct tutti_indices *a, const struct tutti_indices *b)
{
    return a->count == b->count && memcmp(a->index, b->index, a->count * sizeof *a->index) == 0;
}

/* Do connections bring all that is set here? Where only elements of an array are connected, others keep their values. */
static bool is_replaced(const struct run *run, uint32_t component, const struct tutti_setting *setting)
{
    uint32_t node = tutti_structure_find(&run->structure, component, setting->variable, false), count;
    if (node == TUTTI_NONE || is_in_loop(&run->structure, node))
        return false;
    const struct tutti_connection *connections =
        tutti_system_connections_to(run->system, component, setting->variable, &count);
    for (uint32_t i = 0; i < count; i++)
        if (connections[i].to.element.count == 0 || is_same(&connections[i].to.element, &setting->element))
            return true;
    return false;
}

static enum tutti_err find_pointless(struct analyst *analyst, const struct run *run)
{
    const struct tutti_system *system = run->system;
    size_t settings = 0;
    for (uint32_t c = 0; c < system->component_count; c++)
        settings += system->components[c].setting_count;
    struct tutti_end *ends = tutti_arena_array(&analyst->arena, settings, sizeof *ends);
    if (!ends)
        return tutti_fail_memory();
    for (uint32_t c = 0; c < system->component_count; c++)
        for (size_t s = 0; s < system->components[c].setting_count; s++) {
            const struct tutti_setting *setting = &system->components[c].settings[s];
            if (is_replaced(run, c, setting))
                ends[analyst->analysis.pointless_count++] =
                    (struct tutti_end){.component = c, .variable = setting->variable, .element = setting->element};
        }
    analyst->analysis.pointless = ends;
    return TUTTI_OK;
}

static enum tutti_err look_at_structure(struct analyst *analyst, struct run *run)
{
    struct tutti_order ungrouped;
    analyst->analysis.system = run->system;
    analyst->analysis.initial = &run->structure;
    TRY(tutti_structure_init(&analyst->running, run->system, TUTTI_PHASE_RUN));
    analyst->analysis.running = &analyst->running;
    TRY(tutti_order_init(&analyst->order, &run->structure, true));
    analyst->analysis.order = &analyst->order;
    TRY(tutti_order_init(&ungrouped, &run->structure, false));
    analyst->analysis.ungrouped = ungrouped.evaluations;
    tutti_order_fini(&ungrouped);
    TRY(find_loops(analyst));
    return find_pointless(analyst, run);
}

static void sum_up(struct analyst *analyst)
{
    struct tutti_analysis *analysis = &analyst->analysis;
    analysis->has_rho = true;
    for (size_t i = 0; i < analysis->loop_count; i++) {
        analysis->has_rho = analysis->has_rho && analysis->loops[i].has_rho;
        analysis->rho = fmax(analysis->rho, analysis->loops[i].rho);
    }
}

enum tutti_err tutti_analyze(const struct tutti_run_options *options, tutti_analysis_report *report, void *context)
{
    struct tutti_run_options quiet = *options;
    struct tutti_run_stats stats = {0};
    struct analyst analyst = {0};
    quiet.output = NULL;
    struct run run = {
        .asked = &quiet, .options = &quiet, .stats = &stats, .at_start = look_at_loops, .at_start_context = &analyst};
    enum tutti_err err = tutti_setup_system(&run);
    if (!err)
        err = look_at_structure(&analyst, &run);
    if (!err) {
        if (tutti_run_start(&run) != TUTTI_OK)
            snprintf(analyst.failure, sizeof analyst.failure, "%s", tutti_err_message());
        analyst.analysis.failure = analyst.failure;
        sum_up(&analyst);
        report(context, &analyst.analysis);
    }
    tutti_order_fini(&analyst.order);
    tutti_structure_fini(&analyst.running);
    tutti_arena_fini(&analyst.arena);
    return tutti_run_tear_down(&run, err);
}
