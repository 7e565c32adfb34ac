/* SPDX-License-Identifier: MIT */
#include "apps/analyze/finite_step.h"

#include <math.h>
#include <stdio.h>

#include "sim/coupling/tlm.h"
#include "sim/start/linear_model.h"

/* Steps that are looked at for the largest stable one: from a hundredth of the wanted one to a hundred times it. */
enum { STEPS_PER_DECADE = 6, DECADES = 2, MOST_SEARCHED = 120, BISECTIONS = 12 };

static const enum tt_step_method methods[TUTTI_STEP_ROWS] = {
    [TUTTI_ROW_JACOBI] = TUTTI_STEP_JACOBI,     [TUTTI_ROW_SMOOTH] = TUTTI_STEP_SMOOTH,
    [TUTTI_ROW_CORRECT] = TUTTI_STEP_CORRECT,   [TUTTI_ROW_SEIDEL] = TUTTI_STEP_SEIDEL,
    [TUTTI_ROW_IMPLICIT] = TUTTI_STEP_IMPLICIT, [TUTTI_ROW_KINEMATIC] = TUTTI_STEP_KINEMATIC};

/* The end of the stable steps that begin with the least one looked at; between `low`, stable, and `high`, not, by bisection. */
static double finite_step_bisect(const struct tt_linear_system *system, enum tt_step_method method, unsigned order,
                                 double low, double high)
{
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = sqrt(low * high), radius;
        bool stable = false;
        if (tt_step_operator_is_stable(system, method, order, middle, &radius, &stable) != TUTTI_OK)
            stable = false;
        *(stable ? &low : &high) = middle;
    }
    return low;
}

static void finite_step_find_limit(const struct tt_linear_system *system, const struct tt_step_analysis *analysis,
                                   enum tt_step_method method, unsigned order, struct tt_step_cell *cell)
{
    double before = NAN;
    cell->searched = true;
    for (int k = 0; k <= 2 * DECADES * STEPS_PER_DECADE; k++) {
        double h = analysis->least * pow(10, (double)k / STEPS_PER_DECADE), radius;
        bool stable = false;
        if (tt_step_operator_is_stable(system, method, order, h, &radius, &stable) != TUTTI_OK || !stable) {
            cell->largest = k > 0 ? finite_step_bisect(system, method, order, before, h) : NAN;
            return;
        }
        before = h;
    }
    cell->any_step = true;
}

static void fill_step_cell(const struct tt_linear_system *system, struct tt_step_analysis *analysis,
                           enum tt_step_row row, unsigned order)
{
    struct tt_step_cell *cell = &analysis->cells[row][order];
    *cell = (struct tt_step_cell){.radius = NAN, .largest = NAN};
    cell->known = tt_step_operator_is_stable(system, methods[row], order, analysis->h, &cell->radius, &cell->stable) ==
                  TUTTI_OK;
    size_t rows = system->states + 5 * system->outputs + system->inputs;
    if (cell->known && rows <= MOST_SEARCHED)
        finite_step_find_limit(system, analysis, methods[row], order, cell);
}

static enum tutti_err finite_step_fill(const struct tt_linear_system *system, struct tt_step_analysis *analysis)
{
    analysis->least = analysis->h / pow(10, DECADES);
    analysis->most = analysis->h * pow(10, DECADES);
    analysis->constrained = system->constraints.rows > 0;
    if (!analysis->constrained)
        TRY(tt_step_operator_exact_radius(system, analysis->h, &analysis->exact));
    for (int row = 0; row < TUTTI_STEP_ROWS; row++)
        for (unsigned order = row == TUTTI_ROW_SMOOTH; order < (row == TUTTI_ROW_IMPLICIT ? 1 : TUTTI_ORDERS); order++)
            if (tt_analyze_step_row_applies(analysis, (enum tt_step_row)row))
                fill_step_cell(system, analysis, (enum tt_step_row)row, order);
    for (int all = 0; all < 2; all++)
        if (analysis->constrained ||
            tt_step_operator_sweep_radius(system, all == 0, analysis->h, &analysis->sweeps[all]) != TUTTI_OK)
            analysis->sweeps[all] = NAN;
    return TUTTI_OK;
}

static enum tutti_err analyze_finite_steps(struct tt_linear_model *model, struct tt_rank *rank,
                                           const struct tt_structure *running, const struct tt_step_sequence *sequence,
                                           struct tt_step_analysis *analysis)
{
    if (isfinite(tt_tlm_shortest_delay(rank->job->system)))
        return tt_fail(TUTTI_ERR_UNSUPPORTED, "there are transmission lines, which have a past of their own");
    TRY(tt_linear_model_init(model, rank, running, sequence, TUTTI_TWINS_HERE));
    analysis->by_twins = model->by_twins;
    return finite_step_fill(&model->system, analysis);
}

enum tutti_err tt_analyze_finite_step(struct tt_rank *rank, const struct tt_structure *running,
                                      const struct tt_step_sequence *sequence, double h,
                                      struct tt_step_analysis *analysis)
{
    struct tt_linear_model model = {0};
    *analysis = (struct tt_step_analysis){.asked = true, .h = h, .exact = NAN};
    enum tutti_err err = analyze_finite_steps(&model, rank, running, sequence, analysis);
    analysis->known = err == TUTTI_OK;
    if (err)
        snprintf(analysis->why_not, sizeof analysis->why_not, "%s", tutti_err_message());
    tt_linear_model_fini(&model);
    return err == TUTTI_ERR_MEMORY ? err : TUTTI_OK;
}
