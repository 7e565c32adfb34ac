/* SPDX-License-Identifier: MIT */
/* scale.h - how large outputs are in this run, and how far they may be off by now.
 *
 * Errors count as a part of the range that an output has moved over so far. (In the first hundredth of the run that is little;
 * it counts how far it would come there with the speed that it has; so it does for an output that begins to move later on.) A
 * signal that hardly moves is measured by a hundredth of its size: 300 K are not computed to a part of 1 mK.
 *
 * Errors of accepted steps are added up, output by output: what the whole run may be off by, if errors neither die out nor
 * grow. Everything is kept of own units only. */
#ifndef TUTTI_MASTER_CONTROL_SCALE_H
#define TUTTI_MASTER_CONTROL_SCALE_H

#include "base/remembered.h"
#include "master/outputs.h"

struct tutti_scale {
    const struct tutti_outputs *outputs; /* whose it is; borrowed */
    double *low, *high;                  /* of outputs at accepted points; infinite before the first */
    double *step;                        /* errors of the attempt that is being judged */
    double *sum;                         /* ... of all accepted steps; of direct ones the largest */
    bool
        *direct; /* it follows inputs directly, and so errs as these do at one point, but does not gather errors; others
                           of its unit's outputs show those that its states gather */
};

TUTTI_CHECKED enum tutti_err tutti_scale_open(struct tutti_scale *scale, const struct tutti_outputs *outputs);
/* What accepted steps have left there; nothing if it was not opened. */
TUTTI_CHECKED enum tutti_err tutti_scale_remember(struct tutti_scale *scale, struct tutti_remembered *remembered);
/* Outputs at an accepted point. */
void tutti_scale_see(struct tutti_scale *scale, const double *values);
/* Is it so early that ranges are small yet? */
bool tutti_scale_is_early(const struct tutti_scale *scale);
/* That of one output, if a step of size h led to `now`, which it moved it by `move`. */
double tutti_scale_of(const struct tutti_scale *scale, uint32_t output, double now, double move, double h);
/* The step with the errors `step` is accepted. */
void tutti_scale_add(struct tutti_scale *scale);

#endif
