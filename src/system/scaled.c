/* SPDX-License-Identifier: MIT */
#include "system/scaled.h"

#include <math.h>

#include "base/number.h"

static bool read_number(const char *text, size_t length, double *number)
{
    return tutti_number_read_double(text, length, number) && isfinite(*number);
}

/* "+1", "-0.5" */
static bool read_offset(const char *text, size_t length, double *offset)
{
    if (length < 2 || (text[0] != '+' && text[0] != '-') || text[1] == '+' || text[1] == '-' ||
        !read_number(text + 1, length - 1, offset))
        return false;
    *offset = text[0] == '-' ? -*offset : *offset;
    return true;
}

/* "*2", "*1e-3-1", "+1" */
static bool read_scale(const char *text, size_t length, struct tutti_scaled *scaled)
{
    *scaled = tutti_scaled_all(0);
    if (text[0] != '*')
        return read_offset(text, length, &scaled->offset);
    if (read_number(text + 1, length - 1, &scaled->factor))
        return true;
    for (size_t cut = length - 1; cut > 1; cut--)
        if (read_offset(text + cut, length - cut, &scaled->offset) && read_number(text + 1, cut - 1, &scaled->factor))
            return true;
    return false;
}

struct tutti_scaled tutti_scaled_all(size_t length)
{
    return (struct tutti_scaled){.length = length, .factor = 1, .offset = 0};
}

bool tutti_scaled_next(const char *text, size_t length, struct tutti_scaled *scaled)
{
    for (size_t cut = scaled->length; cut > 1; cut--) {
        char sign = text[cut - 1];
        if ((sign == '*' || sign == '+' || sign == '-') && read_scale(text + cut - 1, length - cut + 1, scaled)) {
            scaled->length = cut - 1;
            return true;
        }
    }
    return false;
}
