/* SPDX-License-Identifier: MIT */
/* operation.h - what operations of expressions compute. */
#ifndef TT_BASE_EXPR_OPERATION_H
#define TT_BASE_EXPR_OPERATION_H

#include <math.h>

#include "base/expr/bytecode.h"

/* Does an operation take two operands? */
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

/* What an operation makes of its operands; y is the second one, if it takes two. */
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
