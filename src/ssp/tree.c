/* SPDX-License-Identifier: MIT */
#include "ssp/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/xml.h"

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

const char *tutti_space_prefix(enum tutti_space space)
{
    return spaces[space].prefix;
}

const char *tutti_space_uri(enum tutti_space space)
{
    return spaces[space].uri;
}

static enum tutti_space space_of_uri(const char *uri)
{
    for (size_t i = TUTTI_SPACE_FOREIGN + 1; i < sizeof spaces / sizeof *spaces; i++)
        if (strcmp(spaces[i].uri, uri) == 0)
            return (enum tutti_space)i;
    return TUTTI_SPACE_FOREIGN;
}

/* The prefix that an attribute declares, "" for the default namespace, or NULL if it declares none. */
static const char *declared_prefix(const char *attribute)
{
    if (strncmp(attribute, "xmlns", 5) != 0)
        return NULL;
    return attribute[5] == ':' ? attribute + 6 : attribute[5] == '\0' ? "" : NULL;
}

static bool is_blank(const char *text, size_t n)
{
    for (; n && (*text == ' ' || *text == '\n' || *text == '\t' || *text == '\r'); text++)
        n--;
    return n == 0;
}

/* ---- reading ---- */

/* Element and attribute names are few and come often: each is stored once. */
struct name {
    const char *full, *local;
    const char *prefix; /* "" for none */
};

struct declaration {
    const char *prefix;
    enum tutti_space space;
    unsigned depth;
};

struct builder {
    struct tutti_tree *tree;
    struct tutti_node *node; /* the element that is open */
    unsigned depth;
    struct tutti_map map; /* name -> index in names */
    struct name *names;
    size_t name_count, name_room;
    struct declaration declarations[NAMESPACES];
    size_t declaration_count;
    struct tutti_text text;             /* since the last tag */
    unsigned loose_depth;               /* of the outermost element whose content is not SSP's; 0: in none */
    bool preserve[TUTTI_XML_DEPTH + 1]; /* by depth: xml:space="preserve" is in force */
};

/* Valid until the next call; NULL when memory is out. */
static const struct name *intern(struct builder *builder, const char *text)
{
    int64_t index = tutti_map_find(&builder->map, text);
    if (index != TUTTI_MAP_NONE)
        return &builder->names[index];
    if (builder->name_count == builder->name_room) {
        size_t room = builder->name_room ? 2 * builder->name_room : 64;
        struct name *names = reallocarray(builder->names, room, sizeof *names);
        if (!names)
            return NULL;
        builder->names = names;
        builder->name_room = room;
    }
    struct name *name = &builder->names[builder->name_count];
    const char *colon = strchr(text, ':');
    name->full = tutti_arena_text(&builder->tree->arena, text, strlen(text));
    name->prefix = colon ? tutti_arena_text(&builder->tree->arena, text, (size_t)(colon - text)) : "";
    if (!name->full || !name->prefix)
        return NULL;
    name->local = colon ? name->full + (colon - text) + 1 : name->full;
    if (tutti_map_add(&builder->map, name->full, (int64_t)builder->name_count, NULL) != TUTTI_OK)
        return NULL;
    builder->name_count++;
    return name;
}

/* Does the element hold what others fill in? That may be text and elements mixed, which SSP itself never has. */
static bool is_loose(const struct tutti_node *node)
{
    return node->space == TUTTI_SPACE_FOREIGN || strcmp(node->local, "Annotation") == 0 ||
           strcmp(node->local, "Content") == 0;
}

static void append(struct tutti_node *parent, struct tutti_node *node)
{
    node->parent = parent;
    if (parent->last)
        parent->last->next = node;
    else
        parent->first = node;
    parent->last = node;
}

static enum tutti_err flush_text(struct builder *builder)
{
    struct tutti_text *text = &builder->text;
    struct tutti_node *parent = builder->node;
    if (text->failed)
        return tutti_fail_memory();
    if (text->length == 0 || !parent)
        return TUTTI_OK;
    if (is_blank(text->text, text->length) && !builder->loose_depth && !builder->preserve[builder->depth]) {
        text->length = 0;
        return TUTTI_OK;
    }
    struct tutti_node *node = tutti_arena_alloc(&builder->tree->arena, sizeof *node);
    char *copy = tutti_arena_text(&builder->tree->arena, text->text, text->length);
    if (!node || !copy)
        return tutti_fail_memory();
    node->text = copy;
    append(parent, node);
    text->length = 0;
    return TUTTI_OK;
}

/* White space around elements where there is no other text is a matter of layout. */
static void drop_layout(struct tutti_node *node)
{
    bool elements = false;
    for (const struct tutti_node *child = node->first; child; child = child->next) {
        if (child->text && !is_blank(child->text, strlen(child->text)))
            return;
        elements |= !child->text;
    }
    if (!elements && (node->space == TUTTI_SPACE_FOREIGN || !is_loose(node)))
        return;
    struct tutti_node **link = &node->first;
    node->last = NULL;
    while (*link)
        if ((*link)->text) {
            *link = (*link)->next;
        } else {
            node->last = *link;
            link = &(*link)->next;
        }
}

static enum tutti_err declare(struct builder *builder, struct tutti_xml *xml, const char *prefix, const char *uri)
{
    if (builder->declaration_count == NAMESPACES)
        return tutti_xml_fail(xml, TUTTI_ERR_LIMIT, "more than %d namespaces are declared here at once", NAMESPACES);
    builder->declarations[builder->declaration_count++] =
        (struct declaration){prefix, space_of_uri(uri), builder->depth};
    return TUTTI_OK;
}

/* What is in an annotation is its tool's affair. */
static bool is_in_annotation(const struct tutti_node *node)
{
    while (node && strcmp(node->local, "Annotation") != 0)
        node = node->parent;
    return node != NULL;
}

static enum tutti_err resolve(struct builder *builder, struct tutti_xml *xml, const struct name *name,
                              enum tutti_space *space)
{
    for (size_t i = builder->declaration_count; i-- > 0;)
        if (strcmp(builder->declarations[i].prefix, name->prefix) == 0) {
            *space = builder->declarations[i].space;
            return TUTTI_OK;
        }
    *space = TUTTI_SPACE_FOREIGN;
    if (!*name->prefix || strcmp(name->prefix, "xml") == 0 || is_in_annotation(builder->node))
        return TUTTI_OK;
    return tutti_xml_fail(xml, TUTTI_ERR_FORMAT, "<%.100s>: the prefix \"%.100s\" is not declared; add xmlns:%.100s",
                          name->full, name->prefix, name->prefix);
}

/* Arrays of attributes have room for a power of two, so that tutti_node_set knows when one is full. */
static unsigned attribute_room(unsigned count)
{
    unsigned room = 1;
    while (room < count)
        room *= 2;
    return room;
}

static enum tutti_err read_attributes(struct builder *builder, struct tutti_xml *xml, struct tutti_node *node,
                                      const char **attributes)
{
    unsigned count = 0;
    while (attributes[2 * count])
        count++;
    if (count == 0)
        return TUTTI_OK;
    struct tutti_arena *arena = &builder->tree->arena;
    node->attributes = tutti_arena_array(arena, attribute_room(count), sizeof *node->attributes);
    if (!node->attributes)
        return tutti_fail_memory();
    for (unsigned i = 0; i < count; i++) {
        const struct name *name = intern(builder, attributes[2 * i]);
        const char *value = tutti_arena_text(arena, attributes[2 * i + 1], strlen(attributes[2 * i + 1]));
        if (!name || !value)
            return tutti_fail_memory();
        node->attributes[i] = (struct tutti_attribute){name->full, value};
        node->attribute_count++;
        const char *prefix = declared_prefix(name->full);
        if (prefix)
            TRY(declare(builder, xml, prefix, value));
        else if (strcmp(name->full, "xml:space") == 0)
            builder->preserve[builder->depth] = strcmp(value, "preserve") == 0;
    }
    return TUTTI_OK;
}

static enum tutti_err on_start(void *context, struct tutti_xml *xml, const char *tag, const char **attributes)
{
    struct builder *builder = context;
    TRY(flush_text(builder));
    if (builder->tree->arena.total > TREE_BYTES)
        return tutti_xml_fail(xml, TUTTI_ERR_LIMIT, "reading it would take more than %zu MiB", TREE_BYTES >> 20);
    struct tutti_node *node = tutti_arena_alloc(&builder->tree->arena, sizeof *node);
    if (!node)
        return tutti_fail_memory();
    builder->depth++;
    builder->preserve[builder->depth] = builder->preserve[builder->depth - 1];
    tutti_xml_want_text(xml, true);
    TRY(read_attributes(builder, xml, node, attributes));
    const struct name *name = intern(builder, tag);
    if (!name)
        return tutti_fail_memory();
    TRY(resolve(builder, xml, name, &node->space));
    node->name = name->full;
    node->local = name->local;
    node->line = tutti_xml_line(xml);
    node->number = ++builder->tree->count;
    if (builder->node)
        append(builder->node, node);
    else
        builder->tree->root = node;
    builder->node = node;
    if (!builder->loose_depth && is_loose(node))
        builder->loose_depth = builder->depth;
    return TUTTI_OK;
}

static enum tutti_err on_end(void *context, struct tutti_xml *xml)
{
    struct builder *builder = context;
    (void)xml;
    TRY(flush_text(builder));
    struct tutti_node *node = builder->node;
    if (builder->loose_depth && !builder->preserve[builder->depth])
        drop_layout(node);
    if (builder->loose_depth == builder->depth)
        builder->loose_depth = 0;
    while (builder->declaration_count && builder->declarations[builder->declaration_count - 1].depth == builder->depth)
        builder->declaration_count--;
    builder->depth--;
    builder->node = node->parent;
    return TUTTI_OK;
}

static enum tutti_err on_text(void *context, struct tutti_xml *xml, const char *text, size_t n)
{
    struct builder *builder = context;
    if (builder->text.length + n > TUTTI_XML_TAG)
        return tutti_xml_fail(xml, TUTTI_ERR_LIMIT, "a text larger than %d MiB", TUTTI_XML_TAG / (1024 * 1024));
    tutti_text_append_n(&builder->text, text, n);
    return builder->text.failed ? tutti_fail_memory() : TUTTI_OK;
}

/* A reader that keeps what it reads. */
struct copying {
    struct tutti_reader *reader;
    struct tutti_text *copy;
};

static enum tutti_err read_copying(void *context, void *buffer, size_t size, size_t *got)
{
    struct copying *copying = context;
    TRY(copying->reader->read(copying->reader->context, buffer, size, got));
    tutti_text_append_n(copying->copy, buffer, *got);
    return copying->copy->failed ? tutti_fail_memory() : TUTTI_OK;
}

enum tutti_err tutti_tree_read(struct tutti_tree **out, const char *file, struct tutti_reader *reader)
{
    static const struct tutti_xml_handlers handlers = {.start = on_start, .end = on_end, .text = on_text};
    *out = NULL;
    struct builder *builder = calloc(1, sizeof *builder);
    struct tutti_tree *tree = calloc(1, sizeof *tree);
    if (tree)
        tree->file = tutti_arena_text(&tree->arena, file, strlen(file));
    if (!builder || !tree || !tree->file) {
        free(builder);
        tutti_tree_free(tree);
        return tutti_fail_memory();
    }
    builder->tree = tree;
    struct copying copying = {reader, &tree->source};
    enum tutti_err err = tutti_xml_read(tree->file, &(struct tutti_reader){read_copying, &copying}, &handlers, builder);
    tutti_map_fini(&builder->map);
    tutti_text_fini(&builder->text);
    free(builder->names);
    free(builder);
    if (err == TUTTI_OK)
        *out = tree;
    else
        tutti_tree_free(tree);
    return err;
}

void tutti_tree_free(struct tutti_tree *tree)
{
    if (!tree)
        return;
    tutti_text_fini(&tree->source);
    tutti_arena_fini(&tree->arena);
    free(tree);
}

/* ---- looking ---- */

static struct tutti_node *find_from(struct tutti_node *node, enum tutti_space space, const char *local)
{
    for (; node; node = node->next)
        if (!node->text && node->space == space && strcmp(node->local, local) == 0)
            return node;
    return NULL;
}

struct tutti_node *tutti_node_child(const struct tutti_node *node, enum tutti_space space, const char *local)
{
    return find_from(node->first, space, local);
}

struct tutti_node *tutti_node_next(const struct tutti_node *node, enum tutti_space space, const char *local)
{
    return find_from(node->next, space, local);
}

const char *tutti_node_attribute(const struct tutti_node *node, const char *name)
{
    for (unsigned i = 0; i < node->attribute_count; i++)
        if (strcmp(node->attributes[i].name, name) == 0)
            return node->attributes[i].value;
    return NULL;
}

/* ---- changing ---- */

static void resolve_from_parents(struct tutti_node *node)
{
    size_t length = (size_t)(node->local - node->name);
    length -= length > 0; /* the colon */
    node->space = TUTTI_SPACE_FOREIGN;
    for (const struct tutti_node *at = node; at; at = at->parent)
        for (unsigned i = 0; i < at->attribute_count; i++) {
            const char *prefix = declared_prefix(at->attributes[i].name);
            if (prefix && strncmp(prefix, node->name, length) == 0 && prefix[length] == '\0') {
                node->space = space_of_uri(at->attributes[i].value);
                return;
            }
        }
}

struct tutti_node *tutti_node_add(struct tutti_tree *tree, struct tutti_node *parent, const char *name)
{
    struct tutti_node *node = tutti_arena_alloc(&tree->arena, sizeof *node);
    char *copy = tutti_arena_text(&tree->arena, name, strlen(name));
    if (!node || !copy)
        return NULL;
    char *colon = strchr(copy, ':');
    node->name = copy;
    node->local = colon ? colon + 1 : copy;
    if (parent)
        append(parent, node);
    else
        tree->root = node;
    resolve_from_parents(node);
    return node;
}

/* A declaration was changed: it counts for all elements inside. */
static void resolve_again(struct tutti_node *top)
{
    for (struct tutti_node *node = top; node;) {
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

bool tutti_node_set(struct tutti_tree *tree, struct tutti_node *node, const char *name, const char *value)
{
    char *copy = tutti_arena_text(&tree->arena, value, strlen(value));
    if (!copy)
        return false;
    unsigned i = 0, count = node->attribute_count;
    while (i < count && strcmp(node->attributes[i].name, name) != 0)
        i++;
    if (i < count) {
        node->attributes[i].value = copy;
    } else {
        char *own_name = tutti_arena_text(&tree->arena, name, strlen(name));
        if (!own_name)
            return false;
        if (count == 0 || attribute_room(count) == count) {
            struct tutti_attribute *larger = tutti_arena_array(&tree->arena, attribute_room(count + 1), sizeof *larger);
            if (!larger)
                return false;
            if (count)
                memcpy(larger, node->attributes, count * sizeof *larger);
            node->attributes = larger;
        }
        node->attributes[node->attribute_count++] = (struct tutti_attribute){own_name, copy};
    }
    if (declared_prefix(name))
        resolve_again(node);
    return true;
}

void tutti_node_remove(struct tutti_node *node)
{
    struct tutti_node *parent = node->parent, *before = NULL;
    if (!parent)
        return;
    for (struct tutti_node *at = parent->first; at != node; at = at->next)
        before = at;
    if (before)
        before->next = node->next;
    else
        parent->first = node->next;
    if (parent->last == node)
        parent->last = before;
    node->parent = node->next = NULL;
}

void tutti_node_move(struct tutti_node *node, struct tutti_node *parent)
{
    tutti_node_remove(node);
    append(parent, node);
}
