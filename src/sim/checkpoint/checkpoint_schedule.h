/* SPDX-License-Identifier: MIT */
/* checkpoint_schedule.h - decides when a rank packs its part of a checkpoint (packed_state.h), and sends it to the
 * conductor or, on one rank, to the collector.
 *
 * All ranks must do so after one macro step. Simulated times are equal everywhere, but wall clocks and signals are not:
 * after a number of macro steps, equal on all ranks, they check these together. */
#ifndef TT_SIM_CHECKPOINT_CHECKPOINT_SCHEDULE_H
#define TT_SIM_CHECKPOINT_CHECKPOINT_SCHEDULE_H

#include "sim/checkpoint/collector.h"
#include "sim/checkpoint/packed_state.h"

struct tt_checkpoint_schedule {
    struct tt_execution *execution; /* the rank's execution */
    double every, seconds;          /* between two of them, in the time of the run, on the clock; INFINITY: not so */
    double taken_at, looked_at;     /* on the clock: the last one; the last look */
    struct tt_step_hook *between;   /* when ranks look at the clock together */
    bool given_up;                  /* a unit could not be packed */
    struct tt_state_packer packer;
    struct tt_byte_writer frame, result, step_log;
    struct tt_collector *collector; /* NULL: the conductor collects */
};

/* Opens the schedule after the run has reached its first step, as the options request: in execution->checkpoints.
 * UNSUPPORTED, naming units that cannot be saved. */
TUTTI_CHECKED enum tutti_err tt_checkpoint_schedule_open(struct tt_execution *execution);
/* While the units are alive, and the result is open. Waits until what was taken is written. */
void tt_checkpoint_schedule_close(struct tt_execution *execution);

#endif
