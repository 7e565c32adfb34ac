/* SPDX-License-Identifier: MIT */
/* Parameter mappings (.ssm). */
#include <stdlib.h>

#include "model/ssp/ssp_reader.h"

static enum tutti_err ssm_read_entry(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                     struct tt_map *targets, struct tt_ssp_mapping *mapping)
{
    static const struct tt_shape_word attributes[] = {
        SHAPE_BASE_ATTRIBUTES, {"source", false}, {"target", false}, {"suppressUnitConversion", false}, {NULL, false}};
    static const struct tt_shape_child children[] = {
        SHAPE_TRANSFORMATIONS, SHAPE_ANNOTATIONS(TUTTI_SPACE_SSM), {NULL, TUTTI_SPACE_SSC, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape shape = {attributes, children};
    TRY(tt_ssp_reader_check(parts, node, &shape));
    mapping->line = node->line;
    TRY(tt_ssp_reader_require(parts, node, "source", &mapping->source));
    TRY(tt_ssp_reader_require(parts, node, "target", &mapping->target));
    TRY(tt_ssp_reader_read_bool(parts, node, "suppressUnitConversion", &mapping->suppress_unit_conversion));
    /* One source may have many targets, but not the other way round. */
    TRY(tt_ssp_reader_check_unique(parts, targets, node, mapping->target, "targets of this mapping"));
    return tt_ssm_read_transformation(parts, node, &mapping->transformation);
}

static enum tutti_err ssm_read_mapping(struct tt_ssp_reader *parts, const struct tt_tree_node *top, struct tt_ssm *ssm)
{
    static const struct tt_shape_word attributes[] = {SHAPE_TOP_ATTRIBUTES, {NULL, false}};
    static const struct tt_shape_child children[] = {{"MappingEntry", TUTTI_SPACE_SSM, TUTTI_SHAPE_MANY, false},
                                                     SHAPE_META,
                                                     SHAPE_ANNOTATIONS(TUTTI_SPACE_SSM),
                                                     {NULL, TUTTI_SPACE_SSC, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape shape = {attributes, children};
    TRY(tt_ssp_reader_read_version(parts, top));
    TRY(tt_ssp_reader_check(parts, top, &shape));
    ssm->file = parts->file;
    struct tt_ssp_mapping *mapping;
    TRY(tt_ssp_reader_new_array(parts, top, "MappingEntry", sizeof *mapping, &mapping, &ssm->count));
    ssm->mappings = mapping;
    struct tt_map targets = {0};
    enum tutti_err err = TUTTI_OK;
    for (const struct tt_tree_node *node = tt_ssp_reader_find_child(top, "MappingEntry"); node && err == TUTTI_OK;
         node = tt_ssp_reader_find_next(node, "MappingEntry"))
        err = ssm_read_entry(parts, node, &targets, mapping++);
    tt_map_fini(&targets);
    return err;
}

enum tutti_err tt_ssm_parse(struct tt_ssp_reader *parts, const struct tt_tree_node *top, struct tt_ssm *ssm)
{
    struct tt_ssp_reader_names outer;
    tt_ssp_reader_enter_inline(parts, &outer);
    enum tutti_err err = ssm_read_mapping(parts, top, ssm);
    tt_ssp_reader_leave_inline(parts, &outer);
    return err;
}

enum tutti_err tt_ssm_read(struct tt_ssm **out, const char *file, struct tt_byte_source *reader,
                           struct tt_findings *findings)
{
    *out = NULL;
    struct tt_ssm *ssm = calloc(1, sizeof *ssm);
    if (!ssm)
        return tt_fail_memory();
    enum tutti_err err = tt_ssp_reader_open(&ssm->tree, file, reader, TUTTI_SPACE_SSM, "ParameterMapping");
    if (err == TUTTI_OK) {
        struct tt_ssp_reader parts;
        tt_ssp_reader_init(&parts, ssm->tree->file, &ssm->arena, findings);
        err = tt_ssm_parse(&parts, ssm->tree->root, ssm);
        tt_ssp_reader_fini(&parts);
    }
    if (err == TUTTI_OK)
        *out = ssm;
    else
        tt_ssm_free(ssm);
    return err;
}

void tt_ssm_free(struct tt_ssm *ssm)
{
    if (!ssm)
        return;
    tt_tree_free(ssm->tree);
    tt_arena_fini(&ssm->arena);
    free(ssm);
}
