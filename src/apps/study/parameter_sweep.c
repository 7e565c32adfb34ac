/* SPDX-License-Identifier: MIT */
#include "apps/study/parameter_sweep.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/api/simulation.h"
#include "apps/study/worker_mpi.h"
#include "apps/study/worker_pool.h"
#include "base/fs.h"
#include "base/number.h"
#include "base/wall_clock.h"
#include "results/record_file.h"
#include "results/recorder.h"
#include "run/confined.h"
#include "run/launch/nodes.h"
#include "run/node/node_protocol.h"
#include "run/run_identity.h"

/* ---- what became of runs ---- */

static enum tutti_err parameter_sweep_store_record(struct tutti_sweep *sweep, const struct tt_run_record *record,
                                                   size_t offset)
{
    size_t run = record->run, count = sweep->measure_count;
    sweep->over++;
    sweep->is_over[run] = true;
    sweep->statuses[run] = (uint8_t)record->status;
    sweep->offsets[run] = offset;
    sweep->good += record->status == TUTTI_RUN_OK;
    for (size_t i = 0; i < count; i++)
        sweep->values[run * count + i] = NAN;
    if (record->value_count == count)
        memcpy(&sweep->values[run * count], record->values, count * sizeof(double));
    if (!record->message)
        return TUTTI_OK;
    sweep->messages[run] = tt_arena_copy_text(&sweep->arena, record->message, strlen(record->message));
    return sweep->messages[run] ? TUTTI_OK : tt_fail_memory();
}

/* Returns true if it is a record of this sweep, of a run without a record. */
static bool parameter_sweep_accepts_record(const struct tutti_sweep *sweep, struct tt_bytes bytes,
                                           struct tt_run_record *record)
{
    return tt_sweep_worker_read_record(record, bytes) && record->run < sweep->design.runs &&
           !sweep->is_over[record->run] && (record->value_count == sweep->measure_count || record->value_count == 0);
}

static bool restore_journal_record(void *context, struct tt_bytes bytes, size_t offset)
{
    struct tutti_sweep *sweep = context;
    struct tt_run_record record;
    bool good = parameter_sweep_accepts_record(sweep, bytes, &record) &&
                parameter_sweep_store_record(sweep, &record, offset) == TUTTI_OK;
    sweep->found += good;
    return good;
}

static bool parameter_sweep_next_run(void *context, size_t *run)
{
    struct tutti_sweep *sweep = context;
    while (sweep->next < sweep->design.runs && sweep->is_over[sweep->next])
        sweep->next++;
    *run = sweep->next++;
    return *run < sweep->design.runs;
}

static enum tutti_err parameter_sweep_finish_run(void *context, struct tt_bytes bytes)
{
    struct tutti_sweep *sweep = context;
    struct tt_run_record record;
    size_t offset = 0;
    if (!parameter_sweep_accepts_record(sweep, bytes, &record))
        return tt_fail(TUTTI_ERR_LOST, "a worker told something that is no result of a run");
    if (sweep->journal)
        TRY(tt_sweep_journal_add(sweep->journal, bytes, &offset));
    return parameter_sweep_store_record(sweep, &record, offset);
}

static void log_sweep_progress(struct tutti_sweep *sweep)
{
    double now = tt_wall_clock_now();
    if (!sweep->options->progress || now - sweep->told < 0.1)
        return;
    sweep->told = now;
    const struct tutti_progress progress = {.start = (double)sweep->found,
                                            .stop = (double)sweep->design.runs,
                                            .time = (double)sweep->over,
                                            .steps = sweep->over,
                                            .elapsed = now - sweep->began,
                                            .is_study = true};
    sweep->options->progress(sweep->options->progress_context, &progress);
}

static enum tutti_err parameter_sweep_on_idle(void *context)
{
    struct tutti_sweep *sweep = context;
    if (sweep->journal)
        TRY(tt_sweep_journal_flush(sweep->journal));
    log_sweep_progress(sweep);
    return TUTTI_OK;
}

/* ---- the whole ---- */

/* Hashes the identity of the journal: files, options, values, measures. */
static enum tutti_err hash_sweep_identity(struct tutti_sweep *sweep, uint64_t *identity)
{
    struct tt_job *job = &sweep->work.trial.simulation->job;
    struct tt_byte_writer memory = {0};
    uint64_t sum = TUTTI_RECORD_DIGEST;
    enum tutti_err err = tt_run_identity_check(job, &memory);
    if (!err) {
        sum = tt_recorder_digest(sum, job->identity.data, job->identity.size);
        sum = tt_recorder_digest(sum, sweep->design.values, sweep->design.runs * sweep->design.count * sizeof(double));
        for (size_t i = 0; i < sweep->design.count; i++)
            sum = tt_recorder_digest(sum, sweep->design.names[i], strlen(sweep->design.names[i]) + 1);
        for (size_t i = 0; i < sweep->measure_count; i++)
            sum = tt_recorder_digest(sum, sweep->labels[i], strlen(sweep->labels[i]) + 1);
        sum = tt_recorder_digest(sum, &sweep->work.keeps_rows, sizeof sweep->work.keeps_rows);
    }
    job->identity = (struct tt_bytes){0};
    tt_bytes_fini(&memory);
    *identity = sum;
    return err;
}

static enum tutti_err open_sweep_journal(struct tutti_sweep *sweep)
{
    const char *beside = sweep->options->output && strcmp(sweep->options->output, "-") != 0
                             ? sweep->options->output
                             : sweep->options->trajectories;
    uint64_t identity;
    struct tt_text path = {0};
    if (!beside)
        return TUTTI_OK;
    TRY(hash_sweep_identity(sweep, &identity));
    tt_text_printf(&path, "%s.journal", beside);
    enum tutti_err err =
        path.failed ? tt_fail_memory()
                    : tt_sweep_journal_open(&sweep->journal, path.text, identity, sweep, restore_journal_record);
    tt_text_fini(&path);
    if (!err && sweep->found > 0)
        tt_log(sweep->options->log, TUTTI_LOG_INFO, NULL,
               "%zu of %zu runs are in the journal of an earlier call, and are not repeated", sweep->found,
               sweep->design.runs);
    return err;
}

static enum tutti_err parameter_sweep_allocate(struct tutti_sweep *sweep)
{
    size_t runs = sweep->design.runs;
    sweep->measure_count = sweep->work.count;
    sweep->labels = tt_arena_array(&sweep->arena, sweep->measure_count + 1, sizeof *sweep->labels);
    sweep->values = calloc(runs * sweep->measure_count + 1, sizeof *sweep->values);
    sweep->statuses = calloc(runs, sizeof *sweep->statuses);
    sweep->is_over = calloc(runs, sizeof *sweep->is_over);
    sweep->offsets = calloc(runs, sizeof *sweep->offsets);
    sweep->messages = calloc(runs, sizeof *sweep->messages);
    if (!sweep->labels || !sweep->values || !sweep->statuses || !sweep->is_over || !sweep->offsets || !sweep->messages)
        return tt_fail_memory();
    for (size_t i = 0; i < sweep->measure_count; i++) {
        sweep->labels[i] = tt_arena_copy_text(&sweep->arena, sweep->work.labels[i], strlen(sweep->work.labels[i]));
        if (!sweep->labels[i])
            return tt_fail_memory();
    }
    return TUTTI_OK;
}

/* Files must not be those that are read, nor each other. */
static enum tutti_err parameter_sweep_check_files(const struct tutti_run_options *options)
{
    const char *const paths[] = {options->output, options->trajectories};
    const char *const names[] = {"-o", "--trajectories"};
    const struct tt_record_format *format;
    for (int i = 0; i < 2; i++) {
        const char *reads = paths[i] ? tt_job_path_is_read(options, paths[i]) : NULL;
        if (!reads && paths[i] && tt_fs_is_same_file(paths[i], options->csv))
            reads = "--csv";
        if (reads)
            return tt_fail(TUTTI_ERR_ARGUMENT, "%s '%s' is what %s reads; name another file", names[i], paths[i],
                           reads);
    }
    if (options->trajectories && tt_fs_is_same_file(options->output, options->trajectories))
        return tt_fail(TUTTI_ERR_ARGUMENT, "-o and --trajectories cannot both be '%s'", options->output);
    if (options->trajectories && strcmp(options->trajectories, "-") == 0)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--trajectories takes a file, not standard output");
    return options->trajectories ? tt_recorder_find_format(&format, options->trajectories) : TUTTI_OK;
}

/* Logs that an interrupted sweep can be resumed. */
static enum tutti_err log_resume_hint(const struct tutti_sweep *sweep, enum tutti_err err)
{
    if (err != TUTTI_ERR_INTERRUPTED)
        return err;
    return tt_fail(err, "interrupted after %zu of %zu runs%s", sweep->over, sweep->design.runs,
                   sweep->journal ? "; the same command makes the others" : "");
}

/* Where workers are: here, on nodes, or by mpiexec. */
static enum tutti_err check_worker_backends(const struct tutti_run_options *options)
{
    if (options->nodes && options->mpi)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--nodes and mpiexec are ways to make the same runs: choose one");
    if (options->workers > 0 && (options->nodes || options->mpi))
        return tt_fail(TUTTI_ERR_ARGUMENT, "--workers is for this machine alone: %s how many there are; leave it out",
                       options->nodes ? "the list of --nodes (ranks=N) says" : "the ranks of mpiexec (-n N) are");
    enum tt_confine how;
    TRY(tt_confined_read(options, &how));
    if (how != TUTTI_CONFINE_NONE && options->mpi)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "--confine cannot confine processes of mpiexec: use --workers or --nodes, or leave it out");
    if (options->has_timeout && !(options->timeout > 0))
        return tt_fail(TUTTI_ERR_ARGUMENT, "--timeout takes a number of seconds greater than 0, not %s",
                       NUMBER(options->timeout));
    if (options->key && !options->nodes)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--key has no effect without --nodes; leave it out");
    return TUTTI_OK;
}

/* FMUs that are not here may be with nodes that offer them: descriptions are all that we need of them. */
static enum tutti_err open_sweep_worker(struct tutti_sweep *sweep)
{
    struct tt_failure failure;
    enum tutti_err err = tt_sweep_worker_open(&sweep->work, sweep->options, &sweep->design);
    if (err != TUTTI_ERR_IO || !sweep->options->nodes)
        return err;
    tt_fail_save(&failure, err);
    tt_sweep_worker_close(&sweep->work);
    sweep->asking = *sweep->options;
    sweep->asking.spares_nodes = true;
    TRY(tt_nodes_open(&sweep->nodes, &sweep->asking));
    if (sweep->nodes->options.alias_count == sweep->options->alias_count) /* they have nothing of it */
        return tt_fail_restore(&failure);
    return tt_sweep_worker_open(&sweep->work, &sweep->nodes->options, &sweep->design);
}

static enum tutti_err parameter_sweep_prepare(struct tutti_sweep *sweep)
{
    TRY(check_worker_backends(sweep->options));
    TRY(parameter_sweep_check_files(sweep->options));
    TRY(tt_design_create(&sweep->design, sweep->options));
    TRY(open_sweep_worker(sweep));
    return parameter_sweep_allocate(sweep);
}

static enum tutti_err parameter_sweep_run_all(struct tutti_sweep *sweep, const struct tt_worker_backend *way,
                                              void *way_context)
{
    const struct tutti_run_options *options = sweep->options;
    TRY(open_sweep_journal(sweep));
    size_t left = sweep->design.runs - sweep->over;
    unsigned workers = options->nodes         ? TUTTI_NODE_MOST_RANKS
                       : options->workers > 0 ? options->workers
                                              : tt_worker_pool_count_cores();
    sweep->began = tt_wall_clock_now();
    if (left > 0) {
        const struct tt_worker_pool_plan order = {.way = way,
                                                  .way_context = way_context,
                                                  .workers = workers < left ? workers : (unsigned)left,
                                                  .context = sweep,
                                                  .next = parameter_sweep_next_run,
                                                  .done = parameter_sweep_finish_run,
                                                  .idle = parameter_sweep_on_idle};
        TRY(log_resume_hint(sweep, tt_worker_pool_run(&sweep->work, &order)));
    }
    if (options->trajectories)
        TRY(tt_parameter_sweep_write_runs(sweep, options->trajectories));
    return options->output ? tt_parameter_sweep_write_table(sweep, options->output) : TUTTI_OK;
}

static enum tutti_err run_sweep_rank(struct tutti_sweep *sweep)
{
    struct tt_sweep_rank rank;
    struct tt_failure failure;
    enum tutti_err err = tt_worker_mpi_enter(&rank, &sweep->work, parameter_sweep_prepare(sweep));
    if (!err)
        err = rank.world.rank == 0 ? parameter_sweep_run_all(sweep, &tt_worker_mpi, &rank) : tt_worker_mpi_serve(&rank);
    tt_fail_save(&failure, err);
    tt_worker_mpi_leave(&rank);
    return tt_fail_restore(&failure);
}

static enum tutti_err parameter_sweep_run(struct tutti_sweep *sweep)
{
    if (sweep->options->mpi)
        return run_sweep_rank(sweep);
    TRY(parameter_sweep_prepare(sweep));
    return sweep->options->nodes ? parameter_sweep_run_all(sweep, &tt_worker_nodes, (void *)sweep->options)
                                 : parameter_sweep_run_all(sweep, &tt_worker_forked, NULL);
}

enum tutti_err tutti_sweep_make(struct tutti_sweep **out, const struct tutti_run_options *options)
{
    struct tt_failure failure;
    struct tutti_sweep *sweep = calloc(1, sizeof *sweep);
    if (!sweep)
        return tt_fail_memory();
    sweep->options = options;
    tt_fail_save(&failure, parameter_sweep_run(sweep));
    tt_sweep_journal_close(sweep->journal, failure.err == TUTTI_OK);
    sweep->journal = NULL;
    tt_sweep_worker_close(&sweep->work);
    tt_nodes_close(sweep->nodes);
    sweep->nodes = NULL;
    if (failure.err)
        tutti_sweep_free(sweep);
    else
        *out = sweep;
    return tt_fail_restore(&failure);
}

void tutti_sweep_free(struct tutti_sweep *sweep)
{
    if (!sweep)
        return;
    tt_design_fini(&sweep->design);
    free(sweep->values);
    free(sweep->statuses);
    free(sweep->is_over);
    free(sweep->offsets);
    free(sweep->messages);
    tt_arena_fini(&sweep->arena);
    free(sweep);
}

/* ---- looking ---- */

size_t tutti_sweep_run_count(const struct tutti_sweep *sweep)
{
    return sweep->design.runs;
}

size_t tutti_sweep_good_count(const struct tutti_sweep *sweep)
{
    return sweep->good;
}

size_t tutti_sweep_found_count(const struct tutti_sweep *sweep)
{
    return sweep->found;
}

size_t tutti_sweep_parameter_count(const struct tutti_sweep *sweep)
{
    return sweep->design.count;
}

size_t tutti_sweep_column_count(const struct tutti_sweep *sweep)
{
    return sweep->design.count + sweep->measure_count;
}

const char *tutti_sweep_column_name(const struct tutti_sweep *sweep, size_t column)
{
    return column < sweep->design.count                          ? sweep->design.names[column]
           : column < sweep->design.count + sweep->measure_count ? sweep->labels[column - sweep->design.count]
                                                                 : NULL;
}

double tutti_sweep_value(const struct tutti_sweep *sweep, size_t run, size_t column)
{
    if (run >= sweep->design.runs || column >= tutti_sweep_column_count(sweep))
        return NAN;
    return column < sweep->design.count ? tt_design_run(&sweep->design, run)[column]
                                        : sweep->values[run * sweep->measure_count + column - sweep->design.count];
}

const char *tutti_sweep_status(const struct tutti_sweep *sweep, size_t run)
{
    return run < sweep->design.runs ? tt_sweep_worker_status_name((enum tt_run_status)sweep->statuses[run]) : NULL;
}

const char *tutti_sweep_message(const struct tutti_sweep *sweep, size_t run)
{
    return run < sweep->design.runs ? sweep->messages[run] : NULL;
}

/* The output of a sweep: a table with a row per run, and the rows of all runs in one file. */

/* ---- the table ---- */

/* Writes a cell as RFC 4180 requires: with quotes if it has commas, quotes or line ends, and quotes doubled. */
static void sweep_table_write_cell(struct tt_text *text, const char *cell)
{
    if (!strpbrk(cell, ",\"\r\n")) {
        tt_text_append(text, cell);
        return;
    }
    tt_text_append(text, "\"");
    for (; *cell; cell++)
        tt_text_append_n(text, *cell == '"' ? "\"\"" : cell, *cell == '"' ? 2 : 1);
    tt_text_append(text, "\"");
}

static void write_sweep_row(struct tt_text *text, const struct tutti_sweep *sweep, size_t run)
{
    tt_text_printf(text, "%zu", run);
    for (size_t c = 0; c < tutti_sweep_column_count(sweep); c++) {
        tt_text_append(text, ",");
        char digits[TUTTI_NUMBER_MAX];
        double value = tutti_sweep_value(sweep, run, c);
        if (!isnan(value)) /* a missing number is an empty cell */
            tt_text_append_n(text, digits, tt_number_write_double(digits, value));
    }
    tt_text_printf(text, ",%s,", tutti_sweep_status(sweep, run));
    if (sweep->messages[run])
        sweep_table_write_cell(text, sweep->messages[run]);
    tt_text_append(text, "\n");
}

enum tutti_err tt_parameter_sweep_write_table(const struct tutti_sweep *sweep, const char *path)
{
    struct tt_text text = {0};
    tt_text_append(&text, "run");
    for (size_t c = 0; c < tutti_sweep_column_count(sweep); c++) {
        tt_text_append(&text, ",");
        sweep_table_write_cell(&text, tutti_sweep_column_name(sweep, c));
    }
    tt_text_append(&text, ",status,message\n");
    for (size_t run = 0; run < sweep->design.runs; run++)
        write_sweep_row(&text, sweep, run);
    bool written = false;
    if (text.failed)
        errno = ENOMEM;
    else if (strcmp(path, "-") == 0)
        written = tt_fs_write(tt_record_file_standard(), text.text, text.length, -1) == text.length;
    else
        written = tt_fs_replace_result(path, text.text, text.length);
    tt_text_fini(&text);
    return written ? TUTTI_OK : tt_fail(TUTTI_ERR_IO, "'%s' cannot be written: %s", path, strerror(errno));
}

/* ---- trajectories ---- */

struct trajectory_writer {
    const struct tt_record_format *format;
    struct tt_recorder *recorder; /* NULL: not open yet */
    char *names;                  /* as the first run had them, and the same with zero bytes for newlines */
    char *texts;
    struct tt_column *columns;
    uint32_t count; /* of variables; a column for the number of the run comes before them */
    int64_t run;
    double *values;
};

static enum tutti_err sweep_table_open_file(struct trajectory_writer *writer, const struct tt_run_record *record,
                                            const char *path)
{
    writer->count = record->column_count;
    writer->names = tt_text_copy(record->columns);
    writer->texts = tt_text_copy(record->columns);
    writer->columns = calloc(writer->count + 1, sizeof *writer->columns);
    writer->values = calloc(writer->count + 1, sizeof *writer->values);
    if (!writer->names || !writer->texts || !writer->columns || !writer->values)
        return tt_fail_memory();
    writer->columns[0] = (struct tt_column){
        .name = "run", .description = "number of the run, from 0 on", .type = TUTTI_TYPE_INT64, .value = &writer->run};
    char *rest = NULL, *name = strtok_r(writer->texts, "\n", &rest);
    for (uint32_t i = 0; i < writer->count; i++, name = strtok_r(NULL, "\n", &rest))
        writer->columns[i + 1] = (struct tt_column){
            .name = name ? name : "", .type = TUTTI_TYPE_FLOAT64, .source = i + 1, .value = &writer->values[i]};
    return writer->format->open(&writer->recorder, path, writer->columns, writer->count + 1);
}

static enum tutti_err write_trajectory_rows(struct trajectory_writer *writer, const struct tt_run_record *record,
                                            const char *path)
{
    if (record->row_count == 0)
        return TUTTI_OK;
    if (!writer->recorder)
        TRY(sweep_table_open_file(writer, record, path));
    if (record->column_count != writer->count || strcmp(record->columns, writer->names) != 0)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "'%s': run %llu records other variables than the first; choose some that all have (--record)",
                       path, (unsigned long long)record->run);
    writer->run = (int64_t)record->run;
    const char *at = record->rows;
    for (size_t r = 0; r < record->row_count; r++) {
        double t;
        memcpy(&t, at, sizeof t);
        memcpy(writer->values, at + sizeof t, writer->count * sizeof(double));
        at += (writer->count + 1) * sizeof(double);
        TRY(writer->format->row(writer->recorder, t));
    }
    return TUTTI_OK;
}

static enum tutti_err sweep_table_write_rows(struct trajectory_writer *writer, struct tutti_sweep *sweep,
                                             const char *path)
{
    struct tt_byte_writer parcel = {0};
    struct tt_run_record record;
    enum tutti_err err = TUTTI_OK;
    for (size_t run = 0; run < sweep->design.runs && !err; run++) {
        err = tt_sweep_journal_read(sweep->journal, sweep->offsets[run], &parcel);
        if (!err && tt_sweep_worker_read_record(&record, tt_bytes_written(&parcel)))
            err = write_trajectory_rows(writer, &record, path);
    }
    tt_bytes_fini(&parcel);
    return err;
}

enum tutti_err tt_parameter_sweep_write_runs(struct tutti_sweep *sweep, const char *path)
{
    struct trajectory_writer writer = {0};
    TRY(tt_recorder_find_format(&writer.format, path));
    struct tt_failure failure;
    tt_fail_save(&failure, sweep_table_write_rows(&writer, sweep, path));
    enum tutti_err err = writer.recorder ? writer.format->close(writer.recorder) : TUTTI_OK;
    free(writer.names);
    free(writer.texts);
    free(writer.columns);
    free(writer.values);
    return failure.err ? tt_fail_restore(&failure) : err;
}
