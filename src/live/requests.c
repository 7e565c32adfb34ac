/* SPDX-License-Identifier: MIT */
#include "live/requests.h"

#include <jansson.h>
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "live/news.h"

enum { MOST_STEPS = 1000000 };

static bool answer_text(struct tutti_http_answer *answer, unsigned status, const char *type, struct tutti_text *text)
{
    answer->status = status;
    answer->type = type;
    answer->body = text->failed ? NULL : text->text;
    answer->size = text->length;
    if (text->failed)
        tutti_text_fini(text);
    return answer->body != NULL;
}

/* {"error":"..."} */
static bool refuse(struct tutti_http_answer *answer, unsigned status, const char *why)
{
    struct tutti_text text = {0};
    tutti_text_append(&text, "{\"error\":");
    tutti_news_put_text(&text, why);
    tutti_text_append(&text, "}\n");
    return answer_text(answer, status, "application/json", &text);
}

/* ---- who asks ---- */

/* Takes the same time wherever they differ. */
static bool is_token(const char *given, const char *token)
{
    size_t length = strlen(token);
    return strlen(given) == length && sodium_memcmp(given, token, length) == 0;
}

bool tutti_live_admit(const struct tutti_live_plan *plan, const struct tutti_http_request *request,
                      struct tutti_http_answer *answer)
{
    static const char BEARER[] = "Bearer ";
    const char *header = request->header(request, "Authorization"), *given = request->argument(request, "token");
    if (header && strncmp(header, BEARER, sizeof BEARER - 1) == 0)
        given = header + sizeof BEARER - 1;
    if (given && is_token(given, plan->token))
        return true;
    (void)refuse(answer, 401, "the token of this run is missing or wrong");
    return false;
}

/* ---- orders ---- */

static enum tutti_err give(const struct tutti_live_plan *plan, const struct tutti_run_order *order)
{
    return tutti_orders_give(plan->orders, order)
               ? TUTTI_OK
               : tutti_fail(TUTTI_ERR_LIMIT, "%d orders wait for the run already; try again when it has taken them",
                            TUTTI_ORDERS_MOST);
}

static enum tutti_err order_set(const struct tutti_live_plan *plan, json_t *values)
{
    const char *name;
    json_t *value;
    struct tutti_run_order order;
    if (!json_is_object(values))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "\"set\" takes an object: {\"unit.variable\": number}");
    for (int pass = 0; pass < 2; pass++) /* all of them, or none */
        json_object_foreach(values, name, value)
        {
            if (!json_is_number(value) && !json_is_boolean(value))
                return tutti_fail(TUTTI_ERR_ARGUMENT, "'%s' is to be set to what is no number", name);
            double number = json_is_boolean(value) ? json_is_true(value) : json_number_value(value);
            order = (struct tutti_run_order){0};
            TRY(plan->settle(plan->context, name, number, &order));
            if (pass == 1)
                TRY(give(plan, &order));
        }
    return TUTTI_OK;
}

static enum tutti_err order_steps(const struct tutti_live_plan *plan, json_t *value)
{
    json_int_t count = json_is_integer(value) ? json_integer_value(value) : 0;
    return count >= 1 && count <= MOST_STEPS
               ? give(plan, &(struct tutti_run_order){.kind = TUTTI_ORDER_STEP, .value = (double)count})
               : tutti_fail(TUTTI_ERR_ARGUMENT, "\"step\" takes a number of steps from 1 to %d", MOST_STEPS);
}

static enum tutti_err obey_one(const struct tutti_live_plan *plan, const char *name, json_t *value)
{
    static const struct {
        const char *name;
        enum tutti_run_order_kind kind;
    } plain[] = {{"pause", TUTTI_ORDER_PAUSE}, {"go", TUTTI_ORDER_GO}, {"stop", TUTTI_ORDER_STOP}};
    if (strcmp(name, "set") == 0)
        return order_set(plan, value);
    if (strcmp(name, "step") == 0)
        return order_steps(plan, value);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strcmp(name, plain[i].name) == 0)
            return json_is_true(value) ? give(plan, &(struct tutti_run_order){.kind = plain[i].kind})
                                       : tutti_fail(TUTTI_ERR_ARGUMENT, "\"%s\" takes true, and nothing else", name);
    return tutti_fail(TUTTI_ERR_ARGUMENT, "there is no order '%s': pause, go, step, stop, set",
                      tutti_str_show(name).text);
}

static bool obey(const struct tutti_live_plan *plan, const struct tutti_http_request *request,
                 struct tutti_http_answer *answer)
{
    json_error_t error;
    const char *name;
    json_t *value, *orders = json_loadb(request->body, request->size, JSON_REJECT_DUPLICATES, &error);
    if (!json_is_object(orders)) {
        json_decref(orders);
        return refuse(answer, 400, "an order is a JSON object: {\"pause\": true}");
    }
    enum tutti_err err = TUTTI_OK;
    json_object_foreach(orders, name, value) if (!err) err = obey_one(plan, name, value);
    json_decref(orders);
    if (err)
        return refuse(answer, err == TUTTI_ERR_LIMIT ? 503 : 400, tutti_err_message());
    struct tutti_text text = {0};
    tutti_text_append(&text, "{}\n");
    return answer_text(answer, 202, "application/json", &text);
}

/* ---- the rest ---- */

static bool describe(const struct tutti_live_plan *plan, struct tutti_http_answer *answer)
{
    struct tutti_text text = {0};
    size_t *picked = NULL, count = 0;
    if (tutti_board_pick(plan->board, NULL, &picked, &count))
        return false;
    tutti_board_describe(plan->board, picked, count, &text);
    tutti_text_append(&text, "\n");
    free(picked);
    return answer_text(answer, 200, "application/json", &text);
}

static bool measure(const struct tutti_live_plan *plan, unsigned viewers, struct tutti_http_answer *answer)
{
    struct tutti_text text = {0};
    tutti_board_measure(plan->board, viewers, &text);
    return answer_text(answer, 200, "text/plain; version=0.0.4; charset=utf-8", &text);
}

bool tutti_live_answer(const struct tutti_live_plan *plan, unsigned viewers, const struct tutti_http_request *request,
                       struct tutti_http_answer *answer)
{
    bool get = strcmp(request->method, "GET") == 0;
    if (strcmp(request->path, "/orders") == 0)
        return strcmp(request->method, "POST") == 0 ? obey(plan, request, answer)
                                                    : refuse(answer, 405, "orders come by POST");
    if (get && strcmp(request->path, "/") == 0)
        return describe(plan, answer);
    return get && strcmp(request->path, "/metrics") == 0 && measure(plan, viewers, answer);
}
