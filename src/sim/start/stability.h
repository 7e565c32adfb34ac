/* SPDX-License-Identifier: MIT */
/* stability.h - tests whether an explicit coupling is stable for small steps. That depends on the feed-through in
 * algebraic loops (Andersson 2016 section 6.1, Tables 6.1 and 6.5): the spectral radius of DL, or of its modification
 * by extrapolation or a sequence of units, must not exceed 1. */
#ifndef TT_SIM_START_STABILITY_H
#define TT_SIM_START_STABILITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "model/plan/step_order.h"
#include "sim/rank.h"

/* The map of outputs from point to point by an explicit coupling, in the limit of small steps, where only the
 * feed-through of units remains (Andersson 2016 section 6.1: the matrices Psi(0), for any mixture of units). */

/* Of the unit that has an output. */
struct tt_follower {
    uint32_t place; /* its turn, where units step sequentially; those with one place step at once */
    bool takes;     /* its inputs move; otherwise they are held */
    double at;      /* at their value at this part of the step: 1 is its end */
    int gives;      /* the number of derivatives of the output that it provides; the others come from earlier points */
};

struct tt_propagation {
    const double *matrix; /* DL: n times n, column-major */
    size_t n;
    const struct tt_follower *followers; /* per output */
    unsigned order;                      /* of extrapolation: 0, 1, 2 */
    bool in_places;                      /* seidel; false: jacobi */
    bool smooths;                        /* inputs are continuous (Andersson 2016 eq. 6.71) */
};

/* The spectral radius. MEMORY, and the errors of tt_matrix_eigenvalues: LIMIT beyond TUTTI_EIGEN_MOST rows, of which there are n,
 * or 6 n if the order is not 0. */
TUTTI_CHECKED enum tutti_err tt_stability_propagation_radius(const struct tt_propagation *propagation, double *radius);

/* The spectral radius of a dense n times n matrix, column-major or row-major. With re and im: its eigenvalues, n of each. */
TUTTI_CHECKED enum tutti_err tt_stability_spectral_radius(const double *matrix, size_t n, double *re, double *im,
                                                          double *radius);

enum { TUTTI_ORDERS = TUTTI_MOST_EXTRAPOLATION + 1 };

/* Of one loop, or the worst of several. NAN: not looked for. */
struct tt_radii {
    uint32_t loops; /* of the running system */
    uint32_t empty; /* further loops without feedback: see is_empty */
    bool known;     /* D is available; otherwise see `why_not` */
    bool exact;     /* by directional derivatives; false: by differences */
    char why_not[256];
    double rho;       /* of DL: inputs held, or extrapolated by derivatives that all units give (eq. 6.16, 6.45) */
    double linear;    /* all inputs extrapolated through two points (eq. 6.40) */
    double quadratic; /* through three */
    /* By order of extrapolation, with derivatives that these units take and give. */
    double jacobi[TUTTI_ORDERS], seidel[TUTTI_ORDERS], smooth[TUTTI_ORDERS];
};

/* QUICK: all radii without extrapolation, rho, linear and quadratic, up to 500 outputs in a loop, which takes some
 * seconds at most. THOROUGH: also the remaining ones, up to 200; the former up to TUTTI_EIGEN_MOST, which takes
 * minutes. */
enum tt_stability_effort { TUTTI_QUICK, TUTTI_THOROUGH };

/* Returns true for the radius of a stable coupling. Slightly more than 1 counts as 1, because of rounding errors. */
static inline bool tt_stability_is_stable_radius(double radius)
{
    return radius <= 1 + 1e-6;
}

/* The radii of the n times n matrix DL, column-major, with what is to be known of the unit of each output. */
TUTTI_CHECKED enum tutti_err tt_stability_of_matrix(const double *matrix, size_t n, const struct tt_follower *followers,
                                                    enum tt_stability_effort effort, struct tt_radii *radii);

/* Computes them for a loop, with units in a state where reading after setting is allowed. `running` is the structure of
 * the running phase, `loop` a component of its graph; master->sequence may be empty: then seidel is not computed. Only
 * MEMORY is returned as an error, all other failures as `why_not`. */
TUTTI_CHECKED enum tutti_err tt_stability_of_loop(struct tt_rank *rank, const struct tt_structure *running,
                                                  const struct tt_step_sequence *sequence, const uint32_t *loop,
                                                  uint32_t count, enum tt_stability_effort effort,
                                                  struct tt_radii *radii);
/* Combines `all` with one more. Begin with .known and .exact true, all other fields 0. */
void tt_stability_join(struct tt_radii *all, const struct tt_radii *one);

/* Of all loops, QUICK. */
TUTTI_CHECKED enum tutti_err tt_stability_measure(struct tt_rank *rank, const struct tt_structure *running,
                                                  const struct tt_step_sequence *sequence, struct tt_radii *radii);

#endif
