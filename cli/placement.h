/* SPDX-License-Identifier: MIT */
/* placement.h - where the units of a system would run, for people and for programs. */
#ifndef TUTTI_CLI_PLACEMENT_H
#define TUTTI_CLI_PLACEMENT_H

#include <jansson.h>

#include "conduct/place.h"
#include "plan/partition.h"

struct placement {
    const struct tutti_system *system; /* borrowed */
    int ranks;
    int32_t *place;
    double *costs, *shares; /* per component; per rank, of all costs */
    bool measured;
    double balance; /* the greatest load over the mean */
    struct tutti_traffic *traffic;
    size_t traffic_count;
    unsigned long long values; /* that cross at an exchange */
};

/* placement_fini follows in any case. */
TUTTI_CHECKED enum tutti_err placement_init(struct placement *placement, const struct tutti_system *system,
                                            const struct tutti_run_options *options, int ranks);
void placement_fini(struct placement *placement);
void placement_print(const struct placement *placement);
/* NULL: out of memory. */
json_t *placement_json(const struct placement *placement);

#endif
