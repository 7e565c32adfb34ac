/* SPDX-License-Identifier: MIT */
/* Invariants, under the mutex:
 *
 *  S1. A curve has at most as many values as its file has times, and as many when it is told: a file that has grown is read on where it ended.
 *  S2. The bytes of all curves are at most BUDGET, or there is one file only. */
#include "web/series.h"

#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tutti/result.h>

#include "base/clock.h"
#include "live/news.h"
#include "record/result.h"
#include "tell/plot/line.h"

enum { MOST_COLUMNS = 400 };
static const size_t BUDGET = (size_t)1 << 30;
static const double FRESH = 1; /* seconds for which the file of an active run is not read again */

/* A variable of a file, as far as it was read. */
struct curve {
    double *values; /* NULL: it was not read */
    size_t rows;    /* that were read */
};

/* A result. */
struct file {
    char *path;
    struct tutti_result *result;
    off_t size;
    struct timespec changed;
    double opened, used; /* on the clock */
    size_t rows, bytes;
    const double *times;
    struct curve *curves; /* per variable */
    size_t curve_count;
    struct file *next;
};

struct tutti_web_series {
    pthread_mutex_t mutex;
    struct file *files;
    size_t bytes;
};

enum tutti_err tutti_web_series_new(struct tutti_web_series **out)
{
    struct tutti_web_series *series = calloc(1, sizeof *series);
    if (!series)
        return tutti_fail_memory();
    pthread_mutex_init(&series->mutex, NULL);
    *out = series;
    return TUTTI_OK;
}

/* ---- files ---- */

static void free_curves(struct curve *curves, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(curves[i].values);
    free(curves);
}

static void free_file(struct tutti_web_series *series, struct file *file)
{
    free_curves(file->curves, file->curve_count);
    series->bytes -= file->bytes;
    tutti_result_free(file->result);
    free(file->path);
    free(file);
}

void tutti_web_series_free(struct tutti_web_series *series)
{
    if (!series)
        return;
    while (series->files) {
        struct file *next = series->files->next;
        free_file(series, series->files);
        series->files = next;
    }
    pthread_mutex_destroy(&series->mutex);
    free(series);
}

static bool is_as_it_was(const struct file *file, const struct stat *st)
{
    return file->size == st->st_size && file->changed.tv_sec == st->st_mtim.tv_sec &&
           file->changed.tv_nsec == st->st_mtim.tv_nsec;
}

static void drop(struct tutti_web_series *series, struct file *file)
{
    struct file **place = &series->files;
    while (*place != file)
        place = &(*place)->next;
    *place = file->next;
    free_file(series, file);
}

/* Those that were not used for longest. */
static void make_room(struct tutti_web_series *series, const struct file *keep)
{
    while (series->bytes > BUDGET) {
        struct file *oldest = NULL;
        for (struct file *file = series->files; file; file = file->next)
            if (file != keep && (!oldest || file->used < oldest->used))
                oldest = file;
        if (!oldest)
            return;
        drop(series, oldest);
    }
}

/* Takes `times`, of which `known` were read before. */
static enum tutti_err open_result(struct file *file, double *times, size_t known)
{
    if (file->path)
        return tutti_result_open_again(&file->result, file->path, times, known);
    free(times);
    return tutti_fail_memory();
}

/* Takes `times`. */
static enum tutti_err open_file(struct tutti_web_series *series, const char *path, const struct stat *st, double *times,
                                size_t known, struct file **out)
{
    struct file *file = calloc(1, sizeof *file);
    if (!file) {
        free(times);
        return tutti_fail_memory();
    }
    file->path = tutti_str_copy(path);
    enum tutti_err err = open_result(file, times, known);
    if (!err) {
        file->curve_count = tutti_result_count(file->result);
        file->curves = calloc(file->curve_count + 1, sizeof *file->curves);
        err = file->curves ? TUTTI_OK : tutti_fail_memory();
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
    file->opened = tutti_clock_now();
    file->bytes = file->rows * sizeof(double);
    series->bytes += file->bytes;
    file->next = series->files;
    series->files = file;
    *out = file;
    return TUTTI_OK;
}

/* What is known of a file that is opened anew: HDF5 sees what was written since only if it is closed in between. */
struct known {
    struct curve *curves;
    size_t curve_count, rows, bytes;
    double *times;
    double first, last;
};

static struct known take_known(struct tutti_web_series *series, struct file *file)
{
    struct known known = {.curves = file->curves,
                          .curve_count = file->curve_count,
                          .rows = file->rows,
                          .bytes = file->bytes - file->rows * sizeof(double),
                          .first = file->rows > 0 ? file->times[0] : NAN,
                          .last = file->rows > 0 ? file->times[file->rows - 1] : NAN};
    known.times = tutti_result_take_times(file->result);
    file->curves = NULL;
    file->curve_count = 0;
    file->bytes -= known.bytes;
    series->bytes -= known.bytes;
    return known;
}

static bool has_grown(const struct known *known, const struct file *now)
{
    return known->rows > 0 && now->rows >= known->rows && now->curve_count == known->curve_count &&
           now->times[0] == known->first && now->times[known->rows - 1] == known->last;
}

/* The file has changed. One that has only grown keeps its curves, which are read on when they are wanted. */
static enum tutti_err renew(struct tutti_web_series *series, struct file *old, const char *path, const struct stat *st,
                            struct file **out)
{
    struct known known = take_known(series, old);
    drop(series, old);
    *out = NULL;
    enum tutti_err err = open_file(series, path, st, known.times, known.rows, out);
    if (*out && has_grown(&known, *out)) {
        struct curve *none = (*out)->curves;
        (*out)->curves = known.curves;
        (*out)->bytes += known.bytes;
        series->bytes += known.bytes;
        known.curves = none;
    }
    free_curves(known.curves, known.curve_count);
    return err;
}

/* The whole file of a finished run is used. */
static enum tutti_err find_file(struct tutti_web_series *series, const char *path, bool grows, struct file **out)
{
    struct stat st;
    struct file *file = series->files;
    if (stat(path, &st) != 0)
        return tutti_fail(TUTTI_ERR_IO, "there is no result yet");
    while (file && strcmp(file->path, path) != 0)
        file = file->next;
    enum tutti_err err = TUTTI_OK;
    if (!file)
        err = open_file(series, path, &st, NULL, 0, &file);
    else if (!is_as_it_was(file, &st) && (!grows || tutti_clock_now() - file->opened > FRESH))
        err = renew(series, file, path, &st, &file);
    if (!file)
        return err ? err : TUTTI_ERR_MEMORY;
    file->used = tutti_clock_now();
    *out = file;
    return TUTTI_OK;
}

/* ---- curves ---- */

static size_t bytes_of(size_t rows)
{
    return (rows + 1) * sizeof(double);
}

/* Room for the rows that the file has now. */
static bool make_longer(struct tutti_web_series *series, struct file *file, struct curve *curve)
{
    size_t bytes = bytes_of(file->rows) - (curve->values ? bytes_of(curve->rows) : 0);
    double *longer = realloc(curve->values, bytes_of(file->rows));
    file->bytes += bytes;
    series->bytes += bytes;
    if (longer)
        curve->values = longer;
    return longer != NULL;
}

/* A curve that has room for the file's rows. */
static void forget(struct tutti_web_series *series, struct file *file, struct curve *curve)
{
    free(curve->values);
    *curve = (struct curve){0};
    file->bytes -= bytes_of(file->rows);
    series->bytes -= bytes_of(file->rows);
}

/* Reads what is missing of `picked`, all at once. */
static enum tutti_err read_curves(struct tutti_web_series *series, struct file *file, const size_t *picked,
                                  size_t count)
{
    size_t missing[MOST_COLUMNS], missing_count = 0, known = file->rows;
    double *values[MOST_COLUMNS];
    bool room = true;
    for (size_t i = 0; i < count && room; i++) {
        struct curve *curve = &file->curves[picked[i]];
        if (curve->values && curve->rows == file->rows)
            continue;
        room = make_longer(series, file, curve);
        known = curve->rows < known ? curve->rows : known;
        missing[missing_count] = picked[i];
        values[missing_count++] = curve->values;
    }
    enum tutti_err err = TUTTI_OK;
    if (!room)
        err = tutti_fail_memory();
    else if (missing_count > 0)
        err = tutti_result_read_more(file->result, missing, missing_count, known, values);
    for (size_t i = 0; i < missing_count; i++) {
        struct curve *curve = &file->curves[missing[i]];
        if (err || !room) {
            forget(series, file, curve);
            continue;
        }
        curve->rows = file->rows;
    }
    return err;
}

/* ---- what is told ---- */

bool tutti_web_series_fits(const char *patterns, const char *name)
{
    return !patterns || tutti_str_glob_any(patterns, name);
}

static size_t pick(const struct file *file, const char *patterns, size_t *picked)
{
    struct tutti_result_variable variable;
    size_t count = 0;
    for (size_t i = 0; count < MOST_COLUMNS && tutti_result_describe(file->result, i, &variable); i++)
        if (tutti_web_series_fits(patterns, variable.name))
            picked[count++] = i;
    return count;
}

/* What is asked for, read: a result, and the one that is subtracted from it (NULL: none). */
struct view {
    struct file *file, *other;
    size_t picked[MOST_COLUMNS], count;
};

static enum tutti_err open_other(struct tutti_web_series *series, const char *path, bool grows, struct view *view)
{
    if (!path)
        return TUTTI_OK;
    if (strcmp(path, view->file->path) == 0) {
        view->other = view->file;
        return TUTTI_OK;
    }
    TRY(find_file(series, path, grows, &view->other));
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

static enum tutti_err view_open(struct view *view, struct tutti_web_series *series,
                                const struct tutti_web_series_query *query)
{
    *view = (struct view){0};
    TRY(find_file(series, query->file, query->grows, &view->file));
    view->count = pick(view->file, query->columns, view->picked);
    TRY(read_curves(series, view->file, view->picked, view->count));
    return open_other(series, query->minus, query->minus_grows, view);
}

/* A variable's rows; none where it was not read. */
static struct tutti_plot_values rows_of(const struct file *file, size_t place)
{
    struct tutti_result_variable variable = {0};
    if (place >= file->curve_count || !file->curves[place].values)
        return (struct tutti_plot_values){0};
    tutti_result_describe(file->result, place, &variable);
    return (struct tutti_plot_values){
        .t = file->times, .v = file->curves[place].values, .count = file->rows, .held = variable.held};
}

/* The rows of the view's column c, and of the same one in the other result. Both move where one of them does. */
static void rows_of_both(const struct view *view, size_t c, struct tutti_plot_values rows[2])
{
    struct tutti_result_variable variable = {0};
    rows[0] = rows_of(view->file, view->picked[c]);
    rows[1] = (struct tutti_plot_values){0};
    if (view->other) {
        tutti_result_describe(view->file->result, view->picked[c], &variable);
        rows[1] = rows_of(view->other, tutti_result_find(view->other->result, variable.name));
        rows[0].held = rows[1].held = rows[0].held && rows[1].held;
    }
}

static void put_columns(struct tutti_text *out, const struct view *view)
{
    struct tutti_result_variable variable;
    tutti_text_append(out, "{\"columns\":[");
    for (size_t c = 0; c < view->count && tutti_result_describe(view->file->result, view->picked[c], &variable); c++) {
        tutti_text_append(out, c ? ",{\"name\":" : "{\"name\":");
        tutti_news_put_text(out, variable.name);
        tutti_text_append(out, ",\"unit\":");
        tutti_news_put_text(out, variable.unit);
        tutti_text_printf(out, ",\"held\":%s}", variable.held ? "true" : "false");
    }
    tutti_text_append(out, "]");
}

/* ---- lines ---- */

static void put_list(struct tutti_text *out, const double *first, size_t first_count, const double *second,
                     size_t second_count)
{
    tutti_text_append(out, "[");
    for (size_t i = 0; i < first_count + second_count; i++) {
        tutti_text_append(out, i ? "," : "");
        tutti_news_put_number(out, i < first_count ? first[i] : second[i - first_count]);
    }
    tutti_text_append(out, "]");
}

/* Jumps come first: so the last point of the list is that of the curve. Each jump is followed by an interruption. */
static void put_line(struct tutti_text *out, const struct tutti_plot_curve_data *data)
{
    const struct tutti_plot_line *jumps = &data->jumps, *line = &data->line;
    tutti_text_append(out, "{\"x\":");
    put_list(out, jumps->x, jumps->count, line->x, line->count);
    tutti_text_append(out, ",\"y\":");
    put_list(out, jumps->y, jumps->count, line->y, line->count);
    tutti_text_append(out, "}");
}

/* A logarithmic axis has no place for what is not positive. `copy` is the caller's. */
static bool leave_out_what_log_cannot_show(struct tutti_plot_values *rows, double **copy)
{
    *copy = malloc((rows->count + 1) * sizeof **copy);
    if (!*copy)
        return false;
    for (size_t i = 0; i < rows->count; i++)
        (*copy)[i] = rows->v[i] > 0 ? rows->v[i] : NAN;
    rows->v = *copy;
    return true;
}

static enum tutti_err draw_over_time(struct tutti_plot_curve_data *data, const struct tutti_web_series_query *query,
                                     const struct view *view, size_t c)
{
    struct tutti_plot_values rows[2], shown;
    double *t = NULL, *v = NULL, *positive = NULL;
    const struct file *file = view->file;
    double from = isnan(query->from) && file->rows ? file->times[0] : query->from,
           to = isnan(query->to) && file->rows ? file->times[file->rows - 1] : query->to;
    rows_of_both(view, c, rows);
    for (size_t i = 0; i < 2; i++)
        tutti_plot_values_cut(&rows[i], from, to);
    shown = rows[0];
    bool done = true;
    if (view->other) {
        size_t count = 0;
        done = tutti_plot_difference(&rows[0], &rows[1], &t, &v, &count);
        shown = (struct tutti_plot_values){.t = t, .v = v, .count = count, .held = rows[0].held};
    }
    if (done && query->log)
        done = leave_out_what_log_cannot_show(&shown, &positive);
    if (done && file->rows)
        tutti_plot_thin(data, &shown, from, to, query->points);
    free(t);
    free(v);
    free(positive);
    return done && !tutti_plot_curve_failed(data) ? TUTTI_OK : tutti_fail_memory();
}

/* Over another variable, in the order of time. */
static enum tutti_err draw_over(struct tutti_plot_curve_data *data, const struct view *view, size_t x, size_t c)
{
    struct tutti_plot_values across = rows_of(view->file, x), up = rows_of(view->file, view->picked[c]);
    if (across.count == up.count && up.count > 0)
        tutti_plot_thin_phase(data, up.t, across.v, up.v, up.count);
    return tutti_plot_curve_failed(data) ? tutti_fail_memory() : TUTTI_OK;
}

static enum tutti_err put_lines(struct tutti_text *out, const struct tutti_web_series_query *query,
                                const struct view *view)
{
    size_t x = query->over ? tutti_result_find(view->file->result, query->over) : 0;
    enum tutti_err err = TUTTI_OK;
    tutti_text_append(out, ",\"lines\":[");
    for (size_t c = 0; c < view->count && !err; c++) {
        struct tutti_plot_curve_data data = {0};
        err = query->over ? draw_over(&data, view, x, c) : draw_over_time(&data, query, view, c);
        tutti_text_append(out, c ? "," : "");
        put_line(out, &data);
        tutti_plot_line_fini(&data.line);
        tutti_plot_line_fini(&data.jumps);
    }
    tutti_text_append(out, "]");
    return err;
}

/* ---- values ---- */

static double value_at(const struct view *view, size_t c, double time)
{
    struct tutti_plot_values rows[2];
    rows_of_both(view, c, rows);
    double value = tutti_plot_values_at(&rows[0], time);
    return view->other ? value - tutti_plot_values_at(&rows[1], time) : value;
}

/* The end of the result, or, of a difference, of the one that ends first. */
static double end_of(const struct view *view)
{
    const struct file *file = view->file, *other = view->other;
    double end = file->rows ? file->times[file->rows - 1] : NAN;
    return other ? fmin(end, other->rows ? other->times[other->rows - 1] : NAN) : end;
}

static void put_values(struct tutti_text *out, const char *name, const struct view *view, const double *times,
                       size_t count)
{
    tutti_text_printf(out, ",\"%s\":[", name);
    for (size_t c = 0; c < view->count; c++) {
        tutti_text_append(out, c ? ",[" : "[");
        for (size_t i = 0; i < count; i++) {
            tutti_text_append(out, i ? "," : "");
            tutti_news_put_number(out, value_at(view, c, times[i]));
        }
        tutti_text_append(out, "]");
    }
    tutti_text_append(out, "]");
}

enum tutti_err tutti_web_series_values(struct tutti_web_series *series, const struct tutti_web_series_query *query,
                                       const double *times, size_t count, struct tutti_text *out)
{
    struct view view;
    pthread_mutex_lock(&series->mutex);
    enum tutti_err err = view_open(&view, series, query);
    if (!err) {
        put_columns(out, &view);
        put_values(out, "values", &view, times, count);
        tutti_text_append(out, "}");
        make_room(series, view.file);
    }
    pthread_mutex_unlock(&series->mutex);
    return err || !out->failed ? err : tutti_fail_memory();
}

static enum tutti_err read_over(struct tutti_web_series *series, const char *over, struct view *view)
{
    size_t place = over ? tutti_result_find(view->file->result, over) : view->file->curve_count;
    return place < view->file->curve_count ? read_curves(series, view->file, &place, 1) : TUTTI_OK;
}

enum tutti_err tutti_web_series_tell(struct tutti_web_series *series, const struct tutti_web_series_query *query,
                                     struct tutti_text *out)
{
    struct view view;
    pthread_mutex_lock(&series->mutex);
    enum tutti_err err = view_open(&view, series, query);
    if (!err)
        err = read_over(series, query->over, &view);
    if (!err) {
        const struct file *file = view.file;
        double end = end_of(&view);
        put_columns(out, &view);
        tutti_text_append(out, ",\"from\":");
        tutti_news_put_number(out, file->rows ? file->times[0] : NAN);
        tutti_text_append(out, ",\"to\":");
        tutti_news_put_number(out, file->rows ? file->times[file->rows - 1] : NAN);
        tutti_text_printf(out, ",\"rows\":%zu", file->rows);
        put_values(out, "last", &view, &end, 1);
        err = put_lines(out, query, &view);
        tutti_text_append(out, "}");
        make_room(series, view.file);
    }
    pthread_mutex_unlock(&series->mutex);
    return err || !out->failed ? err : tutti_fail_memory();
}
