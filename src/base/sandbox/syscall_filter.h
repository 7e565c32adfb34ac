/* SPDX-License-Identifier: MIT */
/* syscall_filter.h - a kernel filter (seccomp) of the system calls of a confined process. Calls that the filter does
 * not permit are forwarded to a supervisor, or refused if the kernel does not support that. */
#ifndef TT_BASE_SANDBOX_SYSCALL_FILTER_H
#define TT_BASE_SANDBOX_SYSCALL_FILTER_H

#include <linux/filter.h>

#include "base/sandbox/policy.h"

struct tt_syscall_filter {
    struct sock_filter *code; /* on the heap */
    unsigned short count;
};

/* Returns true if the kernel can forward calls to a supervisor. */
bool tt_syscall_filter_can_notify(void);
/* Whether it filters calls at all. */
bool tt_syscall_filter_is_supported(void);

/* Builds a filter. `asks`: calls that are not permitted are forwarded to the supervisor. Otherwise they are refused,
 * and calls that only a supervisor could judge are permitted, except signals to processes other than `pid`. */
TUTTI_CHECKED enum tutti_err tt_syscall_filter_make(struct tt_syscall_filter *filter, const struct tt_policy *policy,
                                                    bool asks, int pid);
void tt_syscall_filter_fini(struct tt_syscall_filter *filter);
/* Loads the filter permanently for all threads of the process, which must have set no_new_privs. *listener receives the
 * descriptor of forwarded calls, which belongs to the caller; -1 if the filter forwards none. IO. */
TUTTI_CHECKED enum tutti_err tt_syscall_filter_load(const struct tt_syscall_filter *filter, bool asks, int *listener);

#endif
