/* SPDX-License-Identifier: MIT */
/* Derivatives are carried beside values (forward mode: Griewank, Walther: Evaluating Derivatives, 2nd ed., chapter 3). */
#include <stdio.h>

#include "base/number.h"
#include "base/text.h"
#include "base/expr/bytecode.h"

/* d(x^y) = y x^(y-1) dx + x^y log(x) dy. A constant exponent needs no logarithm of the base. */
static double power_slope(double x, double y, double v, double dx, double dy)
{
    double slope = dx != 0 ? y * pow(x, y - 1) * dx : 0;
    return dy != 0 ? slope + v * log(x) * dy : slope;
}

/* The derivative of v = tt_bytecode_operate(op, x, y). */
static inline double operation_derivative(enum tt_op op, double x, double y, double v, double dx, double dy)
{
    switch (op) {
    case TUTTI_OP_NEGATE: return -dx;
    case TUTTI_OP_ADD: return dx + dy;
    case TUTTI_OP_SUBTRACT: return dx - dy;
    case TUTTI_OP_MULTIPLY: return dx * y + x * dy;
    case TUTTI_OP_DIVIDE:
        return (dx - v * dy) / y;
        /* A constant has derivative 0 even where the function's derivative is infinite: sqrt(0) * time. */
/* clang-format off */
#define UNARY(NAME, name, smooth, value, derivative) case TUTTI_OP_##NAME: return dx == 0 ? 0 : (derivative)*dx;
#define BINARY(NAME, name, smooth, value, derivative) case TUTTI_OP_##NAME: return dx == 0 && dy == 0 ? 0 : (derivative);
#include "base/expr/functions.def"
        /* clang-format on */
    default: /* comparisons */ return 0;
    }
}

/* Where an evaluation came to a value that is not a finite number, and from which operands. */
struct expression_fault {
    const struct tt_instruction *at;
    double x, y;
};

/* Evaluates the expression; with slopes, also its derivative. If `fault` is given, stops at the first fault and
 * describes it. Always inlined, so that each caller gets a loop without the parts that it does not use. */
static inline __attribute__((always_inline)) double expression_evaluate(const struct tt_expression *expression,
                                                                        const double *values, const double *slopes,
                                                                        double *slope, struct expression_fault *fault)
{
    double stack[TUTTI_EXPRESSION_MAX_DEPTH], rates[TUTTI_EXPRESSION_MAX_DEPTH];
    stack[0] = rates[0] = 0;
    const struct tt_instruction *code = expression->code.items;
    size_t height = 0;
    for (size_t i = 0; i < expression->code.count; i++) {
        const struct tt_instruction *at = &code[i];
        double x = 0, y = 0, dx = 0, dy = 0, v;
        if (at->op == TUTTI_OP_GO) {
            i = at->u.index - 1;
            continue;
        }
        if (at->op == TUTTI_OP_UNLESS) {
            /* NOLINTNEXTLINE(clang-analyzer-*): what an instruction takes is there (program.h) */
            i = stack[--height] == 0 ? at->u.index - 1 : i;
            continue;
        }
        if (at->op == TUTTI_OP_NUMBER) {
            v = at->u.number;
        } else if (at->op == TUTTI_OP_NAME) {
            v = values[at->u.index];
            dx = slopes ? slopes[at->u.index] : 0;
        } else {
            if (tt_bytecode_takes_two(at->op)) {
                y = stack[--height]; /* NOLINT(clang-analyzer-*): likewise */
                dy = slopes ? rates[height] : 0;
            }
            x = stack[--height]; /* NOLINT(clang-analyzer-*): likewise */
            v = tt_bytecode_operate(at->op, x, y);
            if (slopes)
                dx = operation_derivative(at->op, x, y, v, rates[height], dy);
        }
        if (fault && !isfinite(v)) {
            *fault = (struct expression_fault){at, x, y};
            return v;
        }
        rates[height] = dx;
        stack[height++] = v;
    }
    if (slopes)
        *slope = rates[0];
    return stack[0];
}

double tt_expression_value(const struct tt_expression *expression, const double *values)
{
    return expression_evaluate(expression, values, NULL, NULL, NULL);
}

double tt_expression_slope(const struct tt_expression *expression, const double *values, const double *slopes,
                           double *slope)
{
    return expression_evaluate(expression, values, slopes, slope, NULL);
}

/* Names an operation that can produce a value that is not finite, for messages. */
static const char *operation_name(enum tt_op op)
{
    switch (op) {
    case TUTTI_OP_ADD: return "+";
    case TUTTI_OP_SUBTRACT: return "-";
    case TUTTI_OP_MULTIPLY:
        return "*";
/* clang-format off */
#define UNARY(NAME, name, smooth, value, derivative) case TUTTI_OP_##NAME: return name;
#define BINARY(NAME, name, smooth, value, derivative) case TUTTI_OP_##NAME: return name;
#include "base/expr/functions.def"
        /* clang-format on */
    default: return "/";
    }
}

static enum tutti_err fail_fault(const struct tt_expression *expression, const struct expression_fault *fault,
                                 double value)
{
    const struct tt_instruction *at = fault->at;
    char place[160];
    snprintf(place, sizeof place, "'%s', character %u", tt_text_excerpt(expression->text).text, at->position);
    if (at->op == TUTTI_OP_NAME)
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s: its value is %s, not a finite number", place, NUMBER(value));
    if (at->op == TUTTI_OP_DIVIDE && fault->y == 0)
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s: division by zero: %s / 0", place, NUMBER(fault->x));
    if (tt_bytecode_takes_two(at->op))
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s: %s of %s and %s is %s, not a finite number", place,
                       operation_name(at->op), NUMBER(fault->x), NUMBER(fault->y), NUMBER(value));
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s: %s(%s) is %s, not a finite number", place, operation_name(at->op),
                   NUMBER(fault->x), NUMBER(value));
}

enum tutti_err tt_expression_check(const struct tt_expression *expression, const double *values, double *value)
{
    struct expression_fault fault = {0};
    *value = expression_evaluate(expression, values, NULL, NULL, &fault);
    return fault.at ? fail_fault(expression, &fault, *value) : TUTTI_OK;
}
