/* SPDX-License-Identifier: MIT */
/* launch.h - the ways to start ranks. Each starts `ranks` of them with the units that job->place says, feeds the conductor with
 * what they report until all have come to their end, and cleans up. Errors of ranks are the conductor's affair; a launcher
 * returns only failures of its own. */
#ifndef TUTTI_CONDUCT_LAUNCH_H
#define TUTTI_CONDUCT_LAUNCH_H

#include "conduct/conductor.h"
#include "master/rank.h"

/* Persistent threads of this process. */
TUTTI_CHECKED enum tutti_err tutti_conduct_threads(const struct tutti_job *job, int ranks,
                                                   struct tutti_conductor *conductor);
/* Workers on this machine, which are forked, and killed if need be. */
TUTTI_CHECKED enum tutti_err tutti_conduct_processes(const struct tutti_job *job, int ranks,
                                                     struct tutti_conductor *conductor);

#endif
