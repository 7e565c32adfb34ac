/* SPDX-License-Identifier: MIT */
/* placement.h - assigns units to ranks: by the user's options (--place, the key `rank` of an annotation), all others by
 * model/plan/partitioner.h from costs and connections.
 *
 * With --twin half of the ranks have second instances of the units (sim/control/twin.h): units are placed on the first
 * half, and their second instances correspondingly on the second half. Numbers of ranks are those of all.
 *
 * `options` are those of the user, without the system's annotation. All ranks need the same placement: the code that
 * starts ranks in other programs hands it to them. */
#ifndef TT_RUN_PLACEMENT_H
#define TT_RUN_PLACEMENT_H

#include "base/options/options.h"
#include "model/system/system.h"

/* place[c] becomes the rank of component c; a line about it goes to options->log. ARGUMENT for a --place or --costs
 * that does not fit, for an odd number of ranks with --twin, and where FMUs that can be instantiated only once per
 * process would need more ranks. A `rank` of an annotation beyond the available ranks is ignored with a warning: a file
 * may be made for more ranks. */
TUTTI_CHECKED enum tutti_err tt_placement_compute(const struct tt_system *system,
                                                  const struct tutti_run_options *options, int ranks, int32_t *place);

/* Computes the number of ranks, as separate processes, that the system needs: more than 1 if components share an FMU
 * that can be instantiated only once per process, or have second instances of it. */
TUTTI_CHECKED enum tutti_err tt_placement_least_ranks(const struct tt_system *system,
                                                      const struct tutti_run_options *options, int *ranks);

/* Limits the `wanted` number of ranks: more than the number of units would be idle, unless options place them so; fewer
 * than `least` are impossible. Logs changes. */
int tt_placement_clamp_ranks(const struct tt_system *system, const struct tutti_run_options *options, unsigned wanted,
                             int least);

/* Computes the cost of each component: options->costs, in seconds, for missing units the mean; or, without measurements
 * (*measured false), a rule of thumb in points: 10 for the calls of a step, 1 for each connected value and for each 100
 * variables, and for each continuous state 10 where the FMU has its own solver, 20 where Tutti integrates it. */
TUTTI_CHECKED enum tutti_err tt_placement_costs(const struct tt_system *system, const struct tutti_run_options *options,
                                                double *costs, bool *measured);

#endif
