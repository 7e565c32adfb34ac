/* SPDX-License-Identifier: MIT */
/* keeper.h - a process between the daemon and a worker. Whatever the worker's FMUs start stays below it, and it runs no code of
 * theirs: so it can end all that also when the daemon is killed, which the worker itself does not survive. */
#ifndef TT_RUN_NODE_KEEPER_H
#define TT_RUN_NODE_KEEPER_H

/* Before there are threads, in the process that the daemon has started, which becomes the keeper: goes on in a child. The keeper
 * hands SIGQUIT on, ends as the child ends, after all processes that it started, and kills it if the daemon ends. Without a process to be
 * had there is none. */
void tt_worker_process_fork_supervised(void);

#endif
