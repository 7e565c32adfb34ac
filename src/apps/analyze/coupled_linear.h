/* SPDX-License-Identifier: MIT */
/* coupled_linear.h - the linear systems of units and what connects them as one linear system (Andersson 2016 eq. 6.5).
 *
 * With x' = A x + B u, y = C x + D u of all units, block by block, and u = L y + E w, w being the inputs that no connection reaches:
 *
 *     x' = (A + B L (I - D L)^-1 C) x + (B + B L (I - D L)^-1 D) E w
 *     y  =           (I - D L)^-1 C x +             (I - D L)^-1 D E w
 *
 * I - D L is factorised once, sparse, by KLU; the columns are found one after the other. Entries that come out as 0 are left out. */
#ifndef TT_APPS_ANALYZE_COUPLED_LINEAR_H
#define TT_APPS_ANALYZE_COUPLED_LINEAR_H

#include <tutti/linearize.h>

#include "unit/state_space.h"

/* A unit and its matrices. Borrowed. */
struct tt_linear_part {
    const char *name;
    const struct tt_linear *linear;
};

/* Input `input` gets `factor` times output `output`; both are counted through all parts. */
struct tt_linear_link {
    size_t output, input;
    double factor;
};

/* Fills in sizes, names ("unit.variable"), values and matrices of `out`, which is zeroed; the caller releases it also after a failure. SOLVER if
 * I - D L is singular: an algebraic loop has no solution, or many. */
TUTTI_CHECKED enum tutti_err tt_coupled_linear_assemble(struct tutti_linearization *out,
                                                        const struct tt_linear_part *parts, size_t part_count,
                                                        const struct tt_linear_link *links, size_t link_count);

#endif
