/* SPDX-License-Identifier: MIT */
/* pending_set.h - values that a program sets between steps (simulation.h), or that come from a federation (federation/), kept until their unit may take them: when the
 * next step begins, since no read may follow a set (R3), and in event mode where the unit has it. */
#ifndef TUTTI_RANK_PENDING_SET_H
#define TUTTI_RANK_PENDING_SET_H

#include "rank/rank.h"

/* One variable. */
struct tutti_pending_set {
    uint32_t component, variable;
    bool pending;                 /* the unit does not know yet */
    bool moves;                   /* it takes new values as those of an output of another unit: they are no event */
    struct tutti_signals signals; /* of this variable alone: its values */
    struct tutti_pending_set *next;
};

struct tutti_pending_sets {
    struct tutti_pending_set *first;
};

/* For a variable of a unit that stands between steps; its values are what they are there. In *out, which the list owns. */
TUTTI_CHECKED enum tutti_err tutti_pending_set_new(struct tutti_pending_set **out,
                                                   struct tutti_pending_sets *pending_sets, struct tutti_rank *rank,
                                                   uint32_t component, uint32_t variable);
/* The one that there is for the variable; made as above if there is none. */
TUTTI_CHECKED enum tutti_err tutti_pending_set_find(struct tutti_pending_set **out,
                                                    struct tutti_pending_sets *pending_sets, struct tutti_rank *rank,
                                                    uint32_t component, uint32_t variable);
/* Its values are what they are at the unit, unless it has yet to take some. */
TUTTI_CHECKED enum tutti_err tutti_pending_set_renew(struct tutti_pending_set *pending_set, struct tutti_rank *rank);
/* Its values, which are in place now, are for the unit. */
void tutti_pending_set_mark(struct tutti_pending_set *pending_set, struct tutti_rank *rank);

/* Are there some for the unit that are news, and not only values that move? */
bool tutti_pending_sets_are_news(const struct tutti_pending_sets *pending_sets, const struct tutti_member *member);
/* The unit may take them now. */
TUTTI_CHECKED enum tutti_err tutti_pending_sets_hand_over(struct tutti_pending_sets *pending_sets,
                                                          struct tutti_member *member);
/* What no unit has taken yet, kept to go back there: into *kept, which is made if it is NULL and used again else. What is to be
 * taken then is that and nothing else. */
struct tutti_pending_sets_kept;
TUTTI_CHECKED enum tutti_err tutti_pending_sets_keep(struct tutti_rank *rank, struct tutti_pending_sets_kept **kept);
TUTTI_CHECKED enum tutti_err tutti_pending_sets_bring_back(struct tutti_rank *rank,
                                                           const struct tutti_pending_sets_kept *kept);
/* The same for another process; and back. NULL: no program sets any. FORMAT. */
void tutti_pending_sets_pack(const struct tutti_pending_sets *pending_sets, struct tutti_parcel *parcel);
TUTTI_CHECKED enum tutti_err tutti_pending_sets_unpack(struct tutti_rank *rank, struct tutti_unparcel *in);
void tutti_pending_sets_kept_free(
    struct tutti_pending_sets_kept *kept); /* NULL is fine, here and above: nothing was kept */
void tutti_pending_sets_fini(struct tutti_pending_sets *pending_sets);

#endif
