/* SPDX-License-Identifier: MIT */
/* me_linear.h - A, B, C, D of a Model Exchange FMU where it stands. A program's extra equations get one as their struct
 * tutti_model (<tutti/extra.h>). */
#ifndef TUTTI_UNIT_ME_LINEAR_H
#define TUTTI_UNIT_ME_LINEAR_H

#include "unit/linear.h"
#include "unit/me_model.h"

/* Derivatives above outputs, by states or by inputs: A over C, B over D. */
struct me_linear_half {
    struct me_axis *columns;
    const double *nominals;            /* of the columns */
    struct tutti_colouring all, upper; /* of both matrices, of the upper one alone */
    /* The same of rows, which adjoint derivatives (FMI 3.0) give: no colours if the FMU has none. */
    struct tutti_colouring all_rows, upper_rows;
    bool rows_tested; /* they were compared with a directional derivative */
    double *seed;
};

struct me_linear {
    struct me_model *model; /* borrowed; all else is zero until it is first asked for */
    bool is_set_up;
    struct tutti_linear linear;
    struct me_axis inputs, outputs;
    struct me_linear_half by_states, by_inputs;
    uint32_t *unknowns; /* references: derivatives, then outputs */
    double *product;    /* states + outputs: one call's result */
    double *here, *base, *moved;
    double *input_nominals;
    bool no_rows;  /* adjoint derivatives failed, or contradict the directional ones */
    bool singular; /* derivatives or outputs are not finite here: differences of them tell less than the FMU */
};

/* `want` of TUTTI_WANT_*; where the FMU stands (model->here). *linear is borrowed. */
TUTTI_CHECKED enum tutti_err tutti_me_linearize(struct me_linear *own, unsigned want, struct tutti_linear **linear);
/* Zeroed is fine, too. */
void tutti_me_linear_fini(struct me_linear *own);

#endif
