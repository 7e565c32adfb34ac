/* SPDX-License-Identifier: MIT */
#include "apps/study/rerun.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apps/api/simulation.h"
#include "base/number.h"

/* ---- rows ---- */

static const char *requested_name(const struct tt_rerun *trial, size_t i)
{
    return ((const char *const *)trial->wanted.items)[i];
}

static enum tutti_err rerun_allocate(struct tt_rerun *trial)
{
    if (trial->known >= trial->wanted.count && trial->row)
        return TUTTI_OK;
    free(trial->places);
    free(trial->row);
    trial->places = calloc(trial->wanted.count + 1, sizeof *trial->places);
    trial->row = calloc(trial->wanted.count + 1, sizeof *trial->row);
    trial->known = trial->wanted.count;
    return trial->places && trial->row ? TUTTI_OK : tt_fail_memory();
}

static enum tutti_err rerun_set_columns(void *context, const struct tutti_recorded *shown, size_t count)
{
    struct tt_rerun *trial = context;
    TRY(rerun_allocate(trial));
    for (size_t i = 0; i < trial->wanted.count; i++) {
        size_t c = 0;
        while (c < count && strcmp(shown[c].name, requested_name(trial, i)) != 0)
            c++;
        if (c == count)
            return tt_fail(TUTTI_ERR_ARGUMENT, "'%s' has no value that can be recorded in this run",
                           requested_name(trial, i));
        trial->places[i] = c;
    }
    return trial->sink.columns ? trial->sink.columns(trial->sink.context, shown, count) : TUTTI_OK;
}

static enum tutti_err rerun_store_row(void *context, double t, const double *values)
{
    struct tt_rerun *trial = context;
    for (size_t i = 0; i < trial->wanted.count; i++)
        trial->row[i] = values[trial->places[i]];
    return trial->sink.row ? trial->sink.row(trial->sink.context, t, trial->row, values) : TUTTI_OK;
}

/* ---- opening ---- */

/* Messages of tutti_simulation_... address programs and begin with the function's name. */
static enum tutti_err rerun_find_variable(struct tt_rerun *trial, const char *name, size_t *variable)
{
    static const char call[] = "tutti_simulation_find: ";
    enum tutti_err err = tutti_simulation_find(trial->simulation, name, variable);
    struct tt_failure failure;
    tt_fail_save(&failure, err);
    return err && strncmp(failure.message, call, sizeof call - 1) == 0
               ? tt_fail(err, "%s", failure.message + sizeof call - 1)
               : err;
}

/* "NAME=VALUE" in trial->setting. */
static enum tutti_err write_rerun_setting(struct tt_rerun *trial, size_t i, double value)
{
    trial->setting.length = 0;
    tt_text_printf(&trial->setting, "%s=%s", trial->names[i], NUMBER(value));
    return trial->setting.failed ? tt_fail_memory() : TUTTI_OK;
}

/* Values of names go the way of --set, but were not given by it. */
static enum tutti_err name_option_in_error(const struct tt_rerun *trial, enum tutti_err err)
{
    static const char set[] = "--set ";
    const char *option = trial->options.fit_count > 0 ? "--fit" : trial->options.csv ? "--csv" : "--vary";
    struct tt_failure failure;
    tt_fail_save(&failure, err);
    return err && strncmp(failure.message, set, sizeof set - 1) == 0
               ? tt_fail(err, "%s %s", option, failure.message + sizeof set - 1)
               : tt_fail_restore(&failure);
}

/* Checks that all names are settable, by creating a temporary job with them, as a run would. */
static enum tutti_err rerun_check_values(struct tt_rerun *trial, const double *values)
{
    size_t count = trial->options.set_count + trial->name_count, unused;
    const char **sets = tt_arena_array(&trial->arena, count, sizeof *sets);
    if (!sets)
        return tt_fail_memory();
    for (size_t i = 0; i < trial->options.set_count; i++)
        sets[i] = trial->options.sets[i];
    for (size_t i = 0; i < trial->name_count; i++) {
        TRY(rerun_find_variable(trial, trial->names[i], &unused));
        TRY(write_rerun_setting(trial, i, values[i]));
        sets[trial->options.set_count + i] =
            tt_arena_copy_text(&trial->arena, trial->setting.text, trial->setting.length);
        if (!sets[trial->options.set_count + i])
            return tt_fail_memory();
    }
    struct tutti_run_options *with = tt_arena_alloc(&trial->arena, sizeof *with);
    if (!with)
        return tt_fail_memory();
    *with = trial->options;
    with->sets = sets;
    with->set_count = count;
    TRY(name_option_in_error(trial, tt_job_reopen(&trial->simulation->job, with)));
    trial->simulation->job_has_sets = true; /* the next start creates it again */
    return TUTTI_OK;
}

/* Options that affect the process as a whole are applied before runs; the simulation ignores them. */
static void copy_process_options(struct tutti_run_options *to, const struct tutti_run_options *from)
{
    to->confine = from->confine;
    to->allows = from->allows;
    to->allow_count = from->allow_count;
    to->limits = from->limits;
    to->has_timeout = from->has_timeout;
    to->timeout = from->timeout;
}

enum tutti_err tt_rerun_open(struct tt_rerun *trial, const struct tutti_run_options *options, const char **names,
                             size_t count, const double *values)
{
    *trial = (struct tt_rerun){.options = *options, .names = names, .name_count = count};
    trial->watcher = (struct tutti_watcher){.context = trial, .columns = rerun_set_columns, .row = rerun_store_row};
    trial->options.watcher = &trial->watcher;
    trial->options.output = NULL;
    trial->options.progress = NULL;
    trial->options.untimed = true;
    copy_process_options(&trial->options, &(const struct tutti_run_options){0});
    TRY(tutti_simulation_open(&trial->simulation, &trial->options));
    TRY(rerun_check_values(trial, values));
    copy_process_options(&trial->simulation->job.options, options);
    return TUTTI_OK;
}

void tt_rerun_close(struct tt_rerun *trial)
{
    tutti_simulation_free(trial->simulation);
    tt_vector_fini(&trial->wanted);
    tt_text_fini(&trial->setting);
    tt_arena_fini(&trial->arena);
    free(trial->places);
    free(trial->row);
    *trial = (struct tt_rerun){0};
}

enum tutti_err tt_rerun_prepare(struct tt_rerun *trial)
{
    return tt_job_unpack(&trial->simulation->job);
}

/* ---- what is recorded ---- */

enum tutti_err tt_rerun_request(struct tt_rerun *trial, const char *name, size_t *place)
{
    size_t variable;
    struct tutti_variable shown;
    TRY(rerun_find_variable(trial, name, &variable));
    TRY(tutti_simulation_describe(trial->simulation, variable, &shown));
    if (shown.is_text)
        return tt_fail(TUTTI_ERR_ARGUMENT, "'%s' is a %s, and not a number", name, shown.type);
    for (*place = 0; *place < trial->wanted.count; ++*place)
        if (strcmp(requested_name(trial, *place), shown.name) == 0)
            return TUTTI_OK;
    const char *copy = tt_arena_copy_text(&trial->arena, shown.name, strlen(shown.name));
    const char **slot = copy ? tt_vector_push(&trial->wanted, sizeof *slot) : NULL;
    if (!slot)
        return tt_fail_memory();
    *slot = copy;
    return TUTTI_OK;
}

/* Patterns of --record: those given, then the wanted ones. */
static enum tutti_err set_record_patterns(struct tt_rerun *trial, const char *const *given, size_t count)
{
    size_t total = count + trial->wanted.count;
    const char **records = tt_arena_array(&trial->arena, total + 1, sizeof *records);
    if (!records)
        return tt_fail_memory();
    for (size_t i = 0; i < total; i++)
        records[i] = i < count ? given[i] : requested_name(trial, i - count);
    trial->options.records = records;
    trial->options.record_count = total;
    return TUTTI_OK;
}

enum tutti_err tt_rerun_record_requested(struct tt_rerun *trial)
{
    return set_record_patterns(trial, NULL, 0);
}

enum tutti_err tt_rerun_record_none(struct tt_rerun *trial)
{
    static const char *const none[] = {"none"};
    trial->options.records = none;
    trial->options.record_count = 1;
    trial->options.watcher = NULL;
    return TUTTI_OK;
}

/* Without --record that is all outputs, each by its name. */
enum tutti_err tt_rerun_request_recorded(struct tt_rerun *trial)
{
    if (trial->options.record_count > 0)
        return set_record_patterns(trial, trial->options.records, trial->options.record_count);
    struct tt_vector names = {0};
    struct tutti_variable shown;
    enum tutti_err err = TUTTI_OK;
    for (size_t v = 0; v < tutti_simulation_variable_count(trial->simulation) && !err; v++) {
        err = tutti_simulation_describe(trial->simulation, v, &shown);
        if (err || strcmp(shown.causality, "output") != 0)
            continue;
        const char **slot = tt_vector_push(&names, sizeof *slot);
        if (!slot)
            err = tt_fail_memory();
        else
            *slot = shown.name;
    }
    if (!err)
        err = set_record_patterns(trial, names.items, names.count);
    tt_vector_fini(&names);
    return err;
}

/* ---- running ---- */

enum tutti_err tt_rerun_start(struct tt_rerun *trial, const double *values, const struct tutti_log *log)
{
    trial->options.log = log;
    if (trial->ran)
        TRY(tutti_simulation_reset(trial->simulation));
    trial->ran = true;
    for (size_t i = 0; i < trial->name_count; i++) {
        TRY(write_rerun_setting(trial, i, values[i]));
        TRY(tutti_simulation_set(trial->simulation, trial->setting.text));
    }
    return tutti_simulation_start(trial->simulation);
}

enum tutti_err tt_rerun_run(struct tt_rerun *trial, const double *values, const struct tutti_log *log, double *end)
{
    enum tutti_err err = tt_rerun_start(trial, values, log);
    if (!err)
        err = tutti_simulation_advance(trial->simulation, tutti_simulation_stop(trial->simulation));
    *end = tutti_simulation_time(trial->simulation);
    return err;
}
