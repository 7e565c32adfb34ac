/* SPDX-License-Identifier: MIT */
/* compare.h - a comparison of results, in words. */
#ifndef TUTTI_CLI_COMPARE_H
#define TUTTI_CLI_COMPARE_H

#include "apps/describe/comparison_report.h"

/* Prints to standard output: a table of `most` variables, further findings, and a closing line. False: out of memory. */
bool compare_print(const struct tt_comparison_report *report, size_t most);

#endif
