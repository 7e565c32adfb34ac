/* SPDX-License-Identifier: MIT */
/* sandbox.h - a process that runs code of FMUs gives up everything that they do not need: files (Landlock), system
 * calls (seccomp, with a supervisor that decides on some), privileges, and memory, time and disk space above its
 * limits. In two steps: files first, while the process has one thread, because Landlock applies to a thread and its
 * later children; system calls once its connections are made, for all threads. Before code of any FMU runs. None of it
 * can be undone. */
#ifndef TT_BASE_SANDBOX_SANDBOX_H
#define TT_BASE_SANDBOX_SANDBOX_H

#include "base/log.h"
#include "base/sandbox/syscall_filter.h"
#include "base/sandbox/supervisor.h"
#include "base/options/option_words.h"

/* The words of --confine. */
enum tt_confine {
#define TUTTI_CONFINE_NAME(name, ...) TUTTI_CONFINE_##name,
    TUTTI_CONFINEMENTS(TUTTI_CONFINE_NAME)
#undef TUTTI_CONFINE_NAME
};

struct tt_sandbox {
    struct tt_policy policy;
    bool by_landlock, by_seccomp, asks; /* what is used of the kernel */
    struct tt_supervisor supervisor;
    struct tt_syscall_filter filter;
};

/* Checks which features the kernel lacks: an error with STRICT, a warning with AUTO. */
TUTTI_CHECKED enum tutti_err tt_sandbox_check(enum tt_confine how, const struct tutti_log *log);

/* `confinement` has a policy, and its address stays. `denials` and `component` are in memory that outlives the worker
 * (supervisor.h); `keeps_net`: connections of ours are made between the two steps. */
TUTTI_CHECKED enum tutti_err tt_sandbox_restrict_files(struct tt_sandbox *confinement, enum tt_confine how,
                                                       struct tt_denials *denials, const _Atomic uint32_t *component,
                                                       bool keeps_net);
TUTTI_CHECKED enum tutti_err tt_sandbox_restrict_calls(struct tt_sandbox *confinement);
/* When nothing of an FMU runs any more. Zeroed is fine. */
void tt_sandbox_end(struct tt_sandbox *confinement);

#endif
