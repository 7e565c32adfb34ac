/* SPDX-License-Identifier: MIT */
#include "tell/text_json.h"

#include <stdlib.h>

#include "base/str.h"

json_t *tutti_text_json(const char *value)
{
    char *copy = tutti_str_copy(value);
    if (copy)
        tutti_str_make_printable(copy);
    json_t *json = copy ? json_string(copy) : NULL;
    free(copy);
    return json;
}
