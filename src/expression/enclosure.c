/* SPDX-License-Identifier: MIT */
/* Interval arithmetic (Moore, Kearfott, Cloud, Introduction to Interval Analysis, 2009, chapters 2 and 5). Bounds are not rounded outwards: what
 * lies within rounding of a decision is classified by evaluating at single points (breaks.c). */
#include "expression/enclosure.h"

#include "expression/operation.h"

static const double PI = 3.14159265358979323846;

struct interval {
    double low, high;
};

static struct interval whole(void)
{
    return (struct interval){-INFINITY, INFINITY};
}

/* The least interval with these values. */
static struct interval hull(const double *values, int count)
{
    struct interval v = {INFINITY, -INFINITY};
    for (int i = 0; i < count; i++) {
        if (isnan(values[i]))
            return whole();
        v.low = fmin(v.low, values[i]);
        v.high = fmax(v.high, values[i]);
    }
    return v;
}

/* Of an operation that is monotone in each operand: its extremes are those of the corners. */
static struct interval at_corners(enum tutti_op op, struct interval x, struct interval y)
{
    const double values[] = {tutti_operate(op, x.low, y.low), tutti_operate(op, x.low, y.high),
                             tutti_operate(op, x.high, y.low), tutti_operate(op, x.high, y.high)};
    return hull(values, 4);
}

static bool has_zero(struct interval x)
{
    return !(x.low > 0 || x.high < 0);
}

/* sin(x) for `shift` 0, cos(x) for pi / 2: the ends, and 1 and -1 where x has a peak or a dip between them. */
static struct interval wave(enum tutti_op op, struct interval x, double shift)
{
    struct interval v = at_corners(op, x, x);
    double peak = PI / 2 - shift, dip = -PI / 2 - shift;
    if (floor((x.high - peak) / (2 * PI)) != floor((x.low - peak) / (2 * PI)))
        v.high = 1;
    if (floor((x.high - dip) / (2 * PI)) != floor((x.low - dip) / (2 * PI)))
        v.low = -1;
    return isfinite(x.low) && isfinite(x.high) ? v : (struct interval){-1, 1};
}

static struct interval power(struct interval x, struct interval y)
{
    struct interval v = at_corners(TUTTI_OP_POW, x, y);
    if (x.low > 0 || (x.low == 0 && y.low > 0))
        return v;
    if (y.low != y.high || y.low != floor(y.low) || (y.low < 0 && has_zero(x)))
        return whole();
    if (has_zero(x)) /* even powers have their least value there */
        v.low = fmin(v.low, tutti_operate(TUTTI_OP_POW, 0, y.low));
    return v;
}

/* A smooth operation. */
static struct interval operate(enum tutti_op op, struct interval x, struct interval y)
{
    bool point = x.low == x.high && (!tutti_takes_two(op) || y.low == y.high);
    struct interval v;
    if (point)
        return at_corners(op, x, y);
    switch (op) {
    case TUTTI_OP_DIVIDE: return has_zero(y) ? whole() : at_corners(op, x, y);
    case TUTTI_OP_SIN: return wave(op, x, 0);
    case TUTTI_OP_COS: return wave(op, x, PI / 2);
    case TUTTI_OP_TAN: return floor(x.low / PI + 0.5) == floor(x.high / PI + 0.5) ? at_corners(op, x, y) : whole();
    case TUTTI_OP_COSH:
        v = at_corners(op, x, y);
        v.low = has_zero(x) ? 1 : v.low;
        return v;
    case TUTTI_OP_POW: return power(x, y);
    default: return at_corners(op, x, y);
    }
}

/* What is known so far: the decisions as one number, and whether all are made. */
struct decisions {
    uint64_t signature;
    bool made;
};

/* FNV-1a (Fowler, Noll, Vo) over where a decision is, and how it is made. */
static void decide(struct decisions *decisions, size_t place, int64_t way)
{
    const uint64_t prime = 1099511628211U;
    decisions->signature = (decisions->signature ^ place) * prime;
    decisions->signature = (decisions->signature ^ (uint64_t)way) * prime;
}

/* The side of zero on which x is, as a decision. */
static void decide_side(struct decisions *decisions, size_t place, struct interval x)
{
    decisions->made = decisions->made && (x.low == x.high || !has_zero(x));
    decide(decisions, place, (x.low > 0) - (x.low < 0));
}

static void decide_whole(struct decisions *decisions, size_t place, double low, double high)
{
    decisions->made = decisions->made && (low == high || (isnan(low) && isnan(high)));
    decide(decisions, place, fabs(low) < 9e18 ? (int64_t)low : 0);
}

/* An operation that decides. */
static struct interval choose(enum tutti_op op, size_t place, struct interval x, struct interval y,
                              struct decisions *decisions)
{
    struct interval v = at_corners(op, x, y);
    switch (op) {
    case TUTTI_OP_LESS:
    case TUTTI_OP_AT_MOST:
    case TUTTI_OP_MORE:
    case TUTTI_OP_AT_LEAST:
    case TUTTI_OP_FLOOR:
    case TUTTI_OP_CEIL:
    case TUTTI_OP_ROUND: decide_whole(decisions, place, v.low, v.high); return v;
    case TUTTI_OP_MOD:
        v = y.low == y.high && y.low != 0 ? at_corners(TUTTI_OP_DIVIDE, x, y) : whole();
        decide_whole(decisions, place, floor(v.low), floor(v.high));
        return decisions->made ? at_corners(op, x, y) : whole();
    case TUTTI_OP_ATAN2:
        if (!(y.low > 0))
            decide_side(decisions, place, x);
        return v;
    case TUTTI_OP_MIN:
    case TUTTI_OP_MAX:
    case TUTTI_OP_EQUAL:
    case TUTTI_OP_DIFFERENT:
        decide_side(decisions, place, (struct interval){x.low - y.high, x.high - y.low});
        return op == TUTTI_OP_EQUAL || op == TUTTI_OP_DIFFERENT ? at_corners(op, x, y) : v;
    default: /* abs, sign, not, truth */ decide_side(decisions, place, x); return v;
    }
}

static bool is_choice(enum tutti_op op)
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

bool tutti_enclosure_decides(const struct tutti_expression *expression, double low, double high, uint64_t *signature)
{
    struct interval stack[TUTTI_EXPRESSION_MAX_DEPTH];
    struct decisions decisions = {.signature = 14695981039346656037U, .made = true};
    const struct tutti_instruction *code = expression->code.items;
    size_t height = 0;
    for (size_t i = 0; i < expression->code.count && decisions.made; i++) {
        const struct tutti_instruction *at = &code[i];
        struct interval x, y = {0, 0};
        switch (at->op) {
        case TUTTI_OP_GO: i = at->u.index - 1; continue;
        case TUTTI_OP_UNLESS:
            x = stack[--height];
            decide_side(&decisions, i, x);
            i = x.low == 0 && x.high == 0 ? at->u.index - 1 : i;
            continue;
        case TUTTI_OP_NUMBER: stack[height++] = (struct interval){at->u.number, at->u.number}; continue;
        case TUTTI_OP_NAME: stack[height++] = (struct interval){low, high}; continue;
        default: break;
        }
        if (tutti_takes_two(at->op))
            y = stack[--height];
        x = stack[--height];
        stack[height++] = is_choice(at->op) ? choose(at->op, i, x, y, &decisions) : operate(at->op, x, y);
    }
    *signature = decisions.signature;
    return decisions.made;
}
