/* SPDX-License-Identifier: MIT */
#include "apps/api/recording.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/vector.h"
#include "base/options/options.h"
#include "results/output.h"
#include "results/recorder.h"

/* From this row on. */
struct recorded_text {
    size_t row;
    const char *text;
};

struct recording_column {
    struct tutti_recorded shown;
    struct tt_vector texts; /* of struct recorded_text, where they change */
};

struct tutti_recording {
    struct recording_column *columns;
    size_t column_count;
    double *values;
    size_t room, count;     /* rows */
    size_t populated;       /* bytes of `values` that are backed by memory pages, once there are many */
    struct tt_arena memory; /* holds columns and texts */
};

enum tutti_err tutti_recording_make(struct tutti_recording **out)
{
    struct tutti_recording *recording = calloc(1, sizeof *recording);
    if (!recording)
        return tt_fail_memory();
    *out = recording;
    return TUTTI_OK;
}

static void recording_clear(struct tutti_recording *recording)
{
    for (size_t i = 0; i < recording->column_count; i++)
        tt_vector_fini(&recording->columns[i].texts);
    free(recording->values);
    tt_arena_fini(&recording->memory);
    *recording = (struct tutti_recording){0};
}

void tutti_recording_free(struct tutti_recording *recording)
{
    if (recording)
        recording_clear(recording);
    free(recording);
}

/* ---- as a watcher ---- */

static bool recording_copy_text(struct tutti_recording *recording, const char *text, const char **out)
{
    *out = text ? tt_arena_copy_text(&recording->memory, text, strlen(text)) : NULL;
    return !text || *out;
}

static enum tutti_err recording_set_columns(void *context, const struct tutti_recorded *shown, size_t count)
{
    struct tutti_recording *recording = context;
    recording_clear(recording);
    recording->columns = tt_arena_array(&recording->memory, count, sizeof *recording->columns);
    if (!recording->columns)
        return tt_fail_memory();
    memset(recording->columns, 0, count * sizeof *recording->columns);
    recording->column_count = count;
    for (size_t i = 0; i < count; i++) {
        struct tutti_recorded *own = &recording->columns[i].shown;
        *own = shown[i]; /* types are static */
        if (!recording_copy_text(recording, shown[i].name, &own->name) ||
            !recording_copy_text(recording, shown[i].unit, &own->unit) ||
            !recording_copy_text(recording, shown[i].description, &own->description))
            return tt_fail_memory();
    }
    return TUTTI_OK;
}

static enum tutti_err recording_add_text(void *context, size_t number, const char *text)
{
    struct tutti_recording *recording = context;
    struct tt_vector *texts = &recording->columns[number].texts;
    const struct recorded_text *last = texts->count > 0 ? (const struct recorded_text *)texts->items + texts->count - 1
                                                        : NULL;
    if (last && strcmp(last->text, text) == 0)
        return TUTTI_OK;
    struct recorded_text next = {.row = recording->count};
    struct recorded_text *place =
        recording_copy_text(recording, text, &next.text) ? tt_vector_push(texts, sizeof *place) : NULL;
    if (!place)
        return tt_fail_memory();
    *place = next;
    return TUTTI_OK;
}

/* The main cost of a row is the first write to each memory page. This call requests the next pages at once; without
 * support (Linux before 5.14) they are still allocated one by one. */
static void prefault_pages(struct tutti_recording *recording, size_t end)
{
#ifdef MADV_POPULATE_WRITE
    enum { PAGE = 4096, PIECE = 1 << 20 };
    size_t room = recording->room * (recording->column_count + 1) * sizeof *recording->values;
    if (room < 4 * PIECE || end <= recording->populated)
        return;
    char *memory = (char *)recording->values;
    size_t first = end - (uintptr_t)(memory + end) % PAGE, left = (room - first) / PAGE * PAGE;
    (void)madvise(memory + first, left < PIECE ? left : PIECE, MADV_POPULATE_WRITE);
    recording->populated = first + PIECE;
#else
    (void)recording, (void)end;
#endif
}

static enum tutti_err recording_add_row(void *context, double t, const double *values)
{
    struct tutti_recording *recording = context;
    size_t width = recording->column_count + 1;
    if (!tt_vector_reserve(&recording->values, &recording->room, recording->count + 1,
                           width * sizeof *recording->values))
        return tt_fail_memory();
    prefault_pages(recording, (recording->count + 1) * width * sizeof *recording->values);
    double *row = recording->values + recording->count * width;
    row[0] = t;
    memcpy(row + 1, values, recording->column_count * sizeof *values);
    recording->count++;
    return TUTTI_OK;
}

void tutti_options_set_recording(struct tutti_run_options *options, struct tutti_recording *recording)
{
    const struct tutti_watcher watcher = {
        .context = recording, .columns = recording_set_columns, .text = recording_add_text, .row = recording_add_row};
    tutti_options_set_watcher(options, recording ? &watcher : NULL);
    options->tells_digits = recording != NULL;
}

/* ---- going back ---- */

struct tutti_recording *tt_recording_find(const struct tutti_run_options *options)
{
    return options->watcher && options->watcher->row == recording_add_row ? options->watcher->context : NULL;
}

void tt_recording_cut(struct tutti_recording *recording, size_t rows)
{
    if (rows >= recording->count)
        return;
    recording->count = rows;
    for (size_t i = 0; i < recording->column_count; i++) {
        struct tt_vector *texts = &recording->columns[i].texts;
        while (texts->count > 0 && ((const struct recorded_text *)texts->items)[texts->count - 1].row >= rows)
            texts->count--;
    }
}

void tt_recording_cut_after(struct tutti_recording *recording, double t)
{
    size_t rows = recording->count;
    while (rows > 0 && recording->values[(rows - 1) * (recording->column_count + 1)] > t)
        rows--;
    tt_recording_cut(recording, rows);
}

/* ---- looking ---- */

size_t tutti_recording_column_count(const struct tutti_recording *recording)
{
    return recording->column_count;
}

bool tutti_recording_describe(const struct tutti_recording *recording, size_t column, struct tutti_recorded *out)
{
    if (column >= recording->column_count)
        return false;
    *out = recording->columns[column].shown;
    return true;
}

size_t tutti_recording_rows(const struct tutti_recording *recording)
{
    return recording->count;
}

const double *tutti_recording_values(const struct tutti_recording *recording)
{
    return recording->count > 0 ? recording->values : NULL;
}

const char *tutti_recording_text(const struct tutti_recording *recording, size_t row, size_t column)
{
    if (column >= recording->column_count || row >= recording->count)
        return NULL;
    const struct tt_vector *texts = &recording->columns[column].texts;
    const struct recorded_text *first = texts->items;
    size_t later;                                    /* the first one that begins after the row */
    if (!recording->columns[column].shown.is_text && /* shorter numbers come without */
        !(fabs(recording->values[row * (recording->column_count + 1) + column + 1]) >= TUTTI_OUTPUT_LONG))
        return NULL;
    TUTTI_SEARCH(later, texts->count, first[later].row <= row);
    return later > 0 ? first[later - 1].text : NULL;
}

/* ---- as a file ---- */

/* A row in the form that a recorder requires: every value in its own type. */
struct typed_row {
    struct tt_column *columns;
    union {
        double number;
        const char *text;
        struct tt_bytes bytes;
    } * values;
};

/* Binaries are kept as texts. */
static enum tutti_err start_typed_row(const struct tutti_recording *recording, struct typed_row *row)
{
    size_t count = recording->column_count + 1;
    row->columns = calloc(count, sizeof *row->columns);
    row->values = calloc(count, sizeof *row->values);
    if (!row->columns || !row->values)
        return tt_fail_memory();
    for (size_t i = 0; i < recording->column_count; i++) {
        const struct tutti_recorded *shown = &recording->columns[i].shown;
        int type = shown->is_text ? TUTTI_TYPE_STRING : 0;
        while (!shown->is_text && type < TUTTI_TYPE_COUNT - 1 &&
               strcmp(tt_type_name((enum tt_type)type), shown->type) != 0)
            type++;
        row->columns[i] = (struct tt_column){.name = shown->name,
                                             .unit = shown->unit,
                                             .description = shown->description,
                                             .type = (enum tt_type)type,
                                             .source = i,
                                             .value = &row->values[i]};
    }
    return TUTTI_OK;
}

static void recording_write_number(enum tt_type type, double number, void *value)
{
    switch (type) {
    case TUTTI_TYPE_FLOAT64: *(double *)value = number; break;
    case TUTTI_TYPE_FLOAT32: *(float *)value = (float)number; break;
    case TUTTI_TYPE_INT8: *(int8_t *)value = (int8_t)number; break;
    case TUTTI_TYPE_UINT8: *(uint8_t *)value = (uint8_t)number; break;
    case TUTTI_TYPE_INT16: *(int16_t *)value = (int16_t)number; break;
    case TUTTI_TYPE_UINT16: *(uint16_t *)value = (uint16_t)number; break;
    case TUTTI_TYPE_INT32: *(int32_t *)value = (int32_t)number; break;
    case TUTTI_TYPE_UINT32: *(uint32_t *)value = (uint32_t)number; break;
    case TUTTI_TYPE_INT64:
    case TUTTI_TYPE_ENUMERATION: *(int64_t *)value = (int64_t)number; break;
    case TUTTI_TYPE_UINT64: *(uint64_t *)value = (uint64_t)number; break;
    case TUTTI_TYPE_BOOLEAN:
    case TUTTI_TYPE_CLOCK: *(bool *)value = number != 0; break;
    case TUTTI_TYPE_STRING:
    case TUTTI_TYPE_BINARY: break;
    }
}

/* Of an integer that a double does not hold. */
static bool write_digits(enum tt_type type, const char *digits, void *value)
{
    if (digits && type == TUTTI_TYPE_UINT64)
        *(uint64_t *)value = strtoull(digits, NULL, 10);
    else if (digits)
        *(int64_t *)value = strtoll(digits, NULL, 10);
    return digits != NULL;
}

static enum tutti_err recording_write_rows(const struct tutti_recording *recording, const struct typed_row *row,
                                           const struct tt_record_format *format, struct tt_recorder *recorder)
{
    const double *at = recording->values;
    for (size_t r = 0; r < recording->count; r++, at += recording->column_count + 1) {
        for (size_t i = 0; i < recording->column_count; i++)
            if (recording->columns[i].shown.is_text)
                row->values[i].text = tutti_recording_text(recording, r, i);
            else if (!write_digits(row->columns[i].type, tutti_recording_text(recording, r, i), &row->values[i]))
                recording_write_number(row->columns[i].type, at[i + 1], &row->values[i]);
        TRY(format->row(recorder, at[0]));
    }
    return TUTTI_OK;
}

enum tutti_err tutti_recording_save(const struct tutti_recording *recording, const char *path)
{
    const struct tt_record_format *format;
    struct tt_recorder *recorder;
    struct typed_row row = {0};
    TRY(tt_recorder_find_format(&format, path));
    enum tutti_err err = start_typed_row(recording, &row);
    if (!err)
        err = format->open(&recorder, path, row.columns, recording->column_count);
    if (!err) {
        struct tt_failure failure;
        tt_fail_save(&failure, recording_write_rows(recording, &row, format, recorder));
        err = format->close(recorder);
        if (failure.err)
            err = tt_fail_restore(&failure);
    }
    free(row.columns);
    free(row.values);
    return err;
}
