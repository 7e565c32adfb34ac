/* SPDX-License-Identifier: MIT */
#include "apps/analyze/analyze.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "sim/choose.h"
#include "sim/decide.h"
#include "sim/control/control.h"
#include "sim/coupling/coupling.h"
#include "sim/coupling/tlm.h"
#include "sim/method_open.h"
#include "sim/rank_open.h"
#include "sim/start/init.h"
#include "sim/start/linear_model.h"

struct analyzer {
    tt_analyze_report *report;
    void *context;
    struct tt_analysis analysis;
    struct tt_structure running;
    struct tt_eval_order order;
    struct tt_loop_analysis *loops;
    struct tt_arena arena;
    char failure[1024];
};

/* ---- loops and choices ---- */

static void record_choices(struct analyzer *analyst, const struct tt_sim *master)
{
    const struct tt_method *chosen = &master->chosen;
    for (int i = 0; i < TUTTI_CHOICES; i++)
        analyst->analysis.choices[i] = (struct tt_choice){tt_choose_names[i],
                                                          tt_choose_value(chosen, (enum tt_choice_number)i),
                                                          chosen->reasons[i][0] ? chosen->reasons[i] : NULL};
    analyst->analysis.corrects = chosen->is & TUTTI_METHOD_CORRECTS;
    analyst->analysis.smooths = chosen->is & TUTTI_METHOD_SMOOTHS;
}

/* With every unit initialised and none stepped. */
static enum tutti_err analyze_examine_system(struct analyzer *analyst, struct tt_sim *master)
{
    struct tt_analysis *analysis = &analyst->analysis;
    analysis->initialised = true;
    enum tutti_err err = tt_decide_method(master);
    if (err == TUTTI_ERR_MEMORY)
        return err;
    analysis->chosen = err == TUTTI_OK;
    if (err)
        snprintf(analyst->failure, sizeof analyst->failure, "%s", tutti_err_message());
    else
        record_choices(analyst, master);
    for (size_t i = 0; i < analysis->loop_count; i++)
        TRY(tt_stability_of_loop(master->rank, &analyst->running, &master->sequence, analyst->loops[i].nodes,
                                 analyst->loops[i].count, TUTTI_THOROUGH, &analyst->loops[i].stability));
    return TUTTI_OK;
}

/* ---- structure ---- */

static enum tutti_err find_loops(struct analyzer *analyst)
{
    const struct tt_components *scc = &analyst->running.scc;
    analyst->loops = tt_arena_array(&analyst->arena, scc->count, sizeof *analyst->loops);
    if (!analyst->loops)
        return tt_fail_memory();
    for (uint32_t c = 0; c < scc->count; c++)
        if (scc->first[c + 1] - scc->first[c] > 1)
            analyst->loops[analyst->analysis.loop_count++] = (struct tt_loop_analysis){
                .nodes = scc->nodes + scc->first[c], .count = scc->first[c + 1] - scc->first[c]};
    analyst->analysis.loops = analyst->loops;
    return TUTTI_OK;
}

/* Returns true if connections replace the whole start value: of an array all elements must be connected. */
static bool analyze_is_replaced(const struct tt_job *job, uint32_t component, const struct tt_setting *setting)
{
    uint32_t node = tt_structure_find(&job->structure, component, setting->variable, false), count;
    if (node == TUTTI_NONE)
        return false;
    uint32_t loop = job->structure.scc.of[node];
    if (job->structure.scc.first[loop + 1] - job->structure.scc.first[loop] > 1)
        return false;
    const struct tt_connection *connections =
        tt_system_connections_to(job->system, component, setting->variable, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct tt_indices *to = &connections[i].to.element, *set = &setting->element;
        if (to->count == 0 ||
            (to->count == set->count && memcmp(to->index, set->index, to->count * sizeof *to->index) == 0))
            return true;
    }
    return false;
}

static enum tutti_err find_unread_starts(struct analyzer *analyst, const struct tt_job *job)
{
    const struct tt_system *system = job->system;
    size_t settings = 0;
    for (uint32_t c = 0; c < system->component_count; c++)
        settings += system->components[c].setting_count;
    struct tt_end *ends = tt_arena_array(&analyst->arena, settings, sizeof *ends);
    if (!ends)
        return tt_fail_memory();
    for (uint32_t c = 0; c < system->component_count; c++)
        for (size_t s = 0; s < system->components[c].setting_count; s++) {
            const struct tt_setting *setting = &system->components[c].settings[s];
            if (analyze_is_replaced(job, c, setting))
                ends[analyst->analysis.pointless_count++] =
                    (struct tt_end){.component = c, .variable = setting->variable, .element = setting->element};
        }
    analyst->analysis.pointless = ends;
    return TUTTI_OK;
}

static enum tutti_err examine_structure(struct analyzer *analyst, const struct tt_job *job)
{
    struct tt_eval_order ungrouped;
    analyst->analysis.system = job->system;
    analyst->analysis.initial = &job->structure;
    TRY(tt_structure_init(&analyst->running, job->system, TUTTI_PHASE_RUN));
    analyst->analysis.running = &analyst->running;
    TRY(tt_eval_order_init(&analyst->order, &job->structure, true));
    analyst->analysis.order = &analyst->order;
    TRY(tt_eval_order_init(&ungrouped, &job->structure, false));
    analyst->analysis.ungrouped = ungrouped.evaluations;
    tt_eval_order_fini(&ungrouped);
    TRY(find_loops(analyst));
    return find_unread_starts(analyst, job);
}

/* ---- the table ---- */

static struct tt_analysis_cell classify_radius(const struct tt_radii *all, double radius)
{
    bool known = all->known && isfinite(radius);
    return (struct tt_analysis_cell){true, known, known && tt_stability_is_stable_radius(radius), known ? radius : NAN};
}

/* Andersson 2016 Tables 6.1 and 6.5. Linear correction solves for the outputs: every row is one of the consistent approach. */
static void fill_stability_table(struct tt_analysis *analysis)
{
    static const char *const names[TUTTI_ORDERS] = {"constant", "linear", "quadratic"};
    const struct tt_radii *all = &analysis->stability;
    const double history[TUTTI_ORDERS] = {all->rho, all->linear, all->quadratic};
    for (int o = 0; o < TUTTI_ORDERS; o++) {
        struct tt_stability_row *row = &analysis->rows[o];
        *row = (struct tt_stability_row){.name = names[o], .jacobi = classify_radius(all, all->jacobi[o])};
        row->given = classify_radius(all, all->rho);
        row->history = classify_radius(all, history[o]);
        row->seidel = classify_radius(all, all->seidel[o]);
        row->correct = (struct tt_analysis_cell){true, all->known, all->known, NAN};
        if (o > 0)
            row->smooth = classify_radius(all, all->smooth[o]);
    }
}

/* Needs units with states, so it runs last. A result that cannot be computed is not a failure of the system. */
static void analyze_examine_step(struct analyzer *analyst, struct tt_sim *master)
{
    struct tt_rank *rank = master->rank;
    struct tt_step_analysis *step = &analyst->analysis.step;
    if (!rank->job->options.has_step || !analyst->analysis.initialised || !tt_system_is_coupled(rank->job->system))
        return;
    enum tutti_err err = tt_init_exit(rank);
    if (!err && analyst->analysis.chosen)
        err = tt_decide_reconsider_coupling(master);
    if (!err && analyst->analysis.chosen)
        record_choices(analyst, master);
    if (!err)
        err = tt_analyze_finite_step(rank, &analyst->running, &master->sequence, rank->job->options.step, step);
    step->asked = true;
    if (err)
        snprintf(step->why_not, sizeof step->why_not, "%s", tutti_err_message());
}

static void examine_start(struct analyzer *analyst, const struct tt_job *job)
{
    struct tutti_run_stats stats = {0};
    struct tt_rank rank = {.job = job, .stats = &stats};
    struct tt_sim master = {.rank = &rank};
    struct tt_analysis *analysis = &analyst->analysis;

    /* the steps that a run takes up to the end of the initialisation */
    enum tutti_err err = tt_rank_open(&rank);
    if (!err)
        err = tt_init_compute(&rank);
    if (!err)
        err = analyze_examine_system(analyst, &master);
    if (err) {
        snprintf(analyst->failure, sizeof analyst->failure, "%s", tutti_err_message());
        analysis->initialised = analysis->chosen = false;
    }
    analyze_examine_step(analyst, &master);
    analysis->failure = analyst->failure;

    analysis->stability = (struct tt_radii){.known = true, .exact = true};
    for (size_t i = 0; i < analysis->loop_count; i++)
        tt_stability_join(&analysis->stability, &analysis->loops[i].stability);
    fill_stability_table(analysis);

    analyst->report(analyst->context, analysis);
    (void)!tt_sim_close(&master);
    tt_rank_close(&rank);
}

enum tutti_err tt_analyze(const struct tutti_run_options *options, tt_analyze_report *report, void *context)
{
    struct tutti_run_options quiet = *options;
    struct analyzer analyst = {.report = report, .context = context};
    struct tt_job job;
    struct tt_failure failure;
    quiet.output = NULL;
    enum tutti_err err = tt_job_load(&job, &quiet, NULL);
    if (!err)
        err = examine_structure(&analyst, &job);
    if (!err)
        examine_start(&analyst, &job);
    tt_fail_save(&failure, err);
    tt_eval_order_fini(&analyst.order);
    tt_structure_fini(&analyst.running);
    tt_arena_fini(&analyst.arena);
    tt_job_close(&job);
    return tt_fail_restore(&failure);
}

/* Steps that are looked at for the largest stable one: from a hundredth of the wanted one to a hundred times it. */
enum { STEPS_PER_DECADE = 6, DECADES = 2, MOST_SEARCHED = 120, BISECTIONS = 12 };

static const enum tt_step_method methods[TUTTI_STEP_ROWS] = {
    [TUTTI_ROW_JACOBI] = TUTTI_STEP_JACOBI,     [TUTTI_ROW_SMOOTH] = TUTTI_STEP_SMOOTH,
    [TUTTI_ROW_CORRECT] = TUTTI_STEP_CORRECT,   [TUTTI_ROW_SEIDEL] = TUTTI_STEP_SEIDEL,
    [TUTTI_ROW_IMPLICIT] = TUTTI_STEP_IMPLICIT, [TUTTI_ROW_KINEMATIC] = TUTTI_STEP_KINEMATIC};

static void finite_step_find_limit(const struct tt_linear_system *system, const struct tt_step_analysis *analysis,
                                   enum tt_step_method method, unsigned order, struct tt_step_cell *cell)
{
    double before = NAN;
    cell->searched = true;
    for (int k = 0; k <= 2 * DECADES * STEPS_PER_DECADE; k++) {
        double h = analysis->least * pow(10, (double)k / STEPS_PER_DECADE), radius;
        bool stable = false;
        if (tt_step_operator_is_stable(system, method, order, h, &radius, &stable) != TUTTI_OK || !stable) {
            /* between `before`, stable, and `h`, not, by bisection */
            for (int i = 0; i < BISECTIONS && k > 0; i++) {
                double middle = sqrt(before * h);
                bool fits = tt_step_operator_is_stable(system, method, order, middle, &radius, &stable) == TUTTI_OK;
                *(fits && stable ? &before : &h) = middle;
            }
            cell->largest = before;
            return;
        }
        before = h;
    }
    cell->any_step = true;
}

static enum tutti_err finite_step_fill(const struct tt_linear_system *system, struct tt_step_analysis *analysis)
{
    size_t rows = system->states + 5 * system->outputs + system->inputs;
    analysis->least = analysis->h / pow(10, DECADES);
    analysis->most = analysis->h * pow(10, DECADES);
    analysis->constrained = system->constraints.rows > 0;
    if (!analysis->constrained)
        TRY(tt_step_operator_exact_radius(system, analysis->h, &analysis->exact));
    for (int row = 0; row < TUTTI_STEP_ROWS; row++)
        for (unsigned order = row == TUTTI_ROW_SMOOTH; order < (row == TUTTI_ROW_IMPLICIT ? 1 : TUTTI_ORDERS); order++)
            if (tt_analyze_step_row_applies(analysis, (enum tt_step_row)row)) {
                struct tt_step_cell *cell = &analysis->cells[row][order];
                *cell = (struct tt_step_cell){.radius = NAN, .largest = NAN};
                cell->known = tt_step_operator_is_stable(system, methods[row], order, analysis->h, &cell->radius,
                                                         &cell->stable) == TUTTI_OK;
                if (cell->known && rows <= MOST_SEARCHED)
                    finite_step_find_limit(system, analysis, methods[row], order, cell);
            }
    for (int all = 0; all < 2; all++)
        if (analysis->constrained ||
            tt_step_operator_sweep_radius(system, all == 0, analysis->h, &analysis->sweeps[all]) != TUTTI_OK)
            analysis->sweeps[all] = NAN;
    return TUTTI_OK;
}

enum tutti_err tt_analyze_finite_step(struct tt_rank *rank, const struct tt_structure *running,
                                      const struct tt_step_sequence *sequence, double h,
                                      struct tt_step_analysis *analysis)
{
    struct tt_linear_model model = {0};
    *analysis = (struct tt_step_analysis){.asked = true, .h = h, .exact = NAN};
    enum tutti_err err =
        isfinite(tt_tlm_shortest_delay(rank->job->system))
            ? tt_fail(TUTTI_ERR_UNSUPPORTED, "there are transmission lines, which have a past of their own")
            : tt_linear_model_init(&model, rank, running, sequence, TUTTI_TWINS_HERE);
    analysis->by_twins = !err && model.by_twins;
    if (!err)
        err = finite_step_fill(&model.system, analysis);
    analysis->known = err == TUTTI_OK;
    if (err)
        snprintf(analysis->why_not, sizeof analysis->why_not, "%s", tutti_err_message());
    tt_linear_model_fini(&model);
    return err == TUTTI_ERR_MEMORY ? err : TUTTI_OK;
}
