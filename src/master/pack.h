/* SPDX-License-Identifier: MIT */
/* pack.h - a run between two macro steps as bytes, for another process with the same job, on however many ranks.
 *
 * What belongs to a unit, its rank packs; what is the same on every rank, the first one does. Going on from there gives the same
 * bits as going on here: a solver that keeps a memory that cannot be had (SUNDIALS) begins anew in both. */
#ifndef TUTTI_MASTER_PACK_H
#define TUTTI_MASTER_PACK_H

#include "checkpoint/checkpoint.h"
#include "master/execution.h"

/* Zeroed is ready; what is made once is used again. */
struct tutti_packer {
    struct tutti_unit_saved **saved; /* per own member */
};
void tutti_packer_fini(struct tutti_packer *packer, struct tutti_execution *execution);

/* Can all units of all ranks be packed? UNSUPPORTED, naming those that cannot and what would help. Collective; before the first
 * step. */
TUTTI_CHECKED enum tutti_err tutti_pack_check(struct tutti_execution *execution);

/* Can the unit's own state be packed, without a record of what it was told? */
bool tutti_pack_serialises(const struct tutti_unit *unit);
/* Is the unit brought back by telling it again what it was told (unit/replay.h)? By --checkpoint-replay, if its FMU cannot serialise its state, or
 * does so incompletely. */
bool tutti_pack_replays(const struct tutti_rank *rank, const struct tutti_unit *unit);
/* Own units of which that holds get ready for it: before it is decided how units are stepped ... UNSUPPORTED: they are not stepped one by one. */
TUTTI_CHECKED enum tutti_err tutti_pack_attach(struct tutti_execution *execution);
/* ... and what they are told from now on is recorded. */
void tutti_pack_record(struct tutti_execution *execution);

/* What is the same on every rank. MEMORY. */
TUTTI_CHECKED enum tutti_err tutti_pack_common(struct tutti_execution *execution, struct tutti_parcel *parcel);
/* Before units are packed: what the fast lane has counted is theirs. */
void tutti_pack_begin(struct tutti_execution *execution);
/* A unit of this rank, with its part of everything. UNSUPPORTED; MEMORY is in the parcel. */
TUTTI_CHECKED enum tutti_err tutti_pack_unit(struct tutti_packer *packer, struct tutti_execution *execution,
                                             uint32_t own, struct tutti_parcel *parcel);

/* The same of a unit that stands at the point `saved`. */
TUTTI_CHECKED enum tutti_err tutti_pack_unit_at(struct tutti_execution *execution, uint32_t own,
                                                const struct tutti_unit_saved *saved, struct tutti_parcel *parcel);
/* What this rank knows of another rank's unit: for a rank that reads the same of it. */
void tutti_pack_other(const struct tutti_execution *execution, uint32_t component, struct tutti_parcel *parcel);

/* The run, which has come to its first step, is where the checkpoint was taken. FORMAT: it is one of another run. */
TUTTI_CHECKED enum tutti_err tutti_unpack(struct tutti_execution *execution, const struct tutti_checkpoint *checkpoint);

#endif
