/* SPDX-License-Identifier: MIT */
#include "run/live/live_state.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <tutti/run.h>

#include "base/arena.h"
#include "run/live/sse.h"

enum {
    MOST_MESSAGES = 200,    /* kept for new viewers */
    MOST_WAITING = 1 << 20, /* bytes of events for viewers, before they are taken */
    PAST_VALUES = 1 << 18,  /* of the past: bars times columns, about */
    MOST_PAST = 1024,
    LEAST_PAST = 64,
    STEP_BARS = 1024 /* of the past of macro steps */
};

struct live_column {
    const char *name, *unit, *type, *description;
};

struct tt_live_state {
    pthread_mutex_t mutex;      /* guards all but the feed, which has its own */
    struct tt_feed *feed;       /* NULL: columns are not known yet */
    struct tt_feed *past;       /* of its rows; the server's thread has it, which needs no mutex */
    struct tt_feed *steps;      /* macro steps so far: size and error */
    struct tt_step_counts made; /* totals of these, and the last events */
    struct tt_arena arena;
    const char *file;
    struct live_column *columns;
    size_t column_count;
    struct tutti_progress progress;
    const char *state;
    char *last_word; /* of a run that has ended; NULL: none */
    bool over;
    char *messages[MOST_MESSAGES]; /* events; a ring */
    unsigned long message_count;
    struct tt_text events; /* that were not taken yet */
};

static const char *live_state_copy_text(struct tt_live_state *board, const char *text)
{
    return text ? tt_arena_copy_text(&board->arena, text, strlen(text)) : NULL;
}

enum tutti_err tt_live_state_new(struct tt_live_state **out, const char *file, double start, double stop)
{
    struct tt_live_state *board = calloc(1, sizeof *board);
    if (!board)
        return tt_fail_memory();
    pthread_mutex_init(&board->mutex, NULL);
    board->file = live_state_copy_text(board, file);
    board->progress = (struct tutti_progress){.start = start, .stop = stop, .time = start};
    board->state = "starting";
    if (!board->file || tt_feed_new(&board->steps, 2, STEP_BARS, STEP_BARS) != TUTTI_OK) {
        tt_live_state_free(board);
        return tt_fail_memory();
    }
    *out = board;
    return TUTTI_OK;
}

void tt_live_state_free(struct tt_live_state *board)
{
    if (!board)
        return;
    for (size_t i = 0; i < MOST_MESSAGES; i++)
        free(board->messages[i]);
    free(board->last_word);
    tt_text_fini(&board->events);
    tt_feed_free(board->feed);
    tt_feed_free(board->past);
    tt_feed_free(board->steps);
    tt_arena_fini(&board->arena);
    pthread_mutex_destroy(&board->mutex);
    free(board);
}

/* ---- the run's side ---- */

enum tutti_err tt_live_state_set_columns(struct tt_live_state *board, const struct tutti_recorded *shown, size_t count)
{
    struct tt_feed *feed = NULL;
    size_t past = PAST_VALUES / (count + 1) / 2 * 2;
    past = past > MOST_PAST ? MOST_PAST : past < LEAST_PAST ? LEAST_PAST : past;
    if (board->feed) /* a recovered run reports them again */
        return TUTTI_OK;
    TRY(tt_feed_new(&board->past, count, past, past));
    TRY(tt_feed_new(&feed, count, TUTTI_FEED_ROWS, TUTTI_FEED_COARSE));
    pthread_mutex_lock(&board->mutex);
    board->columns = tt_arena_array(&board->arena, count, sizeof *board->columns);
    for (size_t i = 0; i < count && board->columns; i++)
        board->columns[i] = (struct live_column){live_state_copy_text(board, shown[i].name),
                                                 live_state_copy_text(board, shown[i].unit), shown[i].type,
                                                 live_state_copy_text(board, shown[i].description)};
    bool failed = count > 0 && !board->columns;
    if (!failed) {
        board->column_count = count;
        board->feed = feed;
    }
    pthread_mutex_unlock(&board->mutex);
    if (!failed)
        return TUTTI_OK;
    tt_feed_free(feed);
    return tt_fail_memory();
}

struct tt_feed *tt_live_state_rows(const struct tt_live_state *board)
{
    return board->feed;
}

/* Viewers or the server are so slow that events are dropped: progress and messages, which newer ones replace. */
static bool live_state_has_room(const struct tt_live_state *board)
{
    return board->events.length < MOST_WAITING;
}

static void live_state_add_state(const struct tt_live_state *board, struct tt_text *out)
{
    const char *const members[] = {"state", board->state, "message", board->last_word, NULL};
    tt_sse_add_texts(out, board->over ? "end" : "state", members);
}

void tt_live_state_set_progress(struct tt_live_state *board, const struct tutti_progress *progress)
{
    pthread_mutex_lock(&board->mutex);
    bool turned = progress->paused != board->progress.paused || strcmp(board->state, "starting") == 0;
    board->progress = *progress;
    board->state = progress->paused ? "paused" : "running";
    if (turned)
        live_state_add_state(board, &board->events);
    if (live_state_has_room(board))
        tt_sse_add_progress(&board->events, progress);
    pthread_mutex_unlock(&board->mutex);
}

/* The last of them are kept for newcomers. */
static void merge_last_events(struct tt_step_counts *kept, const struct tt_step_counts *made)
{
    uint64_t most = TUTTI_LOAD_EVENTS, more = made->event_count;
    uint64_t stay = kept->event_count + more > most ? most - more : kept->event_count;
    memmove(kept->events, kept->events + (kept->event_count - stay), stay * sizeof *kept->events);
    memcpy(kept->events + stay, made->events, more * sizeof *kept->events);
    kept->event_count = stay + more;
    kept->rejected = made->rejected;
    kept->located = made->located;
}

static void live_state_add_steps(struct tt_live_state *board, const struct tt_step_counts *made)
{
    double least[] = {made->least, made->error}, greatest[] = {made->greatest, made->error};
    struct tt_bar bar = {made->from, made->to, made->count, least, greatest, greatest};
    if (made->count == 0)
        return;
    tt_feed_add_bar(board->steps, &bar);
    merge_last_events(&board->made, made);
    if (live_state_has_room(board))
        tt_sse_add_steps(&board->events, &(struct tt_feed_block){.rows = made->count, .count = 1, .bars = &bar}, made);
}

void tt_live_state_add_load(struct tt_live_state *board, int rank, const struct tt_rank_load *load,
                            const char *const *names)
{
    pthread_mutex_lock(&board->mutex);
    if (rank == 0)
        live_state_add_steps(board, &load->steps);
    if (live_state_has_room(board))
        tt_sse_add_load(&board->events, rank, load, names);
    pthread_mutex_unlock(&board->mutex);
}

void tt_live_state_add_message(struct tt_live_state *board, enum tutti_log_level level, const char *origin,
                               const char *text)
{
    static const char *const levels[] = {"error", "warning", "info", "debug"};
    const char *const members[] = {"level", levels[level], "origin", origin, "text", text, NULL};
    struct tt_text event = {0};
    tt_sse_add_texts(&event, "message", members);
    if (!event.failed) {
        pthread_mutex_lock(&board->mutex);
        if (live_state_has_room(board))
            tt_text_append(&board->events, event.text);
        char **place = &board->messages[board->message_count++ % MOST_MESSAGES];
        free(*place);
        *place = event.text;
        event = (struct tt_text){0};
        pthread_mutex_unlock(&board->mutex);
    }
    tt_text_fini(&event);
}

void tt_live_state_set_end(struct tt_live_state *board, const char *state, const char *message, double t)
{
    pthread_mutex_lock(&board->mutex);
    board->over = true;
    board->progress.time = t;
    board->progress.paused = false;
    board->state = state;
    board->last_word = message ? tt_text_copy(message) : NULL;
    pthread_mutex_unlock(&board->mutex);
}

/* ---- the server's side ---- */

enum tutti_err tt_live_state_select_columns(struct tt_live_state *board, const char *patterns, size_t **picked,
                                            size_t *count)
{
    pthread_mutex_lock(&board->mutex);
    *count = 0;
    *picked = calloc(board->column_count + 1, sizeof **picked);
    for (size_t c = 0; c < board->column_count && *picked; c++)
        if (!patterns || tt_text_glob_any(patterns, board->columns[c].name))
            (*picked)[(*count)++] = c;
    pthread_mutex_unlock(&board->mutex);
    return *picked ? TUTTI_OK : tt_fail_memory();
}

static void write_json_member(struct tt_text *out, const char *name, const char *text)
{
    tt_text_printf(out, "\"%s\":", name);
    tt_sse_write_text(out, text);
}

static void live_state_describe(const struct tt_live_state *board, const size_t *picked, size_t count,
                                struct tt_text *out)
{
    tt_text_append(out, "{");
    write_json_member(out, "tutti", tutti_version());
    tt_text_append(out, ",");
    write_json_member(out, "file", board->file);
    tt_text_append(out, ",");
    write_json_member(out, "state", board->state);
    tt_text_append(out, ",\"start\":");
    tt_sse_write_number(out, board->progress.start);
    tt_text_append(out, ",\"stop\":");
    tt_sse_write_number(out, board->progress.stop);
    tt_text_append(out, ",\"time\":");
    tt_sse_write_number(out, board->progress.time);
    tt_text_append(out, ",\"columns\":[");
    for (size_t i = 0; i < count; i++) {
        const struct live_column *column = &board->columns[picked[i]];
        tt_text_append(out, i ? ",{" : "{");
        write_json_member(out, "name", column->name);
        tt_text_append(out, ",");
        write_json_member(out, "type", column->type);
        tt_text_append(out, ",");
        write_json_member(out, "unit", column->unit);
        tt_text_append(out, ",");
        write_json_member(out, "description", column->description);
        tt_text_append(out, "}");
    }
    tt_text_append(out, "]}");
}

void tt_live_state_describe(struct tt_live_state *board, const size_t *picked, size_t count, struct tt_text *out)
{
    pthread_mutex_lock(&board->mutex);
    live_state_describe(board, picked, count, out);
    pthread_mutex_unlock(&board->mutex);
}

void tt_live_state_write_welcome(struct tt_live_state *board, const size_t *picked, size_t count, struct tt_text *out)
{
    pthread_mutex_lock(&board->mutex);
    tt_text_append(out, "event: run\ndata: ");
    live_state_describe(board, picked, count, out);
    tt_text_append(out, "\n\n");
    unsigned long end = board->message_count, first = end > MOST_MESSAGES ? end - MOST_MESSAGES : 0;
    for (unsigned long i = first; i < end; i++)
        tt_text_append(out, board->messages[i % MOST_MESSAGES]);
    tt_sse_add_progress(out, &board->progress);
    pthread_mutex_unlock(&board->mutex);
}

void tt_live_state_write_steps(struct tt_live_state *board, struct tt_text *out)
{
    pthread_mutex_lock(&board->mutex);
    const struct tt_feed_block *steps = tt_feed_peek_block(board->steps);
    if (steps)
        tt_sse_add_steps(out, steps, &board->made);
    pthread_mutex_unlock(&board->mutex);
}

const struct tt_feed_block *tt_live_state_past_rows(const struct tt_live_state *board)
{
    return board->past ? tt_feed_peek_block(board->past) : NULL;
}

void tt_live_state_append_past(struct tt_live_state *board, const struct tt_feed_block *block)
{
    for (size_t b = 0; b < block->count; b++)
        tt_feed_add_bar(board->past, &block->bars[b]);
}

static void live_state_write_gauge(struct tt_text *out, const char *name, const char *help, double value)
{
    tt_text_printf(out, "# HELP tutti_run_%s %s\n# TYPE tutti_run_%s gauge\ntutti_run_%s ", name, help, name, name);
    tt_sse_write_number(out, value);
    tt_text_append(out, "\n");
}

void tt_live_state_write_metrics(struct tt_live_state *board, unsigned viewers, struct tt_text *out)
{
    pthread_mutex_lock(&board->mutex);
    const struct tutti_progress progress = board->progress;
    pthread_mutex_unlock(&board->mutex);
    live_state_write_gauge(out, "start_seconds", "Simulated time at which the run begins.", progress.start);
    live_state_write_gauge(out, "stop_seconds", "Simulated time at which it is to end.", progress.stop);
    live_state_write_gauge(out, "time_seconds", "Simulated time that it has reached.", progress.time);
    live_state_write_gauge(out, "step_seconds", "Its last communication step.", progress.step);
    live_state_write_gauge(out, "steps", "Communication steps so far.", (double)progress.steps);
    live_state_write_gauge(out, "elapsed_seconds", "Time on the clock since its first step.", progress.elapsed);
    live_state_write_gauge(out, "paused", "1 while it pauses.", progress.paused);
    live_state_write_gauge(out, "viewers", "Connections that watch it.", viewers);
}

const struct tt_feed_block *tt_live_state_next_block(struct tt_live_state *board, struct tt_text *events)
{
    pthread_mutex_lock(&board->mutex);
    struct tt_text empty = *events;
    *events = board->events;
    board->events = empty;
    board->events.length = 0;
    board->events.failed = false;
    struct tt_feed *feed = board->feed;
    pthread_mutex_unlock(&board->mutex);
    return feed ? tt_feed_next_block(feed) : NULL;
}

enum tt_live_phase tt_live_state_phase(struct tt_live_state *board)
{
    pthread_mutex_lock(&board->mutex);
    enum tt_live_phase stage = board->over ? TUTTI_BOARD_OVER : board->feed ? TUTTI_BOARD_OPEN : TUTTI_BOARD_EMPTY;
    pthread_mutex_unlock(&board->mutex);
    return stage;
}

void tt_live_state_write_end(struct tt_live_state *board, struct tt_text *out)
{
    pthread_mutex_lock(&board->mutex);
    tt_sse_add_progress(out, &board->progress);
    live_state_add_state(board, out);
    pthread_mutex_unlock(&board->mutex);
}
