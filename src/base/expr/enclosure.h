/* SPDX-License-Identifier: MIT */
/* enclosure.h - bounds of an expression of one variable over an interval of it. */
#ifndef TT_BASE_EXPR_ENCLOSURE_H
#define TT_BASE_EXPR_ENCLOSURE_H

#include <stdint.h>

#include "base/expr/expression.h"

/* Do all comparisons, choices, floor, ceil, round, abs, sign, mod, min, max and branches of atan2 in the expression decide in the same way
 * for all values of its name from `low` to `high`? False also if the bounds are too wide to decide, never for an interval of one
 * value at which all is finite.
 * *signature: a number for the decisions, equal where they are. */
bool tt_breaks_decide_interval(const struct tt_expression *expression, double low, double high, uint64_t *signature);

#endif
