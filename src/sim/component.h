/* SPDX-License-Identifier: MIT */
/* component.h - one unit of a rank from one point to another, over whatever lies between. */
#ifndef TT_SIM_COMPONENT_H
#define TT_SIM_COMPONENT_H

#include "sim/outcome.h"
#include "sim/rank.h"

/* What holds for the steps of all units. */
struct tt_step_rules {
    bool goes_back; /* a step that a unit refuses is taken back, for all */
    bool
        stops_at_events; /* a unit that comes back with an event ends the step for all; else it crosses the event alone */
    const double *
        second; /* per gathered input: what it is in the second half of steps that are made in two (coupled_inputs.h) */
};

/* Hands the staged inputs to the unit, unless its step was begun (tt_component_step_overlapped) and awaited, steps it to `target` and reads its outputs. A unit that comes back on the way (an
 * event, a discarded step) crosses the event and goes on, unless the rules say that the step ends there; only where it is
 * alone may it stay there. */
TUTTI_CHECKED enum tutti_err tt_component_step(struct tt_rank *rank, const struct tt_step_rules *rules,
                                               struct tt_member *member, double target, struct tt_outcome *outcome);
/* The rest of that for a member whose inputs were set, and whose first do-step was `made`, with this result; NULL: was not. */
TUTTI_CHECKED enum tutti_err tt_component_finish(struct tt_rank *rank, const struct tt_step_rules *rules,
                                                 struct tt_member *member, double target,
                                                 const struct tt_fmi_step *made, struct tt_outcome *outcome);
/* Own members, of these components (NULL: all own ones, `count` of them), that overlap and have nothing on their way to `target` get their
 * inputs and begin their do-steps, all of them; then they are waited for, also if one fails. tt_component_step has the rest. The others are
 * left alone. */
TUTTI_CHECKED enum tutti_err tt_component_step_overlapped(struct tt_rank *rank, const uint32_t *components,
                                                          uint32_t count, double target);
/* An own unit goes back to where the last own step of its solver began, in a step that was made while unit->notes_last was set: from there
 * tt_component_step repeats it. */
TUTTI_CHECKED enum tutti_err tt_component_restore_last_step(const struct tt_rank *rank, struct tt_member *member);
/* Where the member came to: does its input file jump there, or does it have an event to cross? */
void tt_component_check_events(const struct tt_rank *rank, struct tt_member *member);

#endif
