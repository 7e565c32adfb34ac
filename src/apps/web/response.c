/* SPDX-License-Identifier: MIT */
#include "apps/web/response.h"

#include <stdlib.h>
#include <string.h>

#include "apps/describe/json.h"

static void response_set(struct tt_http_response *answer, unsigned status, const char *type, char *text, size_t size)
{
    *answer = (struct tt_http_response){.status = status, .type = type, .body = text, .size = size};
}

void tt_response_error(struct tt_http_response *answer, unsigned status, const char *why)
{
    static const char OUT_OF_MEMORY[] = "{\"error\":\"out of memory\"}";
    json_t *json = json_pack("{s:o}", "error", tt_json_text(why));
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    json_decref(json);
    response_set(answer, status, "application/json", text, text ? strlen(text) : 0);
    if (!text)
        *answer = (struct tt_http_response){.status = 500,
                                            .type = "application/json",
                                            .body = OUT_OF_MEMORY,
                                            .size = sizeof OUT_OF_MEMORY - 1,
                                            .is_lent = true};
}

void tt_response_json(struct tt_http_response *answer, unsigned status, json_t *json)
{
    char *text = json ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(json);
    if (text)
        response_set(answer, status, "application/json", text, strlen(text));
    else
        tt_response_error(answer, 500, "out of memory");
}

void tt_response_text(struct tt_http_response *answer, const char *type, char *text, size_t size)
{
    response_set(answer, 200, type, text, size);
}

void tt_response_fini(struct tt_http_response *answer)
{
    if (!answer->is_lent)
        free((void *)answer->body);
    *answer = (struct tt_http_response){0};
}

/* Any other error is 422: the request is well-formed, and its contents are wrong. */
static const struct {
    enum tutti_err err;
    unsigned status;
} statuses[] = {{TUTTI_ERR_ARGUMENT, 400}, {TUTTI_ERR_IO, 404},          {TUTTI_ERR_STATE, 409}, {TUTTI_ERR_LIMIT, 413},
                {TUTTI_ERR_MEMORY, 500},   {TUTTI_ERR_UNSUPPORTED, 501}, {TUTTI_ERR_LOST, 502}};
enum { STATUSES = sizeof statuses / sizeof *statuses, UNPROCESSABLE = 422 };

void tt_response_failure(struct tt_http_response *answer, enum tutti_err err)
{
    unsigned status = UNPROCESSABLE;
    for (size_t i = 0; i < STATUSES; i++)
        status = statuses[i].err == err ? statuses[i].status : status;
    tt_response_error(answer, status, tutti_err_message());
}

enum tutti_err tt_response_to_err(const struct tt_http_response *answer)
{
    enum tutti_err err = TUTTI_ERR_FORMAT;
    if (answer->status < 400)
        return TUTTI_OK;
    for (size_t i = 0; i < STATUSES; i++)
        err = statuses[i].status == answer->status ? statuses[i].err : err;
    json_t *json = json_loadb(answer->body, answer->size, 0, NULL);
    const char *why = json_string_value(json_object_get(json, "error"));
    err = tt_fail(err, "%s", why ? why : "the request failed without a message");
    json_decref(json);
    return err;
}
