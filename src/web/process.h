/* SPDX-License-Identifier: MIT */
/* process.h - a process that was started before, and may be gone: its number may be another's by now, which began at another time. */
#ifndef TUTTI_WEB_PROCESS_H
#define TUTTI_WEB_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

/* When it began, in the kernel's words; "" if there is no such process, or it has ended. */
void tt_command_process_start(pid_t pid, char out[32]);
bool tt_command_is_running(pid_t pid, const char *birth); /* birth: NULL if it is not known */

#endif
