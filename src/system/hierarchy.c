/* SPDX-License-Identifier: MIT */
/* From nested systems to items: elements as often as they are instantiated. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "system/flat.h"

static void report(struct flat *flat, const struct item *item, enum tutti_severity severity, const char *words)
{
    tutti_findings_add(flat->findings, severity, item->file->shown, item->element->line, "component '%s': %s",
                       item->element->name, words);
}

/* ---- FMUs ---- */

static enum tutti_err copy_words(struct flat *flat, const struct tutti_node *settings, const struct tutti_word **out,
                                 size_t *count)
{
    struct tutti_arena *arena = &flat->system->arena;
    struct tutti_word *words = tutti_arena_array(arena, settings->attribute_count, sizeof *words);
    if (!words)
        return tutti_fail_memory();
    *count = 0;
    *out = words;
    for (unsigned i = 0; i < settings->attribute_count; i++) {
        const struct tutti_attribute *attribute = &settings->attributes[i];
        if (strncmp(attribute->name, "xmlns", 5) == 0 || strchr(attribute->name, ':'))
            continue;
        struct tutti_word *word = &words[(*count)++];
        word->name = tutti_arena_text(arena, attribute->name, strlen(attribute->name));
        word->value = tutti_arena_text(arena, attribute->value, strlen(attribute->value));
        word->line = settings->line;
        if (!word->name || !word->value)
            return tutti_fail_memory();
    }
    return TUTTI_OK;
}

/* The implementation that is asked for, as a static text; NULL: any. */
static const char *choose_implementation(struct flat *flat, const struct item *item, const struct tutti_desc *desc)
{
    static const char *const names[TUTTI_INTERFACE_COUNT] = {
        [TUTTI_CS] = "CoSimulation", [TUTTI_ME] = "ModelExchange", [TUTTI_SE] = "ScheduledExecution"};
    const char *wanted = item->element ? item->element->implementation : NULL;
    if (!wanted || strcmp(wanted, "any") == 0)
        return NULL;
    if (strcmp(wanted, names[TUTTI_SE]) == 0) {
        report(flat, item, TUTTI_FINDING_ERROR,
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
            report(flat, item, TUTTI_FINDING_ERROR, words);
        }
    return NULL;
}

enum tutti_err tutti_hierarchy_add_fmu(struct flat *flat, uint32_t index, uint32_t fmu)
{
    struct item *item = tutti_flat_item(flat, index);
    struct tutti_component *component = tutti_vector_push(&flat->components, sizeof *component);
    if (!component)
        return tutti_fail_memory();
    item->component = (uint32_t)flat->components.count - 1;
    component->fmu = ((struct tutti_fmu **)flat->fmus.items)[fmu];
    component->name = tutti_arena_text(&flat->system->arena, item->name, strlen(item->name));
    component->implementation = choose_implementation(flat, item, component->fmu->desc);
    component->file = item->file ? item->file->shown : NULL;
    component->line = item->element ? item->element->line : 0;
    component->step_hint = item->element ? item->element->foreign.step : 0;
    if (!component->name)
        return tutti_fail_memory();
    if (item->element && item->element->settings)
        return copy_words(flat, item->element->settings, &component->words, &component->word_count);
    return TUTTI_OK;
}

/* ---- what a component is ---- */

static enum tutti_err fail_cycle(struct flat *flat, uint32_t index, uint32_t ancestor)
{
    struct tutti_text chain = {0};
    const struct item *item = tutti_flat_item(flat, index);
    for (uint32_t i = index;; i = tutti_flat_item(flat, i)->parent) {
        const struct item *step = tutti_flat_item(flat, i);
        tutti_text_printf(&chain, "%s'%s' (%s)", chain.length ? " is in " : "", step->name[0] ? step->name : "the root",
                          step->body_file->shown);
        if (i == ancestor)
            break;
    }
    enum tutti_err err = tutti_fail(TUTTI_ERR_FORMAT, "%s:%u: component '%s' holds itself without end: %s",
                                    item->file->shown, item->element->line, item->element->name,
                                    chain.failed ? "" : chain.text);
    tutti_text_fini(&chain);
    return err;
}

/* A system that holds itself has no end. */
static enum tutti_err set_body(struct flat *flat, uint32_t index, const struct tutti_ssp_element *body,
                               struct file *file)
{
    struct item *item = tutti_flat_item(flat, index);
    item->body = body;
    item->body_file = file;
    if (item->depth > 0)
        for (uint32_t i = item->parent;; i = tutti_flat_item(flat, i)->parent) {
            if (tutti_flat_item(flat, i)->body == body)
                return fail_cycle(flat, index, i);
            if (i == 0)
                break;
        }
    return TUTTI_OK;
}

static enum tutti_err open_reference(struct flat *flat, uint32_t index)
{
    struct item *item = tutti_flat_item(flat, index);
    const struct tutti_ssp_element *body = NULL;
    TRY(tutti_files_system(item->file, item->element->source + 1, &body));
    if (body)
        return set_body(flat, index, body, item->file);
    char words[300];
    snprintf(words, sizeof words, "its source is \"%s\", but no system of this document has that id",
             tutti_str_show(item->element->source).text);
    report(flat, item, TUTTI_FINDING_ERROR, words);
    return TUTTI_OK;
}

enum tutti_err tutti_hierarchy_add_table(struct flat *flat, uint32_t index, uint32_t number)
{
    struct item *item = tutti_flat_item(flat, index);
    struct tutti_system_table *table = (struct tutti_system_table *)flat->tables.items + number;
    item->table = number;
    table->name = tutti_arena_text(&flat->system->arena, item->name, strlen(item->name));
    return table->name ? TUTTI_OK : tutti_fail_memory();
}

static enum tutti_err open_component(struct flat *flat, uint32_t index)
{
    struct item *item = tutti_flat_item(flat, index);
    const struct tutti_ssp_element *element = item->element;
    struct file *file;
    if (!element->source) {
        report(flat, item, TUTTI_FINDING_WARNING,
               "it has no source, and so no implementation: nothing goes in or comes out; name an FMU or a system in "
               "source=\"...\"");
        return TUTTI_OK;
    }
    if (!tutti_files_supports(element->type)) {
        char words[300];
        snprintf(words, sizeof words,
                 "its type \"%s\" is not supported; what is: application/x-fmu-sharedlibrary, "
                 "application/x-ssp-definition, application/x-ssp-package, text/csv",
                 tutti_str_show(element->type).text);
        report(flat, item, TUTTI_FINDING_ERROR, words);
        return TUTTI_OK;
    }
    if (element->source[0] == '#')
        return open_reference(flat, index);
    size_t tables = flat->tables.count;
    TRY(tutti_files_component(flat, item->file, element, &file));
    item->target = file;
    if (flat->tables.count > tables)
        return tutti_hierarchy_add_table(flat, index, (uint32_t)tables);
    return file->ssd ? set_body(flat, index, &file->ssd->system, file)
                     : tutti_hierarchy_add_fmu(flat, index, file->fmu);
}

/* ---- children ---- */

uint32_t tutti_hierarchy_add(struct flat *flat, uint32_t parent, const char *name)
{
    struct item *item = tutti_vector_push(&flat->items, sizeof *item);
    if (!item)
        return TUTTI_NONE;
    *item =
        (struct item){.own_name = name, .name = name, .parent = parent, .component = TUTTI_NONE, .table = TUTTI_NONE};
    if (flat->items.count == 1)
        return 0;
    struct item *owner = tutti_flat_item(flat, parent);
    size_t length = strlen(name);
    item->depth = owner->depth + 1;
    owner->longest_child = length > owner->longest_child ? (uint32_t)length : owner->longest_child;
    if (owner->name[0]) {
        char *path = tutti_arena_alloc(&flat->arena, strlen(owner->name) + length + 2);
        if (!path)
            return TUTTI_NONE;
        stpcpy(stpcpy(stpcpy(path, owner->name), "."), name);
        item->name = path;
    }
    return (uint32_t)flat->items.count - 1;
}

static enum tutti_err add_children(struct flat *flat, uint32_t index)
{
    const struct tutti_ssp_element *body = tutti_flat_item(flat, index)->body;
    struct file *file = tutti_flat_item(flat, index)->body_file;
    if (flat->items.count + body->element_count > TUTTI_MOST_ITEMS)
        return tutti_fail(TUTTI_ERR_LIMIT, "%s: the system has more than %d elements", flat->system->path,
                          TUTTI_MOST_ITEMS);
    if (tutti_flat_item(flat, index)->depth >= TUTTI_MOST_LEVELS)
        return tutti_fail(TUTTI_ERR_LIMIT, "%s: systems are nested more than %d deep", file->shown, TUTTI_MOST_LEVELS);
    tutti_flat_item(flat, index)->first_child = (uint32_t)flat->items.count;
    for (size_t i = 0; i < body->element_count; i++) {
        uint32_t child = tutti_hierarchy_add(flat, index, body->elements[i].name);
        if (child == TUTTI_NONE)
            return tutti_fail_memory();
        tutti_flat_item(flat, child)->element = &body->elements[i];
        tutti_flat_item(flat, child)->file = file;
        TRY(tutti_flat_check_size(flat));
    }
    tutti_flat_item(flat, index)->child_count = (uint32_t)body->element_count;
    return tutti_dictionaries_add(flat, index);
}

static enum tutti_err open_item(struct flat *flat, uint32_t index)
{
    struct item *item = tutti_flat_item(flat, index);
    if (item->element && item->element->kind == TUTTI_SSP_COMPONENT && !item->target)
        TRY(open_component(flat, index));
    else if (item->element && item->element->kind == TUTTI_SSP_SYSTEM)
        TRY(set_body(flat, index, item->element, item->file));
    item = tutti_flat_item(flat, index);
    if (item->body)
        TRY(add_children(flat, index));
    return tutti_connectors_make(flat, index);
}

/* Components are numbered as a reader of the document meets them. */
enum tutti_err tutti_hierarchy_open(struct flat *flat, uint32_t root)
{
    struct tutti_vector stack = {0};
    enum tutti_err err = TUTTI_OK;
    uint32_t *place = tutti_vector_push(&stack, sizeof *place);
    if (place)
        *place = root;
    while (place && stack.count > 0 && !err) {
        uint32_t index = ((uint32_t *)stack.items)[--stack.count];
        err = open_item(flat, index);
        const struct item *item = tutti_flat_item(flat, index);
        for (uint32_t i = item->child_count; i > 0 && place && !err; i--) {
            place = tutti_vector_push(&stack, sizeof *place);
            if (place)
                *place = item->first_child + i - 1;
        }
    }
    tutti_vector_fini(&stack);
    return err ? err : place ? TUTTI_OK : tutti_fail_memory();
}

/* How another tool would step is a proposal, which comes before those of the FMUs. */
static void take_foreign(struct tutti_system *system, const struct tutti_ssp_foreign *foreign, const char *file)
{
    if (!foreign->varies && foreign->step <= 0)
        return;
    system->foreign = foreign->tool;
    system->foreign_line = foreign->line;
    system->foreign_file = file;
    system->experiment.has_step = foreign->step > 0;
    system->experiment.step = foreign->step;
    system->experiment.has_tolerance = foreign->tolerance > 0;
    system->experiment.tolerance = foreign->tolerance;
}

enum tutti_err tutti_hierarchy_words(struct flat *flat, const struct file *file)
{
    const struct tutti_ssd *ssd = file->ssd;
    const struct tutti_node *settings = ssd->settings ? ssd->settings : ssd->system.settings;
    flat->system->experiment.has_start = ssd->has_start;
    flat->system->experiment.has_stop = ssd->has_stop;
    flat->system->experiment.start = ssd->start;
    flat->system->experiment.stop = ssd->stop;
    take_foreign(flat->system, &ssd->foreign, file->shown);
    if (!settings)
        return TUTTI_OK;
    flat->system->words_file = file->shown;
    return copy_words(flat, settings, &flat->system->words, &flat->system->word_count);
}
