/* SPDX-License-Identifier: MIT */
#include "signals/history.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum tutti_err tutti_history_init(struct tutti_history *history, size_t count)
{
    *history = (struct tutti_history){.count = count};
    history->values = calloc(TUTTI_HISTORY_ROOM * count + 1, sizeof *history->values);
    return history->values ? TUTTI_OK : tutti_fail_memory();
}

void tutti_history_fini(struct tutti_history *history)
{
    free(history->values);
    *history = (struct tutti_history){0};
}

enum tutti_err tutti_history_remember(struct tutti_history *history, struct tutti_remembered *remembered)
{
    if (!history->values)
        return TUTTI_OK;
    TRY(tutti_remember(remembered, &history->points, sizeof history->points));
    TRY(tutti_remember(remembered, &history->hidden, sizeof history->hidden));
    TRY(tutti_remember(remembered, &history->times, sizeof history->times));
    return tutti_remember(remembered, &history->newest, sizeof history->newest);
}

void tutti_history_restart(struct tutti_history *history)
{
    history->points = history->hidden = 0;
}

/* The last one comes to the front, or the first one to the end. */
static void rotate(struct tutti_history *history, bool forward)
{
    enum { LAST = TUTTI_HISTORY_ROOM - 1 };
    double time = history->times[forward ? LAST : 0];
    memmove(history->times + forward, history->times + !forward, LAST * sizeof *history->times);
    history->times[forward ? 0 : LAST] = time;
    history->newest = (history->newest + (forward ? LAST : 1)) % TUTTI_HISTORY_ROOM;
}

void tutti_history_push(struct tutti_history *history, double t, const double *values)
{
    if (history->points == 0 || history->times[0] != t) {
        rotate(history, true);
        history->hidden = history->points == TUTTI_HISTORY_POINTS;
        history->points += !history->hidden;
    }
    history->times[0] = t;
    memcpy(history->values + history->newest * history->count, values, history->count * sizeof *values);
}

void tutti_history_pop(struct tutti_history *history)
{
    rotate(history, false);
    history->points -= !history->hidden;
    history->hidden = 0;
}

/* Newton's form with divided differences, and its derivatives by Horner's rule. */
static void evaluate(const struct tutti_history *history, unsigned degree, double t, size_t i, double *p)
{
    double c[TUTTI_HISTORY_POINTS];
    const double *times = history->times;
    for (unsigned k = 0; k <= degree; k++)
        c[k] = tutti_history_values(history, k)[i];
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

void tutti_history_at(const struct tutti_history *history, unsigned degree, double t, double *value, double *first,
                      double *second)
{
    assert(degree < history->points && degree <= TUTTI_HISTORY_DEGREE);
    for (size_t i = 0; i < history->count; i++) {
        double p[3];
        evaluate(history, degree, t, i, p);
        if (value)
            value[i] = p[0];
        if (first)
            first[i] = p[1];
        if (second)
            second[i] = p[2];
    }
}
