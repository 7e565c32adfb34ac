/* SPDX-License-Identifier: MIT */
/* replay.h - a unit whose FMU cannot serialise its state, brought back by telling it again what it was told since the start.
 *
 * The unit's functions are replaced by others that keep a record of every call that matters for what follows (sets, steps, events), of what
 * the FMU asked for inside of a step, and hashes of what it answered. A unit that goes back to a point that it saved forgets what came after it.
 * In another process, with a unit that has come to the start in the same way, the calls are made once more; answers that are others than
 * those recorded end it.
 *
 * The record is held in memory. A step with a few inputs and outputs takes some 60 bytes. */
#ifndef TT_UNIT_REPLAY_H
#define TT_UNIT_REPLAY_H

#include "unit/unit.h"

struct tt_replay;

/* From now on the unit's calls pass here; released with it. Records of more than `most` bytes are given up. MEMORY. */
TUTTI_CHECKED enum tutti_err tt_replay_attach(struct tt_unit *unit, size_t most);
/* The unit is at the start: what comes now is recorded. */
void tt_replay_start(struct tt_unit *unit);

/* The record so far. UNSUPPORTED: it has grown beyond what was allowed. */
TUTTI_CHECKED enum tutti_err tt_replay_pack(const struct tt_unit *unit, struct tt_byte_writer *parcel);

/* Called for every step that is made once more. An error ends it. */
struct tt_replay_watch {
    enum tutti_err (*pass)(void *context, double t);
    void *context;
};
/* Brings a unit that is at the start, with nothing recorded, to where such a record ends; recording goes on from there. FORMAT; FMU: it answers
 * otherwise than it did. */
TUTTI_CHECKED enum tutti_err tt_replay_unpack(struct tt_unit *unit, struct tt_byte_reader *in,
                                              const struct tt_replay_watch *watch);

/* For kinds, inside of a step: values of inputs that move, as they were then, if the step is made once more; false: they are to be found, and
 * noted. `replay` may be NULL. */
bool tt_replay_read_moving(struct tt_replay *replay, double *values, size_t count);
void tt_replay_record_moving(struct tt_replay *replay, const double *values, size_t count);

#endif
