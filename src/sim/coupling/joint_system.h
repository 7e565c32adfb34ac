/* SPDX-License-Identifier: MIT */
/* joint_system.h - the Model Exchange units of a system as one initial value problem: their inputs eliminated (Awais
 * 2015 section 5.4, Andersson 2016 chapter 5).
 *
 * An evaluation places every unit at a point, and then goes along the plan's order: inputs are set as soon as what they
 * read is known, outputs are read as soon as the inputs are set that they depend on; algebraic loops are solved on the
 * way (joint_loop.h). Signals of other units move along the polynomials of the coupling. Each rank calls its own units,
 * receives the others' outputs where it needs them, and then all derivatives: every rank has equal numbers. */
#ifndef TT_SIM_COUPLING_JOINT_SYSTEM_H
#define TT_SIM_COUPLING_JOINT_SYSTEM_H

#include "sim/coupling/joint_units.h"
#include "model/plan/structure.h"
#include "solve/ode.h"

struct tt_joint_loop;

/* A real of a foreign unit that inputs of these units read. */
struct tt_joint_external {
    uint32_t place;                        /* index of a double in the signals */
    double value, rates[TUTTI_MOST_ORDER]; /* from `since` on */
};

enum tt_pool_act { TUTTI_POOL_SET, TUTTI_POOL_GET, TUTTI_POOL_HEAR, TUTTI_POOL_SOLVE };

/* A part of an evaluation. */
struct tt_joint_action {
    enum tt_pool_act act;
    struct tt_joint_group group; /* SET, GET */
    struct tt_joint_loop *loop;  /* SOLVE */
};

/* Outputs between units as unknowns of a solver (ode.h, struct tt_dae): nothing is eliminated, and units need not wait for each
 * other. */
struct tt_joint_unknowns {
    struct tt_dae dae;
    struct tt_pattern pattern;
    double *nominals, *shared;
    struct tt_joint_group *inputs, *outputs; /* per unit: all that move; those that are unknowns */
};

struct tt_joint_system {
    struct tt_joint_units pool;
    struct tt_joint_unknowns unknowns; /* if they are kept */
    struct tt_ode ode;
    struct tt_pattern pattern;
    struct tt_joint_action *actions;
    uint32_t action_count;
    struct tt_joint_loop **loops;
    uint32_t loop_count;
    struct tt_joint_external *outside;
    uint32_t outside_count;
    double since;
};

/* Collective, after the initialisation. `running` is the structure of that phase; `keeps`: ode.dae has the outputs between units
 * as unknowns. tt_joint_system_fini follows in any case. */
TUTTI_CHECKED enum tutti_err tt_joint_system_init(struct tt_joint_system *system, struct tt_rank *rank,
                                                  const struct tt_structure *running, bool keeps);
void tt_joint_system_fini(struct tt_joint_system *system);

/* Signals of foreign units have their present values, and move as the wires define. *news: they did not follow their
 * earlier polynomials. */
void tt_joint_system_update_external(struct tt_joint_system *system, double t, bool *news);
/* Collective: places all own units at (t, x) with their inputs, and their outputs in the signals. *good is false, on
 * all ranks, if values are undefined. */
TUTTI_CHECKED enum tutti_err tt_joint_system_evaluate(struct tt_joint_system *system, double t, const double *x,
                                                      bool *good);
/* Then returns all derivatives there. *good is false if one is undefined (joint_units.h, miss). For a single rank. */
TUTTI_CHECKED enum tutti_err tt_joint_system_get_derivatives(struct tt_joint_system *system, double t, double *dx,
                                                             bool *good);
/* Collective, after the solver has failed at (t, x): notes an algebraic loop that may be why (joint_units.h, miss). */
TUTTI_CHECKED enum tutti_err tt_joint_system_explain_loops(struct tt_joint_system *system, double t, const double *x);
/* Collective: the units are there (unit.h, arrive), and their outputs are read. */
TUTTI_CHECKED enum tutti_err tt_joint_system_move_to(struct tt_joint_system *system, double t, const double *x);
/* Collective, after one of these: excesses of all indicators (solve/crossing.h); *bad is the first without a value, or their
 * number. */
TUTTI_CHECKED enum tutti_err tt_joint_system_get_excess(struct tt_joint_system *system, double *excess, size_t *bad);

#endif
