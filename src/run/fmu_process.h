/* SPDX-License-Identifier: MIT */
/* fmu_process.h - the first thing that a process does which was forked to run code of FMUs. */
#ifndef TT_RUN_FMU_PROCESS_H
#define TT_RUN_FMU_PROCESS_H

#include <sys/types.h>

/* Seconds that it has to come to its end, once an FMU has crashed when it was freed: it may hold what others wait for. */
enum { TUTTI_SETTLE_LAST_SECONDS = 10 };

/* Signals from the terminal reach the whole group: what they mean, `parent` tells, and it does not outlive it. Crashes end it, without a core. */
void tt_fmu_process_install_signals(pid_t parent);

#endif
