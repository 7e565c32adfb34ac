/* SPDX-License-Identifier: MIT */
/* Parameter mappings (.ssm). */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
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
    /* A source may have many targets, but a target only one source. */
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

/* The four transformations of connections and parameter mappings. */

static const struct tt_shape_child no_children[] = {{NULL, TUTTI_SPACE_SSC, TUTTI_SHAPE_ONE, false}};

static const struct {
    const char *name;
    enum tt_ssp_transformation_kind kind;
} kinds[] = {
    {"LinearTransformation", TUTTI_SSP_LINEAR},
    {"BooleanMappingTransformation", TUTTI_SSP_BOOLEAN_MAP},
    {"IntegerMappingTransformation", TUTTI_SSP_INTEGER_MAP},
    {"EnumerationMappingTransformation", TUTTI_SSP_ENUMERATION_MAP},
};

static enum tutti_err ssm_read_side(const struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                    enum tt_ssp_transformation_kind kind, const char *attribute, tt_wide *number,
                                    const char **name)
{
    const char *text;
    TRY(tt_ssp_reader_require(parts, node, attribute, &text));
    if (kind == TUTTI_SSP_ENUMERATION_MAP) {
        *name = text;
        return TUTTI_OK;
    }
    if (kind == TUTTI_SSP_INTEGER_MAP)
        return tt_ssp_reader_read_wide(parts, node, attribute, number);
    bool value = false;
    TRY(tt_ssp_reader_read_bool(parts, node, attribute, &value));
    *number = value;
    return TUTTI_OK;
}

struct map_source {
    tt_wide value;
    const struct tt_tree_node *node;
};

static int ssm_compare_sources(const void *a, const void *b)
{
    const struct map_source *left = a, *right = b;
    return (left->value > right->value) - (left->value < right->value);
}

/* Values are compared as numbers: "1" and "+1" are the same source. */
static enum tutti_err ssm_check_numbers(const struct tt_ssp_reader *parts, struct map_source *sources, size_t count)
{
    qsort(sources, count, sizeof *sources, ssm_compare_sources);
    for (size_t i = 1; i < count; i++)
        if (sources[i].value == sources[i - 1].value) {
            const struct map_source *first = &sources[i - 1], *second = &sources[i];
            if (first->node->line > second->node->line)
                first = second, second = &sources[i - 1];
            return tt_ssp_reader_fail(parts, second->node, "line %u maps the same source; remove one of them",
                                      first->node->line);
        }
    return TUTTI_OK;
}

static enum tutti_err ssm_check_sources(const struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                        const struct tt_ssp_transformation *transformation)
{
    if (transformation->kind == TUTTI_SSP_ENUMERATION_MAP) {
        struct tt_map names = {0};
        enum tutti_err err = TUTTI_OK;
        const struct tt_ssp_map_entry *entry = transformation->entries;
        for (const struct tt_tree_node *child = tt_ssp_reader_find_child(node, "MapEntry"); child && err == TUTTI_OK;
             child = tt_ssp_reader_find_next(child, "MapEntry"), entry++)
            err = tt_ssp_reader_check_unique(parts, &names, child, entry->source_name, "sources of this mapping");
        tt_map_fini(&names);
        return err;
    }
    struct map_source *sources = calloc(transformation->entry_count, sizeof *sources);
    if (!sources)
        return tt_fail_memory();
    size_t i = 0;
    for (const struct tt_tree_node *child = tt_ssp_reader_find_child(node, "MapEntry"); child;
         child = tt_ssp_reader_find_next(child, "MapEntry"), i++)
        sources[i] = (struct map_source){transformation->entries[i].source, child};
    enum tutti_err err = ssm_check_numbers(parts, sources, transformation->entry_count);
    free(sources);
    return err;
}

static enum tutti_err ssm_read_map(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                   struct tt_ssp_transformation *transformation)
{
    static const struct tt_shape_word attributes[] = {{"source", false}, {"target", false}, {NULL, false}};
    static const struct tt_shape shape = {attributes, no_children};
    struct tt_ssp_map_entry *entry;
    TRY(tt_ssp_reader_new_array(parts, node, "MapEntry", sizeof *entry, &entry, &transformation->entry_count));
    transformation->entries = entry;
    for (const struct tt_tree_node *child = tt_ssp_reader_find_child(node, "MapEntry"); child;
         child = tt_ssp_reader_find_next(child, "MapEntry"), entry++) {
        TRY(tt_ssp_reader_check(parts, child, &shape));
        TRY(ssm_read_side(parts, child, transformation->kind, "source", &entry->source, &entry->source_name));
        TRY(ssm_read_side(parts, child, transformation->kind, "target", &entry->target, &entry->target_name));
    }
    if (transformation->entry_count == 0) {
        tt_ssp_reader_warn(parts, node, "it has no <MapEntry>, and so changes nothing");
        return TUTTI_OK;
    }
    return ssm_check_sources(parts, node, transformation);
}

enum tutti_err tt_ssm_read_transformation(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                          struct tt_ssp_transformation *transformation)
{
    static const struct tt_shape_word none[] = {{NULL, false}};
    static const struct tt_shape_word attributes[] = {{"factor", false}, {"offset", false}, {NULL, false}};
    static const struct tt_shape_child children[] = {{"MapEntry", TUTTI_SPACE_SSC, TUTTI_SHAPE_MANY, false},
                                                     {NULL, TUTTI_SPACE_SSC, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape linear = {attributes, no_children}, map = {none, children};
    transformation->factor = 1;
    for (const struct tt_tree_node *child = node->first; child; child = child->next) {
        size_t i = 0;
        while (i < sizeof kinds / sizeof *kinds && !tt_ssp_reader_has_name(child, kinds[i].name))
            i++;
        if (i == sizeof kinds / sizeof *kinds)
            continue;
        transformation->kind = kinds[i].kind;
        transformation->line = child->line;
        TRY(tt_ssp_reader_check(parts, child, transformation->kind == TUTTI_SSP_LINEAR ? &linear : &map));
        if (transformation->kind != TUTTI_SSP_LINEAR)
            return ssm_read_map(parts, child, transformation);
        TRY(tt_ssp_reader_read_double(parts, child, "factor", &transformation->factor, NULL));
        return tt_ssp_reader_read_double(parts, child, "offset", &transformation->offset, NULL);
    }
    return TUTTI_OK;
}
