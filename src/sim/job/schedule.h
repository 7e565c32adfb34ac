/* SPDX-License-Identifier: MIT */
/* schedule.h - when clocks tick that only a scheduler makes tick (--schedule FILE).
 *
 * A CSV file with the columns clock, time and interval: a triggered input clock, UNIT.CLOCK (of a single FMU: CLOCK); its first tick; and the
 * time from each tick to the next, or nothing for one tick only. Times are decimal numbers or fractions (1/3), which are exact. A clock may
 * have several lines. */
#ifndef TT_SIM_JOB_SCHEDULE_H
#define TT_SIM_JOB_SCHEDULE_H

#include "base/time.h"
#include "model/system/system.h"

struct tt_scheduled {
    uint32_t component, variable;
    struct tt_fraction first, interval; /* interval.counter 0: once */
};

struct tt_schedule {
    struct tt_scheduled *lines;
    size_t count;
    struct tt_scheduled *intervals; /* of --clock; `first` is not used */
    size_t interval_count;
};

/* FORMAT, with file and line. */
TUTTI_CHECKED enum tutti_err tt_schedule_read(struct tt_schedule *schedule, const char *path,
                                              const struct tt_system *system);
/* The same of `size` bytes of text, which end with a zero byte beyond them and are cut up. */
TUTTI_CHECKED enum tutti_err tt_schedule_parse(struct tt_schedule *schedule, char *text, size_t size, const char *path,
                                               const struct tt_system *system);
/* Intervals that a user gives to fixed and tunable clocks: "UNIT.CLOCK=1/50". ARGUMENT. */
TUTTI_CHECKED enum tutti_err tt_schedule_set_intervals(struct tt_schedule *schedule, const char *const *texts,
                                                       size_t count, const struct tt_system *system);
/* The interval that a user gave to a clock; NULL: none. */
const struct tt_fraction *tt_schedule_find_interval(const struct tt_schedule *schedule, uint32_t component,
                                                    uint32_t variable);
void tt_schedule_fini(struct tt_schedule *schedule);

#endif
