/* SPDX-License-Identifier: MIT */
/* upstream.h - runs as HTTP servers (live/broadcast.h), asked by this one. */
#ifndef TUTTI_WEB_UPSTREAM_H
#define TUTTI_WEB_UPSTREAM_H

#include "base/str.h"

/* A connection, on which the request was sent, and which waits for some seconds at most. LOST. */
TUTTI_CHECKED enum tutti_err tutti_web_upstream_open(const char *address, const char *token, const char *method,
                                                     const char *target, const char *body, size_t size, int *fd);
/* A whole answer: its status and its body, which is the caller's, also on failure. Waits for some seconds. LOST. */
TUTTI_CHECKED enum tutti_err tutti_web_upstream_ask(const char *address, const char *token, const char *method,
                                                    const char *target, const char *body, size_t size, unsigned *status,
                                                    struct tutti_text *out);
/* Appends a text as an address has it. */
void tutti_web_upstream_escape(struct tutti_text *out, const char *text);

#endif
