/* SPDX-License-Identifier: MIT */
#ifndef TT_APPS_WEB_SYSTEM_DOCUMENT_READ_H
#define TT_APPS_WEB_SYSTEM_DOCUMENT_READ_H

#include <jansson.h>

#include "apps/web/system/system_draft.h"
#include "model/ssp/edit.h"

/* A system as the page holds it: JSON, made of an SSP and made into one again. docs/web.md has its form.
 *
 * What others wrote into an SSP, and the page does not know, stays as it was: a document that comes back is compared with the tree of the file, and
 * only what differs is changed there. */

/* *json is the caller's. */
TUTTI_CHECKED enum tutti_err tt_document_read(const struct tt_system_draft *draft, json_t **json);
/* The text of the document that `json` describes, for the draft; FMUs that it names come into that. ARGUMENT, FORMAT with what is wrong.
 * *text is the caller's, also on failure. */
TUTTI_CHECKED enum tutti_err tt_document_write(struct tt_system_draft *draft, json_t *json, struct tt_text *text);

/* Both: the draft that a document from the page belongs to ("path"), and its text. tt_system_draft_fini, and tt_text_fini, follow in any
 * case. */
TUTTI_CHECKED enum tutti_err tt_document_write_open_draft(const struct tt_served_folder *folder, json_t *json,
                                                          struct tt_system_draft *draft, struct tt_text *text);

/* What XML says of the page's geometry; false: nothing. */
bool tt_document_read_node_number(const struct tt_tree_node *node, const char *name, double *value);

#endif
