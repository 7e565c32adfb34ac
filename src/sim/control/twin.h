/* SPDX-License-Identifier: MIT */
/* twin.h - the two ways of step doubling side by side (Galtier 2015): while the units of the run make a step in two
 * halves, second instances of them, on separate ranks, make it in one piece.
 *
 * The ranks of a run with --twin are two teams (sim/ranks/team.h), which begin alike, from one job. The first team
 * makes the run as without a second one. A rank of the second team serves the rank with its number: it gets an order,
 * which is a point (packed_state.h) and a target, makes that one step with its team, and answers with the result.
 *
 * Invariants:
 *  D1  An order contains everything that a step depends on; earlier orders have no effect.
 *  D2  An order is answered before the next one is sent.
 *  D3  Only a completed step is answered with outputs. A step that an event or a unit ends is repeated by the first
 *      team alone, after which the state is as without a second team. */
#ifndef TT_SIM_CONTROL_TWIN_H
#define TT_SIM_CONTROL_TWIN_H

#include "base/fail.h"

struct tt_step_result;
struct tt_execution;
struct tt_team;
struct tt_twin;

/* Opens the twin on the ranks of both teams, before the first step. ARGUMENT, UNSUPPORTED: a second instance would be
 * useless, or cannot be brought to the state of the first. */
TUTTI_CHECKED enum tutti_err tt_twin_open(struct tt_execution *execution, struct tt_team *team);
void tt_twin_close(struct tt_execution *execution);

/* In the first team, at the start of a macro step: the second team begins to step to `target`. */
TUTTI_CHECKED enum tutti_err tt_twin_request_step(struct tt_twin *twin, double target);
/* Receives the result, with outputs in master->compared.whole unless *over: an event or a unit ended the step.
 * Iterations and do-steps are counted, the latter as auxiliary ones. */
TUTTI_CHECKED enum tutti_err tt_twin_await(struct tt_twin *twin, struct tt_step_result *result, bool *over);
/* Ends the second team; NULL is allowed. */
void tt_twin_stop(struct tt_twin *twin);

/* In the second team: serves orders until there are no more. */
TUTTI_CHECKED enum tutti_err tt_twin_serve(struct tt_execution *execution);

#endif
