/* SPDX-License-Identifier: MIT */
/* An expression is smooth where its comparisons, floors and so on decide in one way. Bounds over an interval show that they do
 * (breaks.h), so that no break is lost however short a pulse is; an interval in which they may not is halved until it is
 * a point. */
#include "base/expr/breaks.h"

#include <math.h>
#include <string.h>

#include "base/expr/bytecode.h"
#include "base/number.h"

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

/* Returns the first break in (from, until]; INFINITY if there is none. */
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

/* Adds the next unknown break and sets *t to its time, INFINITY if there is none. False when memory is out. */
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

/* Interval arithmetic (Moore, Kearfott, Cloud, Introduction to Interval Analysis, 2009, chapters 2 and 5). Bounds are not rounded outwards: what
 * lies within rounding of a decision is classified by evaluating at single points (breaks.c). */

static const double PI = 3.14159265358979323846;

struct interval {
    double low, high;
};

static struct interval interval_unbounded(void)
{
    return (struct interval){-INFINITY, INFINITY};
}

/* Of an operation that is monotone in each operand: its extremes are those of the corners. */
static struct interval interval_at_corners(enum tt_op op, struct interval x, struct interval y)
{
    const double values[] = {tt_bytecode_operate(op, x.low, y.low), tt_bytecode_operate(op, x.low, y.high),
                             tt_bytecode_operate(op, x.high, y.low), tt_bytecode_operate(op, x.high, y.high)};
    struct interval hull = {INFINITY, -INFINITY}; /* the least interval with these values */
    for (int i = 0; i < 4; i++) {
        if (isnan(values[i]))
            return interval_unbounded();
        hull.low = fmin(hull.low, values[i]);
        hull.high = fmax(hull.high, values[i]);
    }
    return hull;
}

static bool interval_has_zero(struct interval x)
{
    return !(x.low > 0 || x.high < 0);
}

/* sin(x) for `shift` 0, cos(x) for pi / 2: the ends, and 1 and -1 where x has a peak or a dip between them. */
static struct interval interval_sine(enum tt_op op, struct interval x, double shift)
{
    struct interval v = interval_at_corners(op, x, x);
    double peak = PI / 2 - shift, dip = -PI / 2 - shift;
    if (floor((x.high - peak) / (2 * PI)) != floor((x.low - peak) / (2 * PI)))
        v.high = 1;
    if (floor((x.high - dip) / (2 * PI)) != floor((x.low - dip) / (2 * PI)))
        v.low = -1;
    return isfinite(x.low) && isfinite(x.high) ? v : (struct interval){-1, 1};
}

static struct interval interval_power(struct interval x, struct interval y)
{
    struct interval v = interval_at_corners(TUTTI_OP_POW, x, y);
    if (x.low > 0 || (x.low == 0 && y.low > 0))
        return v;
    if (y.low != y.high || y.low != floor(y.low) || (y.low < 0 && interval_has_zero(x)))
        return interval_unbounded();
    if (interval_has_zero(x)) /* even powers have their least value there */
        v.low = fmin(v.low, tt_bytecode_operate(TUTTI_OP_POW, 0, y.low));
    return v;
}

/* A smooth operation. */
static struct interval interval_operate(enum tt_op op, struct interval x, struct interval y)
{
    bool point = x.low == x.high && (!tt_bytecode_takes_two(op) || y.low == y.high);
    struct interval v;
    if (point)
        return interval_at_corners(op, x, y);
    switch (op) {
    case TUTTI_OP_DIVIDE: return interval_has_zero(y) ? interval_unbounded() : interval_at_corners(op, x, y);
    case TUTTI_OP_SIN: return interval_sine(op, x, 0);
    case TUTTI_OP_COS: return interval_sine(op, x, PI / 2);
    case TUTTI_OP_TAN:
        return floor(x.low / PI + 0.5) == floor(x.high / PI + 0.5) ? interval_at_corners(op, x, y)
                                                                   : interval_unbounded();
    case TUTTI_OP_COSH:
        v = interval_at_corners(op, x, y);
        v.low = interval_has_zero(x) ? 1 : v.low;
        return v;
    case TUTTI_OP_POW: return interval_power(x, y);
    default: return interval_at_corners(op, x, y);
    }
}

/* The decisions found so far as one number, and whether all are made. */
struct decisions {
    uint64_t signature;
    bool made;
};

/* FNV-1a (Fowler, Noll, Vo) over where a decision is, and how it is made. */
static void breaks_add_decision(struct decisions *decisions, size_t place, int64_t way)
{
    const uint64_t prime = 1099511628211U;
    decisions->signature = (decisions->signature ^ place) * prime;
    decisions->signature = (decisions->signature ^ (uint64_t)way) * prime;
}

/* The side of zero on which x is, as a decision. */
static void breaks_add_side(struct decisions *decisions, size_t place, struct interval x)
{
    decisions->made = decisions->made && (x.low == x.high || !interval_has_zero(x));
    breaks_add_decision(decisions, place, (x.low > 0) - (x.low < 0));
}

static void breaks_add_whole(struct decisions *decisions, size_t place, double low, double high)
{
    decisions->made = decisions->made && (low == high || (isnan(low) && isnan(high)));
    breaks_add_decision(decisions, place, fabs(low) < 9e18 ? (int64_t)low : 0);
}

/* An operation that decides. */
static struct interval breaks_operate_deciding(enum tt_op op, size_t place, struct interval x, struct interval y,
                                               struct decisions *decisions)
{
    struct interval v = interval_at_corners(op, x, y);
    switch (op) {
    case TUTTI_OP_LESS:
    case TUTTI_OP_AT_MOST:
    case TUTTI_OP_MORE:
    case TUTTI_OP_AT_LEAST:
    case TUTTI_OP_FLOOR:
    case TUTTI_OP_CEIL:
    case TUTTI_OP_ROUND: breaks_add_whole(decisions, place, v.low, v.high); return v;
    case TUTTI_OP_MOD:
        v = y.low == y.high && y.low != 0 ? interval_at_corners(TUTTI_OP_DIVIDE, x, y) : interval_unbounded();
        breaks_add_whole(decisions, place, floor(v.low), floor(v.high));
        return decisions->made ? interval_at_corners(op, x, y) : interval_unbounded();
    case TUTTI_OP_ATAN2:
        if (!(y.low > 0))
            breaks_add_side(decisions, place, x);
        return v;
    case TUTTI_OP_MIN:
    case TUTTI_OP_MAX:
    case TUTTI_OP_EQUAL:
    case TUTTI_OP_DIFFERENT:
        breaks_add_side(decisions, place, (struct interval){x.low - y.high, x.high - y.low});
        return op == TUTTI_OP_EQUAL || op == TUTTI_OP_DIFFERENT ? interval_at_corners(op, x, y) : v;
    default: /* abs, sign, not, truth */ breaks_add_side(decisions, place, x); return v;
    }
}

static bool is_deciding_operation(enum tt_op op)
{
    switch (op) {
    case TUTTI_OP_NOT:
    case TUTTI_OP_TRUTH:
    case TUTTI_OP_LESS:
    case TUTTI_OP_AT_MOST:
    case TUTTI_OP_MORE:
    case TUTTI_OP_AT_LEAST:
    case TUTTI_OP_EQUAL:
    case TUTTI_OP_DIFFERENT:
    case TUTTI_OP_ABS:
    case TUTTI_OP_SIGN:
    case TUTTI_OP_FLOOR:
    case TUTTI_OP_CEIL:
    case TUTTI_OP_ROUND:
    case TUTTI_OP_ATAN2:
    case TUTTI_OP_MOD:
    case TUTTI_OP_MIN:
    case TUTTI_OP_MAX: return true;
    default: return false;
    }
}

bool tt_breaks_decide_interval(const struct tt_expression *expression, double low, double high, uint64_t *signature)
{
    struct interval stack[TUTTI_EXPRESSION_MAX_DEPTH];
    struct decisions decisions = {.signature = 14695981039346656037U, .made = true};
    const struct tt_instruction *code = expression->code.items;
    size_t height = 0;
    for (size_t i = 0; i < expression->code.count && decisions.made; i++) {
        const struct tt_instruction *at = &code[i];
        struct interval x, y = {0, 0};
        switch (at->op) {
        case TUTTI_OP_GO: i = at->u.index - 1; continue;
        case TUTTI_OP_UNLESS:
            x = stack[--height];
            breaks_add_side(&decisions, i, x);
            i = x.low == 0 && x.high == 0 ? at->u.index - 1 : i;
            continue;
        case TUTTI_OP_NUMBER: stack[height++] = (struct interval){at->u.number, at->u.number}; continue;
        case TUTTI_OP_NAME: stack[height++] = (struct interval){low, high}; continue;
        default: break;
        }
        if (tt_bytecode_takes_two(at->op))
            y = stack[--height];
        x = stack[--height];
        stack[height++] = is_deciding_operation(at->op) ? breaks_operate_deciding(at->op, i, x, y, &decisions)
                                                        : interval_operate(at->op, x, y);
    }
    *signature = decisions.signature;
    return decisions.made;
}
