/* SPDX-License-Identifier: MIT */
/* watch_finite.h - NaN and infinity among the signals: an error at the first time, which names the component where it begins.
 *
 * They spread from component to component, and the rest of the run is useless. All points are checked except the start, where a
 * value may still become finite. Discrete signals do not count: "never" is often an infinite time. */
#ifndef TT_SIM_REPORT_WATCH_FINITE_H
#define TT_SIM_REPORT_WATCH_FINITE_H

#include "sim/rank.h"

/* Where the continuous signals of this rank's units are: pieces of the doubles in signals. */
struct tt_finite {
    struct tt_gather_part *parts;
    uint32_t part_count;
};

TUTTI_CHECKED enum tutti_err tt_watch_open_finite(struct tt_finite *finite, struct tt_rank *rank);

/* The difference of a finite number and itself is 0, other differences are NaN: a sum that the compiler can vectorise. */
static inline bool tt_watch_is_finite(const struct tt_finite *finite, const struct tt_rank *rank)
{
    const double *signals = (const double *)(const void *)rank->wires.signals;
    double sum = 0;
    for (uint32_t p = 0; p < finite->part_count; p++)
        for (uint32_t i = finite->parts[p].first, end = i + finite->parts[p].count; i < end; i++)
            sum += signals[i] - signals[i];
    return sum == 0;
}

/* Where a signal is not finite: SOLVER, about the unit whose inputs are finite while its output is not. `t` is the time of the
 * signals, `why` ends the sentence ("" or ", ..."). */
enum tutti_err tt_watch_fail_not_finite(const struct tt_rank *rank, double t, const char *why);

/* At a point that was reached. */
TUTTI_CHECKED static inline enum tutti_err tt_watch_check_finite(const struct tt_finite *finite,
                                                                 const struct tt_rank *rank)
{
    if (__builtin_expect(tt_watch_is_finite(finite, rank) || !(rank->t > rank->times.start), 1))
        return TUTTI_OK;
    return tt_watch_fail_not_finite(rank, rank->t, "");
}

#endif
