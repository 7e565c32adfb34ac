/* SPDX-License-Identifier: MIT */
#include "signals/history.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum tutti_err tutti_history_init(struct tutti_history *history, size_t count)
{
    *history = (struct tutti_history){.count = count};
    for (int i = 0; i < TUTTI_HISTORY_ROOM; i++) {
        history->values[i] = calloc(count + 1, sizeof **history->values);
        if (!history->values[i])
            return tutti_fail_memory();
    }
    return TUTTI_OK;
}

void tutti_history_fini(struct tutti_history *history)
{
    for (int i = 0; i < TUTTI_HISTORY_ROOM; i++)
        free(history->values[i]);
    *history = (struct tutti_history){0};
}

void tutti_history_copy(struct tutti_history *to, const struct tutti_history *from)
{
    assert(to->count == from->count);
    to->points = from->points;
    to->hidden = from->hidden;
    memcpy(to->times, from->times, sizeof to->times);
    for (int i = 0; i < TUTTI_HISTORY_ROOM; i++)
        memcpy(to->values[i], from->values[i], from->count * sizeof **from->values);
}

void tutti_history_restart(struct tutti_history *history)
{
    history->points = history->hidden = 0;
}

/* The last one comes to the front, or the first one to the end. */
static void rotate(struct tutti_history *history, bool forward)
{
    enum { LAST = TUTTI_HISTORY_ROOM - 1 };
    double *end = history->values[forward ? LAST : 0], time = history->times[forward ? LAST : 0];
    size_t size = LAST * sizeof *history->values, time_size = LAST * sizeof *history->times;
    memmove(history->values + forward, history->values + !forward, size);
    memmove(history->times + forward, history->times + !forward, time_size);
    history->values[forward ? 0 : LAST] = end;
    history->times[forward ? 0 : LAST] = time;
}

void tutti_history_push(struct tutti_history *history, double t, const double *values)
{
    if (history->points == 0 || history->times[0] != t) {
        rotate(history, true);
        history->hidden = history->points == TUTTI_HISTORY_POINTS;
        history->points += !history->hidden;
    }
    history->times[0] = t;
    memcpy(history->values[0], values, history->count * sizeof *values);
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
        c[k] = history->values[k][i];
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
