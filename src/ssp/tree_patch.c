/* SPDX-License-Identifier: MIT */
/* A document that was read and changed, as the text that it was read from, with changes in place.
 *
 * The text is read again: elements of both trees, and their places in the text, go by their numbers. What is the same in both is copied. In the
 * end the new text is read, too: if it is not what the tree says, it is thrown away, and all of the tree is written as if it were new. */
#include <stdlib.h>
#include <string.h>

#include "base/xml.h"
#include "ssp/tree_text.h"

/* Places in the text: of an element without content all but the first are its end. */
struct span {
    size_t begin, tag_end, close, end;
};

struct patch {
    const char *source;
    size_t size;
    struct span *spans;              /* by number */
    const struct tutti_node **nodes; /* as they were read; by number */
    unsigned count;
    struct tutti_text *out;
};

/* ---- places ---- */

static bool begins(const struct patch *patch, size_t at, const char *text)
{
    size_t length = strlen(text);
    return patch->size - at >= length && memcmp(patch->source + at, text, length) == 0;
}

/* After the next `text`; 0: there is none. */
static size_t after(const struct patch *patch, size_t at, const char *text)
{
    for (; at < patch->size; at++)
        if (begins(patch, at, text))
            return at + strlen(text);
    return 0;
}

/* After a tag, in which quotes hide what is in them. */
static size_t after_tag(const struct patch *patch, size_t at)
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

/* Where an end tag leads: out of the element `open`; 0: that is none. */
static unsigned parent_of(const struct patch *patch, unsigned number)
{
    const struct tutti_node *parent = patch->nodes[number]->parent;
    return parent ? parent->number : 0;
}

static size_t find_tag(struct patch *patch, size_t at, unsigned *found, unsigned *open)
{
    bool closes = begins(patch, at, "</");
    size_t end = after_tag(patch, at);
    if (!end || (closes && *open == 0) || (!closes && *found == patch->count))
        return 0;
    if (closes) {
        patch->spans[*open].close = at;
        patch->spans[*open].end = end;
        *open = parent_of(patch, *open);
        return end;
    }
    patch->spans[++*found] = (struct span){at, end, end, end};
    if (patch->source[end - 2] != '/')
        *open = *found;
    return end;
}

/* False: it is a text whose tags are not those of the tree, or which has what is not understood here. */
static bool find_spans(struct patch *patch)
{
    unsigned found = 0, open = 0;
    for (size_t at = 0; at < patch->size;) {
        if (patch->source[at] != '<') {
            at++;
            continue;
        }
        at = begins(patch, at, "<!--")        ? after(patch, at + 4, "-->")
             : begins(patch, at, "<![CDATA[") ? after(patch, at, "]]>")
             : begins(patch, at, "<?")        ? after(patch, at, "?>")
             : begins(patch, at, "<!")        ? 0
                                              : find_tag(patch, at, &found, &open);
        if (at == 0)
            return false;
    }
    return found == patch->count && open == 0;
}

/* The element that follows in the document, inside of it or after it. */
static const struct tutti_node *next_of(const struct tutti_node *node)
{
    if (node->first)
        return node->first;
    while (node && !node->next)
        node = node->parent;
    return node ? node->next : NULL;
}

static void list_nodes(struct patch *patch, const struct tutti_tree *tree)
{
    for (const struct tutti_node *node = tree->root; node; node = next_of(node))
        if (!node->text)
            patch->nodes[node->number] = node;
}

/* ---- what is the same ---- */

static bool is_same_tag(const struct tutti_node *a, const struct tutti_node *b)
{
    if (strcmp(a->name, b->name) != 0 || a->attribute_count != b->attribute_count)
        return false;
    for (unsigned i = 0; i < a->attribute_count; i++)
        if (strcmp(a->attributes[i].name, b->attributes[i].name) != 0 ||
            strcmp(a->attributes[i].value, b->attributes[i].value) != 0)
            return false;
    return true;
}

static bool is_same_node(const struct tutti_node *a, const struct tutti_node *b)
{
    if (!a->text || !b->text)
        return !a->text && !b->text && is_same_tag(a, b);
    return strcmp(a->text, b->text) == 0;
}

/* With all that is in them. */
static bool is_same(const struct tutti_node *a, const struct tutti_node *b)
{
    const struct tutti_node *x = a, *y = b;
    while (is_same_node(x, y)) {
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

static bool has_text(const struct tutti_node *node)
{
    for (const struct tutti_node *child = node->first; child; child = child->next)
        if (child->text)
            return true;
    return false;
}

/* ---- writing ---- */

static void copy(const struct patch *patch, size_t from, size_t to)
{
    tutti_text_append_n(patch->out, patch->source + from, to - from);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static const struct tutti_attribute *attribute(const struct tutti_node *node, const char *name, size_t length)
{
    for (unsigned i = 0; i < node->attribute_count; i++)
        if (strlen(node->attributes[i].name) == length && memcmp(node->attributes[i].name, name, length) == 0)
            return &node->attributes[i];
    return NULL;
}

/* An attribute with the space before it, from `from` on: as it was, with another value, or not at all. Returns its end. */
static size_t write_attribute(const struct patch *patch, const struct tutti_node *node, size_t from)
{
    const char *source = patch->source;
    size_t begin = from, name_end, end;
    while (is_space(source[begin]))
        begin++;
    for (name_end = begin; source[name_end] != '=' && !is_space(source[name_end]);)
        name_end++;
    for (end = name_end; source[end] != '"' && source[end] != '\'';)
        end++;
    for (char quote = source[end++]; source[end++] != quote;)
        continue;
    const struct tutti_attribute *now = attribute(node, source + begin, name_end - begin);
    const struct tutti_attribute *before = attribute(patch->nodes[node->number], source + begin, name_end - begin);
    if (now && before && strcmp(now->value, before->value) == 0)
        copy(patch, from, end);
    else if (now) {
        copy(patch, from, name_end);
        tutti_text_append(patch->out, "=\"");
        tutti_tree_escape(patch->out, now->value, true);
        tutti_text_append(patch->out, "\"");
    }
    return end;
}

static void write_tag(const struct patch *patch, const struct tutti_node *node)
{
    const struct span *span = &patch->spans[node->number];
    const struct tutti_node *before = patch->nodes[node->number];
    bool empty = span->tag_end == span->end;
    size_t at = span->begin + 1 + strlen(node->name), last = span->tag_end - (empty ? 2 : 1);
    while (last > at && is_space(patch->source[last - 1]))
        last--;
    copy(patch, span->begin, at);
    while (at < last)
        at = write_attribute(patch, node, at);
    for (unsigned i = 0; i < node->attribute_count; i++) {
        const struct tutti_attribute *now = &node->attributes[i];
        if (attribute(before, now->name, strlen(now->name)))
            continue;
        tutti_text_printf(patch->out, " %s=\"", now->name);
        tutti_tree_escape(patch->out, now->value, true);
        tutti_text_append(patch->out, "\"");
    }
    if (empty && node->first)
        tutti_text_append(patch->out, ">");
    else
        copy(patch, last, span->tag_end);
}

/* A new line that begins as that of the first element in `before` does, or, if it has none, this deep. */
static void new_line(const struct patch *patch, const struct tutti_node *before, size_t depth)
{
    size_t end = before && before->first ? patch->spans[before->first->number].begin : 0, begin = end;
    while (begin > 0 && (patch->source[begin - 1] == ' ' || patch->source[begin - 1] == '\t'))
        begin--;
    tutti_text_append(patch->out, "\n");
    if (begin > 0 && patch->source[begin - 1] == '\n')
        copy(patch, begin, end);
    else
        for (; depth > 0; depth--)
            tutti_text_append(patch->out, "  ");
}

/* The text between elements that stay, without those that do not: `gone` is the first element there. Returns the one after it. */
static const struct tutti_node *copy_gap(const struct patch *patch, size_t from, size_t to,
                                         const struct tutti_node *gone)
{
    for (; gone && patch->spans[gone->number].begin < to; gone = gone->next) {
        size_t end = patch->spans[gone->number].begin;
        while (end > from && is_space(patch->source[end - 1]))
            end--;
        copy(patch, from, end);
        from = patch->spans[gone->number].end;
    }
    copy(patch, from, to);
    return gone;
}

static void write_changed(const struct patch *patch, const struct tutti_node *node, size_t depth);
static void write_node(const struct patch *patch, const struct tutti_node *node, size_t depth);

/* A new element with children of the document: those stay as they were. NOLINTNEXTLINE(misc-no-recursion): no deeper than TUTTI_XML_DEPTH */
static void write_around(const struct patch *patch, const struct tutti_node *node, size_t depth)
{
    tutti_tree_write_tag(patch->out, node);
    for (const struct tutti_node *child = node->first; child; child = child->next) {
        new_line(patch, NULL, depth + 1);
        write_node(patch, child, depth + 1);
    }
    new_line(patch, NULL, depth);
    tutti_text_printf(patch->out, "</%s>", node->name);
}

/* An element is as it was, changed, or new. NOLINTNEXTLINE(misc-no-recursion): no deeper than TUTTI_XML_DEPTH */
static void write_node(const struct patch *patch, const struct tutti_node *node, size_t depth)
{
    const struct tutti_node *before = node->number ? patch->nodes[node->number] : NULL;
    const struct span *span = &patch->spans[node->number];
    if (before && is_same(node, before))
        copy(patch, span->begin, span->end);
    else if (!before && node->first && !has_text(node))
        write_around(patch, node, depth);
    else if (!before || strcmp(node->name, before->name) != 0 || has_text(node) || has_text(before))
        tutti_tree_write_element(patch->out, node, depth);
    else
        write_changed(patch, node, depth);
}

/* NOLINTNEXTLINE(misc-no-recursion): as above */
static void write_changed(const struct patch *patch, const struct tutti_node *node, size_t depth)
{
    const struct tutti_node *before = patch->nodes[node->number], *next = before->first;
    const struct span *span = &patch->spans[node->number];
    size_t at = span->tag_end;
    write_tag(patch, node);
    for (const struct tutti_node *child = node->first; child; child = child->next) {
        const struct span *place = &patch->spans[child->number];
        if (child->number && patch->nodes[child->number]->parent == before && place->begin >= at) {
            next = copy_gap(patch, at, place->begin, next);
            next = next ? next->next : NULL;
            at = place->end;
        } else
            new_line(patch, before, depth + 1);
        write_node(patch, child, depth + 1);
    }
    if (span->tag_end < span->end) {
        (void)copy_gap(patch, at, span->close, next);
        copy(patch, span->close, span->end);
    } else if (node->first) {
        new_line(patch, NULL, depth);
        tutti_text_printf(patch->out, "</%s>", node->name);
    }
}

/* ---- all of it ---- */

struct rest {
    const char *at;
    size_t left;
};

static enum tutti_err read_rest(void *context, void *buffer, size_t size, size_t *got)
{
    struct rest *rest = context;
    *got = rest->left < size ? rest->left : size;
    memcpy(buffer, rest->at, *got);
    rest->at += *got;
    rest->left -= *got;
    return TUTTI_OK;
}

/* NULL: it cannot be read. */
static struct tutti_tree *read_text(const struct tutti_text *text)
{
    struct tutti_tree *tree = NULL;
    struct rest rest = {text->text, text->length};
    enum tutti_err err = tutti_tree_read(&tree, "", &(struct tutti_reader){read_rest, &rest});
    return err ? NULL : tree;
}

/* What `text` says is what the tree says. */
static bool says(const struct tutti_text *text, const struct tutti_tree *tree)
{
    struct tutti_tree *read = text->failed ? NULL : read_text(text);
    bool same = read && is_same(read->root, tree->root);
    tutti_tree_free(read);
    return same;
}

static bool patch_text(const struct tutti_tree *tree, const struct tutti_tree *before, struct tutti_text *out)
{
    const struct tutti_text *source = &tree->source;
    struct patch patch = {.source = source->text, .size = source->length, .count = tree->count, .out = out};
    patch.spans = calloc((size_t)tree->count + 1, sizeof *patch.spans);
    patch.nodes = calloc((size_t)tree->count + 1, sizeof *patch.nodes);
    bool fits = patch.spans && patch.nodes && before->count == tree->count && tree->root->number == 1;
    if (fits) {
        list_nodes(&patch, before);
        fits = find_spans(&patch);
    }
    if (fits) {
        copy(&patch, 0, patch.spans[1].begin);
        write_node(&patch, tree->root, 0);
        copy(&patch, patch.spans[1].end, patch.size);
    }
    free(patch.spans);
    free(patch.nodes);
    return fits && says(out, tree);
}

void tutti_tree_write_back(const struct tutti_tree *tree, struct tutti_text *out)
{
    struct tutti_text text = {0};
    struct tutti_tree *before = tree->source.length > 0 ? read_text(&tree->source) : NULL;
    if (before && patch_text(tree, before, &text))
        tutti_text_append_n(out, text.text, text.length);
    else
        tutti_tree_write(tree, out);
    tutti_tree_free(before);
    tutti_text_fini(&text);
}
