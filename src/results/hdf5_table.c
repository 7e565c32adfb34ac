/* SPDX-License-Identifier: MIT */
/* Rows with texts in HDF5, a dataset per column (hdf5.h), as the RTI records what federates send. Rows are collected until a flush, or until
 * they are many. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "results/record_file.h"
#include "results/hdf5.h"
#include "results/recorder.h"

enum { ROWS = 1024, BYTES = 4 << 20 }; /* that are collected, about */

struct tt_recorder {
    const struct tt_hdf5_module *module;
    struct tt_hdf5_columns *sheet;
    struct tt_record_file claim; /* the file, open a second time: others see that it is taken */
    char *path;
    const struct tt_column *columns;
    size_t count;
    void **cells; /* of `time`, and of each column: ROWS of them */
    size_t rows, bytes;
    struct tt_arena texts; /* of the rows */
    struct tt_failure failure;
};

static const char *hdf5_table_copy_bytes(struct tt_recorder *recorder, const void *bytes, size_t size)
{
    recorder->bytes += size + 1;
    return tt_arena_copy_text(&recorder->texts, bytes, size);
}

/* False: no memory. */
static bool hdf5_table_put_cell(struct tt_recorder *recorder, size_t at, const struct tt_column *column)
{
    size_t row = recorder->rows;
    if (column->type == TUTTI_TYPE_STRING) {
        const char *text = *(const char *const *)column->value;
        const char **cell = (const char **)recorder->cells[at] + row;
        *cell = hdf5_table_copy_bytes(recorder, text ? text : "", text ? strlen(text) : 0);
        return *cell != NULL;
    }
    if (column->type == TUTTI_TYPE_BINARY) {
        const struct tt_bytes *bytes = column->value;
        struct tt_hdf5_bytes *cell = (struct tt_hdf5_bytes *)recorder->cells[at] + row;
        *cell = (struct tt_hdf5_bytes){
            bytes->size, hdf5_table_copy_bytes(recorder, bytes->size ? (const void *)bytes->data : "", bytes->size)};
        return cell->data != NULL;
    }
    ((double *)recorder->cells[at])[row] = tt_recorder_column_number(column);
    return true;
}

static enum tutti_err hdf5_table_flush(struct tt_recorder *recorder)
{
    if (!recorder->failure.err && recorder->rows > 0) {
        enum tutti_err err = recorder->module->write_sheet(recorder->sheet, (const void *const *)recorder->cells,
                                                           recorder->rows, recorder->bytes);
        recorder->rows = recorder->bytes = 0;
        tt_arena_fini(&recorder->texts);
        if (err)
            tt_fail_save(&recorder->failure, err);
    }
    return tt_fail_restore(&recorder->failure);
}

static enum tutti_err hdf5_table_write_row(struct tt_recorder *recorder, double time)
{
    if (recorder->failure.err)
        return tt_fail_restore(&recorder->failure);
    ((double *)recorder->cells[0])[recorder->rows] = time;
    for (size_t i = 0; i < recorder->count; i++)
        if (!hdf5_table_put_cell(recorder, i + 1, &recorder->columns[i]))
            return tt_fail_memory();
    recorder->rows++;
    return recorder->rows == ROWS || recorder->bytes >= BYTES ? hdf5_table_flush(recorder) : TUTTI_OK;
}

/* Returns `err`; if that is OK, the failure to find the file where it was made. */
static enum tutti_err hdf5_table_release(struct tt_recorder *recorder, enum tutti_err err)
{
    for (size_t i = 0; recorder->cells && i <= recorder->count; i++)
        free(recorder->cells[i]);
    free(recorder->cells);
    tt_arena_fini(&recorder->texts);
    err = tt_record_file_close(&recorder->claim, err);
    free(recorder->path);
    free(recorder);
    return err;
}

static enum tutti_err hdf5_table_close(struct tt_recorder *recorder)
{
    struct tt_failure failure;
    tt_fail_save(&failure, hdf5_table_flush(recorder));
    enum tutti_err closing = recorder->module->close_sheet(recorder->sheet);
    closing = hdf5_table_release(recorder, failure.err ? failure.err : closing);
    return failure.err ? tt_fail_restore(&failure) : closing;
}

static enum tutti_err hdf5_table_prepare(struct tt_recorder *recorder, const char *path)
{
    recorder->path = tt_text_copy(path);
    recorder->cells = calloc(recorder->count + 1, sizeof *recorder->cells);
    if (!recorder->path || !recorder->cells)
        return tt_fail_memory();
    for (size_t i = 0; i <= recorder->count; i++)
        if (!(recorder->cells[i] = calloc(ROWS, sizeof(struct tt_hdf5_bytes)))) /* the largest */
            return tt_fail_memory();
    TRY(tt_record_file_check_regular(recorder->path, ".h5"));
    return tt_record_file_open(&recorder->claim, recorder->path);
}

static enum tutti_err hdf5_table_create(struct tt_recorder *recorder)
{
    struct tt_hdf5_column *columns = calloc(recorder->count + 1, sizeof *columns);
    if (!columns)
        return tt_fail_memory();
    columns[0] = (struct tt_hdf5_column){"time", TUTTI_HDF5_NUMBER};
    for (size_t i = 0; i < recorder->count; i++) {
        enum tt_type type = (enum tt_type)recorder->columns[i].type;
        enum tt_hdf5_kind kind = type == TUTTI_TYPE_STRING   ? TUTTI_HDF5_TEXT
                                 : type == TUTTI_TYPE_BINARY ? TUTTI_HDF5_BYTES
                                                             : TUTTI_HDF5_NUMBER;
        columns[i + 1] = (struct tt_hdf5_column){recorder->columns[i].name, kind};
    }
    enum tutti_err err = recorder->module->create_sheet(&recorder->sheet, recorder->path, "Tutti " TUTTI_VERSION,
                                                        columns, recorder->count + 1);
    free(columns);
    return err;
}

static enum tutti_err hdf5_table_open(struct tt_recorder **out, const char *path, const struct tt_column *columns,
                                      size_t n)
{
    const struct tt_hdf5_module *module;
    TRY(tt_fail_context(tt_hdf5_load(&module), "cannot write %s", path));
    struct tt_recorder *recorder = calloc(1, sizeof *recorder);
    if (!recorder)
        return tt_fail_memory();
    recorder->module = module;
    recorder->claim.fd = -1;
    recorder->columns = columns;
    recorder->count = n;
    enum tutti_err err = hdf5_table_prepare(recorder, path);
    if (!err)
        err = hdf5_table_create(recorder);
    if (err)
        return hdf5_table_release(recorder, err);
    *out = recorder;
    return TUTTI_OK;
}

const struct tt_record_format tt_hdf5_table_format = {
    .name = "hdf5",
    .holds_texts = true,
    .open = hdf5_table_open,
    .row = hdf5_table_write_row,
    .flush = hdf5_table_flush,
    .close = hdf5_table_close,
};
