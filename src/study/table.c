/* SPDX-License-Identifier: MIT */
/* What a sweep writes: a table with a row per run, and the rows of all runs in one file. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/number.h"
#include "record/file.h"
#include "record/recorder.h"
#include "study/sweep.h"

/* ---- the table ---- */

/* As RFC 4180 has it: in quotes where there are commas, quotes or ends of lines, quotes doubled. */
static void put_cell(struct tutti_text *text, const char *cell)
{
    if (!strpbrk(cell, ",\"\r\n")) {
        tutti_text_append(text, cell);
        return;
    }
    tutti_text_append(text, "\"");
    for (; *cell; cell++)
        tutti_text_append_n(text, *cell == '"' ? "\"\"" : cell, *cell == '"' ? 2 : 1);
    tutti_text_append(text, "\"");
}

/* A number that is none is an empty cell. */
static void put_number(struct tutti_text *text, double value)
{
    char digits[TUTTI_NUMBER_MAX];
    if (!isnan(value))
        tutti_text_append_n(text, digits, tutti_number_write_double(digits, value));
}

static void put_run(struct tutti_text *text, const struct tutti_sweep *sweep, size_t run)
{
    tutti_text_printf(text, "%zu", run);
    for (size_t c = 0; c < tutti_sweep_column_count(sweep); c++) {
        tutti_text_append(text, ",");
        put_number(text, tutti_sweep_value(sweep, run, c));
    }
    tutti_text_printf(text, ",%s,", tutti_sweep_status(sweep, run));
    if (sweep->messages[run])
        put_cell(text, sweep->messages[run]);
    tutti_text_append(text, "\n");
}

enum tutti_err tutti_sweep_write_table(const struct tutti_sweep *sweep, const char *path)
{
    struct tutti_text text = {0};
    tutti_text_append(&text, "run");
    for (size_t c = 0; c < tutti_sweep_column_count(sweep); c++) {
        tutti_text_append(&text, ",");
        put_cell(&text, tutti_sweep_column_name(sweep, c));
    }
    tutti_text_append(&text, ",status,message\n");
    for (size_t run = 0; run < sweep->design.runs; run++)
        put_run(&text, sweep, run);
    bool written = false;
    if (text.failed)
        errno = ENOMEM;
    else if (strcmp(path, "-") == 0)
        written = tutti_fs_write(tutti_record_standard(), text.text, text.length, -1) == text.length;
    else
        written = tutti_fs_replace_result(path, text.text, text.length);
    tutti_text_fini(&text);
    return written ? TUTTI_OK : tutti_fail(TUTTI_ERR_IO, "'%s' cannot be written: %s", path, strerror(errno));
}

/* ---- trajectories ---- */

struct writer {
    const struct tutti_record_format *format;
    struct tutti_recorder *recorder; /* NULL: not open yet */
    char *names;                     /* as the first run had them, and the same with zero bytes for newlines */
    char *texts;
    struct tutti_column *columns;
    uint32_t count; /* of variables; a column for the number of the run comes before them */
    int64_t run;
    double *values;
};

static enum tutti_err open_file(struct writer *writer, const struct tutti_run_record *record, const char *path)
{
    writer->count = record->column_count;
    writer->names = tutti_str_copy(record->columns);
    writer->texts = tutti_str_copy(record->columns);
    writer->columns = calloc(writer->count + 1, sizeof *writer->columns);
    writer->values = calloc(writer->count + 1, sizeof *writer->values);
    if (!writer->names || !writer->texts || !writer->columns || !writer->values)
        return tutti_fail_memory();
    writer->columns[0] = (struct tutti_column){
        .name = "run", .description = "number of the run, from 0 on", .type = TUTTI_TYPE_INT64, .value = &writer->run};
    char *rest = NULL, *name = strtok_r(writer->texts, "\n", &rest);
    for (uint32_t i = 0; i < writer->count; i++, name = strtok_r(NULL, "\n", &rest))
        writer->columns[i + 1] = (struct tutti_column){
            .name = name ? name : "", .type = TUTTI_TYPE_FLOAT64, .source = i + 1, .value = &writer->values[i]};
    return writer->format->open(&writer->recorder, path, writer->columns, writer->count + 1);
}

static enum tutti_err put_rows(struct writer *writer, const struct tutti_run_record *record, const char *path)
{
    if (record->row_count == 0)
        return TUTTI_OK;
    if (!writer->recorder)
        TRY(open_file(writer, record, path));
    if (record->column_count != writer->count || strcmp(record->columns, writer->names) != 0)
        return tutti_fail(TUTTI_ERR_ARGUMENT,
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

static enum tutti_err put_all(struct writer *writer, struct tutti_sweep *sweep, const char *path)
{
    struct tutti_parcel parcel = {0};
    struct tutti_run_record record;
    enum tutti_err err = TUTTI_OK;
    for (size_t run = 0; run < sweep->design.runs && !err; run++) {
        err = tutti_journal_read(sweep->journal, sweep->offsets[run], &parcel);
        if (!err && tutti_run_record_take(&record, tutti_parcel_bytes(&parcel)))
            err = put_rows(writer, &record, path);
    }
    tutti_parcel_fini(&parcel);
    return err;
}

enum tutti_err tutti_sweep_write_trajectories(struct tutti_sweep *sweep, const char *path)
{
    struct writer writer = {0};
    TRY(tutti_record_format_for(&writer.format, path));
    struct tutti_failure failure;
    tutti_failure_keep(&failure, put_all(&writer, sweep, path));
    enum tutti_err err = writer.recorder ? writer.format->close(writer.recorder) : TUTTI_OK;
    free(writer.names);
    free(writer.texts);
    free(writer.columns);
    free(writer.values);
    return failure.err ? tutti_failure_return(&failure) : err;
}
