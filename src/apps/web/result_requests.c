/* SPDX-License-Identifier: MIT */
/* What a run has computed: curves, steps, files. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/result.h>
#include <unistd.h>

#include "base/number.h"
#include "run/live/sse.h"
#include "apps/web/web_run.h"

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

/* The results of the run that is asked for and of the one to subtract, if there is one. Paths are the caller's, also after an error. */
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

/* A column of the step log by its name; NULL where there is none. */
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
