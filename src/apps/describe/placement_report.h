/* SPDX-License-Identifier: MIT */
/* placement.h - where the units of a system would run. */
#ifndef TT_APPS_DESCRIBE_PLACEMENT_REPORT_H
#define TT_APPS_DESCRIBE_PLACEMENT_REPORT_H

#include <jansson.h>

#include "run/placement.h"
#include "model/plan/partitioner.h"

struct tt_placement_report {
    const struct tt_system *system; /* borrowed */
    int ranks;
    int32_t *place;
    double *costs, *shares; /* per component; per rank, of all costs */
    bool measured;
    double balance; /* the greatest load over the mean */
    struct tt_traffic *traffic;
    size_t traffic_count;
    unsigned long long values; /* that cross at an exchange */
};

/* tt_analysis_report_free_placement follows in any case. */
TUTTI_CHECKED enum tutti_err tt_analysis_report_place(struct tt_placement_report *placement,
                                                      const struct tt_system *system,
                                                      const struct tutti_run_options *options, int ranks);
void tt_analysis_report_free_placement(struct tt_placement_report *placement);
/* NULL: out of memory. */
json_t *tt_analysis_report_placement_json(const struct tt_placement_report *placement);

#endif
