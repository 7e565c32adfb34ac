/* SPDX-License-Identifier: MIT */
/* base/expr/bytecode.h - a compiled expression: instructions for a stack machine.
 *
 * An instruction takes its operands from the top of the stack and leaves one value; jumps leave or take as they say, and go forward only.
 * At every instruction the stack has the same height whichever way led there, and never more than TUTTI_EXPRESSION_MAX_DEPTH values. */
#ifndef TT_BASE_EXPR_BYTECODE_H
#define TT_BASE_EXPR_BYTECODE_H

#include "base/vector.h"
#include "base/expr/expression.h"

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

#endif
