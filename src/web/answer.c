/* SPDX-License-Identifier: MIT */
#include "web/answer.h"

#include <stdlib.h>
#include <string.h>

#include "tell/json.h"

static void set(struct tutti_http_answer *answer, unsigned status, const char *type, char *text, size_t size)
{
    *answer = (struct tutti_http_answer){.status = status, .type = type, .body = text, .size = size};
}

void tutti_web_answer_error(struct tutti_http_answer *answer, unsigned status, const char *why)
{
    static const char OUT_OF_MEMORY[] = "{\"error\":\"out of memory\"}";
    json_t *json = json_pack("{s:o}", "error", tutti_text_json(why));
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    json_decref(json);
    set(answer, status, "application/json", text, text ? strlen(text) : 0);
    if (!text)
        *answer = (struct tutti_http_answer){.status = 500,
                                             .type = "application/json",
                                             .body = OUT_OF_MEMORY,
                                             .size = sizeof OUT_OF_MEMORY - 1,
                                             .is_lent = true};
}

void tutti_web_answer_json(struct tutti_http_answer *answer, unsigned status, json_t *json)
{
    char *text = json ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(json);
    if (text)
        set(answer, status, "application/json", text, strlen(text));
    else
        tutti_web_answer_error(answer, 500, "out of memory");
}

void tutti_web_answer_text(struct tutti_http_answer *answer, const char *type, char *text, size_t size)
{
    set(answer, 200, type, text, size);
}

void tutti_web_answer_failure(struct tutti_http_answer *answer, enum tutti_err err)
{
    unsigned status = 422; /* what came is well-formed, and wrong */
    if (err == TUTTI_ERR_ARGUMENT)
        status = 400;
    else if (err == TUTTI_ERR_IO)
        status = 404;
    else if (err == TUTTI_ERR_STATE)
        status = 409;
    else if (err == TUTTI_ERR_LIMIT)
        status = 413;
    else if (err == TUTTI_ERR_MEMORY)
        status = 500;
    else if (err == TUTTI_ERR_UNSUPPORTED)
        status = 501;
    else if (err == TUTTI_ERR_LOST)
        status = 502;
    tutti_web_answer_error(answer, status, tutti_err_message());
}
