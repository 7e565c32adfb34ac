/* SPDX-License-Identifier: MIT */
/* analysis_report.h - an analysis of a system, with the placement of its units, and as JSON. */
#ifndef TT_APPS_DESCRIBE_ANALYSIS_REPORT_H
#define TT_APPS_DESCRIBE_ANALYSIS_REPORT_H

#include "apps/analyze/analyze.h"
#include "apps/describe/placement_report.h"

/* What is told lives during the call only. `placement`: NULL if it was not asked for. */
typedef enum tutti_err tt_analysis_report_receiver(void *context, const struct tt_analysis *analysis,
                                                   const struct tt_placement_report *placement);

/* As tt_analyze; with `ranks` > 0 the units are placed on so many, too. Returns what `tell` returns. ARGUMENT for a number of ranks that
 * makes no sense. */
TUTTI_CHECKED enum tutti_err tt_analysis_report_create(const struct tutti_run_options *options, int ranks,
                                                       tt_analysis_report_receiver *tell, void *context);

/* All of it as JSON, which is the caller's (tutti_tell_free). MEMORY. */
TUTTI_CHECKED enum tutti_err tt_analysis_report_write_json(char **json, const struct tt_analysis *analysis,
                                                           const struct tt_placement_report *placement);

#endif
