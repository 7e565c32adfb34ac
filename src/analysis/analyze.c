/* SPDX-License-Identifier: MIT */
#include "analysis/analyze.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "master/choose/asked.h"
#include "master/choose/choose.h"
#include "master/control/control.h"
#include "master/coupling/coupling.h"
#include "master/open.h"
#include "start/initialise.h"
#include "start/open.h"

struct analyst {
    tutti_analysis_report *report;
    void *context;
    struct tutti_analysis analysis;
    struct tutti_structure running;
    struct tutti_run_order order;
    struct tutti_loop_analysis *loops;
    struct tutti_arena arena;
    char failure[1024];
};

/* ---- loops and choices ---- */

static void note_choices(struct analyst *analyst, const struct tutti_master *master)
{
    static const char *const names[TUTTI_CHOICES] = {"coupling", "control", "extrapolate", "events"};
    static const char *const orders[] = {"0", "1", "2", "3"};
    const struct tutti_chosen *chosen = &master->chosen;
    const char *const values[TUTTI_CHOICES] = {
        tutti_system_is_coupled(master->rank->job->system) ? chosen->coupling->name : "none", chosen->control->name,
        orders[chosen->order], chosen->detection->name};
    for (int i = 0; i < TUTTI_CHOICES; i++)
        analyst->analysis.choices[i] =
            (struct tutti_choice){names[i], values[i], chosen->reasons[i][0] ? chosen->reasons[i] : NULL};
    analyst->analysis.corrects = chosen->corrects;
    analyst->analysis.smooths = chosen->smooths;
}

/* With every unit initialised and none stepped. */
static enum tutti_err look_around(struct analyst *analyst, struct tutti_master *master)
{
    struct tutti_analysis *analysis = &analyst->analysis;
    analysis->initialised = true;
    enum tutti_err err = tutti_master_choose(master);
    if (err == TUTTI_ERR_MEMORY)
        return err;
    analysis->chosen = err == TUTTI_OK;
    if (err)
        snprintf(analyst->failure, sizeof analyst->failure, "%s", tutti_err_message());
    else
        note_choices(analyst, master);
    for (size_t i = 0; i < analysis->loop_count; i++)
        TRY(tutti_stability_of_loop(master->rank, &analyst->running, &master->sequence, analyst->loops[i].nodes,
                                    analyst->loops[i].count, TUTTI_THOROUGH, &analyst->loops[i].stability));
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
static bool is_replaced(const struct tutti_job *job, uint32_t component, const struct tutti_setting *setting)
{
    uint32_t node = tutti_structure_find(&job->structure, component, setting->variable, false), count;
    if (node == TUTTI_NONE || is_in_loop(&job->structure, node))
        return false;
    const struct tutti_connection *connections =
        tutti_system_connections_to(job->system, component, setting->variable, &count);
    for (uint32_t i = 0; i < count; i++)
        if (connections[i].to.element.count == 0 || is_same(&connections[i].to.element, &setting->element))
            return true;
    return false;
}

static enum tutti_err find_pointless(struct analyst *analyst, const struct tutti_job *job)
{
    const struct tutti_system *system = job->system;
    size_t settings = 0;
    for (uint32_t c = 0; c < system->component_count; c++)
        settings += system->components[c].setting_count;
    struct tutti_end *ends = tutti_arena_array(&analyst->arena, settings, sizeof *ends);
    if (!ends)
        return tutti_fail_memory();
    for (uint32_t c = 0; c < system->component_count; c++)
        for (size_t s = 0; s < system->components[c].setting_count; s++) {
            const struct tutti_setting *setting = &system->components[c].settings[s];
            if (is_replaced(job, c, setting))
                ends[analyst->analysis.pointless_count++] =
                    (struct tutti_end){.component = c, .variable = setting->variable, .element = setting->element};
        }
    analyst->analysis.pointless = ends;
    return TUTTI_OK;
}

static enum tutti_err look_at_structure(struct analyst *analyst, const struct tutti_job *job)
{
    struct tutti_run_order ungrouped;
    analyst->analysis.system = job->system;
    analyst->analysis.initial = &job->structure;
    TRY(tutti_structure_init(&analyst->running, job->system, TUTTI_PHASE_RUN));
    analyst->analysis.running = &analyst->running;
    TRY(tutti_order_init(&analyst->order, &job->structure, true));
    analyst->analysis.order = &analyst->order;
    TRY(tutti_order_init(&ungrouped, &job->structure, false));
    analyst->analysis.ungrouped = ungrouped.evaluations;
    tutti_order_fini(&ungrouped);
    TRY(find_loops(analyst));
    return find_pointless(analyst, job);
}

/* ---- the table ---- */

static struct tutti_cell cell(const struct tutti_radii *all, double radius)
{
    bool known = all->known && isfinite(radius);
    return (struct tutti_cell){true, known, known && tutti_radius_is_stable(radius), known ? radius : NAN};
}

/* Andersson 2016 Tables 6.1 and 6.5. Linear correction solves for the outputs: every row is one of the consistent approach. */
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

/* Up to where a run would leave the initialisation. */
static enum tutti_err start(struct analyst *analyst, struct tutti_master *master)
{
    TRY(tutti_rank_open(master->rank));
    TRY(tutti_start_compute(master->rank));
    return look_around(analyst, master);
}

/* Beyond it: units have states then. What cannot be said is no failure of the system. */
static void look_at_step(struct analyst *analyst, struct tutti_master *master)
{
    struct tutti_rank *rank = master->rank;
    struct tutti_step_analysis *step = &analyst->analysis.step;
    if (!rank->job->options.has_step || !analyst->analysis.initialised || !tutti_system_is_coupled(rank->job->system))
        return;
    enum tutti_err err = tutti_start_leave(rank);
    if (!err && analyst->analysis.chosen)
        err = tutti_master_reconsider(master);
    if (!err && analyst->analysis.chosen)
        note_choices(analyst, master);
    if (!err)
        err = tutti_finite_step(rank, &analyst->running, &master->sequence, rank->job->options.step, step);
    step->asked = true;
    if (err)
        snprintf(step->why_not, sizeof step->why_not, "%s", tutti_err_message());
}

static void look_at_start(struct analyst *analyst, const struct tutti_job *job)
{
    struct tutti_run_stats stats = {0};
    struct tutti_rank rank = {.job = job,
                              .stats = &stats,
                              .estimates_errors = tutti_master_may_control(job),
                              .moves_inputs = tutti_master_may_move_inputs(job),
                              .controls_one = tutti_master_may_control_one(job)};
    struct tutti_master master = {.rank = &rank};
    if (start(analyst, &master) != TUTTI_OK) {
        snprintf(analyst->failure, sizeof analyst->failure, "%s", tutti_err_message());
        analyst->analysis.initialised = analyst->analysis.chosen = false;
    }
    look_at_step(analyst, &master);
    analyst->analysis.failure = analyst->failure;
    sum_up(analyst);
    analyst->report(analyst->context, &analyst->analysis);
    (void)!tutti_master_close(&master);
    tutti_rank_close(&rank);
}

enum tutti_err tutti_analyze(const struct tutti_run_options *options, tutti_analysis_report *report, void *context)
{
    struct tutti_run_options quiet = *options;
    struct analyst analyst = {.report = report, .context = context};
    struct tutti_job job;
    struct tutti_failure failure;
    quiet.output = NULL;
    enum tutti_err err = tutti_job_load(&job, &quiet, NULL);
    if (!err)
        err = look_at_structure(&analyst, &job);
    if (!err)
        look_at_start(&analyst, &job);
    tutti_failure_keep(&failure, err);
    tutti_order_fini(&analyst.order);
    tutti_structure_fini(&analyst.running);
    tutti_arena_fini(&analyst.arena);
    tutti_job_close(&job);
    return tutti_failure_return(&failure);
}
