/* SPDX-License-Identifier: MIT */
/* command.h - other processes: making, showing, querying and starting command lines. No shell interprets them. */
#ifndef TT_APPS_WEB_COMMAND_H
#define TT_APPS_WEB_COMMAND_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "apps/web/served_folder.h"
#include "base/options/options.h"
#include "base/text.h"

/* Zeroed is empty. */
struct tt_command {
    char **words; /* ended by NULL */
    size_t count;
    bool failed; /* memory is out */
};
void tt_command_fini(struct tt_command *command);
/* Copies the word. */
void tt_command_add(struct tt_command *command, const char *word);
/* Adds options of a run by their names, {"stop": "10", "set": ["a.k=1", "b.k=2"], "smooth": true}, for the command of
 * `takes` (TUTTI_IN_...). Files are those of the folder. ARGUMENT for an option that the page must not set. */
TUTTI_CHECKED enum tutti_err tt_command_add_options(struct tt_command *command, const struct tt_served_folder *folder,
                                                    json_t *options, unsigned takes);
/* Formats it for a shell. */
void tt_command_show(const struct tt_command *command, struct tt_text *out);

/* Runs it to its end; *out is what it prints, the caller's, also on failure. Its complaint is the message if it fails. */
TUTTI_CHECKED enum tutti_err tt_command_query(const struct tt_command *command, struct tt_text *out);
/* Starts it in the folder `where`, in a separate session, so that it outlives this process; its output goes to `log`. */
TUTTI_CHECKED enum tutti_err tt_command_start(const struct tt_command *command, const char *where, const char *log,
                                              pid_t *pid);

/* A process that was started before, and may be gone: a different process may have its ID, with a different start time. */

/* Writes when it began, in the kernel's format; "" if the process does not exist or has ended. */
void tt_command_process_start(pid_t pid, char out[32]);
bool tt_command_is_running(pid_t pid, const char *birth); /* birth: NULL if it is not known */

/* The options of a run that the page may set. */

bool tt_command_offers_option(const struct tt_option *option);

#endif
