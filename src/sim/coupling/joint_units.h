/* SPDX-License-Identifier: MIT */
/* joint_units.h - the Model Exchange units of a system, of all ranks, whose states are one vector: the list of units,
 * and the operations of which an evaluation of their equations consists (joint_system.h).
 *
 * Units are in the order of their names, so that sums do not depend on the order in which a system lists them. */
#ifndef TT_SIM_COUPLING_JOINT_UNITS_H
#define TT_SIM_COUPLING_JOINT_UNITS_H

#include "sim/rank.h"

struct tt_joint_unit {
    struct tt_member *member;
    bool own;              /* of this rank */
    size_t first, states;  /* its states among all */
    size_t z_first, marks; /* event indicators */
};

/* Continuous reals of one unit that are set, or read, together. */
struct tt_joint_group {
    struct tt_joint_unit *unit;
    uint32_t *nodes; /* of the structure that wires are laid out by */
    uint32_t count;
    uint32_t *references; /* of the Float64 among them, which come first */
    uint32_t float64s;
    size_t values; /* of these */
};

/* Where the last evaluation without a value failed. */
struct tt_joint_failure {
    bool missed;
    double t;
    size_t state;  /* the state whose derivative is not finite; SIZE_MAX: none in particular */
    char why[512]; /* the reason, if not "" */
};

struct tt_joint_units {
    struct tt_rank *rank;
    struct tt_arena arena;
    struct tt_joint_unit *units;
    uint32_t unit_count;
    struct tt_joint_unit **unit_of; /* per component; NULL: not one of them */
    size_t states, marks;
    double *nominals;
    double *shared; /* room for data that ranks share: twice the states, the marks, three per unit, and one more */
    double *values; /* room for the values of one group */
    size_t room;
    bool completes; /* a unit must be notified of every step of the solver */
    bool driven;    /* a table drives one of them */
    struct tt_joint_failure miss;
    char name[512]; /* of a state, as last asked for */
};

/* Collective, after the initialisation. tt_joint_system_fini_units follows in any case. */
TUTTI_CHECKED enum tutti_err tt_joint_system_init_units(struct tt_joint_units *pool, struct tt_rank *rank);
void tt_joint_system_fini_units(struct tt_joint_units *pool);

/* Makes a group of inputs, or of `outputs`, among `nodes`, which are all of one unit and continuous reals. Memory is the
 * arena's. */
TUTTI_CHECKED enum tutti_err tt_joint_system_init_group(struct tt_joint_units *pool, const uint32_t *nodes,
                                                        uint32_t count, bool outputs, struct tt_joint_group *group);
/* For an own unit: passes the signals to the inputs; reads the outputs into the signals. DISCARD without values. */
TUTTI_CHECKED enum tutti_err tt_joint_system_set_inputs(struct tt_joint_units *pool,
                                                        const struct tt_joint_group *group);
TUTTI_CHECKED enum tutti_err tt_joint_system_get_outputs(struct tt_joint_units *pool,
                                                         const struct tt_joint_group *group);
/* Collective: what own units have put into their parts of `values` (-INFINITY elsewhere) for all ranks. */
TUTTI_CHECKED enum tutti_err tt_joint_system_share_values(struct tt_joint_units *pool, double *values, size_t count);
/* Records why there is no value. */
void tt_joint_system_record_failure(struct tt_joint_units *pool, double t, size_t state, const char *why);

/* Returns the unit of this state, or of this indicator. */
struct tt_joint_unit *tt_joint_system_unit_of_state(const struct tt_joint_units *pool, size_t state);
struct tt_joint_unit *tt_joint_system_unit_of_indicator(const struct tt_joint_units *pool, size_t mark);
/* "unit.state"; good until the next call. */
const char *tt_joint_system_state_name(struct tt_joint_units *pool, size_t i);

#endif
