/* SPDX-License-Identifier: MIT */
/* placement.h - which rank gets which unit: what people say (--place, the word `rank` of an annotation), and for the rest what
 * model/plan/partitioner.h makes of costs and connections.
 *
 * With --twin half of the ranks have second instances of the units (sim/control/twin.h): units are placed on the first half, and their second
 * instances on the other one alike. Numbers of ranks are those of all.
 *
 * `options` are those that a person gave, without what the system's annotation adds. All ranks need the same placement:
 * the code that starts ranks in other programs hands it to them. */
#ifndef TT_RUN_PLACEMENT_H
#define TT_RUN_PLACEMENT_H

#include "base/options/options.h"
#include "model/system/system.h"

/* place[c] becomes the rank of component c; a line about it goes to options->log. ARGUMENT for a --place or --costs that does
 * not fit, for an odd number of ranks with --twin, and where FMUs that can be instantiated only once per process would need more ranks. A `rank` of an annotation that
 * is beyond the ranks at hand is passed over with a warning: a file may be made for more. */
TUTTI_CHECKED enum tutti_err tt_placement_compute(const struct tt_system *system,
                                                  const struct tutti_run_options *options, int ranks, int32_t *place);

/* How many ranks, each a process of its own, the system needs: more than 1 where components share an FMU that can be
 * instantiated only once per process, or have second instances of it. */
TUTTI_CHECKED enum tutti_err tt_placement_least_ranks(const struct tt_system *system,
                                                      const struct tutti_run_options *options, int *ranks);

/* How many ranks to use where a person wants `wanted`: more than units would have nothing to do, unless options place them so; fewer
 * than `least` do not do. Says so in options->log. */
int tt_placement_clamp_ranks(const struct tt_system *system, const struct tutti_run_options *options, unsigned wanted,
                             int least);

/* What each component costs: options->costs, in seconds, units that are not there the mean of the others; or, where nothing
 * was measured (*measured false), a rule of thumb in points: 10 for the calls of a step, 1 for each connected value and for
 * each 100 variables, and for each continuous state 10 where the FMU has its own solver, 20 where Tutti integrates it. */
TUTTI_CHECKED enum tutti_err tt_placement_costs(const struct tt_system *system, const struct tutti_run_options *options,
                                                double *costs, bool *measured);

#endif
