/* SPDX-License-Identifier: MIT */
/* Parameter mappings (.ssm). */
#include <stdlib.h>

#include "ssp/parts.h"

static enum tutti_err read_entry(struct tutti_parts *parts, const struct tutti_node *node, struct tutti_map *targets,
                                 struct tutti_ssp_mapping *mapping)
{
    static const struct tutti_shape_word attributes[] = {
        SHAPE_BASE_ATTRIBUTES, {"source", false}, {"target", false}, {"suppressUnitConversion", false}, {NULL, false}};
    static const struct tutti_shape_child children[] = {
        SHAPE_TRANSFORMATIONS, SHAPE_ANNOTATIONS(TUTTI_SPACE_SSM), {NULL, TUTTI_SPACE_SSC, TUTTI_SHAPE_ONE, false}};
    static const struct tutti_shape shape = {attributes, children};
    TRY(tutti_parts_check(parts, node, &shape));
    mapping->line = node->line;
    TRY(tutti_parts_required(parts, node, "source", &mapping->source));
    TRY(tutti_parts_required(parts, node, "target", &mapping->target));
    TRY(tutti_parts_bool(parts, node, "suppressUnitConversion", &mapping->suppress_unit_conversion));
    /* One source may have many targets, but not the other way round. */
    TRY(tutti_parts_unique(parts, targets, node, mapping->target, "targets of this mapping"));
    return tutti_parts_transformation(parts, node, &mapping->transformation);
}

static enum tutti_err read_mapping(struct tutti_parts *parts, const struct tutti_node *top, struct tutti_ssm *ssm)
{
    static const struct tutti_shape_word attributes[] = {SHAPE_TOP_ATTRIBUTES, {NULL, false}};
    static const struct tutti_shape_child children[] = {{"MappingEntry", TUTTI_SPACE_SSM, TUTTI_SHAPE_MANY, false},
                                                        SHAPE_META,
                                                        SHAPE_ANNOTATIONS(TUTTI_SPACE_SSM),
                                                        {NULL, TUTTI_SPACE_SSC, TUTTI_SHAPE_ONE, false}};
    static const struct tutti_shape shape = {attributes, children};
    TRY(tutti_parts_version(parts, top));
    TRY(tutti_parts_check(parts, top, &shape));
    ssm->file = parts->file;
    struct tutti_ssp_mapping *mapping;
    TRY(tutti_parts_array(parts, top, "MappingEntry", sizeof *mapping, &mapping, &ssm->count));
    ssm->mappings = mapping;
    struct tutti_map targets = {0};
    enum tutti_err err = TUTTI_OK;
    for (const struct tutti_node *node = tutti_parts_child(top, "MappingEntry"); node && err == TUTTI_OK;
         node = tutti_parts_next(node, "MappingEntry"))
        err = read_entry(parts, node, &targets, mapping++);
    tutti_map_fini(&targets);
    return err;
}

enum tutti_err tutti_parts_ssm(struct tutti_parts *parts, const struct tutti_node *top, struct tutti_ssm *ssm)
{
    struct tutti_parts_names outer;
    tutti_parts_enter(parts, &outer);
    enum tutti_err err = read_mapping(parts, top, ssm);
    tutti_parts_leave(parts, &outer);
    return err;
}

enum tutti_err tutti_ssm_read(struct tutti_ssm **out, const char *file, struct tutti_reader *reader,
                              struct tutti_findings *findings)
{
    *out = NULL;
    struct tutti_ssm *ssm = calloc(1, sizeof *ssm);
    if (!ssm)
        return tutti_fail_memory();
    enum tutti_err err = tutti_parts_open(&ssm->tree, file, reader, TUTTI_SPACE_SSM, "ParameterMapping");
    if (err == TUTTI_OK) {
        struct tutti_parts parts;
        tutti_parts_init(&parts, ssm->tree->file, &ssm->arena, findings);
        err = tutti_parts_ssm(&parts, ssm->tree->root, ssm);
        tutti_parts_fini(&parts);
    }
    if (err == TUTTI_OK)
        *out = ssm;
    else
        tutti_ssm_free(ssm);
    return err;
}

void tutti_ssm_free(struct tutti_ssm *ssm)
{
    if (!ssm)
        return;
    tutti_tree_free(ssm->tree);
    tutti_arena_fini(&ssm->arena);
    free(ssm);
}
