/* SPDX-License-Identifier: MIT */
/* conductor.h - combines the reports of several ranks (sim/ranks/fabric.h) into one run: one result file, one log, one
 * progress line, one set of statistics, one error.
 *
 * Rows of all ranks with the same number are one row of the result. A row is written once all ranks that have columns
 * have reported it; a stream that is ahead waits, so that memory does not grow with time. */
#ifndef TT_RUN_CONDUCTOR_H
#define TT_RUN_CONDUCTOR_H

#include <tutti/run.h>

#include "sim/checkpoint/collector.h"
#include "fmu/description/type.h"
#include "sim/ranks/fabric.h"
#include "sim/job/state_files.h"
#include "base/options/options.h"

struct tt_conductor;

/* Creates a conductor for `ranks` ranks. `options` (log, progress, step_log, output) are borrowed; `result` is the
 * result file, absolute, or "-" (NULL: none). Nothing is opened before the ranks have reported their columns: a
 * rejected run must not destroy an earlier result. */
TUTTI_CHECKED enum tutti_err tt_conductor_new(struct tt_conductor **out, const struct tutti_run_options *options,
                                              const char *result, int ranks);
/* Files resume at these marks (tt_conductor_mark) of an interrupted run once the ranks have reported their columns; an
 * empty mark: a new file. `rows` is the number of rows before them. Borrowed until then. Must be called before the first
 * tt_conductor_receive. */
void tt_conductor_resume(struct tt_conductor *conductor, struct tt_bytes result, struct tt_bytes step_log,
                         unsigned long rows);
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
/* Ensures that the data of the last mark survives a power failure. A second thread may be using the conductor. */
TUTTI_CHECKED enum tutti_err tt_conductor_sync(struct tt_conductor *conductor);
/* Takes bytes that rank `rank` reported. *taken may be less than `count`: the remaining bytes are an incomplete frame,
 * or a row that must wait for other ranks, and must be offered again. IO if the result cannot be written, FORMAT if the
 * bytes are not a report: the run must be stopped. */
TUTTI_CHECKED enum tutti_err tt_conductor_receive(struct tt_conductor *conductor, int rank, const char *bytes,
                                                  size_t count, size_t *taken);
/* Rank `rank` will not report any more; `err` with this thread's message has the reason. No effect after its END. */
void tt_conductor_mark_lost(struct tt_conductor *conductor, int rank, enum tutti_err err);
/* To be called some ten times a second: progress for people, rows to the disk. */
TUTTI_CHECKED enum tutti_err tt_conductor_update(struct tt_conductor *conductor);
/* Returns true if all ranks have ended. */
bool tt_conductor_is_done(const struct tt_conductor *conductor);
/* Returns true if this rank has ended. */
bool tt_conductor_has_ended(const struct tt_conductor *conductor, int rank);
/* Returns true if any rank has failed. The others will not advance. */
bool tt_conductor_has_failed(const struct tt_conductor *conductor);
/* Returns the time of the run: the least time that any rank has reported. */
double tt_conductor_time(const struct tt_conductor *conductor);
/* The last lines that the rank has logged, one per line; "" if none. Borrowed. */
const char *tt_conductor_last_log_lines(struct tt_conductor *conductor, int rank);
/* Closes the result, fills `stats`, frees the conductor. Returns the error of the rank that failed first (not of those
 * stopped because of it), otherwise that of writing the result. */
TUTTI_CHECKED enum tutti_err tt_conductor_finish(struct tt_conductor *conductor, struct tutti_run_stats *stats);

#endif
