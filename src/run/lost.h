/* SPDX-License-Identifier: MIT */
/* lost.h - the words about a worker that will not come to its end, wherever it ran. Most fill `out` and return it. */
#ifndef TT_RUN_LOST_H
#define TT_RUN_LOST_H

#include "run/conductor.h"
#include "model/system/system.h"

/* "has given no sign of life for 10 s: ..." */
const char *tt_supervision_describe_silence(double seconds, char *out, size_t size);
/* LOST: "worker 2 (unit 'engine', engine.fmu, t = 1.25) HOW; everything computed before is kept". */
enum tutti_err tt_supervision_describe_loss(const struct tt_system *system, int rank,
                                            const struct tt_heartbeat *heartbeat, const char *how);
/* "; its last words: ...", in one line; "" if there are none. */
const char *tt_supervision_last_log_lines(struct tt_conductor *conductor, int rank, char *out, size_t size);

#endif
