/* SPDX-License-Identifier: MIT */
/* outputs.h - the Float64 outputs that steps are judged by, as one vector: first those that units read, which are in the signals
 * (wires.reals), then, if they are wanted, the continuous ones that no unit reads, component by component. */
#ifndef TUTTI_MASTER_OUTPUTS_H
#define TUTTI_MASTER_OUTPUTS_H

#include "base/remembered.h"
#include "rank/rank.h"

/* One that no unit reads, or an element of one. */
struct tutti_unread {
    uint32_t component, variable;
    const double *value; /* where it is read to */
    double nominal;
};

struct tutti_outputs {
    struct tutti_rank *rank;
    uint32_t count; /* of both */
    struct tutti_unread *unread;
    uint32_t *unread_first;        /* per component, and one more; NULL: there are none */
    struct tutti_signals *signals; /* per component */
    bool fresh;                    /* unread ones are read where the units are */
};

/* `unread`: outputs that no unit reads are wanted, too. */
TUTTI_CHECKED enum tutti_err tutti_outputs_open(struct tutti_outputs *outputs, struct tutti_rank *rank, bool unread);
void tutti_outputs_close(struct tutti_outputs *outputs); /* a zeroed one is fine */

/* Units have moved: what was read is old. */
void tutti_outputs_forget(struct tutti_outputs *outputs);
/* All of them where the units are, at a point at which reading is allowed; one more FMI call per unit and point. */
TUTTI_CHECKED enum tutti_err tutti_outputs_take(struct tutti_outputs *outputs, double *values);
/* A vector with a value per output is remembered, each with the unit whose output it is. */
TUTTI_CHECKED enum tutti_err tutti_outputs_remember(const struct tutti_outputs *outputs,
                                                    struct tutti_remembered *remembered, double *values);
/* Whose output it is. */
struct tutti_end tutti_outputs_end(const struct tutti_outputs *outputs, uint32_t output);

/* Does the model structure tell that an output follows some input directly? */
bool tutti_outputs_follow_inputs(const struct tutti_desc *desc, const struct tutti_unknown *output);

#endif
