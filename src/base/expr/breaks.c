/* SPDX-License-Identifier: MIT */
/* An expression is smooth where its comparisons, floors and so on decide in one way. Bounds over an interval show that they do
 * (enclosure.h), so that no break is lost however short a pulse is; an interval in which they may not is halved until it is
 * a point. */
#include "base/expr/breaks.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/expr/enclosure.h"

struct tt_break {
    double t;
    bool jump; /* of the value */
};

enum {
    MOST_KNOWN = 4096,  /* breaks that are kept for going back */
    MOST_TESTS = 20000, /* intervals in one search, before it goes by samples */
    SAMPLES = 10000,
};

void tt_breaks_init(struct tt_breaks *breaks, const struct tt_expression *expression, double start, double stop)
{
    *breaks = (struct tt_breaks){.expression = expression, .start = start, .stop = stop};
}

void tt_breaks_fini(struct tt_breaks *breaks)
{
    tt_vector_fini(&breaks->known);
}

static uint64_t signature_at(const struct tt_expression *expression, double t)
{
    uint64_t signature;
    (void)tt_breaks_decide_interval(expression, t, t, &signature);
    return signature;
}

/* Times that are nearer to each other are one. */
static double breaks_resolution(const struct tt_breaks *breaks)
{
    return 1e-17 * (breaks->stop - breaks->start);
}

/* Between `low` and `high` the decisions change: the last time that has those of `low`, or the next one, which is the first that has others.
 * The value is the same from each side whichever it is; the one that a person would write is the shorter one. */
static double breaks_locate(const struct tt_breaks *breaks, double low, double high)
{
    const struct tt_expression *expression = breaks->expression;
    uint64_t before = signature_at(expression, low);
    while (high - low > breaks_resolution(breaks)) {
        double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high)
            break;
        if (signature_at(expression, middle) == before)
            low = middle;
        else
            high = middle;
    }
    return strlen(NUMBER(low)) <= strlen(NUMBER(high)) ? low : high;
}

/* The first break in (from, until]; INFINITY: there is none. */
static double breaks_search(const struct tt_breaks *breaks, double from, double until)
{
    const struct tt_expression *expression = breaks->expression;
    double at = from, width = until - from, least = 1e-12 * width;
    uint64_t signature;
    for (int tests = 0; at < until; tests++) {
        double end = fmin(at + width, until);
        bool by_samples = tests > MOST_TESTS;
        if (by_samples)
            end = fmin(at + (until - from) / SAMPLES, until);
        if (end <= at)
            end = nextafter(at, INFINITY);
        if (!by_samples && tt_breaks_decide_interval(expression, at, end, &signature)) {
            at = end;
            width *= 2;
        } else if (!by_samples && width > least && nextafter(at, INFINITY) < end) {
            width /= 2;
        } else if (signature_at(expression, at) != signature_at(expression, end)) {
            return breaks_locate(breaks, at, end);
        } else {
            at = end;
        }
    }
    return INFINITY;
}

/* The time beside t, far enough for decisions that are computed with rounding. */
static double breaks_shift_time(const struct tt_breaks *breaks, double t, bool after)
{
    double way = after ? INFINITY : -INFINITY, least = t + copysign(4 * breaks_resolution(breaks), way);
    double beside = nextafter(nextafter(t, way), way);
    return after ? fmax(least, beside) : fmin(least, beside);
}

static bool jumps_at(const struct tt_breaks *breaks, double t)
{
    const struct tt_expression *expression = breaks->expression;
    double times[] = {breaks_shift_time(breaks, t, false), breaks_shift_time(breaks, t, true)}, one = 1, falling,
           rising;
    double before = tt_expression_slope(expression, &times[0], &one, &falling);
    double after = tt_expression_slope(expression, &times[1], &one, &rising);
    double moved = 4 * (fabs(falling) + fabs(rising)) * (times[1] - times[0]);
    return !(fabs(after - before) <= moved + 1e-12 * (fabs(before) + fabs(after)));
}

/* Adds the next break that is not known yet; *t: where it is, INFINITY if there is none. False when memory is out. */
static bool breaks_find_next(struct tt_breaks *breaks, double limit, double *t)
{
    *t = breaks->until < limit ? breaks_search(breaks, breaks->until, limit) : INFINITY;
    if (*t == INFINITY) {
        breaks->until = fmax(breaks->until, limit);
        return true;
    }
    struct tt_break *known = breaks->known.items;
    if (breaks->known.count == MOST_KNOWN) { /* the older half is given up */
        breaks->known.count /= 2;
        breaks->from = known[breaks->known.count - 1].t;
        memmove(known, known + breaks->known.count, breaks->known.count * sizeof *known);
        breaks->next = 0;
    }
    struct tt_break *added = tt_vector_push(&breaks->known, sizeof *added);
    if (!added)
        return false;
    *added = (struct tt_break){*t, jumps_at(breaks, *t)};
    breaks->until = breaks_shift_time(breaks, *t, true);
    return true;
}

double tt_breaks_next(struct tt_breaks *breaks, double t, bool jumps)
{
    if (tt_expression_is_smooth(breaks->expression) || !isfinite(t))
        return INFINITY;
    if (!breaks->any || t < breaks->from) {
        breaks->any = true;
        breaks->from = breaks->until = t;
        breaks->known.count = breaks->next = 0;
    }
    double limit = t < breaks->stop ? breaks->stop : t + (breaks->stop - breaks->start), found = 0;
    for (;;) {
        const struct tt_break *known = breaks->known.items;
        while (breaks->next > 0 && known[breaks->next - 1].t > t)
            breaks->next--;
        while (breaks->next < breaks->known.count && known[breaks->next].t <= t)
            breaks->next++;
        for (size_t i = breaks->next; i < breaks->known.count; i++)
            if (known[i].jump || !jumps)
                return known[i].t;
        if (found == INFINITY || !breaks_find_next(breaks, limit, &found))
            return INFINITY;
    }
}

double tt_breaks_offset_time(struct tt_breaks *breaks, double t, bool after)
{
    bool at = tt_breaks_next(breaks, breaks_shift_time(breaks, t, false), false) <= t;
    return at ? breaks_shift_time(breaks, t, after) : t;
}
