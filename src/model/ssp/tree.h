/* SPDX-License-Identifier: MIT */
/* tree.h - an SSP document as a tree of elements, read through base/xml.h and written back.
 *
 * Names keep their prefixes and attributes their order, so that foreign content (geometry, annotations of other tools)
 * is preserved. Comments and layout are kept by tt_edit_write_back only. */
#ifndef TT_MODEL_SSP_TREE_H
#define TT_MODEL_SSP_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "base/text.h"

/* The namespaces of SSP; 1.0 and 2.0 share them. */
enum tt_tree_space {
    TUTTI_SPACE_FOREIGN,
    TUTTI_SPACE_SSD,
    TUTTI_SPACE_SSC,
    TUTTI_SPACE_SSV,
    TUTTI_SPACE_SSM,
    TUTTI_SPACE_SSB,
};

/* Returns the prefix "ssd", ..., or the namespace URI. Static. */
const char *tt_tree_space_prefix(enum tt_tree_space space);
const char *tt_tree_space_uri(enum tt_tree_space space);

struct tt_tree_attribute {
    const char *name, *value; /* name as written, prefix included */
};

/* An element, or a stretch of text: then `text` is not NULL and nothing but parent and next is. */
struct tt_tree_node {
    const char *name;  /* as written: "ssd:System" */
    const char *local; /* after the prefix: "System" */
    const char *text;
    struct tt_tree_attribute *attributes;
    struct tt_tree_node *parent, *first, *last, *next;
    unsigned attribute_count;
    unsigned line;
    unsigned number; /* of the element in the document that was read, from 1 on; 0: it is new */
    enum tt_tree_space space;
};

struct tt_tree {
    const char *file; /* for messages; in the arena */
    struct tt_tree_node *root;
    struct tt_arena arena;
    struct tt_text source; /* what was read */
    unsigned count;        /* of its elements */
};

/* Reads a whole document. White space between elements is dropped; other text is kept. FORMAT and LIMIT with file and
 * line. `*tree` is the caller's (tt_tree_free). */
TUTTI_CHECKED enum tutti_err tt_tree_read(struct tt_tree **tree, const char *file, struct tt_byte_source *reader);
void tt_tree_free(struct tt_tree *tree);

/* The first child element, or the next sibling element, of this name; NULL: none. */
struct tt_tree_node *tt_tree_find_child(const struct tt_tree_node *node, enum tt_tree_space space, const char *local);
struct tt_tree_node *tt_tree_find_next(const struct tt_tree_node *node, enum tt_tree_space space, const char *local);
/* The value of an attribute without prefix, or NULL. */
const char *tt_tree_find_attribute(const struct tt_tree_node *node, const char *name);

/* For writers: a new element at the end of `parent` (NULL: a root), an attribute (replaced if it is there). Texts are
 * copied. NULL, or false, when memory is out. `name` has the prefix that the document uses for it. */
struct tt_tree_node *tt_tree_add_node(struct tt_tree *tree, struct tt_tree_node *parent, const char *name);
bool tt_tree_set_attribute(struct tt_tree *tree, struct tt_tree_node *node, const char *name, const char *value);
/* Takes a child out of its parent. */
void tt_tree_remove_node(struct tt_tree_node *node);
/* Moves an element, with its content, to the end of a different parent in this document. */
void tt_tree_move_node(struct tt_tree_node *node, struct tt_tree_node *parent);

/* The document as UTF-8 text with declaration, indented where that adds no text. */
void tt_tree_write(const struct tt_tree *tree, struct tt_text *out);
/* Writes the original text with changes where the tree was changed: the rest, comments and layout included, stays byte
 * for byte. If that is impossible (a tree that was not read, a text in a different encoding) as tt_tree_write. */
void tt_edit_write_back(const struct tt_tree *tree, struct tt_text *out);

/* Elements of trees as text, for modules that write documents (tree_write.c, edit.c). */

/* As the content of an element, or of an attribute in double quotes. */
void tt_tree_escape(struct tt_text *out, const char *text, bool attribute);
/* The tag that begins an element, or is all of it if nothing is in it. */
void tt_tree_write_tag(struct tt_text *out, const struct tt_tree_node *node);
/* An element with all that is in it; its lines begin `depth` levels deep, but for the first, which the caller has begun. */
void tt_tree_write_element(struct tt_text *out, const struct tt_tree_node *element, size_t depth);

#endif
