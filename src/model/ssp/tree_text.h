/* SPDX-License-Identifier: MIT */
/* tree_text.h - elements of trees as text, for those who write documents (tree_write.c, tree_patch.c). */
#ifndef TT_MODEL_SSP_TREE_TEXT_H
#define TT_MODEL_SSP_TREE_TEXT_H

#include "model/ssp/tree.h"

/* As the content of an element, or of an attribute in double quotes. */
void tt_tree_escape(struct tt_text *out, const char *text, bool attribute);
/* The tag that begins an element, or is all of it if nothing is in it. */
void tt_tree_write_tag(struct tt_text *out, const struct tt_tree_node *node);
/* An element with all that is in it; its lines begin `depth` levels deep, but for the first, which the caller has begun. */
void tt_tree_write_element(struct tt_text *out, const struct tt_tree_node *element, size_t depth);

#endif
