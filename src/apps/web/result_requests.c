/* SPDX-License-Identifier: MIT */
/* Requests for results of a run: curves, steps, files. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <tutti/result.h>
#include <tutti/tell.h>

#include "apps/web/web_run.h"
#include "base/fs.h"
#include "base/number.h"
#include "base/tempdir.h"
#include "results/recorder.h"
#include "run/live/sse.h"

enum { POINTS = 1000, MOST_POINTS = 10000, MOST_TIMES = 1000 };

/* Takes the text. */
static enum tutti_err respond_with_json(struct tt_http_response *answer, struct tt_text *out, enum tutti_err err)
{
    if (err || out->failed) {
        tt_text_fini(out);
        return err ? err : tt_fail_memory();
    }
    tt_response_text(answer, "application/json", out->text, out->length);
    return TUTTI_OK;
}

static enum tutti_err find_run_result(struct tt_web_site *site, const struct tt_web_request *request, const char *name,
                                      char **path)
{
    struct tt_web_run run;
    enum tutti_err err = tt_web_run_init(&run, site, request->id);
    *path = !err && run.folder ? tt_web_run_file(&run, name) : NULL;
    tt_web_run_fini(&run);
    if (!err && (!*path || access(*path, F_OK) != 0)) {
        free(*path);
        *path = NULL;
        return tt_fail(TUTTI_ERR_IO, "this run has no %s",
                       strcmp(name, "steps.csv") == 0 ? "log of its steps" : "result yet");
    }
    return err;
}

static enum tutti_err result_requests_read_number(const struct tt_web_request *request, const char *name, double *value)
{
    const char *text = request->http->argument(request->http, name);
    if (!text || (tt_number_read_double(text, strlen(text), value) && isfinite(*value)))
        return TUTTI_OK;
    return tt_fail(TUTTI_ERR_ARGUMENT, "'%s' is to be a number, not '%s'", name, tt_text_excerpt(text).text);
}

/* ---- curves ---- */

static enum tutti_err parse_series_query(const struct tt_web_request *request, struct tt_series_query *query)
{
    double points = POINTS;
    *query =
        (struct tt_series_query){.columns = request->http->argument(request->http, "columns"), .from = NAN, .to = NAN};
    TRY(result_requests_read_number(request, "from", &query->from));
    TRY(result_requests_read_number(request, "to", &query->to));
    TRY(result_requests_read_number(request, "points", &points));
    if (points < 1 || points > MOST_POINTS)
        return tt_fail(TUTTI_ERR_ARGUMENT, "'points' is to be a number from 1 to %d", MOST_POINTS);
    query->points = (size_t)points;
    query->over = request->http->argument(request->http, "over");
    query->log = request->http->argument(request->http, "log") != NULL;
    return TUTTI_OK;
}

/* Finds the results of the requested run and of the run to subtract, if any. The caller owns the paths in any case. */
static enum tutti_err result_requests_find_results(struct tt_web_site *site, const struct tt_web_request *request,
                                                   char **file, char **minus, struct tt_series_query *query)
{
    const char *id = request->http->argument(request->http, "minus");
    struct tt_web_run run;
    *minus = NULL;
    enum tutti_err err = tt_web_run_init(&run, site, request->id);
    *file = !err && run.folder ? tt_web_run_file(&run, "result.h5") : NULL;
    query->grows = run.going;
    tt_web_run_fini(&run);
    if (!err && id)
        err = tt_web_run_result(minus, &query->minus_grows, site, id);
    query->file = *file;
    query->minus = *minus;
    return err;
}

enum tutti_err tt_result_requests_get_series(struct tt_web_site *site, const struct tt_web_request *request,
                                             struct tt_http_response *answer)
{
    static const char NOTHING[] = "{\"columns\":[],\"from\":null,\"to\":null,\"rows\":0,\"last\":[],\"lines\":[]}";
    struct tt_series_query query;
    struct tt_text out = {0};
    char *path, *minus;
    TRY(parse_series_query(request, &query));
    enum tutti_err err = result_requests_find_results(site, request, &path, &minus, &query);
    if (!err && path && access(path, F_OK) == 0)
        err = tt_series_write(site->series, &query, &out);
    if ((!err || query.grows) && out.length == 0 &&
        (query.grows || !path || access(path, F_OK) != 0)) { /* it has not recorded anything yet */
        err = TUTTI_OK;
        tt_text_append(&out, NOTHING);
    }
    free(path);
    free(minus);
    return respond_with_json(answer, &out, err);
}

/* Times with ';' between. */
static enum tutti_err result_requests_read_times(const char *text, double times[MOST_TIMES], size_t *count)
{
    for (*count = 0; text; (*count)++) {
        size_t length = strcspn(text, ";");
        if (*count == MOST_TIMES || !tt_number_read_double(text, length, &times[*count]) || isnan(times[*count]))
            return tt_fail(TUTTI_ERR_ARGUMENT, "'times' is to be at most %d numbers with ';' between, not '%s'",
                           MOST_TIMES, tt_text_excerpt(text).text);
        text = text[length] ? text + length + 1 : NULL;
    }
    return TUTTI_OK;
}

enum tutti_err tt_result_requests_get_values(struct tt_web_site *site, const struct tt_web_request *request,
                                             struct tt_http_response *answer)
{
    struct tt_series_query query;
    struct tt_text out = {0};
    const char *text;
    double times[MOST_TIMES];
    size_t count;
    char *path, *minus;
    TRY(parse_series_query(request, &query));
    TRY(tt_routes_require(request, "times", &text));
    TRY(result_requests_read_times(text, times, &count));
    enum tutti_err err = result_requests_find_results(site, request, &path, &minus, &query);
    if (!err)
        err = path ? tt_series_values(site->series, &query, times, count, &out)
                   : tt_fail(TUTTI_ERR_IO, "this run has no result here");
    free(path);
    free(minus);
    return respond_with_json(answer, &out, err);
}

/* ---- steps ---- */

/* Finds a column of the step log by its name; NULL if it does not exist. */
static enum tutti_err result_requests_read_column(struct tutti_result *result, const char *name, double **values)
{
    size_t which = tutti_result_find(result, name), rows = tutti_result_rows(result);
    *values = NULL;
    if (which == tutti_result_count(result))
        return TUTTI_OK;
    *values = malloc((rows + 1) * sizeof **values);
    return !*values ? tt_fail_memory() : rows ? tutti_result_read(result, &which, 1, values) : TUTTI_OK;
}

static void result_requests_write_steps(struct tt_text *out, const char *name, const double *values, size_t rows,
                                        size_t points)
{
    tt_text_printf(out, "\"%s\":[", name);
    for (size_t i = 0; i < points; i++) {
        tt_text_append(out, i ? "," : "");
        tt_sse_write_number(out, values ? values[i * rows / points] : NAN);
    }
    tt_text_append(out, "]");
}

static void write_step_events(struct tt_text *out, const double *times, const double *events, size_t rows)
{
    size_t told = 0;
    tt_text_append(out, ",\"events\":[");
    for (size_t i = 0; events && i < rows && told < MOST_POINTS; i++)
        if (events[i] > 0) {
            tt_text_append(out, told++ ? "," : "");
            tt_sse_write_number(out, times[i]);
        }
    tt_text_append(out, "]}");
}

static enum tutti_err write_step_log(const char *path, size_t points, struct tt_text *out)
{
    struct tutti_result *result;
    double *steps = NULL, *errors = NULL, *events = NULL;
    TRY(tutti_result_open(&result, path, NULL));
    size_t rows = tutti_result_rows(result), told = rows < points ? rows : points;
    enum tutti_err err = result_requests_read_column(result, "h", &steps);
    if (!err)
        err = result_requests_read_column(result, "error", &errors);
    if (!err)
        err = result_requests_read_column(result, "events", &events);
    if (!err) {
        const double *times = tutti_result_times(result);
        tt_text_append(out, "{");
        result_requests_write_steps(out, "times", times, rows, told);
        tt_text_append(out, ",");
        result_requests_write_steps(out, "steps", steps, rows, told);
        tt_text_append(out, ",");
        result_requests_write_steps(out, "errors", errors, rows, told);
        write_step_events(out, times, events, rows);
    }
    free(steps);
    free(errors);
    free(events);
    tutti_result_free(result);
    return err;
}

enum tutti_err tt_result_requests_get_steps(struct tt_web_site *site, const struct tt_web_request *request,
                                            struct tt_http_response *answer)
{
    struct tt_series_query query;
    struct tt_text out = {0};
    char *path;
    TRY(parse_series_query(request, &query));
    TRY(find_run_result(site, request, "steps.csv", &path));
    enum tutti_err err = write_step_log(path, query.points, &out);
    free(path);
    return respond_with_json(answer, &out, err);
}

/* A result as a file of another kind: tables are written here, pictures by `tutti plot`, which calls gnuplot. */

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
