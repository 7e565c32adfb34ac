/* SPDX-License-Identifier: MIT */
/* Comma-separated values, RFC 4180 with "\n" as line end. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "base/text.h"
#include "base/vector.h"
#include "results/csv_parser.h"
#include "results/recorder.h"
#include "results/result.h"
#include "results/row_writer.h"

struct tt_recorder {
    struct tt_row_writer lines;
    size_t fixed; /* most bytes of a row without the contents of its texts */
    struct tt_row_cell *cells;
    size_t n;
    struct tt_row_cell **texts; /* the cells of type String and Binary */
    size_t text_count;
    const struct tt_column *columns;
    bool units; /* are in the header: "h [m]" */
};

/* n bytes of text, quoted if they have to be: at most 2 n + 2 bytes. */
static char *csv_put_text(char *at, const char *text, size_t n)
{
    bool quoted = false;
    for (size_t i = 0; i < n && !quoted; i++)
        quoted = text[i] == ',' || text[i] == '"' || text[i] == '\n' || text[i] == '\r';
    if (!quoted) {
        if (n > 0)
            memcpy(at, text, n);
        return at + n;
    }
    *at++ = '"';
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '"')
            *at++ = '"';
        *at++ = text[i];
    }
    *at++ = '"';
    return at;
}

static char *csv_put_string(char *at, const struct tt_row_cell *cell)
{
    return csv_put_text(at, *(const char *const *)cell->value, cell->length);
}

static bool csv_is_text(const struct tt_column *column)
{
    return column->type == TUTTI_TYPE_STRING || column->type == TUTTI_TYPE_BINARY;
}

/* Looks up how long this row's texts are; returns the most bytes that they can need, SIZE_MAX if that is absurd. */
static size_t csv_measure_texts(struct tt_recorder *recorder)
{
    size_t need = 0;
    for (size_t i = 0; i < recorder->text_count; i++) {
        struct tt_row_cell *cell = recorder->texts[i];
        tt_row_writer_measure_cell(cell, recorder->columns[cell - recorder->cells].type);
        if (cell->length > SIZE_MAX / 4 || need > SIZE_MAX / 4)
            return SIZE_MAX;
        need += 2 * cell->length + 2;
    }
    return need;
}

static enum tutti_err csv_write_row(struct tt_recorder *recorder, double time)
{
    size_t need = recorder->fixed;
    char *at;
    if (recorder->text_count > 0) {
        size_t texts = csv_measure_texts(recorder);
        if (texts == SIZE_MAX)
            return tt_fail_memory();
        need += texts;
    }
    TRY(tt_row_writer_start_row(&recorder->lines, need, &at));
    at += tt_number_write_double(at, time);
    for (const struct tt_row_cell *cell = recorder->cells, *end = cell + recorder->n; cell < end; cell++) {
        *at++ = ',';
        at = cell->put(at, cell);
    }
    *at++ = '\n';
    tt_row_writer_end_row(&recorder->lines, at);
    return TUTTI_OK;
}

static enum tutti_err csv_flush(struct tt_recorder *recorder)
{
    return tt_row_writer_flush(&recorder->lines);
}

static void csv_emergency(struct tt_recorder *recorder)
{
    tt_row_writer_emergency(&recorder->lines);
}

static const struct tt_record_format *csv_format_of(const struct tt_recorder *recorder)
{
    return recorder->units ? &tt_csv_units_format : &tt_csv_format;
}

static enum tutti_err csv_mark(struct tt_recorder *recorder, struct tt_byte_writer *mark)
{
    tt_recorder_put_columns(mark, csv_format_of(recorder), recorder->columns, recorder->n);
    return tt_row_writer_mark(&recorder->lines, mark);
}

static enum tutti_err csv_sync(struct tt_recorder *recorder)
{
    return tt_row_writer_sync(&recorder->lines);
}

/* --- opening and closing */

static void csv_release(struct tt_recorder *recorder)
{
    tt_row_writer_fini(&recorder->lines);
    free(recorder->cells);
    free(recorder->texts);
    free(recorder);
}

static enum tutti_err csv_close(struct tt_recorder *recorder)
{
    enum tutti_err err = tt_row_writer_close(&recorder->lines, csv_flush(recorder));
    csv_release(recorder);
    return err;
}

/* Everything that needs memory. */
static enum tutti_err csv_prepare(struct tt_recorder *recorder, const char *path, const struct tt_column *columns,
                                  size_t n)
{
    recorder->cells = calloc(n + 1, sizeof *recorder->cells);
    recorder->texts = calloc(n + 1, sizeof *recorder->texts);
    if (!recorder->cells || !recorder->texts)
        return tt_fail_memory();
    recorder->columns = columns;
    recorder->n = n;
    recorder->fixed = TUTTI_NUMBER_MAX + 1;
    size_t header = sizeof "time [s]\n";
    for (size_t i = 0; i < n; i++) {
        struct tt_row_cell *cell = &recorder->cells[i];
        *cell = tt_row_writer_cell(&columns[i]);
        if (csv_is_text(&columns[i])) {
            cell->put = columns[i].type == TUTTI_TYPE_STRING ? csv_put_string : tt_row_writer_put_binary;
            recorder->texts[recorder->text_count++] = cell;
        }
        recorder->fixed += 1 + 1 + TUTTI_NUMBER_MAX; /* comma, sign, digits */
        header += 2 * (strlen(columns[i].name) + 3 + (columns[i].unit ? strlen(columns[i].unit) : 0)) + 3;
    }
    recorder->lines.quotes = true;
    return tt_row_writer_prepare(&recorder->lines, path, header > 2 * recorder->fixed ? header : 2 * recorder->fixed);
}

/* A name that looks as if a unit were in it, and has none, gets empty brackets: readers take those for the unit. */
static enum tutti_err csv_put_name(struct tt_recorder *recorder, char **at, const struct tt_column *column)
{
    struct tt_text text = {0};
    const char *bracket = strrchr(column->name, '[');
    bool looks_so = bracket && bracket > column->name && bracket[-1] == ' ';
    tt_text_append(&text, column->name);
    if (recorder->units && (column->unit || looks_so))
        tt_text_printf(&text, " [%s]", column->unit ? column->unit : "");
    bool failed = text.failed;
    if (!failed && text.text)
        *at = csv_put_text(*at, text.text, text.length);
    tt_text_fini(&text);
    return failed ? tt_fail_memory() : TUTTI_OK;
}

/* Into the buffer; returns its end. */
static enum tutti_err csv_put_header(struct tt_recorder *recorder, char **end)
{
    const char *time = recorder->units ? "time [s]" : "time";
    char *at = csv_put_text(recorder->lines.buffer, time, strlen(time));
    for (size_t i = 0; i < recorder->n; i++) {
        *at++ = ',';
        TRY(csv_put_name(recorder, &at, &recorder->columns[i]));
    }
    *at++ = '\n';
    *end = at;
    return TUTTI_OK;
}

/* The header goes to the file at once: a full disk shows now, not after hours. */
static enum tutti_err csv_start_file(struct tt_recorder *recorder)
{
    char *end;
    TRY(csv_put_header(recorder, &end));
    TRY(tt_row_writer_open(&recorder->lines));
    tt_row_writer_end_row(&recorder->lines, end);
    enum tutti_err err = csv_flush(recorder);
    return err ? tt_row_writer_close(&recorder->lines, err) : TUTTI_OK;
}

static enum tutti_err csv_resume(struct tt_recorder *recorder, struct tt_byte_reader *mark)
{
    char *end;
    TRY(tt_recorder_check_columns(mark, csv_format_of(recorder), recorder->lines.path, recorder->columns, recorder->n));
    TRY(csv_put_header(recorder, &end));
    return tt_row_writer_reopen(&recorder->lines, (size_t)(end - recorder->lines.buffer), mark);
}

/* `mark` is NULL for a new file. */
static enum tutti_err csv_open_recorder(struct tt_recorder **out, const char *path, const struct tt_column *columns,
                                        size_t n, bool units, struct tt_byte_reader *mark)
{
    struct tt_recorder *recorder = calloc(1, sizeof *recorder);
    if (!recorder)
        return tt_fail_memory();
    recorder->units = units;
    enum tutti_err err = csv_prepare(recorder, path, columns, n);
    if (err == TUTTI_OK)
        err = mark ? csv_resume(recorder, mark) : csv_start_file(recorder);
    if (err == TUTTI_OK)
        *out = recorder;
    else
        csv_release(recorder);
    return err;
}

static enum tutti_err csv_open(struct tt_recorder **out, const char *path, const struct tt_column *columns, size_t n)
{
    return csv_open_recorder(out, path, columns, n, false, NULL);
}

static enum tutti_err csv_open_units(struct tt_recorder **out, const char *path, const struct tt_column *columns,
                                     size_t n)
{
    return csv_open_recorder(out, path, columns, n, true, NULL);
}

static enum tutti_err csv_reopen(struct tt_recorder **out, const char *path, const struct tt_column *columns, size_t n,
                                 struct tt_byte_reader *mark)
{
    return csv_open_recorder(out, path, columns, n, false, mark);
}

static enum tutti_err csv_reopen_units(struct tt_recorder **out, const char *path, const struct tt_column *columns,
                                       size_t n, struct tt_byte_reader *mark)
{
    return csv_open_recorder(out, path, columns, n, true, mark);
}

const struct tt_record_format tt_csv_format = {
    .name = "csv",
    .extension = ".csv",
    .any_thread = true,
    .holds_texts = true,
    .open = csv_open,
    .row = csv_write_row,
    .flush = csv_flush,
    .close = csv_close,
    .emergency = csv_emergency,
    .mark = csv_mark,
    .reopen = csv_reopen,
    .sync = csv_sync,
};

const struct tt_record_format tt_csv_units_format = {
    .name = "csv",
    .extension = ".units.csv",
    .any_thread = true,
    .holds_texts = true,
    .open = csv_open_units,
    .row = csv_write_row,
    .flush = csv_flush,
    .close = csv_close,
    .emergency = csv_emergency,
    .mark = csv_mark,
    .reopen = csv_reopen_units,
    .sync = csv_sync,
};

/* Reads the log of messages of federates (`tutti rti --record`, as CSV) as a result: a variable for each numeric
 * attribute of an object and each numeric parameter of an interaction, which keeps its value until the next message.
 * Time is that of the messages; if none has a time, the seconds of the RTI. Everything is read at open: rows of
 * different senders are not in the order of their times. */

enum { TIME, FEDERATION, FEDERATE, KIND, NAME, MEMBER, STAMP, VALUE, BYTES, COLUMNS };
enum { SEPARATOR = '\n' }; /* in keys; names have none */

static const char HEADER[] = "time,federation,federate,kind,name,member,stamp,value,bytes\n";

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
    struct tt_text key;      /* of the current row */
    bool several;            /* federations */
    const char *federation;  /* the first one, and its length */
    size_t federation_length;
};

static bool csv_messages_fits(const char *path, const unsigned char *head, size_t size)
{
    (void)path;
    return size >= sizeof HEADER - 1 && memcmp(head, HEADER, sizeof HEADER - 1) == 0;
}

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

/* The last row may be truncated: the RTI is still running, or was killed. */
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

/* CSV results of any tool. The file is gone through once at open, for the times, and once in every read: nothing of it is kept
 * in memory but what is asked for. */

struct csv_result {
    struct tt_csv_parser rows;
    size_t width;    /* cells of a row */
    size_t *columns; /* where a variable is in a row */
    size_t times_room;
};

/* Text that is not UTF-8 has a separate message. */
static bool csv_result_fits(const char *path, const unsigned char *head, size_t size)
{
    (void)path;
    bool utf16 = size >= 2 && (head[0] ^ head[1]) == 1 && head[0] >= 0xfe;
    return utf16 || !memchr(head, '\0', size);
}

/* --- cells as numbers */

/* Spellings of non-finite numbers in other programs, beyond those of base/number.h. */
static bool csv_result_read_word(const char *text, size_t n, double *value)
{
    static const struct {
        const char *word;
        double value;
    } words[] = {
        {"true", 1},      {"false", 0},    {"1.#INF", INFINITY},   {"1.#QNAN", NAN},
        {"1.#SNAN", NAN}, {"1.#IND", NAN}, {"-1.#IND", NAN},       {"n/a", NAN},
        {"na", NAN},      {"null", NAN},   {"-1.#INF", -INFINITY}, {"-1.#QNAN", NAN},
        {"", NAN},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (n == strlen(words[i].word) && strncasecmp(text, words[i].word, n) == 0) {
            *value = words[i].value;
            return true;
        }
    return false;
}

/* 1,5 where columns are separated by something else. */
static bool read_decimal_comma(const char *text, size_t n, double *value)
{
    char copy[TUTTI_NUMBER_MAX + 1];
    const char *comma = memchr(text, ',', n);
    if (!comma || n > sizeof copy)
        return false;
    memcpy(copy, text, n);
    copy[comma - text] = '.';
    return tt_number_read_double(copy, n, value);
}

/* False: it is a text. */
static bool csv_result_read_cell(const struct tt_csv_parser *rows, size_t column, double *value)
{
    const char *text = rows->cells[column].text;
    size_t n = rows->cells[column].n;
    if (tt_number_read_double(text, n, value))
        return true;
    while (n > 0 && text[0] == ' ')
        text++, n--;
    while (n > 0 && text[n - 1] == ' ')
        n--;
    return csv_result_read_word(text, n, value) || (rows->separator != ',' && read_decimal_comma(text, n, value));
}

/* --- the header */

static char *csv_result_trim(char *text)
{
    for (size_t n = strlen(text); n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t'); n--)
        text[n - 1] = '\0';
    return text + strspn(text, " \t");
}

/* Splits "name [unit]"; the blank distinguishes it from an array element. */
static const char *split_name_unit(char *name)
{
    size_t n = strlen(name);
    char *bracket = n > 0 && name[n - 1] == ']' ? strrchr(name, '[') : NULL;
    if (!bracket || bracket == name || bracket[-1] != ' ')
        return NULL;
    name[n - 1] = '\0';
    *bracket = '\0';
    csv_result_trim(name);
    const char *unit = csv_result_trim(bracket + 1);
    return *unit ? unit : NULL;
}

static enum tutti_err csv_result_add_name(struct tutti_result *result, const struct tt_csv_cell *cell,
                                          const char **name, const char **unit)
{
    char *text = tt_arena_alloc(&result->arena, cell->n + 1);
    if (!text)
        return tt_fail_memory();
    tt_csv_parser_copy_cell(cell, text);
    if (!cell->quoted)
        text = csv_result_trim(text);
    *unit = split_name_unit(text);
    *name = text;
    return TUTTI_OK;
}

static enum tutti_err csv_result_read_header(struct tutti_result *result, struct csv_result *csv,
                                             const struct tutti_log *log)
{
    struct tt_csv_parser *rows = &csv->rows;
    TRY(tt_csv_parser_next(rows));
    if (rows->count == 0)
        return tt_fail(TUTTI_ERR_FORMAT, "%s: the file is empty; a result starts with a line 'time,NAME,...'",
                       result->path);
    const char *first;
    TRY(csv_result_add_name(result, &rows->cells[0], &first, &result->time_unit));
    if (strcasecmp(first, "time") != 0 && strcmp(first, "t") != 0)
        return tt_fail(TUTTI_ERR_FORMAT, "%s:%zu: the first column must be 'time', and is '%s'", result->path,
                       rows->line, tt_text_excerpt(first).text);
    csv->width = rows->count;
    result->variables = tt_arena_array(&result->arena, csv->width, sizeof *result->variables);
    csv->columns = tt_arena_array(&result->arena, csv->width, sizeof *csv->columns);
    if (!result->variables || !csv->columns)
        return tt_fail_memory();
    for (size_t column = 1; column < csv->width; column++) {
        struct tutti_result_variable *variable = &result->variables[result->count];
        variable->numeric = true;
        TRY(csv_result_add_name(result, &rows->cells[column], &variable->name, &variable->unit));
        if (variable->name[0])
            csv->columns[result->count++] = column;
        else
            tt_log(log, TUTTI_LOG_WARNING, NULL, "%s:%zu: column %zu has no name and is left out", result->path,
                   rows->line, column + 1);
    }
    return TUTTI_OK;
}

/* --- the rows */

/* Returns true for the beginning of a number that is not yet a number. */
static bool is_truncated_number(const struct tt_csv_parser *rows)
{
    const struct tt_csv_cell *last = &rows->cells[rows->count - 1];
    double value;
    for (size_t i = 0; i < last->n; i++)
        if (!strchr("0123456789+-.eE", last->text[i]))
            return false;
    return last->n > 0 && !csv_result_read_cell(rows, rows->count - 1, &value);
}

static enum tutti_err csv_result_check_row(const struct tutti_result *result, const struct csv_result *csv,
                                           double *time)
{
    const struct tt_csv_parser *rows = &csv->rows;
    if (rows->count != csv->width)
        return tt_fail(TUTTI_ERR_FORMAT, "%s:%zu: %zu cells, and the header has %zu", result->path, rows->line,
                       rows->count, csv->width);
    if (!rows->ended && (rows->grows || is_truncated_number(rows)))
        return tt_fail(TUTTI_ERR_FORMAT, "%s:%zu: the last number is cut off", result->path, rows->line);
    char shown[TUTTI_NUMBER_MAX + 1];
    int n = (int)(rows->cells[0].n < sizeof shown ? rows->cells[0].n : sizeof shown - 1);
    memcpy(shown, rows->cells[0].text, (size_t)n);
    shown[n] = '\0';
    if (!csv_result_read_cell(rows, 0, time) || !isfinite(*time))
        return tt_fail(TUTTI_ERR_FORMAT, "%s:%zu: the time '%s' is not a number", result->path, rows->line,
                       tt_text_excerpt(shown).text);
    if (result->rows > 0 && *time < result->times[result->rows - 1])
        return tt_fail(TUTTI_ERR_FORMAT, "%s:%zu: time runs backwards, from %s to %s; rows must be in order of time",
                       result->path, rows->line, NUMBER(result->times[result->rows - 1]), NUMBER(*time));
    return TUTTI_OK;
}

/* A file that ends too early ends with a row that is not whole. */
static enum tutti_err csv_result_read_times(struct tutti_result *result, struct csv_result *csv,
                                            const struct tutti_log *log)
{
    for (;;) {
        double time = 0;
        enum tutti_err err = tt_csv_parser_next(&csv->rows);
        bool at_end = csv->rows.cut, ragged = at_end;
        if (err == TUTTI_OK) {
            if (csv->rows.count == 0)
                return TUTTI_OK;
            err = csv_result_check_row(result, csv, &time);
            ragged = csv->rows.count != csv->width || !csv->rows.ended;
        }
        if (err == TUTTI_OK) {
            if (!tt_vector_reserve(&result->times, &csv->times_room, result->rows + 1, sizeof *result->times))
                return tt_fail_memory();
            result->times[result->rows++] = time;
            continue;
        }
        if (err != TUTTI_ERR_FORMAT || !ragged || !(at_end || tt_csv_parser_at_end(&csv->rows)))
            return err;
        tt_log(log, TUTTI_LOG_WARNING, NULL,
               "%s; it is the last row, of a run that was aborted or goes on, and is left out", tutti_err_message());
        return TUTTI_OK;
    }
}

static void csv_result_close(struct tutti_result *result)
{
    struct csv_result *csv = result->own;
    tt_csv_parser_fini(&csv->rows);
    free(csv);
}

static enum tutti_err csv_result_open(struct tutti_result *result, const struct tutti_log *log)
{
    struct csv_result *csv = calloc(1, sizeof *csv);
    if (!csv)
        return tt_fail_memory();
    result->own = csv;
    TRY(tt_csv_parser_open(&csv->rows, result->path));
    TRY(csv_result_read_header(result, csv, log));
    return csv_result_read_times(result, csv, log);
}

/* --- the values */

static void csv_result_warn_text(struct tutti_result *result, const struct csv_result *csv, size_t variable)
{
    const struct tt_csv_cell *cell = &csv->rows.cells[csv->columns[variable]];
    result->variables[variable].numeric = false;
    if (result->first_text.line > 0)
        return;
    result->first_text = (struct tt_result_text){.line = csv->rows.line, .variable = variable};
    size_t n = cell->n < sizeof result->first_text.text ? cell->n : sizeof result->first_text.text - 1;
    memcpy(result->first_text.text, cell->text, n);
}

static enum tutti_err csv_result_read(struct tutti_result *result, const size_t *which, size_t count,
                                      double *const *values)
{
    struct csv_result *csv = result->own;
    tt_csv_parser_rewind(&csv->rows);
    TRY(tt_csv_parser_next(&csv->rows));
    for (size_t row = 0; row < result->rows; row++) {
        TRY(tt_csv_parser_next(&csv->rows));
        if (csv->rows.count != csv->width)
            return tt_fail(TUTTI_ERR_IO, "%s: the file changed while it was read", result->path);
        for (size_t i = 0; i < count; i++) {
            values[i][row] = NAN;
            if (!csv_result_read_cell(&csv->rows, csv->columns[which[i]], &values[i][row]))
                csv_result_warn_text(result, csv, which[i]);
        }
    }
    return TUTTI_OK;
}

static enum tutti_err csv_result_read_texts(struct tutti_result *result, size_t which, tt_result_take_text *take,
                                            void *context)
{
    struct csv_result *csv = result->own;
    char *text = NULL;
    size_t room = 0;
    enum tutti_err err = TUTTI_OK;
    tt_csv_parser_rewind(&csv->rows);
    TRY(tt_csv_parser_next(&csv->rows));
    for (size_t row = 0; row < result->rows && !err; row++) {
        err = tt_csv_parser_next(&csv->rows);
        if (!err && csv->rows.count != csv->width)
            err = tt_fail(TUTTI_ERR_IO, "%s: the file changed while it was read", result->path);
        const struct tt_csv_cell *cell = err ? NULL : &csv->rows.cells[csv->columns[which]];
        if (cell && !tt_vector_reserve(&text, &room, cell->n + 1, 1))
            err = tt_fail_memory();
        if (!err)
            err = take(context, row, text, tt_csv_parser_copy_cell(cell, text));
    }
    free(text);
    return err;
}

const struct tt_result_format tt_csv_result_format = {
    .name = "csv",
    .fits = csv_result_fits,
    .open = csv_result_open,
    .read = csv_result_read,
    .texts = csv_result_read_texts,
    .close = csv_result_close,
};
