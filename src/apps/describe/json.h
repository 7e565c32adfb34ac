/* SPDX-License-Identifier: MIT */
/* json.h - JSON whose parts are all there: an object or list that could not take one is none, and neither is what it would be a part of. */
#ifndef TT_APPS_DESCRIBE_JSON_H
#define TT_APPS_DESCRIBE_JSON_H

#include <jansson.h>

/* JSON is UTF-8; names of files and what FMUs say need not be: what is not becomes '?'. NULL: out of memory. */
json_t *tt_json_text(const char *value);
/* JSON has no NaN and no infinity: they become null. */
json_t *tt_json_number(double value);

/* Put `value`, which they take, into an object or at the end of a list. If that fails, or the value is NULL, *object (*list) is freed and
 * becomes NULL, and stays so. */
void tt_json_set(json_t **object, const char *key, json_t *value);
void tt_json_append(json_t **list, json_t *value);

#endif
