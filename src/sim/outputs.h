/* SPDX-License-Identifier: MIT */
/* outputs.h - the Float64 outputs that steps are judged by, as one vector: first those that units read, which are in the signals
 * (wires.reals), then, if they are wanted, the continuous ones that no unit reads, component by component. */
#ifndef TT_SIM_OUTPUTS_H
#define TT_SIM_OUTPUTS_H

#include "base/rollback_list.h"
#include "sim/rank.h"

/* One that no unit reads, or an element of one. */
struct tt_unread_outputs {
    uint32_t component, variable;
    const double *value; /* where it is read to */
    double nominal;
};

struct tt_outputs {
    struct tt_rank *rank;
    uint32_t count; /* of both */
    struct tt_unread_outputs *unread;
    uint32_t *unread_first;     /* per component, and one more; NULL: none */
    struct tt_signals *signals; /* per component */
    bool fresh;                 /* unread ones are read where the units are */
};

/* `unread`: outputs that no unit reads are wanted, too. */
TUTTI_CHECKED enum tutti_err tt_outputs_open(struct tt_outputs *outputs, struct tt_rank *rank, bool unread);
void tt_outputs_close(struct tt_outputs *outputs); /* a zeroed one is fine */

/* Called after units have moved: invalidates the values read. */
void tt_outputs_invalidate(struct tt_outputs *outputs);
/* All of them where the units are, at a point at which reading is allowed; one more FMI call per unit and point. */
TUTTI_CHECKED enum tutti_err tt_outputs_read(struct tt_outputs *outputs, double *values);
/* Registers a vector with a value per output, each owned by the unit of the output. */
TUTTI_CHECKED enum tutti_err tt_outputs_register(const struct tt_outputs *outputs, struct tt_rollback_list *remembered,
                                                 double *values);
/* Whose output it is. */
struct tt_end tt_outputs_owner(const struct tt_outputs *outputs, uint32_t output);

/* Returns true if the model structure declares that an output depends on an input directly. */
bool tt_outputs_follow_inputs(const struct tt_description *desc, const struct tt_unknown *output);

#endif
