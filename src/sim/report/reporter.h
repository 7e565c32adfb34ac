/* SPDX-License-Identifier: MIT */
/* reporter.h - reports of a rank to the conductor besides rows and steps: messages, progress, counts, the end. */
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

/* The load of a run, for viewers: the macro steps made, and the time of its units. Each rank reports its own, some
 * times a second, and only while there are viewers. */

enum { TUTTI_LOAD_EVENTS = 32 }; /* points in time that are reported at once */

/* Macro steps since the last report. */
struct tt_step_counts {
    double from, to; /* simulated time */
    uint64_t count;
    double least, greatest; /* sizes; of steps that are not tried out their mean */
    double error;           /* the greatest estimate, relative to the permitted error; NaN: none */
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
/* NULL is allowed: no viewers. */
void tt_reporter_add_step(struct tt_step_counts *made, double size, double error);
void tt_reporter_add_event(struct tt_step_counts *made, double t);

void tt_reporter_pack_load(struct tt_byte_writer *parcel, const struct tt_rank_load *load);
/* load->units is by malloc. FORMAT, MEMORY. */
TUTTI_CHECKED enum tutti_err tt_reporter_unpack_load(struct tt_byte_reader *in, struct tt_rank_load *load);

/* Flag in the level of a message that is written whatever the level of the log (tt_log_unfiltered). */
enum { TUTTI_REPORT_INSISTS = 0x80 };

struct tt_reporter;

/* For the calling thread, which is the rank's; `fabric` is borrowed. */
TUTTI_CHECKED enum tutti_err tt_reporter_new(struct tt_reporter **out, struct tt_fabric *fabric,
                                             enum tutti_log_level level);
void tt_reporter_free(struct tt_reporter *reporter);
/* Returns a log whose messages go to the conductor; it lives as long as the reporter. FMUs may write to it from other
 * threads: such messages are sent with the rank's next report. */
const struct tutti_log *tt_reporter_get_log(struct tt_reporter *reporter);

TUTTI_CHECKED enum tutti_err tt_reporter_send_progress(struct tt_reporter *reporter,
                                                       const struct tutti_progress *progress);
TUTTI_CHECKED enum tutti_err tt_reporter_send_load(struct tt_reporter *reporter, const struct tt_rank_load *load);
TUTTI_CHECKED enum tutti_err tt_reporter_send_tally(struct tt_reporter *reporter, const struct tutti_run_stats *stats);
/* Sends the outcome of the rank, with this thread's message if it failed, its component (TUTTI_NONE: none) and time.
 * Keeps this thread's message, also on failure. */
TUTTI_CHECKED enum tutti_err tt_reporter_send_end(struct tt_reporter *reporter, enum tutti_err err, uint32_t component,
                                                  double t);

/* The counts of a rank, as bytes for the conductor, which computes the statistics of the run from them. */

/* All of it, with its holes. */
void tt_reporter_pack_tally(struct tt_byte_writer *parcel, const struct tutti_run_stats *stats);
/* Unpacks these at the conductor; tt_stats_fini releases them, also after a failure. FORMAT, MEMORY. */
TUTTI_CHECKED enum tutti_err tt_reporter_unpack_tally(struct tt_byte_reader *in, struct tutti_run_stats *stats);

#endif
