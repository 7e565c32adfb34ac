/* SPDX-License-Identifier: MIT */
/* orphans.h - processes that FMUs started and left behind. They become children of the nearest ancestor that is a subreaper
 * (prctl(2), PR_SET_CHILD_SUBREAPER), which alone can find them: who starts them is gone, and groups and sessions can be left. */
#ifndef TT_RUN_ORPHANS_H
#define TT_RUN_ORPHANS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Calls judge(context, PID) for every child of this process, sends the signal to those for which it is true, and collects them if
 * they have ended. How many were they? Without those that are of another user, and let go. */
size_t tt_fmu_process_signal_orphans(int number, bool (*judge)(void *context, pid_t pid), void *context);

#endif
