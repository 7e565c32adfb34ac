/* SPDX-License-Identifier: MIT */
/* The object model that a run needs as a federate. */
#include <tutti/save.h>

#include "run/federate/links_module.h"
#include "sim/job/job.h"

static enum tutti_err write_fom_module(const struct tt_job *job, const char *path)
{
    struct tt_attribute_links links;
    struct tt_failure failure;
    TRY(tt_attribute_links_read(&links, job));
    bool any = links.published_count + links.subscribed_count > 0;
    tt_fail_save(&failure, any ? tt_attribute_links_write_module(&links, job->system->name, path)
                               : tt_fail(TUTTI_ERR_ARGUMENT,
                                         "there is nothing to write to %s: --publish and --subscribe say what "
                                         "the object model has",
                                         path));
    tt_attribute_links_fini(&links);
    return tt_fail_restore(&failure);
}

enum tutti_err tutti_save_fom(const char *path, const struct tutti_run_options *options)
{
    struct tt_job job;
    struct tt_failure failure;
    TRY(tt_job_load(&job, options, NULL));
    tt_fail_save(&failure, write_fom_module(&job, path));
    tt_job_close(&job);
    return tt_fail_restore(&failure);
}
