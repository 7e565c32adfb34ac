/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "placement.h"
#include "base/text.h"
#include "output.h"

static void print_units(const struct tt_placement_report *placement, int rank)
{
    const char *before = "";
    for (uint32_t c = 0; c < placement->system->component_count; c++) {
        if (placement->place[c] != rank)
            continue;
        char *name = tt_text_copy(placement->system->components[c].name);
        if (name)
            tt_text_make_printable(name);
        fprintf(output_standard(), "%s%s", before, name ? name : "?");
        before = ", ";
        free(name);
    }
    fputs(*before ? "\n" : "no unit\n", output_standard());
}

/* Of the list from *next on, what this rank sends. */
static void print_sends(const struct tt_placement_report *placement, int rank, size_t *next)
{
    const char *before = "sends ";
    for (; *next < placement->traffic_count && placement->traffic[*next].from == rank; ++*next) {
        const struct tt_traffic *way = &placement->traffic[*next];
        if (*before == 's')
            fprintf(output_standard(), "%12s        ", "");
        fprintf(output_standard(), "%s%llu value%s to %d", before, (unsigned long long)way->values,
                way->values == 1 ? "" : "s", (int)way->to);
        before = ", ";
    }
    if (*before == ',')
        fputc('\n', output_standard());
}

void placement_print(const struct tt_placement_report *placement)
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
