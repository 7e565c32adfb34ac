/* SPDX-License-Identifier: MIT */
/* signal_history.h - what signals were at the last accepted points, and the polynomials through them (Andersson 2016 eq. 6.29, for
 * steps of any size and any degree). */
#ifndef TT_SIM_SIGNALS_SIGNAL_HISTORY_H
#define TT_SIM_SIGNALS_SIGNAL_HISTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/rollback_list.h"

enum {
    TUTTI_HISTORY_POINTS = 4, /* that are kept */
    TUTTI_HISTORY_DEGREE = TUTTI_HISTORY_POINTS - 1,
    TUTTI_HISTORY_ROOM = TUTTI_HISTORY_POINTS + 1, /* one more, that a pop brings back */
};

struct tt_signal_history {
    size_t count;                     /* of signals */
    unsigned points;                  /* that are known */
    unsigned hidden;                  /* known, but one too many: 0 or 1 */
    double times[TUTTI_HISTORY_ROOM]; /* the newest first */
    unsigned newest;                  /* its place in `values` */
    double *values;                   /* point after point, the oldest follows the newest one; NULL: nothing is kept */
};

TUTTI_CHECKED enum tutti_err tt_signal_history_init(struct tt_signal_history *history, size_t count);
/* A zeroed one is fine. */
void tt_signal_history_fini(struct tt_signal_history *history);

/* Registers all of it, which may be empty, except the signals' values, whose owners the caller knows. */
TUTTI_CHECKED enum tutti_err tt_signal_history_register(struct tt_signal_history *history,
                                                        struct tt_rollback_list *remembered);

/* The signals at a point: 0 is the newest one, which must be known. */
static inline const double *tt_signal_history_values(const struct tt_signal_history *history, unsigned point)
{
    return history->values + (history->newest + point) % TUTTI_HISTORY_ROOM * history->count;
}

/* Discards everything: after a jump earlier values do not predict signals. */
void tt_signal_history_restart(struct tt_signal_history *history);
/* A new point, later than all others. One for the newest time takes its place. */
void tt_signal_history_push(struct tt_signal_history *history, double t, const double *values);
/* Takes the newest point back: once after a push. */
void tt_signal_history_pop(struct tt_signal_history *history);

/* The polynomial of `degree` (at most points - 1, and TUTTI_HISTORY_DEGREE) through the newest points at t: its value, and,
 * where they are not NULL, its first and second derivative. */
void tt_signal_history_evaluate(const struct tt_signal_history *history, unsigned degree, double t, double *value,
                                double *first, double *second);

#endif
