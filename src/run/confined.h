/* SPDX-License-Identifier: MIT */
/* confined.h - workers whose FMUs are confined (base/sandbox/sandbox.h): the policy that a run's options define for the
 * units of a rank, and the reporting of denials.
 *
 * Units of a rank share a process, and therefore their permissions. */
#ifndef TT_RUN_CONFINED_H
#define TT_RUN_CONFINED_H

#include "base/tempdir.h"
#include "base/sandbox/sandbox.h"
#include "sim/job/job.h"

/* The word of --confine. ARGUMENT also where --allow or --limits are given without it. */
TUTTI_CHECKED enum tutti_err tt_confined_read(const struct tutti_run_options *options, enum tt_confine *how);

/* Are --allow and --limits right, and what is to be known of them: units that share a process, FMUs that need a tool. ARGUMENT. */
TUTTI_CHECKED enum tutti_err tt_confined_check(const struct tt_job *job);

/* Creates the policy and limits of the units of a rank from the options; the folders of their FMUs are not included.
 * tt_policy_fini follows in any case. */
TUTTI_CHECKED enum tutti_err tt_confined_policy(struct tt_policy *policy, const struct tt_job *job, int rank);
/* Adds the folders of the rank's FMUs, which are unpacked if they are not. */
TUTTI_CHECKED enum tutti_err tt_confined_add_folders(struct tt_policy *policy, const struct tt_job *job, int rank);

/* Permits the worker to roll units back by forking (--rollback), if that may be needed. */
TUTTI_CHECKED enum tutti_err tt_confined_allow_forks(struct tt_policy *policy, const struct tt_job *job);

/* A warning about a denial of a rank; `system` names the unit. */
void tt_confined_log_denial(const struct tutti_log *log, const struct tt_system *system, int rank,
                            const struct tt_denial *denial);

/* The conductor's data about workers that it forks. Zeroed: they are not confined. */
struct tt_confined {
    enum tt_confine how;
    int ranks;
    struct tt_denials *denials;  /* [ranks], in shared memory */
    uint32_t *told;              /* [ranks]: how many of them people have heard of */
    struct tt_tempdir **scratch; /* [ranks] */
};

TUTTI_CHECKED enum tutti_err tt_confined_open(struct tt_confined *confined, const struct tt_job *job, int ranks);
void tt_confined_close(struct tt_confined *confined);
/* Called in the worker of the rank, with one thread, before code of an FMU runs. No effect if it is not confined. Of
 * shared resources the worker keeps the memory of `component`, and the file `kept` (-1: none). */
TUTTI_CHECKED enum tutti_err tt_confined_enter(const struct tt_confined *confined, const struct tt_job *job, int rank,
                                               const _Atomic uint32_t *component, int kept,
                                               struct tt_sandbox *confinement);
/* In the conductor: logs new denials. */
void tt_confined_log_new_denials(struct tt_confined *confined, const struct tt_job *job, int rank);

#endif
