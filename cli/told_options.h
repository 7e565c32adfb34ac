/* SPDX-License-Identifier: MIT */
/* told_options.h - options of a command that the library reads (<tutti/tell.h>). */
#ifndef TUTTI_CLI_TOLD_OPTIONS_H
#define TUTTI_CLI_TOLD_OPTIONS_H

#include "options.h"
#include "apps/describe/describe.h"

/* All that were given but the command's `own`, which NULL ends. `given->options` is the caller's (free). MEMORY. */
TUTTI_CHECKED enum tutti_err told_options_read(struct tt_display_options *given, const struct arguments *arguments,
                                               const char *const *own);
/* Says why it failed; the exit status. */
int told_options_fail(const struct arguments *arguments, enum tutti_err err);

#endif
