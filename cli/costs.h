/* SPDX-License-Identifier: MIT */
/* costs.h - what units took in an earlier run, from the file that --stats wrote. */
#ifndef TUTTI_CLI_COSTS_H
#define TUTTI_CLI_COSTS_H

#include <stdbool.h>
#include <stddef.h>

/* Makes texts "UNIT=SECONDS", as tutti_run_options.costs takes them; costs_free releases them. False after a message. */
bool costs_read(const char *path, char ***costs, size_t *count);
void costs_free(char **costs, size_t count);

#endif
