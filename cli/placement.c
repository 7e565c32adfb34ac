/* SPDX-License-Identifier: MIT */
#include "placement.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"
#include "output.h"
#include "text_json.h"

static void sum_up(struct placement *placement)
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

enum tutti_err placement_init(struct placement *placement, const struct tutti_system *system,
                              const struct tutti_run_options *options, int ranks)
{
    size_t count = (size_t)system->component_count + 1;
    *placement = (struct placement){.system = system, .ranks = ranks};
    placement->place = calloc(count, sizeof *placement->place);
    placement->costs = calloc(count, sizeof *placement->costs);
    placement->shares = calloc((size_t)ranks, sizeof *placement->shares);
    if (!placement->place || !placement->costs || !placement->shares)
        return tutti_fail_memory();
    TRY(tutti_place(system, options, ranks, placement->place));
    TRY(tutti_place_costs(system, options, placement->costs, &placement->measured));
    TRY(tutti_traffic_list(&placement->traffic, &placement->traffic_count, system, placement->place));
    sum_up(placement);
    return TUTTI_OK;
}

void placement_fini(struct placement *placement)
{
    free(placement->place);
    free(placement->costs);
    free(placement->shares);
    free(placement->traffic);
}

/* ---- for people ---- */

static void print_units(const struct placement *placement, int rank)
{
    const char *before = "";
    for (uint32_t c = 0; c < placement->system->component_count; c++) {
        if (placement->place[c] != rank)
            continue;
        char *name = tutti_str_copy(placement->system->components[c].name);
        if (name)
            tutti_str_make_printable(name);
        fprintf(output_standard(), "%s%s", before, name ? name : "?");
        before = ", ";
        free(name);
    }
    fputs(*before ? "\n" : "no unit\n", output_standard());
}

/* Of the list from *next on, what this rank sends. */
static void print_sends(const struct placement *placement, int rank, size_t *next)
{
    const char *before = "sends ";
    for (; *next < placement->traffic_count && placement->traffic[*next].from == rank; ++*next) {
        const struct tutti_traffic *way = &placement->traffic[*next];
        if (*before == 's')
            fprintf(output_standard(), "%12s        ", "");
        fprintf(output_standard(), "%s%llu value%s to %d", before, (unsigned long long)way->values,
                way->values == 1 ? "" : "s", (int)way->to);
        before = ", ";
    }
    if (*before == ',')
        fputc('\n', output_standard());
}

void placement_print(const struct placement *placement)
{
    fprintf(output_standard(), "%-12s %d, by %s costs: the greatest load is %.3g times the mean\n", "ranks",
            placement->ranks, placement->measured ? "measured" : "estimated", placement->balance);
    size_t next = 0;
    for (int r = 0; r < placement->ranks; r++) {
        fprintf(output_standard(), "%12d %5.1f %% ", r, 100 * placement->shares[r]);
        print_units(placement, r);
        print_sends(placement, r, &next);
    }
    fprintf(output_standard(), "%-12s %llu value%s at an exchange, in %zu message%s\n", "crossing", placement->values,
            placement->values == 1 ? "" : "s", placement->traffic_count, placement->traffic_count == 1 ? "" : "s");
}

/* ---- for programs ---- */

static json_t *rank_json(const struct placement *placement, int rank, size_t *next)
{
    json_t *units = json_array(), *sends = json_array();
    for (uint32_t c = 0; c < placement->system->component_count; c++)
        if (placement->place[c] == rank)
            json_array_append_new(units, text_json(placement->system->components[c].name));
    for (; *next < placement->traffic_count && placement->traffic[*next].from == rank; ++*next) {
        const struct tutti_traffic *way = &placement->traffic[*next];
        json_array_append_new(sends, json_pack("{s:i, s:I}", "to", (int)way->to, "values", (json_int_t)way->values));
    }
    return json_pack("{s:i, s:o, s:f, s:o}", "rank", rank, "units", units, "share", placement->shares[rank], "sends",
                     sends);
}

json_t *placement_json(const struct placement *placement)
{
    json_t *ranks = json_array();
    size_t next = 0;
    for (int r = 0; r < placement->ranks; r++)
        json_array_append_new(ranks, rank_json(placement, r, &next));
    return json_pack("{s:s, s:f, s:I, s:I, s:o}", "costs", placement->measured ? "measured" : "estimated", "balance",
                     placement->balance, "values", (json_int_t)placement->values, "messages",
                     (json_int_t)placement->traffic_count, "ranks", ranks);
}
