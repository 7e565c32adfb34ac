/* SPDX-License-Identifier: MIT */
#include "tell/json.h"

#include <math.h>
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

json_t *tutti_number_json(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static void give_up(json_t **container)
{
    json_decref(*container);
    *container = NULL;
}

void tutti_json_set(json_t **object, const char *key, json_t *value)
{
    if (json_object_set_new(*object, key, value) != 0)
        give_up(object);
}

void tutti_json_append(json_t **list, json_t *value)
{
    if (json_array_append_new(*list, value) != 0)
        give_up(list);
}
