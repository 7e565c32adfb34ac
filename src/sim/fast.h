/* SPDX-License-Identifier: MIT */
/* fast.h - the fast lane: own units in the order in which they step, as call triples (fmu/batched_call.h).
 *
 * It is for masters whose macro steps consist of the coupling alone. Units that need more than set, step and get of
 * Float64 (an input file, events, other types, separate steps), do-steps whose time is measured, and unusual outcomes
 * are handled by component.h, in an equal order; results and messages do not depend on the fast lane. */
#ifndef TT_SIM_FAST_H
#define TT_SIM_FAST_H

#include "fmu/batched_call.h"
#include "sim/report/watch.h"
#include "sim/component.h"

struct tt_fast_path {
    struct tt_rank *rank;
    const struct tt_step_rules *rules;
    struct tt_member **members; /* in the order of steps; NULL: the lane is not open */
    struct tt_batched_call *triples;
    uint32_t *given; /* per triple: `quiet` when its steps were last counted */
    uint32_t count;
    struct tt_batched_call_pass pass;
    struct tt_batched_call_piece *pieces; /* that are to be finite, as `finite` of tt_fast_open */
    uint32_t piece_count;
    bool
        one_by_one; /* steps made by tt_fast_run hand outputs on from unit to unit; otherwise all inputs are staged before */
    bool runs;      /* macro steps can be made by the lane alone: tt_fast_run */
    bool stopped;        /* such a step is under way, ... */
    uint32_t stopped_at; /* ... and this triple is to be looked after */
};

/* With the units in step mode. `members` are borrowed. Nothing to close: memory is the rank's. */
TUTTI_CHECKED enum tutti_err tt_fast_open(struct tt_fast_path *lane, struct tt_rank *rank,
                                          const struct tt_step_rules *rules, struct tt_member **members,
                                          uint32_t count);
/* Batches of steps end where one of these signals is not finite. Nothing happens to a lane that is not open. */
TUTTI_CHECKED enum tutti_err tt_fast_watch_finite(struct tt_fast_path *lane, const struct tt_finite *finite);
/* Steps members first ... end - 1 that are due there from the rank's time to `target`, as tt_component_step does. */
TUTTI_CHECKED enum tutti_err tt_fast_step(struct tt_fast_path *lane, uint32_t first, uint32_t end, double target,
                                          struct tt_step_result *result);
/* For a single rank without work between steps. `one_by_one`: inputs come from earlier units at the end of the step,
 * otherwise from all units at its beginning. Does nothing if that needs more than flat arrays. */
void tt_fast_enable_batches(struct tt_fast_path *lane, bool one_by_one);
/* Makes up to `most` macro steps, from point to point of the grid, with the rank's time; returns how many. Ends before
 * the end of the run, at a signal that is not finite, before a step for which *interrupt (NULL: none) is not 0, and in
 * the middle of a step with an unusual outcome, which tt_fast_finish completes. */
unsigned long tt_fast_run(struct tt_fast_path *lane, struct tt_time_grid *grid, unsigned long most,
                          const volatile sig_atomic_t *interrupt);
/* Makes one macro step, to the next point of the grid, which is not the end of the run; or false, as after tt_fast_run. */
bool tt_fast_step_once(struct tt_fast_path *lane, struct tt_time_grid *grid);
/* Only if lane->stopped. */
TUTTI_CHECKED enum tutti_err tt_fast_finish(struct tt_fast_path *lane, struct tt_step_result *result);
/* Steps are counted here, not in units: adds them there. Before anything reads unit->counts. */
void tt_fast_flush_counts(struct tt_fast_path *lane);

#endif
