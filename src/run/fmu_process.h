/* SPDX-License-Identifier: MIT */
/* fmu_process.h - the first thing that a process does which was forked to run code of FMUs. */
#ifndef TT_RUN_FMU_PROCESS_H
#define TT_RUN_FMU_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Seconds in which it must end after an FMU has crashed while it was freed: it may hold locks. */
enum { TUTTI_SETTLE_LAST_SECONDS = 10 };

/* Signals from the terminal reach the whole group: the process ignores them, because `parent` handles them, and ends
 * with its parent. Crashes end it without a core file. */
void tt_fmu_process_install_signals(pid_t parent);

/* Processes that FMUs started and left behind. They become children of the nearest ancestor that is a subreaper
 * (prctl(2), PR_SET_CHILD_SUBREAPER), which alone can find them: who starts them is gone, and groups and sessions can be left. */

/* Sends the signal to every child of this process for which judge(context, PID) is true, and reaps those that have
 * ended. Returns their number, without children that belong to a different user. */
size_t tt_fmu_process_signal_orphans(int number, bool (*judge)(void *context, pid_t pid), void *context);

#endif
