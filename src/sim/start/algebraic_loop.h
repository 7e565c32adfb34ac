/* SPDX-License-Identifier: MIT */
/* algebraic_loop.h - an algebraic loop between units, solved as one: at the start (Andersson 2016 section 5.1; Galtier 2015
 * "Co-initialization"), and where units stand at the end of a step (Andersson 2016 eq. 6.18). */
#ifndef TT_SIM_START_ALGEBRAIC_LOOP_H
#define TT_SIM_START_ALGEBRAIC_LOOP_H

#include "sim/rank.h"

/* Of a loop in a run, where continuous values only are solved for. */
struct tt_loop_in_run {
    double t;            /* for messages */
    const double *sizes; /* per real (wires.reals): how large it was so far */
};

/* For units of FMI 1.0 Co-Simulation, whose inputs can be set only before their initialisation, and outputs read only
 * after: each evaluation creates such a unit again. */
struct tt_loop_reinit {
    void *context;
    /* Brings the unit to where inputs can be set; they are unchanged except for those of the loop. */
    enum tutti_err (*open)(void *context, struct tt_member *member);
    /* To where outputs can be read. */
    enum tutti_err (*close)(void *context, struct tt_member *member);
};

/* Returns true if inputs can be set only before its initialisation, outputs be read only after, and it can be created
 * only once. Such a unit is not part of a solution at the start: it has the outputs of its start values, and is
 * initialised before its loop is solved. */
bool tt_algebraic_loop_keeps_starts(const struct tt_unit *unit);

/* Solves for the outputs among `nodes` (inputs and outputs of units where reading after setting is allowed, ascending),
 * so that they are consistent: continuous ones by Newton's method, others by repetition until they converge. `run`:
 * NULL at the start. Collective for the ranks whose units these are. SOLVER, naming the variables with their last
 * values and residuals; in a run: connections with their residuals, and how far from singular the equations are. At the
 * start the nodes of units with given outputs are left unchanged. UNSUPPORTED for units that cannot be read there.
 * `late`: NULL in a run. */
TUTTI_CHECKED enum tutti_err tt_algebraic_loop_solve(struct tt_rank *rank, const uint32_t *nodes, uint32_t count,
                                                     const struct tt_loop_in_run *run,
                                                     const struct tt_loop_reinit *late);

/* DL of a loop (Andersson 2016 eq. 5.8) where its units are: n times n, column-major, in the arena; row and column i
 * belong to output i among `nodes`. UNSUPPORTED for loops with arrays or discrete values, and for those that are too
 * large. */
TUTTI_CHECKED enum tutti_err tt_algebraic_loop_feedback(struct tt_rank *rank, const uint32_t *nodes, uint32_t count,
                                                        struct tt_arena *arena, double **matrix, size_t *n,
                                                        bool *exact);

/* Hands the staged value of an input node to its unit; reads an output node into the signals. */
TUTTI_CHECKED enum tutti_err tt_algebraic_loop_write_node(struct tt_rank *rank, uint32_t node);
TUTTI_CHECKED enum tutti_err tt_algebraic_loop_read_node(struct tt_rank *rank, uint32_t node);

#endif
