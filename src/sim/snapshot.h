/* SPDX-License-Identifier: MIT */
/* snapshot.h - a point of a run to go back to: every unit, where each is, its inputs, the signals between them. */
#ifndef TT_SIM_SNAPSHOT_H
#define TT_SIM_SNAPSHOT_H

#include <stdbool.h>

#include "sim/rank.h"

struct tt_saved_texts;
struct tt_unit_saved;

struct tt_snapshot {
    bool made; /* memory is there */
    double t;
    unsigned long events_located, own_events;
    struct tt_unit_saved **saved; /* per member */
    struct tt_member_state *members;
    struct tt_inputs_state *inputs; /* per member, for those that a file drives */
    char *signals;
    char *staged;
    struct tt_saved_texts *texts; /* Strings and Binaries among these; NULL: none */
    double *gathered, *gathered_slopes[TUTTI_MOST_ORDER];
    bool *held_changed;
    struct tt_tick_state *ticks; /* of all clocks; NULL: none */
    struct tt_arena arena;       /* of all of it */
};

/* Takes it, at a point between steps. UNSUPPORTED, naming the unit and what it lacks. Memory is reused from one to the
 * next. */
TUTTI_CHECKED enum tutti_err tt_snapshot_take(struct tt_snapshot *snapshot, struct tt_rank *rank);
/* Everything is as it was; any number of times. */
TUTTI_CHECKED enum tutti_err tt_snapshot_restore(const struct tt_snapshot *snapshot, struct tt_rank *rank);
/* The same for one own unit: it, its inputs and its outputs in the signals; the clock and all other units stay where they are. Its
 * discrete inputs are to be staged before its next step, and are set there again. */
TUTTI_CHECKED enum tutti_err tt_snapshot_restore_member(const struct tt_snapshot *snapshot, struct tt_rank *rank,
                                                        struct tt_member *member);
/* Restores some units, of any rank, with this rank's data about their outputs. Collective, as an exchange. */
TUTTI_CHECKED enum tutti_err tt_snapshot_restore_members(const struct tt_snapshot *snapshot, struct tt_rank *rank,
                                                         const uint32_t *components, uint32_t count);
/* While the units are alive. A zeroed one is fine. */
void tt_snapshot_fini(struct tt_snapshot *snapshot, struct tt_rank *rank);

#endif
