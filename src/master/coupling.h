/* SPDX-License-Identifier: MIT */
/* coupling.h - how one macro step of coupled units is computed. To add a kind: copy jacobi.c, list it in coupling.c, run
 * `ctest -L coupling`. */
#ifndef TUTTI_MASTER_COUPLING_H
#define TUTTI_MASTER_COUPLING_H

#include "master/loop.h"

struct tutti_coupling {
    const char *name; /* "jacobi" */
    /* From run->t to `target`: this rank's units that are due there, and exchange. Afterwards every present unit's outputs
     * at `target` are in the signals. */
    enum tutti_err (*step)(struct run *run, double target);
};

extern const struct tutti_coupling tutti_coupling_jacobi;

/* By name; NULL: the default. ARGUMENT, naming all. */
TUTTI_CHECKED enum tutti_err tutti_coupling_find(const char *name, const struct tutti_coupling **out);

#endif
