/* SPDX-License-Identifier: MIT */
/* tcp_socket.h - the one socket of a rank, or of the hub: a ZeroMQ ROUTER that listens at one port and connects to
 * others; with a separate context, authentication and monitor of connections.
 *
 * The connecting side names the peer (tt_tcp_socket_route); incoming peers are named by ZeroMQ. The name precedes each
 * message to and from a peer, on this side only. */
#ifndef TT_SIM_RANKS_TCP_SOCKET_H
#define TT_SIM_RANKS_TCP_SOCKET_H

#include <string.h>
#include <zmq.h>

#include "base/log.h"
#include "sim/ranks/tcp_address.h"
#include "sim/ranks/curve_auth.h"
#include "sim/ranks/tcp_frame.h"

/* Limits that both ends of a link obey. */
enum {
    TUTTI_TCP_LEAVE = 512 * 1024, /* bytes of reports that the hub lets a rank send before it has taken some */
    TUTTI_TCP_BATCH = 64 * 1024,  /* bytes of reports in a message */
    TUTTI_TCP_PATIENCE = 30,      /* seconds to get through to a peer that listens */
};

/* How far a connection has come. */
enum tt_tcp_link_state {
    TUTTI_TCP_UNKNOWN, /* neither side has called */
    TUTTI_TCP_CALLING, /* we connect */
    TUTTI_TCP_REACHED, /* connected; its hello is not here yet */
    TUTTI_TCP_UP,
};

/* Bytes of a message, at most; the receiver cuts the connection beyond. */
enum { TUTTI_TCP_GREATEST = 1 << 30 };

/* A name of a connection. */
struct tt_tcp_route {
    uint8_t size, bytes[15];
};

static inline bool tt_tcp_socket_same_route(const struct tt_tcp_route *a, const struct tt_tcp_route *b)
{
    return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

struct tt_tcp_socket {
    void *context, *socket, *monitor;
    uint8_t salt[8]; /* in the names that we give: a stranger who chose the same one for himself would be in our way */
    struct tt_zap *zap; /* NULL: no keys */
    struct tt_curve_keys own;
    bool has_keys;
    int port; /* 0: does not listen */
};

/* Listens at `address`, at one of the ports; NULL: only connects. */
TUTTI_CHECKED enum tutti_err tt_tcp_socket_open(struct tt_tcp_socket *self, const char *address,
                                                const struct tt_port_range *ports, const struct tt_curve_keys *own,
                                                double lost_after, const struct tutti_log *log);
/* Waits at most `linger` seconds until what was sent is on its way. Zeroed or half open is fine. */
void tt_tcp_socket_close(struct tt_tcp_socket *self, double linger);

/* The name that we give to a connection to `number`. */
struct tt_tcp_route tt_tcp_socket_route(const struct tt_tcp_socket *self, uint32_t number);
/* Returns true if it is such a name, with its number. */
bool tt_tcp_socket_is_route(const struct tt_tcp_socket *self, const struct tt_tcp_route *route, uint32_t *number);
/* Begins to connect; `numeric` is what tt_tcp_address_resolve gave. A connection that fails or ends is not made again. */
TUTTI_CHECKED enum tutti_err tt_tcp_socket_connect(struct tt_tcp_socket *self, const char *numeric,
                                                   const uint8_t key[TUTTI_KEY_SIZE], uint32_t number);

enum tt_sending { TUTTI_SENDING_DONE, TUTTI_SENDING_FULL, TUTTI_SENDING_GONE, TUTTI_SENDING_MEMORY };
/* Does not wait. Takes the message if DONE. FULL: later; GONE: that peer's connection has ended. Never MEMORY. */
enum tt_sending tt_tcp_socket_send(struct tt_tcp_socket *self, const struct tt_tcp_route *route, zmq_msg_t *message);
/* A message of a head and at most a number. MEMORY: it cannot be made. */
enum tt_sending tt_tcp_socket_send_frame(struct tt_tcp_socket *self, const struct tt_tcp_route *route,
                                         const struct tt_frame_head *head, const uint64_t *number);
/* A parcel as a message, likewise; also if the parcel has failed. */
enum tt_sending tt_tcp_socket_send_parcel(struct tt_tcp_socket *self, const struct tt_tcp_route *route,
                                          const struct tt_byte_writer *parcel);

/* The next message, which the caller then owns: *got. Waits at most 0.1 s if `wait`. Messages of several parts, which
 * Tutti never sends, come as empty ones. */
TUTTI_CHECKED enum tutti_err tt_tcp_socket_receive(struct tt_tcp_socket *self, bool wait, struct tt_tcp_route *route,
                                                   zmq_msg_t *message, bool *got);

/* Events of an outgoing connection, to `numeric`, from the monitor. */
enum tt_tcp_event { TUTTI_TCP_CONNECTED, TUTTI_TCP_REFUSED, TUTTI_TCP_WRONG_KEY, TUTTI_TCP_DISCONNECTED };
/* The next one; false: none. */
bool tt_tcp_socket_event(struct tt_tcp_socket *self, enum tt_tcp_event *event, char numeric[TUTTI_ADDRESS_SIZE]);
/* Describes an event for waiting callers: "its connection has ended". */
const char *tt_tcp_socket_event_text(enum tt_tcp_event event);

#endif
