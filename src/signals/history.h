/* SPDX-License-Identifier: MIT */
/* history.h - what signals were at the last accepted points, and the polynomials through them (Andersson 2016 eq. 6.29, for steps of
 * any size and any degree). */
#ifndef TUTTI_SIGNALS_HISTORY_H
#define TUTTI_SIGNALS_HISTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum {
    TUTTI_HISTORY_POINTS = 4, /* that are kept */
    TUTTI_HISTORY_DEGREE = TUTTI_HISTORY_POINTS - 1,
    TUTTI_HISTORY_ROOM = TUTTI_HISTORY_POINTS + 1, /* one more, that a pop brings back */
};

struct tutti_history {
    size_t count;                     /* of signals */
    unsigned points;                  /* that are known */
    unsigned hidden;                  /* known, but one too many: 0 or 1 */
    double times[TUTTI_HISTORY_ROOM]; /* the newest first */
    double *values[TUTTI_HISTORY_ROOM];
};

TUTTI_CHECKED enum tutti_err tutti_history_init(struct tutti_history *history, size_t count);
/* A zeroed one is fine. */
void tutti_history_fini(struct tutti_history *history);

/* Both have the same number of signals. */
void tutti_history_copy(struct tutti_history *to, const struct tutti_history *from);

/* Forgets everything: at a jump nothing from before says how signals go on. */
void tutti_history_restart(struct tutti_history *history);
/* A new point, later than all others. One for the newest time takes its place. */
void tutti_history_push(struct tutti_history *history, double t, const double *values);
/* Takes the newest point back: once after a push. */
void tutti_history_pop(struct tutti_history *history);

/* The polynomial of `degree` (at most points - 1, and TUTTI_HISTORY_DEGREE) through the newest points at t: its value, and,
 * where they are not NULL, its first and second derivative. */
void tutti_history_at(const struct tutti_history *history, unsigned degree, double t, double *value, double *first,
                      double *second);

#endif
