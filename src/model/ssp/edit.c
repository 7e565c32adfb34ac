/* SPDX-License-Identifier: MIT */
#include "model/ssp/edit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "model/ssp/ssp_reader.h"

#define SETTINGS_URI "https://tutti.dev/ssp"

struct tt_tree *tt_edit_new_tree(const char *file)
{
    struct tt_tree *tree = calloc(1, sizeof *tree);
    if (tree)
        tree->file = tt_arena_copy_text(&tree->arena, file, strlen(file));
    if (tree && tree->file)
        return tree;
    tt_tree_free(tree);
    return NULL;
}

/* ---- prefixes ---- */

static const char *is_declaration(const struct tt_tree_attribute *attribute)
{
    if (strncmp(attribute->name, "xmlns", 5) != 0)
        return NULL;
    return attribute->name[5] == ':' ? attribute->name + 6 : attribute->name[5] == '\0' ? "" : NULL;
}

static const char *uri_of_prefix(const struct tt_tree_node *node, const char *prefix)
{
    for (; node; node = node->parent)
        for (unsigned i = 0; i < node->attribute_count; i++) {
            const char *name = is_declaration(&node->attributes[i]);
            if (name && strcmp(name, prefix) == 0)
                return node->attributes[i].value;
        }
    return "";
}

/* A prefix that means `uri` at this place, or NULL. One that is declared and then declared anew means the other thing. */
static const char *prefix_of_uri(const struct tt_tree_node *place, const char *uri)
{
    for (const struct tt_tree_node *node = place; node; node = node->parent)
        for (unsigned i = 0; i < node->attribute_count; i++) {
            const char *prefix = is_declaration(&node->attributes[i]);
            if (prefix && strcmp(node->attributes[i].value, uri) == 0 && strcmp(uri_of_prefix(place, prefix), uri) == 0)
                return prefix;
        }
    return NULL;
}

/* ---- order ---- */

/* The schema's order of elements; those of several types of elements do not contradict each other. */
static const char *const order[] = {
    "System",
    "Enumerations",
    "Units",
    "DefaultExperiment",
    "Connectors",
    "ElementGeometry",
    "ParameterBindings",
    "MetaData",
    "Signature",
    "Elements",
    "Connections",
    "SignalDictionaries",
    "SystemGeometry",
    "GraphicalElements",
    "Dimension",
    "Clock",
    "ConnectorGeometry",
    "LinearTransformation",
    "ConnectionGeometry",
    "Annotations",
};

static size_t edit_schema_rank(const struct tt_tree_node *node)
{
    size_t i = 0, count = sizeof order / sizeof *order;
    while (i < count && (node->text || strcmp(node->local, order[i]) != 0))
        i++;
    return i < count ? i + 1 : 0;
}

/* Moves the last child to where it belongs. Children of an equal rank, or of none, keep their order. */
static void edit_sort_child(struct tt_tree_node *parent, struct tt_tree_node *node)
{
    size_t own = edit_schema_rank(node);
    if (own == 0 || parent->first == node)
        return;
    struct tt_tree_node *before = NULL;
    for (struct tt_tree_node *child = parent->first; child != node && edit_schema_rank(child) <= own;
         child = child->next)
        before = child;
    if (before && before->next == node)
        return;
    tt_tree_remove_node(node);
    node->parent = parent;
    node->next = before ? before->next : parent->first;
    *(before ? &before->next : &parent->first) = node;
}

/* ---- elements ---- */

static struct tt_tree_node *edit_add_node(struct tt_editor *maker, struct tt_tree_node *parent, const char *prefix,
                                          const char *local)
{
    struct tt_text name = {0};
    tt_text_printf(&name, "%s%s%s", prefix, *prefix ? ":" : "", local);
    struct tt_tree_node *node = name.failed || maker->failed ? NULL : tt_tree_add_node(maker->tree, parent, name.text);
    tt_text_fini(&name);
    if (node)
        return node;
    maker->failed = true;
    maker->spare = (struct tt_tree_node){.name = "", .local = ""};
    return &maker->spare;
}

static void edit_declare(struct tt_editor *maker, struct tt_tree_node *node, const char *prefix, const char *uri)
{
    struct tt_text name = {0};
    tt_text_printf(&name, "xmlns:%s", prefix);
    if (name.failed)
        maker->failed = true;
    else
        tt_edit_set(maker, node, name.text, uri);
    tt_text_fini(&name);
}

struct tt_tree_node *tt_edit_add_root(struct tt_editor *maker, const char *local, const enum tt_tree_space *spaces,
                                      size_t count)
{
    struct tt_tree_node *node = edit_add_node(maker, NULL, tt_tree_space_prefix(spaces[0]), local);
    for (size_t i = 0; i < count; i++)
        edit_declare(maker, node, tt_tree_space_prefix(spaces[i]), tt_tree_space_uri(spaces[i]));
    return node;
}

struct tt_tree_node *tt_edit_add(struct tt_editor *maker, struct tt_tree_node *parent, enum tt_tree_space space,
                                 const char *local)
{
    const char *prefix = prefix_of_uri(parent, tt_tree_space_uri(space));
    struct tt_tree_node *node = edit_add_node(maker, parent, prefix ? prefix : tt_tree_space_prefix(space), local);
    if (!prefix)
        edit_declare(maker, node, tt_tree_space_prefix(space), tt_tree_space_uri(space));
    if (node != &maker->spare)
        edit_sort_child(parent, node);
    return node;
}

struct tt_tree_node *tt_edit_add_once(struct tt_editor *maker, struct tt_tree_node *parent, enum tt_tree_space space,
                                      const char *local)
{
    struct tt_tree_node *found = tt_ssp_reader_find_child(parent, local);
    return found ? found : tt_edit_add(maker, parent, space, local);
}

void tt_edit_set(struct tt_editor *maker, struct tt_tree_node *node, const char *name, const char *value)
{
    if (!maker->failed && !tt_tree_set_attribute(maker->tree, node, name, value))
        maker->failed = true;
}

/* XML Schema writes what is no number in its own way. */
void tt_edit_set_number(struct tt_editor *maker, struct tt_tree_node *node, const char *name, double value)
{
    tt_edit_set(maker, node, name, isnan(value) ? "NaN" : isinf(value) ? value > 0 ? "INF" : "-INF" : NUMBER(value));
}

/* ---- settings ---- */

static struct tt_tree_node *edit_first_element(struct tt_tree_node *node)
{
    node = node->first;
    while (node && node->text)
        node = node->next;
    return node;
}

static struct tt_tree_node *edit_find_annotation(struct tt_tree_node *node)
{
    struct tt_tree_node *list = tt_ssp_reader_find_child(node, "Annotations");
    for (list = list ? tt_ssp_reader_find_child(list, "Annotation") : NULL; list;
         list = tt_ssp_reader_find_next(list, "Annotation")) {
        const char *type = tt_tree_find_attribute(list, "type");
        if (type && strcmp(type, TUTTI_ANNOTATION) == 0)
            return list;
    }
    return NULL;
}

struct tt_tree_node *tt_edit_add_settings(struct tt_editor *maker, struct tt_tree_node *node)
{
    struct tt_tree_node *experiment = tt_ssp_reader_find_child(node, "DefaultExperiment");
    struct tt_tree_node *annotation = edit_find_annotation(node), *settings;
    if (!annotation && experiment)
        annotation = edit_find_annotation(experiment);
    if (annotation && (settings = edit_first_element(annotation)))
        return settings;
    if (!annotation) {
        struct tt_tree_node *list = tt_edit_add_once(maker, node, TUTTI_SPACE_SSD, "Annotations");
        annotation = tt_edit_add(maker, list, TUTTI_SPACE_SSC, "Annotation");
        tt_edit_set(maker, annotation, "type", TUTTI_ANNOTATION);
    }
    settings = edit_add_node(maker, annotation, "tutti", "Settings");
    edit_declare(maker, settings, "tutti", SETTINGS_URI);
    return settings;
}
