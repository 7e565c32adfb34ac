/* SPDX-License-Identifier: MIT */
/* rank/partition.h - all that a tick of a partition of Scheduled Execution does with its unit: inputs that are set before it, the
 * activation, what is read after it and where that goes. Listed once, so that a tick looks nothing up. */
#ifndef TUTTI_RANK_PARTITION_H
#define TUTTI_RANK_PARTITION_H

#include "fmi/partition.h"
#include "rank/rank.h"

/* A variable of the clock: the node of the signals that it has (TUTTI_NONE: none), and its place in unit->clocked, of one that is read. */
struct tutti_partition_variable {
    uint32_t variable, node;
    size_t place;
};

/* Bytes that others read. */
struct tutti_partition_copy {
    const void *from;
    void *to;
    size_t size;
};

/* How a partition reads and writes its unit. Arrays lie in the rank's arena. */
struct tutti_rank_partition {
    struct tutti_partition calls;
    struct tutti_reading *readings;
    uint32_t *references; /* of the readings */
    uint32_t *inputs;     /* nodes */
    uint32_t input_count;
    struct tutti_partition_copy *copies;
    uint32_t copy_count;
    struct tutti_partition_variable
        *texts; /* Strings and Binaries: read one by one, as the FMU's next call may free them */
    uint32_t text_count;
    bool hands_on; /* there is more to do after the calls */
};

/* `clock` is a variable of the member's unit, which is configured; `inputs` and `outputs` are all that are set, and read, at ticks of the
 * unit. */
TUTTI_CHECKED enum tutti_err tutti_rank_partition_init(struct tutti_rank_partition *partition, struct tutti_rank *rank,
                                                       struct tutti_member *member, uint32_t clock,
                                                       const struct tutti_partition_variable *inputs,
                                                       uint32_t input_count,
                                                       const struct tutti_partition_variable *outputs,
                                                       uint32_t output_count);
/* At the time of the member. Between tutti_modes_enter and _leave of `watch`. */
TUTTI_CHECKED enum tutti_err tutti_rank_partition_tick(const struct tutti_rank_partition *partition,
                                                       struct tutti_rank *rank, struct tutti_member *member,
                                                       struct tutti_modes_watch *watch);

/* The same in two parts, around the computation by a task (tasks.h): sets the inputs; reads, and hands on what was read. */
TUTTI_CHECKED enum tutti_err tutti_rank_partition_set(const struct tutti_rank_partition *partition,
                                                      struct tutti_rank *rank, struct tutti_member *member);
TUTTI_CHECKED enum tutti_err tutti_rank_partition_read(const struct tutti_rank_partition *partition,
                                                       const struct tutti_rank *rank, struct tutti_member *member,
                                                       struct tutti_modes_watch *watch);

#endif
