/* SPDX-License-Identifier: MIT */
/* response.h - answers of the server: JSON, text, files; refusals as {"error": "a sentence"}. */
#ifndef TT_APPS_WEB_RESPONSE_H
#define TT_APPS_WEB_RESPONSE_H

#include <jansson.h>

#include "base/text.h"
#include "run/net/http.h"

/* Takes `json`; NULL (memory was out) becomes an error. */
void tt_response_json(struct tt_http_response *answer, unsigned status, json_t *json);
/* Takes `text`, which is by malloc. */
void tt_response_text(struct tt_http_response *answer, const char *type, char *text, size_t size);
void tt_response_error(struct tt_http_response *answer, unsigned status, const char *why);
/* Frees the body of an answer that is not sent. */
void tt_response_fini(struct tt_http_response *answer);
/* This thread's message, with the status that fits the error. */
void tt_response_failure(struct tt_http_response *answer, enum tutti_err err);
/* The other way round: an answer of status 400 or more as an error with its message. */
TUTTI_CHECKED enum tutti_err tt_response_to_err(const struct tt_http_response *answer);

#endif
