/* SPDX-License-Identifier: MIT */
/* scale.h - how large outputs are in this run, and how far they may be off by now.
 *
 * Errors count as a part of the range that an output has moved over so far. (In the first hundredth of the run that is little;
 * it counts how far it would come there with the speed that it has; so it does for an output that begins to move later on.) A
 * signal that hardly moves is measured by a hundredth of its size: 300 K are not computed to a part of 1 mK.
 *
 * Errors of accepted steps are added up, output by output: what the whole run may be off by, if errors neither die out nor
 * grow. Everything is kept of own units only. */
#ifndef TT_SIM_CONTROL_SCALE_H
#define TT_SIM_CONTROL_SCALE_H

#include "base/rollback_list.h"
#include "sim/outputs.h"

struct tt_scale {
    const struct tt_outputs *outputs; /* whose it is; borrowed */
    double *low, *high;               /* of outputs at accepted points; infinite before the first */
    double *step;                     /* errors of the attempt that is being judged */
    double *sum;                      /* ... of all accepted steps; of direct ones the largest */
    bool
        *direct; /* it follows inputs directly, and so errs as these do at one point, but does not gather errors; others
                           of its unit's outputs show those that its states gather */
};

TUTTI_CHECKED enum tutti_err tt_norm_open_scale(struct tt_scale *scale, const struct tt_outputs *outputs);
/* What accepted steps have left there; nothing if it was not opened. */
TUTTI_CHECKED enum tutti_err tt_norm_register_scale(struct tt_scale *scale, struct tt_rollback_list *remembered);
/* Outputs at an accepted point. */
void tt_norm_update_scale(struct tt_scale *scale, const double *values);
/* Is it so early that ranges are small yet? */
bool tt_norm_scale_is_early(const struct tt_scale *scale);
/* That of one output, if a step of size h led to `now`, which it moved it by `move`. */
double tt_norm_output_scale(const struct tt_scale *scale, uint32_t output, double now, double move, double h);
/* The step with the errors `step` is accepted. */
void tt_norm_accept_scale(struct tt_scale *scale);

#endif
