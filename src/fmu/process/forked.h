/* SPDX-License-Identifier: MIT */
/* forked.h - an instance whose FMU lives in a process of its own, and is taken back by forking that process: whatever the FMU
 * itself saves or does not save.
 *
 * Nothing above knows: the instance gets a binding (binding.h) whose calls are made there, by the binding of its version. States,
 * messages and errors stay here, as for any instance. Saving a state forks: the process stays as the saved point, its child goes
 * on. Restoring one ends the child, and lets the point fork again. A process that has more than memory (threads, sockets, files that
 * it writes) does not come back by this, and is refused. */
#ifndef TT_FMU_PROCESS_FORKED_H
#define TT_FMU_PROCESS_FORKED_H

#include "fmu/fmi_call_instance.h"

/* What a process that is confined has to be let do for it: run this program of ours, and have a memory file of this size. */
#define TUTTI_FORKED_PROGRAM "tutti_keeper"
enum { TUTTI_FORKED_FILE = 1 << 30 };

/* Of a library that a keeper has to load (library.h): lets one do so, and asks what it can. LOAD, with the reason. */
TUTTI_CHECKED enum tutti_err tt_forked_probe(struct tt_library *library, const struct tutti_log *log);

/* Starts the process, loads the library there, and gives the instance its binding. Called once, before it is instantiated. */
TUTTI_CHECKED enum tutti_err tt_forked_open(struct tt_instance *instance);
/* Ends the process and all points. */
void tt_forked_close(struct tt_instance *instance);

/* UNSUPPORTED, with what the FMU has that a fork does not bring back. Saving a state looks, too. */
TUTTI_CHECKED enum tutti_err tt_forked_check(struct tt_instance *instance);
/* The process has ended, or was ended, in a call. */
bool tt_forked_is_lost(const struct tt_instance *instance);
/* Of a call that ended with TUTTI_STATUS_LOST: how ("was ended by signal 11 ..."); with TUTTI_STATUS_UNFIT: why it cannot fork. */
const char *tt_forked_failure(const struct tt_instance *instance);

#endif
