/* SPDX-License-Identifier: MIT */
/* Signal dictionaries (.ssb). */
#include <stdlib.h>

#include "ssp/parts.h"

static enum tutti_err read_entry(struct tutti_parts *parts, const struct tutti_node *node, struct tutti_map *names,
                                 struct tutti_ssp_entry *entry)
{
    static const struct tutti_shape_word attributes[] = {SHAPE_BASE_ATTRIBUTES, {"name", false}, {NULL, false}};
    static const struct tutti_shape_child children[] = {SHAPE_TYPES(TUTTI_SPACE_SSC),
                                                        {"Clock", TUTTI_SPACE_SSC, TUTTI_SHAPE_CHOICE, true},
                                                        SHAPE_DIMENSION,
                                                        SHAPE_ANNOTATIONS(TUTTI_SPACE_SSB),
                                                        {NULL, TUTTI_SPACE_SSC, TUTTI_SHAPE_ONE, false}};
    static const struct tutti_shape shape = {attributes, children};
    TRY(tutti_parts_check(parts, node, &shape));
    entry->line = node->line;
    TRY(tutti_parts_required(parts, node, "name", &entry->name));
    TRY(tutti_parts_unique(parts, names, node, entry->name, "entries of this dictionary"));
    TRY(tutti_parts_signal_type(parts, node, &entry->type));
    if (!entry->type.given)
        return tutti_parts_fail(parts, node, "its type is missing; add <ssc:Real/> or another type");
    return tutti_parts_dimensions(parts, node, true, &entry->dimensions, &entry->dimension_count);
}

static enum tutti_err read_entries(struct tutti_parts *parts, const struct tutti_node *top, struct tutti_ssb *ssb)
{
    struct tutti_ssp_entry *entry;
    TRY(tutti_parts_scope(parts, top, &ssb->scope));
    TRY(tutti_parts_array(parts, top, "DictionaryEntry", sizeof *entry, &entry, &ssb->count));
    ssb->entries = entry;
    struct tutti_map names = {0};
    enum tutti_err err = TUTTI_OK;
    for (const struct tutti_node *node = tutti_parts_child(top, "DictionaryEntry"); node && err == TUTTI_OK;
         node = tutti_parts_next(node, "DictionaryEntry"))
        err = read_entry(parts, node, &names, entry++);
    tutti_map_fini(&names);
    return err;
}

enum tutti_err tutti_parts_ssb(struct tutti_parts *parts, const struct tutti_node *top, struct tutti_ssb *ssb)
{
    static const struct tutti_shape_word attributes[] = {SHAPE_TOP_ATTRIBUTES, {NULL, false}};
    static const struct tutti_shape_child children[] = {{"DictionaryEntry", TUTTI_SPACE_SSB, TUTTI_SHAPE_MANY, false},
                                                        SHAPE_SCOPE(TUTTI_SPACE_SSB),
                                                        SHAPE_META,
                                                        SHAPE_ANNOTATIONS(TUTTI_SPACE_SSB),
                                                        {NULL, TUTTI_SPACE_SSC, TUTTI_SHAPE_ONE, false}};
    static const struct tutti_shape shape = {attributes, children};
    struct tutti_parts_names outer;
    tutti_parts_enter(parts, &outer);
    enum tutti_err err = tutti_parts_version(parts, top);
    if (err == TUTTI_OK)
        err = tutti_parts_check(parts, top, &shape);
    if (err == TUTTI_OK)
        err = read_entries(parts, top, ssb);
    tutti_parts_leave(parts, &outer);
    return err;
}

enum tutti_err tutti_ssb_read(struct tutti_ssb **out, const char *file, struct tutti_reader *reader,
                              struct tutti_findings *findings)
{
    *out = NULL;
    struct tutti_ssb *ssb = calloc(1, sizeof *ssb);
    if (!ssb)
        return tutti_fail_memory();
    enum tutti_err err = tutti_parts_open(&ssb->tree, file, reader, TUTTI_SPACE_SSB, "SignalDictionary");
    if (err == TUTTI_OK) {
        struct tutti_parts parts;
        tutti_parts_init(&parts, ssb->tree->file, &ssb->arena, findings);
        err = tutti_parts_ssb(&parts, ssb->tree->root, ssb);
        tutti_parts_fini(&parts);
    }
    if (err == TUTTI_OK)
        *out = ssb;
    else
        tutti_ssb_free(ssb);
    return err;
}

void tutti_ssb_free(struct tutti_ssb *ssb)
{
    if (!ssb)
        return;
    tutti_tree_free(ssb->tree);
    tutti_arena_fini(&ssb->arena);
    free(ssb);
}
