/* SPDX-License-Identifier: MIT */
/* edit.h - elements of SSP in a new document or one of others, whatever prefixes that uses, in the schema's order. */
#ifndef TT_MODEL_SSP_EDIT_H
#define TT_MODEL_SSP_EDIT_H

#include "model/ssp/tree.h"

/* Once something failed, all that follows goes into a spare element, so that a series of calls needs one check at its end:
 * `failed`, which means that memory is out. */
struct tt_editor {
    struct tt_tree *tree;
    bool failed;
    struct tt_tree_node spare;
};

/* A document without elements; NULL when memory is out. The caller's (tt_tree_free). */
struct tt_tree *tt_edit_new_tree(const char *file);

/* The root of an empty document: an element with the declarations of all namespaces that `spaces` lists, itself in the
 * first of them. */
struct tt_tree_node *tt_edit_add_root(struct tt_editor *maker, const char *local, const enum tt_tree_space *spaces,
                                      size_t count);
/* Adds an element to `parent`, at its place in the schema's order (after equal elements). It declares its namespace if
 * the document has not done so here. Never NULL. */
struct tt_tree_node *tt_edit_add(struct tt_editor *maker, struct tt_tree_node *parent, enum tt_tree_space space,
                                 const char *local);
/* Returns the first child of that name, which is created if it does not exist. */
struct tt_tree_node *tt_edit_add_once(struct tt_editor *maker, struct tt_tree_node *parent, enum tt_tree_space space,
                                      const char *local);
void tt_edit_set(struct tt_editor *maker, struct tt_tree_node *node, const char *name, const char *value);
void tt_edit_set_number(struct tt_editor *maker, struct tt_tree_node *node, const char *name, double value);

/* The element with Tutti's settings for `node`, a system structure description or an element of one: found, or made with
 * an annotation around it. */
struct tt_tree_node *tt_edit_add_settings(struct tt_editor *maker, struct tt_tree_node *node);

/* Returns true if XML can represent the text: UTF-8 without control characters. */
bool tt_tree_is_encodable(const char *text);

#endif
