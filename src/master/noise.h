/* SPDX-License-Identifier: MIT */
/* noise.h - errors that do not fall with the step: noise of the units' own solvers, or a jump. */
#ifndef TUTTI_MASTER_NOISE_H
#define TUTTI_MASTER_NOISE_H

#include "master/control/attempt.h"

/* A second look at the verdict of a control. A step that would be rejected because of noise is forced, and the stepper goes back
 * to where noise did not bound it; `first` is the attempt since which the error has not become less (zeroed: there is none).
 * *restart becomes true if histories are full of noise, and begin anew. */
enum tutti_verdict tutti_noise_judge(struct tutti_master *master, const struct tutti_attempt *attempt,
                                     const struct tutti_attempt *first, enum tutti_verdict verdict, bool *restart);

/* Does the error of two attempts, too large for noise, come from a jump, or from a kink that both have passed? */
bool tutti_noise_is_jump(const struct tutti_attempt *before, const struct tutti_attempt *now);

#endif
