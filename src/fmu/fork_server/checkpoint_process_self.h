/* SPDX-License-Identifier: MIT */
/* checkpoint_process_self.h - what a holder, a process that an FMU lives in, knows of itself. */
#ifndef TT_FMU_FORK_SERVER_CHECKPOINT_PROCESS_SELF_H
#define TT_FMU_FORK_SERVER_CHECKPOINT_PROCESS_SELF_H

#include <sys/types.h>

#include "fmu/process/shared_area.h"
#include "fmu/binary/library.h"

struct tt_instance;

struct tt_checkpoint_process {
    struct tt_shared_area *area;
    pid_t keeper;
    uint32_t number;
    struct tt_library library;    /* as far as the rank has told, with the functions once it is loaded */
    struct tt_description desc;   /* of it: no more than loading and calling need */
    struct tt_instance *instance; /* once it is loaded */
    void *texts;                  /* room for arrays of texts */
    unsigned long points;         /* that it has been, and those before it */
    /* In a call: tells or asks the rank something (`word`, with what was put since `frame`), and makes the calls that it
     * answers with, until it has answered. */
    void (*tell)(struct tt_checkpoint_process *self, enum tt_fork_request word, size_t frame);
};

#endif
