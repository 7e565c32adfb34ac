/* SPDX-License-Identifier: MIT */
/* Minimum and maximum over a window that moves on are kept as in D. Lemire, "Streaming maximum-minimum filter using no more than
 * three comparisons per element" (2006): of the rows in the window only those are remembered that no later row beats. */
#include "results/curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/binary_search.h"
#include "base/vector.h"

size_t tt_compare_first_row_from(const double *times, size_t rows, double t)
{
    size_t row;
    TUTTI_SEARCH(row, rows, times[row] < t);
    return row;
}

size_t tt_compare_first_row_after(const double *times, size_t rows, double t)
{
    return tt_compare_first_row_from(times, rows, nextafter(t, INFINITY));
}

/* --- values */

/* The curve from row `i` to the next one, at t: a line, infinite if one of its ends is; after the last row, and if the
 * curve is held, the row's value. */
static double curve_value_at(const struct tt_curve *curve, size_t i, double t)
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

struct value_range {
    double low, high; /* low > high: there is no number */
    bool nan;
};

static const struct value_range nothing = {INFINITY, -INFINITY, false};

static void extend_range(struct value_range *range, double value)
{
    range->nan |= isnan(value);
    range->low = fmin(range->low, value);
    range->high = fmax(range->high, value);
}

/* --- a window that moves along a curve */

/* Rows of the window in order of time; each has a better value than all later ones. */
struct window_extremum {
    size_t *rows;
    size_t head, tail, room;
};

struct value_window {
    const struct tt_curve *curve;
    size_t first, behind; /* rows of the curve that are in it */
    size_t nans;          /* among them */
    struct window_extremum low, high;
};

static enum tutti_err window_push(struct window_extremum *best, size_t row)
{
    if (best->tail == best->room && best->head > best->room / 2) {
        memmove(best->rows, best->rows + best->head, (best->tail - best->head) * sizeof *best->rows);
        best->tail -= best->head;
        best->head = 0;
    } else if (!tt_vector_reserve(&best->rows, &best->room, best->tail + 1, sizeof *best->rows)) {
        return tt_fail_memory();
    }
    best->rows[best->tail++] = row;
    return TUTTI_OK;
}

static enum tutti_err window_enter(struct value_window *window, size_t row)
{
    const double *values = window->curve->values;
    if (isnan(values[row])) {
        window->nans++;
        return TUTTI_OK;
    }
    struct window_extremum *low = &window->low, *high = &window->high;
    while (low->tail > low->head && values[low->rows[low->tail - 1]] >= values[row])
        low->tail--;
    while (high->tail > high->head && values[high->rows[high->tail - 1]] <= values[row])
        high->tail--;
    TRY(window_push(low, row));
    return window_push(high, row);
}

static void window_leave(struct value_window *window, size_t row)
{
    window->nans -= isnan(window->curve->values[row]) ? 1 : 0;
    window->low.head += window->low.head < window->low.tail && window->low.rows[window->low.head] == row;
    window->high.head += window->high.head < window->high.tail && window->high.rows[window->high.head] == row;
}

/* Moves the window to [from, to], none of which is before what it was, and says what the curve is there. */
static enum tutti_err window_move(struct value_window *window, double from, double to, struct value_range *range)
{
    const struct tt_curve *curve = window->curve;
    const double *times = curve->times;
    from = fmin(fmax(from, times[0]), times[curve->rows - 1]);
    to = fmin(fmax(to, times[0]), times[curve->rows - 1]);
    for (; window->behind < curve->rows && times[window->behind] <= to; window->behind++)
        TRY(window_enter(window, window->behind));
    for (; window->first < window->behind && times[window->first] < from; window->first++)
        window_leave(window, window->first);
    *range = nothing;
    range->nan = window->nans > 0;
    if (window->low.head < window->low.tail) {
        extend_range(range, curve->values[window->low.rows[window->low.head]]);
        extend_range(range, curve->values[window->high.rows[window->high.head]]);
    }
    if (window->first > 0 && (curve->held || times[window->first] > from))
        extend_range(range, curve_value_at(curve, window->first - 1, from));
    if (window->behind < curve->rows && times[window->behind - 1] < to)
        extend_range(range, curve_value_at(curve, window->behind - 1, to));
    return TUTTI_OK;
}

/* --- checks */

struct curve_check {
    const struct tt_tolerance *tolerance;
    struct tt_distance *worst;
    bool of_result; /* values of the result are looked at, else those of the reference */
};

/* The value, at t, against what the other curve is there. */
static void compare_check_value(const struct curve_check *check, double t, double value,
                                const struct value_range *range)
{
    double other = value;
    if (isnan(value) ? !range->nan : range->low > range->high)
        other = isnan(value) ? range->low : NAN;
    else if (value > range->high)
        other = range->high;
    else if (value < range->low)
        other = range->low;
    double reference = check->of_result ? other : value;
    struct tt_distance found = {.time = t, .reference = reference, .result = check->of_result ? value : other};
    bool same = value == other || (isnan(value) && isnan(other));
    found.error = same ? 0 : fabs(value - other);
    found.allowed = check->tolerance->allowed;
    found.share = same ? 0 : isfinite(found.error) && found.allowed > 0 ? found.error / found.allowed : INFINITY;
    if (found.share > check->worst->share)
        *check->worst = found;
}

/* Rows of `curve` from begin to end. Where the range begins and ends, one curve may have both sides of an event and the other
 * only the one that is inside. */
static void compare_find_rows(const struct tt_curve *curve, const struct tt_curve *other, double begin, double end,
                              size_t *first, size_t *behind)
{
    size_t n = curve->rows, m = other->rows;
    *first = tt_compare_first_row_from(curve->times, n, begin);
    *behind = tt_compare_first_row_after(curve->times, n, end);
    if (!(begin < end))
        return;
    size_t after_begin = tt_compare_first_row_after(curve->times, n, begin),
           from_end = tt_compare_first_row_from(curve->times, n, end);
    size_t others_at_begin = tt_compare_first_row_after(other->times, m, begin) -
                             tt_compare_first_row_from(other->times, m, begin);
    size_t others_at_end = tt_compare_first_row_after(other->times, m, end) -
                           tt_compare_first_row_from(other->times, m, end);
    if (after_begin > *first && others_at_begin == 1)
        *first = after_begin - 1;
    if (from_end < *behind && others_at_end == 1)
        *behind = from_end + 1;
}

/* 1. of curve.h: rows of one curve are on the other. */
static enum tutti_err compare_check_rows(const struct curve_check *check, const struct tt_curve *curve,
                                         struct value_window *window, double begin, double end)
{
    double tau = check->tolerance->time;
    size_t first, behind;
    compare_find_rows(curve, window->curve, begin, end, &first, &behind);
    for (size_t i = first; i < behind; i++) {
        double t = curve->times[i];
        struct value_range range;
        TRY(window_move(window, t - tau, t + tau, &range));
        compare_check_value(check, t, curve->values[i], &range);
        if (curve->held && i > 0 && t > begin)
            compare_check_value(check, t, curve->values[i - 1], &range);
    }
    return TUTTI_OK;
}

static enum tutti_err compare_is_on(const struct tt_curve *curve, const struct tt_curve *other, double begin,
                                    double end, const struct curve_check *check)
{
    struct value_window window = {.curve = other};
    enum tutti_err err = compare_check_rows(check, curve, &window, begin, end);
    free(window.low.rows);
    free(window.high.rows);
    return err;
}

/* 2. of curve.h: both are straight from g to h, row i of the result and row j of the reference are the last up to g. */
static void compare_check_segments(const struct curve_check *check, const struct tt_curve *result, size_t i,
                                   const struct tt_curve *reference, size_t j, double g, double h)
{
    double tau = check->tolerance->time;
    if (!(h - g > 2 * tau))
        return;
    const double places[] = {g + tau, h - tau};
    for (size_t k = 0; k < 2; k++) {
        struct value_range range = nothing;
        extend_range(&range, curve_value_at(reference, j, fmax(places[k] - tau, g)));
        extend_range(&range, curve_value_at(reference, j, fmin(places[k] + tau, h)));
        compare_check_value(check, places[k], curve_value_at(result, i, places[k]), &range);
    }
}

static double compare_time_of(const struct tt_curve *curve, size_t row)
{
    return row < curve->rows ? curve->times[row] : INFINITY;
}

static void compare_check_between(const struct curve_check *check, const struct tt_curve *result,
                                  const struct tt_curve *reference, double begin, double end)
{
    /* The rows after g. */
    size_t i = tt_compare_first_row_after(result->times, result->rows, begin);
    size_t j = tt_compare_first_row_after(reference->times, reference->rows, begin);
    double g = begin;
    while (g < end) {
        double h = fmin(fmin(compare_time_of(result, i), compare_time_of(reference, j)), end);
        if (i > 0 && j > 0)
            compare_check_segments(check, result, i - 1, reference, j - 1, g, h);
        while (compare_time_of(result, i) <= h)
            i++;
        while (compare_time_of(reference, j) <= h)
            j++;
        g = h;
    }
}

/* No row and no piece is in the range: there is one point. */
static void compare_check_point(const struct curve_check *check, const struct tt_curve *result,
                                const struct tt_curve *reference, double t)
{
    size_t i = tt_compare_first_row_after(result->times, result->rows, t);
    size_t j = tt_compare_first_row_after(reference->times, reference->rows, t);
    struct value_range range = nothing;
    extend_range(&range, curve_value_at(reference, j > 0 ? j - 1 : 0, t));
    compare_check_value(check, t, curve_value_at(result, i > 0 ? i - 1 : 0, t), &range);
}

enum tutti_err tt_compare_curves(struct tt_distance *worst, const struct tt_curve *result,
                                 const struct tt_curve *reference, double begin, double end,
                                 const struct tt_tolerance *tolerance)
{
    struct curve_check check = {.tolerance = tolerance, .worst = worst, .of_result = true};
    *worst = (struct tt_distance){.share = -1};
    TRY(compare_is_on(result, reference, begin, end, &check));
    check.of_result = false;
    TRY(compare_is_on(reference, result, begin, end, &check));
    check.of_result = true;
    compare_check_between(&check, result, reference, begin, end);
    if (worst->share < 0)
        compare_check_point(&check, result, reference, begin);
    return TUTTI_OK;
}
