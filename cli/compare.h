/* SPDX-License-Identifier: MIT */
/* compare.h - a comparison of results, told. */
#ifndef TUTTI_CLI_COMPARE_H
#define TUTTI_CLI_COMPARE_H

#include "record/compare.h"

/* What was compared, and how. */
struct compare_report {
    const struct tutti_comparison *comparison;
    const struct tutti_result *result, *reference;
    const struct tutti_compare_options *options;
};

/* For people, on standard output: a table of `most` variables, what else is to be known, and a closing line. False, of this
 * and of the other: out of memory. */
bool compare_print(const struct compare_report *report, size_t most);
/* All of it as JSON. */
bool compare_print_json(const struct compare_report *report);

#endif
