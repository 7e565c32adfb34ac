/* SPDX-License-Identifier: MIT */
/* reporter.h - what a rank tells the conductor besides its rows and steps: messages, progress, counts, the end
 * (sim/ranks/report_frame.h). */
#ifndef TT_SIM_REPORT_REPORTER_H
#define TT_SIM_REPORT_REPORTER_H

#include <tutti/run.h>

#include "base/log.h"
#include "sim/ranks/fabric.h"
#include "base/options/options.h"
#include "sim/report/rank_load.h"

/* In the level of a message that is written whatever level the log wants (tt_log_unfiltered). */
enum { TUTTI_REPORT_INSISTS = 0x80 };

struct tt_reporter;

/* For the calling thread, which is the rank's; `fabric` is borrowed. */
TUTTI_CHECKED enum tutti_err tt_reporter_new(struct tt_reporter **out, struct tt_fabric *fabric,
                                             enum tutti_log_level level);
void tt_reporter_free(struct tt_reporter *reporter);
/* A log whose messages go to the conductor; lives as long as the reporter. FMUs may write into it from threads of their own:
 * such messages go with the next that the rank tells. */
const struct tutti_log *tt_reporter_get_log(struct tt_reporter *reporter);

TUTTI_CHECKED enum tutti_err tt_reporter_send_progress(struct tt_reporter *reporter,
                                                       const struct tutti_progress *progress);
TUTTI_CHECKED enum tutti_err tt_reporter_send_load(struct tt_reporter *reporter, const struct tt_rank_load *load);
TUTTI_CHECKED enum tutti_err tt_reporter_send_tally(struct tt_reporter *reporter, const struct tutti_run_stats *stats);
/* The last words: what the rank came to, with this thread's message if it failed, in which component (TUTTI_NONE: in none) and at
 * which time. This thread's message stays what it was, also if this fails. */
TUTTI_CHECKED enum tutti_err tt_reporter_send_end(struct tt_reporter *reporter, enum tutti_err err, uint32_t component,
                                                  double t);

#endif
