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

#include "sim/rank.h"
#include "unit/me_linear.h"
#include "unit/me_model.h"

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

/* D of a Co-Simulation FMU where it stands: y = D u for small changes of its inputs. Its states cannot be seen, and count as constant:
 * A, B and C are empty.
 *
 * Directional derivatives give D if the FMU has them. Else the FMU is saved, makes a step that is so short that states do not move with inputs moved
 * to both sides, and is restored: between steps a Co-Simulation FMU must not be read after its inputs are set. */

struct tt_cs_linear {
    struct tt_linear linear;
    struct tt_me_axis inputs, outputs;
};

/* Where such a short step may be made. */
struct tt_cs_moment {
    double t, step, latest; /* `step` is its size, and it ends at `latest` at the latest */
};

/* Computes D of a Co-Simulation unit. `own` is zeroed; release it also after a failure. UNSUPPORTED, naming the missing
 * capability, if D cannot be determined; FMU if it does not make the short step. */
TUTTI_CHECKED enum tutti_err tt_coupled_linear_compute_cs(struct tt_cs_linear *own, struct tt_unit *unit,
                                                          const struct tt_cs_moment *moment);
void tt_coupled_linear_free_cs(struct tt_cs_linear *own);

/* All units of a rank, linearised where they stand, and what connects them: what coupled_linear.h makes one linear system of. */

struct tt_linear_collection {
    struct tt_rank *rank; /* borrowed; all else is zero before it is made */
    uint32_t count;       /* of its units */
    struct tt_linear_part *parts;
    struct tt_cs_linear *own;                         /* per unit; of those for Co-Simulation */
    size_t *first_state, *first_input, *first_output; /* per unit, and one more: counted through all */
    struct tt_linear_link *links;
    size_t link_count, link_room;
    bool out_of_memory;
};

/* fini follows in any case. UNSUPPORTED, naming the unit, for one that cannot be linearised. */
TUTTI_CHECKED enum tutti_err tt_coupled_linear_collect(struct tt_linear_collection *collection);
/* The units need not be there any more. */
void tt_coupled_linear_free_collection(struct tt_linear_collection *collection);

/* The place of a variable's first value among all inputs, or outputs; it must be a continuous Float64 of that causality. */
size_t tt_coupled_linear_index(const struct tt_linear_collection *collection, uint32_t component, uint32_t variable,
                               bool output);

#endif
