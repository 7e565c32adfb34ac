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

#include "base/sandbox/syscall_judge.h"

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
