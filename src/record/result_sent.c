/* SPDX-License-Identifier: MIT */
/* What federates sent (`tutti rti --record`, as CSV), as a result: a variable for each attribute of an object and each parameter of an
 * interaction that is a number, which keeps its value until the next one is sent. Time is that of the messages; if none of them has one, the
 * seconds of the RTI. All of it is read at open: rows of different senders are not in the order of their times. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/str.h"
#include "base/vector.h"
#include "record/csv_reader.h"
#include "record/result.h"

enum { TIME, FEDERATION, FEDERATE, KIND, NAME, MEMBER, STAMP, VALUE, BYTES, COLUMNS };
enum { SEPARATOR = '\n' }; /* in keys; names have none */

static const char HEADER[] = "time,federation,federate,kind,name,member,stamp,value,bytes\n";

/* A number that was sent. */
struct message {
    double seconds, stamp; /* NaN: without a time */
    double value;
    size_t variable;
    size_t number; /* in the order of the file */
    size_t row;
};

struct sent {
    struct message *messages;
    size_t count, room, variables_room;
    struct tutti_map variables; /* by federation, name and member */
    struct tutti_text key;      /* of the row at hand */
    bool several;               /* federations */
    const char *federation;     /* the first one, and its length */
    size_t federation_length;
};

static bool fits(const char *path, const unsigned char *head, size_t size)
{
    (void)path;
    return size >= sizeof HEADER - 1 && memcmp(head, HEADER, sizeof HEADER - 1) == 0;
}

/* --- the file */

static void append_cell(struct tutti_text *text, const struct tutti_csv_cell *cell)
{
    for (size_t i = 0; i < cell->n; i++) {
        tutti_text_append_n(text, &cell->text[i], 1);
        i += cell->quoted && cell->text[i] == '"'; /* doubled */
    }
}

static enum tutti_err add_variable(struct tutti_result *result, struct sent *sent, size_t federation)
{
    const struct tutti_text *key = &sent->key;
    char *kept = tutti_arena_text(&result->arena, key->text, key->length);
    char *name = tutti_arena_text(&result->arena, key->text, key->length);
    if (!kept || !name ||
        !tutti_vector_reserve(&result->variables, &sent->variables_room, result->count + 1, sizeof *result->variables))
        return tutti_fail_memory();
    for (char *at = name; (at = strchr(at, SEPARATOR)) != NULL;)
        *at = '.';
    if (!sent->federation)
        sent->federation = kept, sent->federation_length = federation;
    sent->several = sent->several || sent->federation_length != federation ||
                    memcmp(sent->federation, kept, federation) != 0;
    TRY(tutti_map_add(&sent->variables, kept, (int64_t)result->count, NULL));
    result->variables[result->count++] = (struct tutti_result_variable){.name = name, .numeric = true, .held = true};
    return TUTTI_OK;
}

static enum tutti_err find_variable(struct tutti_result *result, struct sent *sent, const struct tutti_csv_cell *cells,
                                    size_t *variable)
{
    struct tutti_text *key = &sent->key;
    key->length = 0;
    append_cell(key, &cells[FEDERATION]);
    size_t federation = key->length;
    tutti_text_append_n(key, (const char[]){SEPARATOR}, 1);
    append_cell(key, &cells[NAME]);
    tutti_text_append_n(key, (const char[]){SEPARATOR}, 1);
    append_cell(key, &cells[MEMBER]);
    if (key->failed)
        return tutti_fail_memory();
    int64_t found = tutti_map_find(&sent->variables, key->text);
    *variable = found == TUTTI_MAP_NONE ? result->count : (size_t)found;
    return found == TUTTI_MAP_NONE ? add_variable(result, sent, federation) : TUTTI_OK;
}

static bool read_number(const struct tutti_csv_cell *cell, double *value)
{
    return tutti_number_read_double(cell->text, cell->n, value);
}

static enum tutti_err read_message(struct tutti_result *result, struct sent *sent, const struct tutti_csv_reader *rows)
{
    struct message message = {.number = sent->count};
    if (rows->count != COLUMNS || !read_number(&rows->cells[TIME], &message.seconds) || !isfinite(message.seconds) ||
        !read_number(&rows->cells[STAMP], &message.stamp) || !read_number(&rows->cells[VALUE], &message.value))
        return tutti_fail(TUTTI_ERR_FORMAT, "%s:%zu: no row of what federates sent", result->path, rows->line);
    if (isnan(message.value))
        return TUTTI_OK; /* it is not known to be a number */
    TRY(find_variable(result, sent, rows->cells, &message.variable));
    if (!tutti_vector_reserve(&sent->messages, &sent->room, sent->count + 1, sizeof *sent->messages))
        return tutti_fail_memory();
    sent->messages[sent->count++] = message;
    return TUTTI_OK;
}

/* The last row may be cut off: the RTI goes on, or was killed. */
static enum tutti_err read_all(struct tutti_result *result, struct sent *sent, struct tutti_csv_reader *rows,
                               const struct tutti_log *log)
{
    TRY(tutti_csv_next(rows));
    for (;;) {
        enum tutti_err err = tutti_csv_next(rows);
        bool at_end = rows->cut;
        if (!err && rows->count == 0)
            return TUTTI_OK;
        if (!err && rows->ended)
            err = read_message(result, sent, rows);
        else if (!err)
            at_end = true, err = tutti_fail(TUTTI_ERR_FORMAT, "%s:%zu: cut off", result->path, rows->line);
        if (err && !(err == TUTTI_ERR_FORMAT && at_end))
            return err;
        if (err) {
            tutti_log_printf(log, TUTTI_LOG_WARNING, NULL, "%s; it is the last row, and is left out",
                             tutti_err_message());
            return TUTTI_OK;
        }
    }
}

/* --- rows of the result */

static int by_time(const void *a, const void *b)
{
    const struct message *left = a, *right = b;
    if (left->stamp != right->stamp)
        return left->stamp < right->stamp ? -1 : 1;
    return (left->number > right->number) - (left->number < right->number);
}

/* One kind of time for all: `stamp` has it from now on. */
static void choose_time(const struct tutti_result *result, struct sent *sent, const struct tutti_log *log)
{
    size_t timed = 0;
    for (size_t i = 0; i < sent->count; i++)
        timed += isfinite(sent->messages[i].stamp) != 0;
    if (timed > 0 && timed < sent->count)
        tutti_log_printf(log, TUTTI_LOG_WARNING, NULL, "%s: %zu values were sent without a time, and are left out",
                         result->path, sent->count - timed);
    for (size_t i = 0; timed == 0 && i < sent->count; i++)
        sent->messages[i].stamp = sent->messages[i].seconds;
    size_t kept = 0;
    for (size_t i = 0; i < sent->count; i++)
        if (isfinite(sent->messages[i].stamp))
            sent->messages[kept++] = sent->messages[i];
    sent->count = kept;
}

/* Messages of one time share a row, unless a variable comes twice. */
static enum tutti_err lay_out(struct tutti_result *result, struct sent *sent)
{
    size_t *last = calloc(result->count + 1, sizeof *last); /* 1 + the row in which a variable was last */
    result->times = calloc(sent->count + 1, sizeof *result->times);
    if (!last || !result->times) {
        free(last);
        return tutti_fail_memory();
    }
    if (sent->count > 0)
        qsort(sent->messages, sent->count, sizeof *sent->messages, by_time);
    for (size_t i = 0; i < sent->count; i++) {
        struct message *message = &sent->messages[i];
        bool same = result->rows > 0 && result->times[result->rows - 1] == message->stamp;
        if (!same || last[message->variable] == result->rows)
            result->times[result->rows++] = message->stamp;
        message->row = result->rows - 1;
        last[message->variable] = result->rows;
    }
    free(last);
    return TUTTI_OK;
}

static enum tutti_err open_sent(struct tutti_result *result, const struct tutti_log *log)
{
    struct tutti_csv_reader rows = {0};
    struct sent *sent = calloc(1, sizeof *sent);
    if (!sent)
        return tutti_fail_memory();
    result->own = sent;
    TRY(tutti_csv_open(&rows, result->path));
    enum tutti_err err = read_all(result, sent, &rows, log);
    tutti_csv_fini(&rows);
    TRY(err);
    size_t prefix = sent->several || !sent->federation ? 0 : sent->federation_length + 1;
    for (size_t i = 0; i < result->count; i++)
        result->variables[i].name += prefix;
    choose_time(result, sent, log);
    return lay_out(result, sent);
}

static enum tutti_err read_sent(struct tutti_result *result, const size_t *which, size_t count, double *const *values)
{
    const struct sent *sent = result->own;
    double **of = calloc(result->count + 1, sizeof *of);
    if (!of)
        return tutti_fail_memory();
    for (size_t i = 0; i < count; i++) {
        of[which[i]] = values[i];
        for (size_t row = 0; row < result->rows; row++)
            values[i][row] = NAN;
    }
    for (size_t i = 0; i < sent->count; i++)
        if (of[sent->messages[i].variable])
            of[sent->messages[i].variable][sent->messages[i].row] = sent->messages[i].value;
    free(of);
    for (size_t i = 0; i < count; i++)
        for (size_t row = 1; row < result->rows; row++)
            if (isnan(values[i][row]))
                values[i][row] = values[i][row - 1];
    return TUTTI_OK;
}

static void close_sent(struct tutti_result *result)
{
    struct sent *sent = result->own;
    tutti_map_fini(&sent->variables);
    tutti_text_fini(&sent->key);
    free(sent->messages);
    free(result->variables);
    free(sent);
}

const struct tutti_result_format tutti_result_sent = {
    .name = "record of an RTI",
    .fits = fits,
    .open = open_sent,
    .read = read_sent,
    .close = close_sent,
};
