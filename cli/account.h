/* SPDX-License-Identifier: MIT */
/* account.h - the parts of the --stats file besides statistics: how the run ended, where and when it ran, its libraries
 * and files. */
#ifndef TUTTI_CLI_ACCOUNT_H
#define TUTTI_CLI_ACCOUNT_H

#include <jansson.h>
#include <stdbool.h>
#include <time.h>
#include <tutti/tutti.h>

struct account {
    const struct tutti_run_options *options;
    time_t began;
    bool knows_files; /* those that it reads */
    json_t *files;    /* in the order in which they are reported */
};

/* Begins now; `options` are borrowed. account_fini follows in any case. */
void account_begin(struct account *account, const struct tutti_run_options *options);
void account_fini(struct account *account);
/* For tutti_options_set_used; the context is the account. Its SHA-256 is taken at once: the file may change while the run lasts. */
void account_add_used(void *context, const struct tutti_used_file *file);

/* How a run ended: "completed", "interrupted" or "failed". */
const char *account_status(enum tutti_err err);
/* Adds a file that the run wrote; `path` is its location. A file older than the run is ignored. */
void account_add_written(struct account *account, const char *role, const char *name, const char *path);
/* All of it; `error` is NULL of a run that was completed. NULL: memory is out. */
json_t *account_json(struct account *account, const char *status, const char *error);

#endif
