/* SPDX-License-Identifier: MIT */
/* tcp_rank.h - inside of the tcp fabric: a rank and its links.
 *
 * Invariants:
 *  W1  Both ends of a link send and take DATA and REDUCE in the same order (F1), so that a queue per link is enough, and a message
 *      that is not the one expected is a fault of the peer.
 *  W2  At most WINDOW messages are on a link that the other end has not taken. Those who wait for room are ahead of the other by so
 *      many exchanges; those who wait for data are not ahead: no circle of waiting.
 *  W3  A stop goes out by all links of whoever hears of it first: what came by a link before the stop did was sent before its peer
 *      knew of it, and is taken.
 *  W4  Whoever waits looks at everything that comes, and ten times a second at the connections. */
#ifndef TUTTI_FABRIC_TCP_RANK_H
#define TUTTI_FABRIC_TCP_RANK_H

#include "fabric/tcp_socket.h"

enum {
    TUTTI_TCP_WINDOW = 256,       /* messages */
    TUTTI_TCP_LEAVE = 512 * 1024, /* bytes of reports that the hub lets a rank send before it has taken some */
    TUTTI_TCP_BATCH = 64 * 1024,  /* bytes of reports in a message */
    TUTTI_TCP_PATIENCE = 30,      /* seconds to get through to somebody who listens */
};

enum tutti_tcp_link_state {
    TUTTI_TCP_UNKNOWN, /* nobody has called */
    TUTTI_TCP_CALLING, /* we connect */
    TUTTI_TCP_REACHED, /* connected; its hello is not here yet */
    TUTTI_TCP_UP,
};

struct tutti_tcp_link {
    int rank; /* of the peer; -1: the hub */
    enum tutti_tcp_link_state state;
    bool gone, left; /* its connection has ended; it said goodbye */
    const char *why; /* it is gone */
    double since;    /* when we called */
    uint64_t stop;   /* the least that came by it */
    struct tutti_route route;
    char numeric[TUTTI_TCP_ENDPOINT];
    zmq_msg_t *queue; /* a ring of those that came and were not taken */
    uint32_t first, queued, room;
    uint32_t sent, acked, taken,
        told; /* DATA and REDUCE: by us; of these, taken there; of theirs, by us; of these, told */
};

struct tutti_tcp_turn; /* tcp_reduce.c */

struct tutti_tcp {
    struct tutti_fabric fabric;
    struct tutti_tcp_socket socket;
    const struct tutti_log *log;
    struct tutti_wire_hello hello; /* ours */
    struct tutti_tcp_peer *peers;
    struct tutti_tcp_link *links; /* per rank, then that of the hub */
    uint32_t *callers; /* links that others called, by a hash of their routes; a power of two; UINT32_MAX: free */
    size_t caller_room;
    struct tutti_tcp_link *awaited; /* whom we wait for now, or NULL */
    bool received;                  /* by the last pump */
    double next_look;
    double stop_came; /* when the last stop came from others */
    double linger;
    unsigned strangers; /* messages of those who are no members */

    const struct tutti_channel **channels;
    uint32_t channel_count, channel_room;

    struct tutti_tcp_turn *turns; /* of a reduction; made by the first */
    size_t turn_count;

    char *batch; /* of reports; not sent yet */
    size_t batched;
    double batched_since;
    uint64_t reported, granted; /* bytes: sent; that may be sent */

    _Atomic uint64_t stop_after;
    struct tutti_whereabouts where;
};

static inline struct tutti_tcp *tutti_tcp_of(struct tutti_fabric *fabric)
{
    return (struct tutti_tcp *)(void *)fabric; /* its first member */
}

static inline struct tutti_tcp_link *tutti_tcp_hub_link(const struct tutti_tcp *tcp)
{
    return &tcp->links[tcp->fabric.ranks];
}

/* tcp_link.c --------------------------------------------------------------------------------------------------------------- */

/* Takes the next message off the socket, if there is one, and does what it says. Waits at most 0.1 s if `wait`. */
TUTTI_CHECKED enum tutti_err tutti_tcp_pump(struct tutti_tcp *tcp, bool wait);
/* One turn of a wait for `link`: STOPPED, LOST, or OK: look whether it has come. */
TUTTI_CHECKED enum tutti_err tutti_tcp_await(struct tutti_tcp *tcp, struct tutti_tcp_link *link);
/* Now and then: looks for stops, though there is nothing to wait for. */
TUTTI_CHECKED enum tutti_err tutti_tcp_glance(struct tutti_tcp *tcp);
/* Calls the rank if it is for us to call (the higher calls the lower); then tutti_tcp_wait_up. */
TUTTI_CHECKED enum tutti_err tutti_tcp_call(struct tutti_tcp *tcp, int rank);
TUTTI_CHECKED enum tutti_err tutti_tcp_wait_up(struct tutti_tcp *tcp, struct tutti_tcp_link *link);
/* Sends a message of `kind` (DATA or REDUCE) whose body is filled in behind TUTTI_WIRE_HEAD; takes it. */
TUTTI_CHECKED enum tutti_err tutti_tcp_send(struct tutti_tcp *tcp, struct tutti_tcp_link *link,
                                            enum tutti_wire_kind kind, uint32_t channel, zmq_msg_t *message);
/* Waits for the next message of the link, which has to be this one; the caller closes it. */
TUTTI_CHECKED enum tutti_err tutti_tcp_take(struct tutti_tcp *tcp, struct tutti_tcp_link *link,
                                            enum tutti_wire_kind kind, uint32_t channel, zmq_msg_t *message);
void tutti_tcp_spread_stop(struct tutti_tcp *tcp, uint64_t step);
/* "rank 2 at host:port". */
struct tutti_shown tutti_tcp_who(const struct tutti_tcp *tcp, const struct tutti_tcp_link *link);
/* FORMAT: it broke the rules. */
enum tutti_err tutti_tcp_nonsense(const struct tutti_tcp *tcp, const struct tutti_tcp_link *link);

/* tcp_reduce.c ------------------------------------------------------------------------------------------------------------- */

TUTTI_CHECKED enum tutti_err tutti_tcp_reduce(struct tutti_fabric *fabric, enum tutti_reduction reduction,
                                              double *values, size_t count);

/* tcp_report.c ------------------------------------------------------------------------------------------------------------- */

TUTTI_CHECKED enum tutti_err tutti_tcp_report(struct tutti_fabric *fabric, const void *bytes, size_t size);
/* Sends what is collected; if `old`, only if it has been here for a while. Does not wait. */
void tutti_tcp_flush(struct tutti_tcp *tcp, bool old);
/* Sends the last, and waits for leave as long as the hub is there. */
TUTTI_CHECKED enum tutti_err tutti_tcp_drain(struct tutti_tcp *tcp);

#endif
