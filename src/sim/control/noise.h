/* SPDX-License-Identifier: MIT */
/* noise.h - errors that do not fall with the step: noise of the units' own solvers, or a jump. */
#ifndef TT_SIM_CONTROL_NOISE_H
#define TT_SIM_CONTROL_NOISE_H

#include "sim/control/attempt.h"

/* A second look at the verdict of a control. A step that would be rejected because of noise is forced, and the stepper goes back
 * to where noise did not bound it; `first` is the attempt since which the error has not become less (zeroed: there is none).
 * *restart becomes true if histories are full of noise, and begin anew. */
enum tt_verdict tt_control_check_noise(struct tt_sim *master, const struct tt_attempt *attempt,
                                       const struct tt_attempt *first, enum tt_verdict verdict, bool *restart);

/* Does the error of two attempts, too large for noise, come from a jump, or from a kink that both have passed? */
bool tt_control_is_jump(const struct tt_attempt *before, const struct tt_attempt *now);

#endif
