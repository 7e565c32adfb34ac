/* SPDX-License-Identifier: MIT */
/* replay.h - restores a unit whose FMU cannot serialise its state by repeating all calls since the start.
 *
 * The unit's functions are replaced by versions that record every call that affects later results (sets, steps,
 * events), the FMU's requests inside a step, and hashes of its answers. A unit that is rolled back to a saved point
 * discards the later part. In a different process, with a unit that has reached the start in an equal way, the calls
 * are repeated; an answer that differs from the record is an error.
 *
 * The record is held in memory. A step with a few inputs and outputs takes some 60 bytes. */
#ifndef TT_UNIT_REPLAY_H
#define TT_UNIT_REPLAY_H

#include "unit/unit.h"

struct tt_replay;

/* From now on the unit's calls pass here; released with it. Records of more than `most` bytes are given up. MEMORY. */
TUTTI_CHECKED enum tutti_err tt_replay_attach(struct tt_unit *unit, size_t most);
/* Called when the unit is at the start: recording begins. */
void tt_replay_start(struct tt_unit *unit);

/* Packs the record so far. UNSUPPORTED: it has exceeded its limit. */
TUTTI_CHECKED enum tutti_err tt_replay_pack(const struct tt_unit *unit, struct tt_byte_writer *parcel);

/* Called for every step that is made once more. An error ends it. */
struct tt_replay_watch {
    enum tutti_err (*pass)(void *context, double t);
    void *context;
};
/* Brings a unit that is at the start, with an empty record, to the end of the given record; recording continues from
 * there. FORMAT; FMU: its answers differ. */
TUTTI_CHECKED enum tutti_err tt_replay_unpack(struct tt_unit *unit, struct tt_byte_reader *in,
                                              const struct tt_replay_watch *watch);

/* For kinds, inside a step: returns the recorded values of moving inputs if the step is being repeated; false: the
 * caller must compute them, and they are recorded. `replay` may be NULL. */
bool tt_replay_read_moving(struct tt_replay *replay, double *values, size_t count);
void tt_replay_record_moving(struct tt_replay *replay, const double *values, size_t count);

#endif
