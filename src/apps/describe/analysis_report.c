/* SPDX-License-Identifier: MIT */
#include "apps/describe/analysis_report.h"

#include <math.h>
#include <stdlib.h>
#include <tutti/tell.h>

#include "apps/describe/describe.h"
#include "apps/describe/json.h"

static json_t *analysis_report_end_json(const struct tt_system *system, const struct tt_end *end)
{
    char name[512];
    return tt_json_text(tt_system_name(system, end, name, sizeof name));
}

static json_t *analysis_report_names_json(const struct tt_structure *structure, const uint32_t *nodes, uint32_t count)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++) {
        const struct tt_structure_node *node = &structure->nodes[nodes[i]];
        const struct tt_end end = {.component = node->component, .variable = node->variable};
        tt_json_append(&list, analysis_report_end_json(structure->system, &end));
    }
    return list;
}

static json_t *analysis_report_order_json(const struct tt_analysis *analysis)
{
    static const char *const words[] = {
        [TUTTI_ACTION_SET] = "set", [TUTTI_ACTION_GET] = "get", [TUTTI_ACTION_SOLVE] = "solve"};
    json_t *list = json_array();
    for (uint32_t a = 0; a < analysis->order->action_count; a++) {
        const struct tt_eval_action *action = &analysis->order->actions[a];
        tt_json_append(&list, json_pack("{s:s, s:o}", "do", words[action->kind], "variables",
                                        analysis_report_names_json(
                                            analysis->initial, analysis->order->nodes + action->first, action->count)));
    }
    return list;
}

static json_t *radius_json(bool known, double radius)
{
    return known && isfinite(radius) ? json_real(radius) : json_null();
}

static json_t *analysis_report_loops_json(const struct tt_analysis *analysis)
{
    json_t *list = json_array();
    for (size_t i = 0; i < analysis->loop_count; i++) {
        const struct tt_loop_analysis *loop = &analysis->loops[i];
        const struct tt_radii *stability = &loop->stability;
        json_t *json = json_pack("{s:o, s:o, s:o}", "variables",
                                 analysis_report_names_json(analysis->running, loop->nodes, loop->count), "rho",
                                 radius_json(stability->known, stability->rho), "why_not",
                                 stability->why_not[0] ? tt_json_text(stability->why_not) : json_null());
        if (stability->known)
            tt_json_set(&json, "exact", json_boolean(stability->exact));
        tt_json_append(&list, json);
    }
    return list;
}

static json_t *cell_json(const struct tt_analysis_cell *cell)
{
    return cell->possible && cell->known
               ? json_pack("{s:b, s:o}", "stable", cell->stable, "radius", radius_json(true, cell->radius))
               : json_null();
}

static json_t *table_json(const struct tt_analysis *analysis)
{
    json_t *list = json_array();
    for (int i = 0; i < TUTTI_ORDERS; i++) {
        const struct tt_stability_row *row = &analysis->rows[i];
        tt_json_append(&list, json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "extrapolation", row->name, "jacobi",
                                        cell_json(&row->jacobi), "given", cell_json(&row->given), "history",
                                        cell_json(&row->history), "seidel", cell_json(&row->seidel), "correct",
                                        cell_json(&row->correct), "smooth", cell_json(&row->smooth)));
    }
    return list;
}

static const char *const step_names[TUTTI_STEP_ROWS] = {
    [TUTTI_ROW_JACOBI] = "jacobi", [TUTTI_ROW_SMOOTH] = "smooth",  [TUTTI_ROW_CORRECT] = "correct",
    [TUTTI_ROW_SEIDEL] = "seidel", [TUTTI_ROW_IMPLICIT] = "relax", [TUTTI_ROW_KINEMATIC] = "kinematic"};

static json_t *step_cell_json(const struct tt_step_cell *cell)
{
    if (!cell->known)
        return json_null();
    return json_pack("{s:b, s:o, s:o, s:o}", "stable", cell->stable, "radius", radius_json(true, cell->radius),
                     "largest", radius_json(true, cell->largest), "any_step",
                     cell->searched ? json_boolean(cell->any_step) : json_null());
}

static json_t *step_json(const struct tt_step_analysis *step)
{
    if (!step->asked)
        return json_null();
    json_t *json = json_pack("{s:f, s:o, s:o}", "h", step->h, "exact", radius_json(step->known, step->exact), "why_not",
                             step->known ? json_null() : tt_json_text(step->why_not));
    for (int row = 0; step->known && row < (step->constrained ? TUTTI_STEP_ROWS : TUTTI_ROW_KINEMATIC); row++) {
        json_t *cells = json_array();
        for (int o = 0; o < (row == TUTTI_ROW_IMPLICIT ? 1 : TUTTI_ORDERS); o++)
            tt_json_append(&cells, step_cell_json(&step->cells[row][o]));
        tt_json_set(&json, step_names[row], cells);
    }
    if (step->known)
        tt_json_set(&json, "sweeps",
                    json_pack("{s:o, s:o}", "seidel", radius_json(true, step->sweeps[0]), "jacobi",
                              radius_json(true, step->sweeps[1])));
    return json;
}

static json_t *choices_json(const struct tt_analysis *analysis)
{
    if (!analysis->chosen)
        return json_null();
    json_t *json = json_pack("{s:b, s:b}", "correct", analysis->corrects, "smooth", analysis->smooths);
    for (int i = 0; i < TUTTI_CHOICES; i++) {
        const struct tt_choice *choice = &analysis->choices[i];
        tt_json_set(&json, choice->name,
                    json_pack("{s:s, s:o}", "value", choice->value, "reason",
                              choice->reason ? tt_json_text(choice->reason) : json_null()));
    }
    return json;
}

static json_t *analysis_json(const struct tt_analysis *analysis, const struct tt_placement_report *placement)
{
    json_t *assumed = json_array(), *pointless = json_array();
    for (uint32_t i = 0; i < analysis->initial->assumed_count; i++)
        tt_json_append(&assumed, tt_json_text(analysis->system->components[analysis->initial->assumed[i]].name));
    for (size_t i = 0; i < analysis->pointless_count; i++)
        tt_json_append(&pointless, analysis_report_end_json(analysis->system, &analysis->pointless[i]));
    return json_pack("{s:o, s:I, s:I, s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o}", "system",
                     tt_json_text(analysis->system->name), "units", (json_int_t)analysis->system->component_count,
                     "connections", (json_int_t)analysis->system->connection_count, "assumed", assumed, "evaluations",
                     (json_int_t)analysis->order->evaluations, "ungrouped", (json_int_t)analysis->ungrouped, "order",
                     analysis_report_order_json(analysis), "loops", analysis_report_loops_json(analysis), "pointless",
                     pointless, "rho", radius_json(analysis->stability.known, analysis->stability.rho), "stability",
                     table_json(analysis), "step", step_json(&analysis->step), "choices", choices_json(analysis),
                     "initialised", analysis->initialised, "failure",
                     analysis->chosen ? json_null() : tt_json_text(analysis->failure), "placement",
                     placement ? tt_analysis_report_placement_json(placement) : json_null());
}

enum tutti_err tt_analysis_report_write_json(char **json, const struct tt_analysis *analysis,
                                             const struct tt_placement_report *placement)
{
    return tt_describe_write_json(analysis_json(analysis, placement), JSON_INDENT(2), json);
}

/* ---- all of it ---- */

struct analysis_receiver {
    const struct tutti_run_options *options;
    int ranks;
    tt_analysis_report_receiver *tell;
    void *context;
    struct tt_failure failure; /* of placing units, and of `tell` */
};

static void analysis_report_deliver(void *context, const struct tt_analysis *analysis)
{
    struct analysis_receiver *telling = context;
    struct tt_placement_report placement = {0};
    enum tutti_err err = TUTTI_OK;
    if (telling->ranks > 0)
        err = tt_analysis_report_place(&placement, analysis->system, telling->options, telling->ranks);
    if (!err)
        err = telling->tell(telling->context, analysis, telling->ranks > 0 ? &placement : NULL);
    tt_fail_save(&telling->failure, err);
    tt_analysis_report_free_placement(&placement);
}

/* More than any machine has. */
enum { MOST_RANKS = 10000 };

enum tutti_err tt_analysis_report_create(const struct tutti_run_options *options, int ranks,
                                         tt_analysis_report_receiver *tell, void *context)
{
    struct analysis_receiver telling = {.options = options, .ranks = ranks, .tell = tell, .context = context};
    if (ranks < 0 || ranks > MOST_RANKS)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--ranks takes a whole number from 1 to %d", MOST_RANKS);
    TRY(tt_analyze(options, analysis_report_deliver, &telling));
    return tt_fail_restore(&telling.failure);
}

static enum tutti_err analysis_report_to_json(void *context, const struct tt_analysis *analysis,
                                              const struct tt_placement_report *placement)
{
    return tt_analysis_report_write_json(context, analysis, placement);
}

enum tutti_err tutti_tell_analysis(char **json, const struct tutti_run_options *options, int ranks)
{
    return tt_analysis_report_create(options, ranks, analysis_report_to_json, json);
}

static void placement_report_sum_up(struct tt_placement_report *placement)
{
    double total = 0, most = 0;
    for (uint32_t c = 0; c < placement->system->component_count; c++)
        total += placement->costs[c];
    for (uint32_t c = 0; c < placement->system->component_count && total > 0; c++)
        placement->shares[placement->place[c]] += placement->costs[c] / total;
    for (int r = 0; r < placement->ranks; r++)
        most = fmax(most, placement->shares[r]);
    placement->balance = most * placement->ranks;
    for (size_t i = 0; i < placement->traffic_count; i++)
        placement->values += placement->traffic[i].values;
}

enum tutti_err tt_analysis_report_place(struct tt_placement_report *placement, const struct tt_system *system,
                                        const struct tutti_run_options *options, int ranks)
{
    size_t count = (size_t)system->component_count + 1;
    *placement = (struct tt_placement_report){.system = system, .ranks = ranks};
    placement->place = calloc(count, sizeof *placement->place);
    placement->costs = calloc(count, sizeof *placement->costs);
    placement->shares = calloc((size_t)ranks, sizeof *placement->shares);
    if (!placement->place || !placement->costs || !placement->shares)
        return tt_fail_memory();
    TRY(tt_placement_compute(system, options, ranks, placement->place));
    TRY(tt_placement_costs(system, options, placement->costs, &placement->measured));
    TRY(tt_partitioner_list_traffic(&placement->traffic, &placement->traffic_count, system, placement->place));
    placement_report_sum_up(placement);
    return TUTTI_OK;
}

void tt_analysis_report_free_placement(struct tt_placement_report *placement)
{
    free(placement->place);
    free(placement->costs);
    free(placement->shares);
    free(placement->traffic);
}

static json_t *rank_json(const struct tt_placement_report *placement, int rank, size_t *next)
{
    json_t *units = json_array(), *sends = json_array();
    for (uint32_t c = 0; c < placement->system->component_count; c++)
        if (placement->place[c] == rank)
            tt_json_append(&units, tt_json_text(placement->system->components[c].name));
    for (; *next < placement->traffic_count && placement->traffic[*next].from == rank; ++*next) {
        const struct tt_traffic *way = &placement->traffic[*next];
        tt_json_append(&sends, json_pack("{s:i, s:I}", "to", (int)way->to, "values", (json_int_t)way->values));
    }
    return json_pack("{s:i, s:o, s:f, s:o}", "rank", rank, "units", units, "share", placement->shares[rank], "sends",
                     sends);
}

json_t *tt_analysis_report_placement_json(const struct tt_placement_report *placement)
{
    json_t *ranks = json_array();
    size_t next = 0;
    for (int r = 0; r < placement->ranks; r++)
        tt_json_append(&ranks, rank_json(placement, r, &next));
    return json_pack("{s:s, s:f, s:I, s:I, s:o}", "costs", placement->measured ? "measured" : "estimated", "balance",
                     placement->balance, "values", (json_int_t)placement->values, "messages",
                     (json_int_t)placement->traffic_count, "ranks", ranks);
}
