/* SPDX-License-Identifier: MIT */
#include "ssp/make.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "ssp/parts.h"

#define SETTINGS_URI "https://tutti.dev/ssp"

struct tutti_tree *tutti_tree_new(const char *file)
{
    struct tutti_tree *tree = calloc(1, sizeof *tree);
    if (tree)
        tree->file = tutti_arena_text(&tree->arena, file, strlen(file));
    if (tree && tree->file)
        return tree;
    tutti_tree_free(tree);
    return NULL;
}

/* ---- prefixes ---- */

static const char *declared(const struct tutti_attribute *attribute)
{
    if (strncmp(attribute->name, "xmlns", 5) != 0)
        return NULL;
    return attribute->name[5] == ':' ? attribute->name + 6 : attribute->name[5] == '\0' ? "" : NULL;
}

static const char *uri_of_prefix(const struct tutti_node *node, const char *prefix)
{
    for (; node; node = node->parent)
        for (unsigned i = 0; i < node->attribute_count; i++) {
            const char *name = declared(&node->attributes[i]);
            if (name && strcmp(name, prefix) == 0)
                return node->attributes[i].value;
        }
    return "";
}

/* A prefix that means `uri` at this place, or NULL. One that is declared and then declared anew means the other thing. */
static const char *prefix_of_uri(const struct tutti_node *place, const char *uri)
{
    for (const struct tutti_node *node = place; node; node = node->parent)
        for (unsigned i = 0; i < node->attribute_count; i++) {
            const char *prefix = declared(&node->attributes[i]);
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

static size_t rank(const struct tutti_node *node)
{
    size_t i = 0, count = sizeof order / sizeof *order;
    while (i < count && (node->text || strcmp(node->local, order[i]) != 0))
        i++;
    return i < count ? i + 1 : 0;
}

/* Moves the last child to where it belongs. Children of an equal rank, or of none, keep their order. */
static void put_in_order(struct tutti_node *parent, struct tutti_node *node)
{
    size_t own = rank(node);
    if (own == 0 || parent->first == node)
        return;
    struct tutti_node *before = NULL;
    for (struct tutti_node *child = parent->first; child != node && rank(child) <= own; child = child->next)
        before = child;
    if (before && before->next == node)
        return;
    tutti_node_remove(node);
    node->parent = parent;
    node->next = before ? before->next : parent->first;
    *(before ? &before->next : &parent->first) = node;
}

/* ---- elements ---- */

static struct tutti_node *add(struct tutti_maker *maker, struct tutti_node *parent, const char *prefix,
                              const char *local)
{
    struct tutti_text name = {0};
    tutti_text_printf(&name, "%s%s%s", prefix, *prefix ? ":" : "", local);
    struct tutti_node *node = name.failed || maker->failed ? NULL : tutti_node_add(maker->tree, parent, name.text);
    tutti_text_fini(&name);
    if (node)
        return node;
    maker->failed = true;
    maker->spare = (struct tutti_node){.name = "", .local = ""};
    return &maker->spare;
}

static void declare(struct tutti_maker *maker, struct tutti_node *node, const char *prefix, const char *uri)
{
    struct tutti_text name = {0};
    tutti_text_printf(&name, "xmlns:%s", prefix);
    if (name.failed)
        maker->failed = true;
    else
        tutti_make_set(maker, node, name.text, uri);
    tutti_text_fini(&name);
}

struct tutti_node *tutti_make_root(struct tutti_maker *maker, const char *local, const enum tutti_space *spaces,
                                   size_t count)
{
    struct tutti_node *node = add(maker, NULL, tutti_space_prefix(spaces[0]), local);
    for (size_t i = 0; i < count; i++)
        declare(maker, node, tutti_space_prefix(spaces[i]), tutti_space_uri(spaces[i]));
    return node;
}

struct tutti_node *tutti_make(struct tutti_maker *maker, struct tutti_node *parent, enum tutti_space space,
                              const char *local)
{
    const char *prefix = prefix_of_uri(parent, tutti_space_uri(space));
    struct tutti_node *node = add(maker, parent, prefix ? prefix : tutti_space_prefix(space), local);
    if (!prefix)
        declare(maker, node, tutti_space_prefix(space), tutti_space_uri(space));
    if (node != &maker->spare)
        put_in_order(parent, node);
    return node;
}

struct tutti_node *tutti_make_once(struct tutti_maker *maker, struct tutti_node *parent, enum tutti_space space,
                                   const char *local)
{
    struct tutti_node *found = tutti_parts_child(parent, local);
    return found ? found : tutti_make(maker, parent, space, local);
}

void tutti_make_set(struct tutti_maker *maker, struct tutti_node *node, const char *name, const char *value)
{
    if (!maker->failed && !tutti_node_set(maker->tree, node, name, value))
        maker->failed = true;
}

/* XML Schema writes what is no number in its own way. */
void tutti_make_number(struct tutti_maker *maker, struct tutti_node *node, const char *name, double value)
{
    tutti_make_set(maker, node, name, isnan(value) ? "NaN" : isinf(value) ? value > 0 ? "INF" : "-INF" : NUMBER(value));
}

/* ---- settings ---- */

static struct tutti_node *first_element(struct tutti_node *node)
{
    node = node->first;
    while (node && node->text)
        node = node->next;
    return node;
}

static struct tutti_node *find_annotation(struct tutti_node *node)
{
    struct tutti_node *list = tutti_parts_child(node, "Annotations");
    for (list = list ? tutti_parts_child(list, "Annotation") : NULL; list;
         list = tutti_parts_next(list, "Annotation")) {
        const char *type = tutti_node_attribute(list, "type");
        if (type && strcmp(type, TUTTI_ANNOTATION) == 0)
            return list;
    }
    return NULL;
}

struct tutti_node *tutti_make_settings(struct tutti_maker *maker, struct tutti_node *node)
{
    struct tutti_node *experiment = tutti_parts_child(node, "DefaultExperiment");
    struct tutti_node *annotation = find_annotation(node), *settings;
    if (!annotation && experiment)
        annotation = find_annotation(experiment);
    if (annotation && (settings = first_element(annotation)))
        return settings;
    if (!annotation) {
        struct tutti_node *list = tutti_make_once(maker, node, TUTTI_SPACE_SSD, "Annotations");
        annotation = tutti_make(maker, list, TUTTI_SPACE_SSC, "Annotation");
        tutti_make_set(maker, annotation, "type", TUTTI_ANNOTATION);
    }
    settings = add(maker, annotation, "tutti", "Settings");
    declare(maker, settings, "tutti", SETTINGS_URI);
    return settings;
}
