/* SPDX-License-Identifier: MIT */
#include "rti/logical_time.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/number.h"

static const char *const names[] =
    {[TUTTI_TIME_FLOAT64] = "HLAfloat64Time", [TUTTI_TIME_INTEGER64] = "HLAinteger64Time"};

bool tutti_time_kind_find(const char *name, enum tutti_time_kind *kind)
{
    *kind = TUTTI_TIME_FLOAT64;
    if (*name == '\0' || strcmp(name, names[TUTTI_TIME_FLOAT64]) == 0)
        return true;
    *kind = TUTTI_TIME_INTEGER64;
    return strcmp(name, names[TUTTI_TIME_INTEGER64]) == 0;
}

const char *tutti_time_kind_name(enum tutti_time_kind kind)
{
    return names[kind];
}

static int64_t bits_of(double value)
{
    int64_t bits;
    value += 0.0; /* of -0.0, too */
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double number_of(int64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

int64_t tutti_time_final(enum tutti_time_kind kind)
{
    return kind == TUTTI_TIME_INTEGER64 ? INT64_MAX : bits_of(DBL_MAX);
}

bool tutti_time_from_double(enum tutti_time_kind kind, double value, int64_t *time)
{
    if (!isfinite(value) || value < 0)
        return false;
    if (kind == TUTTI_TIME_FLOAT64) {
        *time = bits_of(value);
        return true;
    }
    if (value >= 9223372036854775808.0 || value != floor(value))
        return false;
    *time = (int64_t)value;
    return true;
}

double tutti_time_to_double(enum tutti_time_kind kind, int64_t time)
{
    return kind == TUTTI_TIME_INTEGER64 ? (double)time : number_of(time);
}

bool tutti_time_decode(enum tutti_time_kind kind, const void *bytes, size_t size, int64_t *time)
{
    if (size != TUTTI_TIME_BYTES)
        return false;
    uint64_t word = 0;
    for (size_t i = 0; i < TUTTI_TIME_BYTES; i++)
        word = word << 8 | ((const unsigned char *)bytes)[i];
    if (kind == TUTTI_TIME_FLOAT64)
        return tutti_time_from_double(kind, number_of((int64_t)word), time);
    *time = (int64_t)word;
    return *time >= 0;
}

void tutti_time_encode(enum tutti_time_kind kind, int64_t time, unsigned char bytes[TUTTI_TIME_BYTES])
{
    (void)kind; /* the bits are those of the number in both */
    for (size_t i = 0; i < TUTTI_TIME_BYTES; i++)
        bytes[i] = (unsigned char)((uint64_t)time >> (8 * (TUTTI_TIME_BYTES - 1 - i)));
}

int64_t tutti_time_add(enum tutti_time_kind kind, int64_t time, int64_t interval)
{
    if (kind == TUTTI_TIME_INTEGER64)
        return time > INT64_MAX - interval ? INT64_MAX : time + interval;
    double sum = number_of(time) + number_of(interval);
    return isfinite(sum) ? bits_of(sum) : bits_of(DBL_MAX);
}

int64_t tutti_time_subtract(enum tutti_time_kind kind, int64_t time, int64_t earlier)
{
    if (earlier >= time)
        return 0;
    return kind == TUTTI_TIME_INTEGER64 ? time - earlier : bits_of(number_of(time) - number_of(earlier));
}

struct tutti_time_text tutti_time_show(enum tutti_time_kind kind, int64_t time)
{
    struct tutti_time_text shown;
    size_t n = kind == TUTTI_TIME_INTEGER64 ? tutti_number_write_int(shown.text, time)
                                            : tutti_number_write_double(shown.text, number_of(time));
    shown.text[n] = '\0';
    return shown;
}

struct tutti_bound tutti_bound_promise(enum tutti_time_kind kind, int64_t t, int64_t lookahead, bool strict)
{
    int64_t value = tutti_time_add(kind, t, lookahead);
    return (struct tutti_bound){value, value == t && strict};
}
