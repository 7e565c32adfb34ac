/* SPDX-License-Identifier: MIT */
/* consistency.h - outputs at the end of a step that fit together: y = g(x, c(y)) is solved (Andersson 2016 Alg. 4, eq. 6.17,
 * 6.18), with g computed by units that are read again with new inputs.
 *
 * FMI lets a unit be read after its inputs are set in Model Exchange, and in the event mode of Co-Simulation (FMI 3.0), which is
 * entered and left for it. Inputs and outputs are computed in the order of their dependencies, as at the start; algebraic loops
 * by Newton's method (sim/start/algebraic_loop.h). Discrete values stay: they change at events. */
#ifndef TT_SIM_COUPLING_CONSISTENCY_H
#define TT_SIM_COUPLING_CONSISTENCY_H

#include "sim/step_result.h"
#include "sim/rank.h"

struct tt_consistency;

/* Opens it. `running`: dependencies of the running phase. UNSUPPORTED, naming the unit, if one in an algebraic loop
 * cannot be read again; such units outside loops are ignored. Close also after a failure. Borrows its arguments. */
TUTTI_CHECKED enum tutti_err tt_consistency_open(struct tt_consistency **out, struct tt_rank *rank,
                                                 const struct tt_structure *running);
void tt_consistency_close(struct tt_consistency *consistent); /* NULL is fine */

/* Returns true if a unit of any rank enters event mode for it. */
bool tt_consistency_enters_event_mode(const struct tt_consistency *consistent);
/* Collective. *possible is false where an event of a unit that has to enter event mode waits to be crossed. */
TUTTI_CHECKED enum tutti_err tt_consistency_is_possible(struct tt_consistency *consistent, bool *possible);

/* Collective: when all units are at the end of a step from `t`, computes consistent outputs for the connected inputs,
 * in the units and in the signals. `sizes`: tt_loop_in_run. `moves`: the step ended smoothly, and inputs of Model
 * Exchange units keep the slopes that they had in it. *solved is false, on all ranks, if no solution was found: the
 * step is rejected in the result of the ranks that detected it, and tt_consistency_explain gives the reason. A unit
 * that ends the run in its event mode is recorded in the result of its rank. */
TUTTI_CHECKED enum tutti_err tt_consistency_solve(struct tt_consistency *consistent, double t, const double *sizes,
                                                  bool moves, struct tt_step_result *result, bool *solved);

/* The error of the last solution that was not found. */
enum tutti_err tt_consistency_explain(const struct tt_consistency *consistent);

#endif
