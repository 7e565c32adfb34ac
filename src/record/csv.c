/* SPDX-License-Identifier: MIT */
/* Comma-separated values, RFC 4180 with "\n" as line end.
 *
 * Invariants, for emergency() in a signal handler at any moment:
 * 1. buffer[0..whole) are whole rows that are not in the file yet; row() raises `whole` after the last byte of a
 *    row.
 * 2. `buffer` is replaced only while `whole` is 0.
 * 3. In a regular file they belong at `offset`, however often they are written. A pipe takes them once: while
 *    write(2) is at work (`writing`), it is not known how many it took. */
#include "record/recorder.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/number.h"
#include "base/str.h"
#include "record/file.h"

enum { BUFFER = 128 * 1024 };

struct cell {
    /* Writes the value to `at`, where there is room; returns the end. */
    char *(*put)(char *at, const struct cell *cell);
    const void *value;
    size_t length; /* String and Binary: bytes of this row's value, measured once, so that the room stays enough */
};

struct tutti_recorder {
    char *buffer;
    size_t capacity;
    _Atomic size_t whole;
    _Atomic off_t offset; /* -1: not a regular file */
    _Atomic bool writing;
    struct tutti_record_file file;
    int error;    /* errno of a failed write, after which nothing is written any more */
    size_t fixed; /* most bytes of a row without the contents of its texts */
    struct cell *cells;
    size_t n;
    struct cell **texts; /* the cells of type String and Binary */
    size_t text_count;
    const struct tutti_column *columns;
    bool units; /* are in the header: "h [m]" */
    char *path;
};

/* --- cells */

#define PUT_NUMBER(NAME, ctype, write, minus)                                                                          \
    static char *put_##NAME(char *at, const struct cell *cell)                                                         \
    {                                                                                                                  \
        return at + write(at, *(const ctype *)cell->value);                                                            \
    }                                                                                                                  \
    static char *put_negated_##NAME(char *at, const struct cell *cell)                                                 \
    {                                                                                                                  \
        return minus(at, *(const ctype *)cell->value);                                                                 \
    }

/* 0 - x, not -x: minus nothing is nothing, not "-0". */
static char *minus_double(char *at, double value)
{
    return at + tutti_number_write_double(at, 0 - value);
}

static char *minus_float(char *at, float value)
{
    return at + tutti_number_write_float(at, 0 - value);
}

static char *minus_uint(char *at, uint64_t value)
{
    if (value > 0)
        *at++ = '-';
    return at + tutti_number_write_uint(at, value);
}

static char *minus_int(char *at, int64_t value)
{
    /* The least integer has no positive counterpart. */
    return value > 0 ? minus_uint(at, (uint64_t)value) : at + tutti_number_write_uint(at, 0 - (uint64_t)value);
}

PUT_NUMBER(FLOAT64, double, tutti_number_write_double, minus_double)
PUT_NUMBER(FLOAT32, float, tutti_number_write_float, minus_float)
PUT_NUMBER(INT8, int8_t, tutti_number_write_int, minus_int)
PUT_NUMBER(UINT8, uint8_t, tutti_number_write_uint, minus_uint)
PUT_NUMBER(INT16, int16_t, tutti_number_write_int, minus_int)
PUT_NUMBER(UINT16, uint16_t, tutti_number_write_uint, minus_uint)
PUT_NUMBER(INT32, int32_t, tutti_number_write_int, minus_int)
PUT_NUMBER(UINT32, uint32_t, tutti_number_write_uint, minus_uint)
PUT_NUMBER(INT64, int64_t, tutti_number_write_int, minus_int)
PUT_NUMBER(UINT64, uint64_t, tutti_number_write_uint, minus_uint)
PUT_NUMBER(ENUMERATION, int64_t, tutti_number_write_int, minus_int)

static char *put_BOOLEAN(char *at, const struct cell *cell)
{
    *at = *(const bool *)cell->value ? '1' : '0';
    return at + 1;
}

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

static char *put_STRING(char *at, const struct cell *cell)
{
    return put_text(at, *(const char *const *)cell->value, cell->length);
}

static char *put_BINARY(char *at, const struct cell *cell)
{
    const struct tutti_bytes *bytes = cell->value;
    for (size_t i = 0; i < cell->length; i++) {
        *at++ = "0123456789abcdef"[bytes->data[i] >> 4];
        *at++ = "0123456789abcdef"[bytes->data[i] & 15];
    }
    return at;
}

#define put_negated_BOOLEAN put_BOOLEAN
#define put_negated_STRING put_STRING
#define put_negated_BINARY put_BINARY
#define put_CLOCK put_BOOLEAN
#define put_negated_CLOCK put_BOOLEAN

static struct cell cell_of(const struct tutti_column *column)
{
    static char *(*const puts[][2])(char *, const struct cell *) = {
#define X(name, text, ctype) {put_##name, put_negated_##name},
        TUTTI_TYPES(X)
#undef X
    };
    return (struct cell){.put = puts[column->type][column->negated], .value = column->value};
}

static bool is_text(const struct cell *cell)
{
    return cell->put == put_STRING || cell->put == put_BINARY;
}

/* --- writing */

/* How many of the first n bytes are whole rows. The bytes start with a row; a line end in quotes is not a row's end. */
static size_t whole_rows(const char *bytes, size_t n)
{
    size_t whole = 0;
    bool quoted = false;
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == '"')
            quoted = !quoted;
        else if (bytes[i] == '\n' && !quoted)
            whole = i + 1;
    }
    return whole;
}

/* Writes the first `whole` bytes; returns how many of them are whole rows in the file. Fewer: `error` says why. */
static size_t store(struct tutti_recorder *recorder, size_t whole, off_t offset)
{
    errno = 0;
    size_t done = tutti_fs_write(recorder->file.fd, recorder->buffer, whole, offset);
    if (done == whole)
        return done;
    recorder->error = errno ? errno : EIO;
    done = whole_rows(recorder->buffer, done);
    if (offset >= 0)
        (void)!ftruncate(recorder->file.fd, offset + (off_t)done); /* half a row would spoil the file */
    return done;
}

static enum tutti_err flush(struct tutti_recorder *recorder)
{
    if (recorder->error)
        return tutti_record_file_fail_write(recorder->path, recorder->error);
    size_t whole = recorder->whole, done = 0;
    off_t offset = recorder->offset;
    if (whole == 0)
        return TUTTI_OK;
    recorder->writing = true;
    if (tutti_record_file_hold(&recorder->file, offset))
        done = store(recorder, whole, offset);
    else
        recorder->error = errno;
    recorder->whole = 0; /* first: see invariant 3 */
    if (offset >= 0)
        recorder->offset = offset + (off_t)done;
    recorder->writing = false;
    return recorder->error ? tutti_record_file_fail_write(recorder->path, recorder->error) : TUTTI_OK;
}

/* Room for a row of `need` bytes. */
static enum tutti_err make_room(struct tutti_recorder *recorder, size_t need)
{
    TRY(flush(recorder));
    if (recorder->capacity >= need)
        return TUTTI_OK;
    char *larger = need > SIZE_MAX / 2 ? NULL : malloc(2 * need);
    if (!larger)
        return tutti_fail_memory();
    char *old = recorder->buffer;
    recorder->buffer = larger;
    recorder->capacity = 2 * need;
    free(old);
    return TUTTI_OK;
}

/* Looks up how long this row's texts are; returns the most bytes that they can need, SIZE_MAX if that is absurd. */
static size_t measure_texts(struct tutti_recorder *recorder)
{
    size_t need = 0;
    for (size_t i = 0; i < recorder->text_count; i++) {
        struct cell *cell = recorder->texts[i];
        if (cell->put == put_STRING) {
            const char *text = *(const char *const *)cell->value;
            cell->length = text ? strlen(text) : 0;
        } else {
            const struct tutti_bytes *bytes = cell->value;
            cell->length = bytes->data ? bytes->size : 0;
        }
        if (cell->length > SIZE_MAX / 4 || need > SIZE_MAX / 4)
            return SIZE_MAX;
        need += 2 * cell->length + 2;
    }
    return need;
}

static enum tutti_err row(struct tutti_recorder *recorder, double time)
{
    if (recorder->error)
        return tutti_record_file_fail_write(recorder->path, recorder->error);
    size_t need = recorder->fixed, whole = atomic_load_explicit(&recorder->whole, memory_order_relaxed);
    if (recorder->text_count > 0) {
        size_t texts = measure_texts(recorder);
        if (texts == SIZE_MAX)
            return tutti_fail_memory();
        need += texts;
    }
    if (recorder->capacity - whole < need) {
        TRY(make_room(recorder, need));
        whole = 0;
    }
    char *at = recorder->buffer + whole;
    at += tutti_number_write_double(at, time);
    for (const struct cell *cell = recorder->cells, *end = cell + recorder->n; cell < end; cell++) {
        *at++ = ',';
        at = cell->put(at, cell);
    }
    *at++ = '\n';
    atomic_store_explicit(&recorder->whole, (size_t)(at - recorder->buffer), memory_order_release);
    return TUTTI_OK;
}

static void emergency(struct tutti_recorder *recorder)
{
    size_t whole = atomic_load_explicit(&recorder->whole, memory_order_acquire);
    if (whole == 0 || recorder->error || (recorder->offset < 0 && recorder->writing))
        return;
    if (tutti_record_file_hold(&recorder->file, -1)) /* a write may have been under way */
        (void)tutti_fs_write(recorder->file.fd, recorder->buffer, whole, recorder->offset);
    recorder->whole = 0;
}

/* --- opening and closing */

static void release(struct tutti_recorder *recorder)
{
    free(recorder->buffer);
    free(recorder->cells);
    free(recorder->texts);
    free(recorder->path);
    free(recorder);
}

static enum tutti_err close_file(struct tutti_recorder *recorder)
{
    enum tutti_err err = tutti_record_file_close(&recorder->file, flush(recorder));
    release(recorder);
    return err;
}

static enum tutti_err open_file(struct tutti_recorder *recorder, const char *path)
{
    TRY(tutti_record_file_open(&recorder->file, strcmp(path, "-") == 0 ? path : recorder->path));
    recorder->offset = recorder->file.is_regular ? 0 : -1;
    return TUTTI_OK;
}

/* Everything that needs memory. */
static enum tutti_err prepare(struct tutti_recorder *recorder, const char *path, const struct tutti_column *columns,
                              size_t n)
{
    recorder->path = tutti_str_copy(strcmp(path, "-") == 0 ? "to standard output" : path);
    recorder->cells = calloc(n + 1, sizeof *recorder->cells);
    recorder->texts = calloc(n + 1, sizeof *recorder->texts);
    if (!recorder->path || !recorder->cells || !recorder->texts)
        return tutti_fail_memory();
    recorder->columns = columns;
    recorder->n = n;
    recorder->fixed = TUTTI_NUMBER_MAX + 1;
    size_t header = sizeof "time [s]\n";
    for (size_t i = 0; i < n; i++) {
        recorder->cells[i] = cell_of(&columns[i]);
        if (is_text(&recorder->cells[i]))
            recorder->texts[recorder->text_count++] = &recorder->cells[i];
        recorder->fixed += 1 + 1 + TUTTI_NUMBER_MAX; /* comma, sign, digits */
        header += 2 * (strlen(columns[i].name) + 3 + (columns[i].unit ? strlen(columns[i].unit) : 0)) + 3;
    }
    recorder->capacity = BUFFER;
    recorder->capacity = recorder->capacity < header ? header : recorder->capacity;
    recorder->capacity = recorder->capacity < 2 * recorder->fixed ? 2 * recorder->fixed : recorder->capacity;
    recorder->buffer = malloc(recorder->capacity);
    return recorder->buffer ? TUTTI_OK : tutti_fail_memory();
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

/* Goes to the file at once: a full disk shows now, not after hours. */
static enum tutti_err write_header(struct tutti_recorder *recorder)
{
    const char *time = recorder->units ? "time [s]" : "time";
    char *at = put_text(recorder->buffer, time, strlen(time));
    for (size_t i = 0; i < recorder->n; i++) {
        *at++ = ',';
        TRY(put_name(recorder, &at, &recorder->columns[i]));
    }
    *at++ = '\n';
    recorder->whole = (size_t)(at - recorder->buffer);
    return flush(recorder);
}

static enum tutti_err open_recorder(struct tutti_recorder **out, const char *path, const struct tutti_column *columns,
                                    size_t n, bool units)
{
    struct tutti_recorder *recorder = calloc(1, sizeof *recorder);
    if (!recorder)
        return tutti_fail_memory();
    recorder->units = units;
    enum tutti_err err = prepare(recorder, path, columns, n);
    if (err != TUTTI_OK) {
        release(recorder);
        return err;
    }
    err = open_file(recorder, path);
    if (err == TUTTI_OK && recorder->offset >= 0 && ftruncate(recorder->file.fd, 0) != 0)
        err = tutti_record_file_fail_open(path);
    if (err == TUTTI_OK)
        err = write_header(recorder);
    if (err != TUTTI_OK) {
        err = tutti_record_file_close(&recorder->file, err);
        release(recorder);
        return err;
    }
    *out = recorder;
    return TUTTI_OK;
}

static enum tutti_err open_csv(struct tutti_recorder **out, const char *path, const struct tutti_column *columns,
                               size_t n)
{
    return open_recorder(out, path, columns, n, false);
}

static enum tutti_err open_csv_units(struct tutti_recorder **out, const char *path, const struct tutti_column *columns,
                                     size_t n)
{
    return open_recorder(out, path, columns, n, true);
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
};
