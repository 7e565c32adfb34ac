/* SPDX-License-Identifier: MIT */
/* analysis_report.h - an analysis of a system, with the placement of its units, and as JSON. */
#ifndef TT_APPS_DESCRIBE_ANALYSIS_REPORT_H
#define TT_APPS_DESCRIBE_ANALYSIS_REPORT_H

#include <jansson.h>

#include "apps/analyze/analyze.h"
#include "model/plan/partitioner.h"
#include "run/placement.h"

/* Where the units of a system would run. */

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

/* Receives a report, which is valid during the call only. `placement`: NULL unless requested. */
typedef enum tutti_err tt_analysis_report_receiver(void *context, const struct tt_analysis *analysis,
                                                   const struct tt_placement_report *placement);

/* As tt_analyze; with `ranks` > 0 also places the units on that number of ranks. Returns the result of `tell`. ARGUMENT
 * for an invalid number of ranks. */
TUTTI_CHECKED enum tutti_err tt_analysis_report_create(const struct tutti_run_options *options, int ranks,
                                                       tt_analysis_report_receiver *tell, void *context);

/* All of it as JSON, which is the caller's (tutti_tell_free). MEMORY. */
TUTTI_CHECKED enum tutti_err tt_analysis_report_write_json(char **json, const struct tt_analysis *analysis,
                                                           const struct tt_placement_report *placement);

#endif
