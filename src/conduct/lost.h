/* SPDX-License-Identifier: MIT */
/* lost.h - the words about a worker that will not come to its end, wherever it ran. Most fill `out` and return it. */
#ifndef TUTTI_CONDUCT_LOST_H
#define TUTTI_CONDUCT_LOST_H

#include "conduct/conductor.h"
#include "system/system.h"

/* "has given no sign of life for 10 s: ..." */
const char *tutti_lost_by_silence(double seconds, char *out, size_t size);
/* LOST: "worker 2 (unit 'engine', engine.fmu, t = 1.25) HOW; everything computed before is kept". */
enum tutti_err tutti_lost_worker(const struct tutti_system *system, int rank, const struct tutti_heartbeat *heartbeat,
                                 const char *how);
/* "; its last words: ...", in one line; "" if there are none. */
const char *tutti_lost_last_words(struct tutti_conductor *conductor, int rank, char *out, size_t size);

#endif
