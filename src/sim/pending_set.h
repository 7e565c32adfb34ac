/* SPDX-License-Identifier: MIT */
/* pending_set.h - values that a program sets between steps (simulation.h), or that come from a federation (federation/), kept until their unit may take them: when the
 * next step begins, since no read may follow a set (R3), and in event mode where the unit has it. */
#ifndef TT_SIM_PENDING_SET_H
#define TT_SIM_PENDING_SET_H

#include "sim/rank.h"

/* One variable. */
struct tt_pending_set {
    uint32_t component, variable;
    bool pending;              /* the unit does not know yet */
    bool moves;                /* new values are treated as those of a connected output: they are not an event */
    struct tt_signals signals; /* of this variable alone: its values */
    struct tt_pending_set *next;
};

struct tt_pending_sets {
    struct tt_pending_set *first;
};

/* For a variable of a unit that stands between steps; its values are what they are there. In *out, which the list owns. */
TUTTI_CHECKED enum tutti_err tt_pending_set_new(struct tt_pending_set **out, struct tt_pending_sets *pending_sets,
                                                struct tt_rank *rank, uint32_t component, uint32_t variable);
/* Finds the set of the variable; created as above if it does not exist. */
TUTTI_CHECKED enum tutti_err tt_pending_set_find(struct tt_pending_set **out, struct tt_pending_sets *pending_sets,
                                                 struct tt_rank *rank, uint32_t component, uint32_t variable);
/* Its values are what they are at the unit, unless it has yet to take some. */
TUTTI_CHECKED enum tutti_err tt_pending_set_refresh(struct tt_pending_set *pending_set, struct tt_rank *rank);
/* Its values, which are in place now, are for the unit. */
void tt_pending_set_submit(struct tt_pending_set *pending_set, struct tt_rank *rank);

/* Returns true if the unit has pending values that are events, not only moving values. */
bool tt_pending_set_any_event(const struct tt_pending_sets *pending_sets, const struct tt_member *member);
/* The unit may take them now. */
TUTTI_CHECKED enum tutti_err tt_pending_set_apply_all(struct tt_pending_sets *pending_sets, struct tt_member *member);
/* Packs the pending values; and back, in place of all that are pending. NULL: no program sets any. FORMAT. */
void tt_pending_set_pack_all(const struct tt_pending_sets *pending_sets, struct tt_byte_writer *parcel);
TUTTI_CHECKED enum tutti_err tt_pending_set_unpack_all(struct tt_rank *rank, struct tt_byte_reader *in);
void tt_pending_set_fini_all(struct tt_pending_sets *pending_sets);

#endif
