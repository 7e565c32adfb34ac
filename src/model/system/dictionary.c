/* SPDX-License-Identifier: MIT */
/* Signal dictionaries: wires that any system below their own can reach. */
#include <string.h>

#include "base/suggestion.h"
#include "base/text.h"
#include "model/system/flat.h"

enum tutti_err tt_connectors_add_dictionaries(struct tt_flat *flat, uint32_t index)
{
    struct tt_flat_item *item = tt_flat_item(flat, index);
    item->first_dictionary = (uint32_t)flat->dictionaries.count;
    for (size_t i = 0; i < item->body->dictionary_count; i++) {
        struct tt_flat_dictionary *dictionary = tt_vector_push(&flat->dictionaries, sizeof *dictionary);
        if (!dictionary)
            return tt_fail_memory();
        dictionary->item = index;
        dictionary->declaration = &item->body->dictionaries[i];
        TRY(tt_map_add(&item->dictionaries_by_name, dictionary->declaration->name, (int64_t)i, NULL));
    }
    return TUTTI_OK;
}

/* The innermost dictionary of that name around an item; NULL: there is none. */
static struct tt_flat_dictionary *connectors_find_dictionary(struct tt_flat *flat, uint32_t index, const char *name)
{
    do {
        index = tt_flat_item(flat, index)->parent;
        const struct tt_flat_item *item = tt_flat_item(flat, index);
        int64_t found = tt_map_find(&item->dictionaries_by_name, name);
        if (found != TUTTI_MAP_NONE)
            return (struct tt_flat_dictionary *)flat->dictionaries.items + item->first_dictionary + found;
    } while (index != 0);
    return NULL;
}

static enum tutti_err connectors_add_entries(struct tt_flat *flat, struct tt_flat_dictionary *dictionary)
{
    const struct tt_ssb *ssb = dictionary->entries;
    const char *owner = dictionary->declaration->name;
    dictionary->first_node = (uint32_t)flat->nodes.count;
    for (size_t i = 0; i < ssb->count; i++) {
        const struct tt_ssp_entry *entry = &ssb->entries[i];
        struct tt_flat_node *node = tt_vector_push(&flat->nodes, sizeof *node);
        char *name = tt_arena_alloc(&flat->arena, strlen(owner) + strlen(entry->name) + 2);
        if (!node || !name)
            return tt_fail_memory();
        stpcpy(stpcpy(stpcpy(name, owner), "."), entry->name);
        *node = (struct tt_flat_node){
            .name = name,
            .item = dictionary->item,
            .component = TUTTI_NONE,
            .variable = TUTTI_NONE,
            .column = TUTTI_NONE,
            .entry = true,
            .kind = TUTTI_SSP_INOUT,
            .look = tt_connectors_signal_spec(flat, &ssb->scope, &entry->type, entry->dimension_count),
            .file = ssb->scope.file,
            .line = entry->line,
        };
        TRY(tt_map_add(&dictionary->names, entry->name, (int64_t)i, NULL));
    }
    return tt_flat_check_size(flat);
}

/* Reads it when something refers to it for the first time. */
static enum tutti_err open_dictionary(struct tt_flat *flat, struct tt_flat_dictionary *dictionary)
{
    const struct tt_ssp_dictionary *declaration = dictionary->declaration;
    struct tt_flat_file *base = tt_flat_item(flat, dictionary->item)->body_file, *file;
    if (dictionary->entries)
        return TUTTI_OK;
    if (declaration->type && strcmp(declaration->type, "application/x-ssp-signal-dictionary") != 0) {
        tt_findings_add(flat->findings, TUTTI_FINDING_ERROR, base->shown, declaration->line,
                        "the signal dictionary '%s' has the type \"%s\", which is not supported; what is: "
                        "application/x-ssp-signal-dictionary",
                        declaration->name, tt_text_excerpt(declaration->type).text);
        return TUTTI_OK;
    }
    dictionary->entries = declaration->inline_entries;
    if (!dictionary->entries && declaration->source) {
        enum tutti_err err = tt_model_files_open_document(flat, base, declaration->source, DOCUMENT_SSB, &file);
        if (err)
            return tt_fail_context(err == TUTTI_ERR_ARGUMENT ? TUTTI_ERR_FORMAT : err, "%s:%u: signal dictionary '%s'",
                                   base->shown, declaration->line, declaration->name);
        dictionary->entries = file->ssb;
    }
    return dictionary->entries ? connectors_add_entries(flat, dictionary) : TUTTI_OK;
}

static enum tutti_err bind_dictionary_entry(struct tt_flat *flat, uint32_t index, uint32_t c,
                                            struct tt_signal_spec *looks, const struct tt_flat_dictionary *dictionary)
{
    const struct tt_flat_item *item = tt_flat_item(flat, index);
    const struct tt_ssp_connector *connector = &item->connectors[c];
    int64_t entry = tt_map_find(&dictionary->names, connector->name);
    if (entry == TUTTI_MAP_NONE) {
        struct tt_text_nearest nearest = {.wanted = connector->name};
        bool guess = dictionary->entries && tt_flat_may_suggest(flat);
        for (size_t i = 0; guess && i < dictionary->entries->count; i++)
            tt_text_nearest_offer(&nearest, dictionary->entries->entries[i].name);
        tt_findings_add(flat->findings, TUTTI_FINDING_ERROR, item->file->shown, connector->line,
                        "the connector '%s' is no entry of the signal dictionary '%s'%s",
                        tt_flat_path(flat, index, connector->name), dictionary->declaration->name,
                        tt_text_suggest(nearest.best).text);
        return TUTTI_OK;
    }
    item->nodes[c] = dictionary->first_node + (uint32_t)entry;
    const struct tt_flat_node *node = tt_flat_node(flat, item->nodes[c]);
    looks[c] = connector->type.given ? tt_connectors_signal_spec(flat, &item->file->ssd->scope, &connector->type,
                                                                 connector->dimension_count)
                                     : node->look;
    if (node->look.typed && !tt_conversion_is_possible(looks[c].type, node->look.type) &&
        !tt_conversion_is_possible(node->look.type, looks[c].type))
        tt_findings_add(flat->findings, TUTTI_FINDING_ERROR, item->file->shown, connector->line,
                        "the connector '%s' is of type %s, but the entry of the signal dictionary is of type %s",
                        tt_flat_path(flat, index, connector->name), tt_type_name(looks[c].type),
                        tt_type_name(node->look.type));
    return TUTTI_OK;
}

enum tutti_err tt_connectors_bind_dictionary(struct tt_flat *flat, uint32_t index)
{
    struct tt_flat_item *item = tt_flat_item(flat, index);
    struct tt_flat_dictionary *dictionary = connectors_find_dictionary(flat, index, item->element->dictionary);
    if (!dictionary) {
        tt_findings_add(flat->findings, TUTTI_FINDING_ERROR, item->file->shown, item->element->line,
                        "'%s' refers to the signal dictionary '%s', which neither its system nor one around it has",
                        item->name, item->element->dictionary);
        return TUTTI_OK;
    }
    TRY(open_dictionary(flat, dictionary));
    struct tt_signal_spec *looks = tt_arena_array(&flat->arena, item->connector_count, sizeof *looks);
    if (!looks)
        return tt_fail_memory();
    item->looks = looks;
    for (uint32_t c = 0; c < item->connector_count; c++)
        TRY(bind_dictionary_entry(flat, index, c, looks, dictionary));
    return TUTTI_OK;
}
