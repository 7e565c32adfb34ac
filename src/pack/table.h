/* SPDX-License-Identifier: MIT */
/* table.h - the variables of a packed system: resources/tutti.json, which `tutti pack` writes (<tutti/pack.h>). The value reference of a
 * variable is its place in the table plus 1; 0 is the time. */
#ifndef TUTTI_PACK_TABLE_H
#define TUTTI_PACK_TABLE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "description/type.h"
#include "system/conversion.h"

/* Where the system lies in the resources, and the table itself. */
#define TUTTI_PACKED_SYSTEM "system"
#define TUTTI_PACKED_TABLE "tutti.json"

enum tutti_packed_role {
    TUTTI_PACKED_INPUT,
    TUTTI_PACKED_OUTPUT,
    TUTTI_PACKED_PARAMETER, /* set before the start */
    TUTTI_PACKED_TUNABLE,   /* a parameter that may also be set between steps */
};

/* One value of any type that is no Binary. */
union tutti_packed_value {
    double number;
    uint64_t bits;
    char *text;
};

struct tutti_packed_row {
    const char *name;   /* of the FMU's variable */
    const char *target; /* "unit.var"; NULL: it is the connector `name` of the system itself */
    enum tutti_type type;
    enum tutti_packed_role role;
    bool moves; /* an input that changes continuously */
};

struct tutti_packed_table {
    char *token;
    struct tutti_packed_row *rows;
    size_t count;
    struct tutti_arena arena;
};

/* IO, FORMAT. Zeroed before; fini also after a failure. */
TUTTI_CHECKED enum tutti_err tutti_packed_table_read(struct tutti_packed_table *table, const char *path);
void tutti_packed_table_fini(struct tutti_packed_table *table);

/* A value as text, for files and for tutti_simulation_set; of an Enumeration its number. */
void tutti_packed_write_value(struct tutti_text *text, enum tutti_type type, const union tutti_packed_value *value);
/* The value of an input of the system that its unit has as `value`; 0 where the way back is not known. */
union tutti_packed_value tutti_packed_before(const struct tutti_conversion *conversion, union tutti_packed_value value);
/* "input", "output", "parameter", "tunable". */
const char *tutti_packed_role_name(enum tutti_packed_role role);

#endif
