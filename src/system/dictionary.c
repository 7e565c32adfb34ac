/* SPDX-License-Identifier: MIT */
/* Signal dictionaries: wires that any system below their own can reach. */
#include <string.h>

#include "base/nearest.h"
#include "base/str.h"
#include "system/flat.h"

enum tutti_err tutti_dictionaries_add(struct flat *flat, uint32_t index)
{
    struct item *item = tutti_flat_item(flat, index);
    item->first_dictionary = (uint32_t)flat->dictionaries.count;
    for (size_t i = 0; i < item->body->dictionary_count; i++) {
        struct dictionary *dictionary = tutti_vector_push(&flat->dictionaries, sizeof *dictionary);
        if (!dictionary)
            return tutti_fail_memory();
        dictionary->item = index;
        dictionary->declaration = &item->body->dictionaries[i];
        TRY(tutti_map_add(&item->dictionaries_by_name, dictionary->declaration->name, (int64_t)i, NULL));
    }
    return TUTTI_OK;
}

/* The innermost dictionary of that name around an item; NULL: there is none. */
static struct dictionary *look_up(struct flat *flat, uint32_t index, const char *name)
{
    do {
        index = tutti_flat_item(flat, index)->parent;
        const struct item *item = tutti_flat_item(flat, index);
        int64_t found = tutti_map_find(&item->dictionaries_by_name, name);
        if (found != TUTTI_MAP_NONE)
            return (struct dictionary *)flat->dictionaries.items + item->first_dictionary + found;
    } while (index != 0);
    return NULL;
}

static enum tutti_err add_entries(struct flat *flat, struct dictionary *dictionary)
{
    const struct tutti_ssb *ssb = dictionary->entries;
    const char *owner = dictionary->declaration->name;
    dictionary->first_node = (uint32_t)flat->nodes.count;
    for (size_t i = 0; i < ssb->count; i++) {
        const struct tutti_ssp_entry *entry = &ssb->entries[i];
        struct node *node = tutti_vector_push(&flat->nodes, sizeof *node);
        char *name = tutti_arena_alloc(&flat->arena, strlen(owner) + strlen(entry->name) + 2);
        if (!node || !name)
            return tutti_fail_memory();
        stpcpy(stpcpy(stpcpy(name, owner), "."), entry->name);
        *node = (struct node){
            .name = name,
            .item = dictionary->item,
            .component = TUTTI_NONE,
            .variable = TUTTI_NONE,
            .column = TUTTI_NONE,
            .entry = true,
            .kind = TUTTI_SSP_INOUT,
            .look = tutti_connectors_look(flat, &ssb->scope, &entry->type, entry->dimension_count),
            .file = ssb->scope.file,
            .line = entry->line,
        };
        TRY(tutti_map_add(&dictionary->names, entry->name, (int64_t)i, NULL));
    }
    return tutti_flat_check_size(flat);
}

/* Reads it when something refers to it for the first time. */
static enum tutti_err open_dictionary(struct flat *flat, struct dictionary *dictionary)
{
    const struct tutti_ssp_dictionary *declaration = dictionary->declaration;
    struct file *base = tutti_flat_item(flat, dictionary->item)->body_file, *file;
    if (dictionary->entries)
        return TUTTI_OK;
    if (declaration->type && strcmp(declaration->type, "application/x-ssp-signal-dictionary") != 0) {
        tutti_findings_add(flat->findings, TUTTI_FINDING_ERROR, base->shown, declaration->line,
                           "the signal dictionary '%s' has the type \"%s\", which is not supported; what is: "
                           "application/x-ssp-signal-dictionary",
                           declaration->name, tutti_str_show(declaration->type).text);
        return TUTTI_OK;
    }
    dictionary->entries = declaration->inline_entries;
    if (!dictionary->entries && declaration->source) {
        enum tutti_err err = tutti_files_document(flat, base, declaration->source, DOCUMENT_SSB, &file);
        if (err)
            return tutti_fail_context(err == TUTTI_ERR_ARGUMENT ? TUTTI_ERR_FORMAT : err,
                                      "%s:%u: signal dictionary '%s'", base->shown, declaration->line,
                                      declaration->name);
        dictionary->entries = file->ssb;
    }
    return dictionary->entries ? add_entries(flat, dictionary) : TUTTI_OK;
}

static enum tutti_err refer(struct flat *flat, uint32_t index, uint32_t c, struct look *looks,
                            const struct dictionary *dictionary)
{
    const struct item *item = tutti_flat_item(flat, index);
    const struct tutti_ssp_connector *connector = &item->connectors[c];
    int64_t entry = tutti_map_find(&dictionary->names, connector->name);
    if (entry == TUTTI_MAP_NONE) {
        struct tutti_nearest nearest = {.wanted = connector->name};
        bool guess = dictionary->entries && tutti_flat_may_guess(flat);
        for (size_t i = 0; guess && i < dictionary->entries->count; i++)
            tutti_nearest_offer(&nearest, dictionary->entries->entries[i].name);
        tutti_findings_add(flat->findings, TUTTI_FINDING_ERROR, item->file->shown, connector->line,
                           "the connector '%s' is no entry of the signal dictionary '%s'%s",
                           tutti_flat_path(flat, index, connector->name), dictionary->declaration->name,
                           tutti_nearest_hint(nearest.best).text);
        return TUTTI_OK;
    }
    item->nodes[c] = dictionary->first_node + (uint32_t)entry;
    const struct node *node = tutti_flat_node(flat, item->nodes[c]);
    looks[c] = connector->type.given
                   ? tutti_connectors_look(flat, &item->file->ssd->scope, &connector->type, connector->dimension_count)
                   : node->look;
    if (node->look.typed && !tutti_conversion_possible(looks[c].type, node->look.type) &&
        !tutti_conversion_possible(node->look.type, looks[c].type))
        tutti_findings_add(flat->findings, TUTTI_FINDING_ERROR, item->file->shown, connector->line,
                           "the connector '%s' is of type %s, but the entry of the signal dictionary is of type %s",
                           tutti_flat_path(flat, index, connector->name), tutti_type_name(looks[c].type),
                           tutti_type_name(node->look.type));
    return TUTTI_OK;
}

enum tutti_err tutti_dictionaries_refer(struct flat *flat, uint32_t index)
{
    struct item *item = tutti_flat_item(flat, index);
    struct dictionary *dictionary = look_up(flat, index, item->element->dictionary);
    if (!dictionary) {
        tutti_findings_add(flat->findings, TUTTI_FINDING_ERROR, item->file->shown, item->element->line,
                           "'%s' refers to the signal dictionary '%s', which neither its system nor one around it has",
                           item->name, item->element->dictionary);
        return TUTTI_OK;
    }
    TRY(open_dictionary(flat, dictionary));
    struct look *looks = tutti_arena_array(&flat->arena, item->connector_count, sizeof *looks);
    if (!looks)
        return tutti_fail_memory();
    item->looks = looks;
    for (uint32_t c = 0; c < item->connector_count; c++)
        TRY(refer(flat, index, c, looks, dictionary));
    return TUTTI_OK;
}
