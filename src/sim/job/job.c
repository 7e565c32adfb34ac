/* SPDX-License-Identifier: MIT */
#include "sim/job/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/number.h"
#include "base/text.h"
#include "results/csv_table.h"
#include "sim/job/annotation.h"
#include "sim/job/integration.h"
#include "sim/signals/inputs.h"
#include "unit/me_sensitivity.h"

/* ---- the system ---- */

/* So many warnings about a system are shown. */
enum { MOST_WARNINGS = 20 };

/* The first error of a system, and the first warnings to the log. */
struct load_findings {
    const struct tutti_log *log;
    unsigned warnings;
    char first[2048];
};

static void report_load_finding(void *context, enum tt_severity severity, const char *file, unsigned line,
                                const char *text)
{
    struct load_findings *listener = context;
    char where[32] = "";
    if (line > 0)
        snprintf(where, sizeof where, ":%u", line);
    if (severity == TUTTI_FINDING_WARNING && listener->warnings++ < MOST_WARNINGS)
        tt_log(listener->log, TUTTI_LOG_WARNING, NULL, "%s%s: %s", file, where, text);
    else if (severity != TUTTI_FINDING_WARNING && !listener->first[0])
        snprintf(listener->first, sizeof listener->first, "%s%s: %s", file, where, text);
}

static enum tutti_err job_load_system(struct tt_job *job, const struct tt_job *earlier)
{
    const struct tutti_run_options *options = &job->options;
    struct load_findings listener = {.log = earlier ? NULL : options->log};
    struct tt_findings findings = {.report = report_load_finding, .context = &listener};
    struct tt_system_source source = tt_job_system_source(options);
    source.log = listener.log;
    source.earlier = earlier ? earlier->system : NULL;
    enum tutti_err err = tt_system_load(&job->system, &source, &findings);
    if (findings.warnings > MOST_WARNINGS)
        tt_log(listener.log, TUTTI_LOG_WARNING, NULL, "%u more warnings; `tutti check` lists them",
               findings.warnings - MOST_WARNINGS);
    TRY(err);
    if (findings.errors == 1)
        return tt_fail(TUTTI_ERR_FORMAT, "%s", listener.first);
    if (findings.errors > 1)
        return tt_fail(TUTTI_ERR_FORMAT, "%s (and %u more error%s; `tutti check` lists them)", listener.first,
                       findings.errors - 1, findings.errors == 2 ? "" : "s");
    return job->system->component_count
               ? TUTTI_OK
               : tt_fail(TUTTI_ERR_FORMAT, "%s: there is nothing to simulate: the system has no FMU",
                         job->system->path);
}

static enum tutti_err resolve_callback_time(struct tt_job *job)
{
    if (!job->visit)
        return TUTTI_OK;
    job->visit_at = job->visit->has_at ? job->visit->at : job->times.start;
    if (job->visit_at >= job->times.start && job->visit_at <= job->times.stop)
        return TUTTI_OK;
    return tt_fail(TUTTI_ERR_ARGUMENT,
                   "t = %s is not in the run, which goes from %s to %s; --start and --stop change that",
                   NUMBER(job->visit_at), NUMBER(job->times.start), NUMBER(job->times.stop));
}

bool tt_job_drives_inputs(const struct tt_job *job)
{
    return job->table_count > 0 || job->formulas.count > 0;
}

const char *tt_job_find_path(const struct tutti_run_options *options, const char *name)
{
    for (size_t i = 0; i < options->alias_count; i++)
        if (!options->aliases[i].if_missing && strcmp(options->aliases[i].name, name) == 0)
            return options->aliases[i].path;
    return options->within ? NULL : name;
}

static enum tutti_err job_read_inputs(struct tt_job *job, const struct tt_job *earlier)
{
    const struct tutti_run_options *options = &job->options;
    job->borrows_tables = earlier != NULL;
    for (size_t i = 0; i < options->input_count; i++) {
        const char *path = tt_job_find_path(options, options->inputs[i]);
        if (earlier)
            job->tables[i].table = earlier->tables[i].table;
        else
            TRY(path ? tt_csv_table_read(&job->tables[i].table, path)
                     : tt_model_files_fail_foreign(options->inputs[i]));
        job->tables[i].name = options->inputs[i];
        job->table_count++;
    }
    return TUTTI_OK;
}

static enum tutti_err job_read_tables(struct tt_job *job, const struct tt_job *earlier)
{
    const struct tutti_run_options *options = &job->options;
    const struct tt_system *system = job->system;
    job->tables = calloc(options->input_count + system->table_count + 1, sizeof *job->tables);
    if (!job->tables)
        return tt_fail_memory();
    TRY(job_read_inputs(job, earlier));
    TRY(tt_schedule_set_intervals(&job->schedule, options->clocks, options->clock_count, system));
    if (options->schedule) {
        const char *path = tt_job_find_path(options, options->schedule);
        TRY(path ? tt_schedule_read(&job->schedule, path, system) : tt_model_files_fail_foreign(options->schedule));
    }
    for (uint32_t i = 0; i < system->table_count; i++)
        job->tables[job->table_count++] = (struct tt_trajectory_file){system->tables[i].file, system->tables[i].table};
    return TUTTI_OK;
}

/* Sensitivities are equations beside those of the FMU. */
static enum tutti_err job_make_sensitivity(struct tt_job *job)
{
    const struct tutti_run_options *options = &job->options;
    if (options->sensitivity_count == 0)
        return TUTTI_OK;
    const struct tt_fmu *fmu = job->system->fmus[0];
    if (!tt_system_is_alone(job->system))
        return tt_fail(TUTTI_ERR_ARGUMENT, "--sensitivity is for one FMU, not for a system");
    if (!fmu->desc->interfaces[TUTTI_ME].present)
        return tt_fail(TUTTI_ERR_UNSUPPORTED, "%s: --sensitivity needs Model Exchange, which this FMU does not have",
                       fmu->path);
    if (options->extra)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--sensitivity does not go with extra equations of a program");
    if (options->checkpoint || options->resume || options->recover > 0 || options->initial_state_count > 0)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "--sensitivity does not go with checkpoints and initial states, which do not hold it");
    TRY(tt_me_sensitivity_new(&job->sensitivity, fmu, options->sensitivitys, options->sensitivity_count));
    job->options.extra = tt_me_sensitivity_extra(job->sensitivity);
    return TUTTI_OK;
}

/* Derives the effective options from the given ones. `earlier`: a job of these files, which are not read again; or
 * NULL. */
static enum tutti_err job_resolve_options(struct tt_job *job, const struct tt_job *earlier)
{
    enum tt_interface_choice choice;
    const struct tt_unit_kind *kind = NULL;
    if (job->options.file_count == 0)
        return tt_fail(TUTTI_ERR_ARGUMENT, "no file to run");
    TRY(tt_options_check(&job->options));
    TRY(tt_integration_choose_interface(&job->options, &choice));
    TRY(job_load_system(job, earlier));
    TRY(tt_annotation_apply_system(&job->options, job->system));
    TRY(tt_options_check(&job->options)); /* what only both of them say may not go together */
    if (tt_system_is_alone(job->system))
        TRY(tt_integration_find_interface(&job->options, job->system->fmus[0], true, &kind));
    TRY(tt_times_resolve(&job->times, &job->options, job->system, kind ? kind->interface : TUTTI_CS,
                         earlier ? NULL : job->options.log));
    TRY(resolve_callback_time(job));
    TRY(job_read_tables(job, earlier));
    TRY(tt_driven_inputs_parse_formulas(&job->formulas, &job->options, job->system));
    TRY(job_make_sensitivity(job));
    TRY(tt_state_files_open(&job->states, &job->options, job->system, tt_job_find_path));
    TRY(tt_integration_find_joining(&(struct tt_joining){job->asked, &job->options, job->system, &job->states},
                                    &job->joins));
    return tt_structure_init(&job->structure, job->system, TUTTI_PHASE_INITIAL);
}

/* Nothing is left of a job that failed but its message. */
static enum tutti_err job_close_failed(struct tt_job *job, enum tutti_err err)
{
    struct tt_failure failure;
    tt_fail_save(&failure, err);
    if (err)
        tt_job_close(job);
    return tt_fail_restore(&failure);
}

enum tutti_err tt_job_load(struct tt_job *job, const struct tutti_run_options *options, const struct tt_visit *visit)
{
    *job = (struct tt_job){.asked = options, .options = *options, .visit = visit};
    return job_close_failed(job, job_resolve_options(job, NULL));
}

/* ---- the files of a run ---- */

/* The model file itself, or what makes a folder one. */
static bool job_is_part_of(const char *model, const char *path)
{
    static const char *const parts[] = {"", "/modelDescription.xml", "/SystemStructure.ssd"};
    bool same = false;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !same; i++) {
        struct tt_text part = {0};
        tt_text_printf(&part, "%s%s", model, parts[i]);
        same = !part.failed && tt_fs_is_same_file(path, part.text);
        tt_text_fini(&part);
    }
    return same;
}

/* Of "UNIT=wheel.fmu" or "car.ssp#Variant.ssd" the file. */
static bool job_is_model_file(const char *model, const char *path)
{
    const char *equals = strchr(model, '='), *hash = strrchr(model, '#');
    char *file = hash ? strndup(model, (size_t)(hash - model)) : NULL;
    bool same = job_is_part_of(model, path) || (equals && job_is_part_of(equals + 1, path)) ||
                (file && job_is_part_of(file, path));
    free(file);
    return same;
}

static const char INITIAL_STATE[] = "--initial-state";

const char *tt_job_path_is_read(const struct tutti_run_options *options, const char *path)
{
    for (size_t i = 0; i < options->file_count; i++)
        if (job_is_model_file(options->files[i], path))
            return "the model";
    for (size_t i = 0; i < options->input_count; i++)
        if (tt_fs_is_same_file(path, options->inputs[i]))
            return "--input";
    for (size_t i = 0; i < options->initial_state_count; i++) {
        const char *text = options->initial_states[i], *equals = strchr(text, '=');
        if (tt_fs_is_same_file(path, text) || (equals && tt_fs_is_same_file(path, equals + 1)))
            return INITIAL_STATE;
    }
    return tt_fs_is_same_file(path, options->nodes) ? "--nodes"
           : tt_fs_is_same_file(path, options->key) ? "--key"
                                                    : NULL;
}

/* Writing must not destroy what is read, or written. */
static enum tutti_err job_check_files(const struct tutti_run_options *options)
{
    const char *const written[][2] = {
        {"-o", options->output}, {"--step-log", options->step_log}, {"--checkpoint", options->checkpoint}};
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        const char *other = written[i][1] ? tt_job_path_is_read(options, written[i][1]) : NULL;
        if (other)
            return tt_fail(TUTTI_ERR_ARGUMENT, "%s '%s' is the file of %s; name another", written[i][0], written[i][1],
                           other);
    }
    for (size_t i = 0; i < options->input_count; i++) {
        const char *input = options->inputs[i];
        for (size_t j = 0; j < i; j++)
            if (tt_fs_is_same_file(input, options->inputs[j]))
                return tt_fail(TUTTI_ERR_ARGUMENT, "--input '%s' is given twice", input);
    }
    if ((options->has_every || options->has_every_seconds) && !options->checkpoint && options->recover == 0)
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s says when checkpoints are taken, and needs --checkpoint FILE",
                       options->has_every ? "--every" : "--every-seconds");
    if (options->checkpoint_replay && !options->checkpoint && !options->resume && options->recover == 0)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "--checkpoint-replay says how checkpoints are taken, and needs --checkpoint FILE");
    if (tt_fs_is_same_file(options->checkpoint, options->output) ||
        tt_fs_is_same_file(options->checkpoint, options->step_log))
        return tt_fail(TUTTI_ERR_ARGUMENT, "--checkpoint '%s' is the file of %s; name another", options->checkpoint,
                       tt_fs_is_same_file(options->checkpoint, options->output) ? "-o" : "--step-log");
    if (options->step_log && strcmp(options->step_log, "-") == 0)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--step-log takes the name of a file, not - (-o - is for results)");
    if (tt_fs_is_same_file(options->step_log, options->output))
        return tt_fail(TUTTI_ERR_ARGUMENT, "--step-log '%s' is the file of -o; name another", options->step_log);
    return TUTTI_OK;
}

/* Describes a file that must not be overwritten; NULL if it is not one. */
static const char *describe_protected_file(const struct tt_job *job, const char *path)
{
    const struct tutti_run_options *options = &job->options;
    const char *const written[][2] = {
        {"-o", options->output}, {"--step-log", options->step_log}, {"--checkpoint", options->checkpoint}};
    const char *read = tt_job_path_is_read(options, path);
    if (read == INITIAL_STATE) /* it has been read: the final state may take its place */
        read = NULL;
    for (size_t i = 0; !read && i < sizeof written / sizeof *written; i++)
        read = tt_fs_is_same_file(path, written[i][1]) ? written[i][0] : NULL;
    for (uint32_t f = 0; !read && f < job->system->fmu_count; f++)
        read = tt_fs_is_same_file(path, job->system->fmus[f]->path) ? "an FMU of the system" : NULL;
    return read;
}

/* FMUs that a system refers to may lie beside it. */
static enum tutti_err job_check_written_files(const struct tt_job *job)
{
    const char *const written[][2] = {
        {"-o", job->options.output}, {"--step-log", job->options.step_log}, {"--checkpoint", job->options.checkpoint}};
    for (uint32_t f = 0; f < job->system->fmu_count; f++)
        for (size_t i = 0; i < sizeof written / sizeof *written; i++)
            if (tt_fs_is_same_file(written[i][1], job->system->fmus[f]->path))
                return tt_fail(TUTTI_ERR_ARGUMENT, "%s '%s' is an FMU of the system; name another file", written[i][0],
                               written[i][1]);
    for (uint32_t c = 0; c < job->states.count; c++) {
        const char *path = tt_state_files_final(&job->states, c),
                   *other = path ? describe_protected_file(job, path) : NULL;
        if (other)
            return tt_fail(TUTTI_ERR_ARGUMENT, "--final-state '%s' is the file of %s; name another", path, other);
    }
    return TUTTI_OK;
}

/* Taken at the very beginning: code of an FMU may change the folder that the process is in. */
static enum tutti_err job_find_absolute(const char *path, char **absolute)
{
    *absolute = path ? tt_fs_absolute(path) : NULL;
    return *absolute || !path ? TUTTI_OK
                              : tt_fail(TUTTI_ERR_IO, "'%s': the folder that this program runs in is gone", path);
}

static enum tutti_err job_find_results(struct tt_job *job)
{
    const char *output = job->options.output;
    bool is_stream = output && strcmp(output, "-") == 0;
    TRY(job_find_absolute(is_stream ? NULL : output, &job->result));
    if (is_stream && !(job->result = tt_text_copy("-")))
        return tt_fail_memory();
    return job_find_absolute(job->options.checkpoint, &job->checkpoint);
}

static enum tutti_err job_read_checkpoint(struct tt_job *job)
{
    const struct tutti_run_options *options = &job->options;
    bool kept;
    if (!options->resume)
        return TUTTI_OK;
    const char *path = tt_job_find_path(options, options->resume);
    if (!path)
        return tt_model_files_fail_foreign(options->resume);
    /* Scripts of batch systems name the same file for both, also the first time. */
    bool same = options->checkpoint && strcmp(options->checkpoint, options->resume) == 0;
    char *previous = same ? tt_checkpoint_previous_path(path) : NULL;
    bool none = previous && access(path, F_OK) != 0 && access(previous, F_OK) != 0;
    free(previous);
    if (none)
        return TUTTI_OK;
    TRY(tt_fail_context(tt_checkpoint_read(&job->resume, path, &kept), "--resume"));
    if (kept)
        tt_log(options->log, TUTTI_LOG_WARNING, NULL,
               "--resume: '%s' is not there or damaged; the one before it, '%s.previous', is whole: the run goes on "
               "from t = %s",
               options->resume, options->resume, TIME(job->resume->t));
    return TUTTI_OK;
}

static enum tutti_err job_open(struct tt_job *job, const struct tutti_run_options *options,
                               const struct tt_visit *visit, const struct tt_job *earlier)
{
    *job = (struct tt_job){.asked = options, .options = *options, .visit = visit};
    TRY(job_check_files(options));
    enum tutti_err err = job_find_results(job);
    if (!err)
        err = job_read_checkpoint(job);
    if (!err)
        err = job_resolve_options(job, earlier);
    return job_close_failed(job, err ? err : job_check_written_files(job));
}

enum tutti_err tt_job_open(struct tt_job *job, const struct tutti_run_options *options, const struct tt_visit *visit)
{
    return job_open(job, options, visit, NULL);
}

enum tutti_err tt_job_reopen(struct tt_job *job, const struct tutti_run_options *options)
{
    struct tt_job renewed;
    TRY(job_open(&renewed, options, job->visit, job));
    renewed.borrows_tables = job->borrows_tables;
    job->borrows_tables = true;
    tt_job_close(job);
    *job = renewed;
    return TUTTI_OK;
}

bool tt_job_apply_settings(struct tt_job *job, const struct tutti_run_options *options)
{
    if (!tt_start_values_replace(job->system, options->sets, options->set_count))
        return false;
    job->asked = options;
    job->options.sets = options->sets;
    job->options.log = options->log;
    return true;
}

enum tutti_err tt_job_unpack(const struct tt_job *job)
{
    for (uint32_t f = 0; f < job->system->fmu_count; f++)
        TRY(tt_fmu_unpack(job->system->fmus[f]));
    return TUTTI_OK;
}

void tt_job_close(struct tt_job *job)
{
    tt_structure_fini(&job->structure);
    size_t own = job->borrows_tables ? 0 : job->options.input_count; /* others are the system's */
    for (size_t i = 0; i < job->table_count && i < own; i++)
        tt_csv_table_free(job->tables[i].table);
    tt_schedule_fini(&job->schedule);
    free(job->tables);
    tt_driven_inputs_free_formulas(&job->formulas);
    tt_me_sensitivity_free(job->sensitivity);
    tt_state_files_fini(&job->states);
    tt_system_free(job->system);
    free(job->result);
    free(job->checkpoint);
    tt_checkpoint_free(job->resume);
    *job = (struct tt_job){0};
}

struct tt_system_source tt_job_system_source(const struct tutti_run_options *options)
{
    return (struct tt_system_source){
        .files = options->files,
        .file_count = options->file_count,
        .connect = options->connects,
        .connect_count = options->connect_count,
        .tlms = options->tlms,
        .tlm_count = options->tlm_count,
        .constrains = options->constrains,
        .constrain_count = options->constrain_count,
        .convert = options->convert,
        .compile = options->compile,
        .set = options->sets,
        .set_count = options->set_count,
        .record = options->records,
        .record_count = options->record_count,
        .aliases = options->aliases,
        .alias_count = options->alias_count,
        .within = options->within,
        .log = options->log,
    };
}
