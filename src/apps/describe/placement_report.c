/* SPDX-License-Identifier: MIT */
#include "apps/describe/placement_report.h"

#include <math.h>
#include <stdlib.h>

#include "apps/describe/json.h"

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
