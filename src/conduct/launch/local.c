/* SPDX-License-Identifier: MIT */
/* One rank, in the calling thread, which writes its result itself: there is no conductor to tell. */
#include "conduct/launch/launcher.h"
#include "conduct/place.h"
#include "master/run.h"

struct local {
    const struct tutti_job *job;
};

static bool is_asked_for(const struct tutti_run_options *options)
{
    (void)options;
    return true; /* if no other is */
}

/* There is nothing to place, but what people say must make sense. */
static enum tutti_err place(void *self, const struct tutti_job *job, int32_t *places, int *ranks)
{
    (void)self;
    *ranks = 1;
    return job->asked->place_count > 0 ? tutti_place(job->system, job->asked, 1, places) : TUTTI_OK;
}

static enum tutti_err open_job(void *self, const struct tutti_job *job, int ranks)
{
    struct local *local = self;
    (void)ranks;
    local->job = job;
    return TUTTI_OK;
}

static enum tutti_err work(void *self, struct tutti_run_stats *stats)
{
    const struct local *local = self;
    return tutti_run_job(local->job, stats);
}

const struct tutti_launcher tutti_launcher_local = {.name = "local",
                                                    .size = sizeof(struct local),
                                                    .instead = &tutti_launcher_processes,
                                                    .is_asked_for = is_asked_for,
                                                    .place = place,
                                                    .open = open_job,
                                                    .work = work};
