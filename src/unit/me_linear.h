/* SPDX-License-Identifier: MIT */
/* me_linear.h - A, B, C, D of a Model Exchange FMU where it stands. A program's extra equations get one as their struct
 * tutti_model (<tutti/extra.h>). */
#ifndef TT_UNIT_ME_LINEAR_H
#define TT_UNIT_ME_LINEAR_H

#include "unit/state_space.h"
#include "unit/me_model.h"

/* Derivatives above outputs, by states or by inputs: A over C, B over D. */
struct tt_me_linear_half {
    struct tt_me_axis *columns;
    const double *nominals;         /* of the columns */
    struct tt_colouring all, upper; /* of both matrices, of the upper one alone */
    /* The same of rows, which adjoint derivatives (FMI 3.0) give: no colours if the FMU has none. */
    struct tt_colouring all_rows, upper_rows;
    bool rows_tested; /* they were compared with a directional derivative */
    double *seed;
};

struct tt_me_linear {
    struct tt_me_model *model; /* borrowed; all else is zero until it is first asked for */
    bool is_set_up;
    struct tt_linear linear;
    struct tt_me_axis inputs, outputs;
    struct tt_me_linear_half by_states, by_inputs;
    uint32_t *unknowns; /* references: derivatives, then outputs */
    double *product;    /* states + outputs: one call's result */
    double *here, *base, *moved;
    double *input_nominals;
    bool no_rows;  /* adjoint derivatives failed, or contradict the directional ones */
    bool singular; /* derivatives or outputs are not finite here: differences of them tell less than the FMU */
};

/* `want` of TUTTI_WANT_*; where the FMU stands (model->here). *linear is borrowed. */
TUTTI_CHECKED enum tutti_err tt_me_linear_compute(struct tt_me_linear *own, unsigned want, struct tt_linear **linear);
/* Zeroed is fine, too. */
void tt_me_linear_fini(struct tt_me_linear *own);

#endif
