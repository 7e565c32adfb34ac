/* SPDX-License-Identifier: MIT */
/* text_json.h - foreign text in JSON. */
#ifndef TUTTI_TELL_TEXT_JSON_H
#define TUTTI_TELL_TEXT_JSON_H

#include <jansson.h>

/* JSON is UTF-8; names of files and what FMUs say need not be: what is not becomes '?'. NULL: out of memory. */
json_t *tutti_text_json(const char *value);

#endif
