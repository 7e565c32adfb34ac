/* SPDX-License-Identifier: MIT */
#include "results/row_cell.h"

#include <stdint.h>
#include <string.h>

#include "base/number.h"

#define PUT_NUMBER(NAME, ctype, write, minus)                                                                          \
    static char *put_##NAME(char *at, const struct tt_row_cell *cell)                                                  \
    {                                                                                                                  \
        return at + write(at, *(const ctype *)cell->value);                                                            \
    }                                                                                                                  \
    static char *put_negated_##NAME(char *at, const struct tt_row_cell *cell)                                          \
    {                                                                                                                  \
        return minus(at, *(const ctype *)cell->value);                                                                 \
    }

/* 0 - x, not -x: minus nothing is nothing, not "-0". */
static char *put_negated_double(char *at, double value)
{
    return at + tt_number_write_double(at, 0 - value);
}

static char *put_negated_float(char *at, float value)
{
    return at + tt_number_write_float(at, 0 - value);
}

static char *put_negated_uint(char *at, uint64_t value)
{
    if (value > 0)
        *at++ = '-';
    return at + tt_number_write_uint(at, value);
}

static char *put_negated_int(char *at, int64_t value)
{
    /* The least integer has no positive counterpart. */
    return value > 0 ? put_negated_uint(at, (uint64_t)value) : at + tt_number_write_uint(at, 0 - (uint64_t)value);
}

PUT_NUMBER(FLOAT64, double, tt_number_write_double, put_negated_double)
PUT_NUMBER(FLOAT32, float, tt_number_write_float, put_negated_float)
PUT_NUMBER(INT8, int8_t, tt_number_write_int, put_negated_int)
PUT_NUMBER(UINT8, uint8_t, tt_number_write_uint, put_negated_uint)
PUT_NUMBER(INT16, int16_t, tt_number_write_int, put_negated_int)
PUT_NUMBER(UINT16, uint16_t, tt_number_write_uint, put_negated_uint)
PUT_NUMBER(INT32, int32_t, tt_number_write_int, put_negated_int)
PUT_NUMBER(UINT32, uint32_t, tt_number_write_uint, put_negated_uint)
PUT_NUMBER(INT64, int64_t, tt_number_write_int, put_negated_int)
PUT_NUMBER(UINT64, uint64_t, tt_number_write_uint, put_negated_uint)
PUT_NUMBER(ENUMERATION, int64_t, tt_number_write_int, put_negated_int)

static char *put_BOOLEAN(char *at, const struct tt_row_cell *cell)
{
    *at = *(const bool *)cell->value ? '1' : '0';
    return at + 1;
}

#define put_negated_BOOLEAN put_BOOLEAN
#define put_CLOCK put_BOOLEAN
#define put_negated_CLOCK put_BOOLEAN
#define put_STRING NULL
#define put_negated_STRING NULL
#define put_BINARY NULL
#define put_negated_BINARY NULL

struct tt_row_cell tt_row_writer_cell(const struct tt_column *column)
{
    static char *(*const puts[][2])(char *, const struct tt_row_cell *) = {
#define X(name, text, ctype) {put_##name, put_negated_##name},
        TUTTI_TYPES(X)
#undef X
    };
    return (struct tt_row_cell){.put = puts[column->type][column->negated], .value = column->value};
}

void tt_row_writer_measure_cell(struct tt_row_cell *cell, enum tt_type type)
{
    if (type == TUTTI_TYPE_STRING) {
        const char *text = *(const char *const *)cell->value;
        cell->length = text ? strlen(text) : 0;
    } else {
        const struct tt_bytes *bytes = cell->value;
        cell->length = bytes->data ? bytes->size : 0;
    }
}

char *tt_row_writer_put_binary(char *at, const struct tt_row_cell *cell)
{
    const struct tt_bytes *bytes = cell->value;
    for (size_t i = 0; i < cell->length; i++) {
        *at++ = "0123456789abcdef"[bytes->data[i] >> 4];
        *at++ = "0123456789abcdef"[bytes->data[i] & 15];
    }
    return at;
}
