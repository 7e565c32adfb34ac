/* SPDX-License-Identifier: MIT */
/* placement.h - where the units of a system would run. */
#ifndef TUTTI_TELL_PLACEMENT_H
#define TUTTI_TELL_PLACEMENT_H

#include <jansson.h>

#include "conduct/place.h"
#include "plan/partition.h"

struct tutti_placement {
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

/* tutti_placement_fini follows in any case. */
TUTTI_CHECKED enum tutti_err tutti_placement_init(struct tutti_placement *placement, const struct tutti_system *system,
                                                  const struct tutti_run_options *options, int ranks);
void tutti_placement_fini(struct tutti_placement *placement);
/* NULL: out of memory. */
json_t *tutti_placement_json(const struct tutti_placement *placement);

#endif
