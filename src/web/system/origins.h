/* SPDX-License-Identifier: MIT */
/* origins.h - which parts of a document that comes back from the page are those of the file, wherever they are now and whatever they are called.
 *
 * Units, connections and connectors say it in "origin": the names of the systems around them in the file, then their own name (units and
 * connectors) or their two ends (connections). A text instead of a list is the name in the system that they are in. What has no origin, or one
 * that the file does not have, is new. */
#ifndef TUTTI_WEB_ORIGINS_H
#define TUTTI_WEB_ORIGINS_H

#include <jansson.h>

#include "ssp/tree.h"

struct tutti_web_origin {
    const json_t *json;      /* a part of the document */
    struct tutti_node *node; /* what it was in the file */
    json_t *before;          /* the same as JSON; borrowed */
    char *id;                /* of a unit: what it was called, "outer.inner" */
};

/* Zeroed is empty. */
struct tutti_web_origins {
    struct tutti_web_origin *all;
    size_t count;
    struct tutti_node *root; /* of the file's tree: the outermost system */
    json_t *before;          /* the file as JSON */
};
void tutti_web_origins_fini(struct tutti_web_origins *origins);

/* Finds all. ARGUMENT if two parts have the same origin. */
TUTTI_CHECKED enum tutti_err tutti_web_origins_find(struct tutti_web_origins *origins, struct tutti_node *root,
                                                    json_t *before, json_t *document);
/* Where a part of the document comes from; NULL: it is new. */
const struct tutti_web_origin *tutti_web_origins_of(const struct tutti_web_origins *origins, const json_t *json);
/* Is it the origin of any part? */
bool tutti_web_origins_has(const struct tutti_web_origins *origins, const struct tutti_node *node);

#endif
