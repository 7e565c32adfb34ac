/* SPDX-License-Identifier: MIT */
/* service.h - common parts of commands that run as servers until a signal ends them. */
#ifndef TUTTI_CLI_SERVICE_H
#define TUTTI_CLI_SERVICE_H

#include <signal.h>

/* The number of the signal that has ended it; 0: none has. */
extern volatile sig_atomic_t service_ended_by;

/* SIGINT, SIGTERM and SIGHUP end the service: the first one by service_ended_by, the second one at once. */
void service_heed_signals(void);
/* Each client takes a descriptor; the usual limit of a process is low, and may be raised. */
void service_raise_limit_of_files(void);

#endif
