/* SPDX-License-Identifier: MIT */
/* base/expr/bytecode.h - a compiled expression: instructions for a stack machine.
 *
 * An instruction takes its operands from the top of the stack and leaves one value; jumps are documented below, and go
 * forward only. At every instruction the height of the stack is independent of the path, and at most
 * TUTTI_EXPRESSION_MAX_DEPTH. */
#ifndef TT_BASE_EXPR_BYTECODE_H
#define TT_BASE_EXPR_BYTECODE_H

#include <math.h>

#include "base/expr/expression.h"
#include "base/vector.h"

enum tt_op {
    TUTTI_OP_NUMBER, /* leaves `number` */
    TUTTI_OP_NAME,   /* leaves the value at place `index` */
    TUTTI_OP_NEGATE,
    TUTTI_OP_NOT,
    TUTTI_OP_TRUTH, /* 1 or 0 */
    TUTTI_OP_ADD,
    TUTTI_OP_SUBTRACT,
    TUTTI_OP_MULTIPLY,
    TUTTI_OP_DIVIDE,
    TUTTI_OP_LESS,
    TUTTI_OP_AT_MOST,
    TUTTI_OP_MORE,
    TUTTI_OP_AT_LEAST,
    TUTTI_OP_EQUAL,
    TUTTI_OP_DIFFERENT,
    TUTTI_OP_UNLESS, /* takes a value; if it is 0, goes to instruction `index` */
    TUTTI_OP_GO,     /* goes to instruction `index` */
#define UNARY(NAME, name, smooth, value, derivative) TUTTI_OP_##NAME,
#define BINARY(NAME, name, smooth, value, derivative) TUTTI_OP_##NAME,
#include "base/expr/functions.def"
};

struct tt_instruction {
    enum tt_op op;
    unsigned position; /* in the text, from 1 */
    union {
        double number;
        size_t index;
    } u;
};

struct tt_reduction {
    size_t kind;
    struct tt_expression *argument;
};

struct tt_expression {
    char *text;
    struct tt_vector code;       /* struct tt_instruction */
    struct tt_vector reductions; /* struct tt_reduction */
    bool smooth;
};

/* Semantics of the operations of expressions. */

/* Returns true if an operation takes two operands. */
static inline bool tt_bytecode_takes_two(enum tt_op op)
{
    switch (op) {
    case TUTTI_OP_ADD:
    case TUTTI_OP_SUBTRACT:
    case TUTTI_OP_MULTIPLY:
    case TUTTI_OP_DIVIDE:
    case TUTTI_OP_LESS:
    case TUTTI_OP_AT_MOST:
    case TUTTI_OP_MORE:
    case TUTTI_OP_AT_LEAST:
    case TUTTI_OP_EQUAL:
    case TUTTI_OP_DIFFERENT:
#define BINARY(NAME, name, smooth, value, derivative) case TUTTI_OP_##NAME:
#include "base/expr/functions.def"
        return true;
    default: return false;
    }
}

/* Applies an operation to its operands; y is the second operand, if there are two. */
static inline double tt_bytecode_operate(enum tt_op op, double x, double y)
{
    switch (op) {
    case TUTTI_OP_NEGATE: return -x;
    case TUTTI_OP_NOT: return x == 0;
    case TUTTI_OP_TRUTH: return x != 0;
    case TUTTI_OP_ADD: return x + y;
    case TUTTI_OP_SUBTRACT: return x - y;
    case TUTTI_OP_MULTIPLY: return x * y;
    case TUTTI_OP_DIVIDE: return x / y;
    case TUTTI_OP_LESS: return x < y;
    case TUTTI_OP_AT_MOST: return x <= y;
    case TUTTI_OP_MORE: return x > y;
    case TUTTI_OP_AT_LEAST: return x >= y;
    case TUTTI_OP_EQUAL: return x == y;
    case TUTTI_OP_DIFFERENT:
        return x != y;
/* clang-format off */
#define UNARY(NAME, name, smooth, value, derivative) case TUTTI_OP_##NAME: return value;
#define BINARY(NAME, name, smooth, value, derivative) case TUTTI_OP_##NAME: return value;
#include "base/expr/functions.def"
        /* clang-format on */
    default: return NAN;
    }
}

#endif
