/* SPDX-License-Identifier: MIT */
/* crossing.h - the first point of a step of a solver at which one of several functions of time has left its domain:
 * state events.
 *
 * Each function has an excess, which is > 0 once it has left its domain. The first such time is bracketed until the
 * ends of the bracket are neighbouring numbers; the result is the right end, where the change is visible. */
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
    double shortest; /* distances from the beginning of a step below this are rounding errors */
    double *here, *left, *right;
    size_t found; /* one that has left its domain at the point found last */
};

/* The functions, `longest` and `shortest` are set by the caller. */
TUTTI_CHECKED enum tutti_err tt_crossing_init(struct tt_crossing *crossing, size_t count);
/* Zeroed is fine, too. */
void tt_crossing_fini(struct tt_crossing *crossing);
/* Returns true if any function has left its domain; `found` is the last of them. */
bool tt_crossing_any(struct tt_crossing *crossing, const double *excess);
/* Finds the first point in (left, right], or INFINITY: into *at; `left` itself if a function has already left its
 * domain there. `near_zero`: an event at the beginning of the step has left a function near the boundary, which it may
 * cross and recross at once: the beginning is checked, too. */
TUTTI_CHECKED enum tutti_err tt_crossing_search(struct tt_crossing *crossing, double left, double right, bool near_zero,
                                                double *at);

#endif
