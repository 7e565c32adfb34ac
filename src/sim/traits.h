/* SPDX-License-Identifier: MIT */
/* traits.h - what the choices of a master depend on: which of its units can do what, and what is known of their loops. */
#ifndef TT_SIM_TRAITS_H
#define TT_SIM_TRAITS_H

#include "sim/sim.h"
#include "sim/start/stability.h"

struct tt_traits {
    bool coupled;         /* there are connections, or several units */
    bool controlled;      /* not so, but a control is to choose the steps of the one that a table drives */
    unsigned table_order; /* tt_sim.table_order */
    const struct tt_member *no_rollback; /* cannot go back; NULL: all can */
    const struct tt_member *fragile;     /* cannot go back over an event; NULL: all can */
    const struct tt_member *own_step;    /* has separate steps, or a fixed step; NULL: none */
    const struct tt_member *stairs;      /* has a fixed internal step: outputs are constant in between; NULL: none */
    const struct tt_member *averages;    /* has averages over a step as outputs; NULL: none */
    const struct tt_member *first_me;    /* of Model Exchange; NULL: none */
    const struct tt_member *other;       /* not of Model Exchange; NULL: none */
    const struct tt_member *own_step_me; /* of Model Exchange, with separate steps; NULL: none */
    const struct tt_member *opaque;      /* in a loop, and D cannot be had; NULL: none */
    bool takes_slopes, has_events, has_outputs, has_signals;
    struct tt_radii stability; /* of the loops that are some */
};

/* Collects the traits. Collective, with all units computed and still in initialisation. Results about loops are cached. */
TUTTI_CHECKED enum tutti_err tt_traits_collect(struct tt_sim *master, struct tt_traits *facts);

/* Model Exchange goes back by its states; Co-Simulation needs an FMU that saves its own. */
bool tt_traits_can_roll_back(const struct tt_unit *unit);
/* Returns true if it follows inputs that move inside a step. */
bool tt_traits_follows_inputs(const struct tt_unit *unit);

/* Returns true if every unit is one of those that the chosen coupling has in its solver. */
bool tt_traits_all_join(const struct tt_sim *master, const struct tt_traits *facts);
/* Of `auto`: a tolerance is asked for, and nothing that one solver would not do. */
bool tt_traits_should_join(const struct tt_sim *master, const struct tt_traits *facts);
/* Returns true if the coupling will have all units in its solver, selected by an option or not. */
bool tt_traits_will_join_all(const struct tt_sim *master, const struct tt_traits *facts);

/* Called once the order of extrapolation is chosen. Cubics need derivatives of outputs, and units that follow them:
 * finds a unit without these. */
void tt_traits_detect_cubic(struct tt_sim *master);

/* For messages. */
static inline const char *tt_traits_member_name(const struct tt_member *member)
{
    return member->unit->name;
}

#endif
