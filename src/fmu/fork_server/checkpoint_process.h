/* SPDX-License-Identifier: MIT */
/* checkpoint_process.h - a process that an FMU lives in: it makes the calls that it is given, forks where a state is to be saved, and waits as a
 * point to go back to then.
 *
 * Invariants:
 *  K1  A holder acts only while it has the turn (shared_area.h). One that waits as a point has exactly the memory that the FMU had when it was
 *      saved, and the positions in files that it reads.
 *  K2  All holders are children of the keeper: a fork makes a brother (CLONE_PARENT). None waits for another one. */
#ifndef TT_FMU_FORK_SERVER_CHECKPOINT_PROCESS_H
#define TT_FMU_FORK_SERVER_CHECKPOINT_PROCESS_H

#include <stdnoreturn.h>
#include <sys/types.h>

#include "fmu/process/shared_area.h"

/* Holder `number` is process `pid` from now on. */
void tt_checkpoint_process_register(struct tt_shared_area *area, uint32_t number, pid_t pid);

/* The life of the first holder, and of all that come of it. */
noreturn void tt_checkpoint_process_run(struct tt_shared_area *area, pid_t keeper);

#endif
