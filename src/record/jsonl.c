/* SPDX-License-Identifier: MIT */
/* JSON lines: a row is an object on a line of its own, {"time":0.1,"h":1,"name":"text"} (RFC 8259). Booleans are true and false,
 * Binaries texts in hexadecimal; NaN, which JSON does not have, is null, and infinity 1e999, which readers take for it. What is no
 * UTF-8 in a text becomes U+FFFD. */
#include "record/recorder.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/str.h"
#include "record/cell.h"
#include "record/lines.h"

/* A member of the object. */
struct field {
    struct tutti_cell cell;
    enum tutti_type type;
    char *key; /* ,"name": */
    size_t key_length;
};

struct tutti_recorder {
    struct tutti_lines lines;
    size_t fixed; /* most bytes of a row without the contents of its texts */
    struct field *fields;
    size_t n;
    const struct tutti_column *columns;
    bool told; /* a row is in the file: a full disk shows with the first one, not after hours */
};

static const char TIME_KEY[] = "{\"time\":";
enum { MOST_PER_BYTE = 6 }; /* \u001f */

/* --- values */

static char *put_word(char *at, const char *word)
{
    while (*word)
        *at++ = *word++;
    return at;
}

/* A number that was just written from `at` to `end`. */
static char *make_json(char *at, char *end)
{
    bool negative = *at == '-';
    if (at[negative] == 'n')
        return put_word(at, "null");
    return at[negative] == 'i' ? put_word(at + negative, "1e999") : end;
}

/* n bytes of text in quotes: at most MOST_PER_BYTE n + 2 bytes. */
static char *put_text(char *at, const char *text, size_t n)
{
    const char *end = text + n;
    *at++ = '"';
    while (text < end) {
        unsigned char c = (unsigned char)*text;
        size_t length = tutti_str_utf8_length(text); /* a text ends with a zero, which is no part of a character */
        if (c == '"' || c == '\\') {
            *at++ = '\\';
            *at++ = (char)c;
        } else if (c < 0x20) {
            at = put_word(at, "\\u00");
            *at++ = "01"[c >> 4];
            *at++ = "0123456789abcdef"[c & 15];
        } else if (length > 0) {
            memcpy(at, text, length);
            at += length;
        } else
            at = put_word(at, "\xef\xbf\xbd");
        text += length > 0 ? length : 1;
    }
    *at++ = '"';
    return at;
}

static char *put_value(char *at, const struct field *field)
{
    const struct tutti_cell *cell = &field->cell;
    switch (field->type) {
    case TUTTI_TYPE_BOOLEAN:
    case TUTTI_TYPE_CLOCK: return put_word(at, *(const bool *)cell->value ? "true" : "false");
    case TUTTI_TYPE_STRING: return put_text(at, cell->length ? *(const char *const *)cell->value : "", cell->length);
    case TUTTI_TYPE_BINARY:
        *at = '"';
        at = tutti_cell_put_binary(at + 1, cell);
        *at = '"';
        return at + 1;
    case TUTTI_TYPE_FLOAT64:
    case TUTTI_TYPE_FLOAT32: return make_json(at, cell->put(at, cell));
    default: return cell->put(at, cell);
    }
}

static bool is_text(const struct field *field)
{
    return field->type == TUTTI_TYPE_STRING || field->type == TUTTI_TYPE_BINARY;
}

/* --- rows */

/* Looks up how long this row's texts are; returns the most bytes that the row can need, SIZE_MAX if that is absurd. */
static size_t measure(struct tutti_recorder *recorder)
{
    size_t need = recorder->fixed;
    for (size_t i = 0; i < recorder->n; i++) {
        struct field *field = &recorder->fields[i];
        if (!is_text(field))
            continue;
        tutti_cell_measure(&field->cell, field->type);
        if (field->cell.length > SIZE_MAX / 16 || need > SIZE_MAX / 16)
            return SIZE_MAX;
        need += MOST_PER_BYTE * field->cell.length;
    }
    return need;
}

static enum tutti_err flush(struct tutti_recorder *recorder)
{
    return tutti_lines_flush(&recorder->lines);
}

static enum tutti_err row(struct tutti_recorder *recorder, double time)
{
    size_t need = measure(recorder);
    char *at;
    if (need == SIZE_MAX)
        return tutti_fail_memory();
    TRY(tutti_lines_begin(&recorder->lines, need, &at));
    at = put_word(at, TIME_KEY);
    at = make_json(at, at + tutti_number_write_double(at, time));
    for (const struct field *field = recorder->fields, *end = field + recorder->n; field < end; field++) {
        memcpy(at, field->key, field->key_length);
        at = put_value(at + field->key_length, field);
    }
    at = put_word(at, "}\n");
    tutti_lines_end(&recorder->lines, at);
    if (recorder->told)
        return TUTTI_OK;
    recorder->told = true;
    return flush(recorder);
}

static void emergency(struct tutti_recorder *recorder)
{
    tutti_lines_emergency(&recorder->lines);
}

static enum tutti_err mark_place(struct tutti_recorder *recorder, struct tutti_parcel *mark)
{
    tutti_record_put_columns(mark, &tutti_record_jsonl, recorder->columns, recorder->n);
    return tutti_lines_mark(&recorder->lines, mark);
}

static enum tutti_err sync_file(struct tutti_recorder *recorder)
{
    return tutti_lines_sync(&recorder->lines);
}

/* --- opening and closing */

static void release(struct tutti_recorder *recorder)
{
    for (size_t i = 0; recorder->fields && i < recorder->n; i++)
        free(recorder->fields[i].key);
    tutti_lines_fini(&recorder->lines);
    free(recorder->fields);
    free(recorder);
}

static enum tutti_err close_file(struct tutti_recorder *recorder)
{
    enum tutti_err err = tutti_lines_close(&recorder->lines, flush(recorder));
    release(recorder);
    return err;
}

static enum tutti_err prepare_field(struct tutti_recorder *recorder, struct field *field, const char *path,
                                    const struct tutti_column *column)
{
    size_t n = strlen(column->name);
    if (strcmp(column->name, "time") == 0)
        return tutti_fail(
            TUTTI_ERR_ARGUMENT,
            "cannot write %s: a variable is named 'time', and an object of a .jsonl file has that name for the "
            "time of its row; name what to record (--record), or use .csv",
            path);
    field->type = column->type;
    field->cell = tutti_cell_of(column);
    field->key = malloc(MOST_PER_BYTE * n + 5);
    if (!field->key)
        return tutti_fail_memory();
    field->key[0] = ',';
    char *end = put_text(field->key + 1, column->name, n);
    *end++ = ':';
    field->key_length = (size_t)(end - field->key);
    recorder->fixed += field->key_length + 1 + TUTTI_NUMBER_MAX + 2; /* sign, digits or quotes */
    return TUTTI_OK;
}

static enum tutti_err prepare(struct tutti_recorder *recorder, const char *path, const struct tutti_column *columns,
                              size_t n)
{
    recorder->fields = calloc(n + 1, sizeof *recorder->fields);
    recorder->n = n;
    recorder->columns = columns;
    recorder->fixed = sizeof TIME_KEY + TUTTI_NUMBER_MAX + 4;
    if (!recorder->fields)
        return tutti_fail_memory();
    for (size_t i = 0; i < n; i++)
        TRY(prepare_field(recorder, &recorder->fields[i], path, &columns[i]));
    return tutti_lines_prepare(&recorder->lines, path, 2 * recorder->fixed);
}

static enum tutti_err resume(struct tutti_recorder *recorder, struct tutti_unparcel *mark)
{
    TRY(tutti_record_check_columns(mark, &tutti_record_jsonl, recorder->lines.path, recorder->columns, recorder->n));
    TRY(tutti_lines_reopen(&recorder->lines, 0, mark));
    recorder->told = recorder->lines.offset > 0;
    return TUTTI_OK;
}

/* `mark` is NULL for a new file. */
static enum tutti_err open_recorder(struct tutti_recorder **out, const char *path, const struct tutti_column *columns,
                                    size_t n, struct tutti_unparcel *mark)
{
    struct tutti_recorder *recorder = calloc(1, sizeof *recorder);
    if (!recorder)
        return tutti_fail_memory();
    enum tutti_err err = prepare(recorder, path, columns, n);
    if (err == TUTTI_OK)
        err = mark ? resume(recorder, mark) : tutti_lines_open(&recorder->lines);
    if (err == TUTTI_OK)
        *out = recorder;
    else
        release(recorder);
    return err;
}

static enum tutti_err open_file(struct tutti_recorder **out, const char *path, const struct tutti_column *columns,
                                size_t n)
{
    return open_recorder(out, path, columns, n, NULL);
}

static enum tutti_err reopen_file(struct tutti_recorder **out, const char *path, const struct tutti_column *columns,
                                  size_t n, struct tutti_unparcel *mark)
{
    return open_recorder(out, path, columns, n, mark);
}

const struct tutti_record_format tutti_record_jsonl = {
    .name = "jsonl",
    .extension = ".jsonl",
    .any_thread = true,
    .holds_texts = true,
    .open = open_file,
    .row = row,
    .flush = flush,
    .close = close_file,
    .emergency = emergency,
    .mark = mark_place,
    .reopen = reopen_file,
    .sync = sync_file,
};
