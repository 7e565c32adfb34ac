/* SPDX-License-Identifier: MIT */
/* rank_main.h - one rank of a run, from a job to its end, under a conductor. The launcher (run/launch/) makes a job,
 * and calls tt_rank_main_run once per rank: in threads, in forked processes, or in programs on other machines, each
 * with a separate job made from equal files and options. */
#ifndef TT_SIM_RANK_MAIN_H
#define TT_SIM_RANK_MAIN_H

#include "sim/ranks/fabric.h"
#include "sim/job/job.h"

/* Runs the units placed on fabric->rank. Reports everything (sim/ranks/fabric.h), END last; returns the error of END.
 * Several threads may run it with one job. Does not close the fabric. */
TUTTI_CHECKED enum tutti_err tt_rank_main_run(const struct tt_job *job, struct tt_fabric *fabric);

/* Replaces tt_rank_main_run if the rank cannot begin, for this error with this thread's message. Stops the other ranks. */
void tt_rank_main_fail(struct tt_fabric *fabric, enum tutti_err err);

#endif
