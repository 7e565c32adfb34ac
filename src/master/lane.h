/* SPDX-License-Identifier: MIT */
/* lane.h - the fast lane: own units in the order in which they step, as call records (fmi/lane.h).
 *
 * It is for masters whose macro steps are made by the coupling alone. A unit that has more to do than to set, step and get
 * Float64 (an input file, events, other types, steps of its own), a do-step whose time is to be measured, and whatever turns
 * out to be unusual, go the way of member.h, in the same order; results and messages are the same with and without. */
#ifndef TUTTI_MASTER_LANE_H
#define TUTTI_MASTER_LANE_H

#include "fmi/lane.h"
#include "master/member.h"

struct tutti_lane {
    struct tutti_rank *rank;
    const struct tutti_step_rules *rules;
    struct tutti_member **members; /* in the order of steps; NULL: the lane is not open */
    struct tutti_call_record *records;
    uint32_t *given; /* per record: what `quiet` was when its steps were last counted */
    uint32_t count;
};

/* With the units in step mode. `members` are borrowed. Nothing to close: memory is the rank's. */
TUTTI_CHECKED enum tutti_err tutti_lane_open(struct tutti_lane *lane, struct tutti_rank *rank,
                                             const struct tutti_step_rules *rules, struct tutti_member **members,
                                             uint32_t count);
/* Steps members first ... end - 1 that are due there from the rank's time to `target`, as tutti_member_step does. */
TUTTI_CHECKED enum tutti_err tutti_lane_step(struct tutti_lane *lane, uint32_t first, uint32_t end, double target,
                                             struct tutti_outcome *outcome);
/* Steps are counted here, not in units: adds them there. Before anything reads unit->counts. */
void tutti_lane_count(struct tutti_lane *lane);

#endif
