/* SPDX-License-Identifier: MIT */
/* costs.h - the time of units in an earlier run, from its --stats file. */
#ifndef TUTTI_CLI_COSTS_H
#define TUTTI_CLI_COSTS_H

#include <stdbool.h>
#include <tutti/options.h>

/* Sets the option "cost" for each unit of the file. False after a message. */
bool costs_read(const char *path, struct tutti_run_options *options);

#endif
