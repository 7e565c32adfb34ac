/* SPDX-License-Identifier: MIT */
#include "apps/study/sweep_worker.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

/* ---- rows ---- */

static enum tutti_err sweep_worker_set_columns(void *context, const struct tutti_recorded *shown, size_t count)
{
    struct tt_sweep_worker *work = context;
    work->column_count = (uint32_t)count;
    work->columns.length = 0;
    for (size_t i = 0; i < count && work->keeps_rows; i++)
        tt_text_printf(&work->columns, "%s\n", shown[i].name);
    return work->columns.failed ? tt_fail_memory() : TUTTI_OK;
}

static enum tutti_err sweep_worker_add_row(void *context, double t, const double *wanted, const double *all)
{
    struct tt_sweep_worker *work = context;
    tt_measures_add_row(work->measures, t, wanted);
    if (!work->keeps_rows)
        return TUTTI_OK;
    work->row_count++;
    tt_bytes_put_bytes(&work->rows, &t, sizeof t);
    tt_bytes_put_bytes(&work->rows, all, work->column_count * sizeof *all);
    return work->rows.failed ? tt_fail_memory() : TUTTI_OK;
}

/* ---- what is measured ---- */

static enum tutti_err sweep_worker_find_variable(void *context, const char *name, size_t *place)
{
    return tt_rerun_request(context, name, place);
}

/* final(NAME), with quotes where the name needs them. */
static void write_final_measure(struct tt_text *text, const char *name)
{
    bool plain = !isdigit((unsigned char)*name);
    for (const char *at = name; *at; at++)
        plain = plain && (isalnum((unsigned char)*at) || strchr("_.[],", *at));
    text->length = 0;
    tt_text_append(text, plain ? "final(" : "final(\"");
    for (const char *at = name; *at; at++)
        tt_text_printf(text, "%s%c", !plain && (*at == '"' || *at == '\\') ? "\\" : "", *at);
    tt_text_append(text, plain ? ")" : "\")");
}

static bool sweep_worker_is_recorded(const struct tt_sweep_worker *work, const struct tutti_variable *shown)
{
    const struct tutti_run_options *options = work->options;
    if (shown->is_text)
        return false;
    bool is = options->record_count == 0 && strcmp(shown->causality, "output") == 0;
    for (size_t i = 0; i < options->record_count; i++)
        is = is || tt_text_glob(options->records[i], shown->name);
    return is;
}

/* Without --measure: the final values of recorded variables. Array elements are requested one by one, since only the
 * FMU knows their number. */
static enum tutti_err list_final_measures(struct tt_sweep_worker *work)
{
    struct tt_rerun *trial = &work->trial;
    size_t total = tutti_simulation_variable_count(trial->simulation);
    struct tt_text text = {0};
    struct tutti_variable shown;
    enum tutti_err err = TUTTI_OK;
    work->labels = tt_arena_array(&trial->arena, total + 1, sizeof *work->labels);
    if (!work->labels)
        return tt_fail_memory();
    for (size_t v = 0; v < total && !err; v++) {
        err = tutti_simulation_describe(trial->simulation, v, &shown);
        if (err || !sweep_worker_is_recorded(work, &shown) || shown.count != 1)
            continue;
        write_final_measure(&text, shown.name);
        work->labels[work->count] = text.failed ? NULL : tt_arena_copy_text(&trial->arena, text.text, text.length);
        if (!work->labels[work->count++])
            err = tt_fail_memory();
    }
    tt_text_fini(&text);
    if (!err && work->count == 0)
        err = tt_fail(
            TUTTI_ERR_ARGUMENT,
            "there are no outputs that are single numbers: say what is to be kept of a run, as in --measure 'final(x)' "
            "or 'final(y[1])'");
    return err;
}

static enum tutti_err sweep_worker_prepare_measures(struct tt_sweep_worker *work)
{
    if (work->options->measure_count == 0) {
        TRY(list_final_measures(work));
    } else {
        work->count = work->options->measure_count;
        work->labels = (const char **)work->options->measures;
    }
    TRY(tt_measures_new(&work->measures, work->labels, work->count, &work->trial, sweep_worker_find_variable));
    work->results = calloc(work->count + 1, sizeof *work->results);
    return work->results ? TUTTI_OK : tt_fail_memory();
}

/* Recording costs more than the steps of a small FMU: where only final values count, nothing is. */
static enum tutti_err sweep_worker_read_final_values(struct tt_sweep_worker *work)
{
    struct tt_rerun *trial = &work->trial;
    const char *const *names = trial->wanted.items;
    work->variables = tt_arena_array(&trial->arena, trial->wanted.count + 1, sizeof *work->variables);
    trial->row = calloc(trial->wanted.count + 1, sizeof *trial->row);
    if (!work->variables || !trial->row)
        return tt_fail_memory();
    for (size_t i = 0; i < trial->wanted.count; i++)
        TRY(tutti_simulation_find(trial->simulation, names[i], &work->variables[i]));
    return tt_rerun_record_none(trial);
}

enum tutti_err tt_sweep_worker_open(struct tt_sweep_worker *work, const struct tutti_run_options *options,
                                    const struct tt_design *design)
{
    *work = (struct tt_sweep_worker){.options = options, .design = design, .keeps_rows = options->trajectories != NULL};
    struct tutti_run_options here = *options; /* each run is made by the process that makes it */
    here.nodes = here.key = NULL;
    here.mpi = false;
    TRY(tt_rerun_open(&work->trial, &here, design->names, design->count, design->values));
    work->trial.sink =
        (struct tt_rerun_sink){.context = work, .columns = sweep_worker_set_columns, .row = sweep_worker_add_row};
    TRY(sweep_worker_prepare_measures(work));
    if (!work->keeps_rows && tt_measures_are_final(work->measures))
        TRY(sweep_worker_read_final_values(work));
    else
        TRY(work->keeps_rows ? tt_rerun_request_recorded(&work->trial) : tt_rerun_record_requested(&work->trial));
    return tt_rerun_prepare(&work->trial);
}

void tt_sweep_worker_close(struct tt_sweep_worker *work)
{
    tt_measures_free(work->measures);
    tt_rerun_close(&work->trial);
    tt_bytes_fini(&work->rows);
    tt_text_fini(&work->columns);
    free(work->results);
    *work = (struct tt_sweep_worker){0};
}

/* ---- a run ---- */

static enum tt_run_status sweep_worker_classify_run(struct tt_sweep_worker *work, enum tutti_err err, double end,
                                                    struct tt_text *message)
{
    if (err) {
        tt_text_append(message, tutti_err_message());
        for (size_t i = 0; i < work->count; i++)
            work->results[i] = NAN;
        return TUTTI_RUN_FAILED;
    }
    if (tt_measures_finish(work->measures, work->results)) {
        tt_text_append(message, tutti_err_message());
        return TUTTI_RUN_UNMEASURED;
    }
    if (end < tutti_simulation_stop(work->trial.simulation))
        tt_text_printf(message, "an FMU ended the run at t = %s", NUMBER(end));
    return TUTTI_RUN_OK;
}

enum tutti_err tt_sweep_worker_run(struct tt_sweep_worker *work, size_t run, struct tt_byte_writer *parcel, bool *fatal)
{
    struct tt_text message = {0};
    double end;
    tt_bytes_reset(&work->rows);
    work->row_count = 0;
    tt_measures_start(work->measures);
    /* Warnings about the system are logged once, as all runs would repeat them. */
    enum tutti_err err =
        tt_rerun_run(&work->trial, tt_design_run(work->design, run), run == 0 ? work->options->log : NULL, &end);
    if (!err && work->variables)
        err = tutti_simulation_get_many(work->trial.simulation, work->variables, work->trial.wanted.count,
                                        work->trial.row);
    if (!err && work->variables)
        tt_measures_add_row(work->measures, end, work->trial.row);
    *fatal = err == TUTTI_ERR_FATAL;
    struct tt_run_record record = {.run = run, .status = sweep_worker_classify_run(work, err, end, &message)};
    record.message = message.length > 0 ? message.text : NULL;
    record.values = work->results;
    record.value_count = (uint32_t)work->count;
    if (work->keeps_rows && work->row_count > 0) {
        record.columns = work->columns.text;
        record.column_count = work->column_count;
        record.rows = work->rows.bytes;
        record.row_count = work->row_count;
    }
    tt_bytes_reset(parcel);
    tt_sweep_worker_write_record(parcel, &record);
    bool failed = parcel->failed || message.failed;
    tt_text_fini(&message);
    return failed ? tt_fail_memory() : TUTTI_OK;
}

static const char *const words[] = {
#define X(name, word) word,
    TUTTI_RUN_STATUSES(X)
#undef X
};
enum { STATUSES = sizeof words / sizeof *words };

const char *tt_sweep_worker_status_name(enum tt_run_status status)
{
    return words[status];
}

void tt_sweep_worker_write_record(struct tt_byte_writer *parcel, const struct tt_run_record *record)
{
    tt_bytes_put_u64(parcel, record->run);
    tt_bytes_put_u8(parcel, (uint8_t)record->status);
    tt_bytes_put_text(parcel, record->message);
    tt_bytes_put_block(parcel, record->values, record->value_count * sizeof(double));
    tt_bytes_put_text(parcel, record->columns);
    tt_bytes_put_u32(parcel, record->column_count);
    tt_bytes_put_block(parcel, record->rows, record->row_count * (record->column_count + 1) * sizeof(double));
}

bool tt_sweep_worker_read_record(struct tt_run_record *record, struct tt_bytes bytes)
{
    struct tt_byte_reader in = tt_bytes_get_begin(bytes);
    size_t values = 0, rows = 0;
    record->run = tt_bytes_get_u64(&in);
    uint8_t status = tt_bytes_get_u8(&in);
    record->message = tt_bytes_get_text(&in);
    record->values = tt_bytes_get_block(&in, &values);
    record->columns = tt_bytes_get_text(&in);
    record->column_count = tt_bytes_get_u32(&in);
    record->rows = tt_bytes_get_block(&in, &rows);
    size_t width = ((size_t)record->column_count + 1) * sizeof(double);
    if (in.bad || in.at != in.end || status >= STATUSES || values % sizeof(double) != 0 || rows % width != 0)
        return false;
    record->status = (enum tt_run_status)status;
    record->value_count = (uint32_t)(values / sizeof(double));
    record->row_count = rows / width;
    return true;
}
