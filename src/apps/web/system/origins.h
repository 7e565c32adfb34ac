/* SPDX-License-Identifier: MIT */
/* origins.h - matches parts of a document that comes back from the page with those of the file, even if they were moved
 * or renamed.
 *
 * Components, connections and connectors have an "origin": the names of the systems around them in the file, then their
 * own name (components and connectors) or their two ends (connections). A text instead of a list is a name in the
 * enclosing system. A part without an origin, or with one that the file does not have, is new. */
#ifndef TT_APPS_WEB_SYSTEM_ORIGINS_H
#define TT_APPS_WEB_SYSTEM_ORIGINS_H

#include <jansson.h>

#include "model/ssp/tree.h"

struct tt_origin {
    const json_t *json;        /* a part of the document */
    struct tt_tree_node *node; /* what it was in the file */
    json_t *before;            /* the same as JSON; borrowed */
    char *id;                  /* of a component: its earlier name, "outer.inner" */
};

/* Zeroed is empty. */
struct tt_origins {
    struct tt_origin *all;
    size_t count;
    struct tt_tree_node *root; /* of the file's tree: the outermost system */
    json_t *before;            /* the file as JSON */
};
void tt_origins_fini(struct tt_origins *origins);

/* Collects all. ARGUMENT if two parts have one origin. */
TUTTI_CHECKED enum tutti_err tt_origins_collect(struct tt_origins *origins, struct tt_tree_node *root, json_t *before,
                                                json_t *document);
/* Where a part of the document comes from; NULL: it is new. */
const struct tt_origin *tt_origins_find_node(const struct tt_origins *origins, const json_t *json);
/* Returns true if it is the origin of any part. */
bool tt_origins_has(const struct tt_origins *origins, const struct tt_tree_node *node);

#endif
