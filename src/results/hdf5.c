/* SPDX-License-Identifier: MIT */
/* HDF5: rows are collected in blocks, which the recorder's thread writes by the module (hdf5.h), while the run fills
 * the next block. A run that is killed by a fault of an FMU leaves its last rows to this thread, and so does a run
 * whose FMU does not return for some time.
 *
 * Invariants:
 * 1. Between `wake` and `idle` the thread works on a task with the block `given`; at other times the run owns all data.
 * 2. The run fills the present block, and raises its `rows` after the last value of a row. A full block passes to the thread, and the second block becomes the present one, by one change of `order`.
 * 3. The thread reads the present block when it is given, when `dying` is set, or when no task has come for a while: at the
 *    rows that it has then, to which the run may be adding others. A block with its last row is left to the task that is about to
 *    come with it. */
#include "results/hdf5.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "base/crash.h"
#include "base/module.h"
#include "base/number.h"
#include "base/text.h"
#include "base/thread.h"
#include "results/record_file.h"
#include "results/recorder.h"
#include "results/result.h"

struct hdf5_block {
    double *times, *values; /* values[row][column] */
    _Atomic size_t rows;
};

enum { ALIVE, DYING, SAVED };
/* An order: the place of the present block in the lowest bit, a task above it. */
enum { PRESENT = 1, WRITE = 2, FLUSH = 4, END = 8 };

struct tt_recorder {
    const struct tt_hdf5_module *module;
    struct tt_hdf5_writer *writer;
    struct tt_record_file claim; /* the file, open a second time: others see that it is taken */
    char *path;
    const struct tt_column *all_columns;
    size_t all_count;
    const struct tt_column **columns; /* those that are numbers */
    size_t count, block;
    uint64_t done; /* rows before the present block */
    struct hdf5_block blocks[2];
    const struct hdf5_block *given;
    size_t written;      /* the thread's: rows of the present block that are in the file */
    bool flushed;        /* the thread's: the file shows all that was written */
    _Atomic bool saving; /* the thread writes without a task */
    _Atomic unsigned order;
    sem_t wake, idle;
    pthread_t thread;
    _Atomic int dying;
    _Atomic enum tutti_err err; /* the first failure, set after its message: nothing is written any more */
    char message[1024];
};

/* --- the module */

static const struct tt_hdf5_host host = {
    .abi = TUTTI_HDF5_ABI,
    .fail = tt_fail,
    .fail_memory = tt_fail_memory,
    .fail_write = tt_record_file_fail_write,
};

enum tutti_err tt_hdf5_load(const struct tt_hdf5_module **module)
{
    static const struct tt_module hdf5 = {"tutti_hdf5.so", "tt_hdf5_module", "HDF5", "libhdf5-dev", "libhdf5-103-1"};
    void *symbol;
    tt_hdf5_entry *entry = NULL;
    TRY(tt_module_load(&symbol, &hdf5, NULL));
    *(void **)&entry = symbol; /* the way that POSIX shows for functions */
    *module = entry(&host);
    if (*module && (*module)->abi == TUTTI_HDF5_ABI)
        return TUTTI_OK;
    return tt_fail(TUTTI_ERR_LOAD, "%s is of another version of Tutti", hdf5.file);
}

/* --- the thread */

static void hdf5_wait(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0 && errno == EINTR)
        ;
}

/* Waits for a task; false after longer than the interval between two flushes of a running simulation. (sem_timedwait
 * has only this clock; if it is set, rows come sooner or later.) */
static bool hdf5_wait_for_task(struct tt_recorder *recorder)
{
    enum { PATIENCE = 2 }; /* s */
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE;
    while (sem_timedwait(&recorder->wake, &until) != 0)
        if (errno != EINTR)
            return false;
    return true;
}

static void hdf5_keep_error(struct tt_recorder *recorder, enum tutti_err err)
{
    if (!err)
        return;
    snprintf(recorder->message, sizeof recorder->message, "%s", tutti_err_message());
    recorder->err = err;
}

static size_t hdf5_block_rows(const struct hdf5_block *block)
{
    return atomic_load_explicit(&block->rows, memory_order_acquire);
}

static void write_block(struct tt_recorder *recorder, const struct hdf5_block *block, size_t rows, bool last)
{
    if (rows <= recorder->written && !last)
        return;
    if (!recorder->err)
        hdf5_keep_error(recorder, recorder->module->write(recorder->writer, block->times, block->values, rows, last));
    recorder->written = rows == recorder->block ? 0 : rows;
    recorder->flushed = false;
}

static void flush_file(struct tt_recorder *recorder)
{
    if (!recorder->err)
        hdf5_keep_error(recorder, recorder->module->flush(recorder->writer));
    recorder->flushed = true;
}

/* Invariant 3: nothing has come for a while. */
static void save_partial_block(struct tt_recorder *recorder)
{
    unsigned order = recorder->order;
    const struct hdf5_block *block = &recorder->blocks[order & PRESENT];
    size_t rows = hdf5_block_rows(block);
    if (order & ~(unsigned)PRESENT)
        return; /* a task came just now, perhaps with the second block */
    if (rows < recorder->block)
        write_block(recorder, block, rows, false);
    if (!recorder->flushed)
        flush_file(recorder);
}

static void *hdf5_run_thread(void *context)
{
    struct tt_recorder *recorder = context;
    unsigned task = 0;
    while (task != END) {
        if (!hdf5_wait_for_task(recorder)) {
            recorder->saving = true;
            save_partial_block(recorder);
            recorder->saving = false;
            continue;
        }
        task = atomic_fetch_and(&recorder->order, PRESENT) & ~(unsigned)PRESENT;
        if (task)
            write_block(recorder, recorder->given, hdf5_block_rows(recorder->given), task == END);
        if (task == FLUSH)
            flush_file(recorder);
        if (recorder->dying == DYING && task != END) {
            const struct hdf5_block *block = &recorder->blocks[recorder->order & PRESENT];
            write_block(recorder, block, hdf5_block_rows(block), false);
            flush_file(recorder);
            recorder->dying = SAVED;
        }
        if (task)
            sem_post(&recorder->idle);
    }
    return NULL;
}

/* --- the run's side */

static struct hdf5_block *current_block(struct tt_recorder *recorder)
{
    return &recorder->blocks[atomic_load_explicit(&recorder->order, memory_order_relaxed) & PRESENT];
}

static enum tutti_err hdf5_report_error(const struct tt_recorder *recorder)
{
    return recorder->err ? tt_fail(recorder->err, "%s", recorder->message) : TUTTI_OK;
}

/* Gives the thread a task with the present block; `next` is the present one from then on. The thread is idle. */
static void hdf5_submit_task(struct tt_recorder *recorder, unsigned task, const struct hdf5_block *next)
{
    recorder->given = current_block(recorder);
    recorder->order = task | (next == &recorder->blocks[1] ? PRESENT : 0);
    sem_post(&recorder->wake);
}

static enum tutti_err hdf5_write_row(struct tt_recorder *recorder, double time)
{
    if (__builtin_expect(recorder->err != TUTTI_OK, 0))
        return hdf5_report_error(recorder);
    struct hdf5_block *block = current_block(recorder);
    size_t rows = atomic_load_explicit(&block->rows, memory_order_relaxed);
    double *values = block->values + rows * recorder->count;
    block->times[rows] = time;
    for (size_t i = 0; i < recorder->count; i++)
        values[i] = tt_recorder_column_number(recorder->columns[i]);
    atomic_store_explicit(&block->rows, rows + 1, memory_order_release);
    if (rows + 1 == recorder->block) {
        struct hdf5_block *next = &recorder->blocks[current_block(recorder) == &recorder->blocks[0]];
        hdf5_wait(&recorder->idle);
        next->rows = 0;
        recorder->done += recorder->block;
        hdf5_submit_task(recorder, WRITE, next);
    }
    return TUTTI_OK;
}

static enum tutti_err hdf5_flush(struct tt_recorder *recorder)
{
    hdf5_wait(&recorder->idle);
    hdf5_submit_task(recorder, FLUSH, current_block(recorder));
    hdf5_wait(&recorder->idle);
    sem_post(&recorder->idle);
    return hdf5_report_error(recorder);
}

/* Computes a digest by which the last row is recognised; if the present block is empty, of the previous block's last
 * row. */
static uint64_t digest_last(struct tt_recorder *recorder)
{
    const struct hdf5_block *block = current_block(recorder);
    size_t rows = block->rows;
    uint64_t sum = TUTTI_RECORD_DIGEST;
    if (recorder->done == 0 && rows == 0)
        return sum;
    if (rows == 0) {
        block = &recorder->blocks[block == &recorder->blocks[0]];
        rows = recorder->block;
    }
    sum = tt_recorder_digest(sum, &block->times[rows - 1], sizeof *block->times);
    return tt_recorder_digest(sum, block->values + (rows - 1) * recorder->count,
                              recorder->count * sizeof *block->values);
}

static enum tutti_err hdf5_mark(struct tt_recorder *recorder, struct tt_byte_writer *mark)
{
    TRY(hdf5_flush(recorder));
    tt_recorder_put_columns(mark, &tt_hdf5_format, recorder->all_columns, recorder->all_count);
    tt_bytes_put_u64(mark, recorder->done + current_block(recorder)->rows);
    tt_bytes_put_u64(mark, digest_last(recorder));
    return mark->failed ? tt_fail_memory() : TUTTI_OK;
}

static enum tutti_err hdf5_sync(struct tt_recorder *recorder)
{
    return tt_record_file_sync(&recorder->claim);
}

/* The thread writes; the handler waits for it only for a while: it may need memory whose lock the fault left closed. */
static void hdf5_emergency(struct tt_recorder *recorder)
{
    enum { PATIENCE = 2000 }; /* ms */
    if (tt_crash_is_last_thread()) {
        /* The recorder's thread is gone, too. A task that it had begun cannot be continued. */
        int idle = 0;
        bool whole = sem_getvalue(&recorder->idle, &idle) == 0 && idle > 0 && !recorder->saving;
        if (whole) {
            write_block(recorder, current_block(recorder), hdf5_block_rows(current_block(recorder)), false);
            flush_file(recorder);
        }
        if (!whole || recorder->err)
            tt_crash_report_loss();
        return;
    }
    if (pthread_equal(pthread_self(), recorder->thread))
        return;
    recorder->dying = DYING;
    sem_post(&recorder->wake);
    for (int i = 0; i < PATIENCE && recorder->dying != SAVED; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* --- opening and closing */

/* Returns `err`; if that is OK, the failure to find the file where it was made. */
static enum tutti_err hdf5_release(struct tt_recorder *recorder, enum tutti_err err)
{
    for (int i = 0; i < 2; i++) {
        free(recorder->blocks[i].times);
        free(recorder->blocks[i].values);
    }
    free(recorder->columns);
    err = tt_record_file_close(&recorder->claim, err);
    free(recorder->path);
    free(recorder);
    return err;
}

static enum tutti_err close_recorder(struct tt_recorder *recorder)
{
    hdf5_wait(&recorder->idle);
    hdf5_submit_task(recorder, END, current_block(recorder));
    pthread_join(recorder->thread, NULL);
    enum tutti_err closing = recorder->module->close(recorder->writer), err = hdf5_report_error(recorder);
    sem_destroy(&recorder->wake);
    sem_destroy(&recorder->idle);
    return hdf5_release(recorder, err ? err : closing);
}

/* Rows of a block, and columns of a chunk. A block that must be in the file before it is full is not deflated: it should not be
 * large. A chunk has 16 KiB or more, of as few columns as that takes, so that one variable is read fast. */
static void choose_chunk_shape(size_t count, size_t *block, size_t *width)
{
    enum { WANTED = 1 << 20, MOST = 8 << 20, CHUNK = 2048 };
    size_t bytes = (count ? count : 1) * sizeof(double), rows = 4096; /* of a row */
    while ((rows * bytes > WANTED && rows > 8) || (rows * bytes > MOST && rows > 1))
        rows /= 2;
    *block = rows;
    *width = rows >= CHUNK ? 1 : CHUNK / rows;
    if (*width > count)
        *width = count ? count : 1;
}

/* The texts are borrowed from the columns, which HDF5 only reads. */
static enum tutti_err hdf5_describe(const struct tt_recorder *recorder, struct tt_hdf5_texts *texts, char ***all)
{
    size_t count = recorder->count;
    *all = calloc(5 * count + 1, sizeof **all);
    if (!*all)
        return tt_fail_memory();
    *texts = (struct tt_hdf5_texts){count, *all, *all + count, *all + 2 * count, *all + 3 * count, *all + 4 * count};
    for (size_t i = 0; i < count; i++) {
        const struct tt_column *column = recorder->columns[i];
        texts->names[i] = (char *)column->name;
        texts->units[i] = (char *)(column->unit ? column->unit : "");
        texts->descriptions[i] = (char *)(column->description ? column->description : "");
        texts->types[i] = (char *)tt_type_name(column->type);
        texts->variabilities[i] = column->held || !tt_type_is_float(column->type) ? (char *)"discrete"
                                                                                  : (char *)"continuous";
    }
    return TUTTI_OK;
}

static enum tutti_err hdf5_prepare(struct tt_recorder *recorder, const char *path, const struct tt_column *columns,
                                   size_t n, size_t *width)
{
    recorder->path = tt_text_copy(path);
    recorder->columns = calloc(n + 1, sizeof(const struct tt_column *));
    if (!recorder->path || !recorder->columns)
        return tt_fail_memory();
    recorder->all_columns = columns;
    recorder->all_count = n;
    for (size_t i = 0; i < n; i++)
        if (!tt_type_is_text(columns[i].type))
            recorder->columns[recorder->count++] = &columns[i];
    choose_chunk_shape(recorder->count, &recorder->block, width);
    for (int i = 0; i < 2; i++) {
        recorder->blocks[i].times = calloc(recorder->block, sizeof(double));
        recorder->blocks[i].values = calloc(recorder->block * recorder->count + 1, sizeof(double));
        if (!recorder->blocks[i].times || !recorder->blocks[i].values)
            return tt_fail_memory();
    }
    return TUTTI_OK;
}

/* Checks that the file can be written. HDF5's own message is unspecific, and it does not lock out other processes. The
 * content is not changed yet. */
static enum tutti_err hdf5_claim_file(struct tt_recorder *recorder)
{
    TRY(tt_record_file_check_regular(recorder->path, ".h5"));
    return tt_record_file_open(&recorder->claim, recorder->path);
}

/* --- a file of an interrupted run */

static enum tutti_err fail_other_file(const struct tt_recorder *recorder)
{
    return tt_record_file_fail_reopen(recorder->path, "it is not the file that the checkpoint was written with");
}

static bool texts_are_equal(char *const *texts, char *const *others, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!others || strcmp(texts[i], others[i] ? others[i] : "") != 0)
            return false;
    return true;
}

static bool matches_plan(const struct tt_hdf5_plan *plan, const struct tt_hdf5_content *content)
{
    const struct tt_hdf5_texts *ours = plan->texts, *theirs = &content->texts;
    return ours->count == theirs->count && plan->block == content->block && plan->width == content->width &&
           texts_are_equal(ours->names, theirs->names, ours->count) &&
           texts_are_equal(ours->units, theirs->units, ours->count) &&
           texts_are_equal(ours->descriptions, theirs->descriptions, ours->count) &&
           texts_are_equal(ours->types, theirs->types, ours->count);
}

/* Rows `first` to before `end` of the file go to those from `at` on of a block. */
static enum tutti_err hdf5_read_rows(struct tt_recorder *recorder, struct tt_hdf5_reader *reader, size_t first,
                                     size_t end, struct hdf5_block *block, size_t at)
{
    size_t rows = end - first, count = recorder->count;
    TRY(recorder->module->read_times(reader, first, rows, block->times + at));
    if (count == 0)
        return TUTTI_OK;
    return recorder->module->read(reader, first, rows, 0, count, block->values + at * count);
}

/* The present block as it was after `rows` rows; the last row in any case. */
static enum tutti_err hdf5_read_block(struct tt_recorder *recorder, struct tt_hdf5_reader *reader, size_t rows)
{
    size_t begun = rows % recorder->block;
    recorder->done = rows - begun;
    recorder->blocks[0].rows = begun;
    if (begun > 0)
        return hdf5_read_rows(recorder, reader, rows - begun, rows, &recorder->blocks[0], 0);
    return rows > 0 ? hdf5_read_rows(recorder, reader, rows - 1, rows, &recorder->blocks[1], recorder->block - 1)
                    : TUTTI_OK;
}

static enum tutti_err hdf5_check_content(struct tt_recorder *recorder, const struct tt_hdf5_plan *plan,
                                         struct tt_byte_reader *mark)
{
    struct tt_hdf5_reader *reader = NULL;
    struct tt_hdf5_content content = {0};
    uint64_t rows = tt_bytes_get_u64(mark), sum = tt_bytes_get_u64(mark);
    if (mark->bad)
        return tt_record_file_fail_mark(recorder->path);
    enum tutti_err err = recorder->module->recover(recorder->path);
    if (!err)
        err = recorder->module->open(&reader, recorder->path, &content);
    if (err)
        return err == TUTTI_ERR_FORMAT ? fail_other_file(recorder) : err;
    if (!matches_plan(plan, &content) || rows > content.rows)
        err = fail_other_file(recorder);
    if (!err)
        err = hdf5_read_block(recorder, reader, (size_t)rows);
    if (!err && digest_last(recorder) != sum)
        err = fail_other_file(recorder);
    recorder->module->close_reader(reader);
    return err;
}

/* The block that was begun is in the file again before this returns: the run may be interrupted at once. */
static enum tutti_err hdf5_restore_block(struct tt_recorder *recorder, const struct tt_hdf5_plan *plan)
{
    const struct tt_hdf5_module *module = recorder->module;
    const struct hdf5_block *block = &recorder->blocks[0];
    TRY(module->reopen(&recorder->writer, plan, (size_t)recorder->done));
    enum tutti_err err = module->write(recorder->writer, block->times, block->values, block->rows, false);
    if (!err)
        err = module->flush(recorder->writer);
    if (err)
        (void)!module->close(recorder->writer); /* the first failure counts */
    recorder->written = block->rows;
    return err;
}

static enum tutti_err hdf5_resume(struct tt_recorder *recorder, const struct tt_hdf5_plan *plan,
                                  struct tt_byte_reader *mark)
{
    TRY(tt_recorder_check_columns(mark, &tt_hdf5_format, recorder->path, recorder->all_columns, recorder->all_count));
    TRY(tt_record_file_open_existing(&recorder->claim, recorder->path));
    TRY(hdf5_check_content(recorder, plan, mark));
    return hdf5_restore_block(recorder, plan);
}

/* --- either */

/* `mark` is NULL for a new file. */
static enum tutti_err hdf5_open_file(struct tt_recorder *recorder, size_t width, struct tt_byte_reader *mark)
{
    struct tt_hdf5_texts texts = {0};
    char **all;
    TRY(hdf5_describe(recorder, &texts, &all));
    const struct tt_hdf5_plan plan = {recorder->path, "Tutti " TUTTI_VERSION, &texts, recorder->block, width};
    enum tutti_err err = mark ? hdf5_resume(recorder, &plan, mark) : hdf5_claim_file(recorder);
    if (!err && !mark)
        err = recorder->module->create(&recorder->writer, &plan);
    free(all);
    return err;
}

static enum tutti_err hdf5_open_recorder(struct tt_recorder **out, const char *path, const struct tt_column *columns,
                                         size_t n, struct tt_byte_reader *mark)
{
    const struct tt_hdf5_module *module;
    TRY(tt_fail_context(tt_hdf5_load(&module), "cannot write %s", path));
    struct tt_recorder *recorder = calloc(1, sizeof *recorder);
    size_t width = 1;
    if (!recorder)
        return tt_fail_memory();
    recorder->module = module;
    recorder->claim.fd = -1;
    recorder->flushed = true; /* the file is, when it is open */
    enum tutti_err err = hdf5_prepare(recorder, path, columns, n, &width);
    if (!err)
        err = hdf5_open_file(recorder, width, mark);
    if (!err) {
        sem_init(&recorder->wake, 0, 0);
        sem_init(&recorder->idle, 0, 1);
        int error = tt_thread_start(&recorder->thread, hdf5_run_thread, recorder);
        if (error) {
            (void)!recorder->module->close(recorder->writer);
            err = tt_fail(TUTTI_ERR_LIMIT, "cannot write %s: no thread for it: %s", recorder->path, strerror(error));
        }
    }
    if (err)
        return hdf5_release(recorder, err);
    *out = recorder;
    return TUTTI_OK;
}

static enum tutti_err hdf5_open(struct tt_recorder **out, const char *path, const struct tt_column *columns, size_t n)
{
    return hdf5_open_recorder(out, path, columns, n, NULL);
}

static enum tutti_err hdf5_reopen(struct tt_recorder **out, const char *path, const struct tt_column *columns, size_t n,
                                  struct tt_byte_reader *mark)
{
    return hdf5_open_recorder(out, path, columns, n, mark);
}

const struct tt_record_format tt_hdf5_format = {
    .name = "hdf5",
    .extension = ".h5",
    .sheet = &tt_hdf5_table_format,
    .open = hdf5_open,
    .row = hdf5_write_row,
    .flush = hdf5_flush,
    .close = close_recorder,
    .emergency = hdf5_emergency,
    .mark = hdf5_mark,
    .reopen = hdf5_reopen,
    .sync = hdf5_sync,
};

/* HDF5 results in the layout of hdf5.h, finished, still growing or left by a run that was killed. Values are read in pieces of
 * the file's chunks. */

struct hdf5_result {
    const struct tt_hdf5_module *module;
    struct tt_hdf5_reader *reader;
    struct tt_hdf5_content content;
};

static const unsigned char SIGNATURE[] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

/* MATLAB's files of version 7.3 have the signature at 512, after a text; mat_reader.c reports how to convert them. */
static bool hdf5_result_fits(const char *path, const unsigned char *head, size_t size)
{
    const char *dot = strrchr(path, '.');
    bool named = dot && (strcasecmp(dot, ".h5") == 0 || strcasecmp(dot, ".hdf5") == 0);
    return named || (size >= sizeof SIGNATURE && memcmp(head, SIGNATURE, sizeof SIGNATURE) == 0);
}

/* --- opening */

static enum tutti_err hdf5_result_take_text(struct tutti_result *result, char *const *texts, size_t i,
                                            const char **text)
{
    *text = NULL;
    if (!texts || !texts[i][0])
        return TUTTI_OK;
    *text = tt_arena_copy_text(&result->arena, texts[i], strlen(texts[i]));
    return *text ? TUTTI_OK : tt_fail_memory();
}

static enum tutti_err hdf5_result_take_vars(struct tutti_result *result, struct hdf5_result *hdf5)
{
    const struct tt_hdf5_texts *texts = &hdf5->content.texts;
    result->count = texts->count;
    result->variables = tt_arena_array(&result->arena, texts->count + 1, sizeof *result->variables);
    if (!result->variables)
        return tt_fail_memory();
    result->types = (const char *const *)texts->types; /* they live as long as the reader */
    for (size_t i = 0; i < texts->count; i++) {
        struct tutti_result_variable *variable = &result->variables[i];
        TRY(hdf5_result_take_text(result, texts->names, i, &variable->name));
        TRY(hdf5_result_take_text(result, texts->units, i, &variable->unit));
        TRY(hdf5_result_take_text(result, texts->descriptions, i, &variable->description));
        if (!variable->name)
            return tt_fail(TUTTI_ERR_FORMAT, "%s: variable %zu has no name", result->path, i + 1);
        variable->numeric = true;
        variable->held = texts->variabilities
                             ? strcmp(texts->variabilities[i], "continuous") != 0
                             : texts->types && texts->types[i][0] && strncmp(texts->types[i], "Float", 5) != 0;
    }
    return hdf5_result_take_text(result, hdf5->content.time_unit ? &hdf5->content.time_unit : NULL, 0,
                                 &result->time_unit);
}

/* Counts how many of the known times match those of the file: all, or none. */
static enum tutti_err count_known(const struct tutti_result *result, const struct hdf5_result *hdf5, size_t *known)
{
    double first, last;
    *known = 0;
    if (result->known == 0 || result->known > hdf5->content.rows)
        return TUTTI_OK;
    TRY(hdf5->module->read_times(hdf5->reader, 0, 1, &first));
    TRY(hdf5->module->read_times(hdf5->reader, result->known - 1, 1, &last));
    if (first == result->times[0] && last == result->times[result->known - 1])
        *known = result->known;
    return TUTTI_OK;
}

static enum tutti_err hdf5_result_take_times(struct tutti_result *result, const struct hdf5_result *hdf5)
{
    size_t rows = hdf5->content.rows, known;
    TRY(count_known(result, hdf5, &known));
    double *times = rows < SIZE_MAX / sizeof(double) - 1 ? realloc(result->times, (rows + 1) * sizeof(double)) : NULL;
    if (!times)
        return tt_fail_memory();
    result->times = times;
    if (known < rows)
        TRY(hdf5->module->read_times(hdf5->reader, known, rows - known, times + known));
    for (size_t i = known; i < rows; i++) {
        if (!isfinite(result->times[i]))
            return tt_fail(TUTTI_ERR_FORMAT, "%s: the time of row %zu is not a finite number", result->path, i + 1);
        if (i > 0 && result->times[i] < result->times[i - 1])
            return tt_fail(TUTTI_ERR_FORMAT, "%s: time runs backwards from %s to %s at row %zu", result->path,
                           NUMBER(result->times[i - 1]), NUMBER(result->times[i]), i + 1);
    }
    result->rows = rows;
    return TUTTI_OK;
}

static enum tutti_err hdf5_result_open(struct tutti_result *result, const struct tutti_log *log)
{
    (void)log;
    struct hdf5_result *hdf5 = calloc(1, sizeof *hdf5);
    result->own = hdf5;
    if (!hdf5)
        return tt_fail_memory();
    TRY(tt_fail_context(tt_hdf5_load(&hdf5->module), "cannot read %s", result->path));
    TRY(hdf5->module->open(&hdf5->reader, result->path, &hdf5->content));
    TRY(hdf5_result_take_vars(result, hdf5));
    return result->names_only ? TUTTI_OK : hdf5_result_take_times(result, hdf5);
}

static void hdf5_result_close(struct tutti_result *result)
{
    struct hdf5_result *hdf5 = result->own;
    if (hdf5->module)
        hdf5->module->close_reader(hdf5->reader);
    free(hdf5);
}

/* The unit of reading: some rows of neighbouring variables that share chunks. */
struct chunk_piece {
    size_t begin, rows; /* the first row of all; rows of a piece */
    const size_t *which;
    size_t count, first, columns;
    double *values;
};

/* As many of `which` as lie in the chunk of the first one. */
static struct chunk_piece next_piece(const struct hdf5_result *hdf5, const size_t *which, size_t count)
{
    size_t width = hdf5->content.width ? hdf5->content.width : 64;
    struct chunk_piece piece = {.which = which, .count = 1, .first = which[0]};
    while (piece.count < count && which[piece.count] / width == which[0] / width)
        piece.count++;
    piece.columns = which[piece.count - 1] - which[0] + 1;
    return piece;
}

static enum tutti_err read_piece(const struct tutti_result *result, const struct chunk_piece *piece,
                                 double *const *values)
{
    const struct hdf5_result *hdf5 = result->own;
    for (size_t row = piece->begin; row < result->rows; row += piece->rows) {
        size_t rows = result->rows - row < piece->rows ? result->rows - row : piece->rows;
        TRY(hdf5->module->read(hdf5->reader, row, rows, piece->first, piece->columns, piece->values));
        for (size_t i = 0; i < piece->count; i++) {
            const double *from = piece->values + (piece->which[i] - piece->first);
            for (size_t r = 0; r < rows; r++)
                values[i][row + r] = from[r * piece->columns];
        }
    }
    return TUTTI_OK;
}

static enum tutti_err hdf5_result_read_from(struct tutti_result *result, const size_t *which, size_t count,
                                            size_t first, double *const *values)
{
    enum { AT_ONCE = 1 << 16 }; /* numbers; more if a chunk has more */
    const struct hdf5_result *hdf5 = result->own;
    for (size_t done = 0; done < count;) {
        struct chunk_piece piece = next_piece(hdf5, which + done, count - done);
        size_t block = hdf5->content.block ? hdf5->content.block : 1, blocks = AT_ONCE / (block * piece.columns);
        piece.rows = block * (blocks ? blocks : 1);
        piece.begin = first;
        piece.values = malloc(piece.rows * piece.columns * sizeof(double));
        if (!piece.values)
            return tt_fail_memory();
        enum tutti_err err = read_piece(result, &piece, values + done);
        free(piece.values);
        TRY(err);
        done += piece.count;
    }
    return TUTTI_OK;
}

static enum tutti_err hdf5_result_read(struct tutti_result *result, const size_t *which, size_t count,
                                       double *const *values)
{
    return hdf5_result_read_from(result, which, count, 0, values);
}

const struct tt_result_format tt_hdf5_result_format = {
    .name = "hdf5",
    .fits = hdf5_result_fits,
    .open = hdf5_result_open,
    .read = hdf5_result_read,
    .read_from = hdf5_result_read_from,
    .close = hdf5_result_close,
};
