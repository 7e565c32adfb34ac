/* SPDX-License-Identifier: MIT */
#include "sim/ranks/tcp_socket.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "sim/ranks/tcp_address.h"

enum {
    WAIT_MS = 100,         /* duration of one wait, after which waiting callers check again */
    BACKLOG = 1024,        /* all ranks may come at once */
    NEVER_MS = 1000000000, /* ZeroMQ adds up to as much, which has to fit into an int */
    HIGH_WATER = 4096,     /* messages; not reached by ranks that keep to the windows of links and reports */
    LONGEST = 6000,        /* seconds of silence; ZeroMQ has 16 bits for tenths of them */
    KEY_BYTES = TUTTI_KEY_SIZE,
};

struct tt_tcp_route tt_tcp_socket_route(const struct tt_tcp_socket *self, uint32_t number)
{
    struct tt_tcp_route route = {.size = 1 + sizeof self->salt + sizeof number,
                                 .bytes = "T"}; /* a zero would be ZeroMQ's */
    memcpy(route.bytes + 1, self->salt, sizeof self->salt);
    memcpy(route.bytes + 1 + sizeof self->salt, &number, sizeof number);
    return route;
}

bool tt_tcp_socket_is_route(const struct tt_tcp_socket *self, const struct tt_tcp_route *route, uint32_t *number)
{
    memcpy(number, route->bytes + 1 + sizeof self->salt, sizeof *number);
    struct tt_tcp_route same = tt_tcp_socket_route(self, *number);
    return tt_tcp_socket_same_route(route, &same);
}

static enum tutti_err tcp_socket_fail(const char *what)
{
    return tt_fail(TUTTI_ERR_IO, "ZeroMQ cannot %s: %s", what, zmq_strerror(zmq_errno()));
}

/* Heartbeats are ZeroMQ's: its thread sends them at intervals and gives the connection up without a timely answer; TTL
 * makes the peer do likewise. An interval and that time are `lost_after` together. */
static enum tutti_err set_socket_options(void *socket, double lost_after)
{
    double seconds = lost_after > 0 ? fmin(lost_after, LONGEST) : 3;
    int interval = (int)(1000 / 6.0 * seconds) + 1, timeout = 5 * interval;
    const struct {
        int option, value;
    } options[] = {
        {ZMQ_ROUTER_MANDATORY, 1},        {ZMQ_LINGER, 0},
        {ZMQ_SNDHWM, HIGH_WATER},         {ZMQ_RCVHWM, HIGH_WATER},
        {ZMQ_BACKLOG, BACKLOG},           {ZMQ_RCVTIMEO, WAIT_MS},
        {ZMQ_RECONNECT_IVL, NEVER_MS},    {ZMQ_HEARTBEAT_IVL, interval},
        {ZMQ_HEARTBEAT_TIMEOUT, timeout}, {ZMQ_HEARTBEAT_TTL, timeout},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (zmq_setsockopt(socket, options[i].option, &options[i].value, sizeof options[i].value) != 0)
            return tcp_socket_fail("set an option");
    int64_t greatest = TUTTI_TCP_GREATEST;
    return zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &greatest, sizeof greatest) == 0 ? TUTTI_OK
                                                                                   : tcp_socket_fail("set an option");
}

static enum tutti_err tcp_socket_monitor(struct tt_tcp_socket *self)
{
    static const char place[] = "inproc://tutti.monitor";
    const int events = ZMQ_EVENT_CONNECTED | ZMQ_EVENT_CLOSED | ZMQ_EVENT_DISCONNECTED |
                       ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
                       ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
    int none =
        0; /* of the high-water mark: strangers make events, too, and a full pipe would hold up ZeroMQ's thread */
    self->monitor = zmq_socket(self->context, ZMQ_PAIR);
    if (!self->monitor || zmq_socket_monitor(self->socket, place, events) != 0 ||
        zmq_setsockopt(self->monitor, ZMQ_LINGER, &none, sizeof none) != 0 ||
        zmq_setsockopt(self->monitor, ZMQ_RCVHWM, &none, sizeof none) != 0 || zmq_connect(self->monitor, place) != 0)
        return tcp_socket_fail("watch connections");
    return TUTTI_OK;
}

static enum tutti_err set_ipv6(void *socket, const char *numeric)
{
    int v6 = strchr(numeric, '[') != NULL;
    return zmq_setsockopt(socket, ZMQ_IPV6, &v6, sizeof v6) == 0 ? TUTTI_OK : tcp_socket_fail("use IPv6");
}

static enum tutti_err bind_socket(struct tt_tcp_socket *self, const char *address, const struct tt_port_range *ports)
{
    char endpoint[TUTTI_ADDRESS_SIZE], numeric[TUTTI_ADDRESS_SIZE];
    bool loopback;
    bool bare_v6 = strchr(address, ':') && address[0] != '[';
    snprintf(endpoint, sizeof endpoint, bare_v6 ? "tcp://[%s]:0" : "tcp://%s:0", address);
    TRY(tt_tcp_address_resolve(endpoint, numeric, &loopback));
    if (!loopback && !self->has_keys)
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s can be reached from other machines: nothing listens there without keys",
                       address);
    TRY(set_ipv6(self->socket, numeric));
    if (self->has_keys)
        TRY(tt_curve_auth_guard_socket(self->socket, &self->own));
    size_t size = sizeof endpoint;
    TRY(tt_tcp_address_bind(ports, self->socket, numeric));
    if (zmq_getsockopt(self->socket, ZMQ_LAST_ENDPOINT, endpoint, &size) != 0)
        return tt_fail_context(tcp_socket_fail("listen"), "%s", address);
    self->port = atoi(strrchr(endpoint, ':') + 1);
    return TUTTI_OK;
}

enum tutti_err tt_tcp_socket_open(struct tt_tcp_socket *self, const char *address, const struct tt_port_range *ports,
                                  const struct tt_curve_keys *own, double lost_after, const struct tutti_log *log)
{
    *self = (struct tt_tcp_socket){.has_keys = own != NULL};
    if (own)
        self->own = *own;
    self->context = zmq_ctx_new();
    self->socket = self->context ? zmq_socket(self->context, ZMQ_ROUTER) : NULL;
    if (!self->socket)
        return tcp_socket_fail("open a socket");
    TRY(tt_random_bytes(self->salt, sizeof self->salt));
    TRY(set_socket_options(self->socket, lost_after));
    TRY(tcp_socket_monitor(self));
    if (own && address)
        TRY(tt_curve_auth_start(&self->zap, self->context, log));
    return address ? bind_socket(self, address, ports) : TUTTI_OK;
}

void tt_tcp_socket_close(struct tt_tcp_socket *self, double linger)
{
    int milliseconds = (int)(1000 * linger);
    if (self->socket) {
        zmq_setsockopt(self->socket, ZMQ_LINGER, &milliseconds, sizeof milliseconds);
        zmq_socket_monitor(self->socket, NULL, 0);
        zmq_close(self->socket);
    }
    if (self->monitor)
        zmq_close(self->monitor);
    tt_curve_auth_stop(self->zap);
    if (self->context)
        while (zmq_ctx_term(self->context) != 0 && zmq_errno() == EINTR)
            ;
    tt_curve_auth_wipe_keys(&self->own);
    *self = (struct tt_tcp_socket){0};
}

enum tutti_err tt_tcp_socket_connect(struct tt_tcp_socket *self, const char *numeric, const uint8_t key[KEY_BYTES],
                                     uint32_t number)
{
    int no = 0;
    struct tt_tcp_route route = tt_tcp_socket_route(self, number);
    if (zmq_setsockopt(self->socket, ZMQ_CURVE_SERVER, &no, sizeof no) != 0)
        return tcp_socket_fail("set an option");
    if (self->has_keys)
        TRY(tt_curve_auth_identify_socket(self->socket, &self->own, key));
    TRY(set_ipv6(self->socket, numeric));
    if (zmq_setsockopt(self->socket, ZMQ_CONNECT_ROUTING_ID, route.bytes, route.size) != 0 ||
        zmq_connect(self->socket, numeric) != 0)
        return tt_fail_context(tcp_socket_fail("connect"), "%s", numeric);
    return TUTTI_OK;
}

enum tt_sending tt_tcp_socket_send(struct tt_tcp_socket *self, const struct tt_tcp_route *route, zmq_msg_t *message)
{
    const int name = ZMQ_SNDMORE | ZMQ_DONTWAIT;
    int rc;
    while ((rc = zmq_send(self->socket, route->bytes, route->size, name)) < 0 && zmq_errno() == EINTR)
        ;
    if (rc < 0)
        return zmq_errno() == EAGAIN ? TUTTI_SENDING_FULL : TUTTI_SENDING_GONE;
    while ((rc = zmq_msg_send(message, self->socket, ZMQ_DONTWAIT)) < 0 && zmq_errno() == EINTR)
        ;
    return rc >= 0 ? TUTTI_SENDING_DONE : TUTTI_SENDING_GONE;
}

static enum tt_sending send_bytes(struct tt_tcp_socket *self, const struct tt_tcp_route *route, const void *bytes,
                                  size_t size)
{
    zmq_msg_t message;
    if (zmq_msg_init_size(&message, size) != 0)
        return TUTTI_SENDING_MEMORY;
    memcpy(zmq_msg_data(&message), bytes, size);
    enum tt_sending sending = tt_tcp_socket_send(self, route, &message);
    if (sending != TUTTI_SENDING_DONE)
        zmq_msg_close(&message);
    return sending;
}

enum tt_sending tt_tcp_socket_send_frame(struct tt_tcp_socket *self, const struct tt_tcp_route *route,
                                         const struct tt_frame_head *head, const uint64_t *number)
{
    char bytes[TUTTI_FRAME_HEAD + sizeof *number];
    tt_tcp_frame_write_head(bytes, head);
    if (number)
        tt_tcp_frame_write_u64(bytes + TUTTI_FRAME_HEAD, *number);
    return send_bytes(self, route, bytes, number ? sizeof bytes : TUTTI_FRAME_HEAD);
}

enum tt_sending tt_tcp_socket_send_parcel(struct tt_tcp_socket *self, const struct tt_tcp_route *route,
                                          const struct tt_byte_writer *parcel)
{
    return parcel->failed ? TUTTI_SENDING_MEMORY : send_bytes(self, route, parcel->bytes, parcel->size);
}

/* Drops the remaining parts after the last one read; returns true if there were any. */
static bool drop_remaining_parts(void *socket)
{
    int more = 0;
    size_t size = sizeof more;
    bool dropped = false;
    while (zmq_getsockopt(socket, ZMQ_RCVMORE, &more, &size) == 0 && more) {
        zmq_msg_t part;
        zmq_msg_init(&part);
        int rc = zmq_msg_recv(&part, socket, ZMQ_DONTWAIT);
        zmq_msg_close(&part);
        dropped = true;
        if (rc < 0)
            break;
    }
    return dropped;
}

enum tutti_err tt_tcp_socket_receive(struct tt_tcp_socket *self, bool wait, struct tt_tcp_route *route,
                                     zmq_msg_t *message, bool *got)
{
    *got = false;
    int size = zmq_recv(self->socket, route->bytes, sizeof route->bytes, wait ? 0 : ZMQ_DONTWAIT);
    if (size < 0)
        return zmq_errno() == EAGAIN || zmq_errno() == EINTR ? TUTTI_OK : tcp_socket_fail("receive");
    zmq_msg_init(message);
    int rc;
    while ((rc = zmq_msg_recv(message, self->socket, 0)) < 0 && zmq_errno() == EINTR)
        ;
    if (rc < 0) {
        zmq_msg_close(message);
        return tcp_socket_fail("receive");
    }
    route->size = (uint8_t)((size_t)size <= sizeof route->bytes ? size : 0);
    if (zmq_msg_more(message) && drop_remaining_parts(self->socket)) {
        zmq_msg_close(message);
        zmq_msg_init(message);
    }
    *got = true;
    return TUTTI_OK;
}

static bool tcp_socket_map_event(int event, enum tt_tcp_event *meaning)
{
    switch (event) {
    case ZMQ_EVENT_CONNECTED: *meaning = TUTTI_TCP_CONNECTED; return true;
    case ZMQ_EVENT_CLOSED: *meaning = TUTTI_TCP_REFUSED; return true;
    case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
    case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL: *meaning = TUTTI_TCP_WRONG_KEY; return true;
    case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
    case ZMQ_EVENT_DISCONNECTED: *meaning = TUTTI_TCP_DISCONNECTED; return true;
    default: return false;
    }
}

/* An event has two parts: 16 bits of number, 32 bits of value; the address. */
bool tt_tcp_socket_event(struct tt_tcp_socket *self, enum tt_tcp_event *event, char numeric[TUTTI_ADDRESS_SIZE])
{
    for (;;) {
        uint8_t first[6];
        uint16_t number;
        if (zmq_recv(self->monitor, first, sizeof first, ZMQ_DONTWAIT) != sizeof first)
            return false;
        int size = zmq_recv(self->monitor, numeric, TUTTI_ADDRESS_SIZE - 1, ZMQ_DONTWAIT);
        if (size < 0)
            return false;
        numeric[size < TUTTI_ADDRESS_SIZE ? size : TUTTI_ADDRESS_SIZE - 1] = '\0';
        memcpy(&number, first, sizeof number);
        if (tcp_socket_map_event(number, event))
            return true;
    }
}

const char *tt_tcp_socket_event_text(enum tt_tcp_event event)
{
    static const char *const texts[] = {
        [TUTTI_TCP_CONNECTED] = "it does not answer",
        [TUTTI_TCP_REFUSED] = "no program listens there",
        [TUTTI_TCP_WRONG_KEY] = "it has another key, or refuses ours",
        [TUTTI_TCP_DISCONNECTED] = "its connection has ended, or nothing has come from it for too long",
    };
    return texts[event];
}
