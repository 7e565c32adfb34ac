/* SPDX-License-Identifier: MIT */
/* live.h - a run that viewers can watch and control (--live): its rows and messages also go to a server
 * (run/live/live_server.h), and viewers' requests reach its ranks as commands.
 *
 * The token that viewers must present is random. It is printed with the address, and kept for other processes of this
 * user in a file named by the address while the run lasts. */
#ifndef TT_RUN_LIVE_LIVE_H
#define TT_RUN_LIVE_LIVE_H

#include "base/fail.h"
#include "sim/job/job.h"

struct tt_live;

/* Begins, as `options` ask for; in the process that writes results. ARGUMENT, IO, LOAD. */
TUTTI_CHECKED enum tutti_err tt_live_open(struct tt_live **out, const struct tutti_run_options *options,
                                          const struct tt_job *job);
/* The job is run, and its options lead here as well as to where they led before. For each attempt at a run. */
TUTTI_CHECKED enum tutti_err tt_live_attach(struct tt_live *live, struct tt_job *job);
/* The job is about to be closed. */
void tt_live_detach(struct tt_live *live);
/* It has come to this at time t, with this thread's message. NULL is fine. */
void tt_live_close(struct tt_live *live, enum tutti_err err, double t);

/* The token of a run that others may watch, in a file that its user alone can read: live-HOST:PORT in tt_fs_own_cache. */

enum { TUTTI_LIVE_TOKEN = 33 }; /* bytes of its text, with the zero at its end */

/* Creates a token and its file; *path, which belongs to the caller, is NULL if there is no place for it. MEMORY. */
TUTTI_CHECKED enum tutti_err tt_live_token_create(const char *address, char token[TUTTI_LIVE_TOKEN], char **path);
/* Reads it. IO, with the remedy. */
TUTTI_CHECKED enum tutti_err tt_live_token_read(const char *address, char token[TUTTI_LIVE_TOKEN]);

#endif
