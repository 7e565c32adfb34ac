/* SPDX-License-Identifier: MIT */
/* describe.h - the modelDescription.xml of a packed system, and its table of variables. */
#ifndef TT_APPS_PACK_PACK_DESCRIPTION_H
#define TT_APPS_PACK_PACK_DESCRIPTION_H

#include <stdbool.h>

#include "apps/pack/exposed.h"
#include "base/text.h"

struct tt_pack_description {
    const struct tt_job *job;
    const struct tt_exposed_list *exposed;
    unsigned fmi;
    const char *name, *identifier, *token;
};

TUTTI_CHECKED enum tutti_err tt_pack_description_write(const struct tt_pack_description *description,
                                                       struct tt_text *out);
/* Writes the input of tt_packed_table_read. */
TUTTI_CHECKED enum tutti_err tt_pack_description_write_table(const struct tt_pack_description *description,
                                                             struct tt_text *out);

/* Direct dependencies between variables of a packed system: through units with feed-through, and connections. */

/* The dependencies of an unknown. */
struct tt_dependencies {
    bool *items; /* per item of the list, true for some inputs and states; the caller's memory */
    bool time;   /* the independent variable */
};

/* Finds the dependencies of an output, a derivative, or the indicators of a unit. Dependencies on states are reported
 * only for a system packed for Model Exchange. MEMORY. */
TUTTI_CHECKED enum tutti_err tt_pack_description_dependencies(const struct tt_exposed_list *list,
                                                              const struct tt_job *job,
                                                              const struct tt_exposed *unknown,
                                                              struct tt_dependencies *depends);

/* Checks that names are structured as FMI 2.0.4, 2.2.9, and FMI 3.0.1, 2.4.7.5, require. */

/* "a.b[1,2].'c d'", "der(a.x)", "der(a.x,2)". */
bool tt_pack_description_is_structured(const char *name);

#endif
