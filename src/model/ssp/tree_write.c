/* SPDX-License-Identifier: MIT */
/* Trees as text. Reading it again gives the same tree. */
#include <string.h>

#include "model/ssp/edit.h"
#include "model/ssp/tree.h"

/* Finds text that XML cannot represent: control characters, broken UTF-8, and two code points that are not characters. */
static size_t find_unencodable(const char *c)
{
    unsigned char byte = (unsigned char)*c;
    size_t length = tt_text_utf8_length(c);
    if (length == 0)
        return 1;
    if (byte < 0x20)
        return byte != '\t' && byte != '\n' && byte != '\r';
    return byte == 0xef && (unsigned char)c[1] == 0xbf && (unsigned char)c[2] > 0xbd ? 3 : 0;
}

bool tt_tree_is_encodable(const char *text)
{
    for (; *text; text += tt_text_utf8_length(text))
        if (find_unencodable(text))
            return false;
    return true;
}

static const char *tree_escape_of(char c, bool attribute)
{
    switch (c) {
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '&': return "&amp;";
    case '\r': return "&#13;";
    /* An attribute's white space becomes spaces unless it is written like this. */
    case '\n': return attribute ? "&#10;" : NULL;
    case '\t': return attribute ? "&#9;" : NULL;
    case '"': return attribute ? "&quot;" : NULL;
    default: return NULL;
    }
}

void tt_tree_escape(struct tt_text *out, const char *text, bool attribute)
{
    const char *from = text;
    for (const char *c = text; *c;) {
        const char *escape = tree_escape_of(*c, attribute);
        bool plain = *c >= 0x20 && *c < 0x7f;
        size_t bad = plain ? 0 : find_unencodable(c);
        if (!escape && !bad) {
            c += plain ? 1 : tt_text_utf8_length(c);
            continue;
        }
        tt_text_append_n(out, from, (size_t)(c - from));
        tt_text_append(out, escape ? escape : "\xef\xbf\xbd");
        c += bad ? bad : 1;
        from = c;
    }
    tt_text_append(out, from);
}

static void tree_new_line(struct tt_text *out, size_t depth)
{
    tt_text_append(out, "\n");
    for (; depth > 0; depth--)
        tt_text_append(out, "  ");
}

/* Returns true if white space inside the element would count as text. */
static bool keeps_whitespace(const struct tt_tree_node *node)
{
    const char *space = tt_tree_find_attribute(node, "xml:space");
    if (space && strcmp(space, "preserve") == 0)
        return true;
    for (const struct tt_tree_node *child = node->first; child; child = child->next)
        if (child->text)
            return true;
    return false;
}

void tt_tree_write_tag(struct tt_text *out, const struct tt_tree_node *node)
{
    tt_text_append(out, "<");
    tt_text_append(out, node->name);
    for (unsigned i = 0; i < node->attribute_count; i++) {
        tt_text_append(out, " ");
        tt_text_append(out, node->attributes[i].name);
        tt_text_append(out, "=\"");
        tt_tree_escape(out, node->attributes[i].value, true);
        tt_text_append(out, "\"");
    }
    tt_text_append(out, node->first ? ">" : "/>");
}

void tt_tree_write_element(struct tt_text *out, const struct tt_tree_node *element, size_t depth)
{
    const struct tt_tree_node *packed = NULL; /* the outermost element inside which nothing may be added */
    for (const struct tt_tree_node *node = element; node;) {
        if (node->text) {
            tt_tree_escape(out, node->text, false);
        } else {
            if (!packed && node != element)
                tree_new_line(out, depth);
            tt_tree_write_tag(out, node);
            if (node->first) {
                if (!packed && keeps_whitespace(node))
                    packed = node;
                depth++;
                node = node->first;
                continue;
            }
        }
        while (node && (node == element || !node->next)) {
            node = node == element ? NULL : node->parent;
            if (!node)
                break;
            depth--;
            if (!packed)
                tree_new_line(out, depth);
            if (packed == node)
                packed = NULL;
            tt_text_append(out, "</");
            tt_text_append(out, node->name);
            tt_text_append(out, ">");
        }
        node = node ? node->next : NULL;
    }
}

void tt_tree_write(const struct tt_tree *tree, struct tt_text *out)
{
    tt_text_append(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    tt_tree_write_element(out, tree->root, 0);
    tt_text_append(out, "\n");
}
