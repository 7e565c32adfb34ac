/* SPDX-License-Identifier: MIT */
/* poke.h - values that a program sets between steps (simulation.h), kept until their unit may take them: when the next step
 * begins, since no read may follow a set (R3), and in event mode where the unit has it. */
#ifndef TUTTI_RANK_PENDING_SET_H
#define TUTTI_RANK_PENDING_SET_H

#include "rank/rank.h"

/* One variable. */
struct tutti_poke {
    uint32_t component, variable;
    bool pending;                 /* the unit does not know yet */
    struct tutti_signals signals; /* of this variable alone: its values */
    struct tutti_poke *next;
};

struct tutti_pokes {
    struct tutti_poke *first;
};

/* For a variable of a unit that stands between steps; its values are what they are there. In *out, which the list owns. */
TUTTI_CHECKED enum tutti_err tutti_poke_new(struct tutti_poke **out, struct tutti_pokes *pokes, struct tutti_rank *rank,
                                            uint32_t component, uint32_t variable);
/* Its values are what they are at the unit, unless it has yet to take some. */
TUTTI_CHECKED enum tutti_err tutti_poke_renew(struct tutti_poke *poke, struct tutti_rank *rank);
/* Its values, which are in place now, are for the unit. */
void tutti_poke_mark(struct tutti_poke *poke, struct tutti_rank *rank);

/* The unit may take them now. */
TUTTI_CHECKED enum tutti_err tutti_pokes_hand_over(struct tutti_pokes *pokes, struct tutti_member *member);
/* What no unit has taken yet, kept to go back there: into *kept, which is made if it is NULL and used again else. What is to be
 * taken then is that and nothing else. */
struct tutti_pokes_kept;
TUTTI_CHECKED enum tutti_err tutti_pokes_keep(struct tutti_rank *rank, struct tutti_pokes_kept **kept);
TUTTI_CHECKED enum tutti_err tutti_pokes_bring_back(struct tutti_rank *rank, const struct tutti_pokes_kept *kept);
void tutti_pokes_kept_free(struct tutti_pokes_kept *kept); /* NULL is fine, here and above: nothing was kept */
void tutti_pokes_fini(struct tutti_pokes *pokes);

#endif
