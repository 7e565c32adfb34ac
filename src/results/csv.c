/* SPDX-License-Identifier: MIT */
/* Comma-separated values, RFC 4180 with "\n" as line end. */
#include "results/recorder.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "results/row_cell.h"
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

/* --- cells */

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

static struct tt_row_cell csv_cell_of(const struct tt_column *column)
{
    struct tt_row_cell cell = tt_row_writer_cell(column);
    if (csv_is_text(column))
        cell.put = column->type == TUTTI_TYPE_STRING ? csv_put_string : tt_row_writer_put_binary;
    return cell;
}

/* --- rows */

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
        recorder->cells[i] = csv_cell_of(&columns[i]);
        if (csv_is_text(&columns[i]))
            recorder->texts[recorder->text_count++] = &recorder->cells[i];
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
