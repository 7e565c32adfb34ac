/* SPDX-License-Identifier: MIT */
/* The four transformations of connections and parameter mappings. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/str.h"
#include "ssp/parts.h"

static const struct tutti_shape_child no_children[] = {{NULL, TUTTI_SPACE_SSC, TUTTI_SHAPE_ONE, false}};

static const struct {
    const char *name;
    enum tutti_ssp_transformation_kind kind;
} kinds[] = {
    {"LinearTransformation", TUTTI_SSP_LINEAR},
    {"BooleanMappingTransformation", TUTTI_SSP_BOOLEAN_MAP},
    {"IntegerMappingTransformation", TUTTI_SSP_INTEGER_MAP},
    {"EnumerationMappingTransformation", TUTTI_SSP_ENUMERATION_MAP},
};

static enum tutti_err read_side(const struct tutti_parts *parts, const struct tutti_node *node,
                                enum tutti_ssp_transformation_kind kind, const char *attribute, tutti_wide *number,
                                const char **name)
{
    const char *text;
    TRY(tutti_parts_required(parts, node, attribute, &text));
    if (kind == TUTTI_SSP_ENUMERATION_MAP) {
        *name = text;
        return TUTTI_OK;
    }
    if (kind == TUTTI_SSP_INTEGER_MAP)
        return tutti_parts_wide(parts, node, attribute, number);
    bool value = false;
    TRY(tutti_parts_bool(parts, node, attribute, &value));
    *number = value;
    return TUTTI_OK;
}

struct source {
    tutti_wide value;
    const struct tutti_node *node;
};

static int compare_sources(const void *a, const void *b)
{
    const struct source *left = a, *right = b;
    return (left->value > right->value) - (left->value < right->value);
}

/* Values are compared as numbers: "1" and "+1" are the same source. */
static enum tutti_err check_numbers(const struct tutti_parts *parts, struct source *sources, size_t count)
{
    qsort(sources, count, sizeof *sources, compare_sources);
    for (size_t i = 1; i < count; i++)
        if (sources[i].value == sources[i - 1].value) {
            const struct source *first = &sources[i - 1], *second = &sources[i];
            if (first->node->line > second->node->line)
                first = second, second = &sources[i - 1];
            return tutti_parts_fail(parts, second->node, "line %u maps the same source; remove one of them",
                                    first->node->line);
        }
    return TUTTI_OK;
}

static enum tutti_err check_sources(const struct tutti_parts *parts, const struct tutti_node *node,
                                    const struct tutti_ssp_transformation *transformation)
{
    if (transformation->kind == TUTTI_SSP_ENUMERATION_MAP) {
        struct tutti_map names = {0};
        enum tutti_err err = TUTTI_OK;
        const struct tutti_ssp_map_entry *entry = transformation->entries;
        for (const struct tutti_node *child = tutti_parts_child(node, "MapEntry"); child && err == TUTTI_OK;
             child = tutti_parts_next(child, "MapEntry"), entry++)
            err = tutti_parts_unique(parts, &names, child, entry->source_name, "sources of this mapping");
        tutti_map_fini(&names);
        return err;
    }
    struct source *sources = calloc(transformation->entry_count, sizeof *sources);
    if (!sources)
        return tutti_fail_memory();
    size_t i = 0;
    for (const struct tutti_node *child = tutti_parts_child(node, "MapEntry"); child;
         child = tutti_parts_next(child, "MapEntry"), i++)
        sources[i] = (struct source){transformation->entries[i].source, child};
    enum tutti_err err = check_numbers(parts, sources, transformation->entry_count);
    free(sources);
    return err;
}

static enum tutti_err read_map(struct tutti_parts *parts, const struct tutti_node *node,
                               struct tutti_ssp_transformation *transformation)
{
    static const struct tutti_shape_word attributes[] = {{"source", false}, {"target", false}, {NULL, false}};
    static const struct tutti_shape shape = {attributes, no_children};
    struct tutti_ssp_map_entry *entry;
    TRY(tutti_parts_array(parts, node, "MapEntry", sizeof *entry, &entry, &transformation->entry_count));
    transformation->entries = entry;
    for (const struct tutti_node *child = tutti_parts_child(node, "MapEntry"); child;
         child = tutti_parts_next(child, "MapEntry"), entry++) {
        TRY(tutti_parts_check(parts, child, &shape));
        TRY(read_side(parts, child, transformation->kind, "source", &entry->source, &entry->source_name));
        TRY(read_side(parts, child, transformation->kind, "target", &entry->target, &entry->target_name));
    }
    if (transformation->entry_count == 0) {
        tutti_parts_warn(parts, node, "it has no <MapEntry>, and so changes nothing");
        return TUTTI_OK;
    }
    return check_sources(parts, node, transformation);
}

enum tutti_err tutti_parts_transformation(struct tutti_parts *parts, const struct tutti_node *node,
                                          struct tutti_ssp_transformation *transformation)
{
    static const struct tutti_shape_word none[] = {{NULL, false}};
    static const struct tutti_shape_word attributes[] = {{"factor", false}, {"offset", false}, {NULL, false}};
    static const struct tutti_shape_child children[] = {{"MapEntry", TUTTI_SPACE_SSC, TUTTI_SHAPE_MANY, false},
                                                        {NULL, TUTTI_SPACE_SSC, TUTTI_SHAPE_ONE, false}};
    static const struct tutti_shape linear = {attributes, no_children}, map = {none, children};
    transformation->factor = 1;
    for (const struct tutti_node *child = node->first; child; child = child->next) {
        size_t i = 0;
        while (i < sizeof kinds / sizeof *kinds && !tutti_parts_is(child, kinds[i].name))
            i++;
        if (i == sizeof kinds / sizeof *kinds)
            continue;
        transformation->kind = kinds[i].kind;
        transformation->line = child->line;
        TRY(tutti_parts_check(parts, child, transformation->kind == TUTTI_SSP_LINEAR ? &linear : &map));
        if (transformation->kind != TUTTI_SSP_LINEAR)
            return read_map(parts, child, transformation);
        TRY(tutti_parts_double(parts, child, "factor", &transformation->factor, NULL));
        return tutti_parts_double(parts, child, "offset", &transformation->offset, NULL);
    }
    return TUTTI_OK;
}
