/* SPDX-License-Identifier: MIT */
#include "live/broadcast.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "live/requests.h"
#include "live/viewer.h"

enum { LARGEST_ORDER = 65536, MOST_CONNECTIONS = 64 };
/* Seconds: between two looks at the board while somebody watches; between signs of life on a quiet line; that those who watch have at
 * the end. */
static const double TICK = 1.0 / 30, QUIET = 5, FAREWELL = 1;

/* A connection that watches. */
struct guest {
    struct tutti_broadcast *broadcast;
    char *patterns;              /* of columns; NULL: all */
    bool past_rows, past_steps;  /* it wants what was before */
    struct tutti_viewer *viewer; /* NULL: it is not known yet what there is to see */
    struct guest *previous, *next;
};

struct tutti_broadcast {
    struct tutti_live_plan plan;
    char *token;
    struct tutti_http *http;
    pthread_t thread;
    int bell; /* rings when it is to end */
    atomic_bool ends;
    struct guest *guests;
    unsigned guest_count;
    bool watched; /* as the run was told */
    struct tutti_text events;
    double last_tick, last_word;
};

/* ---- those who watch ---- */

static void leave(void *context)
{
    struct guest *guest = context;
    struct tutti_broadcast *broadcast = guest->broadcast;
    *(guest->previous ? &guest->previous->next : &broadcast->guests) = guest->next;
    if (guest->next)
        guest->next->previous = guest->previous;
    broadcast->guest_count--;
    tutti_viewer_free(guest->viewer);
    free(guest->patterns);
    free(guest);
}

static ptrdiff_t read_guest(void *context, char *bytes, size_t size)
{
    struct guest *guest = context;
    return guest->viewer ? tutti_viewer_read(guest->viewer, bytes, size) : 0;
}

/* What it wants to see, once that is known. */
static void welcome(struct guest *guest)
{
    struct tutti_board *board = guest->broadcast->plan.board;
    struct tutti_text text = {0};
    size_t *picked = NULL, count = 0;
    if (!tutti_board_pick(board, guest->patterns, &picked, &count) &&
        !tutti_viewer_new(&guest->viewer, picked, count)) {
        tutti_board_welcome(board, picked, count, &text);
        if (guest->past_steps)
            tutti_board_tell_steps(board, &text);
        tutti_viewer_tell(guest->viewer, text.text, text.length);
        const struct tutti_feed_block *past = guest->past_rows ? tutti_board_past(board) : NULL;
        if (past)
            tutti_viewer_show_past(guest->viewer, past);
    }
    free(picked);
    tutti_text_fini(&text);
}

static bool admit_guest(struct tutti_broadcast *broadcast, const struct tutti_http_request *request,
                        struct tutti_http_answer *answer)
{
    const char *patterns = request->argument(request, "columns"), *past = request->argument(request, "past");
    struct guest *guest = calloc(1, sizeof *guest);
    char *copy = patterns ? tutti_str_copy(patterns) : NULL;
    if (!guest || (patterns && !copy)) {
        free(guest);
        free(copy);
        return false;
    }
    *guest = (struct guest){.broadcast = broadcast,
                            .patterns = copy,
                            .past_rows = past && strstr(past, "rows"),
                            .past_steps = past && strstr(past, "steps"),
                            .next = broadcast->guests};
    if (guest->next)
        guest->next->previous = guest;
    broadcast->guests = guest;
    broadcast->guest_count++;
    *answer = (struct tutti_http_answer){.status = 200,
                                         .type = "text/event-stream",
                                         .stream = {read_guest, leave, guest},
                                         .headers = {{"X-Accel-Buffering", "no"}}};
    return true;
}

/* ---- requests ---- */

static bool admit(void *context, const struct tutti_http_request *request, struct tutti_http_answer *out)
{
    const struct tutti_broadcast *broadcast = context;
    return tutti_live_admit(&broadcast->plan, request, out);
}

static bool answer(void *context, const struct tutti_http_request *request, struct tutti_http_answer *out)
{
    struct tutti_broadcast *broadcast = context;
    return strcmp(request->path, "/events") == 0 && strcmp(request->method, "GET") == 0
               ? admit_guest(broadcast, request, out)
               : tutti_live_answer(&broadcast->plan, broadcast->guest_count, request, out);
}

/* ---- the thread ---- */

/* The run makes rows for those who watch, and for nobody else. Where too many orders wait, it is told with the next tick. */
static void tell_run(struct tutti_broadcast *broadcast)
{
    bool watched = broadcast->guests != NULL;
    if (watched != broadcast->watched &&
        tutti_orders_give(broadcast->plan.orders,
                          &(struct tutti_run_order){.kind = TUTTI_ORDER_WATCH, .value = watched}))
        broadcast->watched = watched;
}

/* What is new goes to all who watch. */
static void tick(struct tutti_broadcast *broadcast)
{
    static const char SIGN_OF_LIFE[] = ":\n\n";
    struct tutti_board *board = broadcast->plan.board;
    enum tutti_board_stage stage = tutti_board_stage(board); /* before the last look at its rows */
    const struct tutti_feed_block *block = tutti_board_take(board, &broadcast->events);
    struct tutti_text *events = &broadcast->events, last = {0};
    double now = tutti_clock_now();
    if (!block && events->length == 0 && now - broadcast->last_word > QUIET)
        tutti_text_append(events, SIGN_OF_LIFE);
    if (block || events->length > 0)
        broadcast->last_word = now;
    if (stage == TUTTI_BOARD_OVER)
        tutti_board_take_leave(board, &last);
    for (struct guest *guest = broadcast->guests; guest; guest = guest->next) {
        if (!guest->viewer && stage != TUTTI_BOARD_EMPTY)
            welcome(guest);
        else if (guest->viewer && events->length > 0)
            tutti_viewer_tell(guest->viewer, events->text, events->length);
        if (guest->viewer && block)
            tutti_viewer_show(guest->viewer, block);
        if (guest->viewer && last.length > 0)
            tutti_viewer_end(guest->viewer, last.text, last.length);
    }
    if (block)
        tutti_board_remember(board, block);
    tutti_text_fini(&last);
    tell_run(broadcast);
    broadcast->last_tick = now;
    broadcast->plan.module->wake(broadcast->http);
}

static int wait_for(const struct tutti_broadcast *broadcast, int wish)
{
    int most = broadcast->guests ? (int)(1e3 * TICK) : 500;
    return wish >= 0 && wish < most ? wish : most;
}

static void *serve(void *context)
{
    struct tutti_broadcast *broadcast = context;
    const struct tutti_http_module *module = broadcast->plan.module;
    struct pollfd watched[] = {{.fd = module->descriptor(broadcast->http), .events = POLLIN},
                               {.fd = broadcast->bell, .events = POLLIN}};
    double deadline = 0;
    for (;;) {
        int wish = module->run(broadcast->http);
        bool ends = broadcast->ends;
        if (ends && deadline == 0)
            deadline = tutti_clock_now() + FAREWELL;
        if (ends && (!broadcast->guests || tutti_clock_now() > deadline))
            return NULL;
        (void)poll(watched, ends ? 1 : 2, wait_for(broadcast, wish));
        if (ends || tutti_clock_now() - broadcast->last_tick >= TICK)
            tick(broadcast);
    }
}

/* ---- beginning and end ---- */

static void release(struct tutti_broadcast *broadcast)
{
    broadcast->plan.module->stop(broadcast->http);
    if (broadcast->bell >= 0)
        close(broadcast->bell);
    tutti_text_fini(&broadcast->events);
    free(broadcast->token);
    free(broadcast);
}

static enum tutti_err start(struct tutti_broadcast *broadcast)
{
    const struct tutti_live_plan *plan = &broadcast->plan;
    broadcast->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    broadcast->token = tutti_str_copy(plan->token);
    broadcast->plan.token = broadcast->token;
    broadcast->http = plan->module->start(&(struct tutti_http_plan){.socket = plan->socket,
                                                                    .answer = answer,
                                                                    .admit = admit,
                                                                    .context = broadcast,
                                                                    .largest_body = LARGEST_ORDER,
                                                                    .most = MOST_CONNECTIONS,
                                                                    .certificate = plan->certificate,
                                                                    .key = plan->key});
    if (!broadcast->token)
        return tutti_fail_memory();
    if (!broadcast->http || broadcast->bell < 0)
        return tutti_fail(TUTTI_ERR_IO, "--live: the server cannot be started");
    int failed = tutti_thread_start(&broadcast->thread, serve, broadcast);
    return failed ? tutti_fail(TUTTI_ERR_LIMIT, "--live: cannot start a thread: %s", strerror(failed)) : TUTTI_OK;
}

enum tutti_err tutti_broadcast_open(struct tutti_broadcast **out, const struct tutti_live_plan *plan)
{
    struct tutti_broadcast *broadcast = calloc(1, sizeof *broadcast);
    if (!broadcast) {
        close(plan->socket);
        return tutti_fail_memory();
    }
    broadcast->plan = *plan;
    enum tutti_err err = start(broadcast);
    if (err)
        release(broadcast);
    else
        *out = broadcast;
    return err;
}

void tutti_broadcast_close(struct tutti_broadcast *broadcast)
{
    if (!broadcast)
        return;
    broadcast->ends = true;
    (void)!write(broadcast->bell, &(uint64_t){1}, sizeof(uint64_t));
    pthread_join(broadcast->thread, NULL);
    release(broadcast);
}
