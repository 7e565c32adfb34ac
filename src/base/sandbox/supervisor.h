/* SPDX-License-Identifier: MIT */
/* supervisor.h - the process beside a confined worker that is asked about the system calls which its filter does not let through by
 * itself. It lets through what the policy allows, refuses the rest and notes it; it counts processes, shared memory and what lies in
 * the scratch folder.
 *
 * Where it lets a call with a path through, the worker could still change the path before the kernel reads it: the guard of files is
 * Landlock, and the supervisor is the one who can tell. Calls that it judges by numbers alone, and those that it refuses, are as it
 * says. It is not confined, so it takes nothing for granted that comes from the worker. */
#ifndef TT_BASE_SANDBOX_SUPERVISOR_H
#define TT_BASE_SANDBOX_SUPERVISOR_H

#include <linux/seccomp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/sandbox/policy.h"

/* What confined code has tried in vain: written by the supervisor of a worker, read by those who tell people, in memory
 * that both see. The worker sees it, too, so that a reader takes nothing in it for granted. */

enum { TUTTI_DENIALS_MOST = 64, TUTTI_DENIAL_TEXT = 300 };

/* What was tried, and what --allow would have to say for it: "" if nothing would do. */
struct tt_denial {
    uint32_t component; /* whose FMU the worker was in; UINT32_MAX: none */
    char what[TUTTI_DENIAL_TEXT];
    char allow[TUTTI_DENIAL_TEXT];
};

/* Each of them once. Zeroed is empty. */
struct tt_denials {
    _Atomic uint32_t count; /* of those that are whole */
    struct tt_denial list[TUTTI_DENIALS_MOST];
};

/* For the supervisor: adds it, unless it is there or there is no room. */
void tt_supervisor_add_denial(struct tt_denials *denials, const struct tt_denial *denial);
/* For readers: copies number `next`, made printable; false if there is none yet. */
bool tt_supervisor_read_denial(const struct tt_denials *denials, uint32_t next, struct tt_denial *out);

/* May a worker make this system call? With what the supervisor sees of it: its number, its arguments, and memory of the
 * worker. */

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

struct tt_supervisor {
    pid_t pid;  /* 0: there is none */
    int socket; /* to it */
};

/* Forks it, from a process with one thread. IO. */
TUTTI_CHECKED enum tutti_err tt_supervisor_start(struct tt_supervisor *supervisor,
                                                 const struct tt_supervised *supervised);
/* Hands it the listener, which it takes, and the port at which the worker listens (-1: none); from now on it answers. IO. */
TUTTI_CHECKED enum tutti_err tt_supervisor_hand_over(const struct tt_supervisor *supervisor, int listener, int port);
/* Ends it. From the worker, when nothing of an FMU runs any more; if that does not come to it, the supervisor ends with it. */
void tt_supervisor_end(struct tt_supervisor *supervisor);

#endif
