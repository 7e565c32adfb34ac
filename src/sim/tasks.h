/* SPDX-License-Identifier: MIT */
/* tasks.h - threads that compute partitions of Scheduled Execution in real time (FMI 3.0, 5.1: Preemption Support).
 *
 * Invariants:
 *  TS1 All threads, and the one that opens them, the scheduler, have real-time priorities (SCHED_FIFO) on one CPU:
 *      the scheduler the highest, a thread of a smaller number a higher one. So a partition of higher priority
 *      interrupts one of lower, which continues after it, and no two compute at the same time: FMI has no parallel
 *      computation of partitions.
 *  TS2 A thread activates a partition, and makes no other calls of the FMU except those from the FMU's callbacks.
 *      Inputs are set before, and outputs read after it, by the scheduler. */
#ifndef TT_SIM_TASKS_H
#define TT_SIM_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "fmu/instance_clocks.h"

struct tt_tasks;

/* The outcome of a partition. */
struct tt_task_end {
    double begun, ended; /* on the clock (base/wall_clock.h) */
    enum tutti_err err;  /* with this thread's message */
};

/* Opens `count` threads with their priorities, the smallest number the highest. `choice` selects the CPU: schedulers
 * use different CPUs, as far as there are enough. UNSUPPORTED if the system does not permit it, with everything
 * unchanged. */
TUTTI_CHECKED enum tutti_err tt_tasks_open(struct tt_tasks **out, const uint32_t *priorities, size_t count,
                                           unsigned choice);
/* Waits for all; the scheduler has its former priority again. NULL is fine. */
void tt_tasks_close(struct tt_tasks *tasks);

/* Gives an idle thread the partition to activate at t. tt_tasks_context returns `context` in it. Both are borrowed. */
void tt_tasks_post(struct tt_tasks *tasks, size_t thread, const struct tt_model_partition *partition, double t,
                   void *context);
/* Waits until it has ended, or the clock reaches `until`. True: it has ended. */
bool tt_tasks_wait(struct tt_tasks *tasks, size_t thread, double until);
/* After it has: the thread has nothing to do again. */
void tt_tasks_collect(struct tt_tasks *tasks, size_t thread, struct tt_task_end *end);
/* In a callback of an FMU: returns the partition that this thread computes; NULL if it is not one of these threads. */
void *tt_tasks_context(void);

#endif
