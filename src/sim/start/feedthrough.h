/* SPDX-License-Identifier: MIT */
/* feedthrough.h - D of a unit: how its outputs follow its inputs where it is (Andersson 2016 eq. 5.8). */
#ifndef TT_SIM_START_FEEDTHROUGH_H
#define TT_SIM_START_FEEDTHROUGH_H

#include <math.h>
#include <stdbool.h>

#include "sim/signals/wires.h"

/* The entry of one input and one output, both scalars of type Float64. */
typedef enum tutti_err tt_feedthrough_entry(void *context, uint32_t output_node, uint32_t input_node, double value);

/* Returns the typical size of an input that is 0, if the caller knows one; otherwise 0. */
typedef double tt_feedthrough_size(const void *context, uint32_t input_node);

/* Returns true if a node can take part: a continuous Float64 with one value. */
bool tt_feedthrough_is_real(const struct tt_wires *wires, uint32_t node);

/* The request for one unit. */
struct tt_feedthrough_request {
    struct tt_unit *unit;
    const uint32_t *inputs, *outputs; /* nodes; reals with one value each */
    size_t input_count, output_count;
    tt_feedthrough_entry *entry;
    tt_feedthrough_size *size;
    void *context; /* of both */
};

/* Calls `entry` for every pair of the given inputs and outputs, by directional derivatives if the FMU has them,
 * otherwise by differences: the inputs are moved one by one and reset. The unit must be in a state where reading after
 * setting is allowed (initialisation or event mode; Model Exchange). On return its outputs in the signals are
 * unchanged. *exact becomes false if differences were used; *evaluations is their number. */
TUTTI_CHECKED enum tutti_err tt_feedthrough(struct tt_wires *wires, const struct tt_feedthrough_request *question,
                                            bool *exact, unsigned long *evaluations);
/* Calls the unit's directional derivatives of its connected outputs by its connected inputs, one by one, if it has any,
 * which tests them there (unit/cs.c). In the state described above. */
TUTTI_CHECKED enum tutti_err tt_feedthrough_test(struct tt_wires *wires, struct tt_unit *unit, uint32_t component);

/* Tests whether a difference quotient is a derivative: across a jump it grows as the distance shrinks.
 *
 * A quotient whose output moves far more than its input does is measured again over twice the distance; a derivative is
 * unchanged, the quotient across a jump is halved. */

/* Relative distances are about 1e-7: an output that moves by more than ten times that is worth a second look. */
static inline bool tt_feedthrough_is_steep(double before, double after)
{
    return fabs(after - before) > 1e-6 * fmax(fabs(before), fabs(after));
}

static inline bool tt_feedthrough_quotient_agrees(double quotient, double over_twice)
{
    return fabs(quotient - over_twice) <= 0.1 * fmax(fabs(quotient), fabs(over_twice));
}

#endif
