/* SPDX-License-Identifier: MIT */
/* pack.h - a run between two macro steps as bytes, for another process with the same job, on however many ranks.
 *
 * What belongs to a unit, its rank packs; what is the same on every rank, the first one does. Going on from there gives the same
 * bits as going on here: a solver that keeps a memory that cannot be had (SUNDIALS) begins anew in both. */
#ifndef TT_SIM_CHECKPOINT_PACKED_STATE_H
#define TT_SIM_CHECKPOINT_PACKED_STATE_H

#include "sim/checkpoint/checkpoint.h"
#include "sim/execution.h"

/* Zeroed is ready; what is made once is used again. */
struct tt_state_packer {
    struct tt_unit_saved **saved; /* per own member */
};
void tt_packed_state_fini_packer(struct tt_state_packer *packer, struct tt_execution *execution);

/* Can all units of all ranks be packed? UNSUPPORTED, naming those that cannot and what would help. Collective; before the first
 * step. */
TUTTI_CHECKED enum tutti_err tt_packed_state_check_units(struct tt_execution *execution);

/* Can the unit's own state be packed, without a record of what it was told? */
bool tt_packed_state_serializes(const struct tt_unit *unit);
/* Is the unit brought back by telling it again what it was told (unit/replay.h)? By --checkpoint-replay, if its FMU cannot serialise its state, or
 * does so incompletely. */
bool tt_packed_state_uses_replay(const struct tt_rank *rank, const struct tt_unit *unit);
/* Own units of which that holds get ready for it: before it is decided how units are stepped ... UNSUPPORTED: they are not stepped one by one. */
TUTTI_CHECKED enum tutti_err tt_packed_state_attach_replay(struct tt_execution *execution);
/* ... and what they are told from now on is recorded. */
void tt_packed_state_record_replay(struct tt_execution *execution);

/* What is the same on every rank. MEMORY. */
TUTTI_CHECKED enum tutti_err tt_packed_state_pack_common(struct tt_execution *execution, struct tt_byte_writer *parcel);
/* Before units are packed: what the fast lane has counted is theirs. */
void tt_packed_state_flush_counts(struct tt_execution *execution);
/* A unit of this rank, with its part of everything. UNSUPPORTED; MEMORY is in the parcel. */
TUTTI_CHECKED enum tutti_err tt_packed_state_pack_unit(struct tt_state_packer *packer, struct tt_execution *execution,
                                                       uint32_t own, struct tt_byte_writer *parcel);

/* The same of a unit that stands at the point `saved`. */
TUTTI_CHECKED enum tutti_err tt_packed_state_pack_unit_at(struct tt_execution *execution, uint32_t own,
                                                          const struct tt_unit_saved *saved,
                                                          struct tt_byte_writer *parcel);
/* What this rank knows of another rank's unit: for a rank that reads the same of it. */
void tt_packed_state_pack_remote(const struct tt_execution *execution, uint32_t component,
                                 struct tt_byte_writer *parcel);

/* The run, which has come to its first step, is where the checkpoint was taken. FORMAT: it is one of another run. */
TUTTI_CHECKED enum tutti_err tt_packed_state_unpack(struct tt_execution *execution,
                                                    const struct tt_checkpoint *checkpoint);

#endif
