/* SPDX-License-Identifier: MIT */
#ifndef TT_RUN_NODE_PROCESS_MEMORY_H
#define TT_RUN_NODE_PROCESS_MEMORY_H

#include <stdint.h>
#include <sys/types.h>

/* Bytes of memory that a process and all that it has started use, resident and swapped out; what they share is counted for each.
 * 0 if it is gone. */
uint64_t tt_worker_process_memory(pid_t pid);

#endif
