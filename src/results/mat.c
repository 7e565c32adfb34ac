/* SPDX-License-Identifier: MIT */
/* Trajectories of Modelica tools: a MAT-file of level 4 with the matrices Aclass, name, description, dataInfo, data_1 and
 * data_2, in the "binTrans" form that Dymola and OpenModelica write ("The MATv4 Result File Format" in the OpenModelica User's
 * Guide; level 4 is described in MathWorks' "MAT-File Format"). A matrix is a head of five 32-bit integers, its name and its
 * values; data_2 is stored point by point and comes last, so a row is appended. We write it ourselves because libraries write a
 * matrix of level 4 as a whole.
 *
 * Invariants, for mat_emergency() in a signal handler at any moment:
 * 1. buffer[0..whole) are whole rows that the head of data_2 does not count yet; mat_write_row() raises `whole` after the last byte of a
 *    row. They belong at `offset`, however often they are written.
 * 2. The head never counts more points than are in the file: it is changed after the points are written.
 * 3. Constants are known before `whole` is raised for the first time, and do not change then. */
#include "results/recorder.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/crash.h"
#include "base/fs.h"
#include "base/text.h"
#include "results/record_file.h"

enum { BUFFER = 128 * 1024, DESCRIPTION_MAX = 400 };
/* Thousands: 1 on machines of the other byte order; tens: the numbers' type; ones: 1 for text. */
enum {
    ORDER = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 1000 : 0,
    DOUBLES = ORDER,
    INTEGERS = ORDER + 20,
    TEXT = ORDER + 51
};

struct tt_recorder {
    char *buffer;
    size_t capacity, row_size; /* bytes */
    _Atomic size_t whole;
    _Atomic off_t offset;
    off_t first;        /* where data_2 begins */
    off_t counted;      /* where its head has the number of points */
    off_t constants_at; /* where data_1 begins */
    double *constants;  /* data_1: two columns, for the first and the last time; each the time and the values */
    struct tt_column *fixed;
    size_t fixed_count;
    struct tt_column *varying; /* the rows of data_2 below the time */
    size_t varying_count;
    const struct tt_column *columns; /* all of them */
    size_t column_count;
    int32_t points;      /* rows so far, in the file or not */
    _Atomic bool stored; /* the constants */
    struct tt_record_file file;
    int error; /* errno of a failed write, after which nothing is written; EOVERFLOW: too many points to count */
    char *path;
};

/* --- writing */

static enum tutti_err mat_fail_write(const struct tt_recorder *recorder)
{
    if (recorder->error == EOVERFLOW)
        return tt_fail(TUTTI_ERR_LIMIT,
                       "cannot write %s: a .mat file holds %d points at most; the rows before are kept; record fewer "
                       "(--output-step), or name a .csv file",
                       recorder->path, INT32_MAX);
    return tt_record_file_fail_write(recorder->path, recorder->error);
}

static bool mat_write_at(const struct tt_recorder *recorder, const void *data, size_t n, off_t at)
{
    return tt_fs_write(recorder->file.fd, data, n, at) == n;
}

/* Adds the first `whole` bytes of the buffer to the file; returns how many are there and counted, or less with errno saying
 * why. Async-signal-safe. */
static size_t mat_append_rows(struct tt_recorder *recorder, size_t whole, off_t offset)
{
    if (!tt_record_file_check(&recorder->file, -1))
        return 0;
    errno = 0;
    size_t done = tt_fs_write(recorder->file.fd, recorder->buffer, whole, offset);
    int error = errno;
    done -= done % recorder->row_size;
    if (done > 0) {
        int32_t points = (int32_t)((size_t)(offset - recorder->first + (off_t)done) / recorder->row_size);
        const void *last = recorder->buffer + done - recorder->row_size; /* begins with its time */
        size_t column = (1 + recorder->fixed_count) * sizeof(double);
        bool told =
            (recorder->stored || mat_write_at(recorder, recorder->constants, 2 * column, recorder->constants_at)) &&
            mat_write_at(recorder, last, sizeof(double), recorder->constants_at + (off_t)column) &&
            mat_write_at(recorder, &points, sizeof points, recorder->counted);
        recorder->stored = true;
        if (!told) {
            error = errno;
            done = 0;
        }
    }
    errno = error;
    return done;
}

static enum tutti_err mat_flush(struct tt_recorder *recorder)
{
    if (recorder->error && recorder->error != EOVERFLOW)
        return mat_fail_write(recorder);
    size_t whole = recorder->whole, done = 0;
    off_t offset = recorder->offset;
    bool ours = tt_record_file_check(&recorder->file, offset);
    if (ours)
        done = mat_append_rows(recorder, whole, offset);
    if (done < whole)
        recorder->error = errno ? errno : EIO;
    if (done < whole && ours)
        (void)!ftruncate(recorder->file.fd, offset + (off_t)done); /* nothing after the last point that counts */
    recorder->whole = 0; /* first: a signal must not find them at another place */
    recorder->offset = offset + (off_t)done;
    return recorder->error ? mat_fail_write(recorder) : TUTTI_OK;
}

static enum tutti_err mat_write_row(struct tt_recorder *recorder, double time)
{
    if (recorder->error)
        return mat_fail_write(recorder);
    if (recorder->points == INT32_MAX) {
        recorder->error = EOVERFLOW;
        return mat_fail_write(recorder);
    }
    if (recorder->points == 0) {
        double *start = recorder->constants, *stop = start + 1 + recorder->fixed_count;
        start[0] = stop[0] = time;
        for (size_t i = 0; i < recorder->fixed_count; i++)
            start[1 + i] = stop[1 + i] = tt_recorder_column_number(&recorder->fixed[i]);
    }
    size_t whole = atomic_load_explicit(&recorder->whole, memory_order_relaxed);
    if (recorder->capacity - whole < recorder->row_size) {
        TRY(mat_flush(recorder));
        whole = 0;
    }
    double *at = (double *)(void *)(recorder->buffer + whole);
    *at++ = time;
    for (const struct tt_column *v = recorder->varying, *end = v + recorder->varying_count; v < end; v++)
        *at++ = v->type == TUTTI_TYPE_FLOAT64 ? *(const double *)v->value : tt_recorder_column_number(v);
    recorder->points++;
    atomic_store_explicit(&recorder->whole, whole + recorder->row_size, memory_order_release);
    return TUTTI_OK;
}

static void mat_emergency(struct tt_recorder *recorder)
{
    size_t whole = atomic_load_explicit(&recorder->whole, memory_order_acquire);
    if (whole > 0 && ((recorder->error && recorder->error != EOVERFLOW) ||
                      mat_append_rows(recorder, whole, recorder->offset) < whole))
        tt_crash_report_loss();
    recorder->whole = 0;
}

static enum tutti_err mat_mark(struct tt_recorder *recorder, struct tt_byte_writer *mark)
{
    TRY(mat_flush(recorder));
    tt_recorder_put_columns(mark, &tt_mat_format, recorder->columns, recorder->column_count);
    return tt_record_file_mark(&recorder->file, recorder->first, recorder->offset, mark);
}

static enum tutti_err mat_sync(struct tt_recorder *recorder)
{
    return tt_record_file_sync(&recorder->file);
}

/* --- what comes before the rows */

/* The layout of the columns, needed to open the file. */
struct mat_layout {
    const struct tt_column *columns;
    size_t n;
    size_t names;   /* the columns that are written, and the time */
    int32_t *index; /* of a column in data_1 or data_2; 0: not written */
    bool *fixed;    /* it is in data_1 */
    size_t longest, longest_description;
};

/* Aliases share a row, which is constant if all of them are. */
static void mat_find_rows(struct tt_recorder *recorder, struct mat_layout *layout)
{
    const struct tt_column *columns = layout->columns;
    for (size_t i = 0; i < layout->n; i++)
        layout->fixed[i] = true;
    for (size_t i = 0; i < layout->n; i++)
        layout->fixed[columns[i].source] = layout->fixed[columns[i].source] && columns[i].fixed;
    layout->names = 1;
    for (size_t i = 0; i < layout->n; i++) {
        size_t source = columns[i].source;
        if (tt_type_is_text(columns[i].type))
            continue;
        layout->names++;
        layout->fixed[i] = layout->fixed[source];
        struct tt_column *stored = layout->fixed[i] ? &recorder->fixed[recorder->fixed_count]
                                                    : &recorder->varying[recorder->varying_count];
        if (source == i) {
            *stored = columns[i];
            stored->negated = false; /* that is in dataInfo */
            size_t *count = layout->fixed[i] ? &recorder->fixed_count : &recorder->varying_count;
            *count += 1;
            layout->index[i] = (int32_t)*count + 1; /* from 1, and the time is the first */
        } else {
            layout->index[i] = layout->index[source];
        }
    }
}

/* How much of a description is kept: every one takes the room of the longest. */
static size_t description_length(const char *description)
{
    size_t n = strnlen(description, DESCRIPTION_MAX + 1);
    if (n <= DESCRIPTION_MAX)
        return n;
    for (n = DESCRIPTION_MAX; n > 0 && ((unsigned char)description[n] & 0xc0) == 0x80; n--) /* not within a character */
        ;
    return n;
}

/* "what it is [unit]" */
static void mat_describe(struct tt_text *text, const struct tt_column *column)
{
    text->length = 0;
    if (column->description)
        tt_text_append_n(text, column->description, description_length(column->description));
    if (column->unit && *column->unit)
        tt_text_printf(text, "%s[%s]", text->length ? " " : "", column->unit);
}

static enum tutti_err mat_measure(struct mat_layout *layout, const char *path)
{
    static const struct tt_column none = {0};
    struct tt_text text = {0};
    layout->longest = strlen("time");
    layout->longest_description = strlen("Simulation time [s]");
    const struct tt_column *worst = &none;
    for (size_t i = 0; i < layout->n; i++) {
        if (tt_type_is_text(layout->columns[i].type))
            continue;
        mat_describe(&text, &layout->columns[i]);
        size_t length = strlen(layout->columns[i].name), larger = length > text.length ? length : text.length;
        if (larger > layout->longest && larger > layout->longest_description)
            worst = &layout->columns[i];
        layout->longest = length > layout->longest ? length : layout->longest;
        if (text.length > layout->longest_description)
            layout->longest_description = text.length;
    }
    bool failed = text.failed;
    tt_text_fini(&text);
    if (failed)
        return tt_fail_memory();
    size_t widest = layout->longest > layout->longest_description ? layout->longest : layout->longest_description;
    if (layout->names > INT32_MAX / 4 || widest > INT32_MAX / layout->names)
        return tt_fail(
            TUTTI_ERR_LIMIT,
            "cannot write %s: in a .mat file all names are as long as the longest, and %zu like '%s' are more "
            "than fit; record fewer (--record), or name a .csv file",
            path, layout->names, worst->name ? tt_text_excerpt(worst->name).text : "time");
    return TUTTI_OK;
}

static void mat_add_matrix(struct tt_text *head, const char *name, int32_t type, size_t rows, size_t columns)
{
    const int32_t numbers[] = {type, (int32_t)rows, (int32_t)columns, 0, (int32_t)strlen(name) + 1};
    tt_text_append_n(head, (const char *)numbers, sizeof numbers);
    tt_text_append_n(head, name, strlen(name) + 1);
}

/* Text of n bytes, and blanks up to `width`. */
static void add_padded(struct tt_text *head, const char *text, size_t n, size_t width)
{
    static const char blanks[] = "                                                                                ";
    tt_text_append_n(head, text, n);
    for (size_t more; n < width; n += more) {
        more = width - n < sizeof blanks - 1 ? width - n : sizeof blanks - 1;
        tt_text_append_n(head, blanks, more);
    }
}

static void add_descriptions(struct tt_text *head, const struct mat_layout *layout)
{
    struct tt_text text = {0};
    mat_add_matrix(head, "description", TEXT, layout->longest_description, layout->names);
    add_padded(head, "Simulation time [s]", strlen("Simulation time [s]"), layout->longest_description);
    for (size_t i = 0; i < layout->n; i++)
        if (layout->index[i] != 0) {
            mat_describe(&text, &layout->columns[i]);
            add_padded(head, text.text, text.length, layout->longest_description);
        }
    head->failed = head->failed || text.failed;
    tt_text_fini(&text);
}

/* For each name: the matrix, 0 for the time of all; the row, negative for minus it; 0: linear in between; -1: not known
 * outside the times, 0: the same there. */
static void mat_add_info(struct tt_text *head, const struct mat_layout *layout)
{
    const int32_t time[] = {0, 1, 0, -1};
    mat_add_matrix(head, "dataInfo", INTEGERS, 4, layout->names);
    tt_text_append_n(head, (const char *)time, sizeof time);
    for (size_t i = 0; i < layout->n; i++) {
        if (layout->index[i] == 0)
            continue;
        bool fixed = layout->fixed[i];
        const int32_t info[] = {fixed ? 1 : 2, layout->columns[i].negated ? -layout->index[i] : layout->index[i], 0,
                                fixed ? 0 : -1};
        tt_text_append_n(head, (const char *)info, sizeof info);
    }
}

/* Everything up to the first row, and where what changes is. */
static void mat_add_head(struct tt_recorder *recorder, struct tt_text *head, const struct mat_layout *layout)
{
    static const char class[4][12] = {"Atrajectory", "1.1        ", "           ", "binTrans   "};
    mat_add_matrix(head, "Aclass", TEXT, 4, sizeof class[0] - 1);
    for (size_t i = 0; i < sizeof class[0] - 1; i++)
        for (size_t line = 0; line < 4; line++)
            tt_text_append_n(head, &class[line][i], 1);

    mat_add_matrix(head, "name", TEXT, layout->longest, layout->names);
    add_padded(head, "time", strlen("time"), layout->longest);
    for (size_t i = 0; i < layout->n; i++)
        if (layout->index[i] != 0)
            add_padded(head, layout->columns[i].name, strlen(layout->columns[i].name), layout->longest);

    add_descriptions(head, layout);
    mat_add_info(head, layout);
    mat_add_matrix(head, "data_1", DOUBLES, 1 + recorder->fixed_count, 2);
    recorder->constants_at = (off_t)head->length;
    for (size_t i = 0; i < 2 * (1 + recorder->fixed_count); i++)
        recorder->constants[i] = NAN; /* not known before the first row */
    tt_text_append_n(head, (const char *)recorder->constants,
                     2 * (1 + recorder->fixed_count) * sizeof *recorder->constants);
    recorder->counted = (off_t)(head->length + 2 * sizeof(int32_t));
    mat_add_matrix(head, "data_2", DOUBLES, 1 + recorder->varying_count, 0);
    recorder->first = (off_t)head->length;
}

/* --- opening and closing */

static void mat_release(struct tt_recorder *recorder)
{
    free(recorder->buffer);
    free(recorder->constants);
    free(recorder->fixed);
    free(recorder->varying);
    free(recorder->path);
    free(recorder);
}

static enum tutti_err mat_close(struct tt_recorder *recorder)
{
    enum tutti_err err = tt_record_file_close(&recorder->file, mat_flush(recorder));
    mat_release(recorder);
    return err;
}

static enum tutti_err mat_lay_out(struct tt_recorder *recorder, struct tt_text *head, struct mat_layout *layout)
{
    recorder->fixed = calloc(layout->n + 1, sizeof *recorder->fixed);
    recorder->varying = calloc(layout->n + 1, sizeof *recorder->varying);
    if (!recorder->path || !recorder->fixed || !recorder->varying || !layout->index || !layout->fixed)
        return tt_fail_memory();
    mat_find_rows(recorder, layout);
    TRY(mat_measure(layout, recorder->path));
    recorder->row_size = (1 + recorder->varying_count) * sizeof(double);
    recorder->capacity = BUFFER < 2 * recorder->row_size ? 2 * recorder->row_size : BUFFER;
    recorder->buffer = malloc(recorder->capacity);
    recorder->constants = calloc(2 * (1 + recorder->fixed_count), sizeof *recorder->constants);
    if (!recorder->buffer || !recorder->constants)
        return tt_fail_memory();
    mat_add_head(recorder, head, layout);
    return head->failed ? tt_fail_memory() : TUTTI_OK;
}

/* Everything that needs memory. */
static enum tutti_err mat_prepare(struct tt_recorder *recorder, struct tt_text *head, const char *path,
                                  const struct tt_column *columns, size_t n)
{
    struct mat_layout layout = {.columns = columns, .n = n};
    recorder->path = tt_text_copy(path);
    recorder->columns = columns;
    recorder->column_count = n;
    layout.index = calloc(n + 1, sizeof *layout.index);
    layout.fixed = calloc(n + 1, sizeof *layout.fixed);
    enum tutti_err err = mat_lay_out(recorder, head, &layout);
    free(layout.index);
    free(layout.fixed);
    return err;
}

/* Goes to the file at once: a full disk shows now, not after hours. */
static enum tutti_err mat_write_head(struct tt_recorder *recorder, const struct tt_text *head)
{
    if (ftruncate(recorder->file.fd, 0) != 0)
        return tt_record_file_fail_open(recorder->path);
    errno = 0;
    if (mat_write_at(recorder, head->text, head->length, 0)) {
        recorder->offset = recorder->first;
        return TUTTI_OK;
    }
    int error = errno ? errno : EIO;
    (void)!ftruncate(recorder->file.fd, 0);
    return tt_record_file_fail_write(recorder->path, error);
}

static enum tutti_err mat_start_file(struct tt_recorder *recorder, const struct tt_text *head)
{
    TRY(tt_record_file_check_regular(recorder->path, ".mat"));
    TRY(tt_record_file_open(&recorder->file, recorder->path));
    enum tutti_err err = mat_write_head(recorder, head);
    return err ? tt_record_file_close(&recorder->file, err) : TUTTI_OK;
}

/* The number of points and the last time as they were. The file is cut last: invariant 2. */
static enum tutti_err mat_restore_head(struct tt_recorder *recorder)
{
    size_t column = (1 + recorder->fixed_count) * sizeof(double);
    double last;
    off_t last_at = recorder->offset - (off_t)recorder->row_size;
    errno = 0;
    bool done = mat_write_at(recorder, &recorder->points, sizeof recorder->points, recorder->counted);
    if (recorder->points == 0)
        done = done && mat_write_at(recorder, recorder->constants, 2 * column, recorder->constants_at);
    else
        done = done && pread(recorder->file.fd, &last, sizeof last, last_at) == sizeof last &&
               mat_write_at(recorder, &last, sizeof last, recorder->constants_at + (off_t)column);
    if (!done)
        return tt_record_file_fail_write(recorder->path, errno ? errno : EIO);
    recorder->stored = recorder->points > 0;
    return tt_record_file_truncate(&recorder->file, recorder->offset);
}

static enum tutti_err mat_continue_file(struct tt_recorder *recorder, const struct tt_text *head, off_t position)
{
    off_t rows = (position - recorder->first) / (off_t)recorder->row_size;
    if (position < recorder->first || rows > INT32_MAX ||
        recorder->first + rows * (off_t)recorder->row_size != position)
        return tt_record_file_fail_mark(recorder->path);
    recorder->points = (int32_t)rows;
    recorder->offset = position;

    /* The head is that of these columns, except for the constants and the number of points. */
    off_t after = recorder->constants_at + (off_t)(2 * (1 + recorder->fixed_count) * sizeof(double));
    off_t rest = recorder->counted + (off_t)sizeof(int32_t);
    TRY(tt_record_file_check_bytes(&recorder->file, head->text, (size_t)recorder->constants_at, 0));
    TRY(tt_record_file_check_bytes(&recorder->file, head->text + after, (size_t)(recorder->counted - after), after));
    TRY(tt_record_file_check_bytes(&recorder->file, head->text + rest, (size_t)(recorder->first - rest), rest));
    return mat_restore_head(recorder);
}

static enum tutti_err mat_resume(struct tt_recorder *recorder, const struct tt_text *head, struct tt_byte_reader *mark)
{
    off_t position;
    TRY(tt_recorder_check_columns(mark, &tt_mat_format, recorder->path, recorder->columns, recorder->column_count));
    TRY(tt_record_file_reopen(&recorder->file, recorder->path, mark, &position));
    enum tutti_err err = mat_continue_file(recorder, head, position);
    return err ? tt_record_file_close(&recorder->file, err) : TUTTI_OK;
}

/* `mark` is NULL for a new file. */
static enum tutti_err mat_open_recorder(struct tt_recorder **out, const char *path, const struct tt_column *columns,
                                        size_t n, struct tt_byte_reader *mark)
{
    struct tt_recorder *recorder = calloc(1, sizeof *recorder);
    if (!recorder)
        return tt_fail_memory();
    struct tt_text head = {0};
    enum tutti_err err = mat_prepare(recorder, &head, path, columns, n);
    if (err == TUTTI_OK)
        err = mark ? mat_resume(recorder, &head, mark) : mat_start_file(recorder, &head);
    tt_text_fini(&head);
    if (err != TUTTI_OK) {
        mat_release(recorder);
        return err;
    }
    *out = recorder;
    return TUTTI_OK;
}

static enum tutti_err mat_open(struct tt_recorder **out, const char *path, const struct tt_column *columns, size_t n)
{
    return mat_open_recorder(out, path, columns, n, NULL);
}

static enum tutti_err mat_reopen(struct tt_recorder **out, const char *path, const struct tt_column *columns, size_t n,
                                 struct tt_byte_reader *mark)
{
    return mat_open_recorder(out, path, columns, n, mark);
}

const struct tt_record_format tt_mat_format = {
    .name = "mat",
    .extension = ".mat",
    .any_thread = true,
    .fixed_once = true,
    .open = mat_open,
    .row = mat_write_row,
    .flush = mat_flush,
    .close = mat_close,
    .emergency = mat_emergency,
    .mark = mat_mark,
    .reopen = mat_reopen,
    .sync = mat_sync,
};
