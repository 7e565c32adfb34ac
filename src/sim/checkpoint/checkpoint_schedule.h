/* SPDX-License-Identifier: MIT */
/* checkpoint_schedule.h - when a rank packs its part of a checkpoint (pack.h), and where that goes: to the conductor, or, on one rank, to
 * the collector.
 *
 * All ranks have to do so after the same macro step. Times of the run are the same everywhere. Clocks and signals are not: after
 * so many macro steps, the same number for all, ranks look at them together. */
#ifndef TT_SIM_CHECKPOINT_CHECKPOINT_SCHEDULE_H
#define TT_SIM_CHECKPOINT_CHECKPOINT_SCHEDULE_H

#include "sim/checkpoint/collector.h"
#include "sim/checkpoint/packed_state.h"

struct tt_checkpoint_schedule {
    struct tt_execution *execution; /* whose they are */
    double every, seconds;          /* between two of them, in the time of the run, on the clock; INFINITY: not so */
    double taken_at, looked_at;     /* on the clock: the last one; the last look */
    struct tt_step_hook *between;   /* when ranks look at the clock together */
    bool given_up;                  /* a unit could not be packed */
    struct tt_state_packer packer;
    struct tt_byte_writer frame, result, step_log;
    struct tt_collector *collector; /* NULL: there is a conductor */
};

/* Once the run has come to its first step, as options ask for: in execution->checkpoints. UNSUPPORTED, naming units of which none
 * can be taken. */
TUTTI_CHECKED enum tutti_err tt_checkpoint_schedule_open(struct tt_execution *execution);
/* While the units are alive, and the result is open. Waits until what was taken is written. */
void tt_checkpoint_schedule_close(struct tt_execution *execution);

#endif
