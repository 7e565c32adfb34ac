/* SPDX-License-Identifier: MIT */
/* me_derivatives.h - derivatives of outputs of a Model Exchange unit: by time, along the solution, and by inputs. Uses
 * directional derivatives of the FMU if it provides them, otherwise differences. */
#ifndef TT_UNIT_ME_DERIVATIVES_H
#define TT_UNIT_ME_DERIVATIVES_H

#include "unit/me_solution.h"

struct tt_me_derivatives {
    struct tt_me_solution *solution; /* borrowed; all other fields are zero until first use */
    uint32_t *timeless;              /* references of outputs that do not depend on time itself, ascending */
    size_t timeless_count;
    double *numbers; /* work room, which grows and is kept */
    uint32_t *references;
    size_t number_room, reference_room;
};

/* As get_output_derivatives and get_directional of unit.h. */
TUTTI_CHECKED enum tutti_err tt_me_derivatives_by_time(struct tt_me_derivatives *own, const uint32_t *references,
                                                       size_t count, int32_t order, double *values);
TUTTI_CHECKED enum tutti_err tt_me_derivatives_by_inputs(struct tt_me_derivatives *own, const uint32_t *unknowns,
                                                         size_t unknown_count, const uint32_t *knowns,
                                                         size_t known_count, const double *seed, double *sensitivity);
/* Zeroed is fine, too. */
void tt_me_derivatives_fini(struct tt_me_derivatives *own);

#endif
