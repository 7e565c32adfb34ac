/* SPDX-License-Identifier: MIT */
/* supervisor.h - the process beside a confined worker that decides on the system calls which the worker's filter
 * forwards. It permits calls within the policy, and refuses and records all others. It counts processes, shared memory
 * and the bytes in the scratch folder.
 *
 * A worker could change a path between the supervisor's check and the kernel's use of it. Landlock therefore protects
 * the files; the supervisor's decisions on paths provide messages only. Its decisions on calls with numeric arguments,
 * and its refusals, are binding. The supervisor is not confined and must not trust data from the worker. */
#ifndef TT_BASE_SANDBOX_SUPERVISOR_H
#define TT_BASE_SANDBOX_SUPERVISOR_H

#include <linux/seccomp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/sandbox/policy.h"

/* Refused actions of confined code: written by the supervisor of a worker, read by the reporting process, in memory
 * that both map. The worker maps it, too, so a reader must not trust its content. */

enum { TUTTI_DENIALS_MOST = 64, TUTTI_DENIAL_TEXT = 300 };

/* A refused action, and the value of --allow that would permit it; "" if none would. */
struct tt_denial {
    uint32_t component; /* the component whose FMU the worker was running; UINT32_MAX: none */
    char what[TUTTI_DENIAL_TEXT];
    char allow[TUTTI_DENIAL_TEXT];
};

/* Each of them once. Zeroed is empty. */
struct tt_denials {
    _Atomic uint32_t count; /* of those that are whole */
    struct tt_denial list[TUTTI_DENIALS_MOST];
};

/* For the supervisor: adds a denial, unless it is listed or the list is full. */
void tt_supervisor_add_denial(struct tt_denials *denials, const struct tt_denial *denial);
/* For readers: copies the denial `next` in printable form; false if it does not exist yet. */
bool tt_supervisor_read_denial(const struct tt_denials *denials, uint32_t next, struct tt_denial *out);

/* Decides on a system call of a worker. The supervisor sees the call's number and arguments, and the worker's memory. */

/* The worker that is supervised. The denials and `component` are in memory that the worker maps, too. */
struct tt_supervised {
    const struct tt_policy *policy;
    struct tt_denials *denials;
    const _Atomic uint32_t *component; /* the component whose FMU the worker is running */
    bool guards_truncation;            /* of files: the kernel does, so that a path may be judged */
    bool scopes_signals;               /* the kernel confines signals to the worker and its children */
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

/* Decides on a call: 0 lets the kernel execute it; otherwise the errno that it fails with. Records refusals. */
int tt_supervisor_judge_call(struct tt_supervision *judge, const struct seccomp_notif *call);
/* Measures the scratch folder; once it exceeds its limit, the worker can no longer write to any file. */
void tt_supervisor_check_scratch(struct tt_supervision *judge);

struct tt_supervisor {
    pid_t pid;  /* 0: none */
    int socket; /* to it */
};

/* Forks it, from a process with one thread. IO. */
TUTTI_CHECKED enum tutti_err tt_supervisor_start(struct tt_supervisor *supervisor,
                                                 const struct tt_supervised *supervised);
/* Passes it the listener, which it takes, and the worker's listening port (-1: none); from now on it answers. IO. */
TUTTI_CHECKED enum tutti_err tt_supervisor_hand_over(const struct tt_supervisor *supervisor, int listener, int port);
/* Ends it. Called by the worker when no code of an FMU runs any more; it also ends with the worker. */
void tt_supervisor_end(struct tt_supervisor *supervisor);

#endif
