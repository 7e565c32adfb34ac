/* SPDX-License-Identifier: MIT */
/* packed_table.h - the variables of a packed system: resources/tutti.json, which `tutti pack` writes (<tutti/pack.h>). The value reference of a
 * variable is its place in the table plus 1; 0 is the time. */
#ifndef TT_APPS_PACK_PACKED_TABLE_H
#define TT_APPS_PACK_PACKED_TABLE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/text.h"
#include "fmu/description/type.h"
#include "model/system/conversion.h"
#include "model/system/setting.h"

/* Where the system lies in the resources, and the table itself. */
#define TUTTI_PACKED_SYSTEM "system"
#define TUTTI_PACKED_TABLE "tutti.json"

enum tt_packed_role {
    TUTTI_PACKED_INPUT,
    TUTTI_PACKED_OUTPUT,
    TUTTI_PACKED_PARAMETER, /* set before the start */
    TUTTI_PACKED_TUNABLE,   /* a parameter that may also be set between steps */
    TUTTI_PACKED_INDICATOR, /* event indicators of a unit (Model Exchange, FMI 3.0), in the order of units */
};

/* One value of any type. */
union tt_packed_value {
    double number;
    uint64_t bits;
    const char *text;
    struct tt_bytes bytes;
};

struct tt_packed_row {
    const char *name; /* of the FMU's variable */
    const char
        *target; /* "unit.var", "unit.var[2]"; NULL: the connector `name` of the system itself; or of an INDICATOR */
    enum tt_type type;
    enum tt_packed_role role;
    bool moves; /* an input that changes continuously */
    size_t dimension_count;
    uint64_t dimensions[TUTTI_MOST_INDICES]; /* of an array */
};

/* Values of the variable. */
static inline size_t tt_packed_table_row_size(const struct tt_packed_row *row)
{
    size_t size = 1;
    for (size_t d = 0; d < row->dimension_count; d++)
        size *= row->dimensions[d];
    return size;
}

struct tt_packed_table {
    char *token;
    struct tt_packed_row *rows;
    size_t count;
    bool exchange;             /* the FMU supports Model Exchange, too */
    size_t states, indicators; /* their numbers, for Model Exchange */
    struct tt_arena arena;
};

/* IO, FORMAT. Zeroed before; fini also after a failure. */
TUTTI_CHECKED enum tutti_err tt_packed_table_read(struct tt_packed_table *table, const char *path);
void tt_packed_table_fini(struct tt_packed_table *table);

/* Writes a value, laid out as fmu/description/type.h defines, as text for files and tutti_simulation_set; of an
 * Enumeration its number, of a Binary hexadecimal digits. */
void tt_packed_table_write_value(struct tt_text *text, enum tt_type type, const void *value);
/* The value of an input of the system that its unit has as `value`; 0 where the way back is not known. */
union tt_packed_value tt_packed_table_invert_conversion(const struct tt_conversion *conversion,
                                                        union tt_packed_value value);
/* "input", "output", ... */
const char *tt_packed_table_role_name(enum tt_packed_role role);

#endif
