/* SPDX-License-Identifier: MIT */
#ifndef TT_MODEL_SYSTEM_COMMAND_LINE_H
#define TT_MODEL_SYSTEM_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>

/* "a.y*2+1": a name that a factor and an offset follow, as --connect takes it. */

struct tt_scaled_name {
    size_t length; /* of the name */
    double factor, offset;
};

/* The whole text is a name. */
struct tt_scaled_name tt_command_line_unscaled(size_t length);
/* Finds the next shorter name that leaves *FACTOR, +OFFSET, -OFFSET or both after it. Names may contain these signs,
 * too: callers begin with the whole text and use the first name that exists. False: no shorter name. */
bool tt_command_line_next_scaled(const char *text, size_t length, struct tt_scaled_name *scaled);

#endif
