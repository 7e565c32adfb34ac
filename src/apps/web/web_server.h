/* SPDX-License-Identifier: MIT */
/* web_server.h - the server of the page (tutti web): systems in a folder are shown, edited, saved and run; docs/web.md
 * defines its answers.
 *
 * A simulation is a separate process with the displayed `tutti run` command: a crash of an FMU does not affect the
 * server, and a run continues when the page or the server is closed. Code of FMUs never runs in this process. */
#ifndef TT_APPS_WEB_WEB_SERVER_H
#define TT_APPS_WEB_WEB_SERVER_H

#include <signal.h>

#include "apps/web/asset_plan.h"
#include "run/net/http.h"

struct tt_web_server;

/* ARGUMENT, IO, LOAD. */
TUTTI_CHECKED enum tutti_err tt_web_server_open(struct tt_web_server **out, const struct tt_web_server_plan *plan);
/* Returns its URL with the token: "http://127.0.0.1:8080/?token=..."; borrowed. */
const char *tt_web_server_url(const struct tt_web_server *web);
/* Serves, until *ended is not 0. */
TUTTI_CHECKED enum tutti_err tt_web_server_run(struct tt_web_server *web, const volatile sig_atomic_t *ended);
void tt_web_server_close(struct tt_web_server *web); /* NULL is fine */

/* The files of the page, as they are sent: packed, with what keeps a page from doing more than it should. */

/* False if the file does not exist. */
bool tt_web_server_send_page(const struct tt_web_server_plan *plan, const struct tt_http_request *request,
                             struct tt_http_response *answer);

#endif
