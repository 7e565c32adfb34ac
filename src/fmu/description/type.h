/* SPDX-License-Identifier: MIT */
/* type.h - the types of variables, one form for FMI 1, 2 and 3, and the memory layout of their values.
 *
 * FMI 1 and 2 have Real, Integer, Boolean, String and Enumeration: Real is FLOAT64, Integer is INT32. Values of one
 * type lie densely in an array of the C type named here, whatever the FMI version; the bindings convert where a version
 * differs. */
#ifndef TT_FMU_DESCRIPTION_TYPE_H
#define TT_FMU_DESCRIPTION_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

/* X(name, text in messages and files, C type of a value) */
#define TUTTI_TYPES(X)                                                                                                 \
    X(FLOAT64, "Float64", double)                                                                                      \
    X(FLOAT32, "Float32", float)                                                                                       \
    X(INT8, "Int8", int8_t)                                                                                            \
    X(UINT8, "UInt8", uint8_t)                                                                                         \
    X(INT16, "Int16", int16_t)                                                                                         \
    X(UINT16, "UInt16", uint16_t)                                                                                      \
    X(INT32, "Int32", int32_t)                                                                                         \
    X(UINT32, "UInt32", uint32_t)                                                                                      \
    X(INT64, "Int64", int64_t)                                                                                         \
    X(UINT64, "UInt64", uint64_t)                                                                                      \
    X(BOOLEAN, "Boolean", bool)                                                                                        \
    X(STRING, "String", const char *)                                                                                  \
    X(BINARY, "Binary", struct tt_bytes)                                                                               \
    X(ENUMERATION, "Enumeration", int64_t)                                                                             \
    X(CLOCK, "Clock", bool)

enum tt_type {
#define X(name, text, ctype) TUTTI_TYPE_##name,
    TUTTI_TYPES(X)
#undef X
};
enum { TUTTI_TYPE_COUNT = TUTTI_TYPE_CLOCK + 1 };

/* Returns "Float64", ... Static. */
const char *tt_type_name(enum tt_type type);
/* Bytes of one value. */
size_t tt_type_size(enum tt_type type);

/* Makes a Float64 or Int32, the numbers of FMI 1.0, its negative: for FMI 1.0's negated aliases. Leaves others alone. */
void tt_type_negate(enum tt_type type, void *value);

static inline bool tt_type_is_float(enum tt_type type)
{
    return type <= TUTTI_TYPE_FLOAT32;
}
static inline bool tt_type_is_integer(enum tt_type type)
{
    return type >= TUTTI_TYPE_INT8 && type <= TUTTI_TYPE_UINT64;
}
/* Values are pointers to bytes of any length. */
static inline bool tt_type_is_text(enum tt_type type)
{
    return type == TUTTI_TYPE_STRING || type == TUTTI_TYPE_BINARY;
}

/* An integer that holds every Int64 and every UInt64. Compilers for 32-bit processes (tutti_keeper32) have none. */
#ifdef __SIZEOF_INT128__
__extension__ typedef __int128 tt_wide;
#endif

#endif
