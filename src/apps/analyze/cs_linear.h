/* SPDX-License-Identifier: MIT */
/* cs_linear.h - D of a Co-Simulation FMU where it stands: y = D u for small changes of its inputs. Its states cannot be seen, and count as constant:
 * A, B and C are empty.
 *
 * Directional derivatives give D if the FMU has them. Else the FMU is saved, makes a step that is so short that states do not move with inputs moved
 * to both sides, and is restored: between steps a Co-Simulation FMU must not be read after its inputs are set. */
#ifndef TT_APPS_ANALYZE_CS_LINEAR_H
#define TT_APPS_ANALYZE_CS_LINEAR_H

#include "unit/state_space.h"
#include "unit/me_axis.h"

struct tt_cs_linear {
    struct tt_linear linear;
    struct tt_me_axis inputs, outputs;
};

/* Where such a short step may be made. */
struct tt_cs_moment {
    double t, step, latest; /* `step` is its size, and it ends at `latest` at the latest */
};

/* `own` is zeroed; release it also after a failure. UNSUPPORTED, naming what the FMU lacks, where there is no way to D; FMU if it does not
 * make the short step. */
TUTTI_CHECKED enum tutti_err tt_coupled_linear_compute_cs(struct tt_cs_linear *own, struct tt_unit *unit,
                                                          const struct tt_cs_moment *moment);
void tt_coupled_linear_free_cs(struct tt_cs_linear *own);

#endif
