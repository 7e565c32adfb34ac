/* SPDX-License-Identifier: MIT */
#include "tell/analysis.h"

#include <math.h>
#include <tutti/tell.h>

#include "tell/json.h"
#include "tell/told.h"

static json_t *end_json(const struct tutti_system *system, const struct tutti_end *end)
{
    char name[512];
    return tutti_text_json(tutti_system_name(system, end, name, sizeof name));
}

static json_t *node_json(const struct tutti_structure *structure, uint32_t node)
{
    const struct tutti_structure_node *n = &structure->nodes[node];
    return end_json(structure->system, &(struct tutti_end){.component = n->component, .variable = n->variable});
}

static json_t *names_json(const struct tutti_structure *structure, const uint32_t *nodes, uint32_t count)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++)
        tutti_json_append(&list, node_json(structure, nodes[i]));
    return list;
}

static json_t *order_json(const struct tutti_analysis *analysis)
{
    static const char *const words[] = {
        [TUTTI_ACTION_SET] = "set", [TUTTI_ACTION_GET] = "get", [TUTTI_ACTION_SOLVE] = "solve"};
    json_t *list = json_array();
    for (uint32_t a = 0; a < analysis->order->action_count; a++) {
        const struct tutti_action *action = &analysis->order->actions[a];
        tutti_json_append(
            &list, json_pack("{s:s, s:o}", "do", words[action->kind], "variables",
                             names_json(analysis->initial, analysis->order->nodes + action->first, action->count)));
    }
    return list;
}

static json_t *radius_json(bool known, double radius)
{
    return known && isfinite(radius) ? json_real(radius) : json_null();
}

static json_t *loops_json(const struct tutti_analysis *analysis)
{
    json_t *list = json_array();
    for (size_t i = 0; i < analysis->loop_count; i++) {
        const struct tutti_loop_analysis *loop = &analysis->loops[i];
        const struct tutti_radii *stability = &loop->stability;
        json_t *json = json_pack("{s:o, s:o, s:o}", "variables",
                                 names_json(analysis->running, loop->nodes, loop->count), "rho",
                                 radius_json(stability->known, stability->rho), "why_not",
                                 stability->why_not[0] ? tutti_text_json(stability->why_not) : json_null());
        if (stability->known)
            tutti_json_set(&json, "exact", json_boolean(stability->exact));
        tutti_json_append(&list, json);
    }
    return list;
}

static json_t *cell_json(const struct tutti_cell *cell)
{
    return cell->possible && cell->known
               ? json_pack("{s:b, s:o}", "stable", cell->stable, "radius", radius_json(true, cell->radius))
               : json_null();
}

static json_t *table_json(const struct tutti_analysis *analysis)
{
    json_t *list = json_array();
    for (int i = 0; i < TUTTI_ORDERS; i++) {
        const struct tutti_stability_row *row = &analysis->rows[i];
        tutti_json_append(&list, json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "extrapolation", row->name, "jacobi",
                                           cell_json(&row->jacobi), "given", cell_json(&row->given), "history",
                                           cell_json(&row->history), "seidel", cell_json(&row->seidel), "correct",
                                           cell_json(&row->correct), "smooth", cell_json(&row->smooth)));
    }
    return list;
}

static const char *const step_names[TUTTI_STEP_ROWS] = {
    [TUTTI_ROW_JACOBI] = "jacobi", [TUTTI_ROW_SMOOTH] = "smooth",  [TUTTI_ROW_CORRECT] = "correct",
    [TUTTI_ROW_SEIDEL] = "seidel", [TUTTI_ROW_IMPLICIT] = "relax", [TUTTI_ROW_KINEMATIC] = "kinematic"};

static json_t *step_cell_json(const struct tutti_step_cell *cell)
{
    if (!cell->known)
        return json_null();
    return json_pack("{s:b, s:o, s:o, s:o}", "stable", cell->stable, "radius", radius_json(true, cell->radius),
                     "largest", radius_json(true, cell->largest), "any_step",
                     cell->searched ? json_boolean(cell->any_step) : json_null());
}

static json_t *step_json(const struct tutti_step_analysis *step)
{
    if (!step->asked)
        return json_null();
    json_t *json = json_pack("{s:f, s:o, s:o}", "h", step->h, "exact", radius_json(step->known, step->exact), "why_not",
                             step->known ? json_null() : tutti_text_json(step->why_not));
    for (int row = 0; step->known && row < (step->constrained ? TUTTI_STEP_ROWS : TUTTI_ROW_KINEMATIC); row++) {
        json_t *cells = json_array();
        for (int o = 0; o < (row == TUTTI_ROW_IMPLICIT ? 1 : TUTTI_ORDERS); o++)
            tutti_json_append(&cells, step_cell_json(&step->cells[row][o]));
        tutti_json_set(&json, step_names[row], cells);
    }
    if (step->known)
        tutti_json_set(&json, "sweeps",
                       json_pack("{s:o, s:o}", "seidel", radius_json(true, step->sweeps[0]), "jacobi",
                                 radius_json(true, step->sweeps[1])));
    return json;
}

static json_t *choices_json(const struct tutti_analysis *analysis)
{
    if (!analysis->chosen)
        return json_null();
    json_t *json = json_pack("{s:b, s:b}", "correct", analysis->corrects, "smooth", analysis->smooths);
    for (int i = 0; i < TUTTI_CHOICES; i++) {
        const struct tutti_choice *choice = &analysis->choices[i];
        tutti_json_set(&json, choice->name,
                       json_pack("{s:s, s:o}", "value", choice->value, "reason",
                                 choice->reason ? tutti_text_json(choice->reason) : json_null()));
    }
    return json;
}

static json_t *analysis_json(const struct tutti_analysis *analysis, const struct tutti_placement *placement)
{
    json_t *assumed = json_array(), *pointless = json_array();
    for (uint32_t i = 0; i < analysis->initial->assumed_count; i++)
        tutti_json_append(&assumed, tutti_text_json(analysis->system->components[analysis->initial->assumed[i]].name));
    for (size_t i = 0; i < analysis->pointless_count; i++)
        tutti_json_append(&pointless, end_json(analysis->system, &analysis->pointless[i]));
    return json_pack("{s:o, s:I, s:I, s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o}", "system",
                     tutti_text_json(analysis->system->name), "units", (json_int_t)analysis->system->component_count,
                     "connections", (json_int_t)analysis->system->connection_count, "assumed", assumed, "evaluations",
                     (json_int_t)analysis->order->evaluations, "ungrouped", (json_int_t)analysis->ungrouped, "order",
                     order_json(analysis), "loops", loops_json(analysis), "pointless", pointless, "rho",
                     radius_json(analysis->stability.known, analysis->stability.rho), "stability", table_json(analysis),
                     "step", step_json(&analysis->step), "choices", choices_json(analysis), "initialised",
                     analysis->initialised, "failure",
                     analysis->chosen ? json_null() : tutti_text_json(analysis->failure), "placement",
                     placement ? tutti_placement_json(placement) : json_null());
}

enum tutti_err tutti_analysis_tell(char **json, const struct tutti_analysis *analysis,
                                   const struct tutti_placement *placement)
{
    return tutti_told_json(analysis_json(analysis, placement), JSON_INDENT(2), json);
}

/* ---- all of it ---- */

struct telling {
    const struct tutti_run_options *options;
    int ranks;
    tutti_analysis_teller *tell;
    void *context;
    struct tutti_failure failure; /* of placing units, and of `tell` */
};

static void report(void *context, const struct tutti_analysis *analysis)
{
    struct telling *telling = context;
    struct tutti_placement placement = {0};
    enum tutti_err err = TUTTI_OK;
    if (telling->ranks > 0)
        err = tutti_placement_init(&placement, analysis->system, telling->options, telling->ranks);
    if (!err)
        err = telling->tell(telling->context, analysis, telling->ranks > 0 ? &placement : NULL);
    tutti_failure_keep(&telling->failure, err);
    tutti_placement_fini(&placement);
}

/* More than any machine has. */
enum { MOST_RANKS = 10000 };

enum tutti_err tutti_analysis_make(const struct tutti_run_options *options, int ranks, tutti_analysis_teller *tell,
                                   void *context)
{
    struct telling telling = {.options = options, .ranks = ranks, .tell = tell, .context = context};
    if (ranks < 0 || ranks > MOST_RANKS)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--ranks takes a whole number from 1 to %d", MOST_RANKS);
    TRY(tutti_analyze(options, report, &telling));
    return tutti_failure_return(&telling.failure);
}

static enum tutti_err take(void *context, const struct tutti_analysis *analysis,
                           const struct tutti_placement *placement)
{
    return tutti_analysis_tell(context, analysis, placement);
}

enum tutti_err tutti_tell_analysis(char **json, const struct tutti_run_options *options, int ranks)
{
    return tutti_analysis_make(options, ranks, take, json);
}
