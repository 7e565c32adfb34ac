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

enum { BLOCK = 256, MOST_COLUMNS = 400 };
static const size_t BUDGET = (size_t)1 << 30;
static const double FRESH = 1; /* seconds for which a file that grows is not read again */

/* A variable of a file, as far as it was read. */
struct curve {
    double *values;           /* NULL: it was not read */
    double *least, *greatest; /* of blocks */
    size_t rows;              /* that were read */
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
    for (size_t i = 0; i < count; i++) {
        free(curves[i].values);
        free(curves[i].least);
        free(curves[i].greatest);
    }
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

static enum tutti_err find_file(struct tutti_web_series *series, const char *path, struct file **out)
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
    else if (!is_as_it_was(file, &st) && tutti_clock_now() - file->opened > FRESH)
        err = renew(series, file, path, &st, &file);
    if (!file)
        return err ? err : TUTTI_ERR_MEMORY;
    file->used = tutti_clock_now();
    *out = file;
    return TUTTI_OK;
}

/* ---- curves ---- */

static void find_extremes(const struct file *file, struct curve *curve, size_t first)
{
    for (size_t block = first / BLOCK; block * BLOCK < file->rows; block++) {
        size_t end = (block + 1) * BLOCK < file->rows ? (block + 1) * BLOCK : file->rows;
        double least = NAN, greatest = NAN;
        for (size_t i = block * BLOCK; i < end; i++) {
            least = fmin(least, curve->values[i]);
            greatest = fmax(greatest, curve->values[i]);
        }
        curve->least[block] = least;
        curve->greatest[block] = greatest;
    }
}

static size_t bytes_of(size_t rows)
{
    return (rows + 1 + 2 * (rows / BLOCK + 1)) * sizeof(double);
}

static bool extend(double **list, size_t count)
{
    double *longer = realloc(*list, count * sizeof *longer);
    if (longer)
        *list = longer;
    return longer != NULL;
}

/* Room for the rows that the file has now. */
static bool make_longer(struct tutti_web_series *series, struct file *file, struct curve *curve)
{
    size_t blocks = file->rows / BLOCK + 1, bytes = bytes_of(file->rows) - (curve->values ? bytes_of(curve->rows) : 0);
    file->bytes += bytes;
    series->bytes += bytes;
    return extend(&curve->values, file->rows + 1) && extend(&curve->least, blocks) && extend(&curve->greatest, blocks);
}

/* A curve that has room for the file's rows. */
static void forget(struct tutti_web_series *series, struct file *file, struct curve *curve)
{
    free(curve->values);
    free(curve->least);
    free(curve->greatest);
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
        find_extremes(file, curve, known);
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

/* The first row whose time is not before t. */
static size_t row_at(const struct file *file, double t)
{
    size_t low = 0, high = file->rows;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (file->times[middle] < t)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A picture's rows, with one more on each side, so that curves reach its edges; in pieces. */
struct pieces {
    size_t first, end, count;
};

static size_t piece_begin(const struct pieces *pieces, size_t piece)
{
    return pieces->first + (size_t)((double)(pieces->end - pieces->first) * (double)piece / (double)pieces->count);
}

static struct pieces cut(const struct file *file, const struct tutti_web_series_query *query)
{
    struct pieces pieces = {0, file->rows, 0};
    if (!isnan(query->from)) {
        pieces.first = row_at(file, query->from);
        pieces.first -= pieces.first > 0;
    }
    if (!isnan(query->to)) {
        pieces.end = row_at(file, nextafter(query->to, INFINITY));
        pieces.end += pieces.end < file->rows;
    }
    size_t rows = pieces.end > pieces.first ? pieces.end - pieces.first : 0;
    pieces.end = pieces.first + rows;
    pieces.count = rows < query->points ? rows : query->points;
    return pieces;
}

static double extreme(const struct curve *curve, size_t begin, size_t end, bool least)
{
    const double *blocks = least ? curve->least : curve->greatest;
    double best = NAN;
    while (begin < end) {
        bool whole = begin % BLOCK == 0 && end - begin >= BLOCK;
        double value = whole ? blocks[begin / BLOCK] : curve->values[begin];
        best = least ? fmin(best, value) : fmax(best, value);
        begin += whole ? BLOCK : 1;
    }
    return best;
}

enum which { LEAST, GREATEST, LAST };

static void put_list(struct tutti_text *out, const struct curve *curve, const struct pieces *pieces, enum which which)
{
    tutti_text_append(out, "[");
    for (size_t i = 0; i < pieces->count; i++) {
        size_t begin = piece_begin(pieces, i), end = piece_begin(pieces, i + 1);
        tutti_text_append(out, i ? "," : "");
        tutti_news_put_number(out, which == LAST ? curve->values[end - 1] : extreme(curve, begin, end, which == LEAST));
    }
    tutti_text_append(out, "]");
}

static void put_lists(struct tutti_text *out, const char *name, const struct file *file, const size_t *picked,
                      size_t count, const struct pieces *pieces, enum which which)
{
    tutti_text_printf(out, ",\"%s\":[", name);
    for (size_t c = 0; c < count; c++) {
        tutti_text_append(out, c ? "," : "");
        put_list(out, &file->curves[picked[c]], pieces, which);
    }
    tutti_text_append(out, "]");
}

static void put_columns(struct tutti_text *out, const struct file *file, const size_t *picked, size_t count)
{
    struct tutti_result_variable variable;
    tutti_text_append(out, "{\"columns\":[");
    for (size_t c = 0; c < count && tutti_result_describe(file->result, picked[c], &variable); c++) {
        tutti_text_append(out, c ? ",{\"name\":" : "{\"name\":");
        tutti_news_put_text(out, variable.name);
        tutti_text_append(out, ",\"unit\":");
        tutti_news_put_text(out, variable.unit);
        tutti_text_printf(out, ",\"held\":%s}", variable.held ? "true" : "false");
    }
    tutti_text_append(out, "]");
}

static void put_all(struct tutti_text *out, const struct file *file, const size_t *picked, size_t count,
                    const struct pieces *pieces)
{
    put_columns(out, file, picked, count);
    tutti_text_append(out, ",\"from\":");
    tutti_news_put_number(out, file->rows ? file->times[0] : NAN);
    tutti_text_append(out, ",\"to\":");
    tutti_news_put_number(out, file->rows ? file->times[file->rows - 1] : NAN);
    tutti_text_printf(out, ",\"rows\":%zu,\"times\":[", file->rows);
    for (size_t i = 0; i < pieces->count; i++) {
        tutti_text_append(out, i ? "," : "");
        tutti_news_put_number(out, file->times[piece_begin(pieces, i)]);
    }
    tutti_text_append(out, "]");
    put_lists(out, "least", file, picked, count, pieces, LEAST);
    put_lists(out, "greatest", file, picked, count, pieces, GREATEST);
    put_lists(out, "values", file, picked, count, pieces, LAST);
    tutti_text_append(out, "}");
}

enum tutti_err tutti_web_series_tell(struct tutti_web_series *series, const struct tutti_web_series_query *query,
                                     struct tutti_text *out)
{
    size_t picked[MOST_COLUMNS], count = 0;
    struct file *file = NULL;
    pthread_mutex_lock(&series->mutex);
    enum tutti_err err = find_file(series, query->file, &file);
    if (file) {
        count = pick(file, query->columns, picked);
        err = read_curves(series, file, picked, count);
    }
    if (file && !err) {
        struct pieces pieces = cut(file, query);
        put_all(out, file, picked, count, &pieces);
        make_room(series, file);
    }
    pthread_mutex_unlock(&series->mutex);
    return err || !out->failed ? err : tutti_fail_memory();
}
