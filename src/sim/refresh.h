/* SPDX-License-Identifier: MIT */
/* refresh.h - reads variables of a row with feed-through again, with the inputs that correspond to the signals of the
 * row.
 *
 * At the end of a step a unit returns them for the inputs that it had in the step: held, or extrapolated. Outputs that
 * units read are corrected (sim/coupling/correction.h), or belong to the end of the step; outputs that no unit reads,
 * derivatives and locals are read again for the record: by Model Exchange with the inputs set, by Co-Simulation (FMI
 * allows no reading between setting and stepping) after a very short step with them. At the end of the run there is no
 * room for such a step: there they are corrected by the difference between two such steps at the start of the last
 * step.
 *
 * Invariant RN1: the unit's state is restored to the bit; rows and their content do not affect the run. */
#ifndef TT_SIM_REFRESH_H
#define TT_SIM_REFRESH_H

#include "sim/snapshot.h"
#include "sim/report/record.h"

struct tt_refresh {
    struct tt_rank *rank;
    const struct tt_snapshot *start; /* of the last macro step */
    double rtol;                     /* of the run */
    double *held, *brought;          /* room for the inputs of a unit */
    struct tt_unit_saved **saved;    /* per member; NULL: none */
    bool *refused;                   /* per member: its FMU made no such step */
};

/* Opens it with the units' inputs laid out. Borrows its arguments; close while units exist. Zeroed is fine for close. */
TUTTI_CHECKED enum tutti_err tt_refresh_open(struct tt_refresh *renewal, struct tt_rank *rank,
                                             const struct tt_snapshot *start, double rtol);
void tt_refresh_close(struct tt_refresh *renewal);

/* For struct tt_row_refresh. */
TUTTI_CHECKED enum tutti_err tt_refresh_read(void *renewal, uint32_t component, struct tt_signals *signals);

#endif
