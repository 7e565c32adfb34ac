/* SPDX-License-Identifier: MIT */
/* confine.h - a process that runs code of FMUs gives up everything that these need not have: files (Landlock), system calls
 * (seccomp, with a supervisor that is asked about some), privileges, and more than so much memory, time and room.
 *
 * In two steps: files first, while the process has one thread, because Landlock is the thread's and of those that it starts; calls
 * when its own connections are made, for all threads there are. Before code of any FMU runs. Nothing of it can be taken back. */
#ifndef TUTTI_CONFINE_CONFINE_H
#define TUTTI_CONFINE_CONFINE_H

#include "base/log.h"
#include "confine/filter.h"
#include "confine/supervisor.h"
#include "options/words.h"

/* The words of --confine. */
enum tutti_confine {
#define TUTTI_CONFINE_NAME(name, ...) TUTTI_CONFINE_##name,
    TUTTI_CONFINEMENTS(TUTTI_CONFINE_NAME)
#undef TUTTI_CONFINE_NAME
};

struct tutti_confinement {
    struct tutti_policy policy;
    bool by_landlock, by_seccomp, asks; /* what is used of the kernel */
    struct tutti_supervisor supervisor;
    struct tutti_filter filter;
};

/* What the kernel lacks: STRICT makes an error of it, AUTO a warning. */
TUTTI_CHECKED enum tutti_err tutti_confine_check(enum tutti_confine how, const struct tutti_log *log);

/* `confinement` has a policy, and its address stays. `denials` and `component` are in memory that outlives the worker
 * (supervisor.h); `keeps_net`: connections of ours are made between the two steps. */
TUTTI_CHECKED enum tutti_err tutti_confine_files(struct tutti_confinement *confinement, enum tutti_confine how,
                                                 struct tutti_denials *denials, const _Atomic uint32_t *component,
                                                 bool keeps_net);
TUTTI_CHECKED enum tutti_err tutti_confine_calls(struct tutti_confinement *confinement);
/* When nothing of an FMU runs any more. Zeroed is fine. */
void tutti_confine_end(struct tutti_confinement *confinement);

#endif
