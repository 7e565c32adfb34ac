/* SPDX-License-Identifier: MIT */
/* dependencies.h - which variables of a packed system follow which others at once: through units whose outputs follow their inputs, and the connections
 * between them. */
#ifndef TUTTI_PACK_DEPENDENCIES_H
#define TUTTI_PACK_DEPENDENCIES_H

#include "pack/exposed.h"

/* What an unknown follows. */
struct tutti_dependencies {
    bool *items; /* per item of the list, of which only inputs and states are; room is the caller's */
    bool time;   /* the independent variable */
};

/* Of an output, a derivative, or the indicators of a unit. States are told of a system that is packed for Model Exchange only. MEMORY. */
TUTTI_CHECKED enum tutti_err tutti_dependencies_find(const struct tutti_exposed_list *list, const struct tutti_job *job,
                                                     const struct tutti_exposed *unknown,
                                                     struct tutti_dependencies *depends);

#endif
