/* SPDX-License-Identifier: MIT */
/* test.h - cmocka, and what it lacks. */
#ifndef TUTTI_TEST_H
#define TUTTI_TEST_H

/* cmocka wants these before itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"

/* cmocka's assert_float_equal casts to float. */
#define assert_near(a, b, tolerance)                                                                                   \
    do {                                                                                                               \
        double a_ = (a), b_ = (b);                                                                                     \
        if (!(fabs(a_ - b_) <= (tolerance)))                                                                           \
            fail_msg("%s = %.17g, but %s = %.17g", #a, a_, #b, b_);                                                    \
    } while (0)

/* To the bit, NaN included. */
#define assert_same_double(a, b)                                                                                       \
    do {                                                                                                               \
        double a_ = (a), b_ = (b);                                                                                     \
        if (memcmp(&a_, &b_, sizeof a_) != 0)                                                                          \
            fail_msg("%s = %.17g, but %s = %.17g", #a, a_, #b, b_);                                                    \
    } while (0)

#define assert_ok(expr)                                                                                                \
    do {                                                                                                               \
        enum tutti_err err_ = (expr);                                                                                  \
        if (err_ != TUTTI_OK)                                                                                          \
            fail_msg("%s: %s", #expr, tutti_err_message());                                                            \
    } while (0)

/* The call fails in this way and its message has this in it. */
#define assert_fails(expr, kind, words)                                                                                \
    do {                                                                                                               \
        enum tutti_err err_ = (expr);                                                                                  \
        if (err_ != (kind))                                                                                            \
            fail_msg("%s: '%s' (%s), expected '%s'", #expr, tutti_err_name(err_), err_ ? tutti_err_message() : "",     \
                     tutti_err_name(kind));                                                                            \
        if (!strstr(tutti_err_message(), words))                                                                       \
            fail_msg("%s: message \"%s\" has no \"%s\"", #expr, tutti_err_message(), words);                           \
    } while (0)

#endif
