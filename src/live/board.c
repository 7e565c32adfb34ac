/* SPDX-License-Identifier: MIT */
#include "live/board.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <tutti/run.h>

#include "base/arena.h"
#include "live/news.h"

enum {
    MOST_MESSAGES = 200,    /* that a newcomer is told */
    MOST_WAITING = 1 << 20, /* bytes of events for those who watch, before they are taken */
    PAST_VALUES = 1 << 18,  /* of the past: bars times columns, about */
    MOST_PAST = 1024,
    LEAST_PAST = 64,
    STEP_BARS = 1024 /* of the past of macro steps */
};

struct column {
    const char *name, *unit, *type, *description;
};

struct tutti_board {
    pthread_mutex_t mutex;        /* guards all but the feed, which has its own */
    struct tutti_feed *feed;      /* NULL: columns are not known yet */
    struct tutti_feed *past;      /* of its rows; the server's thread has it, which needs no mutex */
    struct tutti_feed *steps;     /* macro steps so far: size and error */
    struct tutti_steps_made made; /* totals of these, and the last events */
    struct tutti_arena arena;
    const char *file;
    struct column *columns;
    size_t column_count;
    struct tutti_progress progress;
    const char *state;
    char *last_word; /* of a run that has ended; NULL: none */
    bool over;
    char *messages[MOST_MESSAGES]; /* events; a ring */
    unsigned long message_count;
    struct tutti_text events; /* that were not taken yet */
};

static const char *keep(struct tutti_board *board, const char *text)
{
    return text ? tutti_arena_text(&board->arena, text, strlen(text)) : NULL;
}

enum tutti_err tutti_board_new(struct tutti_board **out, const char *file, double start, double stop)
{
    struct tutti_board *board = calloc(1, sizeof *board);
    if (!board)
        return tutti_fail_memory();
    pthread_mutex_init(&board->mutex, NULL);
    board->file = keep(board, file);
    board->progress = (struct tutti_progress){.start = start, .stop = stop, .time = start};
    board->state = "starting";
    if (!board->file || tutti_feed_new(&board->steps, 2, STEP_BARS, STEP_BARS) != TUTTI_OK) {
        tutti_board_free(board);
        return tutti_fail_memory();
    }
    *out = board;
    return TUTTI_OK;
}

void tutti_board_free(struct tutti_board *board)
{
    if (!board)
        return;
    for (size_t i = 0; i < MOST_MESSAGES; i++)
        free(board->messages[i]);
    free(board->last_word);
    tutti_text_fini(&board->events);
    tutti_feed_free(board->feed);
    tutti_feed_free(board->past);
    tutti_feed_free(board->steps);
    tutti_arena_fini(&board->arena);
    pthread_mutex_destroy(&board->mutex);
    free(board);
}

/* ---- the run's side ---- */

enum tutti_err tutti_board_put_columns(struct tutti_board *board, const struct tutti_recorded *shown, size_t count)
{
    struct tutti_feed *feed = NULL;
    size_t past = PAST_VALUES / (count + 1) / 2 * 2;
    past = past > MOST_PAST ? MOST_PAST : past < LEAST_PAST ? LEAST_PAST : past;
    if (board->feed) /* a run that was recovered tells them again */
        return TUTTI_OK;
    TRY(tutti_feed_new(&board->past, count, past, past));
    TRY(tutti_feed_new(&feed, count, TUTTI_FEED_ROWS, TUTTI_FEED_COARSE));
    pthread_mutex_lock(&board->mutex);
    board->columns = tutti_arena_array(&board->arena, count, sizeof *board->columns);
    for (size_t i = 0; i < count && board->columns; i++)
        board->columns[i] = (struct column){keep(board, shown[i].name), keep(board, shown[i].unit), shown[i].type,
                                            keep(board, shown[i].description)};
    bool failed = count > 0 && !board->columns;
    if (!failed) {
        board->column_count = count;
        board->feed = feed;
    }
    pthread_mutex_unlock(&board->mutex);
    if (!failed)
        return TUTTI_OK;
    tutti_feed_free(feed);
    return tutti_fail_memory();
}

struct tutti_feed *tutti_board_rows(const struct tutti_board *board)
{
    return board->feed;
}

/* Those who watch are so slow, or the server is, that events are dropped: progress and messages, of which newer ones follow. */
static bool has_room(const struct tutti_board *board)
{
    return board->events.length < MOST_WAITING;
}

static void add_state(const struct tutti_board *board, struct tutti_text *out)
{
    const char *const members[] = {"state", board->state, "message", board->last_word, NULL};
    tutti_news_add_texts(out, board->over ? "end" : "state", members);
}

void tutti_board_put_progress(struct tutti_board *board, const struct tutti_progress *progress)
{
    pthread_mutex_lock(&board->mutex);
    bool turned = progress->paused != board->progress.paused || strcmp(board->state, "starting") == 0;
    board->progress = *progress;
    board->state = progress->paused ? "paused" : "running";
    if (turned)
        add_state(board, &board->events);
    if (has_room(board))
        tutti_news_add_progress(&board->events, progress);
    pthread_mutex_unlock(&board->mutex);
}

/* The last of them are kept for newcomers. */
static void keep_events(struct tutti_steps_made *kept, const struct tutti_steps_made *made)
{
    uint64_t most = TUTTI_LOAD_EVENTS, more = made->event_count;
    uint64_t stay = kept->event_count + more > most ? most - more : kept->event_count;
    memmove(kept->events, kept->events + (kept->event_count - stay), stay * sizeof *kept->events);
    memcpy(kept->events + stay, made->events, more * sizeof *kept->events);
    kept->event_count = stay + more;
    kept->rejected = made->rejected;
    kept->located = made->located;
}

static void put_steps(struct tutti_board *board, const struct tutti_steps_made *made)
{
    double least[] = {made->least, made->error}, greatest[] = {made->greatest, made->error};
    struct tutti_bar bar = {made->from, made->to, made->count, least, greatest, greatest};
    if (made->count == 0)
        return;
    tutti_feed_put_bar(board->steps, &bar);
    keep_events(&board->made, made);
    if (has_room(board))
        tutti_news_add_steps(&board->events, &(struct tutti_feed_block){.rows = made->count, .count = 1, .bars = &bar},
                             made);
}

void tutti_board_put_load(struct tutti_board *board, int rank, const struct tutti_load *load, const char *const *names)
{
    pthread_mutex_lock(&board->mutex);
    if (rank == 0)
        put_steps(board, &load->steps);
    if (has_room(board))
        tutti_news_add_load(&board->events, rank, load, names);
    pthread_mutex_unlock(&board->mutex);
}

void tutti_board_put_message(struct tutti_board *board, enum tutti_log_level level, const char *origin,
                             const char *text)
{
    static const char *const levels[] = {"error", "warning", "info", "debug"};
    const char *const members[] = {"level", levels[level], "origin", origin, "text", text, NULL};
    struct tutti_text event = {0};
    tutti_news_add_texts(&event, "message", members);
    if (!event.failed) {
        pthread_mutex_lock(&board->mutex);
        if (has_room(board))
            tutti_text_append(&board->events, event.text);
        char **place = &board->messages[board->message_count++ % MOST_MESSAGES];
        free(*place);
        *place = event.text;
        event = (struct tutti_text){0};
        pthread_mutex_unlock(&board->mutex);
    }
    tutti_text_fini(&event);
}

void tutti_board_put_end(struct tutti_board *board, const char *state, const char *message, double t)
{
    pthread_mutex_lock(&board->mutex);
    board->over = true;
    board->progress.time = t;
    board->progress.paused = false;
    board->state = state;
    board->last_word = message ? tutti_str_copy(message) : NULL;
    pthread_mutex_unlock(&board->mutex);
}

/* ---- the server's side ---- */

enum tutti_err tutti_board_pick(struct tutti_board *board, const char *patterns, size_t **picked, size_t *count)
{
    pthread_mutex_lock(&board->mutex);
    *count = 0;
    *picked = calloc(board->column_count + 1, sizeof **picked);
    for (size_t c = 0; c < board->column_count && *picked; c++)
        if (!patterns || tutti_str_glob_any(patterns, board->columns[c].name))
            (*picked)[(*count)++] = c;
    pthread_mutex_unlock(&board->mutex);
    return *picked ? TUTTI_OK : tutti_fail_memory();
}

static void put_member(struct tutti_text *out, const char *name, const char *text)
{
    tutti_text_printf(out, "\"%s\":", name);
    tutti_news_put_text(out, text);
}

static void put_column(struct tutti_text *out, const struct column *column)
{
    tutti_text_append(out, "{");
    put_member(out, "name", column->name);
    tutti_text_append(out, ",");
    put_member(out, "type", column->type);
    tutti_text_append(out, ",");
    put_member(out, "unit", column->unit);
    tutti_text_append(out, ",");
    put_member(out, "description", column->description);
    tutti_text_append(out, "}");
}

static void describe(const struct tutti_board *board, const size_t *picked, size_t count, struct tutti_text *out)
{
    tutti_text_append(out, "{");
    put_member(out, "tutti", tutti_version());
    tutti_text_append(out, ",");
    put_member(out, "file", board->file);
    tutti_text_append(out, ",");
    put_member(out, "state", board->state);
    tutti_text_append(out, ",\"start\":");
    tutti_news_put_number(out, board->progress.start);
    tutti_text_append(out, ",\"stop\":");
    tutti_news_put_number(out, board->progress.stop);
    tutti_text_append(out, ",\"time\":");
    tutti_news_put_number(out, board->progress.time);
    tutti_text_append(out, ",\"columns\":[");
    for (size_t i = 0; i < count; i++) {
        tutti_text_append(out, i ? "," : "");
        put_column(out, &board->columns[picked[i]]);
    }
    tutti_text_append(out, "]}");
}

void tutti_board_describe(struct tutti_board *board, const size_t *picked, size_t count, struct tutti_text *out)
{
    pthread_mutex_lock(&board->mutex);
    describe(board, picked, count, out);
    pthread_mutex_unlock(&board->mutex);
}

void tutti_board_welcome(struct tutti_board *board, const size_t *picked, size_t count, struct tutti_text *out)
{
    pthread_mutex_lock(&board->mutex);
    tutti_text_append(out, "event: run\ndata: ");
    describe(board, picked, count, out);
    tutti_text_append(out, "\n\n");
    unsigned long end = board->message_count, first = end > MOST_MESSAGES ? end - MOST_MESSAGES : 0;
    for (unsigned long i = first; i < end; i++)
        tutti_text_append(out, board->messages[i % MOST_MESSAGES]);
    tutti_news_add_progress(out, &board->progress);
    pthread_mutex_unlock(&board->mutex);
}

void tutti_board_tell_steps(struct tutti_board *board, struct tutti_text *out)
{
    pthread_mutex_lock(&board->mutex);
    const struct tutti_feed_block *steps = tutti_feed_look(board->steps);
    if (steps)
        tutti_news_add_steps(out, steps, &board->made);
    pthread_mutex_unlock(&board->mutex);
}

const struct tutti_feed_block *tutti_board_past(const struct tutti_board *board)
{
    return board->past ? tutti_feed_look(board->past) : NULL;
}

void tutti_board_remember(struct tutti_board *board, const struct tutti_feed_block *block)
{
    for (size_t b = 0; b < block->count; b++)
        tutti_feed_put_bar(board->past, &block->bars[b]);
}

static void put_gauge(struct tutti_text *out, const char *name, const char *help, double value)
{
    tutti_text_printf(out, "# HELP tutti_run_%s %s\n# TYPE tutti_run_%s gauge\ntutti_run_%s ", name, help, name, name);
    tutti_news_put_number(out, value);
    tutti_text_append(out, "\n");
}

void tutti_board_measure(struct tutti_board *board, unsigned viewers, struct tutti_text *out)
{
    pthread_mutex_lock(&board->mutex);
    const struct tutti_progress progress = board->progress;
    pthread_mutex_unlock(&board->mutex);
    put_gauge(out, "start_seconds", "Simulated time at which the run begins.", progress.start);
    put_gauge(out, "stop_seconds", "Simulated time at which it is to end.", progress.stop);
    put_gauge(out, "time_seconds", "Simulated time that it has reached.", progress.time);
    put_gauge(out, "step_seconds", "Its last communication step.", progress.step);
    put_gauge(out, "steps", "Communication steps so far.", (double)progress.steps);
    put_gauge(out, "elapsed_seconds", "Time on the clock since its first step.", progress.elapsed);
    put_gauge(out, "paused", "1 while it pauses.", progress.paused);
    put_gauge(out, "viewers", "Connections that watch it.", viewers);
}

const struct tutti_feed_block *tutti_board_take(struct tutti_board *board, struct tutti_text *events)
{
    pthread_mutex_lock(&board->mutex);
    struct tutti_text empty = *events;
    *events = board->events;
    board->events = empty;
    board->events.length = 0;
    board->events.failed = false;
    struct tutti_feed *feed = board->feed;
    pthread_mutex_unlock(&board->mutex);
    return feed ? tutti_feed_take(feed) : NULL;
}

enum tutti_board_stage tutti_board_stage(struct tutti_board *board)
{
    pthread_mutex_lock(&board->mutex);
    enum tutti_board_stage stage = board->over ? TUTTI_BOARD_OVER : board->feed ? TUTTI_BOARD_OPEN : TUTTI_BOARD_EMPTY;
    pthread_mutex_unlock(&board->mutex);
    return stage;
}

void tutti_board_take_leave(struct tutti_board *board, struct tutti_text *out)
{
    pthread_mutex_lock(&board->mutex);
    tutti_news_add_progress(out, &board->progress);
    add_state(board, out);
    pthread_mutex_unlock(&board->mutex);
}
