/* SPDX-License-Identifier: MIT */
/* base/number.h - numbers as text, independent of the locale. */
#ifndef TT_BASE_NUMBER_H
#define TT_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TUTTI_NUMBER_MAX = 32 }; /* room that any number's text needs */

/* Writes the shortest text that reads back to equal bits ("nan", "inf", "-inf" for those). Writes no NUL; returns the
 * length, at most TUTTI_NUMBER_MAX. */
size_t tt_number_write_double(char *out, double value);
size_t tt_number_write_float(char *out, float value);
size_t tt_number_write_int(char *out, int64_t value);
size_t tt_number_write_uint(char *out, uint64_t value);

/* A number as text for messages: printf("%s", NUMBER(x)). The text lives until the end of the statement. */
struct tt_number_text {
    char text[TUTTI_NUMBER_MAX + 1];
};
struct tt_number_text tt_number_show(double value);
#define NUMBER(value) (tt_number_show(value).text)
/* As above with at most ten digits: simulated time in messages. Use NUMBER for values that a user may have to type. */
struct tt_number_text tt_number_show_time(double t);
#define TIME(t) (tt_number_show_time(t).text)

/* Reads all of text[0..n), white space at both ends allowed; false, with *value unchanged, if it is not exactly one
 * number that fits. Doubles have the formats of XML Schema and C: 1, -1.5e3, +2, INF, -INF, NaN, inf, nan. */
bool tt_number_read_double(const char *text, size_t n, double *value);
bool tt_number_read_int(const char *text, size_t n, int64_t *value);
bool tt_number_read_uint(const char *text, size_t n, uint64_t *value);

#ifdef __cplusplus
}
#endif
#endif
