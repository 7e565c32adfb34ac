/* SPDX-License-Identifier: MIT */
/* sync_points.h - points of synchronization: federates wait for each other by a label. */
#ifndef TT_HLA_RTI_SYNC_POINTS_H
#define TT_HLA_RTI_SYNC_POINTS_H

#include "hla/rti/federation.h"

/* For these federates; none: for all, and for those that join before it is reached. Whether it was registered comes as a callback. */
TUTTI_CHECKED enum tt_hla tt_rti_register_sync_point(struct tt_ambassador *ambassador, const char *label,
                                                     struct tt_octets tag, const uint32_t *federates, size_t count);
TUTTI_CHECKED enum tt_hla tt_rti_achieve_sync_point(struct tt_ambassador *ambassador, const char *label,
                                                    bool successfully);

/* For the other modules: a federate has joined; false when memory is out. A federate leaves. */
bool tt_rti_announce_sync_points(struct tt_federate *federate);
void tt_rti_leave_sync_points(struct tt_federate *federate);

#endif
