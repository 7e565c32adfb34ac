/* SPDX-License-Identifier: MIT */
/* web.h - the server of the page (tutti web): systems in a folder are looked at, changed, saved and run; docs/web.md has what it answers.
 *
 * A simulation is a process of its own, the `tutti run` line that is shown: a crash of an FMU does not concern the server, and a run goes on when the
 * page or the server is closed. Code of FMUs never runs in this process. */
#ifndef TUTTI_WEB_WEB_H
#define TUTTI_WEB_WEB_H

#include <signal.h>

#include "web/plan.h"

struct tutti_web;

/* ARGUMENT, IO, LOAD. */
TUTTI_CHECKED enum tutti_err tutti_web_open(struct tutti_web **out, const struct tutti_web_plan *plan);
/* Where people find it, with the token: "http://127.0.0.1:8080/?token=..."; borrowed. */
const char *tutti_web_url(const struct tutti_web *web);
/* Serves, until *ended is not 0. */
TUTTI_CHECKED enum tutti_err tutti_web_run(struct tutti_web *web, const volatile sig_atomic_t *ended);
void tutti_web_close(struct tutti_web *web); /* NULL is fine */

#endif
