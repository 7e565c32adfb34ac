/* SPDX-License-Identifier: MIT */
/* watch_client.h - one who watches a run that is live (docs/live.md): events as they come, orders. */
#ifndef TUTTI_CLI_WATCH_CLIENT_H
#define TUTTI_CLI_WATCH_CLIENT_H

#include <jansson.h>

#include "base/text.h"

struct watch_client {
    const char *address, *token; /* borrowed */
    int fd;                      /* to poll for input */
    struct tt_text text;         /* received, but not yet a complete event */
    bool answered;               /* the head of the answer has come */
};

/* Requests events. `columns`: patterns separated by ';'; NULL: all. IO, LOST, with what to do. */
TUTTI_CHECKED enum tutti_err watch_connect(struct watch_client *client, const char *address, const char *token,
                                           const char *columns);
/* Receives data; waits if there is none. *over: end of the stream. FORMAT, LOST. */
TUTTI_CHECKED enum tutti_err watch_receive(struct watch_client *client, bool *over);
/* Returns the next complete event: its kind is valid until the next call, *data (one object) belongs to the caller;
 * false if there is none. */
bool watch_next(struct watch_client *client, const char **kind, json_t **data);
void watch_disconnect(struct watch_client *client);

/* Sends a JSON object over a separate connection. ARGUMENT, with the run's answer; IO, LOST. */
TUTTI_CHECKED enum tutti_err watch_order(const struct watch_client *client, const char *order);

#endif
