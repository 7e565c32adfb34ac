/* SPDX-License-Identifier: MIT */
/* serve.h - calls of the rank, made here by the binding of the FMU's version (fmi/forked/forked.c has the other side of each). */
#ifndef TUTTI_KEEPER_SERVE_H
#define TUTTI_KEEPER_SERVE_H

#include "fmi/binding.h"
#include "keeper/self.h"

/* Makes the call that lies in the area; what comes of it lies there, too. */
enum tt_fmi_status tt_checkpoint_process_serve(struct tt_checkpoint_process *self);

#endif
