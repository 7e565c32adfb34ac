/* SPDX-License-Identifier: MIT */
/* traits.h - what a system and its components can do, as far as the choice of the method (choose.h) depends on it. */
#ifndef TT_SIM_TRAITS_H
#define TT_SIM_TRAITS_H

#include "sim/rank.h"
#include "sim/start/stability.h"

/* Of one component. */
enum tt_component_trait {
    TUTTI_TRAIT_EXCHANGE = 1u << 0,        /* it is of Model Exchange */
    TUTTI_TRAIT_OFFERS_EXCHANGE = 1u << 1, /* it is not, but its FMU has that, too */
    TUTTI_TRAIT_ROLLBACK = 1u << 2,        /* it can go back to the start of a step */
    TUTTI_TRAIT_FRAGILE = 1u << 3,         /* ... but not across an event */
    TUTTI_TRAIT_FORGETS = 1u << 4,         /* it saves states that do not contain all */
    TUTTI_TRAIT_OWN_STEP = 1u << 5,        /* it has a step size of its own, or cannot vary it */
    TUTTI_TRAIT_UNIFORM = 1u << 6,         /* ... the latter */
    TUTTI_TRAIT_STAIRS = 1u << 7,          /* it has a fixed internal step: outputs are constant in between */
    TUTTI_TRAIT_AVERAGES = 1u << 8,        /* its outputs are averages over a step */
    TUTTI_TRAIT_FOLLOWS = 1u << 9,         /* it has connected inputs, and follows them inside a step */
    TUTTI_TRAIT_HOLDS = 1u << 10,          /* it has connected inputs, and holds them in a step */
    TUTTI_TRAIT_NO_RATES = 1u << 11,       /* it gives no derivatives of a continuous output that is connected */
    TUTTI_TRAIT_EVENTS = 1u << 12,         /* it may return from the middle of a step, at an event */
    TUTTI_TRAIT_OPAQUE = 1u << 13,         /* it is in an algebraic loop, and its feed-through cannot be had */
    TUTTI_TRAIT_TRIALS = 1u << 14,         /* --correct takes trial steps of it: it has no directional derivatives */
    TUTTI_TRAIT_CLOCKS = 1u << 15,
};

struct tt_component_traits {
    const char *name, *path; /* of the FMU */
    unsigned is;             /* of enum tt_component_trait */
    enum tt_rollback rollback;
};

/* Of the system. */
enum tt_system_trait {
    TUTTI_SYSTEM_COUPLED = 1u << 0,     /* there are connections between outputs and inputs, or several components */
    TUTTI_SYSTEM_CONSTRAINED = 1u << 1, /* --constrain */
    TUTTI_SYSTEM_FED = 1u << 2,         /* Tutti computes inputs of components: --constrain, --tlm */
    TUTTI_SYSTEM_READ = 1u << 11,       /* ... from outputs of components */
    TUTTI_SYSTEM_DELAYED = 1u << 3,     /* there are transmission lines: --tlm */
    TUTTI_SYSTEM_STEP_PROPOSED = 1u << 4,
    TUTTI_SYSTEM_JOINED = 1u << 5,      /* components are of Model Exchange because of a tolerance (integration.h) */
    TUTTI_SYSTEM_SAME_SOLVER = 1u << 6, /* all components have the same solver, and none has averages as outputs */
    TUTTI_SYSTEM_DISCRETE = 1u << 7,    /* a component has discrete outputs */
    TUTTI_SYSTEM_CONTINUOUS = 1u << 8,  /* there is a continuous signal, whose error can be estimated */
    TUTTI_SYSTEM_DRIVEN = 1u << 9,      /* a table or an expression drives the only component */
    TUTTI_SYSTEM_FEDERATE = 1u << 10,   /* components exchange values with a federation: --join */
};

/* An explicit coupling that `auto` chose first, and that is not stable with the steps of the run. */
struct tt_unstable_coupling {
    const struct tt_coupling *coupling; /* NULL: there is none */
    double factor;                      /* an error grows by this factor in each of the steps */
};

struct tt_traits {
    const struct tt_component_traits *components;
    uint32_t count;
    unsigned is;          /* of enum tt_system_trait */
    const char *foreign;  /* the tool whose file the system is; NULL: none */
    unsigned table_order; /* the order that values of tables leave, where components hold them; 0: none does */
    double step;          /* of the run */
    bool has_radii;       /* `radii` was measured */
    struct tt_radii radii;
    struct tt_unstable_coupling unstable;
};

/* Before components are opened. What only an opened component shows is taken to be possible: a choice from these traits
 * needs at least what any later choice needs. The components are in `arena`. */
TUTTI_CHECKED enum tutti_err tt_traits_describe(struct tt_traits *traits, const struct tt_job *job,
                                                struct tt_arena *arena);
/* Collective, with all components computed, in initialisation mode or after it. The first time, `running` and
 * `sequence` are made, and the gains of algebraic loops are measured; `traits` is zeroed. Later, what may have changed
 * is read again. */
TUTTI_CHECKED enum tutti_err tt_traits_collect(struct tt_traits *traits, struct tt_rank *rank,
                                               struct tt_structure *running, struct tt_step_sequence *sequence);

#endif
