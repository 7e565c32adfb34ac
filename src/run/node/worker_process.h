/* SPDX-License-Identifier: MIT */
/* worker_process.h - the process that a node has for each rank, so that an FMU that crashes takes nothing else along.
 *
 * The daemon starts its own program again with these descriptors:
 *   SETUP   a parcel: text folder of the run's files, u32 rank, u32 ranks, u8 keys, text address to listen at, 16 bytes id of the run,
 *           block job (job.h)
 *   SOCKET  a pair (SOCK_SEQPACKET). To the daemon: READY (u32 port, 32 bytes key, u8 confined), FAILED (u32 enum tutti_err, text message) or DONE;
 *           from it: any byte, once PEERS is filled
 *   PAGE    struct tt_worker_page, which both see
 *   PEERS   a parcel: PEERS without its kind (node_protocol.h)
 *   DENIALS struct tt_denials, which the daemon and the worker's supervisor see; the worker gives it up */
#ifndef TT_RUN_NODE_WORKER_PROCESS_H
#define TT_RUN_NODE_WORKER_PROCESS_H

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

#include "sim/job/job.h"
#include "sim/ranks/command_ring.h"
#include "sim/ranks/fabric.h"

enum {
    TUTTI_WORKER_SETUP = 3,
    TUTTI_WORKER_SOCKET,
    TUTTI_WORKER_PAGE,
    TUTTI_WORKER_PEERS,
    TUTTI_WORKER_DENIALS,
    TUTTI_WORKER_END
};
enum { TUTTI_WORKER_FDS = TUTTI_WORKER_END - TUTTI_WORKER_SETUP };

struct tt_worker_page {
    struct tt_heartbeat where;
    volatile sig_atomic_t interrupt; /* that of the run's options */
    struct tt_command_ring orders;   /* likewise; for the first rank */
};

enum { TUTTI_WORKER_READY = 1, TUTTI_WORKER_FAILED, TUTTI_WORKER_DONE };

/* A different task of a worker with a job than running it once, defined by layers above this one
 * (apps/study/worker_nodes.h). */
struct tt_worker_role {
    bool (*is_asked_for)(const struct tutti_run_options *options);
    /* *job is made of the options, and borrowed until close; no code of an FMU runs. close follows in any case. */
    enum tutti_err (*open)(void **self, const struct tutti_run_options *options, struct tt_job **job);
    /* As the only rank of its run. */
    enum tutti_err (*work)(void *self, struct tt_fabric *fabric);
    void (*close)(void *self); /* NULL is fine */
};

/* The whole life of a worker, from its descriptors on. Takes the process over: signals, descriptors. Returns its exit status. `trade` may be NULL. */
int tt_worker_process_run(const struct tt_worker_role *trade);

/* A process between the daemon and a worker. Whatever the worker's FMUs start stays below it, and it runs no code of
 * theirs: so it can end all that also when the daemon is killed, which the worker itself does not survive. */

/* Called before there are threads, in the process started by the daemon, which becomes the keeper: returns in a child.
 * The keeper forwards SIGQUIT, ends as the child ends, after all processes that the child started, and kills the child
 * if the daemon ends. If no process can be created, there is no keeper. */
void tt_worker_process_fork_supervised(void);

/* Bytes of memory that a process and all that it has started use, resident and swapped out; what they share is counted for each.
 * 0 if it is gone. */
uint64_t tt_worker_process_memory(pid_t pid);

#endif
