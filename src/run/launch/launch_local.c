/* SPDX-License-Identifier: MIT */
/* One rank, in the calling thread, which writes its result itself: there is no conductor to tell. */
#include "run/launch/launcher.h"
#include "run/placement.h"
#include "sim/execution_run.h"

struct launch_local {
    const struct tt_job *job;
};

static bool launch_local_is_requested(const struct tutti_run_options *options)
{
    (void)options;
    return true; /* if no other is */
}

/* There is nothing to place, but what people say must make sense. */
static enum tutti_err launch_local_place(void *self, const struct tt_job *job, int32_t *places, int *ranks)
{
    (void)self;
    *ranks = 1;
    return job->asked->place_count > 0 ? tt_placement_compute(job->system, job->asked, 1, places) : TUTTI_OK;
}

static enum tutti_err launch_local_open_job(void *self, const struct tt_job *job, int ranks)
{
    struct launch_local *local = self;
    (void)ranks;
    local->job = job;
    return TUTTI_OK;
}

static enum tutti_err launch_local_run(void *self, struct tutti_run_stats *stats)
{
    const struct launch_local *local = self;
    return tt_execution_run_job(local->job, stats);
}

const struct tt_launcher tt_launcher_local = {.name = "local",
                                              .size = sizeof(struct launch_local),
                                              .instead = &tt_launcher_processes,
                                              .is_asked_for = launch_local_is_requested,
                                              .place = launch_local_place,
                                              .open = launch_local_open_job,
                                              .work = launch_local_run};
