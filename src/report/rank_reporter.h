/* SPDX-License-Identifier: MIT */
/* rank_reporter.h - what a rank tells the conductor besides its rows and steps: messages, progress, counts, the end
 * (fabric/report.h). */
#ifndef TUTTI_REPORT_RANK_REPORTER_H
#define TUTTI_REPORT_RANK_REPORTER_H

#include <tutti/run.h>

#include "base/log.h"
#include "fabric/fabric.h"
#include "options/options.h"
#include "report/load.h"

/* In the level of a message that is written whatever level the log wants (tutti_log_insist). */
enum { TUTTI_REPORT_INSISTS = 0x80 };

struct tutti_rank_reporter;

/* For the calling thread, which is the rank's; `fabric` is borrowed. */
TUTTI_CHECKED enum tutti_err tutti_rank_reporter_new(struct tutti_rank_reporter **out, struct tutti_fabric *fabric,
                                                     enum tutti_log_level level);
void tutti_rank_reporter_free(struct tutti_rank_reporter *reporter);
/* A log whose messages go to the conductor; lives as long as the reporter. FMUs may write into it from threads of their own:
 * such messages go with the next that the rank tells. */
const struct tutti_log *tutti_rank_reporter_log(struct tutti_rank_reporter *reporter);

TUTTI_CHECKED enum tutti_err tutti_rank_reporter_tell_progress(struct tutti_rank_reporter *reporter,
                                                               const struct tutti_progress *progress);
TUTTI_CHECKED enum tutti_err tutti_rank_reporter_tell_load(struct tutti_rank_reporter *reporter,
                                                           const struct tutti_load *load);
TUTTI_CHECKED enum tutti_err tutti_rank_reporter_tell_tally(struct tutti_rank_reporter *reporter,
                                                            const struct tutti_run_stats *stats);
/* The last words: what the rank came to, with this thread's message if it failed, in which component (TUTTI_NONE: in none) and at
 * which time. This thread's message stays what it was, also if this fails. */
TUTTI_CHECKED enum tutti_err tutti_rank_reporter_tell_end(struct tutti_rank_reporter *reporter, enum tutti_err err,
                                                          uint32_t component, double t);

#endif
