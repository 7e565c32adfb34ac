/* SPDX-License-Identifier: MIT */
#include "model/system/scaled.h"

#include <math.h>

#include "base/number.h"

static bool command_line_read_number(const char *text, size_t length, double *number)
{
    return tt_number_read_double(text, length, number) && isfinite(*number);
}

/* "+1", "-0.5" */
static bool command_line_read_offset(const char *text, size_t length, double *offset)
{
    if (length < 2 || (text[0] != '+' && text[0] != '-') || text[1] == '+' || text[1] == '-' ||
        !command_line_read_number(text + 1, length - 1, offset))
        return false;
    *offset = text[0] == '-' ? -*offset : *offset;
    return true;
}

/* "*2", "*1e-3-1", "+1" */
static bool command_line_read_scale(const char *text, size_t length, struct tt_scaled_name *scaled)
{
    *scaled = tt_command_line_unscaled(0);
    if (text[0] != '*')
        return command_line_read_offset(text, length, &scaled->offset);
    if (command_line_read_number(text + 1, length - 1, &scaled->factor))
        return true;
    for (size_t cut = length - 1; cut > 1; cut--)
        if (command_line_read_offset(text + cut, length - cut, &scaled->offset) &&
            command_line_read_number(text + 1, cut - 1, &scaled->factor))
            return true;
    return false;
}

struct tt_scaled_name tt_command_line_unscaled(size_t length)
{
    return (struct tt_scaled_name){.length = length, .factor = 1, .offset = 0};
}

bool tt_command_line_next_scaled(const char *text, size_t length, struct tt_scaled_name *scaled)
{
    for (size_t cut = scaled->length; cut > 1; cut--) {
        char sign = text[cut - 1];
        if ((sign == '*' || sign == '+' || sign == '-') &&
            command_line_read_scale(text + cut - 1, length - cut + 1, scaled)) {
            scaled->length = cut - 1;
            return true;
        }
    }
    return false;
}
