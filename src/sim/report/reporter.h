/* SPDX-License-Identifier: MIT */
/* reporter.h - what a rank tells the conductor besides its rows and steps: messages, progress, counts, the end
 * (sim/ranks/fabric.h). */
#ifndef TT_SIM_REPORT_REPORTER_H
#define TT_SIM_REPORT_REPORTER_H

#include <stddef.h>
#include <stdint.h>
#include <tutti/run.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/options/options.h"
#include "sim/ranks/fabric.h"
#include "sim/stats.h"

/* How a run goes, for those who watch it: the macro steps that were made, and what its units take. Each rank tells its own, some times
 * a second, and only while somebody watches. */

enum { TUTTI_LOAD_EVENTS = 32 }; /* points of time that are told at once */

/* Macro steps since the last time that they were told. */
struct tt_step_counts {
    double from, to; /* simulated time */
    uint64_t count;
    double least, greatest; /* sizes; of steps that are not tried out their mean */
    double error;           /* the greatest estimate, as a part of what is allowed; NaN: there is none */
    uint64_t event_count;   /* of `events`, the first ones since then */
    double events[TUTTI_LOAD_EVENTS];
    uint64_t rejected, located; /* steps and events of the whole run */
};

struct tt_unit_load {
    uint32_t component;
    double seconds; /* in do-steps, so far */
    uint64_t do_steps;
};

struct tt_rank_load {
    double elapsed; /* on the clock, since the first step */
    struct tt_step_counts steps;
    struct tt_unit_load *units; /* of the rank */
    size_t unit_count;
};

/* Nothing was made yet. */
void tt_reporter_begin_steps(struct tt_step_counts *made, double t);
/* NULL is fine: nobody watches. */
void tt_reporter_add_step(struct tt_step_counts *made, double size, double error);
void tt_reporter_add_event(struct tt_step_counts *made, double t);

void tt_reporter_pack_load(struct tt_byte_writer *parcel, const struct tt_rank_load *load);
/* load->units is by malloc. FORMAT, MEMORY. */
TUTTI_CHECKED enum tutti_err tt_reporter_unpack_load(struct tt_byte_reader *in, struct tt_rank_load *load);

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

/* What a rank counted, as bytes for the conductor, which makes the statistics of the run of them. */

/* All of it, with its holes. */
void tt_reporter_pack_tally(struct tt_byte_writer *parcel, const struct tutti_run_stats *stats);
/* The same at the other end; tt_stats_fini releases it, also after a failure. FORMAT, MEMORY. */
TUTTI_CHECKED enum tutti_err tt_reporter_unpack_tally(struct tt_byte_reader *in, struct tutti_run_stats *stats);

#endif
