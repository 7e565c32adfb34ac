/* SPDX-License-Identifier: MIT */
/* Minimum and maximum over a window that moves on are kept as in D. Lemire, "Streaming maximum-minimum filter using no more than
 * three comparisons per element" (2006): of the rows in the window only those are remembered that no later row beats. */
#include "record/curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/vector.h"

size_t tutti_curve_from(const double *times, size_t rows, double t)
{
    size_t row;
    TUTTI_SEARCH(row, rows, times[row] < t);
    return row;
}

size_t tutti_curve_behind(const double *times, size_t rows, double t)
{
    return tutti_curve_from(times, rows, nextafter(t, INFINITY));
}

/* --- values */

/* The curve from row `i` to the next one, at t: a line, infinite if one of its ends is; after the last row, and if the
 * curve is held, the row's value. */
static double on_piece(const struct tutti_curve *curve, size_t i, double t)
{
    double from = curve->values[i];
    if (curve->held || i + 1 == curve->rows)
        return from;
    double to = curve->values[i + 1], rise = to - from;
    double x = (t - curve->times[i]) / (curve->times[i + 1] - curve->times[i]);
    if (isfinite(rise))
        return from + rise * x;
    if (isfinite(from) && isfinite(to)) /* the difference is too large for a double */
        return from * (1 - x) + to * x;
    if (isnan(from) || isnan(to))
        return NAN;
    return isinf(to) ? to : from;
}

struct range {
    double low, high; /* low > high: there is no number */
    bool nan;
};

static const struct range nothing = {INFINITY, -INFINITY, false};

static void include(struct range *range, double value)
{
    range->nan |= isnan(value);
    range->low = fmin(range->low, value);
    range->high = fmax(range->high, value);
}

/* --- a window that moves along a curve */

/* Rows of the window in order of time; each has a better value than all later ones. */
struct best {
    size_t *rows;
    size_t head, tail, room;
};

struct window {
    const struct tutti_curve *curve;
    size_t first, behind; /* rows of the curve that are in it */
    size_t nans;          /* among them */
    struct best low, high;
};

static enum tutti_err push(struct best *best, size_t row)
{
    if (best->tail == best->room && best->head > best->room / 2) {
        memmove(best->rows, best->rows + best->head, (best->tail - best->head) * sizeof *best->rows);
        best->tail -= best->head;
        best->head = 0;
    } else if (!tutti_vector_reserve(&best->rows, &best->room, best->tail + 1, sizeof *best->rows)) {
        return tutti_fail_memory();
    }
    best->rows[best->tail++] = row;
    return TUTTI_OK;
}

static enum tutti_err enter(struct window *window, size_t row)
{
    const double *values = window->curve->values;
    if (isnan(values[row])) {
        window->nans++;
        return TUTTI_OK;
    }
    struct best *low = &window->low, *high = &window->high;
    while (low->tail > low->head && values[low->rows[low->tail - 1]] >= values[row])
        low->tail--;
    while (high->tail > high->head && values[high->rows[high->tail - 1]] <= values[row])
        high->tail--;
    TRY(push(low, row));
    return push(high, row);
}

static void leave(struct window *window, size_t row)
{
    window->nans -= isnan(window->curve->values[row]) ? 1 : 0;
    window->low.head += window->low.head < window->low.tail && window->low.rows[window->low.head] == row;
    window->high.head += window->high.head < window->high.tail && window->high.rows[window->high.head] == row;
}

/* Moves the window to [from, to], none of which is before what it was, and says what the curve is there. */
static enum tutti_err move(struct window *window, double from, double to, struct range *range)
{
    const struct tutti_curve *curve = window->curve;
    const double *times = curve->times;
    from = fmin(fmax(from, times[0]), times[curve->rows - 1]);
    to = fmin(fmax(to, times[0]), times[curve->rows - 1]);
    for (; window->behind < curve->rows && times[window->behind] <= to; window->behind++)
        TRY(enter(window, window->behind));
    for (; window->first < window->behind && times[window->first] < from; window->first++)
        leave(window, window->first);
    *range = nothing;
    range->nan = window->nans > 0;
    if (window->low.head < window->low.tail) {
        include(range, curve->values[window->low.rows[window->low.head]]);
        include(range, curve->values[window->high.rows[window->high.head]]);
    }
    if (window->first > 0 && (curve->held || times[window->first] > from))
        include(range, on_piece(curve, window->first - 1, from));
    if (window->behind < curve->rows && times[window->behind - 1] < to)
        include(range, on_piece(curve, window->behind - 1, to));
    return TUTTI_OK;
}

/* --- checks */

struct check {
    const struct tutti_tolerance *tolerance;
    struct tutti_distance *worst;
    bool of_result; /* values of the result are looked at, else those of the reference */
};

/* The value, at t, against what the other curve is there. */
static void look(const struct check *check, double t, double value, const struct range *range)
{
    double other = value;
    if (isnan(value) ? !range->nan : range->low > range->high)
        other = isnan(value) ? range->low : NAN;
    else if (value > range->high)
        other = range->high;
    else if (value < range->low)
        other = range->low;
    double reference = check->of_result ? other : value;
    struct tutti_distance found = {.time = t, .reference = reference, .result = check->of_result ? value : other};
    bool same = value == other || (isnan(value) && isnan(other));
    found.error = same ? 0 : fabs(value - other);
    found.allowed = check->tolerance->allowed;
    found.share = same ? 0 : isfinite(found.error) && found.allowed > 0 ? found.error / found.allowed : INFINITY;
    if (found.share > check->worst->share)
        *check->worst = found;
}

/* Rows of `curve` from begin to end. Where the range begins and ends, one curve may have both sides of an event and the other
 * only the one that is inside. */
static void find_rows(const struct tutti_curve *curve, const struct tutti_curve *other, double begin, double end,
                      size_t *first, size_t *behind)
{
    size_t n = curve->rows, m = other->rows;
    *first = tutti_curve_from(curve->times, n, begin);
    *behind = tutti_curve_behind(curve->times, n, end);
    if (!(begin < end))
        return;
    size_t after_begin = tutti_curve_behind(curve->times, n, begin), from_end = tutti_curve_from(curve->times, n, end);
    size_t others_at_begin = tutti_curve_behind(other->times, m, begin) - tutti_curve_from(other->times, m, begin);
    size_t others_at_end = tutti_curve_behind(other->times, m, end) - tutti_curve_from(other->times, m, end);
    if (after_begin > *first && others_at_begin == 1)
        *first = after_begin - 1;
    if (from_end < *behind && others_at_end == 1)
        *behind = from_end + 1;
}

/* 1. of curve.h: rows of one curve are on the other. */
static enum tutti_err look_at_rows(const struct check *check, const struct tutti_curve *curve, struct window *window,
                                   double begin, double end)
{
    double tau = check->tolerance->time;
    size_t first, behind;
    find_rows(curve, window->curve, begin, end, &first, &behind);
    for (size_t i = first; i < behind; i++) {
        double t = curve->times[i];
        struct range range;
        TRY(move(window, t - tau, t + tau, &range));
        look(check, t, curve->values[i], &range);
        if (curve->held && i > 0 && t > begin)
            look(check, t, curve->values[i - 1], &range);
    }
    return TUTTI_OK;
}

static enum tutti_err is_on(const struct tutti_curve *curve, const struct tutti_curve *other, double begin, double end,
                            const struct check *check)
{
    struct window window = {.curve = other};
    enum tutti_err err = look_at_rows(check, curve, &window, begin, end);
    free(window.low.rows);
    free(window.high.rows);
    return err;
}

/* 2. of curve.h: both are straight from g to h, row i of the result and row j of the reference are the last up to g. */
static void look_inside(const struct check *check, const struct tutti_curve *result, size_t i,
                        const struct tutti_curve *reference, size_t j, double g, double h)
{
    double tau = check->tolerance->time;
    if (!(h - g > 2 * tau))
        return;
    const double places[] = {g + tau, h - tau};
    for (size_t k = 0; k < 2; k++) {
        struct range range = nothing;
        include(&range, on_piece(reference, j, fmax(places[k] - tau, g)));
        include(&range, on_piece(reference, j, fmin(places[k] + tau, h)));
        look(check, places[k], on_piece(result, i, places[k]), &range);
    }
}

static double time_of(const struct tutti_curve *curve, size_t row)
{
    return row < curve->rows ? curve->times[row] : INFINITY;
}

static void look_between(const struct check *check, const struct tutti_curve *result,
                         const struct tutti_curve *reference, double begin, double end)
{
    /* The rows after g. */
    size_t i = tutti_curve_behind(result->times, result->rows, begin);
    size_t j = tutti_curve_behind(reference->times, reference->rows, begin);
    double g = begin;
    while (g < end) {
        double h = fmin(fmin(time_of(result, i), time_of(reference, j)), end);
        if (i > 0 && j > 0)
            look_inside(check, result, i - 1, reference, j - 1, g, h);
        while (time_of(result, i) <= h)
            i++;
        while (time_of(reference, j) <= h)
            j++;
        g = h;
    }
}

/* No row and no piece is in the range: there is one point. */
static void look_at_point(const struct check *check, const struct tutti_curve *result,
                          const struct tutti_curve *reference, double t)
{
    size_t i = tutti_curve_behind(result->times, result->rows, t);
    size_t j = tutti_curve_behind(reference->times, reference->rows, t);
    struct range range = nothing;
    include(&range, on_piece(reference, j > 0 ? j - 1 : 0, t));
    look(check, t, on_piece(result, i > 0 ? i - 1 : 0, t), &range);
}

enum tutti_err tutti_curve_compare(struct tutti_distance *worst, const struct tutti_curve *result,
                                   const struct tutti_curve *reference, double begin, double end,
                                   const struct tutti_tolerance *tolerance)
{
    struct check check = {.tolerance = tolerance, .worst = worst, .of_result = true};
    *worst = (struct tutti_distance){.share = -1};
    TRY(is_on(result, reference, begin, end, &check));
    check.of_result = false;
    TRY(is_on(reference, result, begin, end, &check));
    check.of_result = true;
    look_between(&check, result, reference, begin, end);
    if (worst->share < 0)
        look_at_point(&check, result, reference, begin);
    return TUTTI_OK;
}
