/* SPDX-License-Identifier: MIT */
#include "run/live/live_server.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/wall_clock.h"
#include "base/thread.h"
#include "run/live/live_requests.h"
#include "run/live/viewer.h"

enum { LARGEST_ORDER = 65536, MOST_CONNECTIONS = 64 };
/* Seconds: between two looks at the board while somebody watches; between signs of life on a quiet line; that those who watch have at
 * the end. */
static const double TICK = 1.0 / 30, QUIET = 5, FAREWELL = 1;

/* A connection that watches. */
struct live_stream {
    struct tt_live_server *broadcast;
    char *patterns;             /* of columns; NULL: all */
    bool past_rows, past_steps; /* it wants what was before */
    struct tt_viewer *viewer;   /* NULL: it is not known yet what there is to see */
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
    bool watched; /* as the run was told */
    struct tt_text events;
    double last_tick, last_word;
};

/* ---- those who watch ---- */

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

/* What it wants to see, once that is known. */
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

/* The run makes rows for those who watch, and for nobody else. Where too many orders wait, it is told with the next tick. */
static void send_watch_order(struct tt_live_server *broadcast)
{
    bool watched = broadcast->guests != NULL;
    if (watched != broadcast->watched &&
        tt_command_ring_push(broadcast->plan.orders,
                             &(struct tt_run_command){.kind = TUTTI_ORDER_WATCH, .value = watched}))
        broadcast->watched = watched;
}

/* What is new goes to all who watch. */
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
    send_watch_order(broadcast);
    broadcast->last_tick = now;
    broadcast->plan.module->wake(broadcast->http);
}

static int live_server_wait_milliseconds(const struct tt_live_server *broadcast, int wish)
{
    int most = broadcast->guests ? (int)(1e3 * TICK) : 500;
    return wish >= 0 && wish < most ? wish : most;
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
        (void)poll(watched, ends ? 1 : 2, live_server_wait_milliseconds(broadcast, wish));
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
