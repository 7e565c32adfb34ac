/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_CLI_STATS_H
#define TUTTI_CLI_STATS_H

#include <stdbool.h>
#include <tutti/tutti.h>

/* Writes the statistics of a run as JSON to `path` ("-": stdout); false after a message. */
bool stats_write(const struct tutti_run_stats *stats, const char *system, const char *path);

#endif
