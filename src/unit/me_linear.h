/* SPDX-License-Identifier: MIT */
/* me_linear.h - A, B, C, D of a Model Exchange FMU where it stands. A program's extra equations get one as their struct
 * tutti_model (<tutti/extra.h>). */
#ifndef TT_UNIT_ME_LINEAR_H
#define TT_UNIT_ME_LINEAR_H

#include <tutti/extra.h>

#include "solve/pattern.h"
#include "unit/me_model.h"
#include "unit/unit.h"

/* A unit linearised where it stands: x' = A x + B u, y = C x + D u (Andersson 2016 section 9.1.1).
 *
 * x are the states, u the continuous Real inputs, y the continuous Real outputs (elements of arrays one by one), in the
 * order of the description. */

/* In addition to TUTTI_WANT_A ... TUTTI_WANT_D. */
enum { TUTTI_WANT_VALUES = 16 };

enum { TUTTI_LINEAR_A, TUTTI_LINEAR_B, TUTTI_LINEAR_C, TUTTI_LINEAR_D, TUTTI_LINEAR_COUNT };

/* How far a column is moved to each side for a difference, in sizes of its variable: the third root of the rounding, where truncation and
 * cancellation are alike (Nocedal, Wright, Numerical Optimization, section 8.1). */
#define TUTTI_LINEAR_REACH 6.055454452393343e-6

/* Owned by the unit, or by who asked (apps/analyze/coupled_linear.h). */
struct tt_linear {
    size_t state_count, input_count, output_count;
    char **state_names, **input_names, **output_names;
    struct tt_pattern patterns[TUTTI_LINEAR_COUNT];
    double *values[TUTTI_LINEAR_COUNT];
    double *states, *derivatives, *inputs, *outputs; /* at the point, if TUTTI_WANT_VALUES was asked for */
    bool exact;                                      /* by directional derivatives; false: by differences */
    bool by_model;                                   /* the model structure determines the zeros; false: full */
};

/* For owners of one: releases its content. */
void tt_me_linear_release(struct tt_linear *linear);

/* Derivatives above outputs, by states or by inputs: A over C, B over D. */
struct tt_me_linear_half {
    struct tt_me_axis *columns;
    const double *nominals;         /* of the columns */
    struct tt_colouring all, upper; /* of both matrices, of the upper one alone */
    /* As above for rows, which adjoint derivatives (FMI 3.0) provide: no colours if the FMU has none. */
    struct tt_colouring all_rows, upper_rows;
    bool rows_tested; /* they were compared with a directional derivative */
    double *seed;
};

struct tt_me_linear {
    struct tt_me_model *model; /* borrowed; all other fields are zero until first use */
    bool is_set_up;
    struct tt_linear linear;
    struct tt_me_axis inputs, outputs;
    struct tt_me_linear_half by_states, by_inputs;
    uint32_t *unknowns; /* references: derivatives, then outputs */
    double *product;    /* states + outputs: one call's result */
    double *here, *base, *moved;
    double *input_nominals;
    bool no_rows; /* adjoint derivatives failed, or contradict the directional ones */
    /* derivatives or outputs are not finite here: differences are less informative than the FMU's message */
    bool singular;
};

/* `want` of TUTTI_WANT_*; at the FMU's point (model->here). *linear is borrowed. */
TUTTI_CHECKED enum tutti_err tt_me_linear_compute(struct tt_me_linear *own, unsigned want, struct tt_linear **linear);
/* Zeroed is fine, too. */
void tt_me_linear_fini(struct tt_me_linear *own);

#endif
