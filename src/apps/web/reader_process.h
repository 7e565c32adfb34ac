/* SPDX-License-Identifier: MIT */
/* reader_process.h - the process in which files that users bring are read. A file that crashes its reader, or keeps it busy without end, costs one
 * answer and not the server.
 *
 * The reader is forked before the server has threads, and forks a process for every question: a handler of the server with its request. */
#ifndef TT_APPS_WEB_READER_PROCESS_H
#define TT_APPS_WEB_READER_PROCESS_H

#include "apps/web/routes.h"

struct tt_reader_process;

/* Forks the reader. Handlers use `site` as it is at this call. The process must be single-threaded. LIMIT, MEMORY. */
TUTTI_CHECKED enum tutti_err tt_reader_process_new(struct tt_reader_process **out, struct tt_web_site *site);
/* Ends the reader; no question may be under way. NULL is fine. */
void tt_reader_process_free(struct tt_reader_process *reader);

/* Calls handler(site, request, answer) in a separate process. The answer is JSON with any status, also for an error of
 * the handler. Can be called from any thread. LOST: the process has crashed; MEMORY, LIMIT. */
TUTTI_CHECKED enum tutti_err tt_reader_process_query(struct tt_reader_process *reader, tt_routes_handler *handler,
                                                     const struct tt_web_request *request,
                                                     struct tt_http_response *answer);

#endif
