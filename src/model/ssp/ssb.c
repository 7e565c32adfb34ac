/* SPDX-License-Identifier: MIT */
/* Signal dictionaries (.ssb). */
#include <stdlib.h>

#include "model/ssp/ssp_reader.h"

static enum tutti_err ssb_read_entry(struct tt_ssp_reader *parts, const struct tt_tree_node *node, struct tt_map *names,
                                     struct tt_ssp_entry *entry)
{
    static const struct tt_shape_word attributes[] = {SHAPE_BASE_ATTRIBUTES, {"name", false}, {NULL, false}};
    static const struct tt_shape_child children[] = {SHAPE_TYPES(TUTTI_SPACE_SSC),
                                                     {"Clock", TUTTI_SPACE_SSC, TUTTI_SHAPE_CHOICE, true},
                                                     SHAPE_DIMENSION,
                                                     SHAPE_ANNOTATIONS(TUTTI_SPACE_SSB),
                                                     {NULL, TUTTI_SPACE_SSC, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape shape = {attributes, children};
    TRY(tt_ssp_reader_check(parts, node, &shape));
    entry->line = node->line;
    TRY(tt_ssp_reader_require(parts, node, "name", &entry->name));
    TRY(tt_ssp_reader_check_unique(parts, names, node, entry->name, "entries of this dictionary"));
    TRY(tt_ssp_reader_read_signal_type(parts, node, &entry->type));
    if (!entry->type.given)
        return tt_ssp_reader_fail(parts, node, "its type is missing; add <ssc:Real/> or another type");
    return tt_ssp_reader_read_dimensions(parts, node, true, &entry->dimensions, &entry->dimension_count);
}

static enum tutti_err ssb_read_entries(struct tt_ssp_reader *parts, const struct tt_tree_node *top, struct tt_ssb *ssb)
{
    struct tt_ssp_entry *entry;
    TRY(tt_ssp_reader_read_scope(parts, top, &ssb->scope));
    TRY(tt_ssp_reader_new_array(parts, top, "DictionaryEntry", sizeof *entry, &entry, &ssb->count));
    ssb->entries = entry;
    struct tt_map names = {0};
    enum tutti_err err = TUTTI_OK;
    for (const struct tt_tree_node *node = tt_ssp_reader_find_child(top, "DictionaryEntry"); node && err == TUTTI_OK;
         node = tt_ssp_reader_find_next(node, "DictionaryEntry"))
        err = ssb_read_entry(parts, node, &names, entry++);
    tt_map_fini(&names);
    return err;
}

enum tutti_err tt_ssb_parse(struct tt_ssp_reader *parts, const struct tt_tree_node *top, struct tt_ssb *ssb)
{
    static const struct tt_shape_word attributes[] = {SHAPE_TOP_ATTRIBUTES, {NULL, false}};
    static const struct tt_shape_child children[] = {{"DictionaryEntry", TUTTI_SPACE_SSB, TUTTI_SHAPE_MANY, false},
                                                     SHAPE_SCOPE(TUTTI_SPACE_SSB),
                                                     SHAPE_META,
                                                     SHAPE_ANNOTATIONS(TUTTI_SPACE_SSB),
                                                     {NULL, TUTTI_SPACE_SSC, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape shape = {attributes, children};
    struct tt_ssp_reader_names outer;
    tt_ssp_reader_enter_inline(parts, &outer);
    enum tutti_err err = tt_ssp_reader_read_version(parts, top);
    if (err == TUTTI_OK)
        err = tt_ssp_reader_check(parts, top, &shape);
    if (err == TUTTI_OK)
        err = ssb_read_entries(parts, top, ssb);
    tt_ssp_reader_leave_inline(parts, &outer);
    return err;
}

enum tutti_err tt_ssb_read(struct tt_ssb **out, const char *file, struct tt_byte_source *reader,
                           struct tt_findings *findings)
{
    *out = NULL;
    struct tt_ssb *ssb = calloc(1, sizeof *ssb);
    if (!ssb)
        return tt_fail_memory();
    enum tutti_err err = tt_ssp_reader_open(&ssb->tree, file, reader, TUTTI_SPACE_SSB, "SignalDictionary");
    if (err == TUTTI_OK) {
        struct tt_ssp_reader parts;
        tt_ssp_reader_init(&parts, ssb->tree->file, &ssb->arena, findings);
        err = tt_ssb_parse(&parts, ssb->tree->root, ssb);
        tt_ssp_reader_fini(&parts);
    }
    if (err == TUTTI_OK)
        *out = ssb;
    else
        tt_ssb_free(ssb);
    return err;
}

void tt_ssb_free(struct tt_ssb *ssb)
{
    if (!ssb)
        return;
    tt_tree_free(ssb->tree);
    tt_arena_fini(&ssb->arena);
    free(ssb);
}
