/* SPDX-License-Identifier: MIT */
/* component.h - steps one unit of a rank from one point to the next, over all events in between. */
#ifndef TT_SIM_COMPONENT_H
#define TT_SIM_COMPONENT_H

#include "sim/step_result.h"
#include "sim/rank.h"

/* Rules for the steps of all units. */
struct tt_step_rules {
    /* A step that a unit rejects is rolled back for all units. A unit that returns early with an event ends the step for
     * all units; otherwise it crosses the event alone. */
    bool goes_back, stops_at_events;
    const double *
        second; /* per gathered input: what it is in the second half of steps that are made in two (coupled_inputs.h) */
};

/* Sets the gathered inputs of the unit, unless its step was begun (tt_component_step_overlapped) and awaited, steps it
 * to `target` and reads its outputs. A unit that returns early (an event, a discarded step) crosses the event and
 * continues, unless the rules end the step there; only a single unit may stay there. */
TUTTI_CHECKED enum tutti_err tt_component_step(struct tt_rank *rank, const struct tt_step_rules *rules,
                                               struct tt_member *member, double target, struct tt_step_result *result);
/* Does the remaining part for a member whose inputs were set, and whose first do-step was `made`, with this result;
 * NULL: it was not made. */
TUTTI_CHECKED enum tutti_err tt_component_finish(struct tt_rank *rank, const struct tt_step_rules *rules,
                                                 struct tt_member *member, double target,
                                                 const struct tt_fmi_step *made, struct tt_step_result *result);
/* Starts the do-steps of own members of these components (NULL: all own ones, `count` of them) that can overlap and
 * have no event before `target`: sets their inputs, begins all do-steps and waits for all, even if one fails.
 * tt_component_step does the rest. Other members are left unchanged. */
TUTTI_CHECKED enum tutti_err tt_component_step_overlapped(struct tt_rank *rank, const uint32_t *components,
                                                          uint32_t count, double target);
/* An own unit goes back to where the last own step of its solver began, in a step that was made while unit->notes_last was set: from there
 * tt_component_step repeats it. */
TUTTI_CHECKED enum tutti_err tt_component_restore_last_step(const struct tt_rank *rank, struct tt_member *member);
/* Checks the member's position: whether its input file jumps there, or it has an event to cross. */
void tt_component_check_events(const struct tt_rank *rank, struct tt_member *member);

#endif
