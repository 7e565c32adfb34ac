/* SPDX-License-Identifier: MIT */
/* Invariants:
 *  V1. A peer is in the list of those to be looked at (`due`) if something of its connection may have changed since it was looked at: it is
 *      freed only from there, never while its messages are handled.
 *  V2. A peer's epoll mask is what it waits for: bytes to read, unless too much waits to be written; room to write, if something waits.
 *  V3. While the process has no descriptor left, `full` is set and epoll does not look at the listener, which would be ready again and again;
 *      connections wait in its queue until one is closed. */
#include "hla/fedpro/fedpro_server.h"

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

#include "base/address.h"
#include "base/wall_clock.h"
#include "hla/transport/transport.h"
#include "hla/transport/websocket.h"

enum {
    FIRST_BYTES = 4,      /* that distinguish a WebSocket from a session */
    TURN = 64,            /* messages of one peer in one turn of the loop */
    EVENTS = 64,          /* of epoll at once */
    MUCH = 4096,          /* messages that wait to be written, from which on a peer is not read from */
    FIRST_SECONDS = 10,   /* in which a connection has to begin a session */
    LONGEST_SLEEP = 1000, /* milliseconds */
    BACKLOG = 128,
    AT_ONCE = 32768, /* bytes of small messages that are written by one call */
};

struct server_peer {
    struct tt_fedpro_connection connection;
    struct tt_transport *transport;
    struct tt_fedpro_server *server;
    int socket;
    uint32_t mask; /* that epoll has */
    double since;
    bool is_due, failed;
    bool busy;     /* whole messages are left */
    bool readable; /* bytes are left in the transport */
    bool sniffed;
    struct server_peer *next_due;
    struct server_peer *next, *previous;
    char name[TUTTI_ADDRESS_SIZE];
};

struct tt_fedpro_server {
    struct tt_fedpro_server_options options;
    struct tt_fedpro_server_handler served;
    struct tt_fedpro_sessions sessions;
    struct tt_socket_address address;
    int listener, epoll;
    struct server_peer *peers, *due;
    size_t peer_count;
    bool full, told_full;
    double now;
    uint8_t buffer[AT_ONCE]; /* of what is being written */
};

static void mark_peer_due(struct server_peer *peer)
{
    if (peer->is_due)
        return;
    peer->is_due = true;
    peer->next_due = peer->server->due;
    peer->server->due = peer;
}

static void on_connection_ready(void *context, struct tt_fedpro_connection *connection)
{
    (void)context;
    mark_peer_due(connection->owner);
}

enum tutti_err tt_fedpro_server_open(struct tt_fedpro_server **out, const struct tt_fedpro_server_options *options,
                                     const struct tt_fedpro_server_handler *served)
{
    struct tt_fedpro_server *server = calloc(1, sizeof *server);
    if (!server)
        return tt_fail_memory();
    server->options = *options;
    server->served = *served;
    server->listener = server->epoll = -1;
    server->now = tt_wall_clock_now();

    /* The handler that sessions know has the context of `served`; its `ready` needs none. */
    struct tt_fedpro_handler handler = served->handler;
    handler.ready = on_connection_ready;
    tt_sessions_init(&server->sessions, &handler, &options->rules);

    struct tt_address address;
    enum tutti_err err =
        tt_address_read(&address, options->listen, &(struct tt_address_rule){.option = "--listen", .any_port = true});
    err = err ? err : tt_address_listen(&server->listener, &server->address, &address, "--listen");
    if (!err) {
        server->epoll = epoll_create1(EPOLL_CLOEXEC);
        struct epoll_event event = {.events = EPOLLIN};
        if (server->epoll < 0 || epoll_ctl(server->epoll, EPOLL_CTL_ADD, server->listener, &event) != 0)
            err = tt_fail(TUTTI_ERR_IO, "epoll cannot be used: %s", strerror(errno));
    }
    if (err) {
        tt_fedpro_server_close(server);
        return err;
    }
    *out = server;
    return TUTTI_OK;
}

const char *tt_fedpro_server_address(const struct tt_fedpro_server *server)
{
    return server->address.text;
}

bool tt_fedpro_server_is_local(const struct tt_fedpro_server *server)
{
    return server->address.loopback;
}

/* Looks at the listener, or does not for a while. */
static void pause_listener(struct tt_fedpro_server *server, bool full)
{
    struct epoll_event event = {.events = full ? 0U : (uint32_t)EPOLLIN};
    if (full != server->full && epoll_ctl(server->epoll, EPOLL_CTL_MOD, server->listener, &event) == 0)
        server->full = full;
}

static void peer_free(struct server_peer *peer)
{
    struct tt_fedpro_server *server = peer->server;
    tt_sessions_free_connection(&peer->connection, server->now);
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
    pause_listener(server, false);
}

void tt_fedpro_server_close(struct tt_fedpro_server *server)
{
    if (!server)
        return;
    for (struct server_peer *peer = server->peers, *next = NULL; peer; peer = next) {
        next = peer->next;
        peer->connection.session = NULL;
        peer_free(peer);
    }
    server->due = NULL;
    for (size_t i = 0; i < server->sessions.count; i++)
        server->sessions.items[i]->connection = NULL;
    tt_sessions_fini(&server->sessions, "the RTI ends");
    if (server->listener >= 0)
        close(server->listener);
    if (server->epoll >= 0)
        close(server->epoll);
    free(server);
}

static void add_peer(struct tt_fedpro_server *server, int socket, const struct tt_socket_address *from)
{
    struct server_peer *peer = calloc(1, sizeof *peer);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = peer};
    struct tt_transport *transport = NULL;
    if (peer)
        transport = server->options.tls ? tt_tls_new_transport(server->options.tls, socket, NULL)
                                        : tt_transport_new_tcp(socket);
    if (!transport || epoll_ctl(server->epoll, EPOLL_CTL_ADD, socket, &event) != 0) {
        if (transport)
            transport->kind->free(transport);
        free(peer);
        close(socket);
        return;
    }
    int one = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);

    tt_sessions_init_connection(&peer->connection, &server->sessions, server->now);
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
static void report_accept_failure(struct tt_fedpro_server *server)
{
    if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM)
        return; /* none waits any more, or the one that waited is gone */
    if (!server->told_full)
        tt_log(server->options.log, TUTTI_LOG_WARNING, NULL,
               "no connection can be taken beside the %zu that are open: %s; others wait until one is closed "
               "(ulimit -n says how many files a process may have open)",
               server->peer_count, strerror(errno));
    server->told_full = true;
    pause_listener(server, true);
}

static void accept_peers(struct tt_fedpro_server *server)
{
    for (int i = 0; i < BACKLOG; i++) {
        struct tt_socket_address from = {.size = sizeof from.storage};
        int socket =
            accept4(server->listener, (struct sockaddr *)&from.storage, &from.size, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (socket < 0) {
            report_accept_failure(server);
            return;
        }
        /* Connections without a session are limited: further connections that send nothing are rejected. */
        if (server->peer_count > server->options.rules.most_sessions + BACKLOG) {
            close(socket);
            continue;
        }
        tt_address_describe(&from);
        add_peer(server, socket, &from);
    }
}

static void fail_peer(struct server_peer *peer, const char *why)
{
    tt_log(peer->server->options.log, TUTTI_LOG_INFO, NULL, "%s: the connection is closed: %s", peer->name, why);
    peer->failed = true;
    mark_peer_due(peer);
}

static void fedpro_server_handle_messages(struct server_peer *peer)
{
    peer->busy = false;
    if (peer->failed || tt_sessions_handle_messages(&peer->connection, peer->server->now, TURN, &peer->busy)) {
        if (!peer->failed)
            fail_peer(peer, tutti_err_message());
        return;
    }
    if (peer->busy)
        mark_peer_due(peer);
}

/* Detects an HTTP request at the beginning, which opens a WebSocket. False once the end was reported. */
static bool detect_websocket(struct server_peer *peer)
{
    struct tt_fedpro_intake *intake = &peer->connection.intake;
    const uint8_t *bytes = intake->bytes + intake->begin;
    size_t size = intake->end - intake->begin;
    if (peer->sniffed || size < FIRST_BYTES)
        return true;
    peer->sniffed = true;
    if (!tt_websocket_is_request(bytes, size))
        return true;
    struct tt_transport *transport = tt_websocket_new_transport(peer->transport, bytes, size);
    if (!transport) {
        fail_peer(peer, "memory is out");
        return false;
    }
    peer->transport = transport;
    intake->begin = intake->end = 0;
    peer->readable = true; /* the request is in there already */
    mark_peer_due(peer);
    return true;
}

static void fedpro_server_read_peer(struct server_peer *peer)
{
    uint8_t *into = NULL;
    size_t room = 0, count = 0;
    peer->readable = false;
    if (tt_fedpro_message_reserve_bytes(&peer->connection.intake, &into, &room)) {
        fail_peer(peer, tutti_err_message());
        return;
    }
    switch (peer->transport->kind->read(peer->transport, into, room, &count)) {
    case TUTTI_FEDPRO_IO_DONE:
        tt_fedpro_message_commit_bytes(&peer->connection.intake, count);
        if (detect_websocket(peer))
            fedpro_server_handle_messages(peer);
        break;
    case TUTTI_FEDPRO_IO_WAIT: break;
    case TUTTI_FEDPRO_IO_ENDED: peer->failed = true; break;
    default: fail_peer(peer, tutti_err_message());
    }
    if (peer->transport->kind->has_more && peer->transport->kind->has_more(peer->transport))
        peer->readable = true;
    mark_peer_due(peer);
}

static bool peer_wants_write(const struct server_peer *peer)
{
    return peer->transport->kind->wants_write && peer->transport->kind->wants_write(peer->transport);
}

static void write_peer(struct server_peer *peer)
{
    size_t size = 0, count = 0;
    const uint8_t *bytes = NULL;
    if (!peer->failed && peer_wants_write(peer) &&
        peer->transport->kind->write(peer->transport, NULL, 0, &count) == TUTTI_FEDPRO_IO_FAILED)
        peer->failed = true;
    while (!peer->failed &&
           (bytes = tt_sessions_get_output(&peer->connection, peer->server->buffer, AT_ONCE, &size)) != NULL) {
        enum tt_transport_io io = peer->transport->kind->write(peer->transport, bytes, size, &count);
        if (io == TUTTI_FEDPRO_IO_WAIT)
            return;
        if (io != TUTTI_FEDPRO_IO_DONE) {
            peer->failed = true;
            return;
        }
        tt_sessions_consume_output(&peer->connection, count);
    }
}

/* Something may have to be written, read on, or closed. */
static void fedpro_server_serve_peer(struct server_peer *peer)
{
    if (peer->readable && !peer->failed && !peer->connection.closing)
        fedpro_server_read_peer(peer);
    if (peer->busy && !peer->failed)
        fedpro_server_handle_messages(peer);
    write_peer(peer);
    bool writes = !peer->failed && (tt_sessions_has_output(&peer->connection) || peer_wants_write(peer));
    if (peer->failed || (peer->connection.closing && !writes)) {
        if (!peer->is_due)
            peer_free(peer);
        return;
    }

    /* A peer with full output is not read until it has received some of it. */
    const struct tt_fedpro_session *session = peer->connection.session;
    bool is_full = session && tt_session_link_pending(&session->link) > MUCH;
    bool reads = !peer->connection.closing && !is_full;
    uint32_t mask = (reads ? (uint32_t)EPOLLIN : 0U) | (writes ? (uint32_t)EPOLLOUT : 0U);
    struct epoll_event event = {.events = mask, .data.ptr = peer};
    if (mask != peer->mask && epoll_ctl(peer->server->epoll, EPOLL_CTL_MOD, peer->socket, &event) == 0)
        peer->mask = mask;
}

static void fedpro_server_tick(struct tt_fedpro_server *server, double *due)
{
    if (server->now < *due)
        return;
    double next = 0;
    tt_sessions_tick(&server->sessions, server->now, &next);
    for (struct server_peer *peer = server->peers; peer; peer = peer->next)
        if (!peer->connection.session && server->now - peer->since > FIRST_SECONDS) {
            peer->failed = true; /* it begins no session in time */
            mark_peer_due(peer);
        }
    pause_listener(server, false); /* the system may have some again */
    if (server->served.tick)
        server->served.tick(server->served.handler.context, server->now);
    *due = next < server->now + 1 ? next : server->now + 1;
}

static void handle_epoll_events(struct tt_fedpro_server *server, const struct epoll_event *events, int count)
{
    for (int i = 0; i < count; i++) {
        struct server_peer *peer = events[i].data.ptr;
        if (!peer) {
            accept_peers(server);
            continue;
        }
        if (peer->connection.closing)
            peer->failed |= (events[i].events & (EPOLLHUP | EPOLLERR)) != 0;
        else if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))
            fedpro_server_read_peer(peer);
        mark_peer_due(peer);
    }
}

static int epoll_timeout(const struct tt_fedpro_server *server, double due)
{
    if (server->due)
        return 0;
    double left = ceil((due - server->now) * 1000);
    return left <= 0 ? 0 : left < LONGEST_SLEEP ? (int)left : LONGEST_SLEEP;
}

enum tutti_err tt_fedpro_server_run(struct tt_fedpro_server *server, const volatile sig_atomic_t *stop)
{
    struct epoll_event events[EVENTS];
    double due = 0;
    while (!*stop) {
        int count = epoll_wait(server->epoll, events, EVENTS, epoll_timeout(server, due));
        server->now = tt_wall_clock_now();
        if (count < 0 && errno != EINTR)
            return tt_fail(TUTTI_ERR_IO, "epoll failed: %s", strerror(errno));
        handle_epoll_events(server, events, count);
        fedpro_server_tick(server, &due);
        if (server->served.settle)
            server->served.settle(server->served.handler.context);

        struct server_peer *peer = server->due;
        server->due = NULL;
        while (peer) {
            struct server_peer *next = peer->next_due;
            peer->is_due = false;
            fedpro_server_serve_peer(peer);
            peer = next;
        }
    }
    return TUTTI_OK;
}
