/* SPDX-License-Identifier: MIT */
/* ramp.h - does a Co-Simulation FMU that takes derivatives of inputs use them?
 *
 * Some FMUs claim canInterpolateInputs, accept what fmi2SetRealInputDerivatives gives them, and hold their inputs all the same: such a run
 * is late by half a step. Further instances (fresh.h) make the same steps with inputs that move in each step, and with inputs that are held at
 * its beginning. If states and outputs of both are the same to the bit, a third one has inputs that are held at the end of each step: only
 * where that makes a difference, so that the inputs matter, does the FMU ignore the derivatives. An FMU that does not costs one step of two
 * instances. */
#ifndef TT_UNIT_RAMP_H
#define TT_UNIT_RAMP_H

#include "unit/fresh.h"

/* First derivatives of inputs among those that are noted; others are not looked at. */
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
