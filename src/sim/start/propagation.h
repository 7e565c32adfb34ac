/* SPDX-License-Identifier: MIT */
/* propagation.h - what an explicit coupling makes of outputs from point to point, in the limit of small steps, where all
 * that is left of the units is their feed-through (Andersson 2016 section 6.1: the matrices Psi(0), for any mixture of units). */
#ifndef TT_SIM_START_PROPAGATION_H
#define TT_SIM_START_PROPAGATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"

/* Of the unit that has an output. */
struct tt_follower {
    uint32_t place; /* when it steps, where units step one after the other; those with the same place step at once */
    bool takes;     /* its inputs move; else they are held, */
    double at;      /* ... where they would be in this part of a step: 1 is its end */
    int gives;      /* so many derivatives of the output; the others come from points before */
};

struct tt_propagation {
    const double *matrix; /* DL: n times n, column-major */
    size_t n;
    const struct tt_follower *followers; /* per output */
    unsigned order;                      /* of extrapolation: 0, 1, 2 */
    bool in_places;                      /* seidel; else all at once: jacobi */
    bool smooths;                        /* inputs go on from where they are (Andersson 2016 eq. 6.71) */
};

/* The spectral radius. MEMORY, and the errors of tt_matrix_eigenvalues: LIMIT beyond TUTTI_EIGEN_MOST rows, of which there are n,
 * or 6 n if the order is not 0. */
TUTTI_CHECKED enum tutti_err tt_stability_propagation_radius(const struct tt_propagation *propagation, double *radius);

/* The spectral radius of a dense n times n matrix, column-major or row-major. With re and im: its eigenvalues, n of each. */
TUTTI_CHECKED enum tutti_err tt_stability_spectral_radius(const double *matrix, size_t n, double *re, double *im,
                                                          double *radius);

#endif
