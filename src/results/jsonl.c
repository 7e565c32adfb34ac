/* SPDX-License-Identifier: MIT */
/* JSON lines: a row is an object on a line of its own, {"time":0.1,"h":1,"name":"text"} (RFC 8259). Booleans are true and false,
 * Binaries texts in hexadecimal; NaN, which JSON does not have, is null, and infinity 1e999, which readers take for it. What is no
 * UTF-8 in a text becomes U+FFFD. */
#include "results/recorder.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "results/row_cell.h"
#include "results/row_writer.h"

/* A member of the object. */
struct jsonl_field {
    struct tt_row_cell cell;
    enum tt_type type;
    char *key; /* ,"name": */
    size_t key_length;
};

struct tt_recorder {
    struct tt_row_writer lines;
    size_t fixed; /* most bytes of a row without the contents of its texts */
    struct jsonl_field *fields;
    size_t n;
    const struct tt_column *columns;
    bool told; /* a row is in the file: a full disk shows with the first one, not after hours */
};

static const char TIME_KEY[] = "{\"time\":";
enum { MOST_PER_BYTE = 6 }; /* \u001f */

/* --- values */

static char *jsonl_put_word(char *at, const char *word)
{
    while (*word)
        *at++ = *word++;
    return at;
}

/* A number that was just written from `at` to `end`. */
static char *fix_json_number(char *at, char *end)
{
    bool negative = *at == '-';
    if (at[negative] == 'n')
        return jsonl_put_word(at, "null");
    return at[negative] == 'i' ? jsonl_put_word(at + negative, "1e999") : end;
}

/* n bytes of text in quotes: at most MOST_PER_BYTE n + 2 bytes. */
static char *jsonl_put_text(char *at, const char *text, size_t n)
{
    const char *end = text + n;
    *at++ = '"';
    while (text < end) {
        unsigned char c = (unsigned char)*text;
        size_t length = tt_text_utf8_length(text); /* a text ends with a zero, which is no part of a character */
        if (c == '"' || c == '\\') {
            *at++ = '\\';
            *at++ = (char)c;
        } else if (c < 0x20) {
            at = jsonl_put_word(at, "\\u00");
            *at++ = "01"[c >> 4];
            *at++ = "0123456789abcdef"[c & 15];
        } else if (length > 0) {
            memcpy(at, text, length);
            at += length;
        } else
            at = jsonl_put_word(at, "\xef\xbf\xbd");
        text += length > 0 ? length : 1;
    }
    *at++ = '"';
    return at;
}

static char *jsonl_put_value(char *at, const struct jsonl_field *field)
{
    const struct tt_row_cell *cell = &field->cell;
    switch (field->type) {
    case TUTTI_TYPE_BOOLEAN:
    case TUTTI_TYPE_CLOCK: return jsonl_put_word(at, *(const bool *)cell->value ? "true" : "false");
    case TUTTI_TYPE_STRING:
        return jsonl_put_text(at, cell->length ? *(const char *const *)cell->value : "", cell->length);
    case TUTTI_TYPE_BINARY:
        *at = '"';
        at = tt_row_writer_put_binary(at + 1, cell);
        *at = '"';
        return at + 1;
    case TUTTI_TYPE_FLOAT64:
    case TUTTI_TYPE_FLOAT32: return fix_json_number(at, cell->put(at, cell));
    default: return cell->put(at, cell);
    }
}

static bool jsonl_is_text(const struct jsonl_field *field)
{
    return field->type == TUTTI_TYPE_STRING || field->type == TUTTI_TYPE_BINARY;
}

/* --- rows */

/* Looks up how long this row's texts are; returns the most bytes that the row can need, SIZE_MAX if that is absurd. */
static size_t jsonl_measure(struct tt_recorder *recorder)
{
    size_t need = recorder->fixed;
    for (size_t i = 0; i < recorder->n; i++) {
        struct jsonl_field *field = &recorder->fields[i];
        if (!jsonl_is_text(field))
            continue;
        tt_row_writer_measure_cell(&field->cell, field->type);
        if (field->cell.length > SIZE_MAX / 16 || need > SIZE_MAX / 16)
            return SIZE_MAX;
        need += MOST_PER_BYTE * field->cell.length;
    }
    return need;
}

static enum tutti_err jsonl_flush(struct tt_recorder *recorder)
{
    return tt_row_writer_flush(&recorder->lines);
}

static enum tutti_err jsonl_write_row(struct tt_recorder *recorder, double time)
{
    size_t need = jsonl_measure(recorder);
    char *at;
    if (need == SIZE_MAX)
        return tt_fail_memory();
    TRY(tt_row_writer_start_row(&recorder->lines, need, &at));
    at = jsonl_put_word(at, TIME_KEY);
    at = fix_json_number(at, at + tt_number_write_double(at, time));
    for (const struct jsonl_field *field = recorder->fields, *end = field + recorder->n; field < end; field++) {
        memcpy(at, field->key, field->key_length);
        at = jsonl_put_value(at + field->key_length, field);
    }
    at = jsonl_put_word(at, "}\n");
    tt_row_writer_end_row(&recorder->lines, at);
    if (recorder->told)
        return TUTTI_OK;
    recorder->told = true;
    return jsonl_flush(recorder);
}

static void jsonl_emergency(struct tt_recorder *recorder)
{
    tt_row_writer_emergency(&recorder->lines);
}

static enum tutti_err jsonl_mark(struct tt_recorder *recorder, struct tt_byte_writer *mark)
{
    tt_recorder_put_columns(mark, &tt_jsonl_format, recorder->columns, recorder->n);
    return tt_row_writer_mark(&recorder->lines, mark);
}

static enum tutti_err jsonl_sync(struct tt_recorder *recorder)
{
    return tt_row_writer_sync(&recorder->lines);
}

/* --- opening and closing */

static void jsonl_release(struct tt_recorder *recorder)
{
    for (size_t i = 0; recorder->fields && i < recorder->n; i++)
        free(recorder->fields[i].key);
    tt_row_writer_fini(&recorder->lines);
    free(recorder->fields);
    free(recorder);
}

static enum tutti_err jsonl_close(struct tt_recorder *recorder)
{
    enum tutti_err err = tt_row_writer_close(&recorder->lines, jsonl_flush(recorder));
    jsonl_release(recorder);
    return err;
}

static enum tutti_err jsonl_prepare_field(struct tt_recorder *recorder, struct jsonl_field *field, const char *path,
                                          const struct tt_column *column)
{
    size_t n = strlen(column->name);
    if (strcmp(column->name, "time") == 0)
        return tt_fail(
            TUTTI_ERR_ARGUMENT,
            "cannot write %s: a variable is named 'time', and an object of a .jsonl file has that name for the "
            "time of its row; name what to record (--record), or use .csv",
            path);
    field->type = column->type;
    field->cell = tt_row_writer_cell(column);
    field->key = malloc(MOST_PER_BYTE * n + 5);
    if (!field->key)
        return tt_fail_memory();
    field->key[0] = ',';
    char *end = jsonl_put_text(field->key + 1, column->name, n);
    *end++ = ':';
    field->key_length = (size_t)(end - field->key);
    recorder->fixed += field->key_length + 1 + TUTTI_NUMBER_MAX + 2; /* sign, digits or quotes */
    return TUTTI_OK;
}

static enum tutti_err jsonl_prepare(struct tt_recorder *recorder, const char *path, const struct tt_column *columns,
                                    size_t n)
{
    recorder->fields = calloc(n + 1, sizeof *recorder->fields);
    recorder->n = n;
    recorder->columns = columns;
    recorder->fixed = sizeof TIME_KEY + TUTTI_NUMBER_MAX + 4;
    if (!recorder->fields)
        return tt_fail_memory();
    for (size_t i = 0; i < n; i++)
        TRY(jsonl_prepare_field(recorder, &recorder->fields[i], path, &columns[i]));
    return tt_row_writer_prepare(&recorder->lines, path, 2 * recorder->fixed);
}

static enum tutti_err jsonl_resume(struct tt_recorder *recorder, struct tt_byte_reader *mark)
{
    TRY(tt_recorder_check_columns(mark, &tt_jsonl_format, recorder->lines.path, recorder->columns, recorder->n));
    TRY(tt_row_writer_reopen(&recorder->lines, 0, mark));
    recorder->told = recorder->lines.offset > 0;
    return TUTTI_OK;
}

/* `mark` is NULL for a new file. */
static enum tutti_err jsonl_open_recorder(struct tt_recorder **out, const char *path, const struct tt_column *columns,
                                          size_t n, struct tt_byte_reader *mark)
{
    struct tt_recorder *recorder = calloc(1, sizeof *recorder);
    if (!recorder)
        return tt_fail_memory();
    enum tutti_err err = jsonl_prepare(recorder, path, columns, n);
    if (err == TUTTI_OK)
        err = mark ? jsonl_resume(recorder, mark) : tt_row_writer_open(&recorder->lines);
    if (err == TUTTI_OK)
        *out = recorder;
    else
        jsonl_release(recorder);
    return err;
}

static enum tutti_err jsonl_open(struct tt_recorder **out, const char *path, const struct tt_column *columns, size_t n)
{
    return jsonl_open_recorder(out, path, columns, n, NULL);
}

static enum tutti_err jsonl_reopen(struct tt_recorder **out, const char *path, const struct tt_column *columns,
                                   size_t n, struct tt_byte_reader *mark)
{
    return jsonl_open_recorder(out, path, columns, n, mark);
}

const struct tt_record_format tt_jsonl_format = {
    .name = "jsonl",
    .extension = ".jsonl",
    .any_thread = true,
    .holds_texts = true,
    .open = jsonl_open,
    .row = jsonl_write_row,
    .flush = jsonl_flush,
    .close = jsonl_close,
    .emergency = jsonl_emergency,
    .mark = jsonl_mark,
    .reopen = jsonl_reopen,
    .sync = jsonl_sync,
};
