/* SPDX-License-Identifier: MIT */
#include "model/ssp/edit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/xml.h"
#include "model/ssp/ssp_reader.h"
#include "model/ssp/tree.h"

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

/* Returns a prefix bound to `uri` at this node, or NULL. A prefix that an inner element rebinds does not count. */
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

/* XML Schema has its own spelling of non-finite numbers. */
void tt_edit_set_number(struct tt_editor *maker, struct tt_tree_node *node, const char *name, double value)
{
    tt_edit_set(maker, node, name, isnan(value) ? "NaN" : isinf(value) ? value > 0 ? "INF" : "-INF" : NUMBER(value));
}

/* ---- settings ---- */

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
    if (annotation) {
        settings = annotation->first;
        while (settings && settings->text)
            settings = settings->next;
        if (settings)
            return settings;
    }
    if (!annotation) {
        struct tt_tree_node *list = tt_edit_add_once(maker, node, TUTTI_SPACE_SSD, "Annotations");
        annotation = tt_edit_add(maker, list, TUTTI_SPACE_SSC, "Annotation");
        tt_edit_set(maker, annotation, "type", TUTTI_ANNOTATION);
    }
    settings = edit_add_node(maker, annotation, "tutti", "Settings");
    edit_declare(maker, settings, "tutti", SETTINGS_URI);
    return settings;
}

/* Writes a document that was read and changed as its original text with changes in place.
 *
 * The text is read again: elements of both trees, and their positions in the text, are matched by number. Equal parts
 * are copied. Finally the new text is read, too: if it does not equal the tree, it is discarded, and the whole tree is
 * written as a new document. */

/* Places in the text: of an element without content all but the first are its end. */
struct element_span {
    size_t begin, tag_end, close, end;
};

struct document_patch {
    const char *source;
    size_t size;
    struct element_span *spans;        /* by number */
    const struct tt_tree_node **nodes; /* as they were read; by number */
    unsigned count;
    struct tt_text *out;
};

/* ---- places ---- */

static bool edit_starts_with(const struct document_patch *patch, size_t at, const char *text)
{
    size_t length = strlen(text);
    return patch->size - at >= length && memcmp(patch->source + at, text, length) == 0;
}

/* Returns the offset after the next `text`; 0 if there is none. */
static size_t edit_skip_past(const struct document_patch *patch, size_t at, const char *text)
{
    for (; at < patch->size; at++)
        if (edit_starts_with(patch, at, text))
            return at + strlen(text);
    return 0;
}

/* After a tag, in which quotes hide what is in them. */
static size_t edit_skip_tag(const struct document_patch *patch, size_t at)
{
    char quote = '\0';
    for (; at < patch->size; at++) {
        char c = patch->source[at];
        if (quote ? c == quote : c == '"' || c == '\'')
            quote = quote ? '\0' : c;
        else if (!quote && c == '>')
            return at + 1;
    }
    return 0;
}

static size_t edit_find_tag(struct document_patch *patch, size_t at, unsigned *found, unsigned *open)
{
    bool closes = edit_starts_with(patch, at, "</");
    size_t end = edit_skip_tag(patch, at);
    if (!end || (closes && *open == 0) || (!closes && *found == patch->count))
        return 0;
    if (closes) {
        patch->spans[*open].close = at;
        patch->spans[*open].end = end;
        const struct tt_tree_node *parent = patch->nodes[*open]->parent;
        *open = parent ? parent->number : 0; /* 0: the end tag of the root */
        return end;
    }
    patch->spans[++*found] = (struct element_span){at, end, end, end};
    if (patch->source[end - 2] != '/')
        *open = *found;
    return end;
}

/* False if the tags of the text do not match the tree, or if it has unsupported constructs. */
static bool edit_find_spans(struct document_patch *patch)
{
    unsigned found = 0, open = 0;
    for (size_t at = 0; at < patch->size;) {
        if (patch->source[at] != '<') {
            at++;
            continue;
        }
        at = edit_starts_with(patch, at, "<!--")        ? edit_skip_past(patch, at + 4, "-->")
             : edit_starts_with(patch, at, "<![CDATA[") ? edit_skip_past(patch, at, "]]>")
             : edit_starts_with(patch, at, "<?")        ? edit_skip_past(patch, at, "?>")
             : edit_starts_with(patch, at, "<!")        ? 0
                                                        : edit_find_tag(patch, at, &found, &open);
        if (at == 0)
            return false;
    }
    return found == patch->count && open == 0;
}

/* Returns the next element in document order: a child, or the element that follows. */
static const struct tt_tree_node *edit_next_element(const struct tt_tree_node *node)
{
    if (node->first)
        return node->first;
    while (node && !node->next)
        node = node->parent;
    return node ? node->next : NULL;
}

/* ---- what is the same ---- */

static bool edit_is_same_tag(const struct tt_tree_node *a, const struct tt_tree_node *b)
{
    if (strcmp(a->name, b->name) != 0 || a->attribute_count != b->attribute_count)
        return false;
    for (unsigned i = 0; i < a->attribute_count; i++)
        if (strcmp(a->attributes[i].name, b->attributes[i].name) != 0 ||
            strcmp(a->attributes[i].value, b->attributes[i].value) != 0)
            return false;
    return true;
}

static bool edit_is_same_node(const struct tt_tree_node *a, const struct tt_tree_node *b)
{
    if (!a->text || !b->text)
        return !a->text && !b->text && edit_is_same_tag(a, b);
    return strcmp(a->text, b->text) == 0;
}

/* With all that is in them. */
static bool edit_is_same_subtree(const struct tt_tree_node *a, const struct tt_tree_node *b)
{
    const struct tt_tree_node *x = a, *y = b;
    while (edit_is_same_node(x, y)) {
        if (x->first || y->first) {
            if (!x->first || !y->first)
                return false;
            x = x->first;
            y = y->first;
            continue;
        }
        while (x != a && y != b && !x->next && !y->next) {
            x = x->parent;
            y = y->parent;
        }
        if (x == a || y == b)
            return x == a && y == b;
        if (!x->next || !y->next)
            return false;
        x = x->next;
        y = y->next;
    }
    return false;
}

static bool edit_has_text(const struct tt_tree_node *node)
{
    for (const struct tt_tree_node *child = node->first; child; child = child->next)
        if (child->text)
            return true;
    return false;
}

/* ---- writing ---- */

static void edit_copy_range(const struct document_patch *patch, size_t from, size_t to)
{
    tt_text_append_n(patch->out, patch->source + from, to - from);
}

static bool edit_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static const struct tt_tree_attribute *edit_find_attribute(const struct tt_tree_node *node, const char *name,
                                                           size_t length)
{
    for (unsigned i = 0; i < node->attribute_count; i++)
        if (strlen(node->attributes[i].name) == length && memcmp(node->attributes[i].name, name, length) == 0)
            return &node->attributes[i];
    return NULL;
}

/* An attribute with the space before it, from `from` on: as it was, with another value, or not at all. Returns its end. */
static size_t edit_write_attribute(const struct document_patch *patch, const struct tt_tree_node *node, size_t from)
{
    const char *source = patch->source;
    size_t begin = from, name_end, end;
    while (edit_is_space(source[begin]))
        begin++;
    for (name_end = begin; source[name_end] != '=' && !edit_is_space(source[name_end]);)
        name_end++;
    for (end = name_end; source[end] != '"' && source[end] != '\'';)
        end++;
    for (char quote = source[end++]; source[end++] != quote;)
        continue;
    const struct tt_tree_attribute *now = edit_find_attribute(node, source + begin, name_end - begin);
    const struct tt_tree_attribute *before =
        edit_find_attribute(patch->nodes[node->number], source + begin, name_end - begin);
    if (now && before && strcmp(now->value, before->value) == 0)
        edit_copy_range(patch, from, end);
    else if (now) {
        edit_copy_range(patch, from, name_end);
        tt_text_append(patch->out, "=\"");
        tt_tree_escape(patch->out, now->value, true);
        tt_text_append(patch->out, "\"");
    }
    return end;
}

static void edit_write_tag(const struct document_patch *patch, const struct tt_tree_node *node)
{
    const struct element_span *span = &patch->spans[node->number];
    const struct tt_tree_node *before = patch->nodes[node->number];
    bool empty = span->tag_end == span->end;
    size_t at = span->begin + 1 + strlen(node->name), last = span->tag_end - (empty ? 2 : 1);
    while (last > at && edit_is_space(patch->source[last - 1]))
        last--;
    edit_copy_range(patch, span->begin, at);
    while (at < last)
        at = edit_write_attribute(patch, node, at);
    for (unsigned i = 0; i < node->attribute_count; i++) {
        const struct tt_tree_attribute *now = &node->attributes[i];
        if (edit_find_attribute(before, now->name, strlen(now->name)))
            continue;
        tt_text_printf(patch->out, " %s=\"", now->name);
        tt_tree_escape(patch->out, now->value, true);
        tt_text_append(patch->out, "\"");
    }
    if (empty && node->first)
        tt_text_append(patch->out, ">");
    else
        edit_copy_range(patch, last, span->tag_end);
}

/* A new line that begins as that of the first element in `before` does, or, if it has none, this deep. */
static void edit_new_line(const struct document_patch *patch, const struct tt_tree_node *before, size_t depth)
{
    size_t end = before && before->first ? patch->spans[before->first->number].begin : 0, begin = end;
    while (begin > 0 && (patch->source[begin - 1] == ' ' || patch->source[begin - 1] == '\t'))
        begin--;
    tt_text_append(patch->out, "\n");
    if (begin > 0 && patch->source[begin - 1] == '\n')
        edit_copy_range(patch, begin, end);
    else
        for (; depth > 0; depth--)
            tt_text_append(patch->out, "  ");
}

/* The text between elements that stay, without those that do not: `gone` is the first element there. Returns the one after it. */
static const struct tt_tree_node *edit_copy_gap(const struct document_patch *patch, size_t from, size_t to,
                                                const struct tt_tree_node *gone)
{
    for (; gone && patch->spans[gone->number].begin < to; gone = gone->next) {
        size_t end = patch->spans[gone->number].begin;
        while (end > from && edit_is_space(patch->source[end - 1]))
            end--;
        edit_copy_range(patch, from, end);
        from = patch->spans[gone->number].end;
    }
    edit_copy_range(patch, from, to);
    return gone;
}

static void edit_write_changed(const struct document_patch *patch, const struct tt_tree_node *node, size_t depth);
static void edit_write_node(const struct document_patch *patch, const struct tt_tree_node *node, size_t depth);

/* A new element with children of the document: those stay as they were. NOLINTNEXTLINE(misc-no-recursion): no deeper than TUTTI_XML_DEPTH */
static void edit_write_wrapper(const struct document_patch *patch, const struct tt_tree_node *node, size_t depth)
{
    tt_tree_write_tag(patch->out, node);
    for (const struct tt_tree_node *child = node->first; child; child = child->next) {
        edit_new_line(patch, NULL, depth + 1);
        edit_write_node(patch, child, depth + 1);
    }
    edit_new_line(patch, NULL, depth);
    tt_text_printf(patch->out, "</%s>", node->name);
}

/* An element is as it was, changed, or new. NOLINTNEXTLINE(misc-no-recursion): no deeper than TUTTI_XML_DEPTH */
static void edit_write_node(const struct document_patch *patch, const struct tt_tree_node *node, size_t depth)
{
    const struct tt_tree_node *before = node->number ? patch->nodes[node->number] : NULL;
    const struct element_span *span = &patch->spans[node->number];
    if (before && edit_is_same_subtree(node, before))
        edit_copy_range(patch, span->begin, span->end);
    else if (!before && node->first && !edit_has_text(node))
        edit_write_wrapper(patch, node, depth);
    else if (!before || strcmp(node->name, before->name) != 0 || edit_has_text(node) || edit_has_text(before))
        tt_tree_write_element(patch->out, node, depth);
    else
        edit_write_changed(patch, node, depth);
}

/* NOLINTNEXTLINE(misc-no-recursion): as above */
static void edit_write_changed(const struct document_patch *patch, const struct tt_tree_node *node, size_t depth)
{
    const struct tt_tree_node *before = patch->nodes[node->number], *next = before->first;
    const struct element_span *span = &patch->spans[node->number];
    size_t at = span->tag_end;
    edit_write_tag(patch, node);
    for (const struct tt_tree_node *child = node->first; child; child = child->next) {
        const struct element_span *place = &patch->spans[child->number];
        if (child->number && patch->nodes[child->number]->parent == before && place->begin >= at) {
            next = edit_copy_gap(patch, at, place->begin, next);
            next = next ? next->next : NULL;
            at = place->end;
        } else
            edit_new_line(patch, before, depth + 1);
        edit_write_node(patch, child, depth + 1);
    }
    if (span->tag_end < span->end) {
        (void)edit_copy_gap(patch, at, span->close, next);
        edit_copy_range(patch, span->close, span->end);
    } else if (node->first) {
        edit_new_line(patch, NULL, depth);
        tt_text_printf(patch->out, "</%s>", node->name);
    }
}

/* ---- all of it ---- */

struct remaining_text {
    const char *at;
    size_t left;
};

static enum tutti_err edit_read_remaining(void *context, void *buffer, size_t size, size_t *got)
{
    struct remaining_text *rest = context;
    *got = rest->left < size ? rest->left : size;
    memcpy(buffer, rest->at, *got);
    rest->at += *got;
    rest->left -= *got;
    return TUTTI_OK;
}

static struct tt_tree *edit_read_text(const struct tt_text *text)
{
    struct tt_tree *tree = NULL;
    struct remaining_text rest = {text->text, text->length};
    enum tutti_err err = tt_tree_read(&tree, "", &(struct tt_byte_source){edit_read_remaining, &rest});
    return err ? NULL : tree;
}

static bool edit_patch_text(const struct tt_tree *tree, const struct tt_tree *before, struct tt_text *out)
{
    const struct tt_text *source = &tree->source;
    struct document_patch patch = {.source = source->text, .size = source->length, .count = tree->count, .out = out};
    patch.spans = calloc((size_t)tree->count + 1, sizeof *patch.spans);
    patch.nodes = calloc((size_t)tree->count + 1, sizeof *patch.nodes);
    bool fits = patch.spans && patch.nodes && before->count == tree->count && tree->root->number == 1;
    if (fits) {
        for (const struct tt_tree_node *node = before->root; node; node = edit_next_element(node))
            if (!node->text)
                patch.nodes[node->number] = node;
        fits = edit_find_spans(&patch);
    }
    if (fits) {
        edit_copy_range(&patch, 0, patch.spans[1].begin);
        edit_write_node(&patch, tree->root, 0);
        edit_copy_range(&patch, patch.spans[1].end, patch.size);
    }
    free(patch.spans);
    free(patch.nodes);

    /* The text must read back as the tree that it describes. */
    struct tt_tree *read = !fits || out->failed ? NULL : edit_read_text(out);
    bool same = read && edit_is_same_subtree(read->root, tree->root);
    tt_tree_free(read);
    return same;
}

void tt_edit_write_back(const struct tt_tree *tree, struct tt_text *out)
{
    struct tt_text text = {0};
    struct tt_tree *before = tree->source.length > 0 ? edit_read_text(&tree->source) : NULL;
    if (before && edit_patch_text(tree, before, &text))
        tt_text_append_n(out, text.text, text.length);
    else
        tt_tree_write(tree, out);
    tt_tree_free(before);
    tt_text_fini(&text);
}
