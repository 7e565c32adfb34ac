/* SPDX-License-Identifier: MIT */
/* execution_run.h - a rank from start to stop, by itself or under a conductor. */
#ifndef TT_SIM_EXECUTION_RUN_H
#define TT_SIM_EXECUTION_RUN_H

#include "sim/execution.h"
#include "sim/job/job.h"
#include "sim/ranks/fabric.h"

/* `rank` is filled in as for tt_rank_open (sim/rank_open.h), all other fields are zeroed; it must not be moved. Runs to
 * the first row, with everything chosen and opened; `steered`: a program steps it. Setup time goes into the statistics. */
TUTTI_CHECKED enum tutti_err tt_execution_start(struct tt_execution *execution, bool steered);
/* As above, then all steps, and the end of the units. */
TUTTI_CHECKED enum tutti_err tt_execution_run(struct tt_execution *execution);
/* On a rank of second instances (control/twin.h): runs to the first row, which is not recorded; then serves requests. */
TUTTI_CHECKED enum tutti_err tt_execution_serve_twin(struct tt_execution *execution);
/* Words to the log on how it ended, `err` being how. */
void tt_execution_log_end(const struct tt_execution *execution, enum tutti_err err);
/* Releases everything, however far it came; returns `err` with its message, or the error of closing the result. */
TUTTI_CHECKED enum tutti_err tt_execution_close(struct tt_execution *execution, enum tutti_err err);

/* The run of a job on one rank, in the calling thread. `stats` may be NULL. */
TUTTI_CHECKED enum tutti_err tt_execution_run_job(const struct tt_job *job, struct tutti_run_stats *stats);
/* As above from files. `visit` may be NULL; ARGUMENT if its time is not in the run. */
TUTTI_CHECKED enum tutti_err tt_execution_run_files(const struct tutti_run_options *options,
                                                    struct tutti_run_stats *stats, const struct tt_visit *visit);

/* One rank of a run, from a job to its end, under a conductor. The launcher (run/launch/) makes a job, and calls
 * tt_execution_run_rank once per rank: in threads, in forked processes, or in programs on other machines, each with a
 * separate job made from equal files and options. */

/* Runs the units placed on fabric->rank. Reports everything (sim/ranks/fabric.h), END last; returns the error of END.
 * Several threads may run it with one job. Does not close the fabric. */
TUTTI_CHECKED enum tutti_err tt_execution_run_rank(const struct tt_job *job, struct tt_fabric *fabric);

/* Replaces tt_execution_run_rank if the rank cannot begin, for this error with this thread's message. Stops the other ranks. */
void tt_execution_fail_rank(struct tt_fabric *fabric, enum tutti_err err);

#endif
