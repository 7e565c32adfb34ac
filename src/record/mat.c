/* SPDX-License-Identifier: MIT */
/* Trajectories of Modelica tools: a MAT-file of level 4 with the matrices Aclass, name, description, dataInfo, data_1 and
 * data_2, in the "binTrans" form that Dymola and OpenModelica write ("The MATv4 Result File Format" in the OpenModelica User's
 * Guide; level 4 is described in MathWorks' "MAT-File Format"). A matrix is a head of five 32-bit integers, its name and its
 * values; data_2 is stored point by point and comes last, so a row is appended. We write it ourselves because libraries write a
 * matrix of level 4 as a whole.
 *
 * Invariants, for emergency() in a signal handler at any moment:
 * 1. buffer[0..whole) are whole rows that the head of data_2 does not count yet; row() raises `whole` after the last byte of a
 *    row. They belong at `offset`, however often they are written.
 * 2. The head never counts more points than are in the file: it is changed after the points are written.
 * 3. Constants are known before `whole` is raised for the first time, and do not change then. */
#include "record/recorder.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/crash.h"
#include "base/fs.h"
#include "base/str.h"
#include "record/file.h"

enum { BUFFER = 128 * 1024, DESCRIPTION_MAX = 400 };
/* Thousands: 1 on machines of the other byte order; tens: the numbers' type; ones: 1 for text. */
enum {
    ORDER = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 1000 : 0,
    DOUBLES = ORDER,
    INTEGERS = ORDER + 20,
    TEXT = ORDER + 51
};

struct tutti_recorder {
    char *buffer;
    size_t capacity, row_size; /* bytes */
    _Atomic size_t whole;
    _Atomic off_t offset;
    off_t first;        /* where data_2 begins */
    off_t counted;      /* where its head has the number of points */
    off_t constants_at; /* where data_1 begins */
    double *constants;  /* data_1: two columns, for the first and the last time; each the time and the values */
    struct tutti_column *fixed;
    size_t fixed_count;
    struct tutti_column *varying; /* the rows of data_2 below the time */
    size_t varying_count;
    const struct tutti_column *columns; /* all of them */
    size_t column_count;
    int32_t points;      /* rows so far, in the file or not */
    _Atomic bool stored; /* the constants */
    struct tutti_record_file file;
    int error; /* errno of a failed write, after which nothing is written any more; EOVERFLOW: no more points can be counted */
    char *path;
};

/* --- writing */

static enum tutti_err fail(const struct tutti_recorder *recorder)
{
    if (recorder->error == EOVERFLOW)
        return tutti_fail(
            TUTTI_ERR_LIMIT,
            "cannot write %s: a .mat file holds %d points at most; the rows before are kept; record fewer "
            "(--output-step), or name a .csv file",
            recorder->path, INT32_MAX);
    return tutti_record_file_fail_write(recorder->path, recorder->error);
}

static bool write_at(const struct tutti_recorder *recorder, const void *data, size_t n, off_t at)
{
    return tutti_fs_write(recorder->file.fd, data, n, at) == n;
}

/* Adds the first `whole` bytes of the buffer to the file; returns how many are there and counted, or less with errno saying
 * why. Async-signal-safe. */
static size_t store(struct tutti_recorder *recorder, size_t whole, off_t offset)
{
    if (!tutti_record_file_hold(&recorder->file, -1))
        return 0;
    errno = 0;
    size_t done = tutti_fs_write(recorder->file.fd, recorder->buffer, whole, offset);
    int error = errno;
    done -= done % recorder->row_size;
    if (done > 0) {
        int32_t points = (int32_t)((size_t)(offset - recorder->first + (off_t)done) / recorder->row_size);
        const void *last = recorder->buffer + done - recorder->row_size; /* begins with its time */
        size_t column = (1 + recorder->fixed_count) * sizeof(double);
        bool told = (recorder->stored || write_at(recorder, recorder->constants, 2 * column, recorder->constants_at)) &&
                    write_at(recorder, last, sizeof(double), recorder->constants_at + (off_t)column) &&
                    write_at(recorder, &points, sizeof points, recorder->counted);
        recorder->stored = true;
        if (!told) {
            error = errno;
            done = 0;
        }
    }
    errno = error;
    return done;
}

static enum tutti_err flush(struct tutti_recorder *recorder)
{
    if (recorder->error && recorder->error != EOVERFLOW)
        return fail(recorder);
    size_t whole = recorder->whole, done = 0;
    off_t offset = recorder->offset;
    bool ours = tutti_record_file_hold(&recorder->file, offset);
    if (ours)
        done = store(recorder, whole, offset);
    if (done < whole)
        recorder->error = errno ? errno : EIO;
    if (done < whole && ours)
        (void)!ftruncate(recorder->file.fd, offset + (off_t)done); /* nothing after the last point that counts */
    recorder->whole = 0; /* first: a signal must not find them at another place */
    recorder->offset = offset + (off_t)done;
    return recorder->error ? fail(recorder) : TUTTI_OK;
}

static void read_constants(struct tutti_recorder *recorder, double time)
{
    double *start = recorder->constants, *stop = start + 1 + recorder->fixed_count;
    start[0] = stop[0] = time;
    for (size_t i = 0; i < recorder->fixed_count; i++)
        start[1 + i] = stop[1 + i] = tutti_column_number(&recorder->fixed[i]);
}

static enum tutti_err row(struct tutti_recorder *recorder, double time)
{
    if (recorder->error)
        return fail(recorder);
    if (recorder->points == INT32_MAX) {
        recorder->error = EOVERFLOW;
        return fail(recorder);
    }
    if (recorder->points == 0)
        read_constants(recorder, time);
    size_t whole = atomic_load_explicit(&recorder->whole, memory_order_relaxed);
    if (recorder->capacity - whole < recorder->row_size) {
        TRY(flush(recorder));
        whole = 0;
    }
    double *at = (double *)(void *)(recorder->buffer + whole);
    *at++ = time;
    for (const struct tutti_column *v = recorder->varying, *end = v + recorder->varying_count; v < end; v++)
        *at++ = v->type == TUTTI_TYPE_FLOAT64 ? *(const double *)v->value : tutti_column_number(v);
    recorder->points++;
    atomic_store_explicit(&recorder->whole, whole + recorder->row_size, memory_order_release);
    return TUTTI_OK;
}

static void emergency(struct tutti_recorder *recorder)
{
    size_t whole = atomic_load_explicit(&recorder->whole, memory_order_acquire);
    if (whole > 0 &&
        ((recorder->error && recorder->error != EOVERFLOW) || store(recorder, whole, recorder->offset) < whole))
        tutti_crash_admit_loss();
    recorder->whole = 0;
}

static enum tutti_err mark_place(struct tutti_recorder *recorder, struct tutti_parcel *mark)
{
    TRY(flush(recorder));
    tutti_record_put_columns(mark, &tutti_record_mat, recorder->columns, recorder->column_count);
    return tutti_record_file_mark(&recorder->file, recorder->first, recorder->offset, mark);
}

static enum tutti_err sync_file(struct tutti_recorder *recorder)
{
    return tutti_record_file_sync(&recorder->file);
}

/* --- what comes before the rows */

/* What opening needs to know of the columns. */
struct layout {
    const struct tutti_column *columns;
    size_t n;
    size_t names;   /* the columns that are written, and the time */
    int32_t *index; /* of a column in data_1 or data_2; 0: not written */
    bool *fixed;    /* it is in data_1 */
    size_t longest, longest_description;
};

/* Aliases share a row, which is constant if all of them are. */
static void find_places(struct tutti_recorder *recorder, struct layout *layout)
{
    const struct tutti_column *columns = layout->columns;
    for (size_t i = 0; i < layout->n; i++)
        layout->fixed[i] = true;
    for (size_t i = 0; i < layout->n; i++)
        layout->fixed[columns[i].source] = layout->fixed[columns[i].source] && columns[i].fixed;
    layout->names = 1;
    for (size_t i = 0; i < layout->n; i++) {
        size_t source = columns[i].source;
        if (tutti_type_is_text(columns[i].type))
            continue;
        layout->names++;
        layout->fixed[i] = layout->fixed[source];
        struct tutti_column *stored = layout->fixed[i] ? &recorder->fixed[recorder->fixed_count]
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
static void describe(struct tutti_text *text, const struct tutti_column *column)
{
    text->length = 0;
    if (column->description)
        tutti_text_append_n(text, column->description, description_length(column->description));
    if (column->unit && *column->unit)
        tutti_text_printf(text, "%s[%s]", text->length ? " " : "", column->unit);
}

static enum tutti_err measure(struct layout *layout, const char *path)
{
    static const struct tutti_column none = {0};
    struct tutti_text text = {0};
    layout->longest = strlen("time");
    layout->longest_description = strlen("Simulation time [s]");
    const struct tutti_column *worst = &none;
    for (size_t i = 0; i < layout->n; i++) {
        if (tutti_type_is_text(layout->columns[i].type))
            continue;
        describe(&text, &layout->columns[i]);
        size_t length = strlen(layout->columns[i].name), larger = length > text.length ? length : text.length;
        if (larger > layout->longest && larger > layout->longest_description)
            worst = &layout->columns[i];
        layout->longest = length > layout->longest ? length : layout->longest;
        if (text.length > layout->longest_description)
            layout->longest_description = text.length;
    }
    bool failed = text.failed;
    tutti_text_fini(&text);
    if (failed)
        return tutti_fail_memory();
    size_t widest = layout->longest > layout->longest_description ? layout->longest : layout->longest_description;
    if (layout->names > INT32_MAX / 4 || widest > INT32_MAX / layout->names)
        return tutti_fail(
            TUTTI_ERR_LIMIT,
            "cannot write %s: in a .mat file all names are as long as the longest, and %zu like '%s' are more "
            "than fit; record fewer (--record), or name a .csv file",
            path, layout->names, worst->name ? tutti_str_show(worst->name).text : "time");
    return TUTTI_OK;
}

static void add_matrix(struct tutti_text *head, const char *name, int32_t type, size_t rows, size_t columns)
{
    const int32_t numbers[] = {type, (int32_t)rows, (int32_t)columns, 0, (int32_t)strlen(name) + 1};
    tutti_text_append_n(head, (const char *)numbers, sizeof numbers);
    tutti_text_append_n(head, name, strlen(name) + 1);
}

/* Text of n bytes, and blanks up to `width`. */
static void add_padded(struct tutti_text *head, const char *text, size_t n, size_t width)
{
    static const char blanks[] = "                                                                                ";
    tutti_text_append_n(head, text, n);
    for (size_t more; n < width; n += more) {
        more = width - n < sizeof blanks - 1 ? width - n : sizeof blanks - 1;
        tutti_text_append_n(head, blanks, more);
    }
}

static void add_names(struct tutti_text *head, const struct layout *layout)
{
    add_matrix(head, "name", TEXT, layout->longest, layout->names);
    add_padded(head, "time", strlen("time"), layout->longest);
    for (size_t i = 0; i < layout->n; i++)
        if (layout->index[i] != 0)
            add_padded(head, layout->columns[i].name, strlen(layout->columns[i].name), layout->longest);
}

static void add_descriptions(struct tutti_text *head, const struct layout *layout)
{
    struct tutti_text text = {0};
    add_matrix(head, "description", TEXT, layout->longest_description, layout->names);
    add_padded(head, "Simulation time [s]", strlen("Simulation time [s]"), layout->longest_description);
    for (size_t i = 0; i < layout->n; i++)
        if (layout->index[i] != 0) {
            describe(&text, &layout->columns[i]);
            add_padded(head, text.text, text.length, layout->longest_description);
        }
    head->failed = head->failed || text.failed;
    tutti_text_fini(&text);
}

/* For each name: the matrix, 0 for the time of all; the row, negative for minus it; 0: linear in between; -1: not known
 * outside the times, 0: the same there. */
static void add_info(struct tutti_text *head, const struct layout *layout)
{
    const int32_t time[] = {0, 1, 0, -1};
    add_matrix(head, "dataInfo", INTEGERS, 4, layout->names);
    tutti_text_append_n(head, (const char *)time, sizeof time);
    for (size_t i = 0; i < layout->n; i++) {
        if (layout->index[i] == 0)
            continue;
        bool fixed = layout->fixed[i];
        const int32_t info[] = {fixed ? 1 : 2, layout->columns[i].negated ? -layout->index[i] : layout->index[i], 0,
                                fixed ? 0 : -1};
        tutti_text_append_n(head, (const char *)info, sizeof info);
    }
}

/* Everything up to the first row, and where what changes is. */
static void add_head(struct tutti_recorder *recorder, struct tutti_text *head, const struct layout *layout)
{
    static const char class[4][12] = {"Atrajectory", "1.1        ", "           ", "binTrans   "};
    add_matrix(head, "Aclass", TEXT, 4, sizeof class[0] - 1);
    for (size_t i = 0; i < sizeof class[0] - 1; i++)
        for (size_t line = 0; line < 4; line++)
            tutti_text_append_n(head, &class[line][i], 1);
    add_names(head, layout);
    add_descriptions(head, layout);
    add_info(head, layout);
    add_matrix(head, "data_1", DOUBLES, 1 + recorder->fixed_count, 2);
    recorder->constants_at = (off_t)head->length;
    for (size_t i = 0; i < 2 * (1 + recorder->fixed_count); i++)
        recorder->constants[i] = NAN; /* not known before the first row */
    tutti_text_append_n(head, (const char *)recorder->constants,
                        2 * (1 + recorder->fixed_count) * sizeof *recorder->constants);
    recorder->counted = (off_t)(head->length + 2 * sizeof(int32_t));
    add_matrix(head, "data_2", DOUBLES, 1 + recorder->varying_count, 0);
    recorder->first = (off_t)head->length;
}

/* --- opening and closing */

static void release(struct tutti_recorder *recorder)
{
    free(recorder->buffer);
    free(recorder->constants);
    free(recorder->fixed);
    free(recorder->varying);
    free(recorder->path);
    free(recorder);
}

static enum tutti_err close_file(struct tutti_recorder *recorder)
{
    enum tutti_err err = tutti_record_file_close(&recorder->file, flush(recorder));
    release(recorder);
    return err;
}

static enum tutti_err lay_out(struct tutti_recorder *recorder, struct tutti_text *head, struct layout *layout)
{
    recorder->fixed = calloc(layout->n + 1, sizeof *recorder->fixed);
    recorder->varying = calloc(layout->n + 1, sizeof *recorder->varying);
    if (!recorder->path || !recorder->fixed || !recorder->varying || !layout->index || !layout->fixed)
        return tutti_fail_memory();
    find_places(recorder, layout);
    TRY(measure(layout, recorder->path));
    recorder->row_size = (1 + recorder->varying_count) * sizeof(double);
    recorder->capacity = BUFFER < 2 * recorder->row_size ? 2 * recorder->row_size : BUFFER;
    recorder->buffer = malloc(recorder->capacity);
    recorder->constants = calloc(2 * (1 + recorder->fixed_count), sizeof *recorder->constants);
    if (!recorder->buffer || !recorder->constants)
        return tutti_fail_memory();
    add_head(recorder, head, layout);
    return head->failed ? tutti_fail_memory() : TUTTI_OK;
}

/* Everything that needs memory. */
static enum tutti_err prepare(struct tutti_recorder *recorder, struct tutti_text *head, const char *path,
                              const struct tutti_column *columns, size_t n)
{
    struct layout layout = {.columns = columns, .n = n};
    recorder->path = tutti_str_copy(path);
    recorder->columns = columns;
    recorder->column_count = n;
    layout.index = calloc(n + 1, sizeof *layout.index);
    layout.fixed = calloc(n + 1, sizeof *layout.fixed);
    enum tutti_err err = lay_out(recorder, head, &layout);
    free(layout.index);
    free(layout.fixed);
    return err;
}

/* Goes to the file at once: a full disk shows now, not after hours. */
static enum tutti_err write_head(struct tutti_recorder *recorder, const struct tutti_text *head)
{
    if (ftruncate(recorder->file.fd, 0) != 0)
        return tutti_record_file_fail_open(recorder->path);
    errno = 0;
    if (write_at(recorder, head->text, head->length, 0)) {
        recorder->offset = recorder->first;
        return TUTTI_OK;
    }
    int error = errno ? errno : EIO;
    (void)!ftruncate(recorder->file.fd, 0);
    return tutti_record_file_fail_write(recorder->path, error);
}

static enum tutti_err begin(struct tutti_recorder *recorder, const struct tutti_text *head)
{
    TRY(tutti_record_file_must_be_regular(recorder->path, ".mat"));
    TRY(tutti_record_file_open(&recorder->file, recorder->path));
    enum tutti_err err = write_head(recorder, head);
    return err ? tutti_record_file_close(&recorder->file, err) : TUTTI_OK;
}

/* The head is that of these columns, but for the constants and the number of points. */
static enum tutti_err check_head(const struct tutti_recorder *recorder, const struct tutti_text *head)
{
    off_t after = recorder->constants_at + (off_t)(2 * (1 + recorder->fixed_count) * sizeof(double));
    off_t rest = recorder->counted + (off_t)sizeof(int32_t);
    TRY(tutti_record_file_expect(&recorder->file, head->text, (size_t)recorder->constants_at, 0));
    TRY(tutti_record_file_expect(&recorder->file, head->text + after, (size_t)(recorder->counted - after), after));
    return tutti_record_file_expect(&recorder->file, head->text + rest, (size_t)(recorder->first - rest), rest);
}

/* The number of points and the last time as they were. The file is cut last: invariant 2. */
static enum tutti_err take_back(struct tutti_recorder *recorder)
{
    size_t column = (1 + recorder->fixed_count) * sizeof(double);
    double last;
    off_t last_at = recorder->offset - (off_t)recorder->row_size;
    errno = 0;
    bool done = write_at(recorder, &recorder->points, sizeof recorder->points, recorder->counted);
    if (recorder->points == 0)
        done = done && write_at(recorder, recorder->constants, 2 * column, recorder->constants_at);
    else
        done = done && pread(recorder->file.fd, &last, sizeof last, last_at) == sizeof last &&
               write_at(recorder, &last, sizeof last, recorder->constants_at + (off_t)column);
    if (!done)
        return tutti_record_file_fail_write(recorder->path, errno ? errno : EIO);
    recorder->stored = recorder->points > 0;
    return tutti_record_file_cut(&recorder->file, recorder->offset);
}

static enum tutti_err go_on(struct tutti_recorder *recorder, const struct tutti_text *head, off_t position)
{
    off_t rows = (position - recorder->first) / (off_t)recorder->row_size;
    if (position < recorder->first || rows > INT32_MAX ||
        recorder->first + rows * (off_t)recorder->row_size != position)
        return tutti_record_file_fail_mark(recorder->path);
    recorder->points = (int32_t)rows;
    recorder->offset = position;
    TRY(check_head(recorder, head));
    return take_back(recorder);
}

static enum tutti_err resume(struct tutti_recorder *recorder, const struct tutti_text *head,
                             struct tutti_unparcel *mark)
{
    off_t position;
    TRY(tutti_record_check_columns(mark, &tutti_record_mat, recorder->path, recorder->columns, recorder->column_count));
    TRY(tutti_record_file_reopen(&recorder->file, recorder->path, mark, &position));
    enum tutti_err err = go_on(recorder, head, position);
    return err ? tutti_record_file_close(&recorder->file, err) : TUTTI_OK;
}

/* `mark` is NULL for a new file. */
static enum tutti_err open_recorder(struct tutti_recorder **out, const char *path, const struct tutti_column *columns,
                                    size_t n, struct tutti_unparcel *mark)
{
    struct tutti_recorder *recorder = calloc(1, sizeof *recorder);
    if (!recorder)
        return tutti_fail_memory();
    struct tutti_text head = {0};
    enum tutti_err err = prepare(recorder, &head, path, columns, n);
    if (err == TUTTI_OK)
        err = mark ? resume(recorder, &head, mark) : begin(recorder, &head);
    tutti_text_fini(&head);
    if (err != TUTTI_OK) {
        release(recorder);
        return err;
    }
    *out = recorder;
    return TUTTI_OK;
}

static enum tutti_err open_mat(struct tutti_recorder **out, const char *path, const struct tutti_column *columns,
                               size_t n)
{
    return open_recorder(out, path, columns, n, NULL);
}

static enum tutti_err reopen_mat(struct tutti_recorder **out, const char *path, const struct tutti_column *columns,
                                 size_t n, struct tutti_unparcel *mark)
{
    return open_recorder(out, path, columns, n, mark);
}

const struct tutti_record_format tutti_record_mat = {
    .name = "mat",
    .extension = ".mat",
    .any_thread = true,
    .fixed_once = true,
    .open = open_mat,
    .row = row,
    .flush = flush,
    .close = close_file,
    .emergency = emergency,
    .mark = mark_place,
    .reopen = reopen_mat,
    .sync = sync_file,
};
