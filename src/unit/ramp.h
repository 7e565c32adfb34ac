/* SPDX-License-Identifier: MIT */
/* ramp.h - tests whether a Co-Simulation FMU that accepts derivatives of inputs uses them.
 *
 * Some FMUs claim canInterpolateInputs, accept fmi2SetRealInputDerivatives, and still hold their inputs: such a run is
 * late by half a step. Further instances (fresh.h) make the same steps with inputs that move in each step, and with
 * inputs that are held at its beginning. If states and outputs of both are equal to the bit, a third instance has
 * inputs that are held at the end of each step: only if that makes a difference, so that the inputs matter, the FMU
 * ignores the derivatives. For a correct FMU the test costs one step of two instances. */
#ifndef TT_UNIT_RAMP_H
#define TT_UNIT_RAMP_H

#include "unit/fresh.h"

/* First derivatives of inputs among those recorded; others are ignored. */
struct tt_ramp {
    const struct tt_fresh *fresh;
    const uint32_t *references;
    const double *slopes;
    size_t count;
    double h; /* size of a step */
};

/* A variable that shows that the FMU ignores the derivatives; TUTTI_NONE: it uses them, or that is not certain. */
uint32_t tt_ramp_find_ignored(const struct tt_ramp *ramp);

#endif
