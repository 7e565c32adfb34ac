/* SPDX-License-Identifier: MIT */
/* upstream.h - runs as HTTP servers (run/live/live_server.h), asked by this one. */
#ifndef TT_APPS_WEB_UPSTREAM_H
#define TT_APPS_WEB_UPSTREAM_H

#include "base/text.h"

/* A connection, on which the request was sent, and which waits for some seconds at most. LOST. */
TUTTI_CHECKED enum tutti_err tt_upstream_open(const char *address, const char *token, const char *method,
                                              const char *target, const char *body, size_t size, int *fd);
/* A whole answer: its status and its body, which is the caller's, also on failure. Waits for some seconds. LOST. */
TUTTI_CHECKED enum tutti_err tt_upstream_request(const char *address, const char *token, const char *method,
                                                 const char *target, const char *body, size_t size, unsigned *status,
                                                 struct tt_text *out);
/* Appends a text as an address has it. */
void tt_upstream_escape(struct tt_text *out, const char *text);

#endif
