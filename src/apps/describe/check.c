/* SPDX-License-Identifier: MIT */
#include "apps/describe/check.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"
#include "fmu/fmu.h"
#include "model/import/import.h"
#include "model/plan/clock_order.h"
#include "sim/job/annotation.h"
#include "sim/job/job.h"
#include "base/options/options.h"
#include "apps/describe/info.h"
#include "apps/describe/json.h"
#include "apps/describe/describe.h"
#include "unit/trial.h"

/* The findings so far. Variants share files; a fault of a file is reported once. */
struct checker {
    bool runs;                     /* FMUs are run on trial, too */
    bool strict;                   /* violations of FMI are errors even if a run tolerates them */
    const struct tutti_log *notes; /* of trials; NULL: none are wanted */
    struct tt_findings findings;   /* its counts are unused, because they include repetitions */
    struct tt_findings flaws;      /* of readable descriptions: a run accepts these */
    struct tt_map said;
    struct tt_arena arena;
    const char **units; /* names of the units whose FMU is being checked */
    size_t unit_count;
    bool incomplete; /* memory was not enough */
    void (*tell)(void *context, const struct tt_check_finding *finding);
    void *context;
    struct tt_check_counts *counts;
};

/* Returns true if the text was reported before, and records it. */
static bool is_duplicate_finding(struct checker *checker, const char *text, size_t length)
{
    int64_t earlier = TUTTI_MAP_NONE;
    const char *copy = tt_arena_copy_text(&checker->arena, text, length);
    return copy && tt_map_add(&checker->said, copy, 0, &earlier) == TUTTI_OK && earlier != TUTTI_MAP_NONE;
}

static void check_add_finding(struct checker *checker, enum tt_severity severity, const char *file, unsigned line,
                              const char *text)
{
    struct tt_text all = {0};
    if (file)
        tt_text_printf(&all, line ? "%s:%u: " : "%s: ", file, line);
    tt_text_append(&all, text);
    checker->incomplete = checker->incomplete || all.failed;
    if (!all.failed && !is_duplicate_finding(checker, all.text, all.length)) {
        ++*(severity == TUTTI_FINDING_ERROR ? &checker->counts->errors : &checker->counts->warnings);
        checker->tell(checker->context,
                      &(struct tt_check_finding){severity, file, line, text, checker->units, checker->unit_count});
    }
    tt_text_fini(&all);
}

static void check_on_finding(void *context, enum tt_severity severity, const char *file, unsigned line,
                             const char *text)
{
    check_add_finding(context, severity, file, line, text);
}

static void report_flaw(void *context, enum tt_severity severity, const char *file, unsigned line, const char *text)
{
    const struct checker *checker = context;
    check_on_finding(context, checker->strict ? severity : TUTTI_FINDING_WARNING, file, line, text);
}

/* A fault that makes a file unusable is a finding, too; its message names file and line. */
static void check_report_error(struct checker *checker, enum tutti_err err)
{
    struct tt_failure failure; /* reporting may fail, too, and overwrite the message */
    if (err) {
        tt_fail_save(&failure, err);
        check_add_finding(checker, TUTTI_FINDING_ERROR, NULL, 0, failure.message);
    }
}

/* An FMU may be as it should be, and Tutti not able to run it. Missing libraries are found where they are loaded. */
static void check_obstacle(struct checker *checker, const struct tt_fmu *fmu)
{
    const struct tt_unit_kind *kind = NULL;
    struct tt_text text = {0};
    if (tt_unit_kind_for(fmu, TUTTI_INTERFACE_AUTO, false, &kind) == TUTTI_OK)
        return;
    tt_text_printf(&text, "%s (tutti run refuses it)", tutti_err_message());
    checker->incomplete = checker->incomplete || text.failed;
    check_add_finding(checker, TUTTI_FINDING_ERROR, NULL, 0, text.text ? text.text : "tutti run refuses it");
    tt_text_fini(&text);
}

static void check_fmu(struct checker *checker, const char *path)
{
    struct tt_fmu *fmu;
    enum tutti_err err = tt_fmu_open(&fmu, path, &checker->flaws);
    if (!err)
        err = tt_fmu_check(fmu, checker->runs, &checker->flaws, &checker->findings);
    if (!err)
        check_obstacle(checker, fmu);
    if (!err && checker->runs)
        err = tt_trial(fmu, fmu->desc->model_name ? fmu->desc->model_name : "fmu", NULL, 0, &checker->findings,
                       checker->notes);
    tt_fmu_free(fmu);
    check_report_error(checker, err);
}

/* ---- systems ---- */

/* Checks an FMU of a loaded system; loading does not check its description. */
static enum tutti_err check_system_fmu(struct checker *checker, struct tt_fmu *fmu)
{
    struct tt_byte_source reader;
    struct tt_description *desc = NULL;
    if (is_duplicate_finding(checker, fmu->path, strlen(fmu->path)))
        return TUTTI_OK;
    TRY(tt_archive_open_entry(fmu->archive, "modelDescription.xml", &reader));
    enum tutti_err err = tt_description_read(&desc, fmu->description, &reader, &checker->flaws);
    tt_archive_close_entry(fmu->archive);
    tt_description_free(desc);
    if (!err)
        err = tt_fmu_check(fmu, checker->runs, &checker->flaws, &checker->findings);
    if (!err)
        check_obstacle(checker, fmu);
    return err;
}

/* Clocks that make each other tick in a circle may do so without end, unless the FMUs know better. */
static void check_clocks(struct checker *checker, const struct tt_system *system)
{
    struct tt_text circle = {0};
    tt_clock_order_find_cycle(system, &circle);
    checker->incomplete = checker->incomplete || circle.failed;
    if (!circle.failed && circle.length > 0)
        tt_findings_add(&checker->findings, TUTTI_FINDING_WARNING, system->path, 0,
                        "clocks make each other tick in a circle, for ever at one instant unless an FMU stops it: %s",
                        circle.text);
    tt_text_fini(&circle);
}

/* Checks requirements that only a run has. */
static void check_run_requirements(struct checker *checker, const struct tt_system *system)
{
    const struct tt_experiment *experiment = &system->experiment;
    check_clocks(checker, system);
    tt_annotation_check(system, &checker->findings);
    if (system->component_count == 0)
        tt_findings_add(&checker->findings, TUTTI_FINDING_WARNING, system->path, 0,
                        "there is nothing to simulate: the system has no FMU");
    if (experiment->has_start && experiment->has_stop && !(experiment->stop > experiment->start))
        tt_findings_add(&checker->findings, TUTTI_FINDING_ERROR, system->path, experiment->line,
                        "the stop time of the default experiment is not after its start time");
}

static void check_system_fmus(struct checker *checker, const struct tt_system *system)
{
    checker->units = calloc((size_t)system->component_count + 1, sizeof *checker->units);
    checker->incomplete = checker->incomplete || !checker->units;
    for (uint32_t i = 0; i < system->fmu_count; i++) {
        checker->unit_count = 0; /* the units that have this FMU */
        for (uint32_t c = 0; c < system->component_count && checker->units; c++)
            if (system->components[c].fmu == system->fmus[i])
                checker->units[checker->unit_count++] = system->components[c].name;
        check_report_error(checker, check_system_fmu(checker, system->fmus[i]));
    }
    for (uint32_t c = 0; checker->runs && c < system->component_count; c++) {
        const struct tt_component *component = &system->components[c];
        checker->unit_count = checker->units != NULL;
        if (checker->unit_count)
            checker->units[0] = component->name;
        check_report_error(checker, tt_trial(component->fmu, component->name, component->settings,
                                             component->setting_count, &checker->findings, checker->notes));
    }
    free((void *)checker->units);
    checker->units = NULL;
    checker->unit_count = 0;
}

/* "car.ssp#Variant.ssd", a system in another tool's format, or one of several files. */
static void check_loaded_system(struct checker *checker, const struct tt_system_source *source)
{
    struct tt_system *system = NULL;
    check_report_error(checker, tt_system_load(&system, source, &checker->findings));
    if (!system)
        return;
    check_run_requirements(checker, system);
    check_system_fmus(checker, system);
    tt_system_free(system);
}

static void check_system_variant(struct checker *checker, const char *path, const char *variant)
{
    struct tt_text text = {0};
    tt_text_printf(&text, "%s#%s", path, variant);
    if (text.failed)
        check_report_error(checker, tt_fail_memory());
    else
        check_loaded_system(checker, &(struct tt_system_source){.files = (const char *[]){text.text}, .file_count = 1});
    tt_text_fini(&text);
}

static void check_system(struct checker *checker, const char *text)
{
    struct tt_named_system file;
    enum tutti_err err = tt_info_split_name(&file, text);
    if (!err)
        err = tt_package_open(&file.package, file.path, file.path);
    if (!err) {
        struct tt_package_place place = {0};
        err = tt_package_find_ssd(file.package, file.variant, &place);
        tt_package_place_fini(&place);
    }
    check_report_error(checker, err);
    if (file.package && file.variant && !err)
        check_system_variant(checker, file.path, file.variant);
    for (size_t i = 0; file.package && !file.variant && i < tt_package_variant_count(file.package); i++)
        check_system_variant(checker, file.path, tt_package_variant(file.package, i));
    tt_info_close_system(&file);
}

static void check_named_files(struct checker *checker, const struct tutti_run_options *options)
{
    struct tt_system_source source = tt_job_system_source(options);
    const char *file = source.files[0];
    size_t more = source.connect_count + source.tlm_count + source.constrain_count + source.set_count;
    bool named = strchr(file, '=') && access(file, F_OK) != 0; /* "a=ball.fmu" */
    if (source.file_count > 1 || more > 0 || named || tt_import_is_supported(file))
        check_loaded_system(checker, &source);
    else if (tt_info_is_system(file))
        check_system(checker, file);
    else
        check_fmu(checker, file);
}

enum tutti_err tt_check_run(const struct tutti_run_options *options, unsigned how,
                            void (*tell)(void *context, const struct tt_check_finding *finding), void *context,
                            struct tt_check_counts *counts)
{
    struct checker checker = {.runs = how & TUTTI_CHECK_RUN,
                              .strict = how & TUTTI_CHECK_STRICT,
                              .notes = options->log,
                              .findings = {.report = check_on_finding},
                              .flaws = {.report = report_flaw},
                              .tell = tell,
                              .context = context,
                              .counts = counts};
    checker.findings.context = checker.flaws.context = &checker;
    *counts = (struct tt_check_counts){0};
    if (options->file_count == 0)
        return tt_fail(TUTTI_ERR_ARGUMENT, "no file is named: the option --file takes an FMU or a system");
    check_named_files(&checker, options);
    tt_map_fini(&checker.said);
    tt_arena_fini(&checker.arena);
    return checker.incomplete ? tt_fail_memory() : TUTTI_OK;
}

/* ---- as JSON ---- */

/* Appends to the list that `context` points to. */
static void add_finding_json(void *context, const struct tt_check_finding *finding)
{
    json_t *units = json_array();
    for (size_t i = 0; i < finding->unit_count; i++)
        tt_json_append(&units, tt_json_text(finding->units[i]));
    tt_json_append(context, json_pack("{s:s, s:o, s:o, s:o, s:o}", "severity",
                                      finding->severity == TUTTI_FINDING_ERROR ? "error" : "warning", "text",
                                      tt_json_text(finding->text), "file",
                                      finding->file ? tt_json_text(finding->file) : json_null(), "line",
                                      finding->line ? json_integer(finding->line) : json_null(), "units", units));
}

enum tutti_err tt_check_write_json(char **json, const struct tutti_run_options *options, unsigned how,
                                   struct tt_check_counts *counts)
{
    json_t *findings = json_array();
    enum tutti_err err = tt_check_run(options, how, add_finding_json, &findings, counts);
    if (err) {
        json_decref(findings);
        return err;
    }
    return tt_describe_write_json(json_pack("{s:I, s:I, s:o}", "errors", (json_int_t)counts->errors, "warnings",
                                            (json_int_t)counts->warnings, "findings", findings),
                                  JSON_INDENT(2), json);
}

enum tutti_err tutti_tell_check(char **json, const struct tutti_run_options *options, unsigned how)
{
    struct tt_check_counts counts;
    return tt_check_write_json(json, options, how, &counts);
}
