/* SPDX-License-Identifier: MIT */
/* packed_state.h - a run between two macro steps as bytes, for a process with an equal job, on any number of ranks.
 *
 * The state of a unit is packed by its rank, the common state by the first rank. The resumed run and the running one
 * continue with equal bits: a solver whose memory is inaccessible (SUNDIALS) restarts in both. */
#ifndef TT_SIM_CHECKPOINT_PACKED_STATE_H
#define TT_SIM_CHECKPOINT_PACKED_STATE_H

#include "sim/checkpoint/checkpoint.h"
#include "sim/execution.h"

/* Zeroed is ready; its memory is reused. */
struct tt_state_packer {
    struct tt_unit_saved **saved; /* per own member */
};
void tt_packed_state_fini_packer(struct tt_state_packer *packer, struct tt_execution *execution);

/* Checks that all units of all ranks can be packed. UNSUPPORTED, naming those that cannot and the remedy. Collective;
 * before the first step. */
TUTTI_CHECKED enum tutti_err tt_packed_state_check_units(struct tt_execution *execution);

/* Returns true if the unit's state can be packed without a record of its calls. */
bool tt_packed_state_serializes(const struct tt_unit *unit);
/* Returns true if the unit is restored by repeating its calls (unit/replay.h): with --checkpoint-replay, if its FMU
 * cannot serialise its state, or does so incompletely. */
bool tt_packed_state_uses_replay(const struct tt_rank *rank, const struct tt_unit *unit);
/* Prepares own units that use it, before it is decided how units are stepped. UNSUPPORTED unless stepped one by one. */
TUTTI_CHECKED enum tutti_err tt_packed_state_attach_replay(struct tt_execution *execution);
/* Starts recording their calls. */
void tt_packed_state_record_replay(struct tt_execution *execution);

/* Packs the state that is equal on every rank. MEMORY. */
TUTTI_CHECKED enum tutti_err tt_packed_state_pack_common(struct tt_execution *execution, struct tt_byte_writer *parcel);
/* Before units are packed: adds the counts of the fast lane to them. */
void tt_packed_state_flush_counts(struct tt_execution *execution);
/* A unit of this rank, with its part of everything. UNSUPPORTED; MEMORY is in the parcel. */
TUTTI_CHECKED enum tutti_err tt_packed_state_pack_unit(struct tt_state_packer *packer, struct tt_execution *execution,
                                                       uint32_t own, struct tt_byte_writer *parcel);

/* As above for a unit at the point `saved`. */
TUTTI_CHECKED enum tutti_err tt_packed_state_pack_unit_at(struct tt_execution *execution, uint32_t own,
                                                          const struct tt_unit_saved *saved,
                                                          struct tt_byte_writer *parcel);
/* Packs this rank's data about a unit of a different rank, for a rank that has such data. */
void tt_packed_state_pack_remote(const struct tt_execution *execution, uint32_t component,
                                 struct tt_byte_writer *parcel);

/* Restores the point of the checkpoint in a run that has reached its first step. FORMAT: it belongs to a different run. */
TUTTI_CHECKED enum tutti_err tt_packed_state_unpack(struct tt_execution *execution,
                                                    const struct tt_checkpoint *checkpoint);

/* Rows of the result before the checkpoint, for a conductor. */
unsigned long tt_packed_state_count_rows(const struct tt_checkpoint *checkpoint);

#endif
