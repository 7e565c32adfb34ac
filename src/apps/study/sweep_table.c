/* SPDX-License-Identifier: MIT */
/* What a sweep writes: a table with a row per run, and the rows of all runs in one file. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/number.h"
#include "results/record_file.h"
#include "results/recorder.h"
#include "apps/study/parameter_sweep.h"

/* ---- the table ---- */

/* As RFC 4180 has it: in quotes where there are commas, quotes or ends of lines, quotes doubled. */
static void sweep_table_write_cell(struct tt_text *text, const char *cell)
{
    if (!strpbrk(cell, ",\"\r\n")) {
        tt_text_append(text, cell);
        return;
    }
    tt_text_append(text, "\"");
    for (; *cell; cell++)
        tt_text_append_n(text, *cell == '"' ? "\"\"" : cell, *cell == '"' ? 2 : 1);
    tt_text_append(text, "\"");
}

/* A number that is none is an empty cell. */
static void sweep_table_write_number(struct tt_text *text, double value)
{
    char digits[TUTTI_NUMBER_MAX];
    if (!isnan(value))
        tt_text_append_n(text, digits, tt_number_write_double(digits, value));
}

static void write_sweep_row(struct tt_text *text, const struct tutti_sweep *sweep, size_t run)
{
    tt_text_printf(text, "%zu", run);
    for (size_t c = 0; c < tutti_sweep_column_count(sweep); c++) {
        tt_text_append(text, ",");
        sweep_table_write_number(text, tutti_sweep_value(sweep, run, c));
    }
    tt_text_printf(text, ",%s,", tutti_sweep_status(sweep, run));
    if (sweep->messages[run])
        sweep_table_write_cell(text, sweep->messages[run]);
    tt_text_append(text, "\n");
}

enum tutti_err tt_parameter_sweep_write_table(const struct tutti_sweep *sweep, const char *path)
{
    struct tt_text text = {0};
    tt_text_append(&text, "run");
    for (size_t c = 0; c < tutti_sweep_column_count(sweep); c++) {
        tt_text_append(&text, ",");
        sweep_table_write_cell(&text, tutti_sweep_column_name(sweep, c));
    }
    tt_text_append(&text, ",status,message\n");
    for (size_t run = 0; run < sweep->design.runs; run++)
        write_sweep_row(&text, sweep, run);
    bool written = false;
    if (text.failed)
        errno = ENOMEM;
    else if (strcmp(path, "-") == 0)
        written = tt_fs_write(tt_record_file_standard(), text.text, text.length, -1) == text.length;
    else
        written = tt_fs_replace_result(path, text.text, text.length);
    tt_text_fini(&text);
    return written ? TUTTI_OK : tt_fail(TUTTI_ERR_IO, "'%s' cannot be written: %s", path, strerror(errno));
}

/* ---- trajectories ---- */

struct trajectory_writer {
    const struct tt_record_format *format;
    struct tt_recorder *recorder; /* NULL: not open yet */
    char *names;                  /* as the first run had them, and the same with zero bytes for newlines */
    char *texts;
    struct tt_column *columns;
    uint32_t count; /* of variables; a column for the number of the run comes before them */
    int64_t run;
    double *values;
};

static enum tutti_err sweep_table_open_file(struct trajectory_writer *writer, const struct tt_run_record *record,
                                            const char *path)
{
    writer->count = record->column_count;
    writer->names = tt_text_copy(record->columns);
    writer->texts = tt_text_copy(record->columns);
    writer->columns = calloc(writer->count + 1, sizeof *writer->columns);
    writer->values = calloc(writer->count + 1, sizeof *writer->values);
    if (!writer->names || !writer->texts || !writer->columns || !writer->values)
        return tt_fail_memory();
    writer->columns[0] = (struct tt_column){
        .name = "run", .description = "number of the run, from 0 on", .type = TUTTI_TYPE_INT64, .value = &writer->run};
    char *rest = NULL, *name = strtok_r(writer->texts, "\n", &rest);
    for (uint32_t i = 0; i < writer->count; i++, name = strtok_r(NULL, "\n", &rest))
        writer->columns[i + 1] = (struct tt_column){
            .name = name ? name : "", .type = TUTTI_TYPE_FLOAT64, .source = i + 1, .value = &writer->values[i]};
    return writer->format->open(&writer->recorder, path, writer->columns, writer->count + 1);
}

static enum tutti_err write_trajectory_rows(struct trajectory_writer *writer, const struct tt_run_record *record,
                                            const char *path)
{
    if (record->row_count == 0)
        return TUTTI_OK;
    if (!writer->recorder)
        TRY(sweep_table_open_file(writer, record, path));
    if (record->column_count != writer->count || strcmp(record->columns, writer->names) != 0)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "'%s': run %llu records other variables than the first; choose some that all have (--record)",
                       path, (unsigned long long)record->run);
    writer->run = (int64_t)record->run;
    const char *at = record->rows;
    for (size_t r = 0; r < record->row_count; r++) {
        double t;
        memcpy(&t, at, sizeof t);
        memcpy(writer->values, at + sizeof t, writer->count * sizeof(double));
        at += (writer->count + 1) * sizeof(double);
        TRY(writer->format->row(writer->recorder, t));
    }
    return TUTTI_OK;
}

static enum tutti_err sweep_table_write_rows(struct trajectory_writer *writer, struct tutti_sweep *sweep,
                                             const char *path)
{
    struct tt_byte_writer parcel = {0};
    struct tt_run_record record;
    enum tutti_err err = TUTTI_OK;
    for (size_t run = 0; run < sweep->design.runs && !err; run++) {
        err = tt_sweep_journal_read(sweep->journal, sweep->offsets[run], &parcel);
        if (!err && tt_sweep_worker_read_record(&record, tt_bytes_written(&parcel)))
            err = write_trajectory_rows(writer, &record, path);
    }
    tt_bytes_fini(&parcel);
    return err;
}

enum tutti_err tt_parameter_sweep_write_runs(struct tutti_sweep *sweep, const char *path)
{
    struct trajectory_writer writer = {0};
    TRY(tt_recorder_find_format(&writer.format, path));
    struct tt_failure failure;
    tt_fail_save(&failure, sweep_table_write_rows(&writer, sweep, path));
    enum tutti_err err = writer.recorder ? writer.format->close(writer.recorder) : TUTTI_OK;
    free(writer.names);
    free(writer.texts);
    free(writer.columns);
    free(writer.values);
    return failure.err ? tt_fail_restore(&failure) : err;
}
