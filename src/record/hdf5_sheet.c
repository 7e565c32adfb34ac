/* SPDX-License-Identifier: MIT */
/* Rows with texts in HDF5, a dataset per column (hdf5.h), as the RTI records what federates send. Rows are collected until a flush, or until
 * they are many. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "record/file.h"
#include "record/hdf5.h"
#include "record/recorder.h"

enum { ROWS = 1024, BYTES = 4 << 20 }; /* that are collected, about */

struct tutti_recorder {
    const struct tutti_hdf5_module *module;
    struct tutti_hdf5_sheet *sheet;
    struct tutti_record_file claim; /* the file, open a second time: others see that it is taken */
    char *path;
    const struct tutti_column *columns;
    size_t count;
    void **cells; /* of `time`, and of each column: ROWS of them */
    size_t rows, bytes;
    struct tutti_arena texts; /* of the rows */
    struct tutti_failure failure;
};

static enum tutti_hdf5_kind kind_of(enum tutti_type type)
{
    return type == TUTTI_TYPE_STRING   ? TUTTI_HDF5_TEXT
           : type == TUTTI_TYPE_BINARY ? TUTTI_HDF5_BYTES
                                       : TUTTI_HDF5_NUMBER;
}

static const char *keep(struct tutti_recorder *recorder, const void *bytes, size_t size)
{
    recorder->bytes += size + 1;
    return tutti_arena_text(&recorder->texts, bytes, size);
}

/* False: no memory. */
static bool put_cell(struct tutti_recorder *recorder, size_t at, const struct tutti_column *column)
{
    size_t row = recorder->rows;
    if (column->type == TUTTI_TYPE_STRING) {
        const char *text = *(const char *const *)column->value;
        const char **cell = (const char **)recorder->cells[at] + row;
        *cell = keep(recorder, text ? text : "", text ? strlen(text) : 0);
        return *cell != NULL;
    }
    if (column->type == TUTTI_TYPE_BINARY) {
        const struct tutti_bytes *bytes = column->value;
        struct tutti_hdf5_bytes *cell = (struct tutti_hdf5_bytes *)recorder->cells[at] + row;
        *cell = (struct tutti_hdf5_bytes){bytes->size,
                                          keep(recorder, bytes->size ? (const void *)bytes->data : "", bytes->size)};
        return cell->data != NULL;
    }
    ((double *)recorder->cells[at])[row] = tutti_column_number(column);
    return true;
}

static enum tutti_err flush(struct tutti_recorder *recorder)
{
    if (!recorder->failure.err && recorder->rows > 0) {
        enum tutti_err err = recorder->module->write_sheet(recorder->sheet, (const void *const *)recorder->cells,
                                                           recorder->rows, recorder->bytes);
        recorder->rows = recorder->bytes = 0;
        tutti_arena_fini(&recorder->texts);
        if (err)
            tutti_failure_keep(&recorder->failure, err);
    }
    return tutti_failure_return(&recorder->failure);
}

static enum tutti_err row(struct tutti_recorder *recorder, double time)
{
    if (recorder->failure.err)
        return tutti_failure_return(&recorder->failure);
    ((double *)recorder->cells[0])[recorder->rows] = time;
    for (size_t i = 0; i < recorder->count; i++)
        if (!put_cell(recorder, i + 1, &recorder->columns[i]))
            return tutti_fail_memory();
    recorder->rows++;
    return recorder->rows == ROWS || recorder->bytes >= BYTES ? flush(recorder) : TUTTI_OK;
}

/* Returns `err`; if that is OK, the failure to find the file where it was made. */
static enum tutti_err release(struct tutti_recorder *recorder, enum tutti_err err)
{
    for (size_t i = 0; recorder->cells && i <= recorder->count; i++)
        free(recorder->cells[i]);
    free(recorder->cells);
    tutti_arena_fini(&recorder->texts);
    err = tutti_record_file_close(&recorder->claim, err);
    free(recorder->path);
    free(recorder);
    return err;
}

static enum tutti_err close_sheet(struct tutti_recorder *recorder)
{
    struct tutti_failure failure;
    tutti_failure_keep(&failure, flush(recorder));
    enum tutti_err closing = recorder->module->close_sheet(recorder->sheet);
    closing = release(recorder, failure.err ? failure.err : closing);
    return failure.err ? tutti_failure_return(&failure) : closing;
}

static enum tutti_err prepare(struct tutti_recorder *recorder, const char *path)
{
    recorder->path = tutti_str_copy(path);
    recorder->cells = calloc(recorder->count + 1, sizeof *recorder->cells);
    if (!recorder->path || !recorder->cells)
        return tutti_fail_memory();
    for (size_t i = 0; i <= recorder->count; i++)
        if (!(recorder->cells[i] = calloc(ROWS, sizeof(struct tutti_hdf5_bytes)))) /* the largest */
            return tutti_fail_memory();
    TRY(tutti_record_file_must_be_regular(recorder->path, ".h5"));
    return tutti_record_file_open(&recorder->claim, recorder->path);
}

static enum tutti_err create(struct tutti_recorder *recorder)
{
    struct tutti_hdf5_column *columns = calloc(recorder->count + 1, sizeof *columns);
    if (!columns)
        return tutti_fail_memory();
    columns[0] = (struct tutti_hdf5_column){"time", TUTTI_HDF5_NUMBER};
    for (size_t i = 0; i < recorder->count; i++)
        columns[i + 1] = (struct tutti_hdf5_column){recorder->columns[i].name, kind_of(recorder->columns[i].type)};
    enum tutti_err err = recorder->module->create_sheet(&recorder->sheet, recorder->path, "Tutti " TUTTI_VERSION,
                                                        columns, recorder->count + 1);
    free(columns);
    return err;
}

static enum tutti_err open_sheet(struct tutti_recorder **out, const char *path, const struct tutti_column *columns,
                                 size_t n)
{
    const struct tutti_hdf5_module *module;
    TRY(tutti_fail_context(tutti_hdf5_load(&module), "cannot write %s", path));
    struct tutti_recorder *recorder = calloc(1, sizeof *recorder);
    if (!recorder)
        return tutti_fail_memory();
    recorder->module = module;
    recorder->claim.fd = -1;
    recorder->columns = columns;
    recorder->count = n;
    enum tutti_err err = prepare(recorder, path);
    if (!err)
        err = create(recorder);
    if (err)
        return release(recorder, err);
    *out = recorder;
    return TUTTI_OK;
}

const struct tutti_record_format tutti_record_hdf5_sheet = {
    .name = "hdf5",
    .holds_texts = true,
    .open = open_sheet,
    .row = row,
    .flush = flush,
    .close = close_sheet,
};
