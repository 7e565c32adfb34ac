/* SPDX-License-Identifier: MIT */
/* snapshot.h - a point of a run to go back to: every unit, and the state of the rank (state.def). */
#ifndef TT_SIM_SNAPSHOT_H
#define TT_SIM_SNAPSHOT_H

#include <stdbool.h>

#include "sim/rank.h"

struct tt_saved_texts;
struct tt_unit_saved;

/* What restores a piece of the state, and whose it is (state.def). */
enum tt_state_carried { TUTTI_STATE_ROLLBACK = 1, TUTTI_STATE_POINT = 2, TUTTI_STATE_CHECKPOINT = 4 };
enum tt_state_owner { TUTTI_STATE_OF_RANK, TUTTI_STATE_OF_UNIT, TUTTI_STATE_OF_OWN };
enum { TUTTI_MOST_PIECES = 8 }; /* of one owner */

struct tt_state_piece {
    void *data;
    size_t size;
    unsigned carried;
    char *saved; /* its place in a snapshot */
};

/* The pieces of the rank, or of a member; returns how many. */
size_t tt_snapshot_list(const struct tt_rank *rank, const struct tt_member *member, enum tt_state_owner owner,
                        struct tt_state_piece pieces[TUTTI_MOST_PIECES]);

struct tt_snapshot {
    bool made; /* memory is there */
    double t;
    struct tt_unit_saved **saved; /* per member */
    struct tt_state_piece *pieces;
    size_t piece_count, *own_first; /* per member, and one more: its first piece that no other rank has */
    uint32_t member_count;
    const char *signals;
    struct tt_saved_texts *texts; /* Strings and Binaries among these; NULL: there are none */
    struct tt_arena arena;        /* of all of it */
};

/* Takes it, at a point between steps. UNSUPPORTED, naming the unit and what it lacks. Memory is reused from one to the
 * next. */
TUTTI_CHECKED enum tutti_err tt_snapshot_take(struct tt_snapshot *snapshot, struct tt_rank *rank);
/* Everything that `what` restores is as it was; any number of times. */
TUTTI_CHECKED enum tutti_err tt_snapshot_restore(const struct tt_snapshot *snapshot, struct tt_rank *rank,
                                                 enum tt_state_carried what);
/* The same for one own unit: it, its inputs and its outputs in the signals; the clock and all other units stay where they are. Its
 * discrete inputs are to be staged before its next step, and are set there again. */
TUTTI_CHECKED enum tutti_err tt_snapshot_restore_member(const struct tt_snapshot *snapshot, struct tt_rank *rank,
                                                        struct tt_member *member);
/* Restores some units, of any rank, with this rank's data about their outputs. Collective, as an exchange. */
TUTTI_CHECKED enum tutti_err tt_snapshot_restore_members(const struct tt_snapshot *snapshot, struct tt_rank *rank,
                                                         const uint32_t *components, uint32_t count);
/* While the units are alive. A zeroed one is fine. */
void tt_snapshot_fini(struct tt_snapshot *snapshot, struct tt_rank *rank);

/* Where a member was. */
const struct tt_member_state *tt_snapshot_member(const struct tt_snapshot *snapshot, uint32_t component);

/* What a checkpoint contains of the rank, or of a member; and back. FORMAT: it is of another run. */
void tt_snapshot_pack(const struct tt_rank *rank, const struct tt_member *member, enum tt_state_owner owner,
                      struct tt_byte_writer *parcel);
TUTTI_CHECKED enum tutti_err tt_snapshot_unpack(struct tt_rank *rank, struct tt_member *member,
                                                enum tt_state_owner owner, struct tt_byte_reader *in);

#endif
