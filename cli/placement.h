/* SPDX-License-Identifier: MIT */
/* placement.h - where the units of a system would run, in words. */
#ifndef TUTTI_CLI_PLACEMENT_H
#define TUTTI_CLI_PLACEMENT_H

#include "apps/describe/analysis_report.h"

void placement_print(const struct tt_placement_report *placement);

#endif
