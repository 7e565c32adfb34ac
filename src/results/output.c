/* SPDX-License-Identifier: MIT */
#include "results/output.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/crash.h"
#include "base/number.h"
#include "base/thread.h"
#include "base/wall_clock.h"
#include "results/record_file.h"
#include "results/row_writer.h"

/* --- words to the log */

static void warn_of_texts(const struct tt_output *output)
{
    const struct tt_column *first = NULL;
    const struct tutti_log *log = output->target.log;
    const char *extension = output->format->extension;
    size_t texts = 0;
    for (size_t i = 0; i < output->count && !output->format->holds_texts; i++) {
        enum tt_type type = output->columns[i].type;
        if (tt_type_is_text(type) && texts++ == 0)
            first = &output->columns[i];
    }
    if (texts == 1)
        tt_log(log, TUTTI_LOG_WARNING, output->target.origin,
               "'%s' is a text, which a %s file cannot hold: it is left out", first->name, extension);
    else if (texts > 1)
        tt_log(log, TUTTI_LOG_WARNING, output->target.origin,
               "'%s' and %zu more are texts, which a %s file cannot hold: they are left out", first->name, texts - 1,
               extension);
}

/* Returns true if a double may be unable to represent the values. */
static bool needs_64_bits(enum tt_type type)
{
    return type == TUTTI_TYPE_INT64 || type == TUTTI_TYPE_UINT64 || type == TUTTI_TYPE_ENUMERATION;
}

static bool has_long(const struct tt_output *output)
{
    for (size_t i = 0; i < output->count && !output->format->holds_texts; i++)
        if (needs_64_bits(output->columns[i].type))
            return true;
    return false;
}

/* Such a format stores doubles; from 2^53 on they represent only every second integer, then every fourth and so on. */
static void warn_of_rounded(struct tt_output *output, double t)
{
    for (size_t i = 0; i < output->count; i++) {
        const struct tt_column *column = &output->columns[i];
        if (!needs_64_bits(column->type) || fabs(tt_recorder_column_number(column)) < TUTTI_OUTPUT_LONG)
            continue;
        tt_log(output->target.log, TUTTI_LOG_WARNING, output->target.origin,
               "t = %s: '%s' is an integer of 2^53 or more, which a %s file rounds to a double; "
               "-o FILE.csv or FILE.jsonl has all digits",
               TIME(t), column->name, output->format->extension);
        output->has_long = false;
        return;
    }
}

/* Texts count as none. */
static bool output_are_finite(const double *values, size_t count)
{
    /* finite numbers add 0, all others make the sum non-finite: four sums, at the speed of memory */
    double zeros[4] = {0};
    size_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (size_t k = 0; k < 4; k++)
            zeros[k] += 0 * values[i + k];
    for (; i < count; i++)
        zeros[0] += 0 * values[i];
    return zeros[0] + zeros[1] + zeros[2] + zeros[3] == 0;
}

/* Since which row each column is not a finite number; NAN: it is one. The run continues, with a warning at the first one. */
static enum tutti_err watch_non_finite(struct tt_output *output, double t)
{
    if (__builtin_expect(!output->odd_since && output_are_finite(output->values, output->count), 1))
        return TUTTI_OK;
    bool first = !output->odd_since;
    if (first) {
        output->odd_since = calloc(output->count + 1, sizeof *output->odd_since);
        if (!output->odd_since)
            return tt_fail_memory();
    }
    bool warned = !first;
    for (size_t i = 0; i < output->count; i++) {
        const struct tt_column *column = &output->columns[i];
        bool odd = (column->type == TUTTI_TYPE_FLOAT64 && !isfinite(*(const double *)column->value)) ||
                   (column->type == TUTTI_TYPE_FLOAT32 && !isfinite(*(const float *)column->value));
        bool nan = odd && isnan(tt_recorder_column_number(column));
        bool was_odd = !first && !isnan(output->odd_since[i]);
        output->odd_since[i] = !odd ? NAN : was_odd ? output->odd_since[i] : t;
        if (odd && !warned)
            tt_log_unfiltered(output->target.log, TUTTI_LOG_WARNING, output->target.origin,
                              "'%s' is %s at t = %s; going on", output->columns[i].name,
                              nan ? "not a number (NaN)" : "infinite", TIME(t));
        warned = warned || odd;
    }
    return TUTTI_OK;
}

enum tutti_err tt_output_check_finite(const struct tt_output *output, double t)
{
    const struct tt_column *lost = NULL;
    double since = INFINITY;
    for (size_t i = 0; output->odd_since && i < output->count; i++) {
        bool stays = output->odd_since[i] > output->first_row && output->odd_since[i] < t;
        if (!stays || !(output->odd_since[i] < since))
            continue;
        since = output->odd_since[i];
        lost = &output->columns[i];
    }
    if (!lost)
        return TUTTI_OK;
    tt_fail(TUTTI_ERR_SOLVER,
            "'%s' is %s from t = %s to the end of the run, t = %s: its FMU has failed there, and rows from then on are "
            "wrong; use a smaller --step, or --interface me, and check its parameters",
            lost->name, isnan(tt_recorder_column_number(lost)) ? "not a number (NaN)" : "infinite", TIME(since),
            TIME(t));
    return tt_fail_about(TUTTI_ERR_SOLVER, NULL, NULL, since);
}

/* How much a column has grown, faster than the fourth power of the time: nearly everything that models do grows more
 * slowly, but for exponentials. A growth counts as MOST_RISE at most, so that a jump is none. */
struct tt_output_growth {
    double largest; /* its size so far, or 1; INFINITY: it is no Float64, and does not count */
    double growth;
    double since;
};

static const double FAR_LIMIT = 1e12, MOST_RISE = 1e3;

static bool has_grown(struct tt_output_growth *rise, double value, double allowance, double t)
{
    double size = fabs(value), ratio = 1;
    if (size > rise->largest) {
        ratio = fmin(size / rise->largest, MOST_RISE);
        rise->largest = size;
    }
    rise->growth *= ratio * allowance;
    if (rise->growth > 1)
        return rise->growth > FAR_LIMIT;
    rise->growth = 1;
    rise->since = t;
    return false;
}

/* Of the first value that explodes, though it is finite. */
static void output_warn_of_growth(struct tt_output *output, double t)
{
    double before = output->last_row - output->first_row, now = t - output->first_row;
    double part = now > before ? before / now : 1, allowance = part * part * part * part;
    output->last_row = t;
    for (size_t i = 0; i < output->count; i++) {
        if (__builtin_expect(!has_grown(&output->rises[i], output->values[i], allowance, t), 1))
            continue;
        const struct tt_column *column = &output->columns[i];
        tt_log_unfiltered(output->target.log, TUTTI_LOG_WARNING, output->target.origin,
                          "'%s' has grown without bound since t = %s, and is %.3g at t = %s; if the model does not do "
                          "that by itself, the run is not stable, and the result cannot be trusted: use a smaller "
                          "--step, another --coupling or --solver, or error control (--rtol)",
                          column->name, TIME(output->rises[i].since), *(const double *)column->value, TIME(t));
        free(output->rises);
        output->rises = NULL;
        return;
    }
}

/* FMUs have been seen that change a parameter which they call fixed. */
static void warn_of_changed_fixed(const struct tt_output *output)
{
    for (size_t i = 0; output->fixed && output->begun && i < output->count; i++) {
        double first = output->fixed[i], last = tt_recorder_column_number(&output->columns[i]);
        if (!output->columns[i].fixed || last == first || (isnan(last) && isnan(first)))
            continue;
        tt_log(output->target.log, TUTTI_LOG_WARNING, output->target.origin,
               "'%s' is a fixed parameter, but the FMU has changed it from %s to %s: a %s file has the first "
               "value only; -o FILE.csv has all",
               output->columns[i].name, NUMBER(first), NUMBER(last), output->format->extension);
        return;
    }
}

/* --- the file */

static void output_emergency(void *context)
{
    struct tt_output *output = context;
    tt_output_flusher_halt(output->flusher);
    output->format->emergency(output->recorder);
}

/* `mark` is where the format has put its own; NULL: a new file. */
static enum tutti_err output_open_file(struct tt_output *output, struct tt_byte_reader *mark)
{
    const struct tt_record_format *format;
    TRY(tt_recorder_find_format(&format, output->target.path));
    TRY(mark ? format->reopen(&output->recorder, output->target.path, output->columns, output->count, mark)
             : format->open(&output->recorder, output->target.path, output->columns, output->count));
    output->format = format;
    output->has_long = has_long(output);
    if (!mark)
        warn_of_texts(output);
    if (format->fixed_once && !output->fixed) {
        output->begun = false; /* what is fixed is noted with the first row of this file */
        output->fixed = calloc(output->count + 1, sizeof *output->fixed);
        if (!output->fixed)
            return tt_fail_memory();
    }
    TRY(tt_crash_add(output_emergency, output));
    if (output->target.by_thread && format->any_thread)
        output->flusher = tt_output_flusher_new(format, output->recorder);
    return TUTTI_OK;
}

/* --- a row as numbers */

static bool output_is_plain(const struct tt_column *column)
{
    return column->type == TUTTI_TYPE_FLOAT64 && !column->negated;
}

/* Values of a unit's variables lie together as a rule: columns become few pieces of memory. */
static enum tutti_err output_group_columns(struct tt_output *output)
{
    output->values = output->memory = calloc(output->count + 1, sizeof *output->values);
    output->runs = calloc(output->count + 1, sizeof *output->runs);
    if (!output->memory || !output->runs)
        return tt_fail_memory();
    for (size_t i = 0; i < output->count; i++) {
        const struct tt_column *column = &output->columns[i];
        struct tt_output_run *last = output->run_count > 0 ? &output->runs[output->run_count - 1] : NULL;
        if (last && last->from && output_is_plain(column) && last->from + last->count == (const double *)column->value)
            last->count++;
        else
            output->runs[output->run_count++] =
                (struct tt_output_run){output_is_plain(column) ? column->value : NULL, i, 1};
    }
    return TUTTI_OK;
}

static void output_gather_values(struct tt_output *output)
{
    const struct tt_row_room *room = output->target.room;
    output->values = room && room->values && room->of == output->target.watcher ? room->values : output->memory;
    for (size_t r = 0; r < output->run_count; r++) {
        const struct tt_output_run *run = &output->runs[r];
        double *to = output->values + run->first;
        if (!run->from)
            *to = tt_recorder_column_number(&output->columns[run->first]);
        else
            for (size_t i = 0; i < run->count; i++)
                to[i] = run->from[i];
    }
}

/* --- the watcher */

/* Keeps the error of a call that began when tt_fail_count() was `before`. */
static enum tutti_err output_keep_error(enum tutti_err err, unsigned long before)
{
    return tt_fail_without_message(err, before, "the watcher ended the run, and did not say why (tutti_extra_fail)");
}

static enum tutti_err output_report_columns(const struct tt_output *output)
{
    const struct tutti_watcher *watcher = output->target.watcher;
    struct tutti_recorded *shown = calloc(output->count + 1, sizeof *shown);
    if (!shown)
        return tt_fail_memory();
    for (size_t i = 0; i < output->count; i++)
        shown[i] = (struct tutti_recorded){.name = output->columns[i].name,
                                           .unit = output->columns[i].unit,
                                           .description = output->columns[i].description,
                                           .type = tt_type_name(output->columns[i].type),
                                           .is_text = tt_type_is_text(output->columns[i].type)};
    unsigned long before = tt_fail_count();
    enum tutti_err err = output_keep_error(watcher->columns(watcher->context, shown, output->count), before);
    free(shown);
    return err;
}

static enum tutti_err output_report_text(struct tt_output *output, size_t column)
{
    const struct tt_column *shown = &output->columns[column];
    struct tt_row_cell cell = {.value = shown->value};
    const char *text = shown->type == TUTTI_TYPE_STRING ? *(const char *const *)shown->value : NULL;
    if (shown->type == TUTTI_TYPE_BINARY) {
        tt_row_writer_measure_cell(&cell, shown->type);
        tt_bytes_reset(&output->hexadecimal);
        char *at = tt_bytes_extend(&output->hexadecimal, 2 * cell.length + 1);
        if (!at)
            return tt_fail_memory();
        *tt_row_writer_put_binary(at, &cell) = '\0';
        text = at;
    }
    unsigned long before = tt_fail_count();
    return output_keep_error(output->target.watcher->text(output->target.watcher->context, column, text ? text : ""),
                             before);
}

static enum tutti_err output_report_row(struct tt_output *output, double t)
{
    const struct tutti_watcher *watcher = output->target.watcher;
    unsigned long before;
    for (size_t i = 0; output->tells_texts && i < output->count; i++)
        if (tt_type_is_text(output->columns[i].type))
            TRY(output_report_text(output, i));
        else if (needs_64_bits(output->columns[i].type) && output->target.tells_digits &&
                 fabs(output->values[i]) >= TUTTI_OUTPUT_LONG) {
            char digits[TUTTI_NUMBER_MAX + 2];
            const struct tt_row_cell cell = tt_row_writer_cell(&output->columns[i]);
            *cell.put(digits, &cell) = '\0';
            before = tt_fail_count();
            TRY(output_keep_error(watcher->text(watcher->context, i, digits), before));
        }
    before = tt_fail_count();
    return output_keep_error(watcher->row(watcher->context, t, output->values), before);
}

static enum tutti_err open_watch(struct tt_output *output)
{
    for (size_t i = 0; output->target.watcher->text && i < output->count; i++)
        output->tells_texts = output->tells_texts || tt_type_is_text(output->columns[i].type) ||
                              (output->target.tells_digits && needs_64_bits(output->columns[i].type));
    struct tt_seen_rows *watched = output->target.watched;
    bool told = watched && watched->columns;
    if (watched)
        watched->columns = true;
    return output->target.watcher->columns && !told ? output_report_columns(output) : TUTTI_OK;
}

/* --- resumed runs */

static void output_put_numbers(struct tt_byte_writer *mark, const double *numbers, size_t n)
{
    tt_bytes_put_u8(mark, numbers != NULL);
    for (size_t i = 0; numbers && i < n; i++)
        tt_bytes_put_double(mark, numbers[i]);
}

/* NULL if none were put. */
static enum tutti_err get_numbers(struct tt_byte_reader *mark, double **numbers, size_t n)
{
    *numbers = NULL;
    if (tt_bytes_get_u8(mark) == 0)
        return TUTTI_OK;
    mark->bad = mark->bad || n > (size_t)(mark->end - mark->at) / sizeof(double);
    if (mark->bad)
        return TUTTI_OK; /* reported later */
    *numbers = calloc(n + 1, sizeof **numbers);
    if (!*numbers)
        return tt_fail_memory();
    for (size_t i = 0; i < n; i++)
        (*numbers)[i] = tt_bytes_get_double(mark);
    return TUTTI_OK;
}

/* A rise is three numbers. */
_Static_assert(sizeof(struct tt_output_growth) == 3 * sizeof(double), "nothing between them");

static enum tutti_err output_resume(struct tt_output *output, struct tt_bytes from)
{
    const char *path = output->target.path, *bytes = (const char *)from.data;
    struct tt_byte_reader mark = {.at = bytes, .end = bytes + from.size};
    uint64_t count = tt_bytes_get_u64(&mark);
    if (count != output->count)
        return tt_fail(TUTTI_ERR_FORMAT,
                       "the interrupted run recorded %llu columns, and this one has %zu; choose the same variables "
                       "(--record), or start the run anew",
                       (unsigned long long)count, output->count);

    double *rises;
    output->begun = tt_bytes_get_u8(&mark) != 0;
    output->rows = tt_bytes_get_u64(&mark);
    output->first_row = tt_bytes_get_double(&mark);
    output->last_row = tt_bytes_get_double(&mark);
    TRY(get_numbers(&mark, &rises, 3 * output->count));
    output->rises = (struct tt_output_growth *)rises;
    TRY(get_numbers(&mark, &output->fixed, output->count));
    TRY(get_numbers(&mark, &output->odd_since, output->count));

    bool stays = tt_bytes_get_u8(&mark) != 0;
    if (mark.bad)
        return tt_record_file_fail_mark(path ? path : "the rows");
    if (output->target.watcher)
        TRY(open_watch(output));
    if (!path || output->rows == 0) /* then the first row makes the file, as it would have done */
        return TUTTI_OK;
    stays = stays && !tt_recorder_is_stream(path);
    TRY(output_open_file(output, stays ? &mark : NULL));
    if (!stays)
        tt_log(output->target.log, TUTTI_LOG_WARNING, output->target.origin,
               "%s begins anew, with the rows after the checkpoint: %s",
               strcmp(path, "-") == 0 ? "standard output" : path,
               tt_recorder_is_stream(path) ? "what went to a pipe or a device before cannot be taken back"
                                           : "the interrupted run wrote no result file");
    return TUTTI_OK;
}

/* --- both */

enum tutti_err tt_output_open(struct tt_output *output, const struct tt_output_target *target,
                              const struct tt_column *columns, size_t count)
{
    *output = (struct tt_output){.target = *target, .columns = columns, .count = count};
    output->target.resume = (struct tt_bytes){0}; /* it is borrowed no longer than this call */
    TRY(output_group_columns(output));
    if (target->resume.size > 0)
        return output_resume(output, target->resume);
    return target->watcher ? open_watch(output) : TUTTI_OK;
}

enum tutti_err tt_output_mark(struct tt_output *output, struct tt_byte_writer *mark)
{
    bool stays = output->format && !tt_recorder_is_stream(output->target.path);
    tt_bytes_put_u64(mark, output->count);

    /* The rows before, for the checks of later rows. */
    tt_bytes_put_u8(mark, output->begun);
    tt_bytes_put_u64(mark, output->rows);
    tt_bytes_put_double(mark, output->first_row);
    tt_bytes_put_double(mark, output->last_row);
    output_put_numbers(mark, (const double *)output->rises, 3 * output->count);
    output_put_numbers(mark, output->fixed, output->count);
    output_put_numbers(mark, output->odd_since, output->count);

    tt_bytes_put_u8(mark, stays);
    tt_output_flusher_lock(output->flusher);
    enum tutti_err err = stays            ? output->format->mark(output->recorder, mark)
                         : output->format ? output->format->flush(output->recorder)
                                          : TUTTI_OK;
    tt_output_flusher_unlock(output->flusher);
    return !err && mark->failed ? tt_fail_memory() : err;
}

enum tutti_err tt_output_sync(struct tt_output *output)
{
    return output->format ? output->format->sync(output->recorder) : TUTTI_OK;
}

/* Passes the row to the recorder, and flushes if the last flush is older than a moment: an end of the process without
 * handlers (_exit, SIGKILL) then loses only the rows of a moment. */
static enum tutti_err record_row(struct tt_output *output, double t)
{
    int64_t tick = tt_wall_clock_tick();
    if (output->has_long)
        warn_of_rounded(output, t);
    TRY(output->format->row(output->recorder, t));
    if (tick == output->flushed || !output->format->any_thread) /* other formats have a thread or are slow */
        return TUTTI_OK;
    output->flushed = tick;
    return output->format->flush(output->recorder);
}

/* A file is made new with its first row: a run that fails before it has one does not cost an earlier result. */
static enum tutti_err output_start(struct tt_output *output, double t)
{
    if (output->target.path && !output->format)
        TRY(output_open_file(output, NULL));

    free(output->rises);
    output->rises = calloc(output->count + 1, sizeof *output->rises);
    if (!output->rises)
        return tt_fail_memory();
    for (size_t i = 0; i < output->count; i++)
        output->rises[i] =
            (struct tt_output_growth){output->columns[i].type == TUTTI_TYPE_FLOAT64 ? 1 : INFINITY, 1, t};
    output->first_row = output->last_row = t;

    for (size_t i = 0; output->fixed && i < output->count; i++)
        output->fixed[i] = tt_recorder_column_number(&output->columns[i]);
    output->begun = true;
    return TUTTI_OK;
}

enum tutti_err tt_output_row(struct tt_output *output, double t)
{
    output_gather_values(output);
    TRY(watch_non_finite(output, t));
    if (__builtin_expect(!output->begun, 0))
        TRY(output_start(output, t));
    if (output->rises)
        output_warn_of_growth(output, t);
    if (output->format) {
        tt_output_flusher_lock(output->flusher);
        enum tutti_err err = record_row(output, t);
        tt_output_flusher_unlock(output->flusher);
        TRY(err);
    }
    output->rows++;

    /* The watcher may have got this row before. */
    struct tt_seen_rows *watched = output->target.watched;
    if (!output->target.watcher || (watched && output->rows <= watched->rows))
        return TUTTI_OK;
    if (watched)
        watched->rows = output->rows;
    return output_report_row(output, t);
}

enum tutti_err tt_output_flush(struct tt_output *output)
{
    if (!output->format)
        return TUTTI_OK;
    tt_output_flusher_lock(output->flusher);
    enum tutti_err err = output->format->flush(output->recorder);
    tt_output_flusher_unlock(output->flusher);
    return err;
}

enum tutti_err tt_output_close(struct tt_output *output)
{
    enum tutti_err err = TUTTI_OK;
    if (output->format) {
        tt_output_flusher_free(output->flusher);
        output->flusher = NULL;
        tt_crash_remove(output_emergency, output);
        warn_of_changed_fixed(output);
        err = output->format->close(output->recorder);
    }
    free(output->fixed);
    free(output->memory);
    free(output->runs);
    tt_bytes_fini(&output->hexadecimal);
    free(output->rises);
    free(output->odd_since);
    *output = (struct tt_output){0};
    return err;
}

enum { INTERVAL = 250000000, SECOND = 1000000000 }; /* nanoseconds */

struct tt_output_flusher {
    const struct tt_record_format *format;
    struct tt_recorder *recorder;
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows, and of the recorder */
    pthread_cond_t end;
    bool used; /* the recorder was, since it was flushed */
    bool over;
};

static void *output_flusher_run(void *context)
{
    struct tt_output_flusher *flusher = context;
    pthread_mutex_lock(&flusher->lock);
    while (!flusher->over) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += INTERVAL;
        until.tv_sec += until.tv_nsec / SECOND;
        until.tv_nsec %= SECOND;
        pthread_cond_timedwait(&flusher->end, &flusher->lock, &until);
        if (!flusher->used || flusher->over)
            continue;
        flusher->used = false;
        (void)flusher->format->flush(flusher->recorder); /* a failure is the next row's, too */
    }
    pthread_mutex_unlock(&flusher->lock);
    return NULL;
}

struct tt_output_flusher *tt_output_flusher_new(const struct tt_record_format *format, struct tt_recorder *recorder)
{
    struct tt_output_flusher *flusher = calloc(1, sizeof *flusher);
    pthread_condattr_t monotonic;
    if (!flusher)
        return NULL;
    flusher->format = format;
    flusher->recorder = recorder;
    pthread_mutex_init(&flusher->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&flusher->end, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (tt_thread_start(&flusher->thread, output_flusher_run, flusher) == 0)
        return flusher;
    pthread_cond_destroy(&flusher->end);
    pthread_mutex_destroy(&flusher->lock);
    free(flusher);
    return NULL;
}

void tt_output_flusher_lock(struct tt_output_flusher *flusher)
{
    if (flusher)
        pthread_mutex_lock(&flusher->lock);
}

void tt_output_flusher_unlock(struct tt_output_flusher *flusher)
{
    if (!flusher)
        return;
    flusher->used = true;
    pthread_mutex_unlock(&flusher->lock);
}

void tt_output_flusher_halt(struct tt_output_flusher *flusher)
{
    enum { MOST_TRIES = 200 };
    const struct timespec moment = {.tv_nsec = 1000000};
    if (!flusher || tt_crash_is_last_thread())
        return;
    for (int i = 0; i < MOST_TRIES && pthread_mutex_trylock(&flusher->lock) != 0;
         i++) /* perhaps it is this thread's own */
        nanosleep(&moment, NULL);
}

void tt_output_flusher_free(struct tt_output_flusher *flusher)
{
    if (!flusher)
        return;
    pthread_mutex_lock(&flusher->lock);
    flusher->over = true;
    pthread_cond_signal(&flusher->end);
    pthread_mutex_unlock(&flusher->lock);
    pthread_join(flusher->thread, NULL);
    pthread_cond_destroy(&flusher->end);
    pthread_mutex_destroy(&flusher->lock);
    free(flusher);
}
