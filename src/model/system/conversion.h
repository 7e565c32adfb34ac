/* SPDX-License-Identifier: MIT */
/* conversion.h - from a source's value to a destination's: type, unit, and the transformations of SSP.
 *
 * SSP: first the unit conversion (factor and offset), then the linear transformation; with suppressUnitConversion the
 * transformation only. Conversions along a path of several connections are applied in sequence; linear ones are
 * combined. */
#ifndef TT_MODEL_SYSTEM_CONVERSION_H
#define TT_MODEL_SYSTEM_CONVERSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fail.h"
#include "fmu/description/type.h"
#include "fmu/description/description.h"

struct tt_value_map {
    const tt_wide *from, *to; /* sorted by from; values that are not in it stay */
    size_t count;
};

/* Read-only once made. First the maps, in sequence, for Boolean, integers and Enumeration; then factor and offset; then
 * the destination's type. String and Binary pass unchanged. */
struct tt_conversion {
    enum tt_type from, to;
    bool linear; /* factor or offset does something */
    double factor, offset;
    const struct tt_value_map *maps;
    size_t map_count;
};

/* Returns true if a value of type `from` can be passed to a variable of type `to` without loss: Float to Float; integer
 * (or Enumeration) to integer, Enumeration or Float; Boolean to integer or Float as 0 or 1. All other pairs of
 * different types are false. */
bool tt_conversion_is_possible(enum tt_type from, enum tt_type to);
/* Returns true if it can be passed with a loss: Float to an integer, rounded to the nearest (halves away from 0); Float
 * or integer to Boolean: true unless it is 0. */
bool tt_conversion_rounds(enum tt_type from, enum tt_type to);
/* Returns true for the identity, so that values can be copied. */
bool tt_conversion_is_identity(const struct tt_conversion *conversion);

/* target = factor * source + offset between two units. ARGUMENT, naming both, if they measure different things; *known is
 * false (and the result 1, 0) where one of them has no definition and their names differ. Either may be NULL: no unit. */
TUTTI_CHECKED enum tutti_err tt_conversion_units(const struct tt_unit_def *from, const struct tt_unit_def *to,
                                                 double *factor, double *offset, bool *known);

/* Returns true if a variable of an integer type, a Boolean or an Enumeration can have this value. */
bool tt_conversion_fits(enum tt_type type, tt_wide value);

/* Converts `count` values. LIMIT, with the value, if one does not fit into the destination's type. */
TUTTI_CHECKED enum tutti_err tt_conversion_apply(const struct tt_conversion *conversion, const void *from, void *to,
                                                 size_t count);

#endif
