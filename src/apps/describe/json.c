/* SPDX-License-Identifier: MIT */
#include "apps/describe/json.h"

#include <math.h>
#include <stdlib.h>

#include "base/text.h"

json_t *tt_json_text(const char *value)
{
    char *copy = tt_text_copy(value);
    if (copy)
        tt_text_make_printable(copy);
    json_t *json = copy ? json_string(copy) : NULL;
    free(copy);
    return json;
}

json_t *tt_json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static void json_discard(json_t **container)
{
    json_decref(*container);
    *container = NULL;
}

void tt_json_set(json_t **object, const char *key, json_t *value)
{
    if (json_object_set_new(*object, key, value) != 0)
        json_discard(object);
}

void tt_json_append(json_t **list, json_t *value)
{
    if (json_array_append_new(*list, value) != 0)
        json_discard(list);
}
