/* SPDX-License-Identifier: MIT */
/* rank.h - one rank of a run, from a loaded system to the end. Whoever starts ranks (conduct/) makes a job, and calls tutti_rank
 * once per rank: in threads, in processes that were forked, or in programs on other machines, each with a job of its own made
 * from the same files and options. */
#ifndef TUTTI_MASTER_RANK_H
#define TUTTI_MASTER_RANK_H

#include "fabric/fabric.h"
#include "master/loop.h"

/* What all ranks share; nobody changes it while they run. */
struct tutti_job {
    struct run prepared;  /* system, options (with what the annotation adds), times, input table, structure */
    const int32_t *place; /* per component: its rank; owned by whoever set it */
};

/* Loads the system, settles options and times. `options` is borrowed for the job's life. */
TUTTI_CHECKED enum tutti_err tutti_job_open(struct tutti_job *job, const struct tutti_run_options *options);
/* Unpacks the archives of all FMUs, so that ranks that are forked need not do it each for itself. */
TUTTI_CHECKED enum tutti_err tutti_job_unpack(const struct tutti_job *job);
void tutti_job_close(struct tutti_job *job);

/* Runs the units that are placed on fabric->rank. Everything it has to say it reports (fabric/report.h), END last; returns what
 * END says. Several threads may be in it with one job. Does not close the fabric. */
TUTTI_CHECKED enum tutti_err tutti_rank(const struct tutti_job *job, struct tutti_fabric *fabric);

#endif
