/* SPDX-License-Identifier: MIT */
/* Comma-separated values, RFC 4180 with "\n" as line end. */
#include "record/recorder.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/str.h"
#include "record/cell.h"
#include "record/lines.h"

struct tutti_recorder {
    struct tutti_lines lines;
    size_t fixed; /* most bytes of a row without the contents of its texts */
    struct tutti_cell *cells;
    size_t n;
    struct tutti_cell **texts; /* the cells of type String and Binary */
    size_t text_count;
    const struct tutti_column *columns;
    bool units; /* are in the header: "h [m]" */
};

/* --- cells */

/* n bytes of text, quoted if they have to be: at most 2 n + 2 bytes. */
static char *put_text(char *at, const char *text, size_t n)
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

static char *put_string(char *at, const struct tutti_cell *cell)
{
    return put_text(at, *(const char *const *)cell->value, cell->length);
}

static bool is_text(const struct tutti_column *column)
{
    return column->type == TUTTI_TYPE_STRING || column->type == TUTTI_TYPE_BINARY;
}

static struct tutti_cell cell_of(const struct tutti_column *column)
{
    struct tutti_cell cell = tutti_cell_of(column);
    if (is_text(column))
        cell.put = column->type == TUTTI_TYPE_STRING ? put_string : tutti_cell_put_binary;
    return cell;
}

/* --- rows */

/* Looks up how long this row's texts are; returns the most bytes that they can need, SIZE_MAX if that is absurd. */
static size_t measure_texts(struct tutti_recorder *recorder)
{
    size_t need = 0;
    for (size_t i = 0; i < recorder->text_count; i++) {
        struct tutti_cell *cell = recorder->texts[i];
        tutti_cell_measure(cell, recorder->columns[cell - recorder->cells].type);
        if (cell->length > SIZE_MAX / 4 || need > SIZE_MAX / 4)
            return SIZE_MAX;
        need += 2 * cell->length + 2;
    }
    return need;
}

static enum tutti_err row(struct tutti_recorder *recorder, double time)
{
    size_t need = recorder->fixed;
    char *at;
    if (recorder->text_count > 0) {
        size_t texts = measure_texts(recorder);
        if (texts == SIZE_MAX)
            return tutti_fail_memory();
        need += texts;
    }
    TRY(tutti_lines_begin(&recorder->lines, need, &at));
    at += tutti_number_write_double(at, time);
    for (const struct tutti_cell *cell = recorder->cells, *end = cell + recorder->n; cell < end; cell++) {
        *at++ = ',';
        at = cell->put(at, cell);
    }
    *at++ = '\n';
    tutti_lines_end(&recorder->lines, at);
    return TUTTI_OK;
}

static enum tutti_err flush(struct tutti_recorder *recorder)
{
    return tutti_lines_flush(&recorder->lines);
}

static void emergency(struct tutti_recorder *recorder)
{
    tutti_lines_emergency(&recorder->lines);
}

static const struct tutti_record_format *format_of(const struct tutti_recorder *recorder)
{
    return recorder->units ? &tutti_record_csv_units : &tutti_record_csv;
}

static enum tutti_err mark_place(struct tutti_recorder *recorder, struct tutti_parcel *mark)
{
    tutti_record_put_columns(mark, format_of(recorder), recorder->columns, recorder->n);
    return tutti_lines_mark(&recorder->lines, mark);
}

static enum tutti_err sync_file(struct tutti_recorder *recorder)
{
    return tutti_lines_sync(&recorder->lines);
}

/* --- opening and closing */

static void release(struct tutti_recorder *recorder)
{
    tutti_lines_fini(&recorder->lines);
    free(recorder->cells);
    free(recorder->texts);
    free(recorder);
}

static enum tutti_err close_file(struct tutti_recorder *recorder)
{
    enum tutti_err err = tutti_lines_close(&recorder->lines, flush(recorder));
    release(recorder);
    return err;
}

/* Everything that needs memory. */
static enum tutti_err prepare(struct tutti_recorder *recorder, const char *path, const struct tutti_column *columns,
                              size_t n)
{
    recorder->cells = calloc(n + 1, sizeof *recorder->cells);
    recorder->texts = calloc(n + 1, sizeof *recorder->texts);
    if (!recorder->cells || !recorder->texts)
        return tutti_fail_memory();
    recorder->columns = columns;
    recorder->n = n;
    recorder->fixed = TUTTI_NUMBER_MAX + 1;
    size_t header = sizeof "time [s]\n";
    for (size_t i = 0; i < n; i++) {
        recorder->cells[i] = cell_of(&columns[i]);
        if (is_text(&columns[i]))
            recorder->texts[recorder->text_count++] = &recorder->cells[i];
        recorder->fixed += 1 + 1 + TUTTI_NUMBER_MAX; /* comma, sign, digits */
        header += 2 * (strlen(columns[i].name) + 3 + (columns[i].unit ? strlen(columns[i].unit) : 0)) + 3;
    }
    recorder->lines.quotes = true;
    return tutti_lines_prepare(&recorder->lines, path, header > 2 * recorder->fixed ? header : 2 * recorder->fixed);
}

/* A name that looks as if a unit were in it, and has none, gets empty brackets: readers take those for the unit. */
static enum tutti_err put_name(struct tutti_recorder *recorder, char **at, const struct tutti_column *column)
{
    struct tutti_text text = {0};
    const char *bracket = strrchr(column->name, '[');
    bool looks_so = bracket && bracket > column->name && bracket[-1] == ' ';
    tutti_text_append(&text, column->name);
    if (recorder->units && (column->unit || looks_so))
        tutti_text_printf(&text, " [%s]", column->unit ? column->unit : "");
    bool failed = text.failed;
    if (!failed && text.text)
        *at = put_text(*at, text.text, text.length);
    tutti_text_fini(&text);
    return failed ? tutti_fail_memory() : TUTTI_OK;
}

/* Into the buffer; returns its end. */
static enum tutti_err put_header(struct tutti_recorder *recorder, char **end)
{
    const char *time = recorder->units ? "time [s]" : "time";
    char *at = put_text(recorder->lines.buffer, time, strlen(time));
    for (size_t i = 0; i < recorder->n; i++) {
        *at++ = ',';
        TRY(put_name(recorder, &at, &recorder->columns[i]));
    }
    *at++ = '\n';
    *end = at;
    return TUTTI_OK;
}

/* The header goes to the file at once: a full disk shows now, not after hours. */
static enum tutti_err begin(struct tutti_recorder *recorder)
{
    char *end;
    TRY(put_header(recorder, &end));
    TRY(tutti_lines_open(&recorder->lines));
    tutti_lines_end(&recorder->lines, end);
    enum tutti_err err = flush(recorder);
    return err ? tutti_lines_close(&recorder->lines, err) : TUTTI_OK;
}

static enum tutti_err resume(struct tutti_recorder *recorder, struct tutti_unparcel *mark)
{
    char *end;
    TRY(tutti_record_check_columns(mark, format_of(recorder), recorder->lines.path, recorder->columns, recorder->n));
    TRY(put_header(recorder, &end));
    return tutti_lines_reopen(&recorder->lines, (size_t)(end - recorder->lines.buffer), mark);
}

/* `mark` is NULL for a new file. */
static enum tutti_err open_recorder(struct tutti_recorder **out, const char *path, const struct tutti_column *columns,
                                    size_t n, bool units, struct tutti_unparcel *mark)
{
    struct tutti_recorder *recorder = calloc(1, sizeof *recorder);
    if (!recorder)
        return tutti_fail_memory();
    recorder->units = units;
    enum tutti_err err = prepare(recorder, path, columns, n);
    if (err == TUTTI_OK)
        err = mark ? resume(recorder, mark) : begin(recorder);
    if (err == TUTTI_OK)
        *out = recorder;
    else
        release(recorder);
    return err;
}

static enum tutti_err open_csv(struct tutti_recorder **out, const char *path, const struct tutti_column *columns,
                               size_t n)
{
    return open_recorder(out, path, columns, n, false, NULL);
}

static enum tutti_err open_csv_units(struct tutti_recorder **out, const char *path, const struct tutti_column *columns,
                                     size_t n)
{
    return open_recorder(out, path, columns, n, true, NULL);
}

static enum tutti_err reopen_csv(struct tutti_recorder **out, const char *path, const struct tutti_column *columns,
                                 size_t n, struct tutti_unparcel *mark)
{
    return open_recorder(out, path, columns, n, false, mark);
}

static enum tutti_err reopen_csv_units(struct tutti_recorder **out, const char *path,
                                       const struct tutti_column *columns, size_t n, struct tutti_unparcel *mark)
{
    return open_recorder(out, path, columns, n, true, mark);
}

const struct tutti_record_format tutti_record_csv = {
    .name = "csv",
    .extension = ".csv",
    .any_thread = true,
    .holds_texts = true,
    .open = open_csv,
    .row = row,
    .flush = flush,
    .close = close_file,
    .emergency = emergency,
    .mark = mark_place,
    .reopen = reopen_csv,
    .sync = sync_file,
};

const struct tutti_record_format tutti_record_csv_units = {
    .name = "csv",
    .extension = ".units.csv",
    .any_thread = true,
    .holds_texts = true,
    .open = open_csv_units,
    .row = row,
    .flush = flush,
    .close = close_file,
    .emergency = emergency,
    .mark = mark_place,
    .reopen = reopen_csv_units,
    .sync = sync_file,
};
