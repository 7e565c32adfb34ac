/* SPDX-License-Identifier: MIT */
#include "sim/signals/signal_history.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum tutti_err tt_signal_history_init(struct tt_signal_history *history, size_t count)
{
    *history = (struct tt_signal_history){.count = count};
    history->values = calloc(TUTTI_HISTORY_ROOM * count + 1, sizeof *history->values);
    return history->values ? TUTTI_OK : tt_fail_memory();
}

void tt_signal_history_fini(struct tt_signal_history *history)
{
    free(history->values);
    *history = (struct tt_signal_history){0};
}

enum tutti_err tt_signal_history_register(struct tt_signal_history *history, struct tt_rollback_list *remembered)
{
    if (!history->values)
        return TUTTI_OK;
    TRY(tt_rollback_list_add(remembered, &history->points, sizeof history->points));
    TRY(tt_rollback_list_add(remembered, &history->hidden, sizeof history->hidden));
    TRY(tt_rollback_list_add(remembered, &history->times, sizeof history->times));
    return tt_rollback_list_add(remembered, &history->newest, sizeof history->newest);
}

void tt_signal_history_restart(struct tt_signal_history *history)
{
    history->points = history->hidden = 0;
}

/* The last one comes to the front, or the first one to the end. */
static void rotate_points(struct tt_signal_history *history, bool forward)
{
    enum { LAST = TUTTI_HISTORY_ROOM - 1 };
    double time = history->times[forward ? LAST : 0];
    memmove(history->times + forward, history->times + !forward, LAST * sizeof *history->times);
    history->times[forward ? 0 : LAST] = time;
    history->newest = (history->newest + (forward ? LAST : 1)) % TUTTI_HISTORY_ROOM;
}

void tt_signal_history_push(struct tt_signal_history *history, double t, const double *values)
{
    if (history->points == 0 || history->times[0] != t) {
        rotate_points(history, true);
        history->hidden = history->points == TUTTI_HISTORY_POINTS;
        history->points += !history->hidden;
    }
    history->times[0] = t;
    memcpy(history->values + history->newest * history->count, values, history->count * sizeof *values);
}

void tt_signal_history_pop(struct tt_signal_history *history)
{
    rotate_points(history, false);
    history->points -= !history->hidden;
    history->hidden = 0;
}

/* Newton's form with divided differences, and its derivatives by Horner's rule. */
static void evaluate_interpolant(const struct tt_signal_history *history, unsigned degree, double t, size_t i,
                                 double *p)
{
    double c[TUTTI_HISTORY_POINTS];
    const double *times = history->times;
    for (unsigned k = 0; k <= degree; k++)
        c[k] = tt_signal_history_values(history, k)[i];
    for (unsigned level = 1; level <= degree; level++)
        for (unsigned k = degree; k >= level; k--)
            c[k] = (c[k] - c[k - 1]) / (times[k] - times[k - level]);
    p[0] = c[degree];
    p[1] = p[2] = 0;
    for (unsigned k = degree; k-- > 0;) {
        double away = t - times[k];
        p[2] = p[2] * away + 2 * p[1];
        p[1] = p[1] * away + p[0];
        p[0] = p[0] * away + c[k];
    }
}

void tt_signal_history_evaluate(const struct tt_signal_history *history, unsigned degree, double t, double *value,
                                double *first, double *second)
{
    assert(degree < history->points && degree <= TUTTI_HISTORY_DEGREE);
    for (size_t i = 0; i < history->count; i++) {
        double p[3];
        evaluate_interpolant(history, degree, t, i, p);
        if (value)
            value[i] = p[0];
        if (first)
            first[i] = p[1];
        if (second)
            second[i] = p[2];
    }
}
