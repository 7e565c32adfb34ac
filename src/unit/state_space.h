/* SPDX-License-Identifier: MIT */
/* linear.h - a unit linearised where it stands: x' = A x + B u, y = C x + D u (Andersson 2016 section 9.1.1).
 *
 * x are the states, u the continuous Real inputs, y the continuous Real outputs (elements of arrays one by one), in the
 * order of the description. */
#ifndef TT_UNIT_STATE_SPACE_H
#define TT_UNIT_STATE_SPACE_H

#include <tutti/extra.h>

#include "solve/pattern.h"
#include "unit/unit.h"

/* Beside TUTTI_WANT_A ... TUTTI_WANT_D. */
enum { TUTTI_WANT_VALUES = 16 };

enum { TUTTI_LINEAR_A, TUTTI_LINEAR_B, TUTTI_LINEAR_C, TUTTI_LINEAR_D, TUTTI_LINEAR_COUNT };

/* How far a column is moved to each side for a difference, in sizes of its variable: the third root of the rounding, where truncation and
 * cancellation are alike (Nocedal, Wright, Numerical Optimization, section 8.1). */
#define TUTTI_LINEAR_REACH 6.055454452393343e-6

/* Owned by the unit, or by who asked (apps/analyze/cs_linear.h). */
struct tt_linear {
    size_t state_count, input_count, output_count;
    char **state_names, **input_names, **output_names;
    struct tt_pattern patterns[TUTTI_LINEAR_COUNT];
    double *values[TUTTI_LINEAR_COUNT];
    double *states, *derivatives, *inputs, *outputs; /* at the point, if TUTTI_WANT_VALUES was asked for */
    bool exact;                                      /* by directional derivatives; else by differences */
    bool by_model; /* the model structure says where zeros are; else anything may depend on anything */
};

/* For those that own one: what lies in it. */
void tt_me_linear_release(struct tt_linear *linear);

#endif
