/* SPDX-License-Identifier: MIT */
/* answer.h - answers of the server: JSON, text, files; refusals as {"error": "a sentence"}. */
#ifndef TUTTI_WEB_ANSWER_H
#define TUTTI_WEB_ANSWER_H

#include <jansson.h>

#include "base/str.h"
#include "serve/http.h"

/* Takes `json`; NULL (memory was out) becomes an error. */
void tutti_web_answer_json(struct tutti_http_answer *answer, unsigned status, json_t *json);
/* Takes `text`, which is by malloc. */
void tutti_web_answer_text(struct tutti_http_answer *answer, const char *type, char *text, size_t size);
void tutti_web_answer_error(struct tutti_http_answer *answer, unsigned status, const char *why);
/* Frees the body of an answer that nobody gets. */
void tutti_web_answer_fini(struct tutti_http_answer *answer);
/* This thread's message, with the status that fits the error. */
void tutti_web_answer_failure(struct tutti_http_answer *answer, enum tutti_err err);
/* The other way round: an answer of status 400 or more as an error with its message. */
TUTTI_CHECKED enum tutti_err tutti_web_answer_fail(const struct tutti_http_answer *answer);

#endif
