/* SPDX-License-Identifier: MIT */
/* parameter_changes.h - values of parameters that the page has changed, on their way into a document: they become what `tutti new --set` would write. */
#ifndef TT_APPS_WEB_SYSTEM_PARAMETER_CHANGES_H
#define TT_APPS_WEB_SYSTEM_PARAMETER_CHANGES_H

#include <jansson.h>

#include "model/ssp/edit.h"
#include "apps/web/system/system_draft.h"

/* Zeroed is empty. */
struct tt_parameter_changes {
    char **set; /* "a.b.k=2" */
    size_t set_count;
    char **unset; /* "a.b.k" */
    size_t unset_count;
    char **gone; /* "a.b.k": of elements whose path has changed */
    size_t gone_count;
    struct tt_described_fmu {
        char *source;
        struct tt_fmu *fmu; /* NULL: it is none */
    } * described;
    size_t described_count;
};
void tt_parameter_changes_fini(struct tt_parameter_changes *sets);

/* Returns the FMU that a source of the draft names, and caches it; NULL if there is none. */
struct tt_fmu *tt_parameter_changes_describe_fmu(struct tt_parameter_changes *sets, const struct tt_system_draft *draft,
                                                 const char *source);
/* Returns the document's value of connector `name` of the system whose path is `id`; NULL if it is not a single text. */
const char *tt_parameter_changes_is_given(const struct tt_tree *tree, const char *id, const char *name);
/* Compares the "parameters" of an element, whose path is `id` ("": the document itself). `before`: NULL if it is new,
 * otherwise its path was `was`. ARGUMENT. */
TUTTI_CHECKED enum tutti_err tt_parameter_changes_compare(struct tt_parameter_changes *sets, const char *id,
                                                          json_t *json, json_t *before, const char *was);
/* The document with all of it, as text, which is the caller's. ARGUMENT with what is wrong. */
TUTTI_CHECKED enum tutti_err tt_parameter_changes_write(const struct tt_parameter_changes *sets,
                                                        const struct tt_system_draft *draft, struct tt_editor *maker,
                                                        struct tt_text *text);

#endif
