/* SPDX-License-Identifier: MIT */
/* Trees as text. Reading it again gives the same tree. */
#include <string.h>

#include "ssp/make.h"
#include "ssp/tree_text.h"

/* What XML has no way to say: control characters, broken UTF-8, and two code points that are no characters. */
static size_t unsayable(const char *c)
{
    unsigned char byte = (unsigned char)*c;
    size_t length = tutti_str_utf8_length(c);
    if (length == 0)
        return 1;
    if (byte < 0x20)
        return byte != '\t' && byte != '\n' && byte != '\r';
    return byte == 0xef && (unsigned char)c[1] == 0xbf && (unsigned char)c[2] > 0xbd ? 3 : 0;
}

bool tutti_tree_can_say(const char *text)
{
    for (; *text; text += tutti_str_utf8_length(text))
        if (unsayable(text))
            return false;
    return true;
}

static const char *escape_of(char c, bool attribute)
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

void tutti_tree_escape(struct tutti_text *out, const char *text, bool attribute)
{
    const char *from = text;
    for (const char *c = text; *c;) {
        const char *escape = escape_of(*c, attribute);
        bool plain = *c >= 0x20 && *c < 0x7f;
        size_t bad = plain ? 0 : unsayable(c);
        if (!escape && !bad) {
            c += plain ? 1 : tutti_str_utf8_length(c);
            continue;
        }
        tutti_text_append_n(out, from, (size_t)(c - from));
        tutti_text_append(out, escape ? escape : "\xef\xbf\xbd");
        c += bad ? bad : 1;
        from = c;
    }
    tutti_text_append(out, from);
}

static void new_line(struct tutti_text *out, size_t depth)
{
    tutti_text_append(out, "\n");
    for (; depth > 0; depth--)
        tutti_text_append(out, "  ");
}

/* Would white space inside of the element count as text? */
static bool is_packed(const struct tutti_node *node)
{
    const char *space = tutti_node_attribute(node, "xml:space");
    if (space && strcmp(space, "preserve") == 0)
        return true;
    for (const struct tutti_node *child = node->first; child; child = child->next)
        if (child->text)
            return true;
    return false;
}

void tutti_tree_write_tag(struct tutti_text *out, const struct tutti_node *node)
{
    tutti_text_append(out, "<");
    tutti_text_append(out, node->name);
    for (unsigned i = 0; i < node->attribute_count; i++) {
        tutti_text_append(out, " ");
        tutti_text_append(out, node->attributes[i].name);
        tutti_text_append(out, "=\"");
        tutti_tree_escape(out, node->attributes[i].value, true);
        tutti_text_append(out, "\"");
    }
    tutti_text_append(out, node->first ? ">" : "/>");
}

void tutti_tree_write_element(struct tutti_text *out, const struct tutti_node *element, size_t depth)
{
    const struct tutti_node *packed = NULL; /* the outermost element inside of which nothing may be added */
    for (const struct tutti_node *node = element; node;) {
        if (node->text) {
            tutti_tree_escape(out, node->text, false);
        } else {
            if (!packed && node != element)
                new_line(out, depth);
            tutti_tree_write_tag(out, node);
            if (node->first) {
                if (!packed && is_packed(node))
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
                new_line(out, depth);
            if (packed == node)
                packed = NULL;
            tutti_text_append(out, "</");
            tutti_text_append(out, node->name);
            tutti_text_append(out, ">");
        }
        node = node ? node->next : NULL;
    }
}

void tutti_tree_write(const struct tutti_tree *tree, struct tutti_text *out)
{
    tutti_text_append(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    tutti_tree_write_element(out, tree->root, 0);
    tutti_text_append(out, "\n");
}
