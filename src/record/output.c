/* SPDX-License-Identifier: MIT */
#include "record/output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/crash.h"
#include "base/number.h"
#include "record/cell.h"
#include "record/file.h"
#include "record/flusher.h"

/* --- words to the log */

static void warn_of_texts(const struct tutti_output *output)
{
    const struct tutti_column *first = NULL;
    const struct tutti_log *log = output->target.log;
    const char *extension = output->format->extension;
    size_t texts = 0;
    for (size_t i = 0; i < output->count && !output->format->holds_texts; i++) {
        enum tutti_type type = output->columns[i].type;
        if (tutti_type_is_text(type) && texts++ == 0)
            first = &output->columns[i];
    }
    if (texts == 1)
        tutti_log_printf(log, TUTTI_LOG_WARNING, output->target.origin,
                         "'%s' is a text, which a %s file cannot hold: it is left out", first->name, extension);
    else if (texts > 1)
        tutti_log_printf(log, TUTTI_LOG_WARNING, output->target.origin,
                         "'%s' and %zu more are texts, which a %s file cannot hold: they are left out", first->name,
                         texts - 1, extension);
}

/* May a double not hold the values? */
static bool is_long(enum tutti_type type)
{
    return type == TUTTI_TYPE_INT64 || type == TUTTI_TYPE_UINT64 || type == TUTTI_TYPE_ENUMERATION;
}

static bool has_long(const struct tutti_output *output)
{
    for (size_t i = 0; i < output->count && !output->format->holds_texts; i++)
        if (is_long(output->columns[i].type))
            return true;
    return false;
}

/* The values of such a format are doubles, of which each even number from 2^53 on is one, then each fourth and so on. */
static void warn_of_rounded(struct tutti_output *output, double t)
{
    for (size_t i = 0; i < output->count; i++) {
        const struct tutti_column *column = &output->columns[i];
        if (!is_long(column->type) || fabs(tutti_column_number(column)) < TUTTI_OUTPUT_LONG)
            continue;
        tutti_log_printf(output->target.log, TUTTI_LOG_WARNING, output->target.origin,
                         "t = %s: '%s' is an integer of 2^53 or more, which a %s file rounds to a double; "
                         "-o FILE.csv or FILE.jsonl has all digits",
                         TIME(t), column->name, output->format->extension);
        output->has_long = false;
        return;
    }
}

static bool is_odd(const struct tutti_column *column)
{
    return (column->type == TUTTI_TYPE_FLOAT64 && !isfinite(*(const double *)column->value)) ||
           (column->type == TUTTI_TYPE_FLOAT32 && !isfinite(*(const float *)column->value));
}

/* Texts count as none. */
static bool are_finite(const double *values, size_t count)
{
    double zeros[4] = {0}; /* each finite number adds nothing, and the others stay: four sums, as fast as memory */
    size_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (size_t k = 0; k < 4; k++)
            zeros[k] += 0 * values[i + k];
    for (; i < count; i++)
        zeros[0] += 0 * values[i];
    return zeros[0] + zeros[1] + zeros[2] + zeros[3] == 0;
}

/* Since which row each column is not a finite number; NAN: it is one. The run continues, with a warning at the first one. */
static enum tutti_err watch_odd(struct tutti_output *output, double t)
{
    if (__builtin_expect(!output->odd_since && are_finite(output->values, output->count), 1))
        return TUTTI_OK;
    bool first = !output->odd_since;
    if (first) {
        output->odd_since = calloc(output->count + 1, sizeof *output->odd_since);
        if (!output->odd_since)
            return tutti_fail_memory();
    }
    bool warned = !first;
    for (size_t i = 0; i < output->count; i++) {
        bool odd = is_odd(&output->columns[i]), nan = odd && isnan(tutti_column_number(&output->columns[i]));
        bool was_odd = !first && !isnan(output->odd_since[i]);
        output->odd_since[i] = !odd ? NAN : was_odd ? output->odd_since[i] : t;
        if (odd && !warned)
            tutti_log_insist(output->target.log, TUTTI_LOG_WARNING, output->target.origin,
                             "'%s' is %s at t = %s; going on", output->columns[i].name,
                             nan ? "not a number (NaN)" : "infinite", TIME(t));
        warned = warned || odd;
    }
    return TUTTI_OK;
}

enum tutti_err tutti_output_conclude(const struct tutti_output *output, double t)
{
    const struct tutti_column *lost = NULL;
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
    tutti_fail(
        TUTTI_ERR_SOLVER,
        "'%s' is %s from t = %s to the end of the run, t = %s: its FMU has failed there, and rows from then on are "
        "wrong; use a smaller --step, or --interface me, and check its parameters",
        lost->name, isnan(tutti_column_number(lost)) ? "not a number (NaN)" : "infinite", TIME(since), TIME(t));
    return tutti_fail_about(TUTTI_ERR_SOLVER, NULL, NULL, since);
}

/* How much a column has grown, faster than the fourth power of the time: nearly everything that models do grows more
 * slowly, but for exponentials. A growth counts as MOST_RISE at most, so that a jump is none. */
struct tutti_rise {
    double largest; /* its size so far, or 1; INFINITY: it is no Float64, and does not count */
    double growth;
    double since;
};

static const double FAR_LIMIT = 1e12, MOST_RISE = 1e3;

static bool has_risen(struct tutti_rise *rise, double value, double allowance, double t)
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
static void warn_of_growth(struct tutti_output *output, double t)
{
    double before = output->last_row - output->first_row, now = t - output->first_row;
    double part = now > before ? before / now : 1, allowance = part * part * part * part;
    output->last_row = t;
    for (size_t i = 0; i < output->count; i++) {
        if (__builtin_expect(!has_risen(&output->rises[i], output->values[i], allowance, t), 1))
            continue;
        const struct tutti_column *column = &output->columns[i];
        tutti_log_insist(output->target.log, TUTTI_LOG_WARNING, output->target.origin,
                         "'%s' has grown without bound since t = %s, and is %.3g at t = %s; if the model does not do "
                         "that by itself, the run is not stable, and the result cannot be trusted: use a smaller "
                         "--step, another --coupling or --solver, or error control (--rtol)",
                         column->name, TIME(output->rises[i].since), *(const double *)column->value, TIME(t));
        free(output->rises);
        output->rises = NULL;
        return;
    }
}

static enum tutti_err watch_growth(struct tutti_output *output, double t)
{
    free(output->rises);
    output->rises = calloc(output->count + 1, sizeof *output->rises);
    if (!output->rises)
        return tutti_fail_memory();
    for (size_t i = 0; i < output->count; i++)
        output->rises[i] = (struct tutti_rise){output->columns[i].type == TUTTI_TYPE_FLOAT64 ? 1 : INFINITY, 1, t};
    output->first_row = output->last_row = t;
    return TUTTI_OK;
}

static void note_fixed(struct tutti_output *output)
{
    for (size_t i = 0; output->fixed && i < output->count; i++)
        output->fixed[i] = tutti_column_number(&output->columns[i]);
    output->begun = true;
}

/* FMUs have been seen that change a parameter which they call fixed. */
static void warn_of_changed(const struct tutti_output *output)
{
    for (size_t i = 0; output->fixed && output->begun && i < output->count; i++) {
        double first = output->fixed[i], last = tutti_column_number(&output->columns[i]);
        if (!output->columns[i].fixed || last == first || (isnan(last) && isnan(first)))
            continue;
        tutti_log_printf(output->target.log, TUTTI_LOG_WARNING, output->target.origin,
                         "'%s' is a fixed parameter, but the FMU has changed it from %s to %s: a %s file has the first "
                         "value only; -o FILE.csv has all",
                         output->columns[i].name, NUMBER(first), NUMBER(last), output->format->extension);
        return;
    }
}

/* --- the file */

static void emergency(void *context)
{
    struct tutti_output *output = context;
    tutti_flusher_halt(output->flusher);
    output->format->emergency(output->recorder);
}

static void warn_of_rest(const struct tutti_output *output)
{
    const char *path = output->target.path;
    tutti_log_printf(output->target.log, TUTTI_LOG_WARNING, output->target.origin,
                     "%s begins anew, with the rows after the checkpoint: %s",
                     strcmp(path, "-") == 0 ? "standard output" : path,
                     tutti_record_is_stream(path) ? "what went to a pipe or a device before cannot be taken back"
                                                  : "the interrupted run wrote no result file");
}

/* `mark` is where the format has put its own; NULL: a new file. */
static enum tutti_err open_file(struct tutti_output *output, struct tutti_unparcel *mark)
{
    const struct tutti_record_format *format;
    TRY(tutti_record_format_for(&format, output->target.path));
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
            return tutti_fail_memory();
    }
    TRY(tutti_crash_add(emergency, output));
    if (output->target.by_thread && format->any_thread)
        output->flusher = tutti_flusher_new(format, output->recorder);
    return TUTTI_OK;
}

static enum tutti_err close_file(struct tutti_output *output)
{
    tutti_flusher_free(output->flusher);
    output->flusher = NULL;
    tutti_crash_remove(emergency, output);
    warn_of_changed(output);
    return output->format->close(output->recorder);
}

/* --- a row as numbers */

static bool is_plain(const struct tutti_column *column)
{
    return column->type == TUTTI_TYPE_FLOAT64 && !column->negated;
}

/* Values of a unit's variables lie together as a rule: columns become few pieces of memory. */
static enum tutti_err lay_out(struct tutti_output *output)
{
    output->values = output->memory = calloc(output->count + 1, sizeof *output->values);
    output->runs = calloc(output->count + 1, sizeof *output->runs);
    if (!output->memory || !output->runs)
        return tutti_fail_memory();
    for (size_t i = 0; i < output->count; i++) {
        const struct tutti_column *column = &output->columns[i];
        struct tutti_output_run *last = output->run_count > 0 ? &output->runs[output->run_count - 1] : NULL;
        if (last && last->from && is_plain(column) && last->from + last->count == (const double *)column->value)
            last->count++;
        else
            output->runs[output->run_count++] =
                (struct tutti_output_run){is_plain(column) ? column->value : NULL, i, 1};
    }
    return TUTTI_OK;
}

static void take_values(struct tutti_output *output)
{
    const struct tutti_row_room *room = output->target.room;
    output->values = room && room->values && room->of == output->target.watcher ? room->values : output->memory;
    for (size_t r = 0; r < output->run_count; r++) {
        const struct tutti_output_run *run = &output->runs[r];
        double *to = output->values + run->first;
        if (!run->from)
            *to = tutti_column_number(&output->columns[run->first]);
        else
            for (size_t i = 0; i < run->count; i++)
                to[i] = run->from[i];
    }
}

/* --- the watcher */

/* What it returned from a call that began when tutti_fail_count() was `before`. */
static enum tutti_err conclude(enum tutti_err err, unsigned long before)
{
    return tutti_fail_unsaid(err, before, "the watcher ended the run, and did not say why (tutti_extra_fail)");
}

static enum tutti_err tell_columns(const struct tutti_output *output)
{
    const struct tutti_watcher *watcher = output->target.watcher;
    struct tutti_recorded *shown = calloc(output->count + 1, sizeof *shown);
    if (!shown)
        return tutti_fail_memory();
    for (size_t i = 0; i < output->count; i++)
        shown[i] = (struct tutti_recorded){.name = output->columns[i].name,
                                           .unit = output->columns[i].unit,
                                           .description = output->columns[i].description,
                                           .type = tutti_type_name(output->columns[i].type),
                                           .is_text = tutti_type_is_text(output->columns[i].type)};
    unsigned long before = tutti_fail_count();
    enum tutti_err err = conclude(watcher->columns(watcher->context, shown, output->count), before);
    free(shown);
    return err;
}

static enum tutti_err tell_text(struct tutti_output *output, size_t column)
{
    const struct tutti_column *shown = &output->columns[column];
    struct tutti_cell cell = {.value = shown->value};
    const char *text = shown->type == TUTTI_TYPE_STRING ? *(const char *const *)shown->value : NULL;
    if (shown->type == TUTTI_TYPE_BINARY) {
        tutti_cell_measure(&cell, shown->type);
        tutti_parcel_reset(&output->hexadecimal);
        char *at = tutti_parcel_extend(&output->hexadecimal, 2 * cell.length + 1);
        if (!at)
            return tutti_fail_memory();
        *tutti_cell_put_binary(at, &cell) = '\0';
        text = at;
    }
    unsigned long before = tutti_fail_count();
    return conclude(output->target.watcher->text(output->target.watcher->context, column, text ? text : ""), before);
}

static enum tutti_err tell_digits(const struct tutti_output *output, size_t column)
{
    char digits[TUTTI_NUMBER_MAX + 2];
    const struct tutti_cell cell = tutti_cell_of(&output->columns[column]);
    *cell.put(digits, &cell) = '\0';
    unsigned long before = tutti_fail_count();
    return conclude(output->target.watcher->text(output->target.watcher->context, column, digits), before);
}

static enum tutti_err tell_row(struct tutti_output *output, double t)
{
    for (size_t i = 0; output->tells_texts && i < output->count; i++)
        if (tutti_type_is_text(output->columns[i].type))
            TRY(tell_text(output, i));
        else if (is_long(output->columns[i].type) && output->target.tells_digits &&
                 fabs(output->values[i]) >= TUTTI_OUTPUT_LONG)
            TRY(tell_digits(output, i));
    unsigned long before = tutti_fail_count();
    return conclude(output->target.watcher->row(output->target.watcher->context, t, output->values), before);
}

static enum tutti_err open_watch(struct tutti_output *output)
{
    for (size_t i = 0; output->target.watcher->text && i < output->count; i++)
        output->tells_texts = output->tells_texts || tutti_type_is_text(output->columns[i].type) ||
                              (output->target.tells_digits && is_long(output->columns[i].type));
    struct tutti_seen_rows *watched = output->target.watched;
    bool told = watched && watched->columns;
    if (watched)
        watched->columns = true;
    return output->target.watcher->columns && !told ? tell_columns(output) : TUTTI_OK;
}

/* Has the watcher not got this row yet? */
static bool is_news(struct tutti_output *output)
{
    struct tutti_seen_rows *watched = output->target.watched;
    if (watched && output->rows <= watched->rows)
        return false;
    if (watched)
        watched->rows = output->rows;
    return true;
}

/* --- a run that goes on */

static void put_numbers(struct tutti_parcel *mark, const double *numbers, size_t n)
{
    tutti_parcel_put_u8(mark, numbers != NULL);
    for (size_t i = 0; numbers && i < n; i++)
        tutti_parcel_put_double(mark, numbers[i]);
}

/* NULL if none were put. */
static enum tutti_err get_numbers(struct tutti_unparcel *mark, double **numbers, size_t n)
{
    *numbers = NULL;
    if (tutti_unparcel_u8(mark) == 0)
        return TUTTI_OK;
    mark->bad = mark->bad || n > (size_t)(mark->end - mark->at) / sizeof(double);
    if (mark->bad)
        return TUTTI_OK; /* told later */
    *numbers = calloc(n + 1, sizeof **numbers);
    if (!*numbers)
        return tutti_fail_memory();
    for (size_t i = 0; i < n; i++)
        (*numbers)[i] = tutti_unparcel_double(mark);
    return TUTTI_OK;
}

/* A rise is three numbers. */
_Static_assert(sizeof(struct tutti_rise) == 3 * sizeof(double), "nothing between them");

/* What is asked of the rows that were before. */
static void put_state(const struct tutti_output *output, struct tutti_parcel *mark)
{
    tutti_parcel_put_u8(mark, output->begun);
    tutti_parcel_put_u64(mark, output->rows);
    tutti_parcel_put_double(mark, output->first_row);
    tutti_parcel_put_double(mark, output->last_row);
    put_numbers(mark, (const double *)output->rises, 3 * output->count);
    put_numbers(mark, output->fixed, output->count);
    put_numbers(mark, output->odd_since, output->count);
}

static enum tutti_err get_state(struct tutti_output *output, struct tutti_unparcel *mark)
{
    double *rises;
    output->begun = tutti_unparcel_u8(mark) != 0;
    output->rows = tutti_unparcel_u64(mark);
    output->first_row = tutti_unparcel_double(mark);
    output->last_row = tutti_unparcel_double(mark);
    TRY(get_numbers(mark, &rises, 3 * output->count));
    output->rises = (struct tutti_rise *)rises;
    TRY(get_numbers(mark, &output->fixed, output->count));
    return get_numbers(mark, &output->odd_since, output->count);
}

static enum tutti_err resume(struct tutti_output *output, struct tutti_bytes from)
{
    const char *path = output->target.path, *bytes = (const char *)from.data;
    struct tutti_unparcel mark = {.at = bytes, .end = bytes + from.size};
    uint64_t count = tutti_unparcel_u64(&mark);
    if (count != output->count)
        return tutti_fail(TUTTI_ERR_FORMAT,
                          "the interrupted run recorded %llu columns, and this one has %zu; choose the same variables "
                          "(--record), or start the run anew",
                          (unsigned long long)count, output->count);
    TRY(get_state(output, &mark));
    bool stays = tutti_unparcel_u8(&mark) != 0;
    if (mark.bad)
        return tutti_record_file_fail_mark(path ? path : "the rows");
    if (output->target.watcher)
        TRY(open_watch(output));
    if (!path || output->rows == 0) /* then the first row makes the file, as it would have done */
        return TUTTI_OK;
    stays = stays && !tutti_record_is_stream(path);
    TRY(open_file(output, stays ? &mark : NULL));
    if (!stays)
        warn_of_rest(output);
    return TUTTI_OK;
}

/* --- both */

enum tutti_err tutti_output_open(struct tutti_output *output, const struct tutti_output_target *target,
                                 const struct tutti_column *columns, size_t count)
{
    *output = (struct tutti_output){.target = *target, .columns = columns, .count = count};
    output->target.resume = (struct tutti_bytes){0}; /* it is borrowed no longer than this call */
    TRY(lay_out(output));
    if (target->resume.size > 0)
        return resume(output, target->resume);
    return target->watcher ? open_watch(output) : TUTTI_OK;
}

enum tutti_err tutti_output_mark(struct tutti_output *output, struct tutti_parcel *mark)
{
    bool stays = output->format && !tutti_record_is_stream(output->target.path);
    tutti_parcel_put_u64(mark, output->count);
    put_state(output, mark);
    tutti_parcel_put_u8(mark, stays);
    tutti_flusher_hold(output->flusher);
    enum tutti_err err = stays            ? output->format->mark(output->recorder, mark)
                         : output->format ? output->format->flush(output->recorder)
                                          : TUTTI_OK;
    tutti_flusher_release(output->flusher);
    return !err && mark->failed ? tutti_fail_memory() : err;
}

enum tutti_err tutti_output_sync(struct tutti_output *output)
{
    return output->format ? output->format->sync(output->recorder) : TUTTI_OK;
}

/* To the recorder, and on to the file if the last time is a moment ago: what ends the process and runs no handler (_exit,
 * SIGKILL) takes no more rows with it than those of a moment. */
static enum tutti_err record_row(struct tutti_output *output, double t)
{
    int64_t tick = tutti_clock_tick();
    if (output->has_long)
        warn_of_rounded(output, t);
    TRY(output->format->row(output->recorder, t));
    if (tick == output->flushed ||
        !output->format->any_thread) /* the others have a thread of their own, or take their time */
        return TUTTI_OK;
    output->flushed = tick;
    return output->format->flush(output->recorder);
}

/* A file is made new with its first row: a run that fails before it has one does not cost an earlier result. */
static enum tutti_err begin(struct tutti_output *output, double t)
{
    if (output->target.path && !output->format)
        TRY(open_file(output, NULL));
    TRY(watch_growth(output, t));
    note_fixed(output);
    return TUTTI_OK;
}

enum tutti_err tutti_output_row(struct tutti_output *output, double t)
{
    take_values(output);
    TRY(watch_odd(output, t));
    if (__builtin_expect(!output->begun, 0))
        TRY(begin(output, t));
    if (output->rises)
        warn_of_growth(output, t);
    if (output->format) {
        tutti_flusher_hold(output->flusher);
        enum tutti_err err = record_row(output, t);
        tutti_flusher_release(output->flusher);
        TRY(err);
    }
    output->rows++;
    return output->target.watcher && is_news(output) ? tell_row(output, t) : TUTTI_OK;
}

enum tutti_err tutti_output_flush(struct tutti_output *output)
{
    if (!output->format)
        return TUTTI_OK;
    tutti_flusher_hold(output->flusher);
    enum tutti_err err = output->format->flush(output->recorder);
    tutti_flusher_release(output->flusher);
    return err;
}

enum tutti_err tutti_output_close(struct tutti_output *output)
{
    enum tutti_err err = output->format ? close_file(output) : TUTTI_OK;
    free(output->fixed);
    free(output->memory);
    free(output->runs);
    tutti_parcel_fini(&output->hexadecimal);
    free(output->rises);
    free(output->odd_since);
    *output = (struct tutti_output){0};
    return err;
}
