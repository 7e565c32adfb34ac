/* SPDX-License-Identifier: MIT */
/* server.h - the sessions of many federates over sockets, in one thread: an event loop over epoll.
 *
 * What the messages mean is the handler's; the server carries them. A federate has at most so many messages in one turn of the loop, and is
 * not read from while too much waits to be written to it. */
#ifndef TUTTI_FEDPRO_SERVER_H
#define TUTTI_FEDPRO_SERVER_H

#include <signal.h>

#include "base/log.h"
#include "fedpro/sessions.h"
#include "fedpro/transport/tls.h"

struct tutti_fedpro_server;

struct tutti_fedpro_server_options {
    const char *listen; /* "HOST:PORT"; port 0: any */
    struct tutti_fedpro_rules rules;
    struct tutti_fedpro_tls *tls; /* borrowed; NULL: plain */
    const struct tutti_log *log;  /* borrowed; may be NULL */
};

/* What the server serves. `ready` of the handler is the server's own. */
struct tutti_fedpro_served {
    struct tutti_fedpro_handler handler;
    /* After what was there to be read was handled. May be NULL. */
    void (*settle)(void *context);
    /* Once a second at most, and when a session may have ended: returns the time at which it wants to be called again. May be NULL. */
    void (*tick)(void *context, double now);
};

/* Binds and listens. ARGUMENT, LOST or IO. */
TUTTI_CHECKED enum tutti_err tutti_fedpro_server_open(struct tutti_fedpro_server **out,
                                                      const struct tutti_fedpro_server_options *options,
                                                      const struct tutti_fedpro_served *served);
/* "127.0.0.1:15164", with the port that was bound. */
const char *tutti_fedpro_server_address(const struct tutti_fedpro_server *server);
bool tutti_fedpro_server_is_local(const struct tutti_fedpro_server *server);
/* Serves until *stop is not 0. IO if the loop itself fails. */
TUTTI_CHECKED enum tutti_err tutti_fedpro_server_run(struct tutti_fedpro_server *server,
                                                     const volatile sig_atomic_t *stop);
/* Ends all sessions: federates lose their connections. */
void tutti_fedpro_server_close(struct tutti_fedpro_server *server);

#endif
