/* SPDX-License-Identifier: MIT */
#include "tell/check.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"
#include "fmi/fmu.h"
#include "foreign/assembly.h"
#include "plan/ticking.h"
#include "job/annotation.h"
#include "job/source.h"
#include "options/options.h"
#include "tell/named_system.h"
#include "tell/json.h"
#include "tell/told.h"
#include "unit/trial.h"

/* Findings so far. Variants share files, and what is wrong with a file is said once. */
struct checker {
    bool runs;                      /* FMUs are run on trial, too */
    bool strict;                    /* what contradicts FMI is an error also where a run goes on */
    const struct tutti_log *notes;  /* of trials; NULL: none are wanted */
    struct tutti_findings findings; /* its counts are of no use: they are before repetitions are sorted out */
    struct tutti_findings flaws;    /* of descriptions that could be read: a run goes on with these */
    struct tutti_map said;
    struct tutti_arena arena;
    const char **units; /* whose FMU is being checked */
    size_t unit_count;
    bool incomplete; /* memory was not enough */
    void (*tell)(void *context, const struct tutti_check_finding *finding);
    void *context;
    struct tutti_check_counts *counts;
};

/* Was it said before? From now on it was. */
static bool is_repeated(struct checker *checker, const char *text, size_t length)
{
    int64_t earlier = TUTTI_MAP_NONE;
    const char *copy = tutti_arena_text(&checker->arena, text, length);
    return copy && tutti_map_add(&checker->said, copy, 0, &earlier) == TUTTI_OK && earlier != TUTTI_MAP_NONE;
}

static void say(struct checker *checker, enum tutti_severity severity, const char *file, unsigned line,
                const char *text)
{
    struct tutti_text all = {0};
    if (file)
        tutti_text_printf(&all, line ? "%s:%u: " : "%s: ", file, line);
    tutti_text_append(&all, text);
    checker->incomplete = checker->incomplete || all.failed;
    if (!all.failed && !is_repeated(checker, all.text, all.length)) {
        ++*(severity == TUTTI_FINDING_ERROR ? &checker->counts->errors : &checker->counts->warnings);
        checker->tell(checker->context,
                      &(struct tutti_check_finding){severity, file, line, text, checker->units, checker->unit_count});
    }
    tutti_text_fini(&all);
}

static void report(void *context, enum tutti_severity severity, const char *file, unsigned line, const char *text)
{
    say(context, severity, file, line, text);
}

static void report_flaw(void *context, enum tutti_severity severity, const char *file, unsigned line, const char *text)
{
    const struct checker *checker = context;
    report(context, checker->strict ? severity : TUTTI_FINDING_WARNING, file, line, text);
}

/* What makes a file unusable is a finding as well; its message names file and line. */
static void report_failure(struct checker *checker, enum tutti_err err)
{
    struct tutti_failure failure; /* what is told may fail, too, and write another message */
    if (err) {
        tutti_failure_keep(&failure, err);
        say(checker, TUTTI_FINDING_ERROR, NULL, 0, failure.message);
    }
}

/* An FMU may be as it should be, and Tutti not able to run it. Missing libraries are found where they are loaded. */
static void check_obstacle(struct checker *checker, const struct tutti_fmu *fmu)
{
    const struct tutti_unit_kind *kind = NULL;
    struct tutti_text text = {0};
    if (tutti_unit_kind_for(fmu, TUTTI_INTERFACE_AUTO, false, &kind) == TUTTI_OK)
        return;
    tutti_text_printf(&text, "%s (tutti run refuses it)", tutti_err_message());
    checker->incomplete = checker->incomplete || text.failed;
    say(checker, TUTTI_FINDING_ERROR, NULL, 0, text.text ? text.text : "tutti run refuses it");
    tutti_text_fini(&text);
}

static void check_fmu(struct checker *checker, const char *path)
{
    struct tutti_fmu *fmu;
    enum tutti_err err = tutti_fmu_open(&fmu, path, &checker->flaws);
    if (!err)
        err = tutti_fmu_check(fmu, checker->runs, &checker->flaws, &checker->findings);
    if (!err)
        check_obstacle(checker, fmu);
    if (!err && checker->runs)
        err = tutti_trial(fmu, fmu->desc->model_name ? fmu->desc->model_name : "fmu", NULL, 0, &checker->findings,
                          checker->notes);
    tutti_fmu_free(fmu);
    report_failure(checker, err);
}

/* ---- systems ---- */

/* An FMU of a system that was loaded, which says nothing about its descriptions. */
static enum tutti_err check_member(struct checker *checker, struct tutti_fmu *fmu)
{
    struct tutti_reader reader;
    struct tutti_desc *desc = NULL;
    if (is_repeated(checker, fmu->path, strlen(fmu->path)))
        return TUTTI_OK;
    TRY(tutti_archive_begin_entry(fmu->archive, "modelDescription.xml", &reader));
    enum tutti_err err = tutti_desc_read(&desc, fmu->description, &reader, &checker->flaws);
    tutti_archive_end_entry(fmu->archive);
    tutti_desc_free(desc);
    if (!err)
        err = tutti_fmu_check(fmu, checker->runs, &checker->flaws, &checker->findings);
    if (!err)
        check_obstacle(checker, fmu);
    return err;
}

/* Clocks that make each other tick in a circle may do so without end, unless the FMUs know better. */
static void check_clocks(struct checker *checker, const struct tutti_system *system)
{
    struct tutti_text circle = {0};
    tutti_ticking_find_circle(system, &circle);
    checker->incomplete = checker->incomplete || circle.failed;
    if (!circle.failed && circle.length > 0)
        tutti_findings_add(
            &checker->findings, TUTTI_FINDING_WARNING, system->path, 0,
            "clocks make each other tick in a circle, for ever at one instant unless an FMU stops it: %s", circle.text);
    tutti_text_fini(&circle);
}

/* What only a run would stumble over. */
static void check_whole(struct checker *checker, const struct tutti_system *system)
{
    const struct tutti_experiment *experiment = &system->experiment;
    check_clocks(checker, system);
    tutti_annotation_check(system, &checker->findings);
    if (system->component_count == 0)
        tutti_findings_add(&checker->findings, TUTTI_FINDING_WARNING, system->path, 0,
                           "there is nothing to simulate: the system has no FMU");
    if (experiment->has_start && experiment->has_stop && !(experiment->stop > experiment->start))
        tutti_findings_add(&checker->findings, TUTTI_FINDING_ERROR, system->path, experiment->line,
                           "the stop time of the default experiment is not after its start time");
}

/* The units that have this FMU. */
static void name_units(struct checker *checker, const struct tutti_system *system, const struct tutti_fmu *fmu)
{
    checker->unit_count = 0;
    for (uint32_t c = 0; c < system->component_count && checker->units; c++)
        if (system->components[c].fmu == fmu)
            checker->units[checker->unit_count++] = system->components[c].name;
}

static void check_members(struct checker *checker, const struct tutti_system *system)
{
    checker->units = calloc((size_t)system->component_count + 1, sizeof *checker->units);
    checker->incomplete = checker->incomplete || !checker->units;
    for (uint32_t i = 0; i < system->fmu_count; i++) {
        name_units(checker, system, system->fmus[i]);
        report_failure(checker, check_member(checker, system->fmus[i]));
    }
    for (uint32_t c = 0; checker->runs && c < system->component_count; c++) {
        const struct tutti_component *component = &system->components[c];
        checker->unit_count = checker->units != NULL;
        if (checker->unit_count)
            checker->units[0] = component->name;
        report_failure(checker, tutti_trial(component->fmu, component->name, component->settings,
                                            component->setting_count, &checker->findings, checker->notes));
    }
    free((void *)checker->units);
    checker->units = NULL;
    checker->unit_count = 0;
}

/* "car.ssp#Variant.ssd", a system in another tool's format, or one of several files. */
static void check_loaded(struct checker *checker, const struct tutti_system_source *source)
{
    struct tutti_system *system = NULL;
    report_failure(checker, tutti_system_load(&system, source, &checker->findings));
    if (!system)
        return;
    check_whole(checker, system);
    check_members(checker, system);
    tutti_system_free(system);
}

static void check_variant(struct checker *checker, const char *path, const char *variant)
{
    struct tutti_text text = {0};
    tutti_text_printf(&text, "%s#%s", path, variant);
    if (text.failed)
        report_failure(checker, tutti_fail_memory());
    else
        check_loaded(checker, &(struct tutti_system_source){.files = (const char *[]){text.text}, .file_count = 1});
    tutti_text_fini(&text);
}

static void check_system(struct checker *checker, const char *text)
{
    struct tutti_named_system file;
    enum tutti_err err = tutti_named_system_split(&file, text);
    if (!err)
        err = tutti_package_open(&file.package, file.path, file.path);
    if (!err) {
        struct tutti_place place = {0};
        err = tutti_package_ssd(file.package, file.variant, &place);
        tutti_place_fini(&place);
    }
    report_failure(checker, err);
    if (file.package && file.variant && !err)
        check_variant(checker, file.path, file.variant);
    for (size_t i = 0; file.package && !file.variant && i < tutti_package_variant_count(file.package); i++)
        check_variant(checker, file.path, tutti_package_variant(file.package, i));
    tutti_named_system_close(&file);
}

static void check_files(struct checker *checker, const struct tutti_run_options *options)
{
    struct tutti_system_source source = tutti_job_source(options);
    const char *file = source.files[0];
    size_t more = source.connect_count + source.tlm_count + source.constrain_count + source.set_count;
    bool named = strchr(file, '=') && access(file, F_OK) != 0; /* "a=ball.fmu" */
    if (source.file_count > 1 || more > 0 || named || tutti_assembly_is(file))
        check_loaded(checker, &source);
    else if (tutti_named_system_is(file))
        check_system(checker, file);
    else
        check_fmu(checker, file);
}

enum tutti_err tutti_check(const struct tutti_run_options *options, unsigned how,
                           void (*tell)(void *context, const struct tutti_check_finding *finding), void *context,
                           struct tutti_check_counts *counts)
{
    struct checker checker = {.runs = how & TUTTI_CHECK_RUN,
                              .strict = how & TUTTI_CHECK_STRICT,
                              .notes = options->log,
                              .findings = {.report = report},
                              .flaws = {.report = report_flaw},
                              .tell = tell,
                              .context = context,
                              .counts = counts};
    checker.findings.context = checker.flaws.context = &checker;
    *counts = (struct tutti_check_counts){0};
    if (options->file_count == 0)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "no file is named: the option --file takes an FMU or a system");
    check_files(&checker, options);
    tutti_map_fini(&checker.said);
    tutti_arena_fini(&checker.arena);
    return checker.incomplete ? tutti_fail_memory() : TUTTI_OK;
}

/* ---- as JSON ---- */

/* To the list that `context` points at. */
static void add_json(void *context, const struct tutti_check_finding *finding)
{
    json_t *units = json_array();
    for (size_t i = 0; i < finding->unit_count; i++)
        tutti_json_append(&units, tutti_text_json(finding->units[i]));
    tutti_json_append(context, json_pack("{s:s, s:o, s:o, s:o, s:o}", "severity",
                                         finding->severity == TUTTI_FINDING_ERROR ? "error" : "warning", "text",
                                         tutti_text_json(finding->text), "file",
                                         finding->file ? tutti_text_json(finding->file) : json_null(), "line",
                                         finding->line ? json_integer(finding->line) : json_null(), "units", units));
}

enum tutti_err tutti_check_tell(char **json, const struct tutti_run_options *options, unsigned how,
                                struct tutti_check_counts *counts)
{
    json_t *findings = json_array();
    enum tutti_err err = tutti_check(options, how, add_json, &findings, counts);
    if (err) {
        json_decref(findings);
        return err;
    }
    return tutti_told_json(json_pack("{s:I, s:I, s:o}", "errors", (json_int_t)counts->errors, "warnings",
                                     (json_int_t)counts->warnings, "findings", findings),
                           JSON_INDENT(2), json);
}

enum tutti_err tutti_tell_check(char **json, const struct tutti_run_options *options, unsigned how)
{
    struct tutti_check_counts counts;
    return tutti_check_tell(json, options, how, &counts);
}
