/* SPDX-License-Identifier: MIT */
#include "fmu/description/type.h"

const char *tt_type_name(enum tt_type type)
{
    static const char *const names[] = {
#define X(name, text, ctype) text,
        TUTTI_TYPES(X)
#undef X
    };
    return names[type];
}

size_t tt_type_size(enum tt_type type)
{
    static const size_t sizes[] = {
#define X(name, text, ctype) sizeof(ctype),
        TUTTI_TYPES(X)
#undef X
    };
    return sizes[type];
}

void tt_type_negate(enum tt_type type, void *value)
{
    if (type == TUTTI_TYPE_FLOAT64)
        *(double *)value = -*(double *)value;
    else if (type == TUTTI_TYPE_INT32) /* INT32_MIN has no negative: it stays */
        *(uint32_t *)value = 0u - *(uint32_t *)value;
}
