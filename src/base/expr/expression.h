/* SPDX-License-Identifier: MIT */
/* base/expr/expression.h - formulas over named variables, in the usual notation, with their derivatives.
 *
 *     expression = choice
 *     choice     = either [ '?' expression ':' choice ]
 *     either     = both { '||' both }
 *     both       = relation { '&&' relation }
 *     relation   = sum [ ( '<' | '<=' | '>' | '>=' | '==' | '!=' ) sum ]
 *     sum        = product { ( '+' | '-' ) product }
 *     product    = factor { ( '*' | '/' ) factor }
 *     factor     = ( '-' | '+' | '!' ) factor | power
 *     power      = primary [ '^' factor ]
 *     primary    = number | 'pi' | name | function '(' expression { ',' expression } ')' | '(' expression ')'
 *     name       = letters, digits, '_' and '.', not a digit first, with indices: body.z, x[1], x[2,3], der(h)
 *                | '"' any other name, in which \" and \\ stand for " and \ '"'
 *
 * Functions: functions.def. True is 1, false is 0, and anything but 0 is true. Only the branch that is chosen is
 * evaluated.
 *
 * An expression is compiled once, to a program for a stack machine: no recursion, no allocation, no lookup when it is
 * evaluated. Several threads may evaluate one. */
#ifndef TT_BASE_EXPR_EXPRESSION_H
#define TT_BASE_EXPR_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"

struct tt_expression;

enum {
    TUTTI_EXPRESSION_MAX_TEXT = 16384, /* bytes */
    TUTTI_EXPRESSION_MAX_CODE = 8192,  /* instructions */
    TUTTI_EXPRESSION_MAX_DEPTH = 64,   /* nested parts, and values on the stack */
};

/* Where the values of names are. */
struct tt_expression_names {
    void *context;
    /* The place of `name` among the values that the expression is evaluated with. A name that is not known: a failure with a message, to which
     * the caller adds the place in the text. */
    enum tutti_err (*find)(void *context, const char *name, size_t *place);
};

/* Compiles `text`. `reductions` is a NULL-terminated list of functions of one argument that the caller computes; NULL:
 * none. With reductions, names may occur only inside reductions, and reductions must not be nested: "max(abs(a - b)) /
 * final(c)". min and max with one argument are reductions if they are listed. TUTTI_ERR_ARGUMENT for wrong text; the
 * message quotes the text and the position in it, counted from 1. */
TUTTI_CHECKED enum tutti_err tt_expression_new(struct tt_expression **out, const char *text,
                                               const struct tt_expression_names *names, const char *const *reductions);
void tt_expression_free(struct tt_expression *expression);

/* The text that it was made of. */
const char *tt_expression_text(const struct tt_expression *expression);

/* Evaluates the expression from the values of its names; an expression with reductions, from their values in the order
 * of tt_expression_reduction. Follows IEEE 754: 1/0 is infinite, log(-1) is NaN. */
double tt_expression_value(const struct tt_expression *expression, const double *values);
/* Computes the derivative from the values and the derivatives of the names, which have equal indices. Where the
 * expression is not differentiable, it returns a one-sided derivative: 0 for `a < b` and floor(x), 0 for abs(x) at 0. */
double tt_expression_slope(const struct tt_expression *expression, const double *values, const double *slopes,
                           double *slope);
/* Evaluates as tt_expression_value does, and fails if the value is not finite: the message names the operation that
 * first left the finite numbers, its operands and its position. */
TUTTI_CHECKED enum tutti_err tt_expression_check(const struct tt_expression *expression, const double *values,
                                                 double *value);

/* Returns true if the expression is differentiable wherever its functions are defined. False with comparisons, choices,
 * abs, sign, floor, ceil, round, mod, min, max, atan2. */
bool tt_expression_is_smooth(const struct tt_expression *expression);

/* The reductions of an expression, each with its argument: an expression over names, which the outer expression owns.
 * `kind`: its index in the list. */
size_t tt_expression_reductions(const struct tt_expression *expression);
const struct tt_expression *tt_expression_reduction(const struct tt_expression *expression, size_t i, size_t *kind);

/* Returns the list of functions for messages: "sin(x) cos(x) ...". Static. */
const char *tt_expression_functions(void);

#endif
