/* SPDX-License-Identifier: MIT */
/* What federates sent (`tutti rti --record`, as CSV), as a result: a variable for each attribute of an object and each parameter of an
 * interaction that is a number, which keeps its value until the next one is sent. Time is that of the messages; if none of them has one, the
 * seconds of the RTI. All of it is read at open: rows of different senders are not in the order of their times. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "base/vector.h"
#include "results/csv_parser.h"
#include "results/result.h"

enum { TIME, FEDERATION, FEDERATE, KIND, NAME, MEMBER, STAMP, VALUE, BYTES, COLUMNS };
enum { SEPARATOR = '\n' }; /* in keys; names have none */

static const char HEADER[] = "time,federation,federate,kind,name,member,stamp,value,bytes\n";

/* A number that was sent. */
struct csv_message {
    double seconds, stamp; /* NaN: without a time */
    double value;
    size_t variable;
    size_t number; /* in the order of the file */
    size_t row;
};

struct message_log {
    struct csv_message *messages;
    size_t count, room, variables_room;
    struct tt_map variables; /* by federation, name and member */
    struct tt_text key;      /* of the row at hand */
    bool several;            /* federations */
    const char *federation;  /* the first one, and its length */
    size_t federation_length;
};

static bool csv_messages_fits(const char *path, const unsigned char *head, size_t size)
{
    (void)path;
    return size >= sizeof HEADER - 1 && memcmp(head, HEADER, sizeof HEADER - 1) == 0;
}

/* --- the file */

static void csv_messages_append_cell(struct tt_text *text, const struct tt_csv_cell *cell)
{
    for (size_t i = 0; i < cell->n; i++) {
        tt_text_append_n(text, &cell->text[i], 1);
        i += cell->quoted && cell->text[i] == '"'; /* doubled */
    }
}

static enum tutti_err csv_messages_add_variable(struct tutti_result *result, struct message_log *sent,
                                                size_t federation)
{
    const struct tt_text *key = &sent->key;
    char *kept = tt_arena_copy_text(&result->arena, key->text, key->length);
    char *name = tt_arena_copy_text(&result->arena, key->text, key->length);
    if (!kept || !name ||
        !tt_vector_reserve(&result->variables, &sent->variables_room, result->count + 1, sizeof *result->variables))
        return tt_fail_memory();
    for (char *at = name; (at = strchr(at, SEPARATOR)) != NULL;)
        *at = '.';
    if (!sent->federation)
        sent->federation = kept, sent->federation_length = federation;
    sent->several = sent->several || sent->federation_length != federation ||
                    memcmp(sent->federation, kept, federation) != 0;
    TRY(tt_map_add(&sent->variables, kept, (int64_t)result->count, NULL));
    result->variables[result->count++] = (struct tutti_result_variable){.name = name, .numeric = true, .held = true};
    return TUTTI_OK;
}

static enum tutti_err csv_messages_find_variable(struct tutti_result *result, struct message_log *sent,
                                                 const struct tt_csv_cell *cells, size_t *variable)
{
    struct tt_text *key = &sent->key;
    key->length = 0;
    csv_messages_append_cell(key, &cells[FEDERATION]);
    size_t federation = key->length;
    tt_text_append_n(key, (const char[]){SEPARATOR}, 1);
    csv_messages_append_cell(key, &cells[NAME]);
    tt_text_append_n(key, (const char[]){SEPARATOR}, 1);
    csv_messages_append_cell(key, &cells[MEMBER]);
    if (key->failed)
        return tt_fail_memory();
    int64_t found = tt_map_find(&sent->variables, key->text);
    *variable = found == TUTTI_MAP_NONE ? result->count : (size_t)found;
    return found == TUTTI_MAP_NONE ? csv_messages_add_variable(result, sent, federation) : TUTTI_OK;
}

static bool csv_messages_read_number(const struct tt_csv_cell *cell, double *value)
{
    return tt_number_read_double(cell->text, cell->n, value);
}

static enum tutti_err read_message(struct tutti_result *result, struct message_log *sent,
                                   const struct tt_csv_parser *rows)
{
    struct csv_message message = {.number = sent->count};
    if (rows->count != COLUMNS || !csv_messages_read_number(&rows->cells[TIME], &message.seconds) ||
        !isfinite(message.seconds) || !csv_messages_read_number(&rows->cells[STAMP], &message.stamp) ||
        !csv_messages_read_number(&rows->cells[VALUE], &message.value))
        return tt_fail(TUTTI_ERR_FORMAT, "%s:%zu: no row of what federates sent", result->path, rows->line);
    if (isnan(message.value))
        return TUTTI_OK; /* it is not known to be a number */
    TRY(csv_messages_find_variable(result, sent, rows->cells, &message.variable));
    if (!tt_vector_reserve(&sent->messages, &sent->room, sent->count + 1, sizeof *sent->messages))
        return tt_fail_memory();
    sent->messages[sent->count++] = message;
    return TUTTI_OK;
}

/* The last row may be cut off: the RTI goes on, or was killed. */
static enum tutti_err csv_messages_read_all(struct tutti_result *result, struct message_log *sent,
                                            struct tt_csv_parser *rows, const struct tutti_log *log)
{
    TRY(tt_csv_parser_next(rows));
    for (;;) {
        enum tutti_err err = tt_csv_parser_next(rows);
        bool at_end = rows->cut;
        if (!err && rows->count == 0)
            return TUTTI_OK;
        if (!err && rows->ended)
            err = read_message(result, sent, rows);
        else if (!err)
            at_end = true, err = tt_fail(TUTTI_ERR_FORMAT, "%s:%zu: cut off", result->path, rows->line);
        if (err && !(err == TUTTI_ERR_FORMAT && at_end))
            return err;
        if (err) {
            tt_log(log, TUTTI_LOG_WARNING, NULL, "%s; it is the last row, and is left out", tutti_err_message());
            return TUTTI_OK;
        }
    }
}

/* --- rows of the result */

static int compare_message_times(const void *a, const void *b)
{
    const struct csv_message *left = a, *right = b;
    if (left->stamp != right->stamp)
        return left->stamp < right->stamp ? -1 : 1;
    return (left->number > right->number) - (left->number < right->number);
}

/* One kind of time for all: `stamp` has it from now on. */
static void choose_message_time(const struct tutti_result *result, struct message_log *sent,
                                const struct tutti_log *log)
{
    size_t timed = 0;
    for (size_t i = 0; i < sent->count; i++)
        timed += isfinite(sent->messages[i].stamp) != 0;
    if (timed > 0 && timed < sent->count)
        tt_log(log, TUTTI_LOG_WARNING, NULL, "%s: %zu values were sent without a time, and are left out", result->path,
               sent->count - timed);
    for (size_t i = 0; timed == 0 && i < sent->count; i++)
        sent->messages[i].stamp = sent->messages[i].seconds;
    size_t kept = 0;
    for (size_t i = 0; i < sent->count; i++)
        if (isfinite(sent->messages[i].stamp))
            sent->messages[kept++] = sent->messages[i];
    sent->count = kept;
}

/* Messages of one time share a row, unless a variable comes twice. */
static enum tutti_err csv_messages_lay_out(struct tutti_result *result, struct message_log *sent)
{
    size_t *last = calloc(result->count + 1, sizeof *last); /* 1 + the row in which a variable was last */
    result->times = calloc(sent->count + 1, sizeof *result->times);
    if (!last || !result->times) {
        free(last);
        return tt_fail_memory();
    }
    if (sent->count > 0)
        qsort(sent->messages, sent->count, sizeof *sent->messages, compare_message_times);
    for (size_t i = 0; i < sent->count; i++) {
        struct csv_message *message = &sent->messages[i];
        bool same = result->rows > 0 && result->times[result->rows - 1] == message->stamp;
        if (!same || last[message->variable] == result->rows)
            result->times[result->rows++] = message->stamp;
        message->row = result->rows - 1;
        last[message->variable] = result->rows;
    }
    free(last);
    return TUTTI_OK;
}

static enum tutti_err csv_messages_open(struct tutti_result *result, const struct tutti_log *log)
{
    struct tt_csv_parser rows = {0};
    struct message_log *sent = calloc(1, sizeof *sent);
    if (!sent)
        return tt_fail_memory();
    result->own = sent;
    TRY(tt_csv_parser_open(&rows, result->path));
    enum tutti_err err = csv_messages_read_all(result, sent, &rows, log);
    tt_csv_parser_fini(&rows);
    TRY(err);
    size_t prefix = sent->several || !sent->federation ? 0 : sent->federation_length + 1;
    for (size_t i = 0; i < result->count; i++)
        result->variables[i].name += prefix;
    choose_message_time(result, sent, log);
    return csv_messages_lay_out(result, sent);
}

static enum tutti_err csv_messages_read(struct tutti_result *result, const size_t *which, size_t count,
                                        double *const *values)
{
    const struct message_log *sent = result->own;
    double **of = calloc(result->count + 1, sizeof *of);
    if (!of)
        return tt_fail_memory();
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

static void csv_messages_close(struct tutti_result *result)
{
    struct message_log *sent = result->own;
    tt_map_fini(&sent->variables);
    tt_text_fini(&sent->key);
    free(sent->messages);
    free(result->variables);
    free(sent);
}

const struct tt_result_format tt_csv_messages_format = {
    .name = "record of an RTI",
    .fits = csv_messages_fits,
    .open = csv_messages_open,
    .read = csv_messages_read,
    .close = csv_messages_close,
};
