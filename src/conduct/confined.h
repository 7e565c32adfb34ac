/* SPDX-License-Identifier: MIT */
/* confined.h - workers whose FMUs are confined (confine/confine.h): which policy follows from a run's options for the units of a
 * rank, and how people hear of what was forbidden.
 *
 * Units of a rank share a process, so that what one of them may do, all of them may. */
#ifndef TUTTI_CONDUCT_CONFINED_H
#define TUTTI_CONDUCT_CONFINED_H

#include "base/tempdir.h"
#include "confine/confine.h"
#include "job/job.h"

/* The word of --confine. ARGUMENT also where --allow or --limits are given without it. */
TUTTI_CHECKED enum tutti_err tutti_confined_read(const struct tutti_run_options *options, enum tutti_confine *how);

/* Are --allow and --limits right, and what is to be known of them: units that share a process, FMUs that need a tool. ARGUMENT. */
TUTTI_CHECKED enum tutti_err tutti_confined_check(const struct tutti_job *job);

/* What the options allow to the units of a rank, and their limits; the folders of their FMUs are not in it. tutti_policy_fini
 * follows in any case. */
TUTTI_CHECKED enum tutti_err tutti_confined_policy(struct tutti_policy *policy, const struct tutti_job *job, int rank);
/* Adds the folders of the rank's FMUs, which are unpacked if they are not. */
TUTTI_CHECKED enum tutti_err tutti_confined_add_folders(struct tutti_policy *policy, const struct tutti_job *job,
                                                        int rank);

/* Lets the worker do what it takes to take units back by forking (--rollback), if that may come up. */
TUTTI_CHECKED enum tutti_err tutti_confined_let_units_fork(struct tutti_policy *policy, const struct tutti_job *job);

/* A warning about a denial of a rank; `system` names the unit. */
void tutti_confined_tell(const struct tutti_log *log, const struct tutti_system *system, int rank,
                         const struct tutti_denial *denial);

/* What the conductor keeps of workers that it forks. Zeroed: they are not confined. */
struct tutti_confined {
    enum tutti_confine how;
    int ranks;
    struct tutti_denials *denials;  /* [ranks], in shared memory */
    uint32_t *told;                 /* [ranks]: how many of them people have heard of */
    struct tutti_tempdir **scratch; /* [ranks] */
};

TUTTI_CHECKED enum tutti_err tutti_confined_open(struct tutti_confined *confined, const struct tutti_job *job,
                                                 int ranks);
void tutti_confined_close(struct tutti_confined *confined);
/* In the worker of the rank, with one thread, before code of an FMU runs. Nothing is done if it is not to be confined. Of what is shared the worker keeps the
 * memory that `component` lies in, and the file `kept` (-1: none). */
TUTTI_CHECKED enum tutti_err tutti_confined_enter(const struct tutti_confined *confined, const struct tutti_job *job,
                                                  int rank, const _Atomic uint32_t *component, int kept,
                                                  struct tutti_confinement *confinement);
/* In the conductor: tells what is new. */
void tutti_confined_listen(struct tutti_confined *confined, const struct tutti_job *job, int rank);

#endif
