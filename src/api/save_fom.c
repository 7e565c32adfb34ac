/* SPDX-License-Identifier: MIT */
/* The object model that a run needs as a federate. */
#include <tutti/save.h>

#include "federation/module.h"
#include "job/job.h"

static enum tutti_err write_module(const struct tutti_job *job, const char *path)
{
    struct tutti_attribute_links links;
    struct tutti_failure failure;
    TRY(tutti_attribute_links_read(&links, job));
    bool any = links.published_count + links.subscribed_count > 0;
    tutti_failure_keep(&failure, any ? tutti_attribute_links_write_module(&links, job->system->name, path)
                                     : tutti_fail(TUTTI_ERR_ARGUMENT,
                                                  "there is nothing to write to %s: --publish and --subscribe say what "
                                                  "the object model has",
                                                  path));
    tutti_attribute_links_fini(&links);
    return tutti_failure_return(&failure);
}

enum tutti_err tutti_save_fom(const char *path, const struct tutti_run_options *options)
{
    struct tutti_job job;
    struct tutti_failure failure;
    TRY(tutti_job_load(&job, options, NULL));
    tutti_failure_keep(&failure, write_module(&job, path));
    tutti_job_close(&job);
    return tutti_failure_return(&failure);
}
