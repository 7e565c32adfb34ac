/* SPDX-License-Identifier: MIT */
#include "study/work.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

/* ---- rows ---- */

static enum tutti_err take_columns(void *context, const struct tutti_recorded *shown, size_t count)
{
    struct tutti_work *work = context;
    work->column_count = (uint32_t)count;
    work->columns.length = 0;
    for (size_t i = 0; i < count && work->keeps_rows; i++)
        tutti_text_printf(&work->columns, "%s\n", shown[i].name);
    return work->columns.failed ? tutti_fail_memory() : TUTTI_OK;
}

static enum tutti_err take_row(void *context, double t, const double *wanted, const double *all)
{
    struct tutti_work *work = context;
    tutti_measures_row(work->measures, t, wanted);
    if (!work->keeps_rows)
        return TUTTI_OK;
    work->row_count++;
    tutti_parcel_put_bytes(&work->rows, &t, sizeof t);
    tutti_parcel_put_bytes(&work->rows, all, work->column_count * sizeof *all);
    return work->rows.failed ? tutti_fail_memory() : TUTTI_OK;
}

/* ---- what is measured ---- */

static enum tutti_err find(void *context, const char *name, size_t *place)
{
    return tutti_trial_want(context, name, place);
}

/* final(NAME), with quotes where the name needs them. */
static void write_final(struct tutti_text *text, const char *name)
{
    bool plain = !isdigit((unsigned char)*name);
    for (const char *at = name; *at; at++)
        plain = plain && (isalnum((unsigned char)*at) || strchr("_.[],", *at));
    text->length = 0;
    tutti_text_append(text, plain ? "final(" : "final(\"");
    for (const char *at = name; *at; at++)
        tutti_text_printf(text, "%s%c", !plain && (*at == '"' || *at == '\\') ? "\\" : "", *at);
    tutti_text_append(text, plain ? ")" : "\")");
}

static bool is_recorded(const struct tutti_work *work, const struct tutti_variable *shown)
{
    const struct tutti_run_options *options = work->options;
    if (shown->is_text)
        return false;
    bool is = options->record_count == 0 && strcmp(shown->causality, "output") == 0;
    for (size_t i = 0; i < options->record_count; i++)
        is = is || tutti_str_glob(options->records[i], shown->name);
    return is;
}

/* Without --measure: the final values of what is recorded. Of arrays each element must be asked for, since how many there are only the FMU knows. */
static enum tutti_err list_finals(struct tutti_work *work)
{
    struct tutti_trial *trial = &work->trial;
    size_t total = tutti_simulation_variable_count(trial->simulation);
    struct tutti_text text = {0};
    struct tutti_variable shown;
    enum tutti_err err = TUTTI_OK;
    work->labels = tutti_arena_array(&trial->arena, total + 1, sizeof *work->labels);
    if (!work->labels)
        return tutti_fail_memory();
    for (size_t v = 0; v < total && !err; v++) {
        err = tutti_simulation_describe(trial->simulation, v, &shown);
        if (err || !is_recorded(work, &shown) || shown.count != 1)
            continue;
        write_final(&text, shown.name);
        work->labels[work->count] = text.failed ? NULL : tutti_arena_text(&trial->arena, text.text, text.length);
        if (!work->labels[work->count++])
            err = tutti_fail_memory();
    }
    tutti_text_fini(&text);
    if (!err && work->count == 0)
        err = tutti_fail(
            TUTTI_ERR_ARGUMENT,
            "there are no outputs that are single numbers: say what is to be kept of a run, as in --measure 'final(x)' "
            "or 'final(y[1])'");
    return err;
}

static enum tutti_err prepare_measures(struct tutti_work *work)
{
    if (work->options->measure_count == 0) {
        TRY(list_finals(work));
    } else {
        work->count = work->options->measure_count;
        work->labels = (const char **)work->options->measures;
    }
    TRY(tutti_measures_new(&work->measures, work->labels, work->count, &work->trial, find));
    work->results = calloc(work->count + 1, sizeof *work->results);
    return work->results ? TUTTI_OK : tutti_fail_memory();
}

/* Recording costs more than the steps of a small FMU: where only final values count, nothing is. */
static enum tutti_err read_at_end(struct tutti_work *work)
{
    struct tutti_trial *trial = &work->trial;
    const char *const *names = trial->wanted.items;
    work->variables = tutti_arena_array(&trial->arena, trial->wanted.count + 1, sizeof *work->variables);
    trial->row = calloc(trial->wanted.count + 1, sizeof *trial->row);
    if (!work->variables || !trial->row)
        return tutti_fail_memory();
    for (size_t i = 0; i < trial->wanted.count; i++)
        TRY(tutti_simulation_find(trial->simulation, names[i], &work->variables[i]));
    return tutti_trial_record_none(trial);
}

enum tutti_err tutti_work_open(struct tutti_work *work, const struct tutti_run_options *options,
                               const struct tutti_design *design)
{
    *work = (struct tutti_work){.options = options, .design = design, .keeps_rows = options->trajectories != NULL};
    struct tutti_run_options here = *options; /* each run is made by the process that makes it */
    here.nodes = here.key = NULL;
    here.mpi = false;
    TRY(tutti_trial_open(&work->trial, &here, design->names, design->count, design->values));
    work->trial.sink = (struct tutti_trial_sink){.context = work, .columns = take_columns, .row = take_row};
    TRY(prepare_measures(work));
    if (!work->keeps_rows && tutti_measures_are_final(work->measures))
        TRY(read_at_end(work));
    else
        TRY(work->keeps_rows ? tutti_trial_want_recorded(&work->trial) : tutti_trial_record_wanted(&work->trial));
    return tutti_trial_prepare(&work->trial);
}

void tutti_work_close(struct tutti_work *work)
{
    tutti_measures_free(work->measures);
    tutti_trial_close(&work->trial);
    tutti_parcel_fini(&work->rows);
    tutti_text_fini(&work->columns);
    free(work->results);
    *work = (struct tutti_work){0};
}

/* ---- a run ---- */

static enum tutti_run_status judge(struct tutti_work *work, enum tutti_err err, double end, struct tutti_text *message)
{
    if (err) {
        tutti_text_append(message, tutti_err_message());
        for (size_t i = 0; i < work->count; i++)
            work->results[i] = NAN;
        return TUTTI_RUN_FAILED;
    }
    if (tutti_measures_end(work->measures, work->results)) {
        tutti_text_append(message, tutti_err_message());
        return TUTTI_RUN_UNMEASURED;
    }
    if (end < tutti_simulation_stop(work->trial.simulation))
        tutti_text_printf(message, "an FMU ended the run at t = %s", NUMBER(end));
    return TUTTI_RUN_OK;
}

enum tutti_err tutti_work_run(struct tutti_work *work, size_t run, struct tutti_parcel *parcel, bool *fatal)
{
    struct tutti_text message = {0};
    double end;
    tutti_parcel_reset(&work->rows);
    work->row_count = 0;
    tutti_measures_begin(work->measures);
    /* What is odd with the system is told once: all runs would say the same. */
    enum tutti_err err =
        tutti_trial_run(&work->trial, tutti_design_run(work->design, run), run == 0 ? work->options->log : NULL, &end);
    if (!err && work->variables)
        err = tutti_simulation_get_many(work->trial.simulation, work->variables, work->trial.wanted.count,
                                        work->trial.row);
    if (!err && work->variables)
        tutti_measures_row(work->measures, end, work->trial.row);
    *fatal = err == TUTTI_ERR_FATAL;
    struct tutti_run_record record = {.run = run, .status = judge(work, err, end, &message)};
    record.message = message.length > 0 ? message.text : NULL;
    record.values = work->results;
    record.value_count = (uint32_t)work->count;
    if (work->keeps_rows && work->row_count > 0) {
        record.columns = work->columns.text;
        record.column_count = work->column_count;
        record.rows = work->rows.bytes;
        record.row_count = work->row_count;
    }
    tutti_parcel_reset(parcel);
    tutti_run_record_put(parcel, &record);
    bool failed = parcel->failed || message.failed;
    tutti_text_fini(&message);
    return failed ? tutti_fail_memory() : TUTTI_OK;
}
