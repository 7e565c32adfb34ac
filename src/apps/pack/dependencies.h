/* SPDX-License-Identifier: MIT */
/* dependencies.h - which variables of a packed system follow which others at once: through units whose outputs follow their inputs, and the connections
 * between them. */
#ifndef TT_APPS_PACK_DEPENDENCIES_H
#define TT_APPS_PACK_DEPENDENCIES_H

#include "apps/pack/exposed.h"

/* What an unknown follows. */
struct tt_dependencies {
    bool *items; /* per item of the list, of which only inputs and states are; room is the caller's */
    bool time;   /* the independent variable */
};

/* Of an output, a derivative, or the indicators of a unit. States are told of a system that is packed for Model Exchange only. MEMORY. */
TUTTI_CHECKED enum tutti_err tt_pack_description_dependencies(const struct tt_exposed_list *list,
                                                              const struct tt_job *job,
                                                              const struct tt_exposed *unknown,
                                                              struct tt_dependencies *depends);

#endif
