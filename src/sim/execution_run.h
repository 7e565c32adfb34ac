/* SPDX-License-Identifier: MIT */
/* run.h - a rank from start to stop. */
#ifndef TT_SIM_EXECUTION_RUN_H
#define TT_SIM_EXECUTION_RUN_H

#include "sim/execution.h"

/* `rank` is filled in as for tt_rank_open (sim/rank_open.h), all else is zeroed; it stays where it is. To the first row, with
 * everything chosen and opened; `steered`: a program steps it. Setup time goes into the statistics. */
TUTTI_CHECKED enum tutti_err tt_execution_start(struct tt_execution *execution, bool steered);
/* The same, then all steps, and the end of the units. */
TUTTI_CHECKED enum tutti_err tt_execution_run(struct tt_execution *execution);
/* On a rank of second instances (control/twin.h): runs to the first row, which is not recorded; then makes requested
 * steps. */
TUTTI_CHECKED enum tutti_err tt_execution_serve_twin(struct tt_execution *execution);
/* Words to the log on how it ended, `err` being how. */
void tt_execution_log_end(const struct tt_execution *execution, enum tutti_err err);
/* Releases everything, however far it came; returns `err` with its message, or the error of closing the result. */
TUTTI_CHECKED enum tutti_err tt_execution_close(struct tt_execution *execution, enum tutti_err err);

/* The run of a job on one rank, in the calling thread. `stats` may be NULL. */
TUTTI_CHECKED enum tutti_err tt_execution_run_job(const struct tt_job *job, struct tutti_run_stats *stats);
/* The same from files. `visit` may be NULL; ARGUMENT if its time is not in the run. */
TUTTI_CHECKED enum tutti_err tt_execution_run_files(const struct tutti_run_options *options,
                                                    struct tutti_run_stats *stats, const struct tt_visit *visit);

#endif
