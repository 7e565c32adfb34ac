/* SPDX-License-Identifier: MIT */
/* sim/tick_partition.h - all that a tick of a partition of Scheduled Execution does with its unit: inputs that are set before it, the
 * activation, what is read after it and where that goes. Listed once, so that a tick looks nothing up. */
#ifndef TT_SIM_TICK_PARTITION_H
#define TT_SIM_TICK_PARTITION_H

#include "fmu/model_partition.h"
#include "sim/rank.h"

/* A variable of the clock: the node of the signals that it has (TUTTI_NONE: none), and its place in unit->clocked, of one that is read. */
struct tt_tick_variable {
    uint32_t variable, node;
    size_t place;
};

/* Bytes that others read. */
struct tt_tick_copy {
    const void *from;
    void *to;
    size_t size;
};

/* How a partition reads and writes its unit. Arrays lie in the rank's arena. */
struct tt_tick_partition {
    struct tt_model_partition calls;
    struct tt_model_partition_reading *readings;
    uint32_t *references; /* of the readings */
    uint32_t *inputs;     /* nodes */
    uint32_t input_count;
    struct tt_tick_copy *copies;
    uint32_t copy_count;
    struct tt_tick_variable *texts; /* Strings and Binaries: read one by one, as the FMU's next call may free them */
    uint32_t text_count;
    bool hands_on; /* there is more to do after the calls */
};

/* `clock` is a variable of the member's unit, which is configured; `inputs` and `outputs` are all that are set, and read, at ticks of the
 * unit. */
TUTTI_CHECKED enum tutti_err tt_ticks_partition_init(struct tt_tick_partition *partition, struct tt_rank *rank,
                                                     struct tt_member *member, uint32_t clock,
                                                     const struct tt_tick_variable *inputs, uint32_t input_count,
                                                     const struct tt_tick_variable *outputs, uint32_t output_count);
/* At the time of the member. Between tt_fmi_call_enter_pass and _leave of `watch`. */
TUTTI_CHECKED enum tutti_err tt_ticks_partition_tick(const struct tt_tick_partition *partition, struct tt_rank *rank,
                                                     struct tt_member *member, struct tt_fmi_call_modes_watch *watch);

/* The same in two parts, around the computation by a task (tasks.h): sets the inputs; reads, and hands on what was read. */
TUTTI_CHECKED enum tutti_err tt_ticks_partition_set(const struct tt_tick_partition *partition, struct tt_rank *rank,
                                                    struct tt_member *member);
TUTTI_CHECKED enum tutti_err tt_ticks_partition_read(const struct tt_tick_partition *partition,
                                                     const struct tt_rank *rank, struct tt_member *member,
                                                     struct tt_fmi_call_modes_watch *watch);

#endif
