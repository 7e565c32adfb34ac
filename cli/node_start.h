/* SPDX-License-Identifier: MIT */
/* node_start.h - nodes on many machines, by ssh: `tutti node --start hosts.txt`. */
#ifndef TUTTI_CLI_NODE_START_H
#define TUTTI_CLI_NODE_START_H

#include <signal.h>

#include "options.h"

/* Starts a node on each host of the file, prints the list of them that `tutti run --nodes` takes once all listen, and ends them
 * when *ended is not 0. Exit status; 1 if one could not be started, or ended by itself. */
int node_start(const struct arguments *arguments, const volatile sig_atomic_t *ended);

#endif
