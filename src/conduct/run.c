/* SPDX-License-Identifier: MIT */
/* Where units run, and the run as a whole. */
#include <tutti/run.h>

#include "conduct/launch.h"

enum tutti_err tutti_run(const struct tutti_run_options *options, struct tutti_run_stats *stats)
{
    struct tutti_job job;
    if (stats)
        *stats = (struct tutti_run_stats){0};
    TRY(tutti_job_open(&job, options));
    return tutti_run_prepared(&job.prepared, stats);
}
