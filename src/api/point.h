/* SPDX-License-Identifier: MIT */
/* point.h - a point between macro steps to go back to: what a snapshot holds, and what the master remembers from step to
 * step (master->remembered). What follows is the same every time, to the bit. */
#ifndef TUTTI_API_POINT_H
#define TUTTI_API_POINT_H

#include "master/run.h"

/* A handle: never dereferenced, and of one point only, also when that is gone. */
struct tutti_point;

struct tutti_kept_point;

/* All points of a run, so that they can be released with it. */
struct tutti_points {
    struct tutti_kept_point *first;
};

bool tutti_points_have(const struct tutti_points *points, const struct tutti_point *point);
/* Into *point, which is made, in `points`, if it is NULL, and used again else, where it has to be one of them. UNSUPPORTED, naming the unit and what it lacks. */
TUTTI_CHECKED enum tutti_err tutti_point_take(struct tutti_points *points, struct tutti_point **point,
                                              struct tutti_execution *execution);
/* To one of `points`, any number of times. Rows that were recorded since then go. */
TUTTI_CHECKED enum tutti_err tutti_point_restore(const struct tutti_points *points, const struct tutti_point *point,
                                                 struct tutti_execution *execution);
/* While the units are alive; NULL, and one that is gone, are fine. */
void tutti_point_release(struct tutti_points *points, const struct tutti_point *point,
                         struct tutti_execution *execution);
void tutti_points_fini(struct tutti_points *points, struct tutti_execution *execution);

#endif
