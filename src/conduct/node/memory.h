/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_CONDUCT_NODE_MEMORY_H
#define TUTTI_CONDUCT_NODE_MEMORY_H

#include <stdint.h>
#include <sys/types.h>

/* Bytes of memory that a process and all that it has started use, resident and swapped out; what they share is counted for each.
 * 0 if it is gone. */
uint64_t tt_worker_process_memory(pid_t pid);

#endif
