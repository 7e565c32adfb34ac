/* SPDX-License-Identifier: MIT */
#include "sim/pace.h"

#include <math.h>

#include "base/wall_clock.h"
#include "base/number.h"

/* So late may a point be before it counts: a clock that wakes us, and other work of the machine, cost some of it. */
#define TOLERANCE 1e-3
/* No longer at once: a signal between the look at `interrupt` and the sleep would be slept over. */
#define LONGEST_SLEEP 0.1

static bool wait_is_interrupted(const struct tt_rank *rank)
{
    return rank->job->options.interrupt && *rank->job->options.interrupt;
}

void tt_run_wait_for_clock(const struct tt_rank *rank, double loop_start)
{
    double from = rank->job->resume ? rank->job->resume->t : rank->times.start;
    double due = loop_start + (rank->t - from) / rank->job->options.realtime;
    double now = tt_wall_clock_now(), late = now - due;
    if (late > TOLERANCE) {
        rank->stats->overruns++;
        rank->stats->most_late = fmax(rank->stats->most_late, late);
    }
    while (now < due && !wait_is_interrupted(rank)) {
        double until = fmin(due, now + LONGEST_SLEEP), seconds = floor(until);
        struct timespec wake = {.tv_sec = (time_t)seconds, .tv_nsec = (long)(1e9 * (until - seconds))};
        /* A signal wakes us early; the loop then looks whether it means the end. */
        (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL);
        now = tt_wall_clock_now();
    }
}

void tt_run_report_lag(const struct tt_rank *rank)
{
    if (rank->stats->overruns > 0)
        tt_log(rank->log, TUTTI_LOG_WARNING, NULL,
               "%lu of %lu points came later than --realtime %s asks for, the worst by %.3g s", rank->stats->overruns,
               rank->stats->steps, NUMBER(rank->job->options.realtime), rank->stats->most_late);
}
