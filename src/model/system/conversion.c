/* SPDX-License-Identifier: MIT */
#include "model/system/conversion.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/vector.h"

static bool conversion_is_whole(enum tt_type type)
{
    return tt_type_is_integer(type) || type == TUTTI_TYPE_ENUMERATION;
}

bool tt_conversion_is_possible(enum tt_type from, enum tt_type to)
{
    if (from == to || (tt_type_is_float(from) && tt_type_is_float(to)))
        return true;
    if (from == TUTTI_TYPE_BOOLEAN)
        return tt_type_is_integer(to) || tt_type_is_float(to);
    return conversion_is_whole(from) && (conversion_is_whole(to) || tt_type_is_float(to));
}

bool tt_conversion_rounds(enum tt_type from, enum tt_type to)
{
    return (tt_type_is_float(from) && (tt_type_is_integer(to) || to == TUTTI_TYPE_BOOLEAN)) ||
           (tt_type_is_integer(from) && to == TUTTI_TYPE_BOOLEAN);
}

bool tt_conversion_is_identity(const struct tt_conversion *conversion)
{
    return conversion->from == conversion->to && !conversion->linear && conversion->map_count == 0;
}

enum tutti_err tt_conversion_units(const struct tt_unit_def *from, const struct tt_unit_def *to, double *factor,
                                   double *offset, bool *known)
{
    *factor = 1;
    *offset = 0;
    *known = true;
    if (!from || !to || from == to)
        return TUTTI_OK;
    if (!from->has_base || !to->has_base) {
        *known = strcmp(from->name, to->name) == 0;
        return TUTTI_OK;
    }
    if (memcmp(from->exponents, to->exponents, sizeof from->exponents) != 0)
        return tt_fail(
            TUTTI_ERR_ARGUMENT,
            "the units '%s' and '%s' measure different things; correct one of them, or suppress the conversion",
            from->name, to->name);
    if (to->factor == 0)
        return tt_fail(TUTTI_ERR_ARGUMENT, "the unit '%s' has the factor 0", to->name);
    /* base = from.factor x + from.offset = to.factor y + to.offset. Equal definitions must not cost a rounding. */
    if (from->factor != to->factor)
        *factor = from->factor / to->factor;
    if (from->offset != to->offset)
        *offset = (from->offset - to->offset) / to->factor;
    return TUTTI_OK;
}

/* The integer types other than int64_t, which Int64 and Enumeration use. */
#define WHOLE_TYPES(X)                                                                                                 \
    X(INT8, int8_t)                                                                                                    \
    X(UINT8, uint8_t)                                                                                                  \
    X(INT16, int16_t) X(UINT16, uint16_t) X(INT32, int32_t) X(UINT32, uint32_t) X(UINT64, uint64_t) X(BOOLEAN, bool)

static tt_wide read_whole(enum tt_type type, const void *from)
{
    switch (type) {
#define X(name, ctype)                                                                                                 \
    case TUTTI_TYPE_##name: return *(const ctype *)from;
        WHOLE_TYPES(X)
#undef X
    default: return *(const int64_t *)from;
    }
}

bool tt_conversion_fits(enum tt_type type, tt_wide value)
{
    switch (type) {
    case TUTTI_TYPE_INT8: return value >= INT8_MIN && value <= INT8_MAX;
    case TUTTI_TYPE_UINT8: return value >= 0 && value <= UINT8_MAX;
    case TUTTI_TYPE_INT16: return value >= INT16_MIN && value <= INT16_MAX;
    case TUTTI_TYPE_UINT16: return value >= 0 && value <= UINT16_MAX;
    case TUTTI_TYPE_INT32: return value >= INT32_MIN && value <= INT32_MAX;
    case TUTTI_TYPE_UINT32: return value >= 0 && value <= UINT32_MAX;
    case TUTTI_TYPE_UINT64: return value >= 0 && value <= UINT64_MAX;
    case TUTTI_TYPE_BOOLEAN: return value == 0 || value == 1;
    default: return value >= INT64_MIN && value <= INT64_MAX;
    }
}

static enum tutti_err conversion_write_whole(enum tt_type type, void *to, tt_wide value)
{
    if (!tt_conversion_fits(type, value)) {
        char text[TUTTI_NUMBER_MAX + 1] = {0};
        if (value < 0)
            tt_number_write_int(text, (int64_t)value);
        else
            tt_number_write_uint(text, (uint64_t)value);
        return tt_fail(TUTTI_ERR_LIMIT, "%s does not fit into %s", text, tt_type_name(type));
    }
    switch (type) {
#define X(name, ctype)                                                                                                 \
    case TUTTI_TYPE_##name: *(ctype *)to = (ctype)value; break;
        WHOLE_TYPES(X)
#undef X
    default: *(int64_t *)to = (int64_t)value;
    }
    return TUTTI_OK;
}

static enum tutti_err conversion_write_number(enum tt_type type, void *to, double value)
{
    if (type == TUTTI_TYPE_FLOAT64)
        *(double *)to = value;
    else if (type == TUTTI_TYPE_FLOAT32)
        *(float *)to = (float)value;
    else if (value > -9.3e18 && value < 1.9e19) {
        /* The nearest whole number; for a Boolean, whether that number differs from 0. */
        tt_wide rounded = (tt_wide)round(value);
        return conversion_write_whole(type, to, type == TUTTI_TYPE_BOOLEAN ? rounded != 0 : rounded);
    } else {
        char text[TUTTI_NUMBER_MAX + 1] = {0};
        tt_number_write_double(text, value);
        return tt_fail(TUTTI_ERR_LIMIT, "%s does not fit into %s", text, tt_type_name(type));
    }
    return TUTTI_OK;
}

static enum tutti_err convert_whole(const struct tt_conversion *conversion, const void *from, void *to, size_t count)
{
    const char *in = from;
    char *out = to;
    size_t from_size = tt_type_size(conversion->from), to_size = tt_type_size(conversion->to);
    bool truth = conversion->to == TUTTI_TYPE_BOOLEAN && conversion->from != TUTTI_TYPE_BOOLEAN;
    for (size_t i = 0; i < count; i++) {
        tt_wide value = read_whole(conversion->from, in + i * from_size);
        for (size_t m = 0; m < conversion->map_count; m++) {
            const struct tt_value_map *map = &conversion->maps[m];
            size_t at;
            TUTTI_SEARCH(at, map->count, map->from[at] < value);
            value = at < map->count && map->from[at] == value ? map->to[at] : value;
        }
        void *place = out + i * to_size;
        if (conversion->linear)
            TRY(conversion_write_number(conversion->to, place,
                                        conversion->factor * (double)value + conversion->offset));
        else if (conversion->to == TUTTI_TYPE_FLOAT64)
            *(double *)place = (double)value;
        else if (conversion->to == TUTTI_TYPE_FLOAT32)
            *(float *)place = (float)value;
        else
            TRY(conversion_write_whole(conversion->to, place, truth ? value != 0 : value));
    }
    return TUTTI_OK;
}

enum tutti_err tt_conversion_apply(const struct tt_conversion *conversion, const void *from, void *to, size_t count)
{
    if (tt_conversion_is_identity(conversion)) {
        if (count > 0)
            memcpy(to, from, count * tt_type_size(conversion->from));
        return TUTTI_OK;
    }
    if (!tt_type_is_float(conversion->from))
        return convert_whole(conversion, from, to, count);

    double factor = conversion->linear ? conversion->factor : 1, offset = conversion->linear ? conversion->offset : 0;
    bool wide = conversion->from == TUTTI_TYPE_FLOAT64;
    const double *from64 = from;
    const float *from32 = from;
    size_t size = tt_type_size(conversion->to);
    for (size_t i = 0; i < count; i++)
        TRY(conversion_write_number(conversion->to, (char *)to + i * size,
                                    factor * (wide ? from64[i] : (double)from32[i]) + offset));
    return TUTTI_OK;
}
