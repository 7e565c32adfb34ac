/* SPDX-License-Identifier: MIT */
/* A result as a file of another kind: tables are written here, pictures by `tutti plot`, which calls gnuplot. */
#include <stdlib.h>
#include <string.h>
#include <tutti/result.h>
#include <tutti/tell.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/tempdir.h"
#include "record/recorder.h"
#include "web/run.h"

/* ---- tables ---- */

/* Columns of a result that are written again. */
struct table {
    struct tutti_result *result;
    size_t *picked, count;
    double **values, *row; /* of the columns; of one row of them */
    struct tutti_column *columns;
};

static void table_fini(struct table *table)
{
    for (size_t c = 0; table->values && c < table->count; c++)
        free(table->values[c]);
    free(table->values);
    free(table->row);
    free(table->columns);
    free(table->picked);
    tutti_result_free(table->result);
}

static enum tutti_err add_column(struct table *table, size_t which, const struct tutti_result_variable *variable)
{
    size_t c = table->count;
    table->picked[c] = which;
    table->values[c] = malloc((tutti_result_rows(table->result) + 1) * sizeof **table->values);
    table->columns[c] = (struct tutti_column){.name = variable->name,
                                              .unit = variable->unit,
                                              .description = variable->description,
                                              .type = TUTTI_TYPE_FLOAT64,
                                              .source = c,
                                              .value = &table->row[c]};
    table->count++;
    return table->values[c] ? TUTTI_OK : tutti_fail_memory();
}

static enum tutti_err read_table(struct table *table, const char *path, const char *patterns)
{
    struct tutti_result_variable variable;
    TRY(tutti_result_open(&table->result, path, NULL));
    size_t total = tutti_result_count(table->result) + 1;
    table->picked = calloc(total, sizeof *table->picked);
    table->values = calloc(total, sizeof *table->values);
    table->row = calloc(total, sizeof *table->row);
    table->columns = calloc(total, sizeof *table->columns);
    if (!table->picked || !table->values || !table->row || !table->columns)
        return tutti_fail_memory();
    for (size_t i = 0; tutti_result_describe(table->result, i, &variable); i++)
        if (tutti_web_series_fits(patterns, variable.name))
            TRY(add_column(table, i, &variable));
    return table->count > 0 && tutti_result_rows(table->result) > 0
               ? tutti_result_read(table->result, table->picked, table->count, table->values)
               : TUTTI_OK;
}

static enum tutti_err write_table(const struct table *table, const struct tutti_record_format *format, const char *path)
{
    struct tutti_recorder *recorder;
    const double *times = tutti_result_times(table->result);
    enum tutti_err err = TUTTI_OK;
    TRY(format->open(&recorder, path, table->columns, table->count));
    for (size_t row = 0; row < tutti_result_rows(table->result) && !err; row++) {
        for (size_t c = 0; c < table->count; c++)
            table->row[c] = table->values[c][row];
        err = format->row(recorder, times[row]);
    }
    struct tutti_failure failure;
    tutti_failure_keep(&failure, err);
    err = format->close(recorder);
    return failure.err ? tutti_failure_return(&failure) : err;
}

/* Through a file, since that is what formats write. */
static enum tutti_err export_table(const char *path, const struct tutti_record_format *format, const char *patterns,
                                   char **data, size_t *size)
{
    struct table table = {0};
    struct tutti_tempdir *tempdir = NULL;
    struct tutti_text file = {0};
    enum tutti_err err = tutti_tempdir_new(&tempdir);
    if (!err)
        tutti_text_printf(&file, "%s/result%s", tutti_tempdir_path(tempdir), format->extension);
    if (!err)
        err = file.failed ? tutti_fail_memory() : read_table(&table, path, patterns);
    if (!err)
        err = write_table(&table, format, file.text);
    if (!err && !(*data = tutti_fs_read_whole(file.text, size)))
        err = tutti_fail_memory();
    table_fini(&table);
    tutti_text_fini(&file);
    tutti_tempdir_free(tempdir);
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
    char *copy = columns ? tutti_str_copy(columns) : NULL, *rest = NULL;
    if (columns && !copy)
        return tutti_fail_memory();
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
        *data = tutti_fs_read_whole(path, size);
        return *data ? TUTTI_OK : tutti_fail_memory();
    }
    if (strcmp(format, "csv") == 0 || strcmp(format, "mat") == 0)
        return export_table(path, format[0] == 'c' ? &tutti_record_csv : &tutti_record_mat, columns, data, size);
    if (strcmp(format, "svg") == 0 || strcmp(format, "png") == 0 || strcmp(format, "pdf") == 0)
        return export_picture(path, format, columns, data, size);
    return tutti_fail(TUTTI_ERR_ARGUMENT, "a result is given as csv, mat, h5, svg, png or pdf, not as '%s'",
                      tutti_str_show(format).text);
}

enum tutti_err tutti_web_export_run(struct tutti_web_site *site, const struct tutti_web_request *request,
                                    struct tutti_http_answer *answer)
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
    struct tutti_web_run run;
    char *data = NULL;
    size_t size = 0;
    TRY(tutti_web_need(request, "format", &format));
    enum tutti_err err = tutti_web_run_init(&run, site, request->id);
    char *path = !err && run.folder ? tutti_web_run_file(&run, "result.h5") : NULL;
    if (!err && (!path || access(path, F_OK) != 0))
        err = tutti_fail(TUTTI_ERR_IO, "this run has no result yet");
    if (!err)
        err = export_as(path, format, request->http->argument(request->http, "columns"), &data, &size);
    free(path);
    tutti_web_run_fini(&run);
    TRY(err);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].format, format) == 0)
            tutti_web_answer_text(answer, types[i].type, data, size);
    answer->headers[0] = (struct tutti_http_header){"Content-Disposition", "attachment"};
    answer->headers[1] = (struct tutti_http_header){"Content-Security-Policy", "default-src 'none'; sandbox"};
    return TUTTI_OK;
}
