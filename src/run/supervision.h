/* SPDX-License-Identifier: MIT */
/* supervision.h - ranks from their start to the end of the run, whatever launcher they are of: what they report becomes one result
 * (conductor.h), those that are lost or silent are noticed, an interrupt is handed on.
 *
 * Invariants:
 *  1. It goes on until the end of every rank is known: told by the rank, or by the launcher, or given up after a loss.
 *  2. What ranks report is taken in the order of each stream, by one intake. What is no report closes its stream, and stops the run.
 *  3. A rank that is lost stops the others where it stood itself. It is told to the conductor once nothing of its reports is left to
 *     take, or after some tenths of a second: rows that all ranks have brought are in the result.
 *  4. The error of the run is the first of: a failure of the launcher or of writing, the loss that stopped the others, what the ranks
 *     came to. */
#ifndef TT_RUN_SUPERVISION_H
#define TT_RUN_SUPERVISION_H

#include "model/system/system.h"
#include "run/conductor.h"
#include "run/launch/launcher.h"

/* A run whose ranks can be started. */
struct tt_launch {
    const struct tt_launcher *launcher;
    void *self; /* the launcher's, which is open */
    const struct tt_job *job;
    int ranks;
};

/* Starts the ranks, in the calling thread, and returns what the run came to. Takes the conductor; fills `stats`. */
TUTTI_CHECKED enum tutti_err tt_supervision_run(const struct tt_launch *launch, struct tt_conductor *conductor,
                                                struct tutti_run_stats *stats);

/* The same in a thread, which hears no signals, beside a rank. */
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
/* "; its last words: ...", in one line; "" if there are none. */
const char *tt_supervision_last_log_lines(struct tt_conductor *conductor, int rank, char *out, size_t size);

#endif
