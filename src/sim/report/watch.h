/* SPDX-License-Identifier: MIT */
/* watch.h - detects signals that move more and more from macro step to macro step, as in an unstable coupling while its
 * values are finite.
 *
 * Two quantities are observed: the movement of the signal in a step, and its swings, the distances that it moves in one
 * direction. Swings count if they are short, a few macro steps at most: a model's own oscillation would not be resolved
 * by such steps. Either explodes if it grows, from one to the next on average by more than a limit, until it is some
 * thousand times as large and larger than the signal ever was before. Linear growth (a resonance), growth by a power of
 * the time, and an exponential that the steps resolve do not count as exploding (results/output.c has the far limit for
 * that).
 *
 * Only signals of own units in a feedback loop are watched, at accepted points. Only a warning depends on it. After the
 * first thousand steps, signals are sampled periodically, for a hundred steps and as long as any grows: the cost is
 * negligible, and explosions in between are found by the far limit, or soon give NaN. */
#ifndef TT_SIM_REPORT_WATCH_H
#define TT_SIM_REPORT_WATCH_H

#include "base/rollback_list.h"
#include "sim/rank.h"

/* How moves, or swings, have grown. */
struct tt_trend {
    double last;   /* how large the last one was */
    double growth; /* since `since`, with allowances; 1: they do not grow */
    double since;  /* time */
    double calm;   /* the largest size of the signal until then */
};

/* One signal. */
struct tt_oscillation {
    double last, largest; /* value, size */
    double way;           /* of the swing that it is in, with its sign */
    struct tt_trend moves, swings;
    uint32_t real;  /* which signal: index of wires.reals */
    uint32_t steps; /* that the swing takes so far */
};

/* The progress of the sampling. Plain data. */
struct tt_growth_state {
    uint32_t count;       /* of signals; 0: nothing is watched (any more) */
    uint32_t left, pause; /* steps until a look ends, and until the next one begins; 0: one is being taken */
    bool paused;          /* and this is its first step */
    bool exploded;        /* one has: */
    bool by_swings;       /* by these; otherwise by movements */
    uint32_t found;       /* the signal found */
    double found_at;
};

struct tt_growth {
    bool watches; /* some rank watches signals */
    struct tt_oscillation *items;
    uint32_t item_count;
    struct tt_growth_state now;
};

/* At the first point, when the master is chosen. */
TUTTI_CHECKED enum tutti_err tt_watch_open_growth(struct tt_growth *growth, struct tt_rank *rank);
/* Restarts at the rank's present point. */
void tt_watch_restart_growth(struct tt_growth *growth, const struct tt_rank *rank);
/* Registers the observations so far. */
TUTTI_CHECKED enum tutti_err tt_watch_register_growth(struct tt_growth *growth, struct tt_rollback_list *remembered);
/* Returns true if the accepted point is to be sampled. */
static inline bool tt_watch_growth_is_due(struct tt_growth *growth)
{
    return growth->now.count > 0 && (growth->now.pause == 0 || --growth->now.pause == 0);
}
/* If so. Allocates nothing. */
void tt_watch_check_growth(struct tt_growth *growth, const struct tt_rank *rank);
/* After the last step: a warning of the signal that exploded first, of all ranks. Collective. With
 * several ranks only at the end of the time that was asked for. */
TUTTI_CHECKED enum tutti_err tt_watch_report_growth(const struct tt_growth *growth, struct tt_rank *rank);

/* Starts observing a signal (zeroed, or observed before) with its first value. */
void tt_watch_begin_oscillation(struct tt_oscillation *swings, double t, double value);
/* Adds its next value; returns the trend that has exploded, or NULL. `nominal` is a size that is not small. */
const struct tt_trend *tt_watch_update_oscillation(struct tt_oscillation *swings, double t, double value,
                                                   double nominal);

/* NaN and infinity among the signals: an error at the first occurrence, which names the component of origin.
 *
 * They spread from component to component, and the rest of the run is useless. All points are checked except the start,
 * where a value may still become finite. Discrete signals do not count: "never" is often an infinite time. */

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

/* Reports a signal that is not finite: SOLVER, about the unit whose inputs are finite while its output is not. `t` is
 * the time of the signals, `why` ends the sentence ("" or ", ..."). */
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
