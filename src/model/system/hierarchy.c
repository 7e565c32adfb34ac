/* SPDX-License-Identifier: MIT */
/* From nested systems to items: elements as often as they are instantiated. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/system/flat.h"

static void hierarchy_report(struct tt_flat *flat, const struct tt_flat_item *item, enum tt_severity severity,
                             const char *words)
{
    tt_findings_add(flat->findings, severity, item->file->shown, item->element->line, "component '%s': %s",
                    item->element->name, words);
}

/* ---- FMUs ---- */

static enum tutti_err hierarchy_copy_settings(struct tt_flat *flat, const struct tt_tree_node *settings,
                                              const struct tt_run_setting **out, size_t *count)
{
    struct tt_arena *arena = &flat->system->arena;
    struct tt_run_setting *words = tt_arena_array(arena, settings->attribute_count, sizeof *words);
    if (!words)
        return tt_fail_memory();
    *count = 0;
    *out = words;
    for (unsigned i = 0; i < settings->attribute_count; i++) {
        const struct tt_tree_attribute *attribute = &settings->attributes[i];
        if (strncmp(attribute->name, "xmlns", 5) == 0 || strchr(attribute->name, ':'))
            continue;
        struct tt_run_setting *word = &words[(*count)++];
        word->name = tt_arena_copy_text(arena, attribute->name, strlen(attribute->name));
        word->value = tt_arena_copy_text(arena, attribute->value, strlen(attribute->value));
        word->line = settings->line;
        if (!word->name || !word->value)
            return tt_fail_memory();
    }
    return TUTTI_OK;
}

/* The implementation that is asked for, as a static text; NULL: any. */
static const char *choose_implementation(struct tt_flat *flat, const struct tt_flat_item *item,
                                         const struct tt_description *desc)
{
    static const char *const names[TUTTI_INTERFACE_COUNT] = {
        [TUTTI_CS] = "CoSimulation", [TUTTI_ME] = "ModelExchange", [TUTTI_SE] = "ScheduledExecution"};
    const char *wanted = item->element ? item->element->implementation : NULL;
    if (!wanted || strcmp(wanted, "any") == 0)
        return NULL;
    if (strcmp(wanted, names[TUTTI_SE]) == 0) {
        hierarchy_report(
            flat, item, TUTTI_FINDING_ERROR,
            "implementation=\"ScheduledExecution\" is not supported; choose CoSimulation or ModelExchange");
        return NULL;
    }
    for (int kind = 0; kind < TUTTI_INTERFACE_COUNT; kind++)
        if (strcmp(wanted, names[kind]) == 0) {
            if (desc->interfaces[kind].present)
                return names[kind];
            char words[200];
            snprintf(words, sizeof words, "its FMU has no implementation %s; it has%s%s", wanted,
                     desc->interfaces[TUTTI_CS].present ? " CoSimulation" : "",
                     desc->interfaces[TUTTI_ME].present ? " ModelExchange" : "");
            hierarchy_report(flat, item, TUTTI_FINDING_ERROR, words);
        }
    return NULL;
}

enum tutti_err tt_hierarchy_add_fmu(struct tt_flat *flat, uint32_t index, uint32_t fmu)
{
    struct tt_flat_item *item = tt_flat_item(flat, index);
    struct tt_component *component = tt_vector_push(&flat->components, sizeof *component);
    if (!component)
        return tt_fail_memory();
    item->component = (uint32_t)flat->components.count - 1;
    component->fmu = ((struct tt_fmu **)flat->fmus.items)[fmu];
    component->name = tt_arena_copy_text(&flat->system->arena, item->name, strlen(item->name));
    component->implementation = choose_implementation(flat, item, component->fmu->desc);
    component->file = item->file ? item->file->shown : NULL;
    component->line = item->element ? item->element->line : 0;
    component->step_hint = item->element ? item->element->foreign.step : 0;
    if (!component->name)
        return tt_fail_memory();
    if (item->element && item->element->settings)
        return hierarchy_copy_settings(flat, item->element->settings, &component->words, &component->word_count);
    return TUTTI_OK;
}

/* ---- what a component is ---- */

static enum tutti_err hierarchy_fail_cycle(struct tt_flat *flat, uint32_t index, uint32_t ancestor)
{
    struct tt_text chain = {0};
    const struct tt_flat_item *item = tt_flat_item(flat, index);
    for (uint32_t i = index;; i = tt_flat_item(flat, i)->parent) {
        const struct tt_flat_item *step = tt_flat_item(flat, i);
        tt_text_printf(&chain, "%s'%s' (%s)", chain.length ? " is in " : "", step->name[0] ? step->name : "the root",
                       step->body_file->shown);
        if (i == ancestor)
            break;
    }
    enum tutti_err err = tt_fail(TUTTI_ERR_FORMAT, "%s:%u: component '%s' holds itself without end: %s",
                                 item->file->shown, item->element->line, item->element->name,
                                 chain.failed ? "" : chain.text);
    tt_text_fini(&chain);
    return err;
}

/* A system that holds itself has no end. */
static enum tutti_err hierarchy_set_body(struct tt_flat *flat, uint32_t index, const struct tt_ssp_element *body,
                                         struct tt_flat_file *file)
{
    struct tt_flat_item *item = tt_flat_item(flat, index);
    item->body = body;
    item->body_file = file;
    if (item->depth > 0)
        for (uint32_t i = item->parent;; i = tt_flat_item(flat, i)->parent) {
            if (tt_flat_item(flat, i)->body == body)
                return hierarchy_fail_cycle(flat, index, i);
            if (i == 0)
                break;
        }
    return TUTTI_OK;
}

static enum tutti_err open_reference(struct tt_flat *flat, uint32_t index)
{
    struct tt_flat_item *item = tt_flat_item(flat, index);
    const struct tt_ssp_element *body = NULL;
    TRY(tt_model_files_find_system(item->file, item->element->source + 1, &body));
    if (body)
        return hierarchy_set_body(flat, index, body, item->file);
    char words[300];
    snprintf(words, sizeof words, "its source is \"%s\", but no system of this document has that id",
             tt_text_excerpt(item->element->source).text);
    hierarchy_report(flat, item, TUTTI_FINDING_ERROR, words);
    return TUTTI_OK;
}

enum tutti_err tt_hierarchy_add_table(struct tt_flat *flat, uint32_t index, uint32_t number)
{
    struct tt_flat_item *item = tt_flat_item(flat, index);
    struct tt_system_table *table = (struct tt_system_table *)flat->tables.items + number;
    item->table = number;
    table->name = tt_arena_copy_text(&flat->system->arena, item->name, strlen(item->name));
    return table->name ? TUTTI_OK : tt_fail_memory();
}

static enum tutti_err open_component(struct tt_flat *flat, uint32_t index)
{
    struct tt_flat_item *item = tt_flat_item(flat, index);
    const struct tt_ssp_element *element = item->element;
    struct tt_flat_file *file;
    if (!element->source) {
        hierarchy_report(
            flat, item, TUTTI_FINDING_WARNING,
            "it has no source, and so no implementation: nothing goes in or comes out; name an FMU or a system in "
            "source=\"...\"");
        return TUTTI_OK;
    }
    if (!tt_model_files_supports_type(element->type)) {
        char words[300];
        snprintf(words, sizeof words,
                 "its type \"%s\" is not supported; what is: application/x-fmu-sharedlibrary, "
                 "application/x-ssp-definition, application/x-ssp-package, text/csv",
                 tt_text_excerpt(element->type).text);
        hierarchy_report(flat, item, TUTTI_FINDING_ERROR, words);
        return TUTTI_OK;
    }
    if (element->source[0] == '#')
        return open_reference(flat, index);
    size_t tables = flat->tables.count;
    TRY(tt_model_files_open_component(flat, item->file, element, &file));
    item->target = file;
    if (flat->tables.count > tables)
        return tt_hierarchy_add_table(flat, index, (uint32_t)tables);
    return file->ssd ? hierarchy_set_body(flat, index, &file->ssd->system, file)
                     : tt_hierarchy_add_fmu(flat, index, file->fmu);
}

/* ---- children ---- */

uint32_t tt_hierarchy_add(struct tt_flat *flat, uint32_t parent, const char *name)
{
    struct tt_flat_item *item = tt_vector_push(&flat->items, sizeof *item);
    if (!item)
        return TUTTI_NONE;
    *item = (struct tt_flat_item){
        .own_name = name, .name = name, .parent = parent, .component = TUTTI_NONE, .table = TUTTI_NONE};
    if (flat->items.count == 1)
        return 0;
    struct tt_flat_item *owner = tt_flat_item(flat, parent);
    size_t length = strlen(name);
    item->depth = owner->depth + 1;
    owner->longest_child = length > owner->longest_child ? (uint32_t)length : owner->longest_child;
    if (owner->name[0]) {
        char *path = tt_arena_alloc(&flat->arena, strlen(owner->name) + length + 2);
        if (!path)
            return TUTTI_NONE;
        stpcpy(stpcpy(stpcpy(path, owner->name), "."), name);
        item->name = path;
    }
    return (uint32_t)flat->items.count - 1;
}

static enum tutti_err add_children(struct tt_flat *flat, uint32_t index)
{
    const struct tt_ssp_element *body = tt_flat_item(flat, index)->body;
    struct tt_flat_file *file = tt_flat_item(flat, index)->body_file;
    if (flat->items.count + body->element_count > TUTTI_MOST_ITEMS)
        return tt_fail(TUTTI_ERR_LIMIT, "%s: the system has more than %d elements", flat->system->path,
                       TUTTI_MOST_ITEMS);
    if (tt_flat_item(flat, index)->depth >= TUTTI_MOST_LEVELS)
        return tt_fail(TUTTI_ERR_LIMIT, "%s: systems are nested more than %d deep", file->shown, TUTTI_MOST_LEVELS);
    tt_flat_item(flat, index)->first_child = (uint32_t)flat->items.count;
    for (size_t i = 0; i < body->element_count; i++) {
        uint32_t child = tt_hierarchy_add(flat, index, body->elements[i].name);
        if (child == TUTTI_NONE)
            return tt_fail_memory();
        tt_flat_item(flat, child)->element = &body->elements[i];
        tt_flat_item(flat, child)->file = file;
        TRY(tt_flat_check_size(flat));
    }
    tt_flat_item(flat, index)->child_count = (uint32_t)body->element_count;
    return tt_connectors_add_dictionaries(flat, index);
}

/* Components are numbered as a reader of the document meets them. */
enum tutti_err tt_hierarchy_open(struct tt_flat *flat, uint32_t root)
{
    struct tt_vector stack = {0};
    enum tutti_err err = TUTTI_OK;
    uint32_t *place = tt_vector_push(&stack, sizeof *place);
    if (place)
        *place = root;
    while (place && stack.count > 0 && !err) {
        uint32_t index = ((uint32_t *)stack.items)[--stack.count];
        const struct tt_flat_item *item = tt_flat_item(flat, index);
        if (item->element && item->element->kind == TUTTI_SSP_COMPONENT && !item->target)
            err = open_component(flat, index);
        else if (item->element && item->element->kind == TUTTI_SSP_SYSTEM)
            err = hierarchy_set_body(flat, index, item->element, item->file);
        if (!err && tt_flat_item(flat, index)->body)
            err = add_children(flat, index);
        if (!err)
            err = tt_connectors_build(flat, index);

        item = tt_flat_item(flat, index);
        for (uint32_t i = item->child_count; i > 0 && place && !err; i--) {
            place = tt_vector_push(&stack, sizeof *place);
            if (place)
                *place = item->first_child + i - 1;
        }
    }
    tt_vector_fini(&stack);
    return err ? err : place ? TUTTI_OK : tt_fail_memory();
}

enum tutti_err tt_hierarchy_read_settings(struct tt_flat *flat, const struct tt_flat_file *file)
{
    const struct tt_ssd *ssd = file->ssd;
    const struct tt_tree_node *settings = ssd->settings ? ssd->settings : ssd->system.settings;
    flat->system->experiment.has_start = ssd->has_start;
    flat->system->experiment.has_stop = ssd->has_stop;
    flat->system->experiment.start = ssd->start;
    flat->system->experiment.stop = ssd->stop;

    /* The step of another tool is a proposal, which comes before those of the FMUs. */
    const struct tt_ssp_foreign *foreign = &ssd->foreign;
    if (foreign->varies || foreign->step > 0) {
        struct tt_system *system = flat->system;
        system->foreign = foreign->tool;
        system->foreign_line = foreign->line;
        system->foreign_file = file->shown;
        system->experiment.has_step = foreign->step > 0;
        system->experiment.step = foreign->step;
        system->experiment.has_tolerance = foreign->tolerance > 0;
        system->experiment.tolerance = foreign->tolerance;
    }

    if (!settings)
        return TUTTI_OK;
    flat->system->words_file = file->shown;
    return hierarchy_copy_settings(flat, settings, &flat->system->words, &flat->system->word_count);
}
