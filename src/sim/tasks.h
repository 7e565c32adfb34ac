/* SPDX-License-Identifier: MIT */
/* tasks.h - threads that compute partitions of Scheduled Execution in real time (FMI 3.0, 5.1: Preemption Support).
 *
 * Invariants:
 *  TS1 All threads, and the one that opens them, the scheduler, have real-time priorities (SCHED_FIFO) on one CPU: the scheduler the highest,
 *      a thread of a smaller number a higher one. So a partition of higher priority interrupts one of lower, which goes on after it, and no
 *      two compute at the same time: FMI has no parallel computation of partitions.
 *  TS2 A thread activates a partition, and calls nothing else of the FMU but what the FMU's callbacks lead to. Inputs are set before, and
 *      outputs read after it, by the scheduler. */
#ifndef TT_SIM_TASKS_H
#define TT_SIM_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "fmu/instance_clocks.h"

struct tt_tasks;

/* What became of a partition. */
struct tt_task_end {
    double begun, ended; /* on the clock (base/wall_clock.h) */
    enum tutti_err err;  /* whose message is this thread's */
};

/* Of `count` threads the priorities, the smallest number the highest. `choice` says which CPU: schedulers with others share none, as far as
 * there are enough. UNSUPPORTED if the system does not permit it, with everything as before. */
TUTTI_CHECKED enum tutti_err tt_tasks_open(struct tt_tasks **out, const uint32_t *priorities, size_t count,
                                           unsigned choice);
/* Waits for all; the scheduler has its former priority again. NULL is fine. */
void tt_tasks_close(struct tt_tasks *tasks);

/* For a thread that has nothing to do: activates the partition at t. `context` is what tt_tasks_context tells in it. Both are borrowed. */
void tt_tasks_post(struct tt_tasks *tasks, size_t thread, const struct tt_model_partition *partition, double t,
                   void *context);
/* Until it has ended, or the clock says `until`. True: it has. */
bool tt_tasks_wait(struct tt_tasks *tasks, size_t thread, double until);
/* After it has: the thread has nothing to do again. */
void tt_tasks_collect(struct tt_tasks *tasks, size_t thread, struct tt_task_end *end);
/* In a callback of an FMU: the partition that this thread computes; NULL: it is none of these threads. */
void *tt_tasks_context(void);

#endif
