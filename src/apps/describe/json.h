/* SPDX-License-Identifier: MIT */
/* json.h - JSON without missing parts: if a member cannot be added, the object or list becomes NULL, and so does its
 * parent. */
#ifndef TT_APPS_DESCRIBE_JSON_H
#define TT_APPS_DESCRIBE_JSON_H

#include <jansson.h>

/* Makes a text. JSON is UTF-8; file names and texts of FMUs may not be: invalid bytes become '?'. NULL: out of memory. */
json_t *tt_json_text(const char *value);
/* JSON has no NaN and no infinity: they become null. */
json_t *tt_json_number(double value);

/* Put `value`, which they take, into an object or at the end of a list. If that fails, or the value is NULL, *object (*list) is freed and
 * becomes NULL, and stays so. */
void tt_json_set(json_t **object, const char *key, json_t *value);
void tt_json_append(json_t **list, json_t *value);

#endif
