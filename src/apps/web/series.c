/* SPDX-License-Identifier: MIT */
/* Invariants, under the mutex:
 *
 *  S1. A curve has at most as many values as its file has times, and all of them when it is returned: a file that
 *      has grown is read from its earlier end.
 *  S2. The bytes of all curves are at most BUDGET, unless there is only one file. */
#include "apps/web/series.h"

#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tutti/result.h>

#include "base/wall_clock.h"
#include "run/live/sse.h"
#include "results/result.h"
#include "apps/plot/line.h"

enum { MOST_COLUMNS = 400 };
static const size_t BUDGET = (size_t)1 << 30;
static const double FRESH = 1; /* seconds for which the file of an active run is not read again */

/* A variable of a file, as far as it was read. */
struct series_curve {
    double *values; /* NULL: it was not read */
    size_t rows;    /* that were read */
};

struct series_file {
    char *path;
    struct tutti_result *result;
    off_t size;
    struct timespec changed;
    double opened, used; /* on the clock */
    size_t rows, bytes;
    const double *times;
    struct series_curve *curves; /* per variable */
    size_t curve_count;
    struct series_file *next;
};

struct tt_series {
    pthread_mutex_t mutex;
    struct series_file *files;
    size_t bytes;
};

enum tutti_err tt_series_new(struct tt_series **out)
{
    struct tt_series *series = calloc(1, sizeof *series);
    if (!series)
        return tt_fail_memory();
    pthread_mutex_init(&series->mutex, NULL);
    *out = series;
    return TUTTI_OK;
}

/* ---- files ---- */

static void free_curves(struct series_curve *curves, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(curves[i].values);
    free(curves);
}

static void free_file(struct tt_series *series, struct series_file *file)
{
    free_curves(file->curves, file->curve_count);
    series->bytes -= file->bytes;
    tutti_result_free(file->result);
    free(file->path);
    free(file);
}

void tt_series_free(struct tt_series *series)
{
    if (!series)
        return;
    while (series->files) {
        struct series_file *next = series->files->next;
        free_file(series, series->files);
        series->files = next;
    }
    pthread_mutex_destroy(&series->mutex);
    free(series);
}

static void series_drop_file(struct tt_series *series, struct series_file *file)
{
    struct series_file **place = &series->files;
    while (*place != file)
        place = &(*place)->next;
    *place = file->next;
    free_file(series, file);
}

/* Those that were not used for longest. */
static void series_evict(struct tt_series *series, const struct series_file *keep)
{
    while (series->bytes > BUDGET) {
        struct series_file *oldest = NULL;
        for (struct series_file *file = series->files; file; file = file->next)
            if (file != keep && (!oldest || file->used < oldest->used))
                oldest = file;
        if (!oldest)
            return;
        series_drop_file(series, oldest);
    }
}

/* Takes `times`, of which `known` were read before. */
static enum tutti_err series_open_result(struct series_file *file, double *times, size_t known)
{
    if (file->path)
        return tt_result_reopen(&file->result, file->path, times, known);
    free(times);
    return tt_fail_memory();
}

/* Takes `times`. */
static enum tutti_err series_open_file(struct tt_series *series, const char *path, const struct stat *st, double *times,
                                       size_t known, struct series_file **out)
{
    struct series_file *file = calloc(1, sizeof *file);
    if (!file) {
        free(times);
        return tt_fail_memory();
    }
    file->path = tt_text_copy(path);
    enum tutti_err err = series_open_result(file, times, known);
    if (!err) {
        file->curve_count = tutti_result_count(file->result);
        file->curves = calloc(file->curve_count + 1, sizeof *file->curves);
        err = file->curves ? TUTTI_OK : tt_fail_memory();
    }
    if (err) {
        file->curve_count = 0;
        free_file(series, file);
        return err;
    }
    file->rows = tutti_result_rows(file->result);
    file->times = tutti_result_times(file->result);
    file->size = st->st_size;
    file->changed = st->st_mtim;
    file->opened = tt_wall_clock_now();
    file->bytes = file->rows * sizeof(double);
    series->bytes += file->bytes;
    file->next = series->files;
    series->files = file;
    *out = file;
    return TUTTI_OK;
}

/* The known values of a file that is opened again: HDF5 sees later writes only after it was closed. */
struct known_curves {
    struct series_curve *curves;
    size_t curve_count, rows, bytes;
    double *times;
    double first, last;
};

static struct known_curves detach_known_curves(struct tt_series *series, struct series_file *file)
{
    struct known_curves known = {.curves = file->curves,
                                 .curve_count = file->curve_count,
                                 .rows = file->rows,
                                 .bytes = file->bytes - file->rows * sizeof(double),
                                 .first = file->rows > 0 ? file->times[0] : NAN,
                                 .last = file->rows > 0 ? file->times[file->rows - 1] : NAN};
    known.times = tt_result_detach_times(file->result);
    file->curves = NULL;
    file->curve_count = 0;
    file->bytes -= known.bytes;
    series->bytes -= known.bytes;
    return known;
}

/* The file has changed. One that has only grown keeps its curves, which are read on when they are wanted. */
static enum tutti_err series_refresh_file(struct tt_series *series, struct series_file *old, const char *path,
                                          const struct stat *st, struct series_file **out)
{
    struct known_curves known = detach_known_curves(series, old);
    series_drop_file(series, old);
    *out = NULL;
    enum tutti_err err = series_open_file(series, path, st, known.times, known.rows, out);
    struct series_file *now = *out;
    bool grown = now && known.rows > 0 && now->rows >= known.rows && now->curve_count == known.curve_count &&
                 now->times[0] == known.first && now->times[known.rows - 1] == known.last;
    if (grown) {
        struct series_curve *none = now->curves;
        now->curves = known.curves;
        now->bytes += known.bytes;
        series->bytes += known.bytes;
        known.curves = none;
    }
    free_curves(known.curves, known.curve_count);
    return err;
}

/* The whole file of a finished run is used. */
static enum tutti_err series_find_file(struct tt_series *series, const char *path, bool grows, struct series_file **out)
{
    struct stat st;
    struct series_file *file = series->files;
    if (stat(path, &st) != 0)
        return tt_fail(TUTTI_ERR_IO, "there is no result yet");
    while (file && strcmp(file->path, path) != 0)
        file = file->next;
    enum tutti_err err = TUTTI_OK;
    bool unchanged = file && file->size == st.st_size && file->changed.tv_sec == st.st_mtim.tv_sec &&
                     file->changed.tv_nsec == st.st_mtim.tv_nsec;
    if (!file)
        err = series_open_file(series, path, &st, NULL, 0, &file);
    else if (!unchanged && (!grows || tt_wall_clock_now() - file->opened > FRESH))
        err = series_refresh_file(series, file, path, &st, &file);
    if (!file)
        return err ? err : TUTTI_ERR_MEMORY;
    file->used = tt_wall_clock_now();
    *out = file;
    return TUTTI_OK;
}

/* ---- curves ---- */

static size_t series_bytes(size_t rows)
{
    return (rows + 1) * sizeof(double);
}

/* Room for the rows that the file has now. */
static bool extend_curve(struct tt_series *series, struct series_file *file, struct series_curve *curve)
{
    size_t bytes = series_bytes(file->rows) - (curve->values ? series_bytes(curve->rows) : 0);
    double *longer = realloc(curve->values, series_bytes(file->rows));
    file->bytes += bytes;
    series->bytes += bytes;
    if (longer)
        curve->values = longer;
    return longer != NULL;
}

/* Reads what is missing of `picked`, all at once. */
static enum tutti_err read_curves(struct tt_series *series, struct series_file *file, const size_t *picked,
                                  size_t count)
{
    size_t missing[MOST_COLUMNS], missing_count = 0, known = file->rows;
    double *values[MOST_COLUMNS];
    bool room = true;
    for (size_t i = 0; i < count && room; i++) {
        struct series_curve *curve = &file->curves[picked[i]];
        if (curve->values && curve->rows == file->rows)
            continue;
        room = extend_curve(series, file, curve);
        known = curve->rows < known ? curve->rows : known;
        missing[missing_count] = picked[i];
        values[missing_count++] = curve->values;
    }
    enum tutti_err err = TUTTI_OK;
    if (!room)
        err = tt_fail_memory();
    else if (missing_count > 0)
        err = tt_result_read_more(file->result, missing, missing_count, known, values);
    for (size_t i = 0; i < missing_count; i++) {
        struct series_curve *curve = &file->curves[missing[i]];
        if (err || !room) {
            free(curve->values);
            *curve = (struct series_curve){0};
            file->bytes -= series_bytes(file->rows);
            series->bytes -= series_bytes(file->rows);
            continue;
        }
        curve->rows = file->rows;
    }
    return err;
}

/* ---- answers ---- */

bool tt_series_fits(const char *patterns, const char *name)
{
    return !patterns || tt_text_glob_any(patterns, name);
}

static size_t series_pick_columns(const struct series_file *file, const char *patterns, size_t *picked)
{
    struct tutti_result_variable variable;
    size_t count = 0;
    for (size_t i = 0; count < MOST_COLUMNS && tutti_result_describe(file->result, i, &variable); i++)
        if (tt_series_fits(patterns, variable.name))
            picked[count++] = i;
    return count;
}

/* The requested data: a result, and the one that is subtracted from it (NULL: none). */
struct series_view {
    struct series_file *file, *other;
    size_t picked[MOST_COLUMNS], count;
};

static enum tutti_err open_subtracted_result(struct tt_series *series, const char *path, bool grows,
                                             struct series_view *view)
{
    if (!path)
        return TUTTI_OK;
    if (strcmp(path, view->file->path) == 0) {
        view->other = view->file;
        return TUTTI_OK;
    }
    TRY(series_find_file(series, path, grows, &view->other));
    struct tutti_result_variable variable;
    enum tutti_err err = TUTTI_OK;
    for (size_t i = 0; i < view->count && !err; i++) {
        tutti_result_describe(view->file->result, view->picked[i], &variable);
        size_t place = tutti_result_find(view->other->result, variable.name);
        if (place < view->other->curve_count)
            err = read_curves(series, view->other, &place, 1);
    }
    return err;
}

static enum tutti_err view_open(struct series_view *view, struct tt_series *series, const struct tt_series_query *query)
{
    *view = (struct series_view){0};
    TRY(series_find_file(series, query->file, query->grows, &view->file));
    view->count = series_pick_columns(view->file, query->columns, view->picked);
    TRY(read_curves(series, view->file, view->picked, view->count));
    return open_subtracted_result(series, query->minus, query->minus_grows, view);
}

/* A variable's rows; none where it was not read. */
static struct tt_plot_values series_rows(const struct series_file *file, size_t place)
{
    struct tutti_result_variable variable = {0};
    if (place >= file->curve_count || !file->curves[place].values)
        return (struct tt_plot_values){0};
    tutti_result_describe(file->result, place, &variable);
    return (struct tt_plot_values){
        .t = file->times, .v = file->curves[place].values, .count = file->rows, .held = variable.held};
}

/* Reads column c of the view in both results. The difference is continuous if either is. */
static void rows_of_both_results(const struct series_view *view, size_t c, struct tt_plot_values rows[2])
{
    struct tutti_result_variable variable = {0};
    rows[0] = series_rows(view->file, view->picked[c]);
    rows[1] = (struct tt_plot_values){0};
    if (view->other) {
        tutti_result_describe(view->file->result, view->picked[c], &variable);
        rows[1] = series_rows(view->other, tutti_result_find(view->other->result, variable.name));
        rows[0].held = rows[1].held = rows[0].held && rows[1].held;
    }
}

static void write_column_list(struct tt_text *out, const struct series_view *view)
{
    struct tutti_result_variable variable;
    tt_text_append(out, "{\"columns\":[");
    for (size_t c = 0; c < view->count && tutti_result_describe(view->file->result, view->picked[c], &variable); c++) {
        tt_text_append(out, c ? ",{\"name\":" : "{\"name\":");
        tt_sse_write_text(out, variable.name);
        tt_text_append(out, ",\"unit\":");
        tt_sse_write_text(out, variable.unit);
        tt_text_printf(out, ",\"held\":%s}", variable.held ? "true" : "false");
    }
    tt_text_append(out, "]");
}

/* ---- lines ---- */

static void write_number_list(struct tt_text *out, const double *first, size_t first_count, const double *second,
                              size_t second_count)
{
    tt_text_append(out, "[");
    for (size_t i = 0; i < first_count + second_count; i++) {
        tt_text_append(out, i ? "," : "");
        tt_sse_write_number(out, i < first_count ? first[i] : second[i - first_count]);
    }
    tt_text_append(out, "]");
}

/* Jumps come first: so the last point of the list is that of the curve. Each jump is followed by an interruption. */
static void series_write_line(struct tt_text *out, const struct tt_plot_curve_data *data)
{
    const struct tt_plot_line *jumps = &data->jumps, *line = &data->line;
    tt_text_append(out, "{\"x\":");
    write_number_list(out, jumps->x, jumps->count, line->x, line->count);
    tt_text_append(out, ",\"y\":");
    write_number_list(out, jumps->y, jumps->count, line->y, line->count);
    tt_text_append(out, "}");
}

/* A logarithmic axis has no place for what is not positive. `copy` is the caller's. */
static bool drop_nonpositive_rows(struct tt_plot_values *rows, double **copy)
{
    *copy = malloc((rows->count + 1) * sizeof **copy);
    if (!*copy)
        return false;
    for (size_t i = 0; i < rows->count; i++)
        (*copy)[i] = rows->v[i] > 0 ? rows->v[i] : NAN;
    rows->v = *copy;
    return true;
}

static enum tutti_err draw_over_time(struct tt_plot_curve_data *data, const struct tt_series_query *query,
                                     const struct series_view *view, size_t c)
{
    struct tt_plot_values rows[2], shown;
    double *t = NULL, *v = NULL, *positive = NULL;
    const struct series_file *file = view->file;
    double from = isnan(query->from) && file->rows ? file->times[0] : query->from,
           to = isnan(query->to) && file->rows ? file->times[file->rows - 1] : query->to;
    rows_of_both_results(view, c, rows);
    for (size_t i = 0; i < 2; i++)
        tt_plot_line_values_cut(&rows[i], from, to);
    shown = rows[0];
    bool done = true;
    if (view->other) {
        size_t count = 0;
        done = tt_plot_line_difference(&rows[0], &rows[1], &t, &v, &count);
        shown = (struct tt_plot_values){.t = t, .v = v, .count = count, .held = rows[0].held};
    }
    if (done && query->log)
        done = drop_nonpositive_rows(&shown, &positive);
    if (done && file->rows)
        tt_plot_line_thin(data, &shown, from, to, query->points);
    free(t);
    free(v);
    free(positive);
    return done && !tt_plot_line_curve_failed(data) ? TUTTI_OK : tt_fail_memory();
}

/* Over another variable, in the order of time. */
static enum tutti_err draw_over_variable(struct tt_plot_curve_data *data, const struct series_view *view, size_t x,
                                         size_t c)
{
    struct tt_plot_values across = series_rows(view->file, x), up = series_rows(view->file, view->picked[c]);
    if (across.count == up.count && up.count > 0)
        tt_plot_line_thin_phase(data, up.t, across.v, up.v, up.count);
    return tt_plot_line_curve_failed(data) ? tt_fail_memory() : TUTTI_OK;
}

static enum tutti_err write_series_lines(struct tt_text *out, const struct tt_series_query *query,
                                         const struct series_view *view)
{
    size_t x = query->over ? tutti_result_find(view->file->result, query->over) : 0;
    enum tutti_err err = TUTTI_OK;
    tt_text_append(out, ",\"lines\":[");
    for (size_t c = 0; c < view->count && !err; c++) {
        struct tt_plot_curve_data data = {0};
        err = query->over ? draw_over_variable(&data, view, x, c) : draw_over_time(&data, query, view, c);
        tt_text_append(out, c ? "," : "");
        series_write_line(out, &data);
        tt_plot_line_fini(&data.line);
        tt_plot_line_fini(&data.jumps);
    }
    tt_text_append(out, "]");
    return err;
}

/* ---- values ---- */

static double series_value_at(const struct series_view *view, size_t c, double time)
{
    struct tt_plot_values rows[2];
    rows_of_both_results(view, c, rows);
    double value = tt_plot_line_values_at(&rows[0], time);
    return view->other ? value - tt_plot_line_values_at(&rows[1], time) : value;
}

static void series_write_values(struct tt_text *out, const char *name, const struct series_view *view,
                                const double *times, size_t count)
{
    tt_text_printf(out, ",\"%s\":[", name);
    for (size_t c = 0; c < view->count; c++) {
        tt_text_append(out, c ? ",[" : "[");
        for (size_t i = 0; i < count; i++) {
            tt_text_append(out, i ? "," : "");
            tt_sse_write_number(out, series_value_at(view, c, times[i]));
        }
        tt_text_append(out, "]");
    }
    tt_text_append(out, "]");
}

enum tutti_err tt_series_values(struct tt_series *series, const struct tt_series_query *query, const double *times,
                                size_t count, struct tt_text *out)
{
    struct series_view view;
    pthread_mutex_lock(&series->mutex);
    enum tutti_err err = view_open(&view, series, query);
    if (!err) {
        write_column_list(out, &view);
        series_write_values(out, "values", &view, times, count);
        tt_text_append(out, "}");
        series_evict(series, view.file);
    }
    pthread_mutex_unlock(&series->mutex);
    return err || !out->failed ? err : tt_fail_memory();
}

enum tutti_err tt_series_write(struct tt_series *series, const struct tt_series_query *query, struct tt_text *out)
{
    struct series_view view;
    pthread_mutex_lock(&series->mutex);
    enum tutti_err err = view_open(&view, series, query);
    if (!err) {
        size_t place = query->over ? tutti_result_find(view.file->result, query->over) : view.file->curve_count;
        if (place < view.file->curve_count)
            err = read_curves(series, view.file, &place, 1);
    }
    if (!err) {
        /* the end of the result, or, of a difference, of the result that ends first */
        const struct series_file *file = view.file, *other = view.other;
        double end = file->rows ? file->times[file->rows - 1] : NAN;
        if (other)
            end = fmin(end, other->rows ? other->times[other->rows - 1] : NAN);

        write_column_list(out, &view);
        tt_text_append(out, ",\"from\":");
        tt_sse_write_number(out, file->rows ? file->times[0] : NAN);
        tt_text_append(out, ",\"to\":");
        tt_sse_write_number(out, file->rows ? file->times[file->rows - 1] : NAN);
        tt_text_printf(out, ",\"rows\":%zu", file->rows);
        series_write_values(out, "last", &view, &end, 1);
        err = write_series_lines(out, query, &view);
        tt_text_append(out, "}");
        series_evict(series, view.file);
    }
    pthread_mutex_unlock(&series->mutex);
    return err || !out->failed ? err : tt_fail_memory();
}
