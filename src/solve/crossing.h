/* SPDX-License-Identifier: MIT */
/* crossing.h - the first point of a step of a solver at which one of several functions of time has left its domain: state
 * events.
 *
 * What is looked at is the excess of each: how far it is on the way out of its domain, which it has left if this is > 0. The
 * first such time is bracketed until its ends are neighbours; the point is the right end, where the change is seen. */
#ifndef TT_SOLVE_CROSSING_H
#define TT_SOLVE_CROSSING_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"

struct tt_crossing {
    size_t count;
    void *context;
    /* All excesses at `t`, in the step that is searched; *bad is the first that has no value, or `count`. */
    enum tutti_err (*read)(void *context, double t, double *excess, size_t *bad);
    /* The error for one that has no value. */
    enum tutti_err (*no_value)(void *context, double t, size_t bad);
    double longest;  /* a longer step is looked at in between, too; 0: at its end only */
    double shortest; /* nearer to the beginning of a step than this there is nothing but rounding */
    double *here, *left, *right;
    size_t found; /* one that has left its domain at the point found last */
};

/* The functions, `longest` and `shortest` are set by the caller. */
TUTTI_CHECKED enum tutti_err tt_crossing_init(struct tt_crossing *crossing, size_t count);
/* Zeroed is fine, too. */
void tt_crossing_fini(struct tt_crossing *crossing);
/* Has any left its domain? The last one that has is `found`. */
bool tt_crossing_any(struct tt_crossing *crossing, const double *excess);
/* The first point in (left, right], or INFINITY: into *at; `left` itself if one is outside there already. `near_zero`: an event
 * at the beginning of the step has left one near the border, so that it may go and come back at once: the beginning is
 * looked at, too. */
TUTTI_CHECKED enum tutti_err tt_crossing_search(struct tt_crossing *crossing, double left, double right, bool near_zero,
                                                double *at);

#endif
