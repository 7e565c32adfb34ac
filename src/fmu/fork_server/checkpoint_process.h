/* SPDX-License-Identifier: MIT */
/* checkpoint_process.h - a process in which an FMU runs: it executes requested calls, forks to save a state, and then
 * waits as a saved point.
 *
 * Invariants:
 *  K1  A holder acts only while it has the turn (shared_area.h). One that waits as a point has exactly the memory
 *      that the FMU had when it was saved, and the positions in files that it reads.
 *  K2  All holders are children of the keeper: a fork makes a brother (CLONE_PARENT). None waits for another one. */
#ifndef TT_FMU_FORK_SERVER_CHECKPOINT_PROCESS_H
#define TT_FMU_FORK_SERVER_CHECKPOINT_PROCESS_H

#include <stdnoreturn.h>
#include <sys/types.h>

#include "fmu/binary/library.h"
#include "fmu/binding.h"
#include "fmu/process/shared_area.h"

/* Holder `number` is process `pid` from now on. */
void tt_checkpoint_process_register(struct tt_shared_area *area, uint32_t number, pid_t pid);

/* The life of the first holder, and of all that come of it. */
noreturn void tt_checkpoint_process_run(struct tt_shared_area *area, pid_t keeper);

/* The state of a holder, the process that an FMU runs in. */

struct tt_instance;

struct tt_checkpoint_process {
    struct tt_shared_area *area;
    pid_t keeper;
    uint32_t number;
    struct tt_library library;    /* as far as the rank has described it, with the functions once it is loaded */
    struct tt_description desc;   /* of the library: only the data needed for loading and calling */
    struct tt_instance *instance; /* once it is loaded */
    void *texts;                  /* room for arrays of texts */
    unsigned long points;         /* that it has been, and those before it */
    /* In a call: sends the rank a request (`word`, with the data put since `frame`), and makes the calls that the rank
     * requests until it has answered. */
    void (*tell)(struct tt_checkpoint_process *self, enum tt_fork_request word, size_t frame);
};

/* Calls of the rank, executed here by the binding of the FMU's version (the rank's side: fmu/process/forked.c). */

/* Executes the call in the area, and stores the result there. */
enum tt_fmi_status tt_checkpoint_process_serve(struct tt_checkpoint_process *self);

#endif
