/* SPDX-License-Identifier: MIT */
/* step_size.h - from the error of a step to the size of the next one: a PI controller that uses the order of the method
 * (Hairer, Wanner: Solving ODEs II, section IV.2, after Gustafsson).
 *
 * With q = order + 1 and e = error / SAFETY^q, so that steps settle where e = 1:
 *     accepted: h_next = h * e^(-0.7 / q) * e_before^(0.4 / q)
 *     rejected: h_next = h * e^(-1 / q)
 * bounded by SHRINK and GROW as factors, and by h_min and h_max. The step after a rejected one does not grow. */
#ifndef TT_SIM_STEP_SIZE_H
#define TT_SIM_STEP_SIZE_H

#include <stdbool.h>

#define TUTTI_STEPPER_SAFETY 0.92
#define TUTTI_STEPPER_SHRINK 0.2
#define TUTTI_STEPPER_GROW 2.0

struct tt_step_size {
    double h;     /* the proposal for the next step */
    double first; /* where it begins, and begins again after events */
    double h_min, h_max;
    double error_before; /* e of the last accepted step; 0: none */
    bool rejected;       /* the last attempt was */
    /* accepted steps are kept unless they could be much longer, so that errors that depend on their size, but are not
     * errors of the run, stay smooth */
    bool steady;
};

void tt_step_size_init(struct tt_step_size *stepper, double first, double h_min, double h_max);
/* After an event. */
void tt_step_size_restart(struct tt_step_size *stepper);
/* A step of size `h` with this error is accepted. A step that was cut short (h < proposal) takes nothing back. */
void tt_step_size_accept(struct tt_step_size *stepper, double h, double error, unsigned order);
/* A step of size `h` is rejected. */
void tt_step_size_reject(struct tt_step_size *stepper, double h, double error, unsigned order);
/* Steps longer than h are refused by a unit. */
void tt_step_size_limit(struct tt_step_size *stepper, double h);
/* The next step is `factor` times h, within the bounds. */
void tt_step_size_multiply(struct tt_step_size *stepper, double h, double factor);
/* Returns true if a step of size h cannot be shorter. */
bool tt_step_size_is_minimum(const struct tt_step_size *stepper, double h);

#endif
