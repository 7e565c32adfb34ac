/* SPDX-License-Identifier: MIT */
#include "master/analyze.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "master/choose.h"
#include "master/control.h"
#include "master/coupling.h"
#include "master/detect.h"
#include "master/setup.h"

struct analyst {
    struct tutti_analysis analysis;
    struct tutti_structure running;
    struct tutti_order order;
    struct tutti_loop_analysis *loops;
    struct tutti_arena arena;
    char failure[1024];
};

/* ---- loops and choices ---- */

static void note_choices(struct analyst *analyst, const struct run *run)
{
    static const char *const names[TUTTI_CHOICES] = {"coupling", "control", "extrapolate", "events"};
    static const char *const orders[] = {"0", "1", "2"};
    const struct tutti_master *master = &run->master;
    const char *const values[TUTTI_CHOICES] = {tutti_system_is_coupled(run->system) ? master->coupling->name : "none",
                                               master->control->name, orders[master->order], master->detection->name};
    for (int i = 0; i < TUTTI_CHOICES; i++)
        analyst->analysis.choices[i] =
            (struct tutti_choice){names[i], values[i], master->reasons[i][0] ? master->reasons[i] : NULL};
    analyst->analysis.corrects = master->corrects;
    analyst->analysis.smooths = master->smooths;
}

/* With every unit initialised and none stepped. */
static enum tutti_err look_around(void *context, struct run *run)
{
    struct analyst *analyst = context;
    struct tutti_analysis *analysis = &analyst->analysis;
    analysis->initialised = true;
    enum tutti_err err = tutti_master_choose(run);
    if (err == TUTTI_ERR_MEMORY)
        return err;
    analysis->chosen = err == TUTTI_OK;
    if (err)
        snprintf(analyst->failure, sizeof analyst->failure, "%s", tutti_err_message());
    else
        note_choices(analyst, run);
    for (size_t i = 0; i < analysis->loop_count; i++)
        TRY(tutti_stability_of_loop(run, &analyst->running, analyst->loops[i].nodes, analyst->loops[i].count,
                                    TUTTI_THOROUGH, &analyst->loops[i].stability));
    return TUTTI_OK;
}

/* ---- structure ---- */

static enum tutti_err find_loops(struct analyst *analyst)
{
    const struct tutti_components *scc = &analyst->running.scc;
    analyst->loops = tutti_arena_array(&analyst->arena, scc->count, sizeof *analyst->loops);
    if (!analyst->loops)
        return tutti_fail_memory();
    for (uint32_t c = 0; c < scc->count; c++)
        if (scc->first[c + 1] - scc->first[c] > 1)
            analyst->loops[analyst->analysis.loop_count++] = (struct tutti_loop_analysis){
                .nodes = scc->nodes + scc->first[c], .count = scc->first[c + 1] - scc->first[c]};
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

/* ---- the table ---- */

static struct tutti_cell cell(const struct tutti_radii *all, double radius)
{
    bool known = all->known && isfinite(radius);
    return (struct tutti_cell){true, known, known && tutti_radius_is_stable(radius), known ? radius : NAN};
}

/* 001 Tables 6.1 and 6.5. Linear correction solves for the outputs: every row is one of the consistent approach. */
static void fill_table(struct tutti_analysis *analysis)
{
    static const char *const names[TUTTI_ORDERS] = {"constant", "linear", "quadratic"};
    const struct tutti_radii *all = &analysis->stability;
    const double history[TUTTI_ORDERS] = {all->rho, all->linear, all->quadratic};
    for (int o = 0; o < TUTTI_ORDERS; o++) {
        struct tutti_stability_row *row = &analysis->rows[o];
        *row = (struct tutti_stability_row){.name = names[o], .jacobi = cell(all, all->jacobi[o])};
        row->given = cell(all, all->rho);
        row->history = cell(all, history[o]);
        row->seidel = cell(all, all->seidel[o]);
        row->correct = (struct tutti_cell){true, all->known, all->known, NAN};
        if (o > 0)
            row->smooth = cell(all, all->smooth[o]);
    }
}

static void sum_up(struct analyst *analyst)
{
    struct tutti_analysis *analysis = &analyst->analysis;
    analysis->stability = (struct tutti_radii){.known = true, .exact = true};
    for (size_t i = 0; i < analysis->loop_count; i++)
        tutti_stability_join(&analysis->stability, &analysis->loops[i].stability);
    fill_table(analysis);
}

enum tutti_err tutti_analyze(const struct tutti_run_options *options, tutti_analysis_report *report, void *context)
{
    struct tutti_run_options quiet = *options;
    struct tutti_run_stats stats = {0};
    struct analyst analyst = {0};
    quiet.output = NULL;
    struct run run = {
        .asked = &quiet, .options = &quiet, .stats = &stats, .at_start = look_around, .at_start_context = &analyst};
    enum tutti_err err = tutti_setup_system(&run);
    if (!err)
        err = look_at_structure(&analyst, &run);
    if (!err) {
        if (tutti_run_start(&run) != TUTTI_OK) {
            snprintf(analyst.failure, sizeof analyst.failure, "%s", tutti_err_message());
            analyst.analysis.initialised = analyst.analysis.chosen = false;
        }
        analyst.analysis.failure = analyst.failure;
        sum_up(&analyst);
        report(context, &analyst.analysis);
    }
    tutti_order_fini(&analyst.order);
    tutti_structure_fini(&analyst.running);
    tutti_arena_fini(&analyst.arena);
    return tutti_run_tear_down(&run, err);
}
