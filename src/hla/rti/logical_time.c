/* SPDX-License-Identifier: MIT */
#include "hla/rti/logical_time.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/number.h"

static const char *const names[] =
    {[TUTTI_TIME_FLOAT64] = "HLAfloat64Time", [TUTTI_TIME_INTEGER64] = "HLAinteger64Time"};

bool tt_logical_time_kind_find(const char *name, enum tt_logical_time_kind *kind)
{
    *kind = TUTTI_TIME_FLOAT64;
    if (*name == '\0' || strcmp(name, names[TUTTI_TIME_FLOAT64]) == 0)
        return true;
    *kind = TUTTI_TIME_INTEGER64;
    return strcmp(name, names[TUTTI_TIME_INTEGER64]) == 0;
}

const char *tt_logical_time_kind_name(enum tt_logical_time_kind kind)
{
    return names[kind];
}

static int64_t logical_time_to_bits(double value)
{
    int64_t bits;
    value += 0.0; /* of -0.0, too */
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double logical_time_from_bits(int64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

int64_t tt_logical_time_final(enum tt_logical_time_kind kind)
{
    return kind == TUTTI_TIME_INTEGER64 ? INT64_MAX : logical_time_to_bits(DBL_MAX);
}

bool tt_logical_time_from_double(enum tt_logical_time_kind kind, double value, int64_t *time)
{
    if (!isfinite(value) || value < 0)
        return false;
    if (kind == TUTTI_TIME_FLOAT64) {
        *time = logical_time_to_bits(value);
        return true;
    }
    if (value >= 9223372036854775808.0 || value != floor(value))
        return false;
    *time = (int64_t)value;
    return true;
}

double tt_logical_time_to_double(enum tt_logical_time_kind kind, int64_t time)
{
    return kind == TUTTI_TIME_INTEGER64 ? (double)time : logical_time_from_bits(time);
}

bool tt_logical_time_decode(enum tt_logical_time_kind kind, const void *bytes, size_t size, int64_t *time)
{
    if (size != TUTTI_TIME_BYTES)
        return false;
    uint64_t word = 0;
    for (size_t i = 0; i < TUTTI_TIME_BYTES; i++)
        word = word << 8 | ((const unsigned char *)bytes)[i];
    if (kind == TUTTI_TIME_FLOAT64)
        return tt_logical_time_from_double(kind, logical_time_from_bits((int64_t)word), time);
    *time = (int64_t)word;
    return *time >= 0;
}

void tt_logical_time_encode(enum tt_logical_time_kind kind, int64_t time, unsigned char bytes[TUTTI_TIME_BYTES])
{
    (void)kind; /* the bits are those of the number in both */
    for (size_t i = 0; i < TUTTI_TIME_BYTES; i++)
        bytes[i] = (unsigned char)((uint64_t)time >> (8 * (TUTTI_TIME_BYTES - 1 - i)));
}

int64_t tt_logical_time_add(enum tt_logical_time_kind kind, int64_t time, int64_t interval)
{
    if (kind == TUTTI_TIME_INTEGER64)
        return time > INT64_MAX - interval ? INT64_MAX : time + interval;
    double sum = logical_time_from_bits(time) + logical_time_from_bits(interval);
    return isfinite(sum) ? logical_time_to_bits(sum) : logical_time_to_bits(DBL_MAX);
}

int64_t tt_logical_time_subtract(enum tt_logical_time_kind kind, int64_t time, int64_t earlier)
{
    if (earlier >= time)
        return 0;
    return kind == TUTTI_TIME_INTEGER64
               ? time - earlier
               : logical_time_to_bits(logical_time_from_bits(time) - logical_time_from_bits(earlier));
}

struct tt_logical_time_text tt_logical_time_show(enum tt_logical_time_kind kind, int64_t time)
{
    struct tt_logical_time_text shown;
    size_t n = kind == TUTTI_TIME_INTEGER64 ? tt_number_write_int(shown.text, time)
                                            : tt_number_write_double(shown.text, logical_time_from_bits(time));
    shown.text[n] = '\0';
    return shown;
}

struct tt_time_bound tt_logical_time_promise_bound(enum tt_logical_time_kind kind, int64_t t, int64_t lookahead,
                                                   bool strict)
{
    int64_t value = tt_logical_time_add(kind, t, lookahead);
    return (struct tt_time_bound){value, value == t && strict};
}
