/* SPDX-License-Identifier: MIT */
/* sum.h - what the ranks counted becomes the statistics of the run. */
#ifndef TUTTI_CONDUCT_SUM_H
#define TUTTI_CONDUCT_SUM_H

#include <tutti/run.h>

#include "base/err.h"

/* tallies[r] is what rank r counted (report/tally.h: units per component, with holes), NULL if it came to no end. Takes the
 * texts and units out of them; what is left is still to be released. What all ranks count alike is taken from the first there
 * is; of what each counts for itself, the sum, or that of the rank that has most. MEMORY: `stats` is then empty. */
TUTTI_CHECKED enum tutti_err tutti_sum_tallies(struct tutti_run_stats *stats, struct tutti_run_stats *const *tallies,
                                               int ranks);

#endif
