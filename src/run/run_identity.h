/* SPDX-License-Identifier: MIT */
/* run_identity.h - what a checkpoint must agree in with the run that goes on from it: the version of Tutti, files by their content,
 * options that results depend on. */
#ifndef TT_RUN_RUN_IDENTITY_H
#define TT_RUN_RUN_IDENTITY_H

#include "sim/job/job.h"

/* Fills in job->identity, whose bytes `memory` holds, and compares it with that of job->resume, if there is one. ARGUMENT, naming
 * what is another; IO. */
TUTTI_CHECKED enum tutti_err tt_run_identity_check(struct tt_job *job, struct tt_byte_writer *memory);

#endif
