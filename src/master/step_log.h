/* SPDX-License-Identifier: MIT */
/* step_log.h - a file with a line per attempt at a macro step, as CSV: from where, how far, with which error, what became of
 * it, and which signal drove it. */
#ifndef TUTTI_MASTER_STEP_LOG_H
#define TUTTI_MASTER_STEP_LOG_H

#include "master/control.h"

/* Into run->master.log: a file; or, where a conductor listens, what rank 0 tells it (the others have none). IO. */
TUTTI_CHECKED enum tutti_err tutti_step_log_open(struct run *run, const char *path);
/* Does nothing if there is no log. */
TUTTI_CHECKED enum tutti_err tutti_step_log_write(struct run *run, const struct tutti_attempt *attempt,
                                                  const char *verdict);
/* IO if something could not be written. NULL is fine. */
TUTTI_CHECKED enum tutti_err tutti_step_log_close(struct run *run);

#endif
