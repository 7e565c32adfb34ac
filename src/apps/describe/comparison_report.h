/* SPDX-License-Identifier: MIT */
/* comparison_report.h - a comparison of results, by options that are given as text, and as JSON. */
#ifndef TT_APPS_DESCRIBE_COMPARISON_REPORT_H
#define TT_APPS_DESCRIBE_COMPARISON_REPORT_H

#include <jansson.h>

#include "results/compare.h"
#include "apps/describe/describe.h"

/* The options and the result of a comparison. */
struct tt_comparison_report {
    const struct tt_comparison *comparison;
    const struct tutti_result *result, *reference;
    const struct tt_compare_options *options;
};

/* Opens both files, compares them, and calls `report`, whose argument is valid during the call; returns its result. */
TUTTI_CHECKED enum tutti_err tt_comparison_report_create(
    const char *result, const char *reference, const struct tt_display_options *given, const struct tutti_log *log,
    enum tutti_err (*report)(void *context, const struct tt_comparison_report *report), void *context);

/* All of it as JSON. MEMORY. */
TUTTI_CHECKED enum tutti_err tt_comparison_report_write_json(char **json, const struct tt_comparison_report *report);

#endif
