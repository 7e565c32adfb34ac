/* SPDX-License-Identifier: MIT */
/* reset.h - instances of FMUs for the next run of the same job: FMI's reset, where an FMU is found to do that right.
 *
 * FMUs that are not as new after a reset are common. So before the first run on instances that were reset, two short ones are made, on
 * these and on new ones: start, two macro steps, all that can be read after each. Where a bit differs the FMU is instantiated anew for
 * every run. */
#ifndef TT_APPS_API_RESET_H
#define TT_APPS_API_RESET_H

#include "sim/job/job.h"

/* From now on instances that end well are kept for the next run, or not any more. None is if one of the units is a program's
 * (<tutti/program.h>), whose functions a trial must not call. */
void tt_reset_enable(const struct tt_job *job, bool keeps);
/* Before a run: tries those that were kept, unless that was done, and frees those that are not to be used. The user is told of FMUs that
 * do not reset well. INTERRUPTED, MEMORY. */
TUTTI_CHECKED enum tutti_err tt_reset_test(const struct tt_job *job);

#endif
