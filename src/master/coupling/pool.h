/* SPDX-License-Identifier: MIT */
/* pool.h - the Model Exchange units of a system, of all ranks, whose states are one vector: who they are, and the pieces that an
 * evaluation of their equations is made of (pool_system.h).
 *
 * Units are in the order of their names, so that sums do not depend on the order in which a system lists them. */
#ifndef TUTTI_MASTER_COUPLING_POOL_H
#define TUTTI_MASTER_COUPLING_POOL_H

#include "rank/rank.h"

struct tutti_pool_unit {
    struct tutti_member *member;
    bool own;              /* of this rank */
    size_t first, states;  /* its states among all */
    size_t z_first, marks; /* ... event indicators */
};

/* Continuous reals of one unit that are set, or read, together. */
struct tutti_pool_group {
    struct tutti_pool_unit *unit;
    uint32_t *nodes; /* of the structure that wires are laid out by */
    uint32_t count;
    uint32_t *references; /* of the Float64 among them, which come first */
    uint32_t float64s;
    size_t values; /* of these */
};

/* Where the last evaluation without a value failed. */
struct tutti_pool_miss {
    bool missed;
    double t;
    size_t state;  /* its derivative is not finite; SIZE_MAX: none is to blame ... */
    char why[512]; /* ... but this, if it is not "" */
};

struct tutti_pool {
    struct tutti_rank *rank;
    struct tutti_arena arena;
    struct tutti_pool_unit *units;
    uint32_t unit_count;
    struct tutti_pool_unit **unit_of; /* per component; NULL: it is none of them */
    size_t states, marks;
    double *nominals;
    double *shared; /* room for what ranks share: twice the states, the marks, three per unit, and one more */
    double *values; /* room for the values of one group */
    size_t room;
    bool completes; /* a unit wants to hear of every step of the solver */
    bool driven;    /* a table drives one of them */
    struct tutti_pool_miss miss;
    char name[512]; /* of a state, as last asked for */
};

/* Collective, after the initialisation. tutti_pool_fini follows in any case. */
TUTTI_CHECKED enum tutti_err tutti_pool_init(struct tutti_pool *pool, struct tutti_rank *rank);
void tutti_pool_fini(struct tutti_pool *pool);

/* Makes a group of inputs, or of `outputs`, among `nodes`, which are all of one unit and continuous reals. Memory is the
 * arena's. */
TUTTI_CHECKED enum tutti_err tutti_pool_group_init(struct tutti_pool *pool, const uint32_t *nodes, uint32_t count,
                                                   bool outputs, struct tutti_pool_group *group);
/* Of an own unit: hands what the signals have to the inputs; reads the outputs into the signals. DISCARD where it has no
 * values. */
TUTTI_CHECKED enum tutti_err tutti_pool_set_inputs(struct tutti_pool *pool, const struct tutti_pool_group *group);
TUTTI_CHECKED enum tutti_err tutti_pool_get_outputs(struct tutti_pool *pool, const struct tutti_pool_group *group);
/* Collective: what own units have put into their parts of `values` (-INFINITY elsewhere) for all ranks. */
TUTTI_CHECKED enum tutti_err tutti_pool_share(struct tutti_pool *pool, double *values, size_t count);
/* Notes why there is no value. */
void tutti_pool_note_miss(struct tutti_pool *pool, double t, size_t state, const char *why);

/* Whose state, or whose indicator, this is. */
struct tutti_pool_unit *tutti_pool_unit_of_state(const struct tutti_pool *pool, size_t state);
struct tutti_pool_unit *tutti_pool_unit_of_mark(const struct tutti_pool *pool, size_t mark);
/* "unit.state"; good until the next call. */
const char *tutti_pool_state_name(struct tutti_pool *pool, size_t i);

#endif
