/* SPDX-License-Identifier: MIT */
/* What a run has computed: curves, steps, files. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/result.h>
#include <unistd.h>

#include "base/number.h"
#include "live/news.h"
#include "web/run.h"

enum { POINTS = 1000, MOST_POINTS = 10000, MOST_TIMES = 1000 };

/* Takes the text. */
static enum tutti_err answer_json(struct tutti_http_answer *answer, struct tutti_text *out, enum tutti_err err)
{
    if (err || out->failed) {
        tutti_text_fini(out);
        return err ? err : tutti_fail_memory();
    }
    tutti_web_answer_text(answer, "application/json", out->text, out->length);
    return TUTTI_OK;
}

static enum tutti_err find_result(struct tutti_web_site *site, const struct tutti_web_request *request,
                                  const char *name, char **path)
{
    struct tutti_web_run run;
    enum tutti_err err = tutti_web_run_init(&run, site, request->id);
    *path = !err && run.folder ? tutti_web_run_file(&run, name) : NULL;
    tutti_web_run_fini(&run);
    if (!err && (!*path || access(*path, F_OK) != 0)) {
        free(*path);
        *path = NULL;
        return tutti_fail(TUTTI_ERR_IO, "this run has no %s",
                          strcmp(name, "steps.csv") == 0 ? "log of its steps" : "result yet");
    }
    return err;
}

static enum tutti_err read_number(const struct tutti_web_request *request, const char *name, double *value)
{
    const char *text = request->http->argument(request->http, name);
    if (!text || (tutti_number_read_double(text, strlen(text), value) && isfinite(*value)))
        return TUTTI_OK;
    return tutti_fail(TUTTI_ERR_ARGUMENT, "'%s' is to be a number, not '%s'", name, tutti_str_show(text).text);
}

/* ---- curves ---- */

static enum tutti_err read_query(const struct tutti_web_request *request, struct tutti_web_series_query *query)
{
    double points = POINTS;
    *query = (struct tutti_web_series_query){
        .columns = request->http->argument(request->http, "columns"), .from = NAN, .to = NAN};
    TRY(read_number(request, "from", &query->from));
    TRY(read_number(request, "to", &query->to));
    TRY(read_number(request, "points", &points));
    if (points < 1 || points > MOST_POINTS)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "'points' is to be a number from 1 to %d", MOST_POINTS);
    query->points = (size_t)points;
    query->over = request->http->argument(request->http, "over");
    query->log = request->http->argument(request->http, "log") != NULL;
    return TUTTI_OK;
}

/* The results of the run that is asked for and of the one to subtract, if there is one. Paths are the caller's, also after an error. */
static enum tutti_err find_results(struct tutti_web_site *site, const struct tutti_web_request *request, char **file,
                                   char **minus, struct tutti_web_series_query *query)
{
    const char *id = request->http->argument(request->http, "minus");
    struct tutti_web_run run;
    *minus = NULL;
    enum tutti_err err = tutti_web_run_init(&run, site, request->id);
    *file = !err && run.folder ? tutti_web_run_file(&run, "result.h5") : NULL;
    query->grows = run.going;
    tutti_web_run_fini(&run);
    if (!err && id)
        err = tutti_web_run_result(minus, &query->minus_grows, site, id);
    query->file = *file;
    query->minus = *minus;
    return err;
}

enum tutti_err tutti_web_tell_series(struct tutti_web_site *site, const struct tutti_web_request *request,
                                     struct tutti_http_answer *answer)
{
    static const char NOTHING[] = "{\"columns\":[],\"from\":null,\"to\":null,\"rows\":0,\"last\":[],\"lines\":[]}";
    struct tutti_web_series_query query;
    struct tutti_text out = {0};
    char *path, *minus;
    TRY(read_query(request, &query));
    enum tutti_err err = find_results(site, request, &path, &minus, &query);
    if (!err && path && access(path, F_OK) == 0)
        err = tutti_web_series_tell(site->series, &query, &out);
    if ((!err || query.grows) && out.length == 0 &&
        (query.grows || !path || access(path, F_OK) != 0)) { /* it has not recorded anything yet */
        err = TUTTI_OK;
        tutti_text_append(&out, NOTHING);
    }
    free(path);
    free(minus);
    return answer_json(answer, &out, err);
}

/* Times with ';' between. */
static enum tutti_err read_times(const char *text, double times[MOST_TIMES], size_t *count)
{
    for (*count = 0; text; (*count)++) {
        size_t length = strcspn(text, ";");
        if (*count == MOST_TIMES || !tutti_number_read_double(text, length, &times[*count]) || isnan(times[*count]))
            return tutti_fail(TUTTI_ERR_ARGUMENT, "'times' is to be at most %d numbers with ';' between, not '%s'",
                              MOST_TIMES, tutti_str_show(text).text);
        text = text[length] ? text + length + 1 : NULL;
    }
    return TUTTI_OK;
}

enum tutti_err tutti_web_tell_values(struct tutti_web_site *site, const struct tutti_web_request *request,
                                     struct tutti_http_answer *answer)
{
    struct tutti_web_series_query query;
    struct tutti_text out = {0};
    const char *text;
    double times[MOST_TIMES];
    size_t count;
    char *path, *minus;
    TRY(read_query(request, &query));
    TRY(tutti_web_need(request, "times", &text));
    TRY(read_times(text, times, &count));
    enum tutti_err err = find_results(site, request, &path, &minus, &query);
    if (!err)
        err = path ? tutti_web_series_values(site->series, &query, times, count, &out)
                   : tutti_fail(TUTTI_ERR_IO, "this run has no result here");
    free(path);
    free(minus);
    return answer_json(answer, &out, err);
}

/* ---- steps ---- */

/* A column of the step log by its name; NULL where there is none. */
static enum tutti_err read_column(struct tutti_result *result, const char *name, double **values)
{
    size_t which = tutti_result_find(result, name), rows = tutti_result_rows(result);
    *values = NULL;
    if (which == tutti_result_count(result))
        return TUTTI_OK;
    *values = malloc((rows + 1) * sizeof **values);
    return !*values ? tutti_fail_memory() : rows ? tutti_result_read(result, &which, 1, values) : TUTTI_OK;
}

static void put_steps(struct tutti_text *out, const char *name, const double *values, size_t rows, size_t points)
{
    tutti_text_printf(out, "\"%s\":[", name);
    for (size_t i = 0; i < points; i++) {
        tutti_text_append(out, i ? "," : "");
        tutti_news_put_number(out, values ? values[i * rows / points] : NAN);
    }
    tutti_text_append(out, "]");
}

static void put_events(struct tutti_text *out, const double *times, const double *events, size_t rows)
{
    size_t told = 0;
    tutti_text_append(out, ",\"events\":[");
    for (size_t i = 0; events && i < rows && told < MOST_POINTS; i++)
        if (events[i] > 0) {
            tutti_text_append(out, told++ ? "," : "");
            tutti_news_put_number(out, times[i]);
        }
    tutti_text_append(out, "]}");
}

static enum tutti_err tell_steps(const char *path, size_t points, struct tutti_text *out)
{
    struct tutti_result *result;
    double *steps = NULL, *errors = NULL, *events = NULL;
    TRY(tutti_result_open(&result, path, NULL));
    size_t rows = tutti_result_rows(result), told = rows < points ? rows : points;
    enum tutti_err err = read_column(result, "h", &steps);
    if (!err)
        err = read_column(result, "error", &errors);
    if (!err)
        err = read_column(result, "events", &events);
    if (!err) {
        const double *times = tutti_result_times(result);
        tutti_text_append(out, "{");
        put_steps(out, "times", times, rows, told);
        tutti_text_append(out, ",");
        put_steps(out, "steps", steps, rows, told);
        tutti_text_append(out, ",");
        put_steps(out, "errors", errors, rows, told);
        put_events(out, times, events, rows);
    }
    free(steps);
    free(errors);
    free(events);
    tutti_result_free(result);
    return err;
}

enum tutti_err tutti_web_tell_steps(struct tutti_web_site *site, const struct tutti_web_request *request,
                                    struct tutti_http_answer *answer)
{
    struct tutti_web_series_query query;
    struct tutti_text out = {0};
    char *path;
    TRY(read_query(request, &query));
    TRY(find_result(site, request, "steps.csv", &path));
    enum tutti_err err = tell_steps(path, query.points, &out);
    free(path);
    return answer_json(answer, &out, err);
}
