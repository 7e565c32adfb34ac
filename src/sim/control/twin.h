/* SPDX-License-Identifier: MIT */
/* twin.h - the two ways of step doubling side by side (Galtier 2015): while the units of the run make a step in two halves, second
 * instances of them, on ranks of their own, make it in one piece.
 *
 * The ranks of a run with --twin are two teams (sim/ranks/team.h), which begin alike, from the same job. The first team makes the run, as if
 * there were no other. A rank of the second one serves the rank with its number: it gets an order, which is a point (pack.h) and a
 * target, makes that one step with its team, and answers with what there is at the end.
 *
 * Invariants:
 *  D1  An order brings everything that a step depends on; nothing of the orders before it counts.
 *  D2  An order is answered before there is another.
 *  D3  Only a step that comes to its end is answered with outputs. One that an event or a unit ends, the first team makes again by itself,
 *      after which everything is as it is without a second one. */
#ifndef TT_SIM_CONTROL_TWIN_H
#define TT_SIM_CONTROL_TWIN_H

#include "base/fail.h"

struct tt_attempt;
struct tt_execution;
struct tt_team;
struct tt_twin;

/* On the ranks of both teams, before the first step. ARGUMENT, UNSUPPORTED: there is nothing for a second instance to do, or it cannot be
 * brought to where the first one is. */
TUTTI_CHECKED enum tutti_err tt_twin_open(struct tt_execution *execution, struct tt_team *team);
void tt_twin_close(struct tt_execution *execution);

/* In the first team, at the start of a macro step: the other one begins to step to `target`. */
TUTTI_CHECKED enum tutti_err tt_twin_request_step(struct tt_twin *twin, double target);
/* What came of it, with outputs in master->compared.whole unless *over: an event or a unit ended it. Iterations and do-steps are counted,
 * the latter as auxiliary ones. */
TUTTI_CHECKED enum tutti_err tt_twin_await(struct tt_twin *twin, struct tt_attempt *attempt, bool *over);
/* There are no more; NULL is fine. */
void tt_twin_stop(struct tt_twin *twin);

/* In the second team: until there are no more orders. */
TUTTI_CHECKED enum tutti_err tt_twin_serve(struct tt_execution *execution);

#endif
