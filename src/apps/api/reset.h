/* SPDX-License-Identifier: MIT */
/* reset.h - instances of FMUs for the next run of the same job: FMI's reset, if a test shows that the FMU implements it
 * correctly.
 *
 * Many FMUs do not return to their initial state. So two short runs precede the first run on reset instances, one on
 * these and one on new instances: start, two macro steps, and all readable values after each. If any bit differs, the
 * FMU is instantiated again for every run. */
#ifndef TT_APPS_API_RESET_H
#define TT_APPS_API_RESET_H

#include "sim/job/job.h"

/* Enables or disables keeping instances that ended without errors for the next run. No instance is kept if a unit is a
 * program's (<tutti/program.h>), whose functions a trial must not call. */
void tt_reset_enable(const struct tt_job *job, bool keeps);
/* Called before a run: tests kept instances once, frees unusable ones, and logs which FMUs do not reset well.
 * INTERRUPTED, MEMORY. */
TUTTI_CHECKED enum tutti_err tt_reset_test(const struct tt_job *job);

#endif
