/* SPDX-License-Identifier: MIT */
/* make.h - elements of SSP in a new document or one of others, whatever prefixes that uses, in the schema's order. */
#ifndef TUTTI_SSP_MAKE_H
#define TUTTI_SSP_MAKE_H

#include "ssp/tree.h"

/* Once something failed, all that follows goes into a spare element, so that a series of calls needs one check at its end:
 * `failed`, which means that memory is out. */
struct tutti_maker {
    struct tutti_tree *tree;
    bool failed;
    struct tutti_node spare;
};

/* A document without elements; NULL when memory is out. The caller's (tutti_tree_free). */
struct tutti_tree *tutti_tree_new(const char *file);

/* The root of an empty document: an element with the declarations of all namespaces that `spaces` lists, itself in the
 * first of them. */
struct tutti_node *tutti_make_root(struct tutti_maker *maker, const char *local, const enum tutti_space *spaces,
                                   size_t count);
/* A new element in `parent`, at its place among the others (of equal ones, after the last). A namespace that the document
 * has not declared here is declared by it. Never NULL. */
struct tutti_node *tutti_make(struct tutti_maker *maker, struct tutti_node *parent, enum tutti_space space,
                              const char *local);
/* The first child of that name, made if there is none. */
struct tutti_node *tutti_make_once(struct tutti_maker *maker, struct tutti_node *parent, enum tutti_space space,
                                   const char *local);
void tutti_make_set(struct tutti_maker *maker, struct tutti_node *node, const char *name, const char *value);
void tutti_make_number(struct tutti_maker *maker, struct tutti_node *node, const char *name, double value);

/* The element with Tutti's settings for `node`, a system structure description or an element of one: found, or made with
 * an annotation around it. */
struct tutti_node *tutti_make_settings(struct tutti_maker *maker, struct tutti_node *node);

/* Can XML say it at all: is it UTF-8 without control characters? */
bool tutti_tree_can_say(const char *text);

#endif
