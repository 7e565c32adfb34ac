/* SPDX-License-Identifier: MIT */
#include "model/ssp/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/xml.h"
#include "base/vector.h"

/* NAMESPACES: declarations in scope; every element looks through them. TREE_BYTES: a system of some million parts. */
enum { NAMESPACES = 64 };
#define TREE_BYTES ((size_t)1 << 30)

static const struct {
    const char *prefix, *uri;
} spaces[] = {
    [TUTTI_SPACE_FOREIGN] = {"foreign", ""},
    [TUTTI_SPACE_SSD] = {"ssd", "http://ssp-standard.org/SSP1/SystemStructureDescription"},
    [TUTTI_SPACE_SSC] = {"ssc", "http://ssp-standard.org/SSP1/SystemStructureCommon"},
    [TUTTI_SPACE_SSV] = {"ssv", "http://ssp-standard.org/SSP1/SystemStructureParameterValues"},
    [TUTTI_SPACE_SSM] = {"ssm", "http://ssp-standard.org/SSP1/SystemStructureParameterMapping"},
    [TUTTI_SPACE_SSB] = {"ssb", "http://ssp-standard.org/SSP1/SystemStructureSignalDictionary"},
};

const char *tt_tree_space_prefix(enum tt_tree_space space)
{
    return spaces[space].prefix;
}

const char *tt_tree_space_uri(enum tt_tree_space space)
{
    return spaces[space].uri;
}

static enum tt_tree_space tree_space_of_uri(const char *uri)
{
    for (size_t i = TUTTI_SPACE_FOREIGN + 1; i < sizeof spaces / sizeof *spaces; i++)
        if (strcmp(spaces[i].uri, uri) == 0)
            return (enum tt_tree_space)i;
    return TUTTI_SPACE_FOREIGN;
}

/* The prefix that an attribute declares, "" for the default namespace, or NULL if it declares none. */
static const char *declared_prefix(const char *attribute)
{
    if (strncmp(attribute, "xmlns", 5) != 0)
        return NULL;
    return attribute[5] == ':' ? attribute + 6 : attribute[5] == '\0' ? "" : NULL;
}

static bool tree_is_blank(const char *text, size_t n)
{
    for (; n && (*text == ' ' || *text == '\n' || *text == '\t' || *text == '\r'); text++)
        n--;
    return n == 0;
}

/* ---- reading ---- */

/* Element and attribute names are few and come often: each is stored once. */
struct qualified_name {
    const char *full, *local;
    const char *prefix; /* "" for none */
};

struct prefix_declaration {
    const char *prefix;
    enum tt_tree_space space;
    unsigned depth;
};

struct tree_builder {
    struct tt_tree *tree;
    struct tt_tree_node *node; /* the element that is open */
    unsigned depth;
    struct tt_map map; /* name -> index in names */
    struct qualified_name *names;
    size_t name_count, name_room;
    struct prefix_declaration declarations[NAMESPACES];
    size_t declaration_count;
    struct tt_text text;                /* since the last tag */
    unsigned loose_depth;               /* depth of the outermost element with foreign content; 0: none */
    bool preserve[TUTTI_XML_DEPTH + 1]; /* by depth: xml:space="preserve" is in force */
};

/* Valid until the next call; NULL when memory is out. */
static const struct qualified_name *tree_intern(struct tree_builder *builder, const char *text)
{
    int64_t index = tt_map_find(&builder->map, text);
    if (index != TUTTI_MAP_NONE)
        return &builder->names[index];
    if (!tt_vector_reserve(&builder->names, &builder->name_room, builder->name_count + 1, sizeof *builder->names))
        return NULL;
    struct qualified_name *name = &builder->names[builder->name_count];
    const char *colon = strchr(text, ':');
    name->full = tt_arena_copy_text(&builder->tree->arena, text, strlen(text));
    name->prefix = colon ? tt_arena_copy_text(&builder->tree->arena, text, (size_t)(colon - text)) : "";
    if (!name->full || !name->prefix)
        return NULL;
    name->local = colon ? name->full + (colon - text) + 1 : name->full;
    if (tt_map_add(&builder->map, name->full, (int64_t)builder->name_count, NULL) != TUTTI_OK)
        return NULL;
    builder->name_count++;
    return name;
}

/* Returns true for elements with foreign content, which may mix text and elements, as SSP itself never does. */
static bool holds_foreign_content(const struct tt_tree_node *node)
{
    return node->space == TUTTI_SPACE_FOREIGN || strcmp(node->local, "Annotation") == 0 ||
           strcmp(node->local, "Content") == 0;
}

static void tree_append(struct tt_tree_node *parent, struct tt_tree_node *node)
{
    node->parent = parent;
    if (parent->last)
        parent->last->next = node;
    else
        parent->first = node;
    parent->last = node;
}

static enum tutti_err tree_flush_text(struct tree_builder *builder)
{
    struct tt_text *text = &builder->text;
    struct tt_tree_node *parent = builder->node;
    if (text->failed)
        return tt_fail_memory();
    if (text->length == 0 || !parent)
        return TUTTI_OK;
    if (tree_is_blank(text->text, text->length) && !builder->loose_depth && !builder->preserve[builder->depth]) {
        text->length = 0;
        return TUTTI_OK;
    }
    struct tt_tree_node *node = tt_arena_alloc(&builder->tree->arena, sizeof *node);
    char *copy = tt_arena_copy_text(&builder->tree->arena, text->text, text->length);
    if (!node || !copy)
        return tt_fail_memory();
    node->text = copy;
    tree_append(parent, node);
    text->length = 0;
    return TUTTI_OK;
}

/* White space around elements without other text is layout only. */
static void tree_drop_blanks(struct tt_tree_node *node)
{
    bool elements = false;
    for (const struct tt_tree_node *child = node->first; child; child = child->next) {
        if (child->text && !tree_is_blank(child->text, strlen(child->text)))
            return;
        elements |= !child->text;
    }
    if (!elements && (node->space == TUTTI_SPACE_FOREIGN || !holds_foreign_content(node)))
        return;
    struct tt_tree_node **link = &node->first;
    node->last = NULL;
    while (*link)
        if ((*link)->text) {
            *link = (*link)->next;
        } else {
            node->last = *link;
            link = &(*link)->next;
        }
}

static enum tutti_err tree_resolve(struct tree_builder *builder, struct tt_xml *xml, const struct qualified_name *name,
                                   enum tt_tree_space *space)
{
    for (size_t i = builder->declaration_count; i-- > 0;)
        if (strcmp(builder->declarations[i].prefix, name->prefix) == 0) {
            *space = builder->declarations[i].space;
            return TUTTI_OK;
        }
    *space = TUTTI_SPACE_FOREIGN;
    if (!*name->prefix || strcmp(name->prefix, "xml") == 0)
        return TUTTI_OK;

    /* The content of an annotation belongs to the tool that wrote it. */
    for (const struct tt_tree_node *node = builder->node; node; node = node->parent)
        if (strcmp(node->local, "Annotation") == 0)
            return TUTTI_OK;
    return tt_xml_fail(xml, TUTTI_ERR_FORMAT, "<%.100s>: the prefix \"%.100s\" is not declared; add xmlns:%.100s",
                       name->full, name->prefix, name->prefix);
}

/* Arrays of attributes have room for a power of two, which tells tt_tree_set_attribute when one is full. */
static unsigned tree_attribute_room(unsigned count)
{
    unsigned room = 1;
    while (room < count)
        room *= 2;
    return room;
}

static enum tutti_err tree_read_attributes(struct tree_builder *builder, struct tt_xml *xml, struct tt_tree_node *node,
                                           const char **attributes)
{
    unsigned count = 0;
    while (attributes[2 * count])
        count++;
    if (count == 0)
        return TUTTI_OK;
    struct tt_arena *arena = &builder->tree->arena;
    node->attributes = tt_arena_array(arena, tree_attribute_room(count), sizeof *node->attributes);
    if (!node->attributes)
        return tt_fail_memory();
    for (unsigned i = 0; i < count; i++) {
        const struct qualified_name *name = tree_intern(builder, attributes[2 * i]);
        const char *value = tt_arena_copy_text(arena, attributes[2 * i + 1], strlen(attributes[2 * i + 1]));
        if (!name || !value)
            return tt_fail_memory();
        node->attributes[i] = (struct tt_tree_attribute){name->full, value};
        node->attribute_count++;
        const char *prefix = declared_prefix(name->full);
        if (prefix) {
            if (builder->declaration_count == NAMESPACES)
                return tt_xml_fail(xml, TUTTI_ERR_LIMIT, "more than %d namespaces are declared here at once",
                                   NAMESPACES);
            builder->declarations[builder->declaration_count++] =
                (struct prefix_declaration){prefix, tree_space_of_uri(value), builder->depth};
        } else if (strcmp(name->full, "xml:space") == 0)
            builder->preserve[builder->depth] = strcmp(value, "preserve") == 0;
    }
    return TUTTI_OK;
}

static enum tutti_err tree_on_start(void *context, struct tt_xml *xml, const char *tag, const char **attributes)
{
    struct tree_builder *builder = context;
    TRY(tree_flush_text(builder));
    if (builder->tree->arena.total > TREE_BYTES)
        return tt_xml_fail(xml, TUTTI_ERR_LIMIT, "reading it would take more than %zu MiB", TREE_BYTES >> 20);
    struct tt_tree_node *node = tt_arena_alloc(&builder->tree->arena, sizeof *node);
    if (!node)
        return tt_fail_memory();
    builder->depth++;
    builder->preserve[builder->depth] = builder->preserve[builder->depth - 1];
    tt_xml_enable_text(xml, true);
    TRY(tree_read_attributes(builder, xml, node, attributes));
    const struct qualified_name *name = tree_intern(builder, tag);
    if (!name)
        return tt_fail_memory();
    TRY(tree_resolve(builder, xml, name, &node->space));
    node->name = name->full;
    node->local = name->local;
    node->line = tt_xml_line(xml);
    node->number = ++builder->tree->count;
    if (builder->node)
        tree_append(builder->node, node);
    else
        builder->tree->root = node;
    builder->node = node;
    if (!builder->loose_depth && holds_foreign_content(node))
        builder->loose_depth = builder->depth;
    return TUTTI_OK;
}

static enum tutti_err tree_on_end(void *context, struct tt_xml *xml)
{
    struct tree_builder *builder = context;
    (void)xml;
    TRY(tree_flush_text(builder));
    struct tt_tree_node *node = builder->node;
    if (builder->loose_depth && !builder->preserve[builder->depth])
        tree_drop_blanks(node);
    if (builder->loose_depth == builder->depth)
        builder->loose_depth = 0;
    while (builder->declaration_count && builder->declarations[builder->declaration_count - 1].depth == builder->depth)
        builder->declaration_count--;
    builder->depth--;
    builder->node = node->parent;
    return TUTTI_OK;
}

static enum tutti_err tree_on_text(void *context, struct tt_xml *xml, const char *text, size_t n)
{
    struct tree_builder *builder = context;
    if (builder->text.length + n > TUTTI_XML_TAG)
        return tt_xml_fail(xml, TUTTI_ERR_LIMIT, "a text larger than %d MiB", TUTTI_XML_TAG / (1024 * 1024));
    tt_text_append_n(&builder->text, text, n);
    return builder->text.failed ? tt_fail_memory() : TUTTI_OK;
}

/* A reader that keeps what it reads. */
struct copying_reader {
    struct tt_byte_source *reader;
    struct tt_text *copy;
};

static enum tutti_err tree_read_copying(void *context, void *buffer, size_t size, size_t *got)
{
    struct copying_reader *copying = context;
    TRY(copying->reader->read(copying->reader->context, buffer, size, got));
    tt_text_append_n(copying->copy, buffer, *got);
    return copying->copy->failed ? tt_fail_memory() : TUTTI_OK;
}

enum tutti_err tt_tree_read(struct tt_tree **out, const char *file, struct tt_byte_source *reader)
{
    static const struct tt_xml_handlers handlers = {.start = tree_on_start, .end = tree_on_end, .text = tree_on_text};
    *out = NULL;
    struct tree_builder *builder = calloc(1, sizeof *builder);
    struct tt_tree *tree = calloc(1, sizeof *tree);
    if (tree)
        tree->file = tt_arena_copy_text(&tree->arena, file, strlen(file));
    if (!builder || !tree || !tree->file) {
        free(builder);
        tt_tree_free(tree);
        return tt_fail_memory();
    }
    builder->tree = tree;
    struct copying_reader copying = {reader, &tree->source};
    enum tutti_err err =
        tt_xml_read(tree->file, &(struct tt_byte_source){tree_read_copying, &copying}, &handlers, builder);
    tt_map_fini(&builder->map);
    tt_text_fini(&builder->text);
    free(builder->names);
    free(builder);
    if (err == TUTTI_OK)
        *out = tree;
    else
        tt_tree_free(tree);
    return err;
}

void tt_tree_free(struct tt_tree *tree)
{
    if (!tree)
        return;
    tt_text_fini(&tree->source);
    tt_arena_fini(&tree->arena);
    free(tree);
}

/* ---- looking ---- */

static struct tt_tree_node *tree_find_from(struct tt_tree_node *node, enum tt_tree_space space, const char *local)
{
    for (; node; node = node->next)
        if (!node->text && node->space == space && strcmp(node->local, local) == 0)
            return node;
    return NULL;
}

struct tt_tree_node *tt_tree_find_child(const struct tt_tree_node *node, enum tt_tree_space space, const char *local)
{
    return tree_find_from(node->first, space, local);
}

struct tt_tree_node *tt_tree_find_next(const struct tt_tree_node *node, enum tt_tree_space space, const char *local)
{
    return tree_find_from(node->next, space, local);
}

const char *tt_tree_find_attribute(const struct tt_tree_node *node, const char *name)
{
    for (unsigned i = 0; i < node->attribute_count; i++)
        if (strcmp(node->attributes[i].name, name) == 0)
            return node->attributes[i].value;
    return NULL;
}

/* ---- changing ---- */

static void resolve_from_parents(struct tt_tree_node *node)
{
    size_t length = (size_t)(node->local - node->name);
    length -= length > 0; /* the colon */
    node->space = TUTTI_SPACE_FOREIGN;
    for (const struct tt_tree_node *at = node; at; at = at->parent)
        for (unsigned i = 0; i < at->attribute_count; i++) {
            const char *prefix = declared_prefix(at->attributes[i].name);
            if (prefix && strncmp(prefix, node->name, length) == 0 && prefix[length] == '\0') {
                node->space = tree_space_of_uri(at->attributes[i].value);
                return;
            }
        }
}

struct tt_tree_node *tt_tree_add_node(struct tt_tree *tree, struct tt_tree_node *parent, const char *name)
{
    struct tt_tree_node *node = tt_arena_alloc(&tree->arena, sizeof *node);
    char *copy = tt_arena_copy_text(&tree->arena, name, strlen(name));
    if (!node || !copy)
        return NULL;
    char *colon = strchr(copy, ':');
    node->name = copy;
    node->local = colon ? colon + 1 : copy;
    if (parent)
        tree_append(parent, node);
    else
        tree->root = node;
    resolve_from_parents(node);
    return node;
}

/* A declaration was changed: it counts for all elements inside. */
static void resolve_descendants(struct tt_tree_node *top)
{
    for (struct tt_tree_node *node = top; node;) {
        if (!node->text)
            resolve_from_parents(node);
        if (node->first) {
            node = node->first;
            continue;
        }
        while (node != top && !node->next)
            node = node->parent;
        node = node == top ? NULL : node->next;
    }
}

bool tt_tree_set_attribute(struct tt_tree *tree, struct tt_tree_node *node, const char *name, const char *value)
{
    char *copy = tt_arena_copy_text(&tree->arena, value, strlen(value));
    if (!copy)
        return false;
    unsigned i = 0, count = node->attribute_count;
    while (i < count && strcmp(node->attributes[i].name, name) != 0)
        i++;
    if (i < count) {
        node->attributes[i].value = copy;
    } else {
        char *own_name = tt_arena_copy_text(&tree->arena, name, strlen(name));
        if (!own_name)
            return false;
        if (count == 0 || tree_attribute_room(count) == count) {
            struct tt_tree_attribute *larger =
                tt_arena_array(&tree->arena, tree_attribute_room(count + 1), sizeof *larger);
            if (!larger)
                return false;
            if (count)
                memcpy(larger, node->attributes, count * sizeof *larger);
            node->attributes = larger;
        }
        node->attributes[node->attribute_count++] = (struct tt_tree_attribute){own_name, copy};
    }
    if (declared_prefix(name))
        resolve_descendants(node);
    return true;
}

void tt_tree_remove_node(struct tt_tree_node *node)
{
    struct tt_tree_node *parent = node->parent, *before = NULL;
    if (!parent)
        return;
    for (struct tt_tree_node *at = parent->first; at != node; at = at->next)
        before = at;
    if (before)
        before->next = node->next;
    else
        parent->first = node->next;
    if (parent->last == node)
        parent->last = before;
    node->parent = node->next = NULL;
}

void tt_tree_move_node(struct tt_tree_node *node, struct tt_tree_node *parent)
{
    tt_tree_remove_node(node);
    tree_append(parent, node);
}
