/* SPDX-License-Identifier: MIT */
/* What several kinds of documents have in them: version, units, enumerations, types, dimensions, annotations. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "model/ssp/ssp_reader.h"

static const struct tt_shape_word no_attributes[] = {{NULL, false}};
static const struct tt_shape_child no_children[] = {{NULL, TUTTI_SPACE_SSC, TUTTI_SHAPE_ONE, false}};

enum tutti_err tt_ssp_reader_read_version(struct tt_ssp_reader *parts, const struct tt_tree_node *top)
{
    const char *version = tt_tree_find_attribute(top, "version");
    if (!version) {
        tt_ssp_reader_warn(parts, top, "the attribute version is missing; it is read as 2.0");
        version = "2.0";
    }
    parts->names.version_1 = strcmp(version, "1.0") == 0;
    if (!parts->names.version_1 && strcmp(version, "2.0") != 0)
        tt_ssp_reader_warn(parts, top, "version is \"%s\", expected 1.0 or 2.0; it is read as 2.0",
                           tt_text_excerpt(version).text);
    return TUTTI_OK;
}

/* ---- units ---- */

static int compare_units(const void *a, const void *b)
{
    const struct tt_unit_def *left = a, *right = b;
    return strcmp(left->name, right->name);
}

static enum tutti_err read_base_unit(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                     struct tt_unit_def *unit)
{
    static const struct tt_shape_word attributes[] = {
        {"kg", false}, {"m", false},   {"s", false},      {"A", false},      {"K", false}, {"mol", false},
        {"cd", false}, {"rad", false}, {"factor", false}, {"offset", false}, {NULL, false}};
    static const struct tt_shape shape = {attributes, no_children};
    TRY(tt_ssp_reader_check(parts, node, &shape));
    for (size_t i = 0; i < sizeof unit->exponents / sizeof *unit->exponents; i++) {
        int64_t exponent = 0;
        TRY(tt_ssp_reader_read_int(parts, node, attributes[i].text, &exponent));
        if (exponent < INT32_MIN || exponent > INT32_MAX)
            return tt_ssp_reader_fail(parts, node, "%s is beyond all use as an exponent", attributes[i].text);
        unit->exponents[i] = (int32_t)exponent;
    }
    TRY(tt_ssp_reader_read_double(parts, node, "factor", &unit->factor, NULL));
    TRY(tt_ssp_reader_read_double(parts, node, "offset", &unit->offset, NULL));
    if (unit->factor == 0)
        return tt_ssp_reader_fail(parts, node,
                                  "factor is 0, so that no value can be converted; expected another number");
    unit->has_base = true;
    return TUTTI_OK;
}

static enum tutti_err read_units(struct tt_ssp_reader *parts, const struct tt_tree_node *list,
                                 struct tt_ssp_scope *scope)
{
    static const struct tt_shape_child list_children[] = {{"Unit", TUTTI_SPACE_SSC, TUTTI_SHAPE_MANY, false},
                                                          {NULL, TUTTI_SPACE_SSC, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape_word attributes[] = {SHAPE_BASE_ATTRIBUTES, {"name", false}, {NULL, false}};
    static const struct tt_shape_child children[] = {{"BaseUnit", TUTTI_SPACE_SSC, TUTTI_SHAPE_ONE, false},
                                                     SHAPE_ANNOTATIONS(TUTTI_SPACE_SSC),
                                                     {NULL, TUTTI_SPACE_SSC, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape list_shape = {no_attributes, list_children}, shape = {attributes, children};
    TRY(tt_ssp_reader_check(parts, list, &list_shape));
    struct tt_unit_def *units, *unit;
    TRY(tt_ssp_reader_new_array(parts, list, "Unit", sizeof *units, &units, &scope->unit_count));
    scope->units = unit = units;
    for (const struct tt_tree_node *node = tt_ssp_reader_find_child(list, "Unit"); node;
         node = tt_ssp_reader_find_next(node, "Unit")) {
        TRY(tt_ssp_reader_check(parts, node, &shape));
        TRY(tt_ssp_reader_require(parts, node, "name", &unit->name));
        TRY(tt_ssp_reader_check_unique(parts, &parts->names.units, node, unit->name, "units of this document"));
        unit->defined = true;
        unit->factor = 1;
        unit->line = node->line;
        const struct tt_tree_node *base = tt_ssp_reader_find_child(node, "BaseUnit");
        if (base)
            TRY(read_base_unit(parts, base, unit));
        else
            tt_ssp_reader_warn(parts, node, "<BaseUnit> is missing; the unit cannot be converted to others");
        unit++;
    }
    if (scope->unit_count > 1)
        qsort(units, scope->unit_count, sizeof *units, compare_units);
    return TUTTI_OK;
}

/* ---- enumerations ---- */

static int compare_enumerations(const void *a, const void *b)
{
    const struct tt_ssp_enumeration *left = a, *right = b;
    return strcmp(left->name, right->name);
}

static enum tutti_err read_enumeration_items(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                             struct tt_ssp_enumeration *enumeration)
{
    static const struct tt_shape_word attributes[] = {{"name", false}, {"value", false}, {NULL, false}};
    static const struct tt_shape shape = {attributes, no_children};
    struct tt_enum_item *item;
    TRY(tt_ssp_reader_new_array(parts, node, "Item", sizeof *item, &item, &enumeration->item_count));
    enumeration->items = item;
    struct tt_map names = {0};
    enum tutti_err err = TUTTI_OK;
    for (const struct tt_tree_node *child = tt_ssp_reader_find_child(node, "Item"); child && err == TUTTI_OK;
         child = tt_ssp_reader_find_next(child, "Item"), item++) {
        const char *value;
        if ((err = tt_ssp_reader_check(parts, child, &shape)) == TUTTI_OK &&
            (err = tt_ssp_reader_require(parts, child, "name", &item->name)) == TUTTI_OK &&
            (err = tt_ssp_reader_require(parts, child, "value", &value)) == TUTTI_OK &&
            (err = tt_ssp_reader_read_int(parts, child, "value", &item->value)) == TUTTI_OK)
            err = tt_ssp_reader_check_unique(parts, &names, child, item->name, "items of this enumeration");
    }
    tt_map_fini(&names);
    if (err == TUTTI_OK && enumeration->item_count == 0)
        tt_ssp_reader_warn(parts, node, "it has no <Item>");
    return err;
}

static enum tutti_err read_enumerations(struct tt_ssp_reader *parts, const struct tt_tree_node *list,
                                        struct tt_ssp_scope *scope)
{
    static const struct tt_shape_child list_children[] = {{"Enumeration", TUTTI_SPACE_SSC, TUTTI_SHAPE_MANY, false},
                                                          {NULL, TUTTI_SPACE_SSC, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape_word attributes[] = {SHAPE_BASE_ATTRIBUTES, {"name", false}, {NULL, false}};
    static const struct tt_shape_child children[] = {{"Item", TUTTI_SPACE_SSC, TUTTI_SHAPE_MANY, false},
                                                     SHAPE_ANNOTATIONS(TUTTI_SPACE_SSC),
                                                     {NULL, TUTTI_SPACE_SSC, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape list_shape = {no_attributes, list_children}, shape = {attributes, children};
    TRY(tt_ssp_reader_check(parts, list, &list_shape));
    struct tt_ssp_enumeration *enumerations, *enumeration;
    TRY(tt_ssp_reader_new_array(parts, list, "Enumeration", sizeof *enumerations, &enumerations,
                                &scope->enumeration_count));
    scope->enumerations = enumeration = enumerations;
    for (const struct tt_tree_node *node = tt_ssp_reader_find_child(list, "Enumeration"); node;
         node = tt_ssp_reader_find_next(node, "Enumeration"), enumeration++) {
        TRY(tt_ssp_reader_check(parts, node, &shape));
        TRY(tt_ssp_reader_require(parts, node, "name", &enumeration->name));
        TRY(tt_ssp_reader_check_unique(parts, &parts->names.enumerations, node, enumeration->name,
                                       "enumerations of this document"));
        TRY(read_enumeration_items(parts, node, enumeration));
    }
    if (scope->enumeration_count > 1)
        qsort(enumerations, scope->enumeration_count, sizeof *enumerations, compare_enumerations);
    return TUTTI_OK;
}

enum tutti_err tt_ssp_reader_read_scope(struct tt_ssp_reader *parts, const struct tt_tree_node *top,
                                        struct tt_ssp_scope *scope)
{
    scope->file = parts->file;
    const struct tt_tree_node *units = tt_ssp_reader_find_child(top, "Units");
    const struct tt_tree_node *enumerations = tt_ssp_reader_find_child(top, "Enumerations");
    if (units)
        TRY(read_units(parts, units, scope));
    if (enumerations)
        TRY(read_enumerations(parts, enumerations, scope));
    return TUTTI_OK;
}

const struct tt_unit_def *tt_ssp_reader_find_unit(const struct tt_ssp_scope *scope, const char *name)
{
    const struct tt_unit_def wanted = {.name = name};
    return scope->unit_count ? bsearch(&wanted, scope->units, scope->unit_count, sizeof wanted, compare_units) : NULL;
}

const struct tt_ssp_enumeration *tt_ssp_reader_find_enum(const struct tt_ssp_scope *scope, const char *name)
{
    const struct tt_ssp_enumeration wanted = {.name = name};
    return scope->enumeration_count
               ? bsearch(&wanted, scope->enumerations, scope->enumeration_count, sizeof wanted, compare_enumerations)
               : NULL;
}

/* ---- types ---- */

static const struct {
    const char *name;
    enum tt_type type;
    bool loose;
} types[] = {{"Real", TUTTI_TYPE_FLOAT64, true},
             {"Integer", TUTTI_TYPE_INT32, true},
#define X(name, text, ctype) {text, TUTTI_TYPE_##name, false},
             TUTTI_TYPES(X)
#undef X
};

static bool ssp_reader_find_type(const struct tt_tree_node *node, size_t *index)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (tt_ssp_reader_has_name(node, types[i].name)) {
            *index = i;
            return types[i].type != TUTTI_TYPE_CLOCK || node->space != TUTTI_SPACE_SSD;
        }
    return false;
}

const struct tt_tree_node *tt_ssp_reader_find_type_node(const struct tt_tree_node *node)
{
    size_t index;
    const struct tt_tree_node *child = node->first;
    while (child && !ssp_reader_find_type(child, &index))
        child = child->next;
    return child;
}

void tt_ssp_reader_read_type(struct tt_ssp_reader *parts, const struct tt_tree_node *node, struct tt_ssp_type *type)
{
    size_t index = 0;
    if (!ssp_reader_find_type(node, &index))
        return;
    *type = (struct tt_ssp_type){.given = true, .loose = types[index].loose, .type = types[index].type};
    if (tt_type_is_float(type->type)) {
        type->unit = tt_tree_find_attribute(node, "unit");
        if (type->unit && !*type->unit) {
            tt_ssp_reader_warn(parts, node, "unit is empty; it is read as if it were absent");
            type->unit = NULL;
        }
        if (type->unit && tt_map_find(&parts->names.units, type->unit) == TUTTI_MAP_NONE)
            tt_ssp_reader_warn(parts, node, "the unit \"%s\" is not among the <Units> of this document",
                               tt_text_excerpt(type->unit).text);
    } else if (type->type == TUTTI_TYPE_ENUMERATION) {
        type->enumeration = tt_tree_find_attribute(node, "name");
        if (type->enumeration && tt_map_find(&parts->names.enumerations, type->enumeration) == TUTTI_MAP_NONE)
            tt_ssp_reader_warn(parts, node, "it is not among the <Enumerations> of this document");
    } else if (type->type == TUTTI_TYPE_BINARY) {
        type->mime_type = tt_tree_find_attribute(node, "mime-type");
    }
}

enum tutti_err tt_ssp_reader_read_signal_type(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                              struct tt_ssp_type *type)
{
    static const struct tt_shape_word unit[] = {{"unit", false}, {NULL, false}};
    static const struct tt_shape_word name[] = {{"name", false}, {NULL, false}};
    static const struct tt_shape_word mime_type[] = {{"mime-type", false}, {NULL, false}};
    static const struct tt_shape_word clock[] = {
        {"intervalVariability", false}, {"intervalDecimal", false}, {"shiftDecimal", false},
        {"supportsFraction", false},    {"resolution", false},      {"intervalCounter", false},
        {"shiftCounter", false},        {"priority", false},        {NULL, false}};
    const struct tt_tree_node *child = tt_ssp_reader_find_type_node(node);
    if (!child)
        return TUTTI_OK;
    tt_ssp_reader_read_type(parts, child, type);
    struct tt_shape shape = {no_attributes, no_children};
    if (tt_type_is_float(type->type))
        shape.attributes = unit;
    else if (type->type == TUTTI_TYPE_ENUMERATION)
        shape.attributes = name;
    else if (type->type == TUTTI_TYPE_BINARY)
        shape.attributes = mime_type;
    else if (type->type == TUTTI_TYPE_CLOCK)
        shape.attributes = clock;
    TRY(tt_ssp_reader_check(parts, child, &shape));
    if (type->type == TUTTI_TYPE_ENUMERATION && !type->enumeration)
        return tt_ssp_reader_fail(parts, child, "the attribute name is missing; add the name of an enumeration");
    return TUTTI_OK;
}

/* ---- dimensions ---- */

enum tutti_err tt_ssp_reader_read_dimensions(struct tt_ssp_reader *parts, const struct tt_tree_node *node, bool fixed,
                                             const struct tt_ssp_dimension **dimensions, size_t *count)
{
    static const struct tt_shape_word attributes[] = {{"size", false}, {"sizeConnector", false}, {NULL, false}};
    static const struct tt_shape shape = {attributes, no_children};
    struct tt_ssp_dimension *dimension;
    TRY(tt_ssp_reader_new_array(parts, node, "Dimension", sizeof *dimension, &dimension, count));
    *dimensions = dimension;
    for (const struct tt_tree_node *child = tt_ssp_reader_find_child(node, "Dimension"); child;
         child = tt_ssp_reader_find_next(child, "Dimension"), dimension++) {
        TRY(tt_ssp_reader_check(parts, child, &shape));
        const char *size = tt_tree_find_attribute(child, "size");
        dimension->size_connector = tt_tree_find_attribute(child, "sizeConnector");
        dimension->has_size = size != NULL;
        if (size && !tt_number_read_uint(size, strlen(size), &dimension->size))
            return tt_ssp_reader_fail(parts, child, "size is \"%s\", expected a whole number",
                                      tt_text_excerpt(size).text);
        if (size && dimension->size_connector)
            return tt_ssp_reader_fail(parts, child, "it has a size and a sizeConnector; remove one of them");
        if (fixed && !size)
            return tt_ssp_reader_fail(parts, child, "the size must be a number here; add the attribute size");
    }
    return TUTTI_OK;
}

/* ---- annotations ---- */

const struct tt_tree_node *tt_ssp_reader_read_settings(struct tt_ssp_reader *parts, const struct tt_tree_node *node)
{
    const struct tt_tree_node *settings = NULL, *list = tt_ssp_reader_find_child(node, "Annotations");
    bool found = false;
    for (const struct tt_tree_node *annotation = list ? tt_ssp_reader_find_child(list, "Annotation") : NULL; annotation;
         annotation = tt_ssp_reader_find_next(annotation, "Annotation")) {
        const char *type = tt_tree_find_attribute(annotation, "type");
        if (!type || strcmp(type, TUTTI_ANNOTATION) != 0)
            continue;
        if (found) {
            tt_ssp_reader_warn(parts, annotation, "a second annotation of type " TUTTI_ANNOTATION ", which is ignored");
            continue;
        }
        found = true;
        settings = annotation->first;
        while (settings && settings->text)
            settings = settings->next;
    }
    return settings;
}
