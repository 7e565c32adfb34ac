/* SPDX-License-Identifier: MIT */
#include "results/row_writer.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/crash.h"
#include "base/number.h"
#include "base/text.h"

enum tutti_err tt_row_writer_prepare(struct tt_row_writer *lines, const char *path, size_t room)
{
    enum { LEAST = 128 * 1024 };
    lines->file.fd = -1;
    lines->is_standard = strcmp(path, "-") == 0;
    lines->path = tt_text_copy(lines->is_standard ? "to standard output" : path); /* for messages */
    lines->capacity = room > LEAST ? room : LEAST;
    lines->buffer = malloc(lines->capacity);
    return lines->path && lines->buffer ? TUTTI_OK : tt_fail_memory();
}

enum tutti_err tt_row_writer_open(struct tt_row_writer *lines)
{
    enum tutti_err err = tt_record_file_create(&lines->file, lines->is_standard ? "-" : lines->path);
    lines->offset = lines->file.is_regular ? 0 : -1;
    return err ? tt_record_file_close(&lines->file, err) : TUTTI_OK;
}

static enum tutti_err row_writer_resume(struct tt_row_writer *lines, size_t n, off_t position)
{
    if ((off_t)n > position)
        return tt_record_file_fail_mark(lines->path);
    TRY(tt_record_file_check_bytes(&lines->file, lines->buffer, n, 0));
    TRY(tt_record_file_truncate(&lines->file, position));
    lines->offset = position;
    return TUTTI_OK;
}

enum tutti_err tt_row_writer_reopen(struct tt_row_writer *lines, size_t n, struct tt_byte_reader *mark)
{
    off_t position;
    TRY(tt_record_file_reopen(&lines->file, lines->path, mark, &position));
    enum tutti_err err = row_writer_resume(lines, n, position);
    return err ? tt_record_file_close(&lines->file, err) : TUTTI_OK;
}

/* How many of the first n bytes are whole rows. The bytes start with a row. */
static size_t count_whole_rows(const struct tt_row_writer *lines, size_t n)
{
    size_t whole = 0;
    bool quoted = false;
    for (size_t i = 0; i < n; i++) {
        if (lines->quotes && lines->buffer[i] == '"')
            quoted = !quoted;
        else if (lines->buffer[i] == '\n' && !quoted)
            whole = i + 1;
    }
    return whole;
}

/* Writes the first `whole` bytes; returns the bytes of complete rows in the file. If it is smaller, `error` has the
 * reason. */
static size_t row_writer_write(struct tt_row_writer *lines, size_t whole, off_t offset)
{
    errno = 0;
    size_t done = tt_fs_write(lines->file.fd, lines->buffer, whole, offset);
    if (done == whole)
        return done;
    lines->error = errno ? errno : EIO;
    done = count_whole_rows(lines, done);
    if (offset >= 0)
        (void)!ftruncate(lines->file.fd, offset + (off_t)done); /* half a row would spoil the file */
    return done;
}

enum tutti_err tt_row_writer_flush(struct tt_row_writer *lines)
{
    if (lines->error)
        return tt_record_file_fail_write(lines->path, lines->error);
    size_t whole = lines->whole, done = 0;
    off_t offset = lines->offset;
    if (whole == 0)
        return TUTTI_OK;
    lines->writing = true;
    if (tt_record_file_check(&lines->file, offset))
        done = row_writer_write(lines, whole, offset);
    else
        lines->error = errno;
    lines->whole = 0; /* first: B3 */
    if (offset >= 0)
        lines->offset = offset + (off_t)done;
    lines->writing = false;
    return lines->error ? tt_record_file_fail_write(lines->path, lines->error) : TUTTI_OK;
}

enum tutti_err tt_row_writer_mark(struct tt_row_writer *lines, struct tt_byte_writer *mark)
{
    TRY(tt_row_writer_flush(lines));
    if (lines->offset < 0)
        return tt_fail(TUTTI_ERR_UNSUPPORTED, "%s: what was written there cannot be taken back", lines->path);
    return tt_record_file_mark(&lines->file, 0, lines->offset, mark);
}

enum tutti_err tt_row_writer_sync(struct tt_row_writer *lines)
{
    return tt_record_file_sync(&lines->file);
}

static enum tutti_err row_writer_reserve(struct tt_row_writer *lines, size_t need)
{
    TRY(tt_row_writer_flush(lines));
    if (lines->capacity >= need)
        return TUTTI_OK;
    char *larger = need > SIZE_MAX / 2 ? NULL : malloc(2 * need);
    if (!larger)
        return tt_fail_memory();
    char *old = lines->buffer;
    lines->buffer = larger;
    lines->capacity = 2 * need;
    free(old);
    return TUTTI_OK;
}

enum tutti_err tt_row_writer_start_row(struct tt_row_writer *lines, size_t need, char **at)
{
    if (lines->error)
        return tt_record_file_fail_write(lines->path, lines->error);
    size_t whole = atomic_load_explicit(&lines->whole, memory_order_relaxed);
    if (lines->capacity - whole < need) {
        TRY(row_writer_reserve(lines, need));
        whole = 0;
    }
    *at = lines->buffer + whole;
    return TUTTI_OK;
}

void tt_row_writer_emergency(struct tt_row_writer *lines)
{
    size_t whole = atomic_load_explicit(&lines->whole, memory_order_acquire);
    bool saved = whole == 0;
    if (!saved && !lines->error && !(lines->offset < 0 && lines->writing) &&
        tt_record_file_check(&lines->file, -1)) /* a write may have been under way */
        saved = tt_fs_write(lines->file.fd, lines->buffer, whole, lines->offset) == whole;
    if (!saved)
        tt_crash_report_loss();
    lines->whole = 0;
}

enum tutti_err tt_row_writer_close(struct tt_row_writer *lines, enum tutti_err err)
{
    return tt_record_file_close(&lines->file, err);
}

void tt_row_writer_fini(struct tt_row_writer *lines)
{
    free(lines->buffer);
    free(lines->path);
}

#define PUT_NUMBER(NAME, ctype, write, minus)                                                                          \
    static char *put_##NAME(char *at, const struct tt_row_cell *cell)                                                  \
    {                                                                                                                  \
        return at + write(at, *(const ctype *)cell->value);                                                            \
    }                                                                                                                  \
    static char *put_negated_##NAME(char *at, const struct tt_row_cell *cell)                                          \
    {                                                                                                                  \
        return minus(at, *(const ctype *)cell->value);                                                                 \
    }

/* 0 - x, not -x: minus nothing is nothing, not "-0". */
static char *put_negated_double(char *at, double value)
{
    return at + tt_number_write_double(at, 0 - value);
}

static char *put_negated_float(char *at, float value)
{
    return at + tt_number_write_float(at, 0 - value);
}

static char *put_negated_uint(char *at, uint64_t value)
{
    if (value > 0)
        *at++ = '-';
    return at + tt_number_write_uint(at, value);
}

static char *put_negated_int(char *at, int64_t value)
{
    /* The least integer has no positive counterpart. */
    return value > 0 ? put_negated_uint(at, (uint64_t)value) : at + tt_number_write_uint(at, 0 - (uint64_t)value);
}

PUT_NUMBER(FLOAT64, double, tt_number_write_double, put_negated_double)
PUT_NUMBER(FLOAT32, float, tt_number_write_float, put_negated_float)
PUT_NUMBER(INT8, int8_t, tt_number_write_int, put_negated_int)
PUT_NUMBER(UINT8, uint8_t, tt_number_write_uint, put_negated_uint)
PUT_NUMBER(INT16, int16_t, tt_number_write_int, put_negated_int)
PUT_NUMBER(UINT16, uint16_t, tt_number_write_uint, put_negated_uint)
PUT_NUMBER(INT32, int32_t, tt_number_write_int, put_negated_int)
PUT_NUMBER(UINT32, uint32_t, tt_number_write_uint, put_negated_uint)
PUT_NUMBER(INT64, int64_t, tt_number_write_int, put_negated_int)
PUT_NUMBER(UINT64, uint64_t, tt_number_write_uint, put_negated_uint)
PUT_NUMBER(ENUMERATION, int64_t, tt_number_write_int, put_negated_int)

static char *put_BOOLEAN(char *at, const struct tt_row_cell *cell)
{
    *at = *(const bool *)cell->value ? '1' : '0';
    return at + 1;
}

#define put_negated_BOOLEAN put_BOOLEAN
#define put_CLOCK put_BOOLEAN
#define put_negated_CLOCK put_BOOLEAN
#define put_STRING NULL
#define put_negated_STRING NULL
#define put_BINARY NULL
#define put_negated_BINARY NULL

struct tt_row_cell tt_row_writer_cell(const struct tt_column *column)
{
    static char *(*const puts[][2])(char *, const struct tt_row_cell *) = {
#define X(name, text, ctype) {put_##name, put_negated_##name},
        TUTTI_TYPES(X)
#undef X
    };
    return (struct tt_row_cell){.put = puts[column->type][column->negated], .value = column->value};
}

void tt_row_writer_measure_cell(struct tt_row_cell *cell, enum tt_type type)
{
    if (type == TUTTI_TYPE_STRING) {
        const char *text = *(const char *const *)cell->value;
        cell->length = text ? strlen(text) : 0;
    } else {
        const struct tt_bytes *bytes = cell->value;
        cell->length = bytes->data ? bytes->size : 0;
    }
}

char *tt_row_writer_put_binary(char *at, const struct tt_row_cell *cell)
{
    const struct tt_bytes *bytes = cell->value;
    for (size_t i = 0; i < cell->length; i++) {
        *at++ = "0123456789abcdef"[bytes->data[i] >> 4];
        *at++ = "0123456789abcdef"[bytes->data[i] & 15];
    }
    return at;
}
