/* SPDX-License-Identifier: MIT */
/* run_identity.h - the properties in which a checkpoint and the resuming run must agree: the version of Tutti, files by
 * content, options that affect results. */
#ifndef TT_RUN_RUN_IDENTITY_H
#define TT_RUN_RUN_IDENTITY_H

#include "sim/job/job.h"

/* Fills in job->identity, whose bytes are in `memory`, and compares it with that of job->resume, if there is one.
 * ARGUMENT, naming the difference; IO. */
TUTTI_CHECKED enum tutti_err tt_run_identity_check(struct tt_job *job, struct tt_byte_writer *memory);

#endif
