/* SPDX-License-Identifier: MIT */
/* From what a person named to a system: each step of the way is a file of its own, see flat.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/flat.h"

/* The arrays that stay, and who owns them. */
static enum tutti_err keep(struct flat *flat)
{
    struct tutti_system *system = flat->system;
    system->component_count = (uint32_t)flat->components.count;
    system->components = tutti_arena_array(&system->arena, flat->components.count, sizeof *system->components);
    if (!system->components)
        return tutti_fail_memory();
    if (flat->components.count > 0)
        memcpy(system->components, flat->components.items, flat->components.count * sizeof *system->components);
    TRY(tutti_map_reserve(&system->names, system->component_count));
    for (uint32_t i = 0; i < system->component_count; i++) {
        int64_t earlier;
        const struct tutti_component *component = &system->components[i];
        TRY(tutti_map_add(&system->names, component->name, i, &earlier));
        if (earlier != TUTTI_MAP_NONE)
            tutti_findings_add(flat->findings, TUTTI_FINDING_WARNING, component->file, component->line,
                               "two components have the path '%s'; their results cannot be told apart, so rename one",
                               component->name);
    }
    return TUTTI_OK;
}

/* Said by the source, or by the annotation of the system; what else the word may be is looked at where words are read. */
static bool may_convert(const struct flat *flat)
{
    const struct tutti_system *system = flat->system;
    for (size_t i = 0; i < system->word_count; i++)
        if (strcmp(system->words[i].name, "convert") == 0 && strcmp(system->words[i].value, "true") == 0)
            return true;
    return flat->source->convert;
}

static enum tutti_err build(struct flat *flat)
{
    TRY(tutti_command_line_open(flat));
    flat->convert = may_convert(flat);
    TRY(tutti_connections_add(flat));
    TRY(tutti_assemble_connect(flat));
    TRY(tutti_command_line_connect(flat));
    TRY(tutti_edges_settle(flat));
    TRY(tutti_edges_spread_relative(flat));
    TRY(tutti_bindings_apply(flat));
    TRY(tutti_assemble_set(flat));
    TRY(tutti_command_line_set(flat));
    TRY(tutti_wiring_make(flat));
    TRY(tutti_arrivals_make(flat));
    TRY(tutti_probes_make(flat));
    TRY(tutti_values_settle(flat));
    TRY(keep(flat));
    TRY(tutti_joints_make(flat));
    TRY(tutti_files_keep(flat));
    return flat->err;
}

/* FMUs, packages and tables go to the system in any case, so that it frees them. */
static void hand_over(struct flat *flat)
{
    struct tutti_system *system = flat->system;
    system->fmus = flat->fmus.items;
    system->fmu_count = (uint32_t)flat->fmus.count;
    system->packages = flat->packages.items;
    system->package_count = (uint32_t)flat->packages.count;
    system->tables = flat->tables.items;
    system->table_count = (uint32_t)flat->tables.count;
    flat->fmus = flat->packages = flat->tables = (struct tutti_vector){0};
}

static void flat_fini(struct flat *flat)
{
    for (uint32_t i = 0; i < flat->items.count; i++) {
        tutti_map_fini(&tutti_flat_item(flat, i)->children);
        tutti_map_fini(&tutti_flat_item(flat, i)->connectors_by_name);
        tutti_map_fini(&tutti_flat_item(flat, i)->dictionaries_by_name);
    }
    for (size_t i = 0; i < flat->dictionaries.count; i++)
        tutti_map_fini(&((struct dictionary *)flat->dictionaries.items)[i].names);
    struct tutti_vector *const lists[] = {&flat->items,      &flat->nodes,      &flat->edges,       &flat->feeds,
                                          &flat->components, &flat->candidates, &flat->dictionaries};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        tutti_vector_fini(lists[i]);
    tutti_map_fini(&flat->signals);
    tutti_files_fini(flat);
    tutti_arena_fini(&flat->arena);
}

/* ---- findings ---- */

/* So many errors, and so many warnings, are told; the others are counted. A system that is used a million times can have
 * the same flaw as often. */
enum { MOST_TOLD = 20000 };

struct reporter {
    struct tutti_findings *to; /* the caller's, who wants to be told */
    unsigned told[2];          /* by severity */
};

static void tell(void *context, enum tutti_severity severity, const char *file, unsigned line, const char *text)
{
    struct reporter *reporter = context;
    if (reporter->told[severity]++ < MOST_TOLD)
        reporter->to->report(reporter->to->context, severity, file, line, text);
}

/* What was found, and what was not told of it. */
static void tell_rest(const struct reporter *reporter, const struct tutti_findings *found,
                      const struct tutti_system *system)
{
    static const char *const words[] = {[TUTTI_FINDING_ERROR] = "errors", [TUTTI_FINDING_WARNING] = "warnings"};
    char text[80];
    reporter->to->errors += found->errors;
    reporter->to->warnings += found->warnings;
    for (int i = 0; i < 2; i++)
        if (reporter->told[i] > MOST_TOLD) {
            snprintf(text, sizeof text, "%u more %s are not listed", reporter->told[i] - MOST_TOLD, words[i]);
            reporter->to->report(reporter->to->context, (enum tutti_severity)i, system->path, 0, text);
        }
}

enum tutti_err tutti_system_load(struct tutti_system **out, const struct tutti_system_source *source,
                                 struct tutti_findings *findings)
{
    *out = NULL;
    struct tutti_system *system = calloc(1, sizeof *system);
    if (!system)
        return tutti_fail_memory();
    struct reporter reporter = {.to = findings};
    struct tutti_findings found = {.report = findings && findings->report ? tell : NULL, .context = &reporter};
    struct flat flat = {.system = system, .source = source, .findings = &found};
    enum tutti_err err = build(&flat);
    if (findings)
        tell_rest(&reporter, &found, system);
    hand_over(&flat);
    flat_fini(&flat);
    if (err)
        tutti_system_free(system);
    else
        *out = system;
    return err;
}
