/* SPDX-License-Identifier: MIT */
/* Invariants:
 *  V1. A peer is in the list of those to be looked at (`due`) if something of its connection may have changed since it was looked at: it is
 *      freed only from there, never while its messages are handled.
 *  V2. A peer's epoll mask is what it waits for: bytes to read, unless too much waits to be written; room to write, if something waits.
 *  V3. While the process has no descriptor left, `full` is set and epoll does not look at the listener, which would be ready again and again;
 *      connections wait in its queue until one is closed. */
#include "fedpro/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "fedpro/address.h"
#include "fedpro/transport/transport.h"
#include "fedpro/transport/websocket.h"

enum {
    FIRST_BYTES = 4,      /* that tell a WebSocket from a session */
    TURN = 64,            /* messages of one peer in one turn of the loop */
    EVENTS = 64,          /* of epoll at once */
    MUCH = 4096,          /* messages that wait to be written, from which on a peer is not read from */
    FIRST_SECONDS = 10,   /* in which a connection has to begin a session */
    LONGEST_SLEEP = 1000, /* milliseconds */
    BACKLOG = 128,
    AT_ONCE = 32768, /* bytes of small messages that are written by one call */
};

struct peer {
    struct tutti_fedpro_connection connection;
    struct tutti_fedpro_transport *transport;
    struct tutti_fedpro_server *server;
    int socket;
    uint32_t mask; /* that epoll has */
    double since;
    bool is_due, failed;
    bool busy;     /* whole messages are left */
    bool readable; /* bytes are left in the transport */
    bool sniffed;
    struct peer *next_due;
    struct peer *next, *previous;
    char name[TUTTI_FEDPRO_ADDRESS];
};

struct tutti_fedpro_server {
    struct tutti_fedpro_server_options options;
    struct tutti_fedpro_served served;
    struct tutti_fedpro_sessions sessions;
    struct tutti_fedpro_address address;
    int listener, epoll;
    struct peer *peers, *due;
    size_t peer_count;
    bool full, told_full;
    double now;
    uint8_t buffer[AT_ONCE]; /* of what is being written */
};

static void make_due(struct peer *peer)
{
    if (peer->is_due)
        return;
    peer->is_due = true;
    peer->next_due = peer->server->due;
    peer->server->due = peer;
}

static void on_ready(void *context, struct tutti_fedpro_connection *connection)
{
    (void)context;
    make_due(connection->owner);
}

/* The handler that sessions know has the served one's context; its `ready` needs none. */
static struct tutti_fedpro_handler with_ready(const struct tutti_fedpro_served *served)
{
    struct tutti_fedpro_handler handler = served->handler;
    handler.ready = on_ready;
    return handler;
}

static enum tutti_err listen_at(struct tutti_fedpro_server *server)
{
    int one = 1;
    struct tutti_fedpro_address *address = &server->address;
    TRY(tutti_fedpro_address_find(address, server->options.listen, TUTTI_FEDPRO_PORT));
    server->listener = socket(address->storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (server->listener < 0)
        return tutti_fail(TUTTI_ERR_IO, "no socket can be made: %s", strerror(errno));
    setsockopt(server->listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(server->listener, (struct sockaddr *)&address->storage, address->size) != 0 ||
        listen(server->listener, BACKLOG) != 0)
        return tutti_fail(TUTTI_ERR_IO, "%s cannot be listened at: %s", address->text, strerror(errno));
    if (getsockname(server->listener, (struct sockaddr *)&address->storage, &address->size) != 0)
        return tutti_fail(TUTTI_ERR_IO, "a socket has no address: %s", strerror(errno));
    tutti_fedpro_address_show(address);
    return TUTTI_OK;
}

static enum tutti_err watch(struct tutti_fedpro_server *server)
{
    server->epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};
    if (server->epoll < 0 || epoll_ctl(server->epoll, EPOLL_CTL_ADD, server->listener, &event) != 0)
        return tutti_fail(TUTTI_ERR_IO, "epoll cannot be used: %s", strerror(errno));
    return TUTTI_OK;
}

enum tutti_err tutti_fedpro_server_open(struct tutti_fedpro_server **out,
                                        const struct tutti_fedpro_server_options *options,
                                        const struct tutti_fedpro_served *served)
{
    struct tutti_fedpro_server *server = calloc(1, sizeof *server);
    if (!server)
        return tutti_fail_memory();
    server->options = *options;
    server->served = *served;
    server->listener = server->epoll = -1;
    server->now = tutti_clock_now();
    struct tutti_fedpro_handler handler = with_ready(served);
    tutti_fedpro_sessions_init(&server->sessions, &handler, &options->rules);
    enum tutti_err err = listen_at(server);
    err = err ? err : watch(server);
    if (err) {
        tutti_fedpro_server_close(server);
        return err;
    }
    *out = server;
    return TUTTI_OK;
}

const char *tutti_fedpro_server_address(const struct tutti_fedpro_server *server)
{
    return server->address.text;
}

bool tutti_fedpro_server_is_local(const struct tutti_fedpro_server *server)
{
    return server->address.loopback;
}

/* Looks at the listener, or does not for a while. */
static void set_full(struct tutti_fedpro_server *server, bool full)
{
    struct epoll_event event = {.events = full ? 0U : (uint32_t)EPOLLIN};
    if (full != server->full && epoll_ctl(server->epoll, EPOLL_CTL_MOD, server->listener, &event) == 0)
        server->full = full;
}

/* Not in the list of those that are due. */
static void peer_free(struct peer *peer)
{
    struct tutti_fedpro_server *server = peer->server;
    tutti_fedpro_connection_fini(&peer->connection, server->now);
    if (peer->previous)
        peer->previous->next = peer->next;
    else
        server->peers = peer->next;
    if (peer->next)
        peer->next->previous = peer->previous;
    if (peer->transport)
        peer->transport->kind->free(peer->transport);
    close(peer->socket); /* leaves epoll, too */
    server->peer_count--;
    free(peer);
    set_full(server, false);
}

void tutti_fedpro_server_close(struct tutti_fedpro_server *server)
{
    if (!server)
        return;
    for (struct peer *peer = server->peers, *next = NULL; peer; peer = next) {
        next = peer->next;
        peer->connection.session = NULL;
        peer_free(peer);
    }
    server->due = NULL;
    for (size_t i = 0; i < server->sessions.count; i++)
        server->sessions.items[i]->connection = NULL;
    tutti_fedpro_sessions_fini(&server->sessions, "the RTI ends");
    if (server->listener >= 0)
        close(server->listener);
    if (server->epoll >= 0)
        close(server->epoll);
    free(server);
}

static void set_up_socket(int socket)
{
    int one = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
}

static struct tutti_fedpro_transport *make_transport(struct tutti_fedpro_server *server, int socket)
{
    if (server->options.tls)
        return tutti_fedpro_tls_new(server->options.tls, socket, NULL);
    return tutti_fedpro_tcp_new(socket);
}

static void add_peer(struct tutti_fedpro_server *server, int socket, const struct tutti_fedpro_address *from)
{
    struct peer *peer = calloc(1, sizeof *peer);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = peer};
    struct tutti_fedpro_transport *transport = peer ? make_transport(server, socket) : NULL;
    if (!transport || epoll_ctl(server->epoll, EPOLL_CTL_ADD, socket, &event) != 0) {
        if (transport)
            transport->kind->free(transport);
        free(peer);
        close(socket);
        return;
    }
    set_up_socket(socket);
    tutti_fedpro_connection_init(&peer->connection, &server->sessions, server->now);
    peer->connection.owner = peer;
    peer->transport = transport;
    peer->server = server;
    peer->socket = socket;
    peer->mask = EPOLLIN;
    peer->since = server->now;
    peer->next = server->peers;
    snprintf(peer->name, sizeof peer->name, "%s", from->text);
    if (peer->next)
        peer->next->previous = peer;
    server->peers = peer;
    server->peer_count++;
}

/* No connection can be accepted, for the reason of errno. */
static void fail_to_accept(struct tutti_fedpro_server *server)
{
    if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM)
        return; /* none waits any more, or the one that waited is gone */
    if (!server->told_full)
        tutti_log_printf(server->options.log, TUTTI_LOG_WARNING, NULL,
                         "no connection can be taken beside the %zu that are open: %s; others wait until one is closed "
                         "(ulimit -n says how many files a process may have open)",
                         server->peer_count, strerror(errno));
    server->told_full = true;
    set_full(server, true);
}

static void accept_peers(struct tutti_fedpro_server *server)
{
    for (int i = 0; i < BACKLOG; i++) {
        struct tutti_fedpro_address from = {.size = sizeof from.storage};
        int socket =
            accept4(server->listener, (struct sockaddr *)&from.storage, &from.size, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (socket < 0) {
            fail_to_accept(server);
            return;
        }
        /* Connections that have no session yet are few: who opens many and says nothing is not let in. */
        if (server->peer_count > server->options.rules.most_sessions + BACKLOG) {
            close(socket);
            continue;
        }
        tutti_fedpro_address_show(&from);
        add_peer(server, socket, &from);
    }
}

static void fail_peer(struct peer *peer, const char *why)
{
    tutti_log_printf(peer->server->options.log, TUTTI_LOG_INFO, NULL, "%s: the connection is closed: %s", peer->name,
                     why);
    peer->failed = true;
    make_due(peer);
}

static void take(struct peer *peer)
{
    peer->busy = false;
    if (peer->failed || tutti_fedpro_connection_take(&peer->connection, peer->server->now, TURN, &peer->busy)) {
        if (!peer->failed)
            fail_peer(peer, tutti_err_message());
        return;
    }
    if (peer->busy)
        make_due(peer);
}

/* A connection that begins as one of HTTP is a WebSocket. False after its end was told. */
static bool sniff(struct peer *peer)
{
    struct tutti_fedpro_intake *intake = &peer->connection.intake;
    const uint8_t *bytes = intake->bytes + intake->begin;
    size_t size = intake->end - intake->begin;
    if (peer->sniffed || size < FIRST_BYTES)
        return true;
    peer->sniffed = true;
    if (!tutti_fedpro_websocket_is_request(bytes, size))
        return true;
    struct tutti_fedpro_transport *transport = tutti_fedpro_websocket_new(peer->transport, bytes, size);
    if (!transport) {
        fail_peer(peer, "memory is out");
        return false;
    }
    peer->transport = transport;
    intake->begin = intake->end = 0;
    peer->readable = true; /* the request is in there already */
    make_due(peer);
    return true;
}

static void read_from(struct peer *peer)
{
    uint8_t *into = NULL;
    size_t room = 0, count = 0;
    peer->readable = false;
    if (tutti_fedpro_intake_offer(&peer->connection.intake, &into, &room)) {
        fail_peer(peer, tutti_err_message());
        return;
    }
    switch (peer->transport->kind->read(peer->transport, into, room, &count)) {
    case TUTTI_FEDPRO_IO_DONE:
        tutti_fedpro_intake_took(&peer->connection.intake, count);
        if (sniff(peer))
            take(peer);
        break;
    case TUTTI_FEDPRO_IO_WAIT: break;
    case TUTTI_FEDPRO_IO_ENDED: peer->failed = true; break;
    default: fail_peer(peer, tutti_err_message());
    }
    if (peer->transport->kind->has_more && peer->transport->kind->has_more(peer->transport))
        peer->readable = true;
    make_due(peer);
}

static bool wants_write(const struct peer *peer)
{
    return peer->transport->kind->wants_write && peer->transport->kind->wants_write(peer->transport);
}

/* As much as the socket takes. */
static void write_to(struct peer *peer)
{
    size_t size = 0, count = 0;
    const uint8_t *bytes = NULL;
    if (!peer->failed && wants_write(peer) &&
        peer->transport->kind->write(peer->transport, NULL, 0, &count) == TUTTI_FEDPRO_IO_FAILED)
        peer->failed = true;
    while (!peer->failed &&
           (bytes = tutti_fedpro_connection_output(&peer->connection, peer->server->buffer, AT_ONCE, &size)) != NULL) {
        enum tutti_fedpro_io io = peer->transport->kind->write(peer->transport, bytes, size, &count);
        if (io == TUTTI_FEDPRO_IO_WAIT)
            return;
        if (io != TUTTI_FEDPRO_IO_DONE) {
            peer->failed = true;
            return;
        }
        tutti_fedpro_connection_wrote(&peer->connection, count);
    }
}

static bool has_much_waiting(const struct peer *peer)
{
    return peer->connection.session && tutti_fedpro_link_waiting(&peer->connection.session->link) > MUCH;
}

static void set_mask(struct peer *peer, bool writes)
{
    bool reads = !peer->connection.closing && !has_much_waiting(peer);
    uint32_t mask = (reads ? (uint32_t)EPOLLIN : 0U) | (writes ? (uint32_t)EPOLLOUT : 0U);
    struct epoll_event event = {.events = mask, .data.ptr = peer};
    if (mask != peer->mask && epoll_ctl(peer->server->epoll, EPOLL_CTL_MOD, peer->socket, &event) == 0)
        peer->mask = mask;
}

/* Something may have to be written, read on, or closed. */
static void look_at(struct peer *peer)
{
    if (peer->readable && !peer->failed && !peer->connection.closing)
        read_from(peer);
    if (peer->busy && !peer->failed)
        take(peer);
    write_to(peer);
    bool writes = !peer->failed && (tutti_fedpro_connection_writes(&peer->connection) || wants_write(peer));
    if (peer->failed || (peer->connection.closing && !writes)) {
        if (!peer->is_due)
            peer_free(peer);
        return;
    }
    set_mask(peer, writes);
}

static void look_at_due(struct tutti_fedpro_server *server)
{
    struct peer *peer = server->due;
    server->due = NULL;
    while (peer) {
        struct peer *next = peer->next_due;
        peer->is_due = false;
        look_at(peer);
        peer = next;
    }
}

/* Connections that begin no session in time. */
static void look_for_idle(struct tutti_fedpro_server *server)
{
    for (struct peer *peer = server->peers; peer; peer = peer->next)
        if (!peer->connection.session && server->now - peer->since > FIRST_SECONDS) {
            peer->failed = true;
            make_due(peer);
        }
}

static void tick(struct tutti_fedpro_server *server, double *due)
{
    if (server->now < *due)
        return;
    double next = 0;
    tutti_fedpro_sessions_tick(&server->sessions, server->now, &next);
    look_for_idle(server);
    set_full(server, false); /* the system may have some again */
    if (server->served.tick)
        server->served.tick(server->served.handler.context, server->now);
    *due = next < server->now + 1 ? next : server->now + 1;
}

static void handle_events(struct tutti_fedpro_server *server, const struct epoll_event *events, int count)
{
    for (int i = 0; i < count; i++) {
        struct peer *peer = events[i].data.ptr;
        if (!peer) {
            accept_peers(server);
            continue;
        }
        if (peer->connection.closing)
            peer->failed |= (events[i].events & (EPOLLHUP | EPOLLERR)) != 0;
        else if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))
            read_from(peer);
        make_due(peer);
    }
}

static int sleep_for(const struct tutti_fedpro_server *server, double due)
{
    if (server->due)
        return 0;
    double left = ceil((due - server->now) * 1000);
    return left <= 0 ? 0 : left < LONGEST_SLEEP ? (int)left : LONGEST_SLEEP;
}

enum tutti_err tutti_fedpro_server_run(struct tutti_fedpro_server *server, const volatile sig_atomic_t *stop)
{
    struct epoll_event events[EVENTS];
    double due = 0;
    while (!*stop) {
        int count = epoll_wait(server->epoll, events, EVENTS, sleep_for(server, due));
        server->now = tutti_clock_now();
        if (count < 0 && errno != EINTR)
            return tutti_fail(TUTTI_ERR_IO, "epoll failed: %s", strerror(errno));
        handle_events(server, events, count);
        tick(server, &due);
        if (server->served.settle)
            server->served.settle(server->served.handler.context);
        look_at_due(server);
    }
    return TUTTI_OK;
}
