/* SPDX-License-Identifier: MIT */
/* child_start.h - a process that was started before, and may be gone: its number may be another's by now, which began at another time. */
#ifndef TT_APPS_WEB_CHILD_START_H
#define TT_APPS_WEB_CHILD_START_H

#include <stdbool.h>
#include <sys/types.h>

/* When it began, in the kernel's words; "" if there is no such process, or it has ended. */
void tt_command_process_start(pid_t pid, char out[32]);
bool tt_command_is_running(pid_t pid, const char *birth); /* birth: NULL if it is not known */

#endif
