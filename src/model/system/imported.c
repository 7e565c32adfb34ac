/* SPDX-License-Identifier: MIT */
/* Systems in formats of other tools (model/import/import.h): their units are FMUs of the root, as those of a command line;
 * signals of functions are wires. Values pass without a conversion of units, as in those tools. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "model/system/flat.h"

static void imported_report(struct tt_flat *flat, unsigned line, const char *words, const char *owner, const char *name)
{
    tt_findings_add(flat->findings, TUTTI_FINDING_ERROR, flat->assembly->file, line, "'%s.%s': %s",
                    tt_text_excerpt(owner).text, tt_text_excerpt(name).text, words);
}

/* ---- units ---- */

/* A whole number of the run's steps, as the tools that have them make of it. */
static double imported_step(struct tt_flat *flat, const struct tt_import_component *unit, double base)
{
    double count = fmax(1, round(unit->step / base)), step = count * base;
    if (fabs(step - unit->step) > 1e-6 * unit->step)
        tt_findings_add(flat->findings, TUTTI_FINDING_WARNING, flat->assembly->file, unit->line,
                        "the step of '%s', %s, is no multiple of the base step %s; it makes steps of %s", unit->name,
                        NUMBER(unit->step), NUMBER(base), NUMBER(step));
    return count > 1 ? step : 0;
}

static enum tutti_err imported_set_step(struct tt_flat *flat, uint32_t component,
                                        const struct tt_import_component *unit)
{
    const struct tt_import *assembly = flat->assembly;
    double base = 0;
    for (size_t i = 0; i < assembly->setting_count; i++)
        if (strcmp(assembly->settings[i].name, "step") == 0)
            tt_number_read_double(assembly->settings[i].value, strlen(assembly->settings[i].value), &base);

    double step = unit->step > 0 && base > 0 ? imported_step(flat, unit, base) : unit->step;
    if (!(step > 0))
        return TUTTI_OK;
    struct tt_run_setting *word = tt_arena_alloc(&flat->system->arena, sizeof *word);
    char *value = tt_arena_copy_text(&flat->system->arena, NUMBER(step), strlen(NUMBER(step)));
    if (!word || !value)
        return tt_fail_memory();
    *word = (struct tt_run_setting){"step", value, unit->line};
    tt_flat_component(flat, component)->words = word;
    tt_flat_component(flat, component)->word_count = 1;
    return TUTTI_OK;
}

static enum tutti_err imported_open_component(struct tt_flat *flat, struct tt_flat_file *document,
                                              const struct tt_import_component *unit, uint32_t index)
{
    struct tt_flat_file *file;
    size_t tables = flat->tables.count;
    enum tutti_err err = tt_model_files_open_sibling(flat, document, unit->source, &file);
    if (err)
        return tt_fail_context(err == TUTTI_ERR_ARGUMENT ? TUTTI_ERR_FORMAT : err, "%s:%u: simulator '%s'",
                               flat->assembly->file, unit->line, unit->name);
    struct tt_flat_item *item = tt_flat_item(flat, index);
    item->target = file;
    if (flat->tables.count > tables)
        return tt_hierarchy_add_table(flat, index, (uint32_t)tables);
    TRY(tt_hierarchy_add_fmu(flat, index, file->fmu));
    struct tt_component *component = tt_flat_component(flat, tt_flat_item(flat, index)->component);
    component->file = document->shown;
    component->line = unit->line;
    return imported_set_step(flat, tt_flat_item(flat, index)->component, unit);
}

static enum tutti_err imported_add_components(struct tt_flat *flat, struct tt_flat_file *document)
{
    const struct tt_import *assembly = document->assembly;
    if (assembly->unit_count == 0)
        return tt_fail(TUTTI_ERR_FORMAT, "%s: there is no simulator in it", document->shown);
    if (tt_hierarchy_add(flat, 0, "") == TUTTI_NONE)
        return tt_fail_memory();
    for (size_t i = 0; i < assembly->unit_count; i++) {
        for (size_t k = 0; k < i; k++)
            if (strcmp(assembly->units[i].name, assembly->units[k].name) == 0)
                return tt_fail(TUTTI_ERR_FORMAT, "%s:%u: two simulators are called '%s', the other one in line %u",
                               document->shown, assembly->units[i].line, assembly->units[i].name,
                               assembly->units[k].line);
        if (tt_hierarchy_add(flat, 0, assembly->units[i].name) == TUTTI_NONE)
            return tt_fail_memory();
    }
    tt_flat_item(flat, 0)->first_child = 1;
    tt_flat_item(flat, 0)->child_count = (uint32_t)assembly->unit_count;
    for (size_t i = 0; i < assembly->unit_count; i++)
        TRY(imported_open_component(flat, document, &assembly->units[i], (uint32_t)i + 1));
    return TUTTI_OK;
}

/* ---- settings ---- */

/* Returns true if a setting of the file has no effect. A single FMU is not coupled; but a tolerance applies to it, and
 * inputs driven by a table are a reason to control the step size. */
static bool setting_has_no_effect(const struct tt_flat *flat, const struct tt_import_setting *setting)
{
    static const char *const of_any[] = {"step", "rtol", "atol"}, *const of_driven[] = {"control", "h-min", "h-max"};
    if (flat->components.count > 1)
        return false;
    for (size_t i = 0; i < sizeof of_any / sizeof *of_any; i++)
        if (strcmp(setting->name, of_any[i]) == 0)
            return false;
    for (size_t i = 0; i < sizeof of_driven / sizeof *of_driven; i++)
        if (flat->tables.count > 0 && strcmp(setting->name, of_driven[i]) == 0)
            return strcmp(setting->value, "converge") == 0; /* nothing is iterated */
    return true;
}

/* With the units open. */
static enum tutti_err imported_apply_settings(struct tt_flat *flat)
{
    const struct tt_import *assembly = flat->assembly;
    struct tt_system *system = flat->system;
    struct tt_run_setting *words = tt_arena_array(&system->arena, assembly->setting_count, sizeof *words);
    if (!words)
        return tt_fail_memory();
    system->words = words;
    for (size_t i = 0; i < assembly->setting_count; i++) {
        const struct tt_import_setting *setting = &assembly->settings[i];
        if (setting_has_no_effect(flat, setting))
            continue;
        const char *value = tt_arena_copy_text(&system->arena, setting->value, strlen(setting->value));
        if (!value)
            return tt_fail_memory();
        words[system->word_count++] = (struct tt_run_setting){setting->name, value, setting->line};
    }
    system->experiment.has_start = assembly->has_start;
    system->experiment.has_stop = assembly->has_stop;
    system->experiment.start = assembly->start;
    system->experiment.stop = assembly->stop;
    return TUTTI_OK;
}

enum tutti_err tt_imported_open(struct tt_flat *flat, const char *path)
{
    struct tt_flat_file *file;
    TRY(tt_model_files_open_import(flat, path, path, &file));
    flat->assembly = file->assembly;
    flat->assembled = file;
    flat->system->words_file = file->shown;
    TRY(imported_add_components(flat, file));
    return imported_apply_settings(flat);
}

/* ---- functions ---- */

static const struct tt_import_function *imported_find_function(const struct tt_flat *flat, const char *name)
{
    for (size_t i = 0; i < flat->assembly->function_count; i++)
        if (strcmp(flat->assembly->functions[i].name, name) == 0)
            return &flat->assembly->functions[i];
    return NULL;
}

/* The wire of a signal: "sum.in[0]"; made when it is first named. */
static enum tutti_err imported_find_signal(struct tt_flat *flat, const char *function, const char *signal,
                                           unsigned line, uint32_t *out)
{
    char *name = tt_arena_alloc(&flat->arena, strlen(function) + strlen(signal) + 2);
    if (!name)
        return tt_fail_memory();
    stpcpy(stpcpy(stpcpy(name, function), "."), signal);
    int64_t known = tt_map_find(&flat->signals, name);
    if (known != TUTTI_MAP_NONE) {
        *out = (uint32_t)known;
        return TUTTI_OK;
    }
    struct tt_flat_node *node = tt_vector_push(&flat->nodes, sizeof *node);
    if (!node)
        return tt_fail_memory();
    *node = (struct tt_flat_node){.name = name,
                                  .component = TUTTI_NONE,
                                  .variable = TUTTI_NONE,
                                  .column = TUTTI_NONE,
                                  .entry = true,
                                  .kind = TUTTI_SSP_INOUT,
                                  .look = {.typed = true, .type = TUTTI_TYPE_FLOAT64},
                                  .file = flat->assembly->file,
                                  .line = line};
    *out = (uint32_t)flat->nodes.count - 1;
    return tt_map_add(&flat->signals, name, *out, NULL);
}

static enum tutti_err imported_make_linear(struct tt_flat *flat, double factor, double offset, unsigned line,
                                           const struct tt_ssp_transformation **out)
{
    *out = NULL;
    if (factor == 1 && offset == 0)
        return TUTTI_OK;
    struct tt_ssp_transformation *own = tt_arena_alloc(&flat->arena, sizeof *own);
    if (!own)
        return tt_fail_memory();
    *own = (struct tt_ssp_transformation){.kind = TUTTI_SSP_LINEAR, .factor = factor, .offset = offset, .line = line};
    *out = own;
    return TUTTI_OK;
}

/* From an input of a function to its output; the transformation follows it, next to the destination. */
static enum tutti_err imported_add_term(struct tt_flat *flat, const struct tt_import_function *function, const char *in,
                                        const char *out)
{
    struct tt_flat_edge edge = {
        .suppress = true, .adds = function->sums, .file = flat->assembly->file, .line = function->line};
    TRY(imported_find_signal(flat, function->name, in, function->line, &edge.from.node));
    TRY(imported_find_signal(flat, function->name, out, function->line, &edge.to.node));
    edge.from.kind = TUTTI_SSP_OUTPUT;
    edge.to.kind = TUTTI_SSP_INPUT;
    return tt_edges_add(flat, &edge);
}

static enum tutti_err imported_add_function(struct tt_flat *flat, const struct tt_import_function *function)
{
    char in[64], out[64];
    if (!function->sums)
        return imported_add_term(flat, function, "in", "out");
    for (unsigned t = 0; t < function->terms; t++)
        for (unsigned d = 0; d < function->dimension || d == 0; d++) {
            snprintf(in, sizeof in, function->dimension ? "in[%u][%u]" : "in[%u]", t, d);
            snprintf(out, sizeof out, function->dimension ? "out[%u]" : "out", d);
            TRY(imported_add_term(flat, function, in, out));
        }
    return TUTTI_OK;
}

/* Returns true if the function has the signal. */
static bool imported_has_signal(const struct tt_import_function *function, const char *name, bool group, bool *output)
{
    char text[64];
    *output = strncmp(name, "out", 3) == 0;
    bool vector = function->dimension > 0 && !group;
    if (!function->sums)
        return strcmp(name, *output ? "out" : "in") == 0;
    for (unsigned t = 0; t < (*output ? 1 : function->terms); t++)
        for (unsigned d = 0; d < (vector ? function->dimension : 1); d++) {
            size_t n =
                (size_t)(*output ? snprintf(text, sizeof text, "out") : snprintf(text, sizeof text, "in[%u]", t));
            if (vector)
                snprintf(text + n, sizeof text - n, "[%u]", d);
            if (strcmp(text, name) == 0)
                return true;
        }
    return false;
}

/* ---- connections ---- */

/* Finds the column `name`, or `name [unit]`. SIZE_MAX if it does not exist. */
static size_t imported_column_of(const struct tt_csv_table *table, const char *name)
{
    size_t n = strlen(name);
    for (size_t c = 0; c < tt_csv_table_columns(table); c++) {
        const char *own = tt_csv_table_name(table, c);
        if (strncmp(own, name, n) == 0 && (own[n] == '\0' || own[n + strspn(own + n, " ")] == '['))
            return c;
    }
    return SIZE_MAX;
}

static enum tutti_err imported_find_column(struct tt_flat *flat, const struct tt_import_connection *link,
                                           uint32_t owner, const struct tt_import_end *end,
                                           struct tt_flat_edge_end *out, bool *found)
{
    const struct tt_system_table *table = (const struct tt_system_table *)flat->tables.items +
                                          tt_flat_item(flat, owner)->table;
    size_t column = imported_column_of(table->table, end->name);
    *found = column != SIZE_MAX;
    if (!*found) {
        imported_report(flat, link->line, "the table has no such column", end->owner, end->name);
        return TUTTI_OK;
    }
    struct tt_flat_node *node = tt_vector_push(&flat->nodes, sizeof *node);
    if (!node)
        return tt_fail_memory();
    *node = (struct tt_flat_node){.name = end->name,
                                  .item = owner,
                                  .component = TUTTI_NONE,
                                  .variable = TUTTI_NONE,
                                  .column = (uint32_t)column,
                                  .kind = TUTTI_SSP_OUTPUT,
                                  .file = flat->assembly->file,
                                  .line = link->line};
    out->node = (uint32_t)flat->nodes.count - 1;
    out->kind = TUTTI_SSP_OUTPUT;
    return TUTTI_OK;
}

static enum tutti_err imported_find_end(struct tt_flat *flat, const struct tt_import_connection *link,
                                        const struct tt_import_end *end, struct tt_flat_edge_end *out, bool *found)
{
    *found = false;
    if (end->function) {
        const struct tt_import_function *function = imported_find_function(flat, end->owner);
        bool output;
        if (!function || !imported_has_signal(function, end->name, false, &output)) {
            imported_report(flat, link->line,
                            function ? "the function has no such signal" : "there is no such function", end->owner,
                            end->name);
            return TUTTI_OK;
        }
        *found = true;
        out->kind = output ? TUTTI_SSP_OUTPUT : TUTTI_SSP_INPUT;
        return imported_find_signal(flat, end->owner, end->name, link->line, &out->node);
    }
    uint32_t owner = tt_flat_find_child(flat, 0, end->owner);
    if (owner == TUTTI_NONE) {
        imported_report(flat, link->line, "there is no such simulator", end->owner, end->name);
        return TUTTI_OK;
    }
    if (tt_flat_item(flat, owner)->table != TUTTI_NONE)
        return imported_find_column(flat, link, owner, end, out, found);
    const struct tt_description *desc = tt_flat_component(flat, tt_flat_item(flat, owner)->component)->fmu->desc;
    uint32_t variable = tt_description_find(desc, end->name);
    if (variable == TUTTI_NONE) {
        const char *nearest = tt_flat_may_suggest(flat) ? tt_description_nearest(desc, end->name) : NULL;
        char words[300] = "its FMU has no such variable";
        if (nearest)
            snprintf(words, sizeof words, "its FMU has no such variable; did you mean '%s'?",
                     tt_text_excerpt(nearest).text);
        imported_report(flat, link->line, words, end->owner, end->name);
        return TUTTI_OK;
    }
    *found = true;
    out->node = tt_flat_add_variable(flat, owner, variable);
    if (out->node == TUTTI_NONE)
        return tt_fail_memory();
    out->kind = tt_flat_node(flat, out->node)->kind;
    return TUTTI_OK;
}

static enum tutti_err imported_connect(struct tt_flat *flat, const struct tt_import_connection *link)
{
    struct tt_flat_edge edge = {.suppress = true, .file = flat->assembly->file, .line = link->line};
    bool first, second;
    TRY(imported_find_end(flat, link, &link->ends[0], &edge.from, &first));
    TRY(imported_find_end(flat, link, &link->ends[1], &edge.to, &second));
    double factor = link->factor, offset = link->offset;
    for (int i = 0; i < 2; i++) {
        const struct tt_import_end *end = &link->ends[i];
        const struct tt_import_function *function = end->function ? imported_find_function(flat, end->owner) : NULL;
        if (function && !function->sums && strcmp(end->name, "out") == 0) {
            factor = function->factor;
            offset = function->offset;
        }
    }
    TRY(imported_make_linear(flat, factor, offset, link->line, &edge.transformation));
    return first && second ? tt_edges_add(flat, &edge) : TUTTI_OK;
}

/* ---- groups ---- */

/* Lists the names of a group's members; *found is false, which is reported, if the group does not exist. */
static enum tutti_err imported_list_signals(struct tt_flat *flat, const struct tt_import_connection *link,
                                            const struct tt_import_end *end, struct tt_import_group *group, bool *found)
{
    const struct tt_import_function *function = imported_find_function(flat, end->owner);
    bool output;
    *found = function && function->dimension > 0 && imported_has_signal(function, end->name, true, &output);
    if (!*found) {
        imported_report(flat, link->line,
                        function ? "the function has no such group of signals" : "there is no such function",
                        end->owner, end->name);
        return TUTTI_OK;
    }
    group->count = function->dimension;
    group->variables = tt_arena_array(&flat->arena, group->count, sizeof *group->variables);
    for (unsigned d = 0; group->variables && d < function->dimension; d++) {
        char name[64];
        snprintf(name, sizeof name, "%s[%u]", end->name, d);
        group->variables[d] = tt_arena_copy_text(&flat->arena, name, strlen(name));
        if (!group->variables[d])
            return tt_fail_memory();
    }
    return group->variables ? TUTTI_OK : tt_fail_memory();
}

static enum tutti_err imported_list_variables(struct tt_flat *flat, const struct tt_import_connection *link,
                                              const struct tt_import_end *end, struct tt_import_group *group,
                                              bool *found)
{
    uint32_t owner = tt_flat_find_child(flat, 0, end->owner);
    *found = false;
    if (owner == TUTTI_NONE) {
        imported_report(flat, link->line, "there is no such simulator", end->owner, end->name);
        return TUTTI_OK;
    }
    const struct tt_flat_item *item = tt_flat_item(flat, owner);
    if (item->component == TUTTI_NONE) {
        imported_report(flat, link->line, "a table has no groups", end->owner, end->name);
        return TUTTI_OK;
    }
    const char *model = tt_flat_component(flat, item->component)->fmu->desc->model_name;
    TRY(tt_model_files_read_group(flat, flat->assembled, item->target, model ? model : "", end->name, group, found));
    if (!*found)
        imported_report(
            flat, link->line,
            "there is no such group of variables: MODEL_OspModelDescription.xml, beside the FMU or this file, has "
            "to have it",
            end->owner, end->name);
    return TUTTI_OK;
}

static enum tutti_err imported_connect_groups(struct tt_flat *flat, const struct tt_import_connection *link)
{
    struct tt_import_group groups[2] = {{0}};
    for (int i = 0; i < 2; i++) {
        const struct tt_import_end *end = &link->ends[i];
        bool found;
        TRY(end->function ? imported_list_signals(flat, link, end, &groups[i], &found)
                          : imported_list_variables(flat, link, end, &groups[i], &found));
        if (!found)
            return TUTTI_OK;
    }
    if (groups[0].count != groups[1].count) {
        tt_findings_add(flat->findings, TUTTI_FINDING_ERROR, flat->assembly->file, link->line,
                        "the groups '%s.%s' and '%s.%s' have %zu and %zu members; only equal ones can be connected",
                        link->ends[0].owner, link->ends[0].name, link->ends[1].owner, link->ends[1].name,
                        groups[0].count, groups[1].count);
        return TUTTI_OK;
    }
    for (size_t i = 0; i < groups[0].count; i++) {
        struct tt_import_connection member = *link;
        for (int e = 0; e < 2; e++)
            member.ends[e].name = groups[e].variables[i];
        TRY(imported_connect(flat, &member));
    }
    return TUTTI_OK;
}

enum tutti_err tt_imported_connect(struct tt_flat *flat)
{
    const struct tt_import *assembly = flat->assembly;
    for (size_t i = 0; assembly && i < assembly->function_count; i++)
        TRY(imported_add_function(flat, &assembly->functions[i]));
    for (size_t i = 0; assembly && i < assembly->link_count; i++)
        TRY(assembly->links[i].groups ? imported_connect_groups(flat, &assembly->links[i])
                                      : imported_connect(flat, &assembly->links[i]));
    return TUTTI_OK;
}

/* ---- values ---- */

static enum tutti_err imported_set_value(struct tt_flat *flat, const struct tt_import_value *given, uint64_t rank)
{
    uint32_t owner = tt_flat_find_child(flat, 0, given->unit);
    if (owner == TUTTI_NONE) {
        imported_report(flat, given->line, "there is no such simulator", given->unit, given->variable);
        return TUTTI_OK;
    }
    if (tt_flat_item(flat, owner)->component == TUTTI_NONE) /* a table has no parameters */
        return TUTTI_OK;
    struct tt_vector matches = {0};
    const char **texts = tt_arena_alloc(&flat->arena, sizeof *texts);
    enum tutti_err err = texts ? tt_flat_find_matches(flat, owner, given->variable, &matches) : tt_fail_memory();
    if (!err && matches.count == 0)
        imported_report(flat, given->line, "its FMU has no such variable", given->unit, given->variable);
    if (!err)
        *texts = given->value;
    struct tt_flat_value value = {.rank = rank,
                                  .origin = given->variable,
                                  .file = flat->assembly->file,
                                  .line = given->line,
                                  .texts = true,
                                  .count = 1,
                                  .data = texts};
    for (size_t i = 0; i < matches.count && !err; i++)
        err = tt_start_values_apply(flat, &value, (const struct tt_flat_match *)matches.items + i, true, NULL);
    tt_vector_fini(&matches);
    return err;
}

enum tutti_err tt_imported_set(struct tt_flat *flat)
{
    for (size_t i = 0; flat->assembly && i < flat->assembly->value_count; i++)
        TRY(imported_set_value(flat, &flat->assembly->values[i], i + 1));
    return TUTTI_OK;
}
