/* SPDX-License-Identifier: MIT */
#include "job/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/number.h"
#include "base/str.h"
#include "job/annotation.h"
#include "job/integration.h"
#include "job/joining.h"
#include "job/source.h"
#include "record/table.h"
#include "signals/inputs.h"
#include "unit/sensitivity.h"

/* ---- the system ---- */

/* So many warnings about a system are shown. */
enum { MOST_WARNINGS = 20 };

/* The first error of a system, and the first warnings to the log. */
struct listener {
    const struct tutti_log *log;
    unsigned warnings;
    char first[2048];
};

static void listen(void *context, enum tutti_severity severity, const char *file, unsigned line, const char *text)
{
    struct listener *listener = context;
    char where[32] = "";
    if (line > 0)
        snprintf(where, sizeof where, ":%u", line);
    if (severity == TUTTI_FINDING_WARNING && listener->warnings++ < MOST_WARNINGS)
        tutti_log_printf(listener->log, TUTTI_LOG_WARNING, NULL, "%s%s: %s", file, where, text);
    else if (severity != TUTTI_FINDING_WARNING && !listener->first[0])
        snprintf(listener->first, sizeof listener->first, "%s%s: %s", file, where, text);
}

static enum tutti_err load(struct tutti_job *job, const struct tutti_job *earlier)
{
    const struct tutti_run_options *options = &job->options;
    struct listener listener = {.log = earlier ? NULL : options->log};
    struct tutti_findings findings = {.report = listen, .context = &listener};
    struct tutti_system_source source = tutti_job_source(options);
    source.log = listener.log;
    source.earlier = earlier ? earlier->system : NULL;
    enum tutti_err err = tutti_system_load(&job->system, &source, &findings);
    if (findings.warnings > MOST_WARNINGS)
        tutti_log_printf(listener.log, TUTTI_LOG_WARNING, NULL, "%u more warnings; `tutti check` lists them",
                         findings.warnings - MOST_WARNINGS);
    TRY(err);
    if (findings.errors == 1)
        return tutti_fail(TUTTI_ERR_FORMAT, "%s", listener.first);
    if (findings.errors > 1)
        return tutti_fail(TUTTI_ERR_FORMAT, "%s (and %u more error%s; `tutti check` lists them)", listener.first,
                          findings.errors - 1, findings.errors == 2 ? "" : "s");
    return job->system->component_count
               ? TUTTI_OK
               : tutti_fail(TUTTI_ERR_FORMAT, "%s: there is nothing to simulate: the system has no FMU",
                            job->system->path);
}

static enum tutti_err place_visit(struct tutti_job *job)
{
    if (!job->visit)
        return TUTTI_OK;
    job->visit_at = job->visit->has_at ? job->visit->at : job->times.start;
    if (job->visit_at >= job->times.start && job->visit_at <= job->times.stop)
        return TUTTI_OK;
    return tutti_fail(TUTTI_ERR_ARGUMENT,
                      "t = %s is not in the run, which goes from %s to %s; --start and --stop change that",
                      NUMBER(job->visit_at), NUMBER(job->times.start), NUMBER(job->times.stop));
}

bool tutti_job_drives_inputs(const struct tutti_job *job)
{
    return job->table_count > 0 || job->formulas.count > 0;
}

const char *tutti_job_where_is(const struct tutti_run_options *options, const char *name)
{
    for (size_t i = 0; i < options->alias_count; i++)
        if (!options->aliases[i].if_missing && strcmp(options->aliases[i].name, name) == 0)
            return options->aliases[i].path;
    return options->within ? NULL : name;
}

static enum tutti_err read_inputs(struct tutti_job *job, const struct tutti_job *earlier)
{
    const struct tutti_run_options *options = &job->options;
    job->borrows_tables = earlier != NULL;
    for (size_t i = 0; i < options->input_count; i++) {
        const char *path = tutti_job_where_is(options, options->inputs[i]);
        if (earlier)
            job->tables[i].table = earlier->tables[i].table;
        else
            TRY(path ? tutti_table_read(&job->tables[i].table, path) : tutti_files_fail_foreign(options->inputs[i]));
        job->tables[i].name = options->inputs[i];
        job->table_count++;
    }
    return TUTTI_OK;
}

static enum tutti_err read_tables(struct tutti_job *job, const struct tutti_job *earlier)
{
    const struct tutti_run_options *options = &job->options;
    const struct tutti_system *system = job->system;
    job->tables = calloc(options->input_count + system->table_count + 1, sizeof *job->tables);
    if (!job->tables)
        return tutti_fail_memory();
    TRY(read_inputs(job, earlier));
    TRY(tutti_schedule_set_intervals(&job->schedule, options->clocks, options->clock_count, system));
    if (options->schedule) {
        const char *path = tutti_job_where_is(options, options->schedule);
        TRY(path ? tutti_schedule_read(&job->schedule, path, system) : tutti_files_fail_foreign(options->schedule));
    }
    for (uint32_t i = 0; i < system->table_count; i++)
        job->tables[job->table_count++] =
            (struct tutti_trajectory_file){system->tables[i].file, system->tables[i].table};
    return TUTTI_OK;
}

/* Sensitivities are equations beside those of the FMU. */
static enum tutti_err make_sensitivity(struct tutti_job *job)
{
    const struct tutti_run_options *options = &job->options;
    if (options->sensitivity_count == 0)
        return TUTTI_OK;
    const struct tutti_fmu *fmu = job->system->fmus[0];
    if (!tutti_system_is_alone(job->system))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--sensitivity is for one FMU, not for a system");
    if (!fmu->desc->interfaces[TUTTI_ME].present)
        return tutti_fail(TUTTI_ERR_UNSUPPORTED, "%s: --sensitivity needs Model Exchange, which this FMU does not have",
                          fmu->path);
    if (options->extra)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--sensitivity does not go with extra equations of a program");
    if (options->checkpoint || options->resume || options->recover > 0 || options->initial_state_count > 0)
        return tutti_fail(TUTTI_ERR_ARGUMENT,
                          "--sensitivity does not go with checkpoints and initial states, which do not hold it");
    TRY(tutti_sensitivity_new(&job->sensitivity, fmu, options->sensitivitys, options->sensitivity_count));
    job->options.extra = tutti_sensitivity_extra(job->sensitivity);
    return TUTTI_OK;
}

/* From options that were given to those that hold. `earlier`: a job of the same files, which are not read again; NULL: there is none. */
static enum tutti_err settle(struct tutti_job *job, const struct tutti_job *earlier)
{
    enum tutti_interface_choice choice;
    const struct tutti_unit_kind *kind = NULL;
    if (job->options.file_count == 0)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "no file to run");
    TRY(tutti_options_check(&job->options));
    TRY(tutti_interface_choose(&job->options, &choice));
    TRY(load(job, earlier));
    TRY(tutti_annotation_of_system(&job->options, job->system));
    TRY(tutti_options_check(&job->options)); /* what only both of them say may not go together */
    if (tutti_system_is_alone(job->system))
        TRY(tutti_interface_find(&job->options, job->system->fmus[0], true, &kind));
    TRY(tutti_times_resolve(&job->times, &job->options, job->system, kind ? kind->interface : TUTTI_CS,
                            earlier ? NULL : job->options.log));
    TRY(place_visit(job));
    TRY(read_tables(job, earlier));
    TRY(tutti_formulas_init(&job->formulas, &job->options, job->system));
    TRY(make_sensitivity(job));
    TRY(tutti_states_open(&job->states, &job->options, job->system, tutti_job_where_is));
    TRY(tutti_joining_find(&(struct tutti_joining){job->asked, &job->options, job->system, &job->states}, &job->joins));
    return tutti_structure_init(&job->structure, job->system, TUTTI_PHASE_INITIAL);
}

/* Nothing is left of a job that failed but its message. */
static enum tutti_err close_failed(struct tutti_job *job, enum tutti_err err)
{
    struct tutti_failure failure;
    tutti_failure_keep(&failure, err);
    if (err)
        tutti_job_close(job);
    return tutti_failure_return(&failure);
}

enum tutti_err tutti_job_load(struct tutti_job *job, const struct tutti_run_options *options,
                              const struct tutti_visit *visit)
{
    *job = (struct tutti_job){.asked = options, .options = *options, .visit = visit};
    return close_failed(job, settle(job, NULL));
}

/* ---- the files of a run ---- */

/* The model file itself, or what makes a folder one. */
static bool is_part_of(const char *model, const char *path)
{
    static const char *const parts[] = {"", "/modelDescription.xml", "/SystemStructure.ssd"};
    bool same = false;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !same; i++) {
        struct tutti_text part = {0};
        tutti_text_printf(&part, "%s%s", model, parts[i]);
        same = !part.failed && tutti_fs_is_same(path, part.text);
        tutti_text_fini(&part);
    }
    return same;
}

/* Of "UNIT=wheel.fmu" or "car.ssp#Variant.ssd" the file. */
static bool is_model(const char *model, const char *path)
{
    const char *equals = strchr(model, '='), *hash = strrchr(model, '#');
    char *file = hash ? strndup(model, (size_t)(hash - model)) : NULL;
    bool same = is_part_of(model, path) || (equals && is_part_of(equals + 1, path)) || (file && is_part_of(file, path));
    free(file);
    return same;
}

static const char INITIAL_STATE[] = "--initial-state";

const char *tutti_job_reads(const struct tutti_run_options *options, const char *path)
{
    for (size_t i = 0; i < options->file_count; i++)
        if (is_model(options->files[i], path))
            return "the model";
    for (size_t i = 0; i < options->input_count; i++)
        if (tutti_fs_is_same(path, options->inputs[i]))
            return "--input";
    for (size_t i = 0; i < options->initial_state_count; i++) {
        const char *text = options->initial_states[i], *equals = strchr(text, '=');
        if (tutti_fs_is_same(path, text) || (equals && tutti_fs_is_same(path, equals + 1)))
            return INITIAL_STATE;
    }
    return tutti_fs_is_same(path, options->nodes) ? "--nodes" : tutti_fs_is_same(path, options->key) ? "--key" : NULL;
}

/* Writing must not destroy what is read, or written. */
static enum tutti_err check_files(const struct tutti_run_options *options)
{
    const char *const written[][2] = {
        {"-o", options->output}, {"--step-log", options->step_log}, {"--checkpoint", options->checkpoint}};
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        const char *other = written[i][1] ? tutti_job_reads(options, written[i][1]) : NULL;
        if (other)
            return tutti_fail(TUTTI_ERR_ARGUMENT, "%s '%s' is the file of %s; name another", written[i][0],
                              written[i][1], other);
    }
    for (size_t i = 0; i < options->input_count; i++) {
        const char *input = options->inputs[i];
        for (size_t j = 0; j < i; j++)
            if (tutti_fs_is_same(input, options->inputs[j]))
                return tutti_fail(TUTTI_ERR_ARGUMENT, "--input '%s' is given twice", input);
    }
    if ((options->has_every || options->has_every_seconds) && !options->checkpoint && options->recover == 0)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "%s says when checkpoints are taken, and needs --checkpoint FILE",
                          options->has_every ? "--every" : "--every-seconds");
    if (options->checkpoint_replay && !options->checkpoint && !options->resume && options->recover == 0)
        return tutti_fail(TUTTI_ERR_ARGUMENT,
                          "--checkpoint-replay says how checkpoints are taken, and needs --checkpoint FILE");
    if (tutti_fs_is_same(options->checkpoint, options->output) ||
        tutti_fs_is_same(options->checkpoint, options->step_log))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--checkpoint '%s' is the file of %s; name another", options->checkpoint,
                          tutti_fs_is_same(options->checkpoint, options->output) ? "-o" : "--step-log");
    if (options->step_log && strcmp(options->step_log, "-") == 0)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--step-log takes the name of a file, not - (-o - is for results)");
    if (tutti_fs_is_same(options->step_log, options->output))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--step-log '%s' is the file of -o; name another", options->step_log);
    return TUTTI_OK;
}

/* What a file is that is not to be overwritten; NULL: none that is known. */
static const char *what_is(const struct tutti_job *job, const char *path)
{
    const struct tutti_run_options *options = &job->options;
    const char *const written[][2] = {
        {"-o", options->output}, {"--step-log", options->step_log}, {"--checkpoint", options->checkpoint}};
    const char *read = tutti_job_reads(options, path);
    if (read == INITIAL_STATE) /* it has been read: the final state may take its place */
        read = NULL;
    for (size_t i = 0; !read && i < sizeof written / sizeof *written; i++)
        read = tutti_fs_is_same(path, written[i][1]) ? written[i][0] : NULL;
    for (uint32_t f = 0; !read && f < job->system->fmu_count; f++)
        read = tutti_fs_is_same(path, job->system->fmus[f]->path) ? "an FMU of the system" : NULL;
    return read;
}

static enum tutti_err check_states(const struct tutti_job *job)
{
    for (uint32_t c = 0; c < job->states.count; c++) {
        const char *path = tutti_states_final(&job->states, c), *other = path ? what_is(job, path) : NULL;
        if (other)
            return tutti_fail(TUTTI_ERR_ARGUMENT, "--final-state '%s' is the file of %s; name another", path, other);
    }
    return TUTTI_OK;
}

/* FMUs that a system refers to may lie beside it. */
static enum tutti_err check_fmus(const struct tutti_job *job)
{
    const char *const written[][2] = {
        {"-o", job->options.output}, {"--step-log", job->options.step_log}, {"--checkpoint", job->options.checkpoint}};
    for (uint32_t f = 0; f < job->system->fmu_count; f++)
        for (size_t i = 0; i < sizeof written / sizeof *written; i++)
            if (tutti_fs_is_same(written[i][1], job->system->fmus[f]->path))
                return tutti_fail(TUTTI_ERR_ARGUMENT, "%s '%s' is an FMU of the system; name another file",
                                  written[i][0], written[i][1]);
    return TUTTI_OK;
}

/* Taken at the very beginning: code of an FMU may change the folder that the process is in. */
static enum tutti_err find_absolute(const char *path, char **absolute)
{
    *absolute = path ? tutti_fs_absolute(path) : NULL;
    return *absolute || !path ? TUTTI_OK
                              : tutti_fail(TUTTI_ERR_IO, "'%s': the folder that this program runs in is gone", path);
}

static enum tutti_err find_results(struct tutti_job *job)
{
    const char *output = job->options.output;
    bool is_stream = output && strcmp(output, "-") == 0;
    TRY(find_absolute(is_stream ? NULL : output, &job->result));
    if (is_stream && !(job->result = tutti_str_copy("-")))
        return tutti_fail_memory();
    return find_absolute(job->options.checkpoint, &job->checkpoint);
}

/* Scripts of batch systems name the same file for both, also the first time. */
static bool begins(const struct tutti_run_options *options, const char *path)
{
    bool same = options->checkpoint && strcmp(options->checkpoint, options->resume) == 0;
    char *previous = same ? tutti_checkpoint_previous(path) : NULL;
    bool none = previous && access(path, F_OK) != 0 && access(previous, F_OK) != 0;
    free(previous);
    return none;
}

static enum tutti_err read_checkpoint(struct tutti_job *job)
{
    const struct tutti_run_options *options = &job->options;
    bool kept;
    if (!options->resume)
        return TUTTI_OK;
    const char *path = tutti_job_where_is(options, options->resume);
    if (!path)
        return tutti_files_fail_foreign(options->resume);
    if (begins(options, path))
        return TUTTI_OK;
    TRY(tutti_fail_context(tutti_checkpoint_read(&job->resume, path, &kept), "--resume"));
    if (kept)
        tutti_log_printf(
            options->log, TUTTI_LOG_WARNING, NULL,
            "--resume: '%s' is not there or damaged; the one before it, '%s.previous', is whole: the run goes on "
            "from t = %s",
            options->resume, options->resume, TIME(job->resume->t));
    return TUTTI_OK;
}

static enum tutti_err open_job(struct tutti_job *job, const struct tutti_run_options *options,
                               const struct tutti_visit *visit, const struct tutti_job *earlier)
{
    *job = (struct tutti_job){.asked = options, .options = *options, .visit = visit};
    TRY(check_files(options));
    enum tutti_err err = find_results(job);
    if (!err)
        err = read_checkpoint(job);
    if (!err)
        err = settle(job, earlier);
    if (!err)
        err = check_fmus(job);
    return close_failed(job, err ? err : check_states(job));
}

enum tutti_err tutti_job_open(struct tutti_job *job, const struct tutti_run_options *options,
                              const struct tutti_visit *visit)
{
    return open_job(job, options, visit, NULL);
}

enum tutti_err tutti_job_renew(struct tutti_job *job, const struct tutti_run_options *options)
{
    struct tutti_job renewed;
    TRY(open_job(&renewed, options, job->visit, job));
    renewed.borrows_tables = job->borrows_tables;
    job->borrows_tables = true;
    tutti_job_close(job);
    *job = renewed;
    return TUTTI_OK;
}

bool tutti_job_set_again(struct tutti_job *job, const struct tutti_run_options *options)
{
    if (!tutti_system_set_again(job->system, options->sets, options->set_count))
        return false;
    job->asked = options;
    job->options.sets = options->sets;
    job->options.log = options->log;
    return true;
}

enum tutti_err tutti_job_unpack(const struct tutti_job *job)
{
    for (uint32_t f = 0; f < job->system->fmu_count; f++)
        TRY(tutti_fmu_unpack(job->system->fmus[f]));
    return TUTTI_OK;
}

void tutti_job_close(struct tutti_job *job)
{
    tutti_structure_fini(&job->structure);
    size_t own = job->borrows_tables ? 0 : job->options.input_count; /* others are the system's */
    for (size_t i = 0; i < job->table_count && i < own; i++)
        tutti_table_free(job->tables[i].table);
    tutti_schedule_fini(&job->schedule);
    free(job->tables);
    tutti_formulas_fini(&job->formulas);
    tutti_sensitivity_free(job->sensitivity);
    tutti_states_fini(&job->states);
    tutti_system_free(job->system);
    free(job->result);
    free(job->checkpoint);
    tutti_checkpoint_free(job->resume);
    *job = (struct tutti_job){0};
}
