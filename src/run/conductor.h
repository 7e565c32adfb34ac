/* SPDX-License-Identifier: MIT */
/* conductor.h - what several ranks report (sim/ranks/fabric.h) becomes one run: one result file, one log, one progress line, one
 * set of statistics, one error.
 *
 * Rows of all ranks with the same number are one row of the result. A row is written once all ranks that have columns have
 * brought theirs; a stream that is ahead waits, so that memory does not grow with time. */
#ifndef TT_RUN_CONDUCTOR_H
#define TT_RUN_CONDUCTOR_H

#include <tutti/run.h>

#include "sim/checkpoint/collector.h"
#include "fmu/description/type.h"
#include "sim/ranks/fabric.h"
#include "sim/job/state_files.h"
#include "base/options/options.h"

struct tt_conductor;

/* For `ranks` ranks. `options` (log, progress, step_log, output) are borrowed; `result` is the result file, absolute, or "-"
 * (NULL: none). Nothing is opened before the ranks have told their columns: what is refused must not cost an earlier
 * result. */
TUTTI_CHECKED enum tutti_err tt_conductor_new(struct tt_conductor **out, const struct tutti_run_options *options,
                                              const char *result, int ranks);
/* Files go on from these marks (tt_conductor_mark) of an interrupted run, when the ranks have told what comes into them; an empty
 * one: a new file. Borrowed until then. To be called before anything is taken. */
void tt_conductor_resume(struct tt_conductor *conductor, struct tt_bytes result, struct tt_bytes step_log);
/* Checkpoints that ranks report are collected there, which is borrowed until the end; before anything is taken. */
void tt_conductor_collect(struct tt_conductor *conductor, struct tt_collector *collector);
/* Final states that ranks report are written at the end of a run that goes well. `states` is borrowed until then; before anything is taken.
 * MEMORY. */
TUTTI_CHECKED enum tutti_err tt_conductor_expect_states(struct tt_conductor *conductor,
                                                        const struct tt_state_files *states);
/* Where the files are now: as tt_output_mark and tt_step_log_pack_position put it on a run of one rank. Nothing for a file that has not
 * been opened. IO, MEMORY. */
TUTTI_CHECKED enum tutti_err tt_conductor_mark(struct tt_conductor *conductor, struct tt_byte_writer *result,
                                               struct tt_byte_writer *step_log);
/* What was there with the last mark is on the disk after this. Another thread may be using the conductor. */
TUTTI_CHECKED enum tutti_err tt_conductor_sync(struct tt_conductor *conductor);
/* Takes bytes that rank `rank` reported; *taken may be less than `count`: the rest is a frame that is not whole yet, or a row
 * that has to wait for others, and is to be offered again. IO if the result cannot be written, FORMAT if the bytes are no
 * report: the run is to be stopped. */
TUTTI_CHECKED enum tutti_err tt_conductor_receive(struct tt_conductor *conductor, int rank, const char *bytes,
                                                  size_t count, size_t *taken);
/* Rank `rank` will not report anything any more; `err` with this thread's message says why. Does nothing if it has reported
 * its END before. */
void tt_conductor_mark_lost(struct tt_conductor *conductor, int rank, enum tutti_err err);
/* To be called some ten times a second: progress for people, rows to the disk. */
TUTTI_CHECKED enum tutti_err tt_conductor_update(struct tt_conductor *conductor);
/* Have all ranks come to their end? */
bool tt_conductor_is_done(const struct tt_conductor *conductor);
/* Has this one? */
bool tt_conductor_has_ended(const struct tt_conductor *conductor, int rank);
/* Has any rank failed? Others will not come further. */
bool tt_conductor_has_failed(const struct tt_conductor *conductor);
/* Where the run is: the least time that any rank has told. */
double tt_conductor_time(const struct tt_conductor *conductor);
/* The last lines that the rank has logged, one per line; "" if none. Borrowed. */
const char *tt_conductor_last_log_lines(struct tt_conductor *conductor, int rank);
/* Closes the result, fills `stats`, releases the conductor. Returns what the run came to: the error of the rank that failed
 * first (not of those that were stopped because of it), else that of writing the result. */
TUTTI_CHECKED enum tutti_err tt_conductor_finish(struct tt_conductor *conductor, struct tutti_run_stats *stats);

#endif
