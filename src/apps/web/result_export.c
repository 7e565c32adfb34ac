/* SPDX-License-Identifier: MIT */
/* A result as a file of another kind: tables are written here, pictures by `tutti plot`, which calls gnuplot. */
#include <stdlib.h>
#include <string.h>
#include <tutti/result.h>
#include <tutti/tell.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/tempdir.h"
#include "results/recorder.h"
#include "apps/web/web_run.h"

/* ---- tables ---- */

/* Columns of a result that are written again. */
struct export_columns {
    struct tutti_result *result;
    size_t *picked, count;
    double **values, *row; /* of the columns; of one row of them */
    struct tt_column *columns;
};

static void result_export_table_fini(struct export_columns *table)
{
    for (size_t c = 0; table->values && c < table->count; c++)
        free(table->values[c]);
    free(table->values);
    free(table->row);
    free(table->columns);
    free(table->picked);
    tutti_result_free(table->result);
}

static enum tutti_err result_export_add_column(struct export_columns *table, size_t which,
                                               const struct tutti_result_variable *variable)
{
    size_t c = table->count;
    table->picked[c] = which;
    table->values[c] = malloc((tutti_result_rows(table->result) + 1) * sizeof **table->values);
    table->columns[c] = (struct tt_column){.name = variable->name,
                                           .unit = variable->unit,
                                           .description = variable->description,
                                           .type = TUTTI_TYPE_FLOAT64,
                                           .source = c,
                                           .value = &table->row[c]};
    table->count++;
    return table->values[c] ? TUTTI_OK : tt_fail_memory();
}

static enum tutti_err result_export_read_table(struct export_columns *table, const char *path, const char *patterns)
{
    struct tutti_result_variable variable;
    TRY(tutti_result_open(&table->result, path, NULL));
    size_t total = tutti_result_count(table->result) + 1;
    table->picked = calloc(total, sizeof *table->picked);
    table->values = calloc(total, sizeof *table->values);
    table->row = calloc(total, sizeof *table->row);
    table->columns = calloc(total, sizeof *table->columns);
    if (!table->picked || !table->values || !table->row || !table->columns)
        return tt_fail_memory();
    for (size_t i = 0; tutti_result_describe(table->result, i, &variable); i++)
        if (tt_series_fits(patterns, variable.name))
            TRY(result_export_add_column(table, i, &variable));
    return table->count > 0 && tutti_result_rows(table->result) > 0
               ? tutti_result_read(table->result, table->picked, table->count, table->values)
               : TUTTI_OK;
}

static enum tutti_err result_export_write_table(const struct export_columns *table,
                                                const struct tt_record_format *format, const char *path)
{
    struct tt_recorder *recorder;
    const double *times = tutti_result_times(table->result);
    enum tutti_err err = TUTTI_OK;
    TRY(format->open(&recorder, path, table->columns, table->count));
    for (size_t row = 0; row < tutti_result_rows(table->result) && !err; row++) {
        for (size_t c = 0; c < table->count; c++)
            table->row[c] = table->values[c][row];
        err = format->row(recorder, times[row]);
    }
    struct tt_failure failure;
    tt_fail_save(&failure, err);
    err = format->close(recorder);
    return failure.err ? tt_fail_restore(&failure) : err;
}

/* Through a file, since that is what formats write. */
static enum tutti_err export_table(const char *path, const struct tt_record_format *format, const char *patterns,
                                   char **data, size_t *size)
{
    struct export_columns table = {0};
    struct tt_tempdir *tempdir = NULL;
    struct tt_text file = {0};
    enum tutti_err err = tt_tempdir_new(&tempdir);
    if (!err)
        tt_text_printf(&file, "%s/result%s", tt_tempdir_path(tempdir), format->extension);
    if (!err)
        err = file.failed ? tt_fail_memory() : result_export_read_table(&table, path, patterns);
    if (!err)
        err = result_export_write_table(&table, format, file.text);
    if (!err && !(*data = tt_fs_read_whole(file.text, size)))
        err = tt_fail_memory();
    result_export_table_fini(&table);
    tt_text_fini(&file);
    tt_tempdir_free(tempdir);
    return err;
}

/* ---- pictures ---- */

/* Patterns with ';' between become one panel each. */
static enum tutti_err export_picture(const char *path, const char *form, const char *columns, char **picture,
                                     size_t *size)
{
    enum { MOST_PANELS = 32 };
    struct tutti_tell_option options[MOST_PANELS];
    size_t count = 0;
    char *copy = columns ? tt_text_copy(columns) : NULL, *rest = NULL;
    if (columns && !copy)
        return tt_fail_memory();
    for (char *part = copy ? strtok_r(copy, ";", &rest) : NULL; part && count < MOST_PANELS;
         part = strtok_r(NULL, ";", &rest))
        options[count++] = (struct tutti_tell_option){"variable", part};
    enum tutti_err err = tutti_tell_plot(picture, size, form, &path, 1, options, count, NULL);
    free(copy);
    return err;
}

/* ---- all kinds ---- */

static enum tutti_err export_as(const char *path, const char *format, const char *columns, char **data, size_t *size)
{
    if (strcmp(format, "h5") == 0) {
        *data = tt_fs_read_whole(path, size);
        return *data ? TUTTI_OK : tt_fail_memory();
    }
    if (strcmp(format, "csv") == 0 || strcmp(format, "mat") == 0)
        return export_table(path, format[0] == 'c' ? &tt_csv_format : &tt_mat_format, columns, data, size);
    if (strcmp(format, "svg") == 0 || strcmp(format, "png") == 0 || strcmp(format, "pdf") == 0)
        return export_picture(path, format, columns, data, size);
    return tt_fail(TUTTI_ERR_ARGUMENT, "a result is given as csv, mat, h5, svg, png or pdf, not as '%s'",
                   tt_text_excerpt(format).text);
}

enum tutti_err tt_result_requests_export(struct tt_web_site *site, const struct tt_web_request *request,
                                         struct tt_http_response *answer)
{
    static const struct {
        const char *format, *type;
    } types[] = {{"csv", "text/csv; charset=utf-8"},
                 {"mat", "application/x-matlab-data"},
                 {"h5", "application/x-hdf5"},
                 {"svg", "image/svg+xml"},
                 {"png", "image/png"},
                 {"pdf", "application/pdf"}};
    const char *format;
    struct tt_web_run run;
    char *data = NULL;
    size_t size = 0;
    TRY(tt_routes_require(request, "format", &format));
    enum tutti_err err = tt_web_run_init(&run, site, request->id);
    char *path = !err && run.folder ? tt_web_run_file(&run, "result.h5") : NULL;
    if (!err && (!path || access(path, F_OK) != 0))
        err = tt_fail(TUTTI_ERR_IO, "this run has no result yet");
    if (!err)
        err = export_as(path, format, request->http->argument(request->http, "columns"), &data, &size);
    free(path);
    tt_web_run_fini(&run);
    TRY(err);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].format, format) == 0)
            tt_response_text(answer, types[i].type, data, size);
    answer->headers[0] = (struct tt_http_header){"Content-Disposition", "attachment"};
    answer->headers[1] = (struct tt_http_header){"Content-Security-Policy", "default-src 'none'; sandbox"};
    return TUTTI_OK;
}
