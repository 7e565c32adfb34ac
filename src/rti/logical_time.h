/* SPDX-License-Identifier: MIT */
/* logical_time.h - logical time of a federation: HLAfloat64Time or HLAinteger64Time.
 *
 * A time or an interval is an int64_t that is ordered as the times are: an integer itself, or the bits of a number that is not negative.
 * So all comparisons are of integers, and only sums need the kind. Times begin at 0; below and beyond the last one there is none. */
#ifndef TUTTI_RTI_LOGICAL_TIME_H
#define TUTTI_RTI_LOGICAL_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tutti_time_kind { TUTTI_TIME_FLOAT64, TUTTI_TIME_INTEGER64 };

enum { TUTTI_TIME_BYTES = 8, TUTTI_TIME_TEXT = 40 }; /* of an encoded time; of one in a message */

/* "HLAfloat64Time"; "" means that, too. False: no such kind. */
bool tutti_time_kind_find(const char *name, enum tutti_time_kind *kind);
const char *tutti_time_kind_name(enum tutti_time_kind kind);

int64_t tutti_time_final(enum tutti_time_kind kind);

/* From a number; false if it is negative, not finite, or no integer where integers count. */
bool tutti_time_from_double(enum tutti_time_kind kind, double value, int64_t *time);
double tutti_time_to_double(enum tutti_time_kind kind, int64_t time);

/* As federates encode it: eight bytes, big endian. False: another size, or no time. */
bool tutti_time_decode(enum tutti_time_kind kind, const void *bytes, size_t size, int64_t *time);
void tutti_time_encode(enum tutti_time_kind kind, int64_t time, unsigned char bytes[TUTTI_TIME_BYTES]);

/* The final time if the sum is beyond it. */
int64_t tutti_time_add(enum tutti_time_kind kind, int64_t time, int64_t interval);
/* 0 if `earlier` is not earlier. */
int64_t tutti_time_subtract(enum tutti_time_kind kind, int64_t time, int64_t earlier);

struct tutti_time_text {
    char text[TUTTI_TIME_TEXT];
};
/* For messages; lives until the end of the statement. */
struct tutti_time_text tutti_time_show(enum tutti_time_kind kind, int64_t time);

/* A lower bound of the stamps that can still come: from `value` on, or only after it. `after` is 2 where nothing can come at all. */
struct tutti_bound {
    int64_t value;
    int after;
};
#define TUTTI_BOUND_NONE ((struct tutti_bound){INT64_MAX, 2})

static inline bool tutti_bound_below(struct tutti_bound a, struct tutti_bound b)
{
    return a.value != b.value ? a.value < b.value : a.after < b.after;
}

static inline struct tutti_bound tutti_bound_min(struct tutti_bound a, struct tutti_bound b)
{
    return tutti_bound_below(b, a) ? b : a;
}

static inline struct tutti_bound tutti_bound_max(struct tutti_bound a, struct tutti_bound b)
{
    return tutti_bound_below(a, b) ? b : a;
}

/* May a message at t still come? */
static inline bool tutti_bound_allows(struct tutti_bound bound, int64_t t)
{
    return bound.value < t || (bound.value == t && bound.after == 0);
}

/* What a federate at t promises: nothing below t + lookahead. Where that is t itself, also nothing at t if `strict`. */
struct tutti_bound tutti_bound_promise(enum tutti_time_kind kind, int64_t t, int64_t lookahead, bool strict);

#endif
