/* SPDX-License-Identifier: MIT */
/* syscall_filter.h - which system calls a confined process makes without being asked, as a program for the kernel (seccomp). All others
 * are put to a supervisor, or refused where the kernel knows no such thing. */
#ifndef TT_BASE_SANDBOX_SYSCALL_FILTER_H
#define TT_BASE_SANDBOX_SYSCALL_FILTER_H

#include <linux/filter.h>

#include "base/sandbox/policy.h"

struct tt_syscall_filter {
    struct sock_filter *code; /* on the heap */
    unsigned short count;
};

/* Whether the kernel can put calls to another process. */
bool tt_syscall_filter_can_notify(void);
/* Whether it filters calls at all. */
bool tt_syscall_filter_is_supported(void);

/* `asks`: what is not allowed is put to the supervisor; else it is refused, and what only a supervisor could judge is allowed,
 * but for signals to other processes than `pid`. */
TUTTI_CHECKED enum tutti_err tt_syscall_filter_make(struct tt_syscall_filter *filter, const struct tt_policy *policy,
                                                    bool asks, int pid);
void tt_syscall_filter_fini(struct tt_syscall_filter *filter);
/* For all threads of the process, for ever. Needs no_new_privs. *listener: where the supervisor hears of calls, the caller's; -1 if
 * the filter asks no supervisor. IO. */
TUTTI_CHECKED enum tutti_err tt_syscall_filter_load(const struct tt_syscall_filter *filter, bool asks, int *listener);

#endif
