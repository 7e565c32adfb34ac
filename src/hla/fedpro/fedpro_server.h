/* SPDX-License-Identifier: MIT */
/* fedpro_server.h - the sessions of many federates over sockets, in one thread: an event loop over epoll.
 *
 * The handler interprets messages; the server transports them. The number of a federate's messages in one turn of the
 * loop is limited, and it is not read while too much of its output is pending. */
#ifndef TT_HLA_FEDPRO_FEDPRO_SERVER_H
#define TT_HLA_FEDPRO_FEDPRO_SERVER_H

#include <signal.h>

#include "base/log.h"
#include "hla/fedpro/sessions.h"
#include "hla/transport/tls.h"

struct tt_fedpro_server;

struct tt_fedpro_server_options {
    const char *listen; /* "HOST:PORT"; port 0: any */
    struct tt_sessions_rules rules;
    struct tt_tls *tls;          /* borrowed; NULL: plain */
    const struct tutti_log *log; /* borrowed; may be NULL */
};

/* The handler of messages. Its field `ready` is set by the server. */
struct tt_fedpro_server_handler {
    struct tt_fedpro_handler handler;
    /* Called after all available input was handled. May be NULL. */
    void (*settle)(void *context);
    /* Called at most once a second, and when a session may have ended; returns the time of the next call. May be NULL. */
    void (*tick)(void *context, double now);
};

/* Binds and listens. ARGUMENT, LOST or IO. */
TUTTI_CHECKED enum tutti_err tt_fedpro_server_open(struct tt_fedpro_server **out,
                                                   const struct tt_fedpro_server_options *options,
                                                   const struct tt_fedpro_server_handler *served);
/* "127.0.0.1:15164", with the port that was bound. */
const char *tt_fedpro_server_address(const struct tt_fedpro_server *server);
bool tt_fedpro_server_is_local(const struct tt_fedpro_server *server);
/* Serves until *stop is not 0. IO if the loop itself fails. */
TUTTI_CHECKED enum tutti_err tt_fedpro_server_run(struct tt_fedpro_server *server, const volatile sig_atomic_t *stop);
/* Ends all sessions: federates lose their connections. */
void tt_fedpro_server_close(struct tt_fedpro_server *server);

#endif
