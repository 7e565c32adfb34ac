/* SPDX-License-Identifier: MIT */
/* broadcast.h - bytes that one rank has become those of all. */
#ifndef TT_RUN_FEDERATE_BROADCAST_H
#define TT_RUN_FEDERATE_BROADCAST_H

#include "base/bytes.h"
#include "sim/rank.h"

/* Room that is used again; zeroed is empty. */
struct tt_broadcast_buffer {
    double *numbers;
    size_t room;
};

/* Collective. parcels[i] is known on the rank where mine[i] is true, which is one; afterwards on all. */
TUTTI_CHECKED enum tutti_err tt_run_federate_broadcast(struct tt_broadcast_buffer *spread, struct tt_rank *rank,
                                                       struct tt_byte_writer *parcels, const bool *mine, size_t count);
void tt_run_federate_free_broadcast(struct tt_broadcast_buffer *spread);

#endif
