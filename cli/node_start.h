/* SPDX-License-Identifier: MIT */
/* node_start.h - nodes on many machines, by ssh: `tutti node --start hosts.txt`. */
#ifndef TUTTI_CLI_NODE_START_H
#define TUTTI_CLI_NODE_START_H

#include <signal.h>

#include "options.h"

/* Starts a node on each host of the file; once all listen, prints their list for `tutti run --nodes`; ends them when
 * *ended is not 0. Returns the exit status; 1 if one could not be started, or ended early. */
int node_start(const struct arguments *arguments, const volatile sig_atomic_t *ended);

#endif
