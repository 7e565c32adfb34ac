/* SPDX-License-Identifier: MIT */
/* serve_calls.h - calls of the rank, made here by the binding of the FMU's version (fmu/process/forked.c has the other side of each). */
#ifndef TT_FMU_FORK_SERVER_SERVE_CALLS_H
#define TT_FMU_FORK_SERVER_SERVE_CALLS_H

#include "fmu/binding.h"
#include "fmu/fork_server/checkpoint_process_self.h"

/* Makes the call that lies in the area; what comes of it lies there, too. */
enum tt_fmi_status tt_checkpoint_process_serve(struct tt_checkpoint_process *self);

#endif
