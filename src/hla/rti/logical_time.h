/* SPDX-License-Identifier: MIT */
/* logical_time.h - logical time of a federation: HLAfloat64Time or HLAinteger64Time.
 *
 * A time or an interval is an int64_t that is ordered as the times are: an integer itself, or the bits of a number that
 * is not negative. So all comparisons are of integers, and only sums need the kind. Times begin at 0 and end at the
 * final time. */
#ifndef TT_HLA_RTI_LOGICAL_TIME_H
#define TT_HLA_RTI_LOGICAL_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tt_logical_time_kind { TUTTI_TIME_FLOAT64, TUTTI_TIME_INTEGER64 };

enum { TUTTI_TIME_BYTES = 8, TUTTI_TIME_TEXT = 40 }; /* of an encoded time; of one in a message */

/* "HLAfloat64Time"; "" means that, too. False: no such kind. */
bool tt_logical_time_kind_find(const char *name, enum tt_logical_time_kind *kind);
const char *tt_logical_time_kind_name(enum tt_logical_time_kind kind);

int64_t tt_logical_time_final(enum tt_logical_time_kind kind);

/* From a number; false if it is negative, not finite, or no integer where integers count. */
bool tt_logical_time_from_double(enum tt_logical_time_kind kind, double value, int64_t *time);
double tt_logical_time_to_double(enum tt_logical_time_kind kind, int64_t time);

/* Decodes the federates' form: eight bytes, big endian. False: wrong size, or not a time. */
bool tt_logical_time_decode(enum tt_logical_time_kind kind, const void *bytes, size_t size, int64_t *time);
void tt_logical_time_encode(enum tt_logical_time_kind kind, int64_t time, unsigned char bytes[TUTTI_TIME_BYTES]);

/* The final time if the sum is beyond it. */
int64_t tt_logical_time_add(enum tt_logical_time_kind kind, int64_t time, int64_t interval);
/* 0 if `earlier` is not earlier. */
int64_t tt_logical_time_subtract(enum tt_logical_time_kind kind, int64_t time, int64_t earlier);

struct tt_logical_time_text {
    char text[TUTTI_TIME_TEXT];
};
/* For messages; lives until the end of the statement. */
struct tt_logical_time_text tt_logical_time_show(enum tt_logical_time_kind kind, int64_t time);

/* A lower bound of the stamps that can still arrive: from `value` on, or only after it. `after` is 2 if none can. */
struct tt_time_bound {
    int64_t value;
    int after;
};
#define TUTTI_BOUND_NONE ((struct tt_time_bound){INT64_MAX, 2})

static inline bool tt_logical_time_is_below(struct tt_time_bound a, struct tt_time_bound b)
{
    return a.value != b.value ? a.value < b.value : a.after < b.after;
}

static inline struct tt_time_bound tt_logical_time_min(struct tt_time_bound a, struct tt_time_bound b)
{
    return tt_logical_time_is_below(b, a) ? b : a;
}

static inline struct tt_time_bound tt_logical_time_max(struct tt_time_bound a, struct tt_time_bound b)
{
    return tt_logical_time_is_below(a, b) ? b : a;
}

/* Returns true if a message at t may still arrive. */
static inline bool tt_logical_time_allows(struct tt_time_bound bound, int64_t t)
{
    return bound.value < t || (bound.value == t && bound.after == 0);
}

/* Returns the promise of a federate at t: no message below t + lookahead. If that is t, none at t if `strict`. */
struct tt_time_bound tt_logical_time_promise_bound(enum tt_logical_time_kind kind, int64_t t, int64_t lookahead,
                                                   bool strict);

#endif
