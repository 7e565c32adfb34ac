/* SPDX-License-Identifier: MIT */
/* conductor.h - what several ranks report (fabric/report.h) becomes one run: one result file, one log, one progress line, one
 * set of statistics, one error.
 *
 * Rows of all ranks with the same number are one row of the result. A row is written once all ranks that have columns have
 * brought theirs; a stream that is ahead waits, so that memory does not grow with time. */
#ifndef TUTTI_CONDUCT_CONDUCTOR_H
#define TUTTI_CONDUCT_CONDUCTOR_H

#include <tutti/run.h>

#include "checkpoint/collector.h"
#include "description/type.h"
#include "fabric/report.h"
#include "job/states.h"
#include "options/options.h"

struct tutti_conductor;

/* For `ranks` ranks. `options` (log, progress, step_log, output) are borrowed; `result` is the result file, absolute, or "-"
 * (NULL: none). Nothing is opened before the ranks have told their columns: what is refused must not cost an earlier
 * result. */
TUTTI_CHECKED enum tutti_err tutti_conductor_new(struct tutti_conductor **out, const struct tutti_run_options *options,
                                                 const char *result, int ranks);
/* Files go on from these marks (tutti_conductor_mark) of an interrupted run, when the ranks have told what comes into them; an empty
 * one: a new file. Borrowed until then. To be called before anything is taken. */
void tutti_conductor_resume(struct tutti_conductor *conductor, struct tutti_bytes result, struct tutti_bytes step_log);
/* Checkpoints that ranks report are collected there, which is borrowed until the end; before anything is taken. */
void tutti_conductor_collect(struct tutti_conductor *conductor, struct tutti_collector *collector);
/* Final states that ranks report are written at the end of a run that goes well. `states` is borrowed until then; before anything is taken.
 * MEMORY. */
TUTTI_CHECKED enum tutti_err tutti_conductor_keep_states(struct tutti_conductor *conductor,
                                                         const struct tutti_states *states);
/* Where the files are now: as tutti_output_mark and tutti_step_log_mark put it on a run of one rank. Nothing for a file that has not
 * been opened. IO, MEMORY. */
TUTTI_CHECKED enum tutti_err tutti_conductor_mark(struct tutti_conductor *conductor, struct tutti_parcel *result,
                                                  struct tutti_parcel *step_log);
/* What was there with the last mark is on the disk after this. Another thread may be using the conductor. */
TUTTI_CHECKED enum tutti_err tutti_conductor_sync(struct tutti_conductor *conductor);
/* Takes bytes that rank `rank` reported; *taken may be less than `count`: the rest is a frame that is not whole yet, or a row
 * that has to wait for others, and is to be offered again. IO if the result cannot be written, FORMAT if the bytes are no
 * report: the run is to be stopped. */
TUTTI_CHECKED enum tutti_err tutti_conductor_take(struct tutti_conductor *conductor, int rank, const char *bytes,
                                                  size_t count, size_t *taken);
/* Rank `rank` will not report anything any more; `err` with this thread's message says why. Does nothing if it has reported
 * its END before. */
void tutti_conductor_lose(struct tutti_conductor *conductor, int rank, enum tutti_err err);
/* To be called some ten times a second: progress for people, rows to the disk. */
TUTTI_CHECKED enum tutti_err tutti_conductor_idle(struct tutti_conductor *conductor);
/* Have all ranks come to their end? */
bool tutti_conductor_is_done(const struct tutti_conductor *conductor);
/* Has this one? */
bool tutti_conductor_has_ended(const struct tutti_conductor *conductor, int rank);
/* Has any rank failed? Others will not come further. */
bool tutti_conductor_has_failed(const struct tutti_conductor *conductor);
/* Where the run is: the least time that any rank has told. */
double tutti_conductor_time(const struct tutti_conductor *conductor);
/* The last lines that the rank has logged, one per line; "" if none. Borrowed. */
const char *tutti_conductor_last_words(struct tutti_conductor *conductor, int rank);
/* Closes the result, fills `stats`, releases the conductor. Returns what the run came to: the error of the rank that failed
 * first (not of those that were stopped because of it), else that of writing the result. */
TUTTI_CHECKED enum tutti_err tutti_conductor_finish(struct tutti_conductor *conductor, struct tutti_run_stats *stats);

#endif
