/* SPDX-License-Identifier: MIT */
/* base/expr/expression.h - formulas over named variables, as a person writes them, with their derivatives.
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
 * Functions: functions.def. True is 1, false is 0, and anything but 0 is true. Only the branch that is chosen is evaluated.
 *
 * An expression is compiled once, to a program for a stack machine: no recursion, no allocation, no lookup when it is evaluated. Several
 * threads may evaluate one. */
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

/* Compiles `text`. `reductions`: functions of one argument that the caller computes, a list that ends with NULL; NULL: none. With them, names stand
 * inside of reductions only, and reductions not in each other: "max(abs(a - b)) / final(c)". min and max of one argument are reductions if they are
 * listed. Wrong text: TUTTI_ERR_ARGUMENT, and the message has the text, and the place in it counted from 1. */
TUTTI_CHECKED enum tutti_err tt_expression_new(struct tt_expression **out, const char *text,
                                               const struct tt_expression_names *names, const char *const *reductions);
void tt_expression_free(struct tt_expression *expression);

/* The text that it was made of. */
const char *tt_expression_text(const struct tt_expression *expression);

/* Its value, from the values of names; of an expression with reductions, from their values, in the order of tt_expression_reduction. As IEEE 754
 * computes: 1/0 is infinite, log(-1) is no number. */
double tt_expression_value(const struct tt_expression *expression, const double *values);
/* ... with its derivative, from the derivatives of names, which has the same places. Where it has none, one of both sides: that of `a < b` and
 * floor(x) is 0, that of abs(x) at 0 is 0. */
double tt_expression_slope(const struct tt_expression *expression, const double *values, const double *slopes,
                           double *slope);
/* The same as tt_expression_value, and fails where the value is not a finite number: the message tells the operation that began it, its operands
 * and its place. */
TUTTI_CHECKED enum tutti_err tt_expression_check(const struct tt_expression *expression, const double *values,
                                                 double *value);

/* Has it a derivative everywhere that its functions are defined? False with comparisons, choices, abs, sign, floor, ceil, round, mod, min, max,
 * atan2. */
bool tt_expression_is_smooth(const struct tt_expression *expression);

/* The reductions of an expression, each with its argument: an expression over names, owned by this one. `kind`: its index in the list. */
size_t tt_expression_reductions(const struct tt_expression *expression);
const struct tt_expression *tt_expression_reduction(const struct tt_expression *expression, size_t i, size_t *kind);

/* The functions as text for people: "sin(x) cos(x) ...". Static. */
const char *tt_expression_functions(void);

#endif
