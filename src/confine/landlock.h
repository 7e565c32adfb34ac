/* SPDX-License-Identifier: MIT */
/* landlock.h - which files a process may touch, kept by the kernel (Landlock). */
#ifndef TUTTI_CONFINE_LANDLOCK_H
#define TUTTI_CONFINE_LANDLOCK_H

#include "confine/policy.h"

/* From this version on all that `strict` promises is kept: earlier ones let files be cut to nothing. */
enum { TUTTI_LANDLOCK_ENOUGH = 3 };

/* The version that the kernel has; 0: none. */
int tutti_landlock_version(void);
/* For the calling thread and those that it starts, for ever. `keeps_net`: connections are made after it, so TCP is not its affair.
 * Needs no_new_privs. IO. */
TUTTI_CHECKED enum tutti_err tutti_landlock_apply(const struct tutti_policy *policy, bool keeps_net);

#endif
