/* SPDX-License-Identifier: MIT */
/* landlock.h - which files a process may touch, kept by the kernel (Landlock). */
#ifndef TT_BASE_SANDBOX_LANDLOCK_H
#define TT_BASE_SANDBOX_LANDLOCK_H

#include "base/sandbox/policy.h"

enum {
    TUTTI_LANDLOCK_TRUNCATE = 3, /* the version from which on it watches over truncation */
    TUTTI_LANDLOCK_SCOPES = 6    /* also restricts signals */
};

/* The version that the kernel has; 0: none. */
int tt_landlock_version(void);
/* Restricts the calling thread and its later children permanently. Needs no_new_privs. IO. */
TUTTI_CHECKED enum tutti_err tt_landlock_apply(const struct tt_policy *policy);

#endif
