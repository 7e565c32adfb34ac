/* SPDX-License-Identifier: MIT */
#ifndef TT_APPS_WEB_SYSTEM_DOCUMENT_READ_H
#define TT_APPS_WEB_SYSTEM_DOCUMENT_READ_H

#include <jansson.h>

#include "apps/web/system/system_draft.h"
#include "model/ssp/edit.h"

/* A system in the form of the page: JSON that is made from an SSP and converted back. docs/web.md defines it.
 *
 * Content of an SSP that the page does not support is preserved: a document that comes back is compared with the tree
 * of the file, and only differences are applied. */

/* *json is the caller's. */
TUTTI_CHECKED enum tutti_err tt_document_read(const struct tt_system_draft *draft, json_t **json);
/* Writes the document that `json` describes, for the draft, to which it adds the FMUs it names. ARGUMENT, FORMAT with
 * the fault. *text belongs to the caller, also on failure. */
TUTTI_CHECKED enum tutti_err tt_document_write(struct tt_system_draft *draft, json_t *json, struct tt_text *text);

/* Both: the draft that a document from the page belongs to ("path"), and its text. tt_system_draft_fini, and tt_text_fini, follow in any
 * case. */
TUTTI_CHECKED enum tutti_err tt_document_write_open_draft(const struct tt_served_folder *folder, json_t *json,
                                                          struct tt_system_draft *draft, struct tt_text *text);

/* Reads the page's geometry from XML; false: none. */
bool tt_document_read_node_number(const struct tt_tree_node *node, const char *name, double *value);

#endif
