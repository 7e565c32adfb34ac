/* SPDX-License-Identifier: MIT */
/* point.h - a point between macro steps to go back to: what a snapshot holds, and what the master remembers from step to
 * step (master->remembered). What follows is the same every time, to the bit. */
#ifndef TT_APPS_API_POINT_H
#define TT_APPS_API_POINT_H

#include "sim/execution_run.h"

/* A handle: never dereferenced, and of one point only, also when that is gone. */
struct tutti_point;

struct tt_simulation_point;

/* All points of a run, so that they can be released with it. */
struct tt_simulation_points {
    struct tt_simulation_point *first;
};

bool tt_simulation_has_point(const struct tt_simulation_points *points, const struct tutti_point *point);
/* Into *point, which is made, in `points`, if it is NULL, and used again else, where it has to be one of them. UNSUPPORTED, naming the unit and what it lacks. */
TUTTI_CHECKED enum tutti_err tt_simulation_save_point(struct tt_simulation_points *points, struct tutti_point **point,
                                                      struct tt_execution *execution);
/* To one of `points`, any number of times. Rows that were recorded since then go. */
TUTTI_CHECKED enum tutti_err tt_simulation_restore_point(const struct tt_simulation_points *points,
                                                         const struct tutti_point *point,
                                                         struct tt_execution *execution);
/* While the units are alive; NULL, and one that is gone, are fine. */
void tt_simulation_release_point(struct tt_simulation_points *points, const struct tutti_point *point,
                                 struct tt_execution *execution);
void tt_simulation_free_points(struct tt_simulation_points *points, struct tt_execution *execution);

#endif
