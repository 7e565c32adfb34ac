/* SPDX-License-Identifier: MIT */
/* forked.h - an instance whose FMU runs in a separate process and is rolled back by forking that process, independent
 * of the FMU's own saved states.
 *
 * Callers do not notice: the instance gets a binding (binding.h) whose calls are executed there, by the binding of its
 * version. States, messages and errors are handled in this process, as for any instance. Saving a state forks: the
 * process stays as the saved point, its child continues. Restoring a state ends the child, and the saved point forks
 * again. A process with state besides memory (threads, sockets, files that it writes) is rejected. */
#ifndef TT_FMU_PROCESS_FORKED_H
#define TT_FMU_PROCESS_FORKED_H

#include "fmu/fmi_call_instance.h"

/* Permissions that a confined process needs for it: to run this program, and to have a memory file of this size. */
#define TUTTI_FORKED_PROGRAM "tutti_keeper"
enum { TUTTI_FORKED_FILE = 1 << 30 };

/* For a library that a keeper must load (library.h): has one do so, and queries its capabilities. LOAD with the reason. */
TUTTI_CHECKED enum tutti_err tt_forked_probe(struct tt_library *library, const struct tutti_log *log);

/* Starts the process, loads the library there, and gives the instance its binding. Called once, before it is instantiated. */
TUTTI_CHECKED enum tutti_err tt_forked_open(struct tt_instance *instance);
/* Ends the process and all points. */
void tt_forked_close(struct tt_instance *instance);

/* UNSUPPORTED, naming state of the FMU that a fork does not restore. Saving a state makes this check, too. */
TUTTI_CHECKED enum tutti_err tt_forked_check(struct tt_instance *instance);
/* The process has ended, or was ended, in a call. */
bool tt_forked_is_lost(const struct tt_instance *instance);
/* Describes the failure of a call with TUTTI_STATUS_LOST ("was ended by signal 11 ..."), or with TUTTI_STATUS_UNFIT the
 * reason why it cannot fork. */
const char *tt_forked_failure(const struct tt_instance *instance);

#endif
