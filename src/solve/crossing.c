/* SPDX-License-Identifier: MIT */
#include "solve/crossing.h"

#include <float.h>
#include <stdlib.h>

enum { MOST_BISECTIONS = 200, LOOKS = 4, MOST_PIECES = 64 };

enum tutti_err tt_crossing_init(struct tt_crossing *crossing, size_t count)
{
    crossing->count = count;
    crossing->here = calloc(count + 1, sizeof *crossing->here);
    crossing->left = calloc(count + 1, sizeof *crossing->left);
    crossing->right = calloc(count + 1, sizeof *crossing->right);
    return crossing->here && crossing->left && crossing->right ? TUTTI_OK : tt_fail_memory();
}

void tt_crossing_fini(struct tt_crossing *crossing)
{
    free(crossing->here);
    free(crossing->left);
    free(crossing->right);
}

bool tt_crossing_any(struct tt_crossing *crossing, const double *excess)
{
    bool any = false;
    for (size_t i = 0; i < crossing->count; i++)
        if (excess[i] > 0) {
            crossing->found = i;
            any = true;
        }
    return any;
}

static enum tutti_err crossing_read_at(struct tt_crossing *crossing, double t, double *excess)
{
    size_t bad;
    TRY(crossing->read(crossing->context, t, excess, &bad));
    return bad < crossing->count ? crossing->no_value(crossing->context, t, bad) : TUTTI_OK;
}

/* Two times that nothing lies between, but for the rounding of the dense output. */
static bool crossing_are_adjacent(double left, double right)
{
    return right - left <= 4 * DBL_EPSILON * fmax(fabs(left), fabs(right)) || right - left <= DBL_MIN;
}

/* Evaluates the end of the step. If f has no value there, finds an earlier point at which a function has left its
 * domain, because an event may prevent the solution from reaching the undefined region. */
static enum tutti_err crossing_read_right(struct tt_crossing *crossing, double left, double *right)
{
    size_t bad, at_end;
    double good = left, lost = *right;
    TRY(crossing->read(crossing->context, lost, crossing->right, &at_end));
    if (at_end == crossing->count)
        return TUTTI_OK;
    for (int round = 0; round < MOST_BISECTIONS && !crossing_are_adjacent(good, lost); round++) {
        double middle = good + (lost - good) / 2;
        TRY(crossing->read(crossing->context, middle, crossing->right, &bad));
        if (bad == crossing->count && tt_crossing_any(crossing, crossing->right)) {
            *right = middle;
            return TUTTI_OK;
        }
        *(bad == crossing->count ? &good : &lost) = middle;
    }
    TRY(crossing->read(crossing->context, *right, crossing->right, &bad)); /* for the problem's own words */
    return crossing->no_value(crossing->context, *right, at_end);
}

/* Estimates where the first function crosses zero by linear interpolation between both ends, with the weights of the
 * Illinois method, which keep either end from stagnating. */
static double crossing_estimate(const struct tt_crossing *crossing, double left, double right, double left_weight,
                                double right_weight)
{
    double first = right;
    for (size_t i = 0; i < crossing->count; i++) {
        double a = crossing->left[i] * left_weight, b = crossing->right[i] * right_weight;
        if (b > 0 && a <= 0 && b > a)
            first = fmin(first, left + (right - left) * (-a / (b - a)));
    }
    return first;
}

/* Narrows (left, right]: at the right end at least one function has left its domain, at the left end none has. */
static enum tutti_err crossing_locate(struct tt_crossing *crossing, double left, double right, double *at)
{
    double left_weight = 1, right_weight = 1, *swap;
    for (int round = 0; round < MOST_BISECTIONS && !crossing_are_adjacent(left, right); round++) {
        double middle = left + (right - left) / 2, t = middle;
        if (round % 4 != 3) /* so that the bracket shrinks whatever the functions do */
            t = crossing_estimate(crossing, left, right, left_weight, right_weight);
        double margin = fmax(2 * DBL_EPSILON * fmax(fabs(left), fabs(right)), 1e-4 * (right - left) * (round < 3));
        t = fmin(fmax(t, left + margin), right - margin);
        if (!(t > left && t < right))
            t = middle;
        if (!(t > left && t < right))
            break;
        TRY(crossing_read_at(crossing, t, crossing->here));
        if (tt_crossing_any(crossing, crossing->here)) {
            right = t;
            swap = crossing->right, crossing->right = crossing->here, crossing->here = swap;
            right_weight = 1;
            left_weight /= 2;
        } else {
            left = t;
            swap = crossing->left, crossing->left = crossing->here, crossing->here = swap;
            left_weight = 1;
            right_weight /= 2;
        }
    }
    *at = right;
    (void)tt_crossing_any(crossing, crossing->right);
    return TUTTI_OK;
}

/* One that an event left near the border may go and come back within the first step after it, as that of a ball does which
 * bounces off the floor in ever shorter hops. */
static enum tutti_err crossing_search_start(struct tt_crossing *crossing, double left, double *right)
{
    double t = *right;
    for (int look = 0; look < LOOKS && !tt_crossing_any(crossing, crossing->right); look++) {
        t = left + (t - left) / 8;
        if (t - left < crossing->shortest)
            break;
        TRY(crossing_read_at(crossing, t, crossing->right));
        *right = t;
    }
    return TUTTI_OK;
}

/* One may go and come back in the middle of a long step, too. */
static enum tutti_err crossing_search_inside(struct tt_crossing *crossing, double left, double *right)
{
    double pieces = crossing->longest > 0 ? fmin(ceil((*right - left) / crossing->longest), MOST_PIECES) : 1,
           end = *right;
    size_t bad;
    for (int k = 1; k < pieces; k++) {
        double t = left + (end - left) * (k / pieces);
        TRY(crossing->read(crossing->context, t, crossing->here, &bad));
        if (bad < crossing->count || !tt_crossing_any(crossing, crossing->here))
            continue;
        double *swap = crossing->right;
        crossing->right = crossing->here, crossing->here = swap;
        *right = t;
        return TUTTI_OK;
    }
    return TUTTI_OK;
}

enum tutti_err tt_crossing_search(struct tt_crossing *crossing, double left, double right, bool near_zero, double *at)
{
    *at = INFINITY;
    if (crossing->count == 0)
        return TUTTI_OK;
    TRY(crossing_read_right(crossing, left, &right));
    TRY(crossing_search_inside(crossing, left, &right));
    if (near_zero)
        TRY(crossing_search_start(crossing, left, &right));
    if (!tt_crossing_any(crossing, crossing->right))
        return TUTTI_OK;
    TRY(crossing_read_at(crossing, left, crossing->left));
    if (tt_crossing_any(crossing, crossing->left)) { /* as at an event that changed nothing for it */
        *at = left;
        return TUTTI_OK;
    }
    return crossing_locate(crossing, left, right, at);
}
