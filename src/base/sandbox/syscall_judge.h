/* SPDX-License-Identifier: MIT */
/* syscall_judge.h - may a worker make this system call? With what the supervisor sees of it: its number, its arguments, and memory of the
 * worker. */
#ifndef TT_BASE_SANDBOX_SYSCALL_JUDGE_H
#define TT_BASE_SANDBOX_SYSCALL_JUDGE_H

#include <linux/seccomp.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "base/sandbox/denials.h"
#include "base/sandbox/policy.h"

/* What is known of the worker. The denials and `component` are in memory that it sees, too. */
struct tt_supervised {
    const struct tt_policy *policy;
    struct tt_denials *denials;
    const _Atomic uint32_t *component; /* whose FMU the worker is in now */
    bool guards_truncation;            /* of files: the kernel does, so that a path may be judged */
    bool scopes_signals;               /* the kernel lets none out of the worker and what it started */
};

struct tt_supervision {
    struct tt_supervised of;
    pid_t worker;
    int port;             /* where the worker listens; -1: nowhere */
    uint64_t tasks;       /* processes and threads: those that were counted last, and all that were started since */
    uint64_t shared;      /* bytes of shared memory that it was given so far */
    bool uses_scratch;    /* it has made something there */
    bool scratch_is_full; /* nothing more is made there */
};

/* 0: the kernel may go on with it; else the errno that it fails with. Notes what it refuses. */
int tt_supervisor_judge_call(struct tt_supervision *judge, const struct seccomp_notif *call);
/* Looks how much there is in the scratch folder; the worker writes no more to any file once that is too much. */
void tt_supervisor_check_scratch(struct tt_supervision *judge);

#endif
