/* SPDX-License-Identifier: MIT */
/* tree_text.h - elements of trees as text, for those who write documents (tree_write.c, tree_patch.c). */
#ifndef TUTTI_SSP_TREE_TEXT_H
#define TUTTI_SSP_TREE_TEXT_H

#include "ssp/tree.h"

/* As the content of an element, or of an attribute in double quotes. */
void tutti_tree_escape(struct tutti_text *out, const char *text, bool attribute);
/* The tag that begins an element, or is all of it if nothing is in it. */
void tutti_tree_write_tag(struct tutti_text *out, const struct tutti_node *node);
/* An element with all that is in it; its lines begin `depth` levels deep, but for the first, which the caller has begun. */
void tutti_tree_write_element(struct tutti_text *out, const struct tutti_node *element, size_t depth);

#endif
