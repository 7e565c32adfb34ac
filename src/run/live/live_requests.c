/* SPDX-License-Identifier: MIT */
#include "run/live/live_requests.h"

#include <jansson.h>
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "run/live/sse.h"

enum { MOST_STEPS = 1000000 };

static bool respond_with_text(struct tt_http_response *answer, unsigned status, const char *type, struct tt_text *text)
{
    answer->status = status;
    answer->type = type;
    answer->body = text->failed ? NULL : text->text;
    answer->size = text->length;
    if (text->failed)
        tt_text_fini(text);
    return answer->body != NULL;
}

/* {"error":"..."} */
static bool live_requests_reject(struct tt_http_response *answer, unsigned status, const char *why)
{
    struct tt_text text = {0};
    tt_text_append(&text, "{\"error\":");
    tt_sse_write_text(&text, why);
    tt_text_append(&text, "}\n");
    return respond_with_text(answer, status, "application/json", &text);
}

/* ---- who asks ---- */

/* Takes the same time wherever they differ. */
static bool equals_token(const char *given, const char *token)
{
    size_t length = strlen(token);
    return strlen(given) == length && sodium_memcmp(given, token, length) == 0;
}

bool tt_live_server_admit(const struct tt_live_server_plan *plan, const struct tt_http_request *request,
                          struct tt_http_response *answer)
{
    static const char BEARER[] = "Bearer ";
    const char *header = request->header(request, "Authorization"), *given = request->argument(request, "token");
    if (header && strncmp(header, BEARER, sizeof BEARER - 1) == 0)
        given = header + sizeof BEARER - 1;
    if (given && equals_token(given, plan->token))
        return true;
    (void)live_requests_reject(answer, 401, "the token of this run is missing or wrong");
    return false;
}

/* ---- orders ---- */

static enum tutti_err live_requests_submit_order(const struct tt_live_server_plan *plan,
                                                 const struct tt_run_command *order)
{
    return tt_command_ring_push(plan->orders, order)
               ? TUTTI_OK
               : tt_fail(TUTTI_ERR_LIMIT, "%d orders wait for the run already; try again when it has taken them",
                         TUTTI_ORDERS_MOST);
}

static enum tutti_err submit_set_order(const struct tt_live_server_plan *plan, json_t *values)
{
    const char *name;
    json_t *value;
    struct tt_run_command order;
    if (!json_is_object(values))
        return tt_fail(TUTTI_ERR_ARGUMENT, "\"set\" takes an object: {\"unit.variable\": number}");
    for (int pass = 0; pass < 2; pass++) /* all of them, or none */
        json_object_foreach(values, name, value)
        {
            if (!json_is_number(value) && !json_is_boolean(value))
                return tt_fail(TUTTI_ERR_ARGUMENT, "'%s' is to be set to what is no number", name);
            double number = json_is_boolean(value) ? json_is_true(value) : json_number_value(value);
            order = (struct tt_run_command){0};
            TRY(plan->settle(plan->context, name, number, &order));
            if (pass == 1)
                TRY(live_requests_submit_order(plan, &order));
        }
    return TUTTI_OK;
}

static enum tutti_err submit_step_order(const struct tt_live_server_plan *plan, json_t *value)
{
    json_int_t count = json_is_integer(value) ? json_integer_value(value) : 0;
    return count >= 1 && count <= MOST_STEPS
               ? live_requests_submit_order(plan,
                                            &(struct tt_run_command){.kind = TUTTI_ORDER_STEP, .value = (double)count})
               : tt_fail(TUTTI_ERR_ARGUMENT, "\"step\" takes a number of steps from 1 to %d", MOST_STEPS);
}

static enum tutti_err handle_order_member(const struct tt_live_server_plan *plan, const char *name, json_t *value)
{
    static const struct {
        const char *name;
        enum tt_run_command_kind kind;
    } plain[] = {{"pause", TUTTI_ORDER_PAUSE}, {"go", TUTTI_ORDER_GO}, {"stop", TUTTI_ORDER_STOP}};
    if (strcmp(name, "set") == 0)
        return submit_set_order(plan, value);
    if (strcmp(name, "step") == 0)
        return submit_step_order(plan, value);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strcmp(name, plain[i].name) == 0)
            return json_is_true(value)
                       ? live_requests_submit_order(plan, &(struct tt_run_command){.kind = plain[i].kind})
                       : tt_fail(TUTTI_ERR_ARGUMENT, "\"%s\" takes true, and nothing else", name);
    return tt_fail(TUTTI_ERR_ARGUMENT, "there is no order '%s': pause, go, step, stop, set",
                   tt_text_excerpt(name).text);
}

static bool live_requests_handle_orders(const struct tt_live_server_plan *plan, const struct tt_http_request *request,
                                        struct tt_http_response *answer)
{
    json_error_t error;
    const char *name;
    json_t *value, *orders = json_loadb(request->body, request->size, JSON_REJECT_DUPLICATES, &error);
    if (!json_is_object(orders)) {
        json_decref(orders);
        return live_requests_reject(answer, 400, "an order is a JSON object: {\"pause\": true}");
    }
    enum tutti_err err = TUTTI_OK;
    json_object_foreach(orders, name, value) if (!err) err = handle_order_member(plan, name, value);
    json_decref(orders);
    if (err)
        return live_requests_reject(answer, err == TUTTI_ERR_LIMIT ? 503 : 400, tutti_err_message());
    struct tt_text text = {0};
    tt_text_append(&text, "{}\n");
    return respond_with_text(answer, 202, "application/json", &text);
}

/* ---- the rest ---- */

static bool live_requests_describe(const struct tt_live_server_plan *plan, struct tt_http_response *answer)
{
    struct tt_text text = {0};
    size_t *picked = NULL, count = 0;
    if (tt_live_state_select_columns(plan->board, NULL, &picked, &count))
        return false;
    tt_live_state_describe(plan->board, picked, count, &text);
    tt_text_append(&text, "\n");
    free(picked);
    return respond_with_text(answer, 200, "application/json", &text);
}

static bool live_requests_metrics(const struct tt_live_server_plan *plan, unsigned viewers,
                                  struct tt_http_response *answer)
{
    struct tt_text text = {0};
    tt_live_state_write_metrics(plan->board, viewers, &text);
    return respond_with_text(answer, 200, "text/plain; version=0.0.4; charset=utf-8", &text);
}

bool tt_live_server_answer(const struct tt_live_server_plan *plan, unsigned viewers,
                           const struct tt_http_request *request, struct tt_http_response *answer)
{
    bool get = strcmp(request->method, "GET") == 0;
    if (strcmp(request->path, "/orders") == 0)
        return strcmp(request->method, "POST") == 0 ? live_requests_handle_orders(plan, request, answer)
                                                    : live_requests_reject(answer, 405, "orders come by POST");
    if (get && strcmp(request->path, "/") == 0)
        return live_requests_describe(plan, answer);
    return get && strcmp(request->path, "/metrics") == 0 && live_requests_metrics(plan, viewers, answer);
}
