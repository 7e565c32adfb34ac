/* SPDX-License-Identifier: MIT */
/* supervision.h - supervises ranks of any launcher from start to end: their reports become one result (conductor.h),
 * lost and silent ranks are detected, an interrupt is forwarded.
 *
 * Invariants:
 *  1. It continues until the end of every rank is known: reported by the rank, or by the launcher, or abandoned
 *     after a loss.
 *  2. Reports are taken in the order of each stream, by one intake. A malformed report closes its stream, and stops
 *     the run.
 *  3. A lost rank stops the others where it was itself. The loss is reported to the conductor once all its reports
 *     are taken, or after some tenths of a second: rows that all ranks have reported are in the result.
 *  4. The error of the run is the first of: a failure of the launcher or of writing, the loss that stopped the
 *     others, the outcome of the ranks. */
#ifndef TT_RUN_SUPERVISION_H
#define TT_RUN_SUPERVISION_H

#include "model/system/system.h"
#include "run/conductor.h"
#include "run/launch/launcher.h"

/* A run whose ranks are ready to start. */
struct tt_launch {
    const struct tt_launcher *launcher;
    void *self; /* the launcher's, which is open */
    const struct tt_job *job;
    int ranks;
};

/* Starts the ranks, in the calling thread, and returns the outcome of the run. Takes the conductor; fills `stats`. */
TUTTI_CHECKED enum tutti_err tt_supervision_run(const struct tt_launch *launch, struct tt_conductor *conductor,
                                                struct tutti_run_stats *stats);

/* As tt_supervision_run, in a thread beside a rank, which handles no signals. */
struct tt_supervision_thread;

/* `launch` is borrowed until join; the conductor is taken unless it fails. */
TUTTI_CHECKED enum tutti_err tt_supervision_start(struct tt_supervision_thread **out, const struct tt_launch *launch,
                                                  struct tt_conductor *conductor);
/* Waits for its end, and releases it. */
TUTTI_CHECKED enum tutti_err tt_supervision_join(struct tt_supervision_thread *thread, struct tutti_run_stats *stats);

/* The words about a worker that will not come to its end, wherever it ran. Most fill `out` and return it. */

/* "has given no sign of life for 10 s: ..." */
const char *tt_supervision_describe_silence(double seconds, char *out, size_t size);
/* LOST: "worker 2 (unit 'engine', engine.fmu, t = 1.25) HOW; everything computed before is kept". */
enum tutti_err tt_supervision_describe_loss(const struct tt_system *system, int rank,
                                            const struct tt_heartbeat *heartbeat, const char *how);
/* Returns "; its last words: ...", in one line; "" if there are none. */
const char *tt_supervision_last_log_lines(struct tt_conductor *conductor, int rank, char *out, size_t size);

#endif
