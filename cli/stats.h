/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_CLI_STATS_H
#define TUTTI_CLI_STATS_H

#include <jansson.h>
#include <stdbool.h>
#include <tutti/tutti.h>

/* Writes the account of a run (account.h; taken; NULL: memory is out) with its statistics (NULL: it did not come to any) as JSON
 * to `path` ("-": stdout); false after a message. */
bool stats_write(json_t *account, const struct tutti_run_stats *stats, const char *path);
/* Returns true if --stats may write there: not over a file with content other than JSON, which may be an FMU of a
 * system. */
bool stats_may_replace(const char *path);

#endif
