/* SPDX-License-Identifier: MIT */
/* web_run.h - a run: a separate process, and a folder, .tutti/runs/ID, with its data:
 *
 *     run.json      the request, the command line, when it began, its process
 *     system.ssp    the system, if it was a document; and document.json
 *     result.h5     the growing result
 *     steps.csv     its steps, if requested
 *     stats.json    statistics, at its end
 *     log.jsonl     its log, with its address for viewers
 *     exit          how it ended, if this server was running
 *
 * The state of a run follows from its folder and its process. So a restarted server finds all runs. */
#ifndef TT_APPS_WEB_WEB_RUN_H
#define TT_APPS_WEB_WEB_RUN_H

#include <jansson.h>

#include "apps/web/routes.h"

#define TUTTI_WEB_ATTACHED "attached" /* the id of the run that --attach names */

struct tt_web_run {
    char id[64];
    char *folder;
    json_t *about; /* run.json */
    bool going;
    char address[300], token[64]; /* where it is live; "": nowhere */
};

/* Finds a run. IO if it does not exist. tt_web_run_fini follows in any case. */
TUTTI_CHECKED enum tutti_err tt_web_run_init(struct tt_web_run *run, const struct tt_web_site *site, const char *id);
void tt_web_run_fini(struct tt_web_run *run);

/* A file of its folder; the caller's. NULL: memory is out. */
char *tt_web_run_file(const struct tt_web_run *run, const char *name);
/* The result of the run that an address names, whether it exists yet or not; owned by the caller. `going` may be NULL. */
TUTTI_CHECKED enum tutti_err tt_web_run_result(char **path, bool *going, const struct tt_web_site *site,
                                               const char *id);
/* Makes the entry of a run in a list: its state, progress, and messages. NULL: memory is out. */
json_t *tt_web_run_json(const struct tt_web_run *run);
/* More of it: columns, statistics, messages, document. */
json_t *tt_web_run_json_all(const struct tt_web_run *run);

#endif
