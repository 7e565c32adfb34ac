/* SPDX-License-Identifier: MIT */
/* consistent.h - outputs at the end of a step that fit together: y = g(x, c(y)) is solved (Andersson 2016 Alg. 4, eq. 6.17,
 * 6.18), with g computed by units that are read again with new inputs.
 *
 * FMI lets a unit be read after its inputs are set in Model Exchange, and in the event mode of Co-Simulation (FMI 3.0), which is
 * entered and left for it. Inputs and outputs are computed in the order of their dependencies, as at the start; algebraic loops
 * by Newton's method (start/block.h). Discrete values stay: they change at events. */
#ifndef TUTTI_MASTER_COUPLING_CONSISTENT_H
#define TUTTI_MASTER_COUPLING_CONSISTENT_H

#include "master/outcome.h"
#include "rank/rank.h"

struct tutti_consistent;

/* `running`: dependencies of the running phase. UNSUPPORTED, naming the unit, where one in an algebraic loop cannot be read again;
 * others that cannot are left as they are. Close also after a failure. What it is given is borrowed. */
TUTTI_CHECKED enum tutti_err tutti_consistent_open(struct tutti_consistent **out, struct tutti_rank *rank,
                                                   const struct tutti_structure *running);
void tutti_consistent_close(struct tutti_consistent *consistent); /* NULL is fine */

/* Does a unit, of any rank, enter event mode for it? */
bool tutti_consistent_enters_events(const struct tutti_consistent *consistent);
/* Collective. *possible is false where an event of a unit that has to enter event mode waits to be crossed. */
TUTTI_CHECKED enum tutti_err tutti_consistent_is_possible(struct tutti_consistent *consistent, bool *possible);

/* Collective: where all units are at the end of a step from `t`, their outputs become those that belong to what the connections
 * bring, in the units and in the signals. `sizes`: tutti_block_run. `moves`: the step ended smoothly, and inputs of Model Exchange units
 * keep the slopes that they had in it. *solved is false, on all ranks, where that was not found: the
 * step is refused in the outcome of the ranks that found it out, and tutti_consistent_explain tells why. A unit that ends the run in
 * its event mode is noted in the outcome of its rank. */
TUTTI_CHECKED enum tutti_err tutti_consistent_solve(struct tutti_consistent *consistent, double t, const double *sizes,
                                                    bool moves, struct tutti_outcome *outcome, bool *solved);

/* The error of the last solution that was not found. */
enum tutti_err tutti_consistent_explain(const struct tutti_consistent *consistent);

#endif
