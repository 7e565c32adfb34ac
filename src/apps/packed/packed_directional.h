/* SPDX-License-Identifier: MIT */
/* packed_directional.h - directional derivatives of a packed system: those of its units, combined along their
 * connections (apps/analyze/coupled_linear.h).
 *
 * While the instance is initialised, it is restarted with inputs moved to both sides: more variables may depend on them
 * there than later (states that an FMU computes from its inputs). */
#ifndef TT_APPS_PACKED_PACKED_DIRECTIONAL_H
#define TT_APPS_PACKED_PACKED_DIRECTIONAL_H

#include "apps/packed/packed.h"

/* Variables by their value references, with as many values as all of them have. */
struct tt_directional_side {
    const uint32_t *references;
    size_t count, value_count;
};

/* product = d(unknowns)/d(knowns) seed where the instance is. Knowns are inputs that change continuously, and by Model Exchange states; unknowns outputs,
 * and derivatives of states. ARGUMENT for others, naming them. */
TUTTI_CHECKED enum tutti_err tt_packed_directional_compute(struct tt_packed *packed,
                                                           const struct tt_directional_side *unknowns,
                                                           const struct tt_directional_side *knowns, const double *seed,
                                                           double *product);
/* Discards the data of the last point; the instance may have ended. NULL is allowed. */
void tt_packed_directional_invalidate(struct tt_packed *packed);

#endif
