/* SPDX-License-Identifier: MIT */
#include "run/live/live_server.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/thread.h"
#include "base/wall_clock.h"
#include "run/live/sse.h"

enum { LARGEST_ORDER = 65536, MOST_CONNECTIONS = 64 };
/* Seconds: between two checks of the board with viewers; between heartbeats on a quiet line; for viewers at the end. */
static const double TICK = 1.0 / 30, QUIET = 5, FAREWELL = 1;

struct live_stream {
    struct tt_live_server *broadcast;
    char *patterns;             /* of columns; NULL: all */
    bool past_rows, past_steps; /* it requests past data */
    struct tt_viewer *viewer;   /* NULL: the columns are not known yet */
    struct live_stream *previous, *next;
};

struct tt_live_server {
    struct tt_live_server_plan plan;
    char *token;
    struct tt_http *http;
    pthread_t thread;
    int bell; /* rings when it is to end */
    atomic_bool ends;
    struct live_stream *guests;
    unsigned guest_count;
    bool watched; /* as reported to the run */
    struct tt_text events;
    double last_tick, last_word;
};

/* ---- viewers ---- */

static void live_server_remove_viewer(void *context)
{
    struct live_stream *guest = context;
    struct tt_live_server *broadcast = guest->broadcast;
    *(guest->previous ? &guest->previous->next : &broadcast->guests) = guest->next;
    if (guest->next)
        guest->next->previous = guest->previous;
    broadcast->guest_count--;
    tt_live_server_viewer_free(guest->viewer);
    free(guest->patterns);
    free(guest);
}

static ptrdiff_t read_viewer_stream(void *context, char *bytes, size_t size)
{
    struct live_stream *guest = context;
    return guest->viewer ? tt_live_server_viewer_read(guest->viewer, bytes, size) : 0;
}

/* Sends the viewer's columns, once these are known. */
static void send_welcome(struct live_stream *guest)
{
    struct tt_live_state *board = guest->broadcast->plan.board;
    struct tt_text text = {0};
    size_t *picked = NULL, count = 0;
    if (!tt_live_state_select_columns(board, guest->patterns, &picked, &count) &&
        !tt_live_server_viewer_new(&guest->viewer, picked, count)) {
        tt_live_state_write_welcome(board, picked, count, &text);
        if (guest->past_steps)
            tt_live_state_write_steps(board, &text);
        tt_live_server_viewer_add_event(guest->viewer, text.text, text.length);
        const struct tt_feed_block *past = guest->past_rows ? tt_live_state_past_rows(board) : NULL;
        if (past)
            tt_live_server_viewer_add_past(guest->viewer, past);
    }
    free(picked);
    tt_text_fini(&text);
}

static bool admit_viewer(struct tt_live_server *broadcast, const struct tt_http_request *request,
                         struct tt_http_response *answer)
{
    const char *patterns = request->argument(request, "columns"), *past = request->argument(request, "past");
    struct live_stream *guest = calloc(1, sizeof *guest);
    char *copy = patterns ? tt_text_copy(patterns) : NULL;
    if (!guest || (patterns && !copy)) {
        free(guest);
        free(copy);
        return false;
    }
    *guest = (struct live_stream){.broadcast = broadcast,
                                  .patterns = copy,
                                  .past_rows = past && strstr(past, "rows"),
                                  .past_steps = past && strstr(past, "steps"),
                                  .next = broadcast->guests};
    if (guest->next)
        guest->next->previous = guest;
    broadcast->guests = guest;
    broadcast->guest_count++;
    *answer = (struct tt_http_response){.status = 200,
                                        .type = "text/event-stream",
                                        .stream = {read_viewer_stream, live_server_remove_viewer, guest},
                                        .headers = {{"X-Accel-Buffering", "no"}}};
    return true;
}

/* ---- requests ---- */

static bool live_server_admit(void *context, const struct tt_http_request *request, struct tt_http_response *out)
{
    const struct tt_live_server *broadcast = context;
    return tt_live_server_admit(&broadcast->plan, request, out);
}

static bool live_server_answer(void *context, const struct tt_http_request *request, struct tt_http_response *out)
{
    struct tt_live_server *broadcast = context;
    return strcmp(request->path, "/events") == 0 && strcmp(request->method, "GET") == 0
               ? admit_viewer(broadcast, request, out)
               : tt_live_server_answer(&broadcast->plan, broadcast->guest_count, request, out);
}

/* ---- the thread ---- */

/* Sends new data to all viewers. */
static void live_server_publish(struct tt_live_server *broadcast)
{
    static const char SIGN_OF_LIFE[] = ":\n\n";
    struct tt_live_state *board = broadcast->plan.board;
    enum tt_live_phase stage = tt_live_state_phase(board); /* before the last look at its rows */
    const struct tt_feed_block *block = tt_live_state_next_block(board, &broadcast->events);
    struct tt_text *events = &broadcast->events, last = {0};
    double now = tt_wall_clock_now();
    if (!block && events->length == 0 && now - broadcast->last_word > QUIET)
        tt_text_append(events, SIGN_OF_LIFE);
    if (block || events->length > 0)
        broadcast->last_word = now;
    if (stage == TUTTI_BOARD_OVER)
        tt_live_state_write_end(board, &last);
    for (struct live_stream *guest = broadcast->guests; guest; guest = guest->next) {
        if (!guest->viewer && stage != TUTTI_BOARD_EMPTY)
            send_welcome(guest);
        else if (guest->viewer && events->length > 0)
            tt_live_server_viewer_add_event(guest->viewer, events->text, events->length);
        if (guest->viewer && block)
            tt_live_server_viewer_add_rows(guest->viewer, block);
        if (guest->viewer && last.length > 0)
            tt_live_server_viewer_end(guest->viewer, last.text, last.length);
    }
    if (block)
        tt_live_state_append_past(board, block);
    tt_text_fini(&last);

    /* The run makes rows only while someone watches. If too many orders wait, it is notified with the next tick. */
    bool watched = broadcast->guests != NULL;
    if (watched != broadcast->watched &&
        tt_command_ring_push(broadcast->plan.orders,
                             &(struct tt_run_command){.kind = TUTTI_ORDER_WATCH, .value = watched}))
        broadcast->watched = watched;

    broadcast->last_tick = now;
    broadcast->plan.module->wake(broadcast->http);
}

static void *live_server_thread(void *context)
{
    struct tt_live_server *broadcast = context;
    const struct tt_http_module *module = broadcast->plan.module;
    struct pollfd watched[] = {{.fd = module->descriptor(broadcast->http), .events = POLLIN},
                               {.fd = broadcast->bell, .events = POLLIN}};
    double deadline = 0;
    for (;;) {
        int wish = module->run(broadcast->http);
        bool ends = broadcast->ends;
        if (ends && deadline == 0)
            deadline = tt_wall_clock_now() + FAREWELL;
        if (ends && (!broadcast->guests || tt_wall_clock_now() > deadline))
            return NULL;
        int most = broadcast->guests ? (int)(1e3 * TICK) : 500; /* milliseconds */
        (void)poll(watched, ends ? 1 : 2, wish >= 0 && wish < most ? wish : most);
        if (ends || tt_wall_clock_now() - broadcast->last_tick >= TICK)
            live_server_publish(broadcast);
    }
}

/* ---- beginning and end ---- */

static void live_server_release(struct tt_live_server *broadcast)
{
    broadcast->plan.module->stop(broadcast->http);
    if (broadcast->bell >= 0)
        close(broadcast->bell);
    tt_text_fini(&broadcast->events);
    free(broadcast->token);
    free(broadcast);
}

static enum tutti_err live_server_start(struct tt_live_server *broadcast)
{
    const struct tt_live_server_plan *plan = &broadcast->plan;
    broadcast->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    broadcast->token = tt_text_copy(plan->token);
    broadcast->plan.token = broadcast->token;
    broadcast->http = plan->module->start(&(struct tt_http_plan){.socket = plan->socket,
                                                                 .answer = live_server_answer,
                                                                 .admit = live_server_admit,
                                                                 .context = broadcast,
                                                                 .largest_body = LARGEST_ORDER,
                                                                 .most = MOST_CONNECTIONS,
                                                                 .certificate = plan->certificate,
                                                                 .key = plan->key});
    if (!broadcast->token)
        return tt_fail_memory();
    if (!broadcast->http || broadcast->bell < 0)
        return tt_fail(TUTTI_ERR_IO, "--live: the server cannot be started");
    int failed = tt_thread_start(&broadcast->thread, live_server_thread, broadcast);
    return failed ? tt_fail(TUTTI_ERR_LIMIT, "--live: cannot start a thread: %s", strerror(failed)) : TUTTI_OK;
}

enum tutti_err tt_live_server_open(struct tt_live_server **out, const struct tt_live_server_plan *plan)
{
    struct tt_live_server *broadcast = calloc(1, sizeof *broadcast);
    if (!broadcast) {
        close(plan->socket);
        return tt_fail_memory();
    }
    broadcast->plan = *plan;
    enum tutti_err err = live_server_start(broadcast);
    if (err)
        live_server_release(broadcast);
    else
        *out = broadcast;
    return err;
}

void tt_live_server_close(struct tt_live_server *broadcast)
{
    if (!broadcast)
        return;
    broadcast->ends = true;
    (void)!write(broadcast->bell, &(uint64_t){1}, sizeof(uint64_t));
    pthread_join(broadcast->thread, NULL);
    live_server_release(broadcast);
}

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

bool tt_live_server_admit(const struct tt_live_server_plan *plan, const struct tt_http_request *request,
                          struct tt_http_response *answer)
{
    static const char BEARER[] = "Bearer ";
    const char *header = request->header(request, "Authorization"), *given = request->argument(request, "token");
    if (header && strncmp(header, BEARER, sizeof BEARER - 1) == 0)
        given = header + sizeof BEARER - 1;
    size_t length = strlen(plan->token);
    if (given && strlen(given) == length && sodium_memcmp(given, plan->token, length) == 0) /* in constant time */
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

/* ---- descriptions and metrics ---- */

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

enum { MOST_WAITING = 4 << 20 }; /* bytes of events other than rows */

struct tt_viewer {
    struct tt_feed *feed;
    size_t *picked;
    size_t count;
    double *values; /* of a bar: least, greatest, final */
    struct tt_text out;
    size_t gone;         /* bytes of `out` that were read */
    struct tt_text last; /* the last event */
    bool sees;           /* it has got rows */
    bool over, lost;
};

enum tutti_err tt_live_server_viewer_new(struct tt_viewer **out, const size_t *picked, size_t count)
{
    struct tt_viewer *viewer = calloc(1, sizeof *viewer);
    if (!viewer)
        return tt_fail_memory();
    viewer->count = count;
    viewer->picked = calloc(count + 1, sizeof *picked);
    viewer->values = calloc(count + 1, 3 * sizeof *viewer->values);
    enum tutti_err err = viewer->picked && viewer->values
                             ? tt_feed_new(&viewer->feed, count, TUTTI_FEED_ROWS, TUTTI_FEED_COARSE)
                             : tt_fail_memory();
    if (err) {
        tt_live_server_viewer_free(viewer);
        return err;
    }
    if (count > 0 && viewer->picked)
        memcpy(viewer->picked, picked, count * sizeof *picked);
    *out = viewer;
    return TUTTI_OK;
}

void tt_live_server_viewer_free(struct tt_viewer *viewer)
{
    if (!viewer)
        return;
    tt_feed_free(viewer->feed);
    tt_text_fini(&viewer->out);
    tt_text_fini(&viewer->last);
    free(viewer->picked);
    free(viewer->values);
    free(viewer);
}

static void viewer_copy_columns(const struct tt_viewer *viewer, const double *from, double *to)
{
    for (size_t i = 0; i < viewer->count; i++)
        to[i] = from[viewer->picked[i]];
}

static void viewer_write_rows(const struct tt_viewer *viewer, const struct tt_feed_block *block, struct tt_feed *to)
{
    double *least = viewer->values, *greatest = least + viewer->count, *final = greatest + viewer->count;
    for (size_t b = 0; b < block->count; b++) {
        struct tt_bar bar = block->bars[b];
        viewer_copy_columns(viewer, bar.least, least);
        viewer_copy_columns(viewer, bar.greatest, greatest);
        viewer_copy_columns(viewer, bar.final, final);
        bar.least = least;
        bar.greatest = greatest;
        bar.final = final;
        tt_feed_add_bar(to, &bar);
    }
}

void tt_live_server_viewer_add_rows(struct tt_viewer *viewer, const struct tt_feed_block *block)
{
    if (!viewer->sees)
        tt_feed_start_at(viewer->feed, block->first_row);
    viewer->sees = true;
    viewer_write_rows(viewer, block, viewer->feed);
}

void tt_live_server_viewer_add_past(struct tt_viewer *viewer, const struct tt_feed_block *block)
{
    struct tt_feed *picked = NULL;
    const size_t bars = block->count + block->count % 2;
    if (tt_feed_new(&picked, viewer->count, bars, bars) != TUTTI_OK) {
        viewer->lost = true;
        return;
    }
    viewer_write_rows(viewer, block, picked);
    tt_sse_add_rows(&viewer->out, tt_feed_peek_block(picked), viewer->count);
    tt_feed_free(picked);
}

void tt_live_server_viewer_add_event(struct tt_viewer *viewer, const char *text, size_t length)
{
    struct tt_text *out = &viewer->out;
    if (viewer->gone != 0) { /* makes room */
        memmove(out->text, out->text + viewer->gone, out->length - viewer->gone);
        out->length -= viewer->gone;
        viewer->gone = 0;
    }
    viewer->lost = viewer->lost || out->length + length > MOST_WAITING;
    if (!viewer->lost)
        tt_text_append_n(out, text, length);
}

void tt_live_server_viewer_end(struct tt_viewer *viewer, const char *text, size_t length)
{
    if (!viewer->over)
        tt_text_append_n(&viewer->last, text, length);
    viewer->over = true;
}

ptrdiff_t tt_live_server_viewer_read(struct tt_viewer *viewer, char *bytes, size_t size)
{
    struct tt_text *out = &viewer->out;
    if (viewer->gone == out->length) { /* rows come into the text when all before them has gone */
        const struct tt_feed_block *block = tt_feed_next_block(viewer->feed);
        viewer->gone = out->length = 0;
        if (block)
            tt_sse_add_rows(out, block, viewer->count);
        else if (viewer->last.length > 0) {
            tt_text_append_n(out, viewer->last.text, viewer->last.length);
            viewer->last.length = 0;
        }
    }
    if (viewer->lost || out->failed)
        return -1;
    size_t left = out->length - viewer->gone, count = left < size ? left : size;
    if (count == 0)
        return viewer->over ? -1 : 0;
    memcpy(bytes, out->text + viewer->gone, count);
    viewer->gone += count;
    return (ptrdiff_t)count;
}
