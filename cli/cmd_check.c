/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "commands.h"
#include "console.h"
#include "fmi/fmu.h"
#include "foreign/assembly.h"
#include "job/annotation.h"
#include "output.h"
#include "signals.h"
#include "system_file.h"
#include "unit/trial.h"

/* Findings so far. Variants share files, and what is wrong with a file is said once. */
struct checker {
    bool runs;                      /* FMUs are run on trial, too */
    const struct tutti_log *notes;  /* of these trials; NULL: none are wanted */
    bool strict;                    /* what contradicts FMI is an error also where a run goes on */
    struct tutti_findings findings; /* its counts are of no use: they are before repetitions are sorted out */
    unsigned errors, warnings;
    struct tutti_findings flaws; /* of descriptions that could be read: a run goes on with these */
    struct tutti_map said;
    struct tutti_arena arena;
};

/* Was it said before? From now on it was. */
static bool is_repeated(struct checker *checker, const char *text, size_t length)
{
    int64_t earlier = TUTTI_MAP_NONE;
    const char *copy = tutti_arena_text(&checker->arena, text, length);
    return copy && tutti_map_add(&checker->said, copy, 0, &earlier) == TUTTI_OK && earlier != TUTTI_MAP_NONE;
}

static void say(struct checker *checker, enum tutti_severity severity, const struct tutti_text *text)
{
    if (text->failed || is_repeated(checker, text->text, text->length))
        return;
    ++*(severity == TUTTI_FINDING_ERROR ? &checker->errors : &checker->warnings);
    fprintf(output_standard(), "%s: %s\n", severity == TUTTI_FINDING_ERROR ? "error" : "warning", text->text);
}

static void report(void *context, enum tutti_severity severity, const char *file, unsigned line, const char *text)
{
    struct tutti_text all = {0};
    tutti_text_append(&all, file);
    if (line > 0)
        tutti_text_printf(&all, ":%u", line);
    tutti_text_append(&all, ": ");
    tutti_text_append(&all, text);
    say(context, severity, &all);
    tutti_text_fini(&all);
}

static void report_flaw(void *context, enum tutti_severity severity, const char *file, unsigned line, const char *text)
{
    const struct checker *checker = context;
    report(context, checker->strict ? severity : TUTTI_FINDING_WARNING, file, line, text);
}

/* What makes a file unusable is a finding as well; its message names file and line. */
static void report_failure(struct checker *checker, enum tutti_err err)
{
    struct tutti_text text = {0};
    if (!err)
        return;
    tutti_text_append(&text, tutti_err_message());
    say(checker, TUTTI_FINDING_ERROR, &text);
    tutti_text_fini(&text);
}

/* What is good to know, and nothing wrong. */
static void print_note(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    (void)context;
    (void)level;
    fprintf(stderr, "%s: %s\n", origin ? origin : "", text);
}

static void print_count(const char *file, const struct checker *checker)
{
    char *name = tutti_str_copy(file);
    if (name)
        tutti_str_make_printable(name);
    fprintf(stderr, "%s: %u error%s, %u warning%s\n", name ? name : "", checker->errors,
            checker->errors == 1 ? "" : "s", checker->warnings, checker->warnings == 1 ? "" : "s");
    free(name);
}

/* An FMU may be as it should be, and Tutti not able to run it. Missing libraries are found where they are loaded. */
static void check_obstacle(struct checker *checker, const struct tutti_fmu *fmu)
{
    const struct tutti_unit_kind *kind = NULL;
    struct tutti_text text = {0};
    if (tutti_unit_kind_for(fmu, TUTTI_INTERFACE_AUTO, false, &kind) == TUTTI_OK)
        return;
    tutti_text_printf(&text, "%s (tutti run refuses it)", tutti_err_message());
    say(checker, TUTTI_FINDING_ERROR, &text);
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

/* What only a run would stumble over. */
static void check_whole(struct checker *checker, const struct tutti_system *system)
{
    const struct tutti_experiment *experiment = &system->experiment;
    tutti_annotation_check(system, &checker->findings);
    if (system->component_count == 0)
        tutti_findings_add(&checker->findings, TUTTI_FINDING_WARNING, system->path, 0,
                           "there is nothing to simulate: the system has no FMU");
    if (experiment->has_start && experiment->has_stop && !(experiment->stop > experiment->start))
        tutti_findings_add(&checker->findings, TUTTI_FINDING_ERROR, system->path, experiment->line,
                           "the stop time of the default experiment is not after its start time");
}

/* "car.ssp#Variant.ssd", or a system in another tool's format. */
static void check_loaded(struct checker *checker, const char *file)
{
    struct tutti_system_source source = {.files = &file, .file_count = 1};
    struct tutti_system *system = NULL;
    report_failure(checker, tutti_system_load(&system, &source, &checker->findings));
    if (system)
        check_whole(checker, system);
    for (uint32_t i = 0; system && i < system->fmu_count; i++)
        report_failure(checker, check_member(checker, system->fmus[i]));
    for (uint32_t c = 0; system && checker->runs && c < system->component_count; c++) {
        const struct tutti_component *component = &system->components[c];
        report_failure(checker, tutti_trial(component->fmu, component->name, component->settings,
                                            component->setting_count, &checker->findings, checker->notes));
    }
    tutti_system_free(system);
}

static void check_variant(struct checker *checker, const char *path, const char *variant)
{
    struct tutti_text text = {0};
    tutti_text_printf(&text, "%s#%s", path, variant);
    if (text.failed)
        report_failure(checker, tutti_fail_memory());
    else
        check_loaded(checker, text.text);
    tutti_text_fini(&text);
}

static void check_system(struct checker *checker, const char *text)
{
    struct system_file file;
    enum tutti_err err = system_file_split(&file, text);
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
    system_file_close(&file);
}

int command_check(const struct arguments *arguments)
{
    const char *name = arguments->operands[0];
    static const struct tutti_log notes = {TUTTI_LOG_INFO, print_note, NULL};
    bool quiet = arguments_value(arguments, "--quiet") != NULL;
    struct checker checker = {.runs = arguments_value(arguments, "--run") != NULL,
                              .notes = quiet ? NULL : &notes,
                              .strict = arguments_value(arguments, "--strict") != NULL,
                              .findings = {.report = report},
                              .flaws = {.report = report_flaw}};
    checker.findings.context = checker.flaws.context = &checker;
    if (checker.runs)
        signals_enter_fmus();
    if (system_file_is(name))
        check_system(&checker, name);
    else if (tutti_assembly_is(name))
        check_loaded(&checker, name);
    else
        check_fmu(&checker, name);
    if (checker.runs)
        signals_leave_fmus();
    fflush(output_standard()); /* findings before the count, also where both go to one file */
    if (!quiet)
        print_count(name, &checker);
    tutti_map_fini(&checker.said);
    tutti_arena_fini(&checker.arena);
    return checker.errors ? EXIT_FAILED : EXIT_DONE;
}
