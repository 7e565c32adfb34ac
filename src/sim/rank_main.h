/* SPDX-License-Identifier: MIT */
/* conducted.h - one rank of a run, from a job to its end, under a conductor. What starts ranks (conduct/) makes a job, and calls
 * tt_rank_main_run once per rank: in threads, in processes that were forked, or in programs on other machines, each with a job of
 * its own made from the same files and options. */
#ifndef TT_SIM_RANK_MAIN_H
#define TT_SIM_RANK_MAIN_H

#include "sim/ranks/fabric.h"
#include "sim/job/job.h"

/* Runs the units that are placed on fabric->rank. Everything it has to say it reports (sim/ranks/fabric.h), END last; returns what
 * END says. Several threads may be in it with one job. Does not close the fabric. */
TUTTI_CHECKED enum tutti_err tt_rank_main_run(const struct tt_job *job, struct tt_fabric *fabric);

/* Instead of tt_rank_main_run: the rank cannot begin, for this reason, whose message is this thread's. Reports it, and stops the others. */
void tt_rank_main_fail(struct tt_fabric *fabric, enum tutti_err err);

#endif
