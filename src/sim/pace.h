/* SPDX-License-Identifier: MIT */
/* pace.h - runs that keep up with the clock, and do not overtake it (--realtime R): simulated time goes R times as fast. */
#ifndef TT_SIM_PACE_H
#define TT_SIM_PACE_H

#include "sim/rank.h"

/* At the point reached: waits until it is due, which is (rank->t - start) / R after `loop_start`, on the clock. Comes back
 * at once, or soon, where the run is interrupted. A point that is late is counted, and the next ones catch up. */
void tt_run_wait_for_clock(const struct tt_rank *rank, double loop_start);
/* At the end: warns if points were late. */
void tt_run_report_lag(const struct tt_rank *rank);

#endif
