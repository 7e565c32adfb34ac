/* SPDX-License-Identifier: MIT */
/* Builds a system from the user's files and settings; each stage is a separate file, see flat.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/system/flat.h"

/* The arrays that stay, and who owns them. */
static enum tutti_err system_store(struct tt_flat *flat)
{
    struct tt_system *system = flat->system;
    system->component_count = (uint32_t)flat->components.count;
    system->components = tt_arena_array(&system->arena, flat->components.count, sizeof *system->components);
    if (!system->components)
        return tt_fail_memory();
    if (flat->components.count > 0)
        memcpy(system->components, flat->components.items, flat->components.count * sizeof *system->components);
    TRY(tt_map_reserve(&system->names, system->component_count));
    for (uint32_t i = 0; i < system->component_count; i++) {
        int64_t earlier;
        const struct tt_component *component = &system->components[i];
        TRY(tt_map_add(&system->names, component->name, i, &earlier));
        if (earlier != TUTTI_MAP_NONE)
            tt_findings_add(flat->findings, TUTTI_FINDING_WARNING, component->file, component->line,
                            "two components have the path '%s'; their results cannot be told apart, so rename one",
                            component->name);
    }
    return TUTTI_OK;
}

/* Said by the source, or by the annotation of the system; what else the word may be is looked at where words are read. */
static bool system_may_convert(const struct tt_flat *flat)
{
    const struct tt_system *system = flat->system;
    for (size_t i = 0; i < system->word_count; i++)
        if (strcmp(system->words[i].name, "convert") == 0 && strcmp(system->words[i].value, "true") == 0)
            return true;
    return flat->source->convert;
}

static enum tutti_err system_build(struct tt_flat *flat)
{
    TRY(tt_command_line_open(flat));
    flat->convert = system_may_convert(flat);
    TRY(tt_connectors_add_connections(flat));
    TRY(tt_imported_connect(flat));
    TRY(tt_command_line_connect(flat));
    TRY(tt_edges_resolve_directions(flat));
    TRY(tt_edges_propagate_relative(flat));
    TRY(tt_start_values_apply_bindings(flat));
    TRY(tt_imported_set(flat));
    TRY(tt_command_line_set(flat));
    TRY(tt_wiring_build_feeds(flat));
    TRY(tt_wiring_build_connections(flat));
    TRY(tt_probes_build(flat));
    TRY(tt_start_values_resolve(flat));
    TRY(system_store(flat));
    TRY(tt_constraints_build(flat));
    TRY(tt_model_files_list(flat));
    return flat->err;
}

static void flat_fini(struct tt_flat *flat)
{
    for (uint32_t i = 0; i < flat->items.count; i++) {
        tt_map_fini(&tt_flat_item(flat, i)->children);
        tt_map_fini(&tt_flat_item(flat, i)->connectors_by_name);
        tt_map_fini(&tt_flat_item(flat, i)->dictionaries_by_name);
    }
    for (size_t i = 0; i < flat->dictionaries.count; i++)
        tt_map_fini(&((struct tt_flat_dictionary *)flat->dictionaries.items)[i].names);
    struct tt_vector *const lists[] = {&flat->items,      &flat->nodes,      &flat->edges,       &flat->feeds,
                                       &flat->components, &flat->candidates, &flat->dictionaries};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        tt_vector_fini(lists[i]);
    tt_map_fini(&flat->signals);
    tt_model_files_fini(flat);
    tt_arena_fini(&flat->arena);
}

/* ---- findings ---- */

/* The number of errors, and of warnings, that are reported; the remaining ones are counted. A subsystem that is used a
 * million times repeats its faults as often. */
enum { MOST_TOLD = 20000 };

struct system_reporter {
    struct tt_findings *to; /* the caller's, which receives them */
    unsigned told[2];       /* by severity */
};

static void system_report_finding(void *context, enum tt_severity severity, const char *file, unsigned line,
                                  const char *text)
{
    struct system_reporter *reporter = context;
    if (reporter->told[severity]++ < MOST_TOLD)
        reporter->to->report(reporter->to->context, severity, file, line, text);
}

/* Reports the number of findings that were omitted. */
static void system_report_remaining(const struct system_reporter *reporter, const struct tt_findings *found,
                                    const struct tt_system *system)
{
    static const char *const words[] = {[TUTTI_FINDING_ERROR] = "errors", [TUTTI_FINDING_WARNING] = "warnings"};
    char text[80];
    reporter->to->errors += found->errors;
    reporter->to->warnings += found->warnings;
    for (int i = 0; i < 2; i++)
        if (reporter->told[i] > MOST_TOLD) {
            snprintf(text, sizeof text, "%u more %s are not listed", reporter->told[i] - MOST_TOLD, words[i]);
            reporter->to->report(reporter->to->context, (enum tt_severity)i, system->path, 0, text);
        }
}

enum tutti_err tt_system_load(struct tt_system **out, const struct tt_system_source *source,
                              struct tt_findings *findings)
{
    *out = NULL;
    struct tt_system *system = calloc(1, sizeof *system);
    if (!system)
        return tt_fail_memory();
    struct system_reporter reporter = {.to = findings};
    struct tt_findings found = {.report = findings && findings->report ? system_report_finding : NULL,
                                .context = &reporter};
    struct tt_flat flat = {.system = system, .source = source, .findings = &found};
    enum tutti_err err = system_build(&flat);
    if (findings)
        system_report_remaining(&reporter, &found, system);

    /* The system frees FMUs, packages and tables, also after an error. */
    system->fmus = flat.fmus.items;
    system->fmu_count = (uint32_t)flat.fmus.count;
    system->packages = flat.packages.items;
    system->package_count = (uint32_t)flat.packages.count;
    system->tables = flat.tables.items;
    system->table_count = (uint32_t)flat.tables.count;
    flat.fmus = flat.packages = flat.tables = (struct tt_vector){0};
    flat_fini(&flat);
    if (err)
        tt_system_free(system);
    else
        *out = system;
    return err;
}
