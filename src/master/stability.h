/* SPDX-License-Identifier: MIT */
/* stability.h - is an explicit coupling stable for small steps? That hangs on the feed-through in algebraic loops (001
 * section 6.1, Tables 6.1 and 6.5): the spectral radius of DL, or of what extrapolation makes of it, must not exceed 1. */
#ifndef TUTTI_MASTER_STABILITY_H
#define TUTTI_MASTER_STABILITY_H

#include "master/loop.h"

struct tutti_stability {
    uint32_t loops; /* of the running system */
    bool known;     /* else `why_not` */
    char why_not[256];
    double rho;       /* of DL: constant extrapolation, or derivatives that units give (eq. 6.16, 6.45) */
    double linear;    /* ... from two points (eq. 6.40) */
    double quadratic; /* ... from three */
    double seidel;    /* of (I - lower)^-1 upper, DL split by the sequence of units */
};

/* With units where reading after setting is allowed. `running` is the structure of the running phase, `sequence` made from
 * it. */
TUTTI_CHECKED enum tutti_err tutti_stability_measure(struct run *run, const struct tutti_structure *running,
                                                     const struct tutti_sequence *sequence,
                                                     struct tutti_stability *stability);

#endif
