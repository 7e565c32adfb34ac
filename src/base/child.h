/* SPDX-License-Identifier: MIT */
/* child.h - starts child processes, waits for them, passes descriptors to them and ends them.
 *
 * A program is started by tt_child_start (posix_spawn), a copy of this process by tt_child_fork, and a short piece of work that may crash by
 * tt_child_run. Five places call fork() themselves, because their copy is not a child that works for its parent: cli/guard.c and
 * run/node/worker_process.c (the copy goes on as the program, and the parent guards it), fmu/fork_server (copies are checkpoints of an
 * FMU, in a process of one thread that owns its children), cli/heir.c (shares the memory of its parent), and the HDF5 module (which is
 * loaded without this library, and limits the processor time of its copy instead of the time on the wall). */
#ifndef TT_BASE_CHILD_H
#define TT_BASE_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <tutti/err.h>

/* Runs work(context, fd) in a child, a copy of this process without its other threads; `work` writes its answer to
 * `fd`. *answer receives the bytes written until the child has ended, by force after `seconds`; it belongs to the
 * caller (free). False: no answer. A confined process cannot have children. */
bool tt_child_run(void (*work)(void *context, int fd), void *context, unsigned seconds, void **answer, size_t *size);

/* Around each use of a lock that code in the child may take, too: in between no child is made, which would inherit the
 * lock locked. They nest. */
void tt_child_hold(void);
void tt_child_release(void);

/* ---- start ---- */

/* Flags of a plan. */
enum {
    TUTTI_CHILD_IN_PATH = 1,       /* the program is looked for in PATH */
    TUTTI_CHILD_GROUP = 2,         /* it gets a process group: Ctrl-C does not reach it, and tt_child_kill_group does */
    TUTTI_CHILD_SESSION = 4,       /* it gets a session, too, and survives the terminal */
    TUTTI_CHILD_CLEAR_SIGNALS = 8, /* no signal is blocked, ignored or handled in it */
};

/* In place of a descriptor: /dev/null. */
enum { TUTTI_CHILD_NOWHERE = -1 };

/* Which program is started, and how. What is zero is inherited from this process. */
struct tt_child_plan {
    /* The program and its arguments, ended by NULL. */
    const char *const *words;
    char *const *environment;
    /* Its working directory. */
    const char *folder;
    /* Its standard input, output and error: a descriptor of this process, or TUTTI_CHILD_NOWHERE. Error may be STDOUT_FILENO, which is
     * the child's output then. */
    int streams[3];
    /* Descriptors that it gets as 3, 4, ...; those of this process have numbers above these. */
    const int *passed;
    int passed_count;
    unsigned flags;
};

/* Starts a program; *pid is 0 if that fails. Returns 0 or an errno. */
TUTTI_CHECKED int tt_child_start(pid_t *pid, const struct tt_child_plan *plan);

/* Makes a copy of this process without its other threads, which calls work(context, end, parent) and ends with status 1 if that returns. With a
 * `type` of socket other than 0 (SOCK_STREAM, SOCK_SEQPACKET), *fd is this side of a pair of sockets and `end` the copy's; otherwise
 * both are -1. Streams are flushed before. Returns 0 or an errno, with *pid 0 and *fd -1. */
TUTTI_CHECKED int tt_child_fork(pid_t *pid, int *fd, int type, void (*work)(void *context, int end, pid_t parent),
                                void *context);

/* Sends descriptors with one byte, over a socket of AF_UNIX. False: the other side is gone. */
TUTTI_CHECKED bool tt_child_send_descriptors(int socket, const int *fds, int count);
/* Waits for a message of tt_child_send_descriptors. All of the `most` elements that it did not bring are -1. At most 4. */
void tt_child_receive_descriptors(int socket, int *fds, int most);

/* ---- end ---- */

enum tt_child_state {
    TUTTI_CHILD_RUNS,
    TUTTI_CHILD_ENDED,  /* it is collected now, and *status is as waitpid() sets it */
    TUTTI_CHILD_UNKNOWN /* `pid` is not a child; or the program ignores SIGCHLD, and the system has collected it */
};

/* Waits up to `seconds` (0: not at all; INFINITY) for a child, and collects it if it has ended. `status` may be NULL. */
enum tt_child_state tt_child_wait(pid_t pid, double seconds, int *status);

/* Sends signals only to processes that this process has started.
 *
 * kill(2) takes any number: 0 is the caller's process group, -1 is every process of the user. All signals to other
 * processes therefore go through here, and tools/layers.py refuses kill() elsewhere. Process IDs are kept in private
 * memory of the parent, never in shared memory. */

/* Sends a signal to a child of this process that is not yet reaped, so that its ID is unambiguous. Returns false if
 * `pid` is not such a child, and nothing was sent; or if the signal is forbidden. Async-signal-safe. */
bool tt_child_kill(pid_t pid, int number);
/* Sends a signal to the process group that such a child has made. */
bool tt_child_kill_group(pid_t pid, int number);

#endif
