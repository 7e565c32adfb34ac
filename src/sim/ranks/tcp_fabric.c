/* SPDX-License-Identifier: MIT */
/* The tcp fabric: a rank from its port to its end, its links, reductions and reports.
 *
 * Invariants:
 *  L1  Both ends of a link send and receive DATA and REDUCE in one order (F1), so that a queue per link is enough,
 *      and an unexpected message is a fault of the peer.
 *  L2  At most WINDOW messages on a link are unreceived. A rank that waits for room is ahead of its peer by WINDOW
 *      exchanges; a rank that waits for data is not ahead: waiting is never circular.
 *  L3  A stop is sent on all links by the rank that receives it first: messages that arrive on a link before the
 *      stop were sent before the peer received it, and are accepted.
 *  L4  A waiting rank handles all messages, and checks the connections ten times a second. */
#include "sim/ranks/tcp_fabric.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/wall_clock.h"
#include "base/text.h"
#include "base/vector.h"
#include "sim/ranks/tcp_address.h"
#include "sim/ranks/fabric.h"
#include "sim/ranks/tcp_socket.h"

enum { WINDOW = 256 }; /* messages */

struct tcp_link {
    int rank; /* of the peer; -1: the hub */
    enum tt_tcp_link_state state;
    bool gone, left; /* its connection has ended; it has sent BYE */
    const char *why; /* it is gone */
    double since;    /* when we called */
    uint64_t stop;   /* the least that came by it */
    struct tt_tcp_route route;
    char numeric[TUTTI_ADDRESS_SIZE];
    zmq_msg_t *queue; /* a ring of those that came and were not taken */
    uint32_t first, queued, room;
    uint32_t sent, acked, taken,
        told; /* DATA and REDUCE: sent by us; acknowledged by the peer; received by us; acknowledged by us */
};

/* A turn of a reduction: sends to, or receives from a rank. */
enum deed { TELL, COMBINE, ADOPT };

struct reduce_turn {
    enum deed deed;
    int rank;
};

struct tt_tcp_fabric {
    struct tt_fabric fabric;
    struct tt_tcp_socket socket;
    const struct tutti_log *log;
    struct tt_frame_hello hello; /* ours */
    struct tt_tcp_peer *peers;
    struct tcp_link *links; /* per rank, then that of the hub */
    uint32_t *callers;      /* links that others called, by a hash of their routes; a power of two; UINT32_MAX: free */
    size_t caller_room;
    struct tcp_link *awaited; /* whom we wait for now, or NULL */
    bool received;            /* by the last pump */
    double next_look;
    double stop_came; /* when the last stop came from others */
    double linger;
    unsigned strangers; /* number of messages from non-members */

    const struct tt_channel **channels;
    size_t channel_count, channel_room;

    struct reduce_turn *turns; /* of a reduction; made by the first */
    size_t turn_count;

    char *batch; /* of reports; not sent yet */
    size_t batched;
    double batched_since;
    uint64_t reported, granted; /* bytes: sent; that may be sent */

    _Atomic uint64_t stop_after;
    struct tt_heartbeat where;
};

static inline struct tt_tcp_fabric *tcp_from_fabric(struct tt_fabric *fabric)
{
    return (struct tt_tcp_fabric *)(void *)fabric; /* its first member */
}

static inline struct tcp_link *hub_link(const struct tt_tcp_fabric *tcp)
{
    return &tcp->links[tcp->fabric.ranks];
}

/* Links of a rank: how they come up, what comes in by them, how one waits for it. */

static const double LOOK_EVERY = 0.1,
                    GRACE = 0.25; /* seconds: between looks; for a stop to come by the awaited link, too */
static const double OLD = 0.2;    /* seconds: reports that wait for others so long are sent */
enum { WARNINGS = 10 };

/* "rank 2 at host:port". */
static struct tt_text_excerpt tcp_peer_name(const struct tt_tcp_fabric *tcp, const struct tcp_link *link)
{
    struct tt_text_excerpt shown;
    if (link->rank < 0)
        snprintf(shown.text, sizeof shown.text, "the conductor");
    else
        snprintf(shown.text, sizeof shown.text, "rank %d at %.70s", link->rank,
                 tcp->peers[link->rank].endpoint + strlen("tcp://"));
    return shown;
}

/* FORMAT: it broke the rules. */
static enum tutti_err fail_tcp_protocol(const struct tt_tcp_fabric *tcp, const struct tcp_link *link)
{
    return tt_tcp_frame_fail_mismatch(TUTTI_FRAME_FINE, tcp_peer_name(tcp, link).text, "");
}

/* Callers: routes that ZeroMQ made, and whose links they are ---------------------------------------------------------------- */

static size_t tcp_fabric_hash_route(const struct tt_tcp_route *route)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (unsigned i = 0; i < route->size; i++)
        hash = (hash ^ route->bytes[i]) * 1099511628211u;
    return (size_t)(hash ^ hash >> 32);
}

static int find_link_by_route(const struct tt_tcp_fabric *tcp, const struct tt_tcp_route *route)
{
    uint32_t number;
    if (tt_tcp_socket_is_route(&tcp->socket, route, &number))
        return number < (uint32_t)tcp->fabric.ranks ? (int)number : -1;
    for (size_t at = tcp_fabric_hash_route(route);; at++) {
        uint32_t caller = tcp->callers[at & (tcp->caller_room - 1)];
        if (caller == UINT32_MAX)
            return -1;
        if (tt_tcp_socket_same_route(&tcp->links[caller].route, route))
            return (int)caller;
    }
}

/* What comes in ------------------------------------------------------------------------------------------------------------- */

static enum tutti_err tcp_fabric_send_hello(struct tt_tcp_fabric *tcp, const struct tt_tcp_route *route,
                                            enum tt_frame_reason reason)
{
    struct tt_byte_writer parcel = {0};
    if (reason == TUTTI_FRAME_FINE)
        tt_tcp_frame_write_hello(&parcel, &tcp->hello);
    else
        tt_tcp_frame_write_refusal(&parcel, reason);
    enum tt_sending sending = tt_tcp_socket_send_parcel(&tcp->socket, route, &parcel);
    tt_bytes_fini(&parcel);
    return sending == TUTTI_SENDING_MEMORY ? tt_fail_memory() : TUTTI_OK; /* if it is gone, that shows later */
}

/* Finds the link that a hello opens, or NULL. With keys, the key proves the identity of a peer. */
static struct tcp_link *find_expected_link(struct tt_tcp_fabric *tcp, const struct tt_frame_hello *hello,
                                           zmq_msg_t *message)
{
    bool is_hub = hello->rank == TUTTI_FRAME_HUB;
    if (!is_hub && (hello->rank >= hello->ranks || hello->rank <= (uint32_t)tcp->fabric.rank))
        return NULL; /* the higher rank calls */
    struct tcp_link *link = &tcp->links[is_hub ? (uint32_t)tcp->fabric.ranks : hello->rank];
    char name[16] = "hub";
    if (!is_hub)
        snprintf(name, sizeof name, "%u", hello->rank);
    const char *user = tcp->socket.has_keys ? zmq_msg_gets(message, "User-Id") : name;
    return link->state == TUTTI_TCP_UNKNOWN && user && strcmp(user, name) == 0 ? link : NULL;
}

/* Handles a message of an unidentified connection. A stranger is rejected, and does not disturb the run. */
static enum tutti_err tcp_fabric_handle_hello(struct tt_tcp_fabric *tcp, const struct tt_tcp_route *route,
                                              zmq_msg_t *message)
{
    struct tt_frame_hello hello;
    if (!tt_tcp_frame_read_hello(zmq_msg_data(message), zmq_msg_size(message), &hello)) {
        if (tcp->strangers++ < WARNINGS)
            tt_log(tcp->log, TUTTI_LOG_WARNING, NULL, "a program that is no member of the run sent %zu bytes",
                   zmq_msg_size(message));
        return TUTTI_OK;
    }
    enum tt_frame_reason reason = tt_tcp_frame_compare_hello(&hello, &tcp->hello);
    struct tcp_link *link = reason == TUTTI_FRAME_FINE ? find_expected_link(tcp, &hello, message) : NULL;
    if (!link) {
        reason = reason == TUTTI_FRAME_FINE ? TUTTI_FRAME_NOT_EXPECTED : reason;
        if (tcp->strangers++ < WARNINGS) {
            (void)tt_tcp_frame_fail_mismatch(reason, "the program that called", hello.version);
            tt_log(tcp->log, TUTTI_LOG_WARNING, NULL, "%s", tutti_err_message());
        }
        return tcp_fabric_send_hello(tcp, route, reason);
    }
    link->route = *route;
    link->state = TUTTI_TCP_UP;
    size_t at = tcp_fabric_hash_route(&link->route);
    while (tcp->callers[at & (tcp->caller_room - 1)] != UINT32_MAX)
        at++;
    tcp->callers[at & (tcp->caller_room - 1)] = (uint32_t)(link - tcp->links);
    return tcp_fabric_send_hello(tcp, route, TUTTI_FRAME_FINE);
}

static enum tutti_err handle_hello_reply(struct tt_tcp_fabric *tcp, struct tcp_link *link, zmq_msg_t *message)
{
    struct tt_frame_hello hello;
    enum tt_frame_reason reason;
    char version[TUTTI_FRAME_VERSION];
    struct tt_text_excerpt who = tcp_peer_name(tcp, link);
    if (tt_tcp_frame_read_refusal(zmq_msg_data(message), zmq_msg_size(message), &reason, version))
        return tt_tcp_frame_fail_mismatch(reason, who.text, version);
    if (!tt_tcp_frame_read_hello(zmq_msg_data(message), zmq_msg_size(message), &hello))
        return fail_tcp_protocol(tcp, link);
    reason = tt_tcp_frame_compare_hello(&hello, &tcp->hello);
    if (reason != TUTTI_FRAME_FINE)
        return tt_tcp_frame_fail_mismatch(reason, who.text, hello.version);
    if (hello.rank != (uint32_t)link->rank)
        return fail_tcp_protocol(tcp, link);
    link->state = TUTTI_TCP_UP;
    return TUTTI_OK;
}

static enum tutti_err tcp_fabric_enqueue(struct tt_tcp_fabric *tcp, struct tcp_link *link, zmq_msg_t *message)
{
    if (link->queued > 2 * WINDOW)
        return fail_tcp_protocol(tcp, link); /* L2 */
    if (link->queued == link->room) {
        uint32_t room = link->room ? 2 * link->room : 4;
        zmq_msg_t *queue = malloc(room * sizeof *queue);
        if (!queue)
            return tt_fail_memory();
        for (uint32_t i = 0; i < link->queued; i++) /* ZeroMQ: only its own function may move a message */
            zmq_msg_init(&queue[i]), zmq_msg_move(&queue[i], &link->queue[(link->first + i) & (link->room - 1)]);
        free(link->queue);
        link->queue = queue;
        link->room = room;
        link->first = 0;
    }
    zmq_msg_t *slot = &link->queue[(link->first + link->queued++) & (link->room - 1)];
    zmq_msg_init(slot);
    zmq_msg_move(slot, message);
    return TUTTI_OK;
}

static void broadcast_stop(struct tt_tcp_fabric *tcp, uint64_t step)
{
    if (step >= atomic_load(tcp->fabric.stop_after))
        return;
    tt_fabric_lower_stop(tcp->fabric.stop_after, step);
    for (int i = 0; i <= tcp->fabric.ranks; i++)
        if (tcp->links[i].state == TUTTI_TCP_UP && !tcp->links[i].gone)
            tt_tcp_socket_send_frame(&tcp->socket, &tcp->links[i].route,
                                     &(struct tt_frame_head){.kind = TUTTI_FRAME_STOP}, &step);
}

static enum tutti_err tcp_fabric_handle_message(struct tt_tcp_fabric *tcp, struct tcp_link *link, zmq_msg_t *message)
{
    const void *data = zmq_msg_data(message);
    struct tt_frame_head head;
    bool is_hub = link->rank < 0;
    if (!tt_tcp_frame_read_head(data, zmq_msg_size(message), &head))
        return fail_tcp_protocol(tcp, link);
    if (link->state != TUTTI_TCP_UP)
        return handle_hello_reply(tcp, link, message);
    if (head.kind == TUTTI_FRAME_PING)
        return TUTTI_OK;
    if (head.kind == TUTTI_FRAME_STOP) {
        uint64_t step = tt_tcp_frame_read_u64(data);
        link->stop = step < link->stop ? step : link->stop;
        if (step < atomic_load(tcp->fabric.stop_after))
            tcp->stop_came = tt_wall_clock_now();
        broadcast_stop(tcp, step);
        return TUTTI_OK;
    }
    if (head.kind == TUTTI_FRAME_BYE)
        return link->left = true, TUTTI_OK;
    if (is_hub && head.kind == TUTTI_FRAME_GRANT) {
        uint64_t granted = tt_tcp_frame_read_u64(data);
        tcp->granted = granted > tcp->granted ? granted : tcp->granted;
        return TUTTI_OK;
    }
    if (is_hub || (head.kind != TUTTI_FRAME_ACK && head.kind != TUTTI_FRAME_DATA && head.kind != TUTTI_FRAME_REDUCE) ||
        head.taken - link->acked > link->sent - link->acked)
        return fail_tcp_protocol(tcp, link);
    link->acked = head.taken;
    return head.kind == TUTTI_FRAME_ACK ? TUTTI_OK : tcp_fabric_enqueue(tcp, link, message);
}

/* Waiting ------------------------------------------------------------------------------------------------------------------- */

static void receive_socket_events(struct tt_tcp_fabric *tcp)
{
    enum tt_tcp_event event;
    char numeric[TUTTI_ADDRESS_SIZE];
    while (tt_tcp_socket_event(&tcp->socket, &event, numeric))
        for (int i = 0; i < tcp->fabric.rank; i++) {
            struct tcp_link *link = &tcp->links[i];
            if (link->state == TUTTI_TCP_UNKNOWN || strcmp(link->numeric, numeric) != 0)
                continue;
            if (event == TUTTI_TCP_CONNECTED)
                link->state = link->state == TUTTI_TCP_CALLING ? TUTTI_TCP_REACHED : link->state;
            else if (!link->gone && (event != TUTTI_TCP_REFUSED || link->state == TUTTI_TCP_CALLING)) {
                link->gone = true;
                link->why = tt_tcp_socket_event_text(event);
            }
        }
}

/* An incoming connection has no event that identifies its end; but sending to it fails once it has ended. */
static void tcp_fabric_probe_link(struct tt_tcp_fabric *tcp, struct tcp_link *link)
{
    if (link->state == TUTTI_TCP_UP && !link->gone &&
        tt_tcp_socket_send_frame(&tcp->socket, &link->route, &(struct tt_frame_head){.kind = TUTTI_FRAME_PING}, NULL) ==
            TUTTI_SENDING_GONE) {
        link->gone = true;
        link->why = tt_tcp_socket_event_text(TUTTI_TCP_DISCONNECTED);
    }
}

static bool has_send_credit(const struct tt_tcp_fabric *tcp)
{
    return tcp->reported + tcp->batched <= tcp->granted;
}

/* Sends the batch, regardless of credit. */
static enum tt_sending send_report_batch(struct tt_tcp_fabric *tcp)
{
    struct tcp_link *hub = hub_link(tcp);
    zmq_msg_t message;
    if (zmq_msg_init_size(&message, TUTTI_FRAME_HEAD + tcp->batched) != 0)
        return TUTTI_SENDING_FULL;
    char *data = zmq_msg_data(&message);
    tt_tcp_frame_write_head(data, &(struct tt_frame_head){.kind = TUTTI_FRAME_REPORT});
    memcpy(data + TUTTI_FRAME_HEAD, tcp->batch, tcp->batched);
    enum tt_sending sending = tt_tcp_socket_send(&tcp->socket, &hub->route, &message);
    if (sending == TUTTI_SENDING_DONE) {
        tcp->reported += tcp->batched;
        tcp->batched = 0;
    } else
        zmq_msg_close(&message);
    if (sending == TUTTI_SENDING_GONE) {
        hub->gone = true;
        hub->why = tt_tcp_socket_event_text(TUTTI_TCP_DISCONNECTED);
    }
    return sending;
}

/* Sends what is collected; if `old`, only if it has been here for a while. Does not wait. */
static void tcp_fabric_flush_batch(struct tt_tcp_fabric *tcp, bool old)
{
    if (tcp->batched > 0 && has_send_credit(tcp) && (!old || tt_wall_clock_now() - tcp->batched_since > OLD))
        send_report_batch(tcp);
}

static void tcp_fabric_check_links(struct tt_tcp_fabric *tcp, double now)
{
    tcp->next_look = now + LOOK_EVERY;
    atomic_fetch_add_explicit(&tcp->fabric.where->beat, 1, memory_order_relaxed);
    receive_socket_events(tcp);
    tcp_fabric_probe_link(tcp, hub_link(tcp));
    tcp_fabric_flush_batch(tcp, true);
    struct tcp_link *awaited = tcp->awaited;
    if (!awaited)
        return;
    tcp_fabric_probe_link(tcp, awaited);
    if (awaited->state == TUTTI_TCP_CALLING && now - awaited->since > TUTTI_TCP_PATIENCE) {
        awaited->gone = true;
        awaited->why = tt_tcp_socket_event_text(TUTTI_TCP_CONNECTED);
    }
}

/* Receives and handles the next message of the socket, if there is one. Waits at most 0.1 s if `wait`. */
static enum tutti_err receive_next_message(struct tt_tcp_fabric *tcp, bool wait)
{
    struct tt_tcp_route route;
    zmq_msg_t message;
    TRY(tt_tcp_socket_receive(&tcp->socket, wait, &route, &message, &tcp->received));
    enum tutti_err err = TUTTI_OK;
    if (tcp->received) {
        int link = find_link_by_route(tcp, &route);
        err = link >= 0 ? tcp_fabric_handle_message(tcp, &tcp->links[link], &message)
                        : tcp_fabric_handle_hello(tcp, &route, &message);
        zmq_msg_close(&message);
    }
    double now = tt_wall_clock_now();
    if (now >= tcp->next_look)
        tcp_fabric_check_links(tcp, now);
    return err;
}

/* Said only when nothing is left that came before the connection ended: a stop may have been the last. */
static enum tutti_err link_is_lost(struct tt_tcp_fabric *tcp, const struct tcp_link *link)
{
    do
        TRY(receive_next_message(tcp, false));
    while (tcp->received);
    if (tt_fabric_is_stopped(&tcp->fabric))
        return tt_fabric_fail_stopped();
    return tt_fail(TUTTI_ERR_LOST, "%s is lost: %s", tcp_peer_name(tcp, link).text,
                   link->gone && link->why ? link->why : "it has ended before us");
}

/* The stop may have arrived on a different link. Messages that the peer sent before the stop reached it are accepted
 * (L3), unless it is so busy that it has not even forwarded the stop. */
static enum tutti_err await_stop_or_lost(struct tt_tcp_fabric *tcp, const struct tcp_link *link)
{
    bool is_last = link->stop <= tcp->fabric.step || link->gone || link->left || link->state != TUTTI_TCP_UP ||
                   tt_wall_clock_now() - tcp->stop_came > GRACE;
    TRY(receive_next_message(tcp, !is_last));
    return tcp->received || !is_last ? TUTTI_OK : tt_fabric_fail_stopped();
}

/* One turn of a wait for `link`: STOPPED, LOST, or OK: look whether it has come. */
static enum tutti_err await_link_step(struct tt_tcp_fabric *tcp, struct tcp_link *link)
{
    const struct tcp_link *hub = hub_link(tcp);
    bool is_gone = link->gone || link->left, hub_is_gone = hub->gone || hub->left;
    if (tt_fabric_is_stopped(&tcp->fabric))
        return await_stop_or_lost(tcp, link);
    tcp->awaited = link;
    TRY(receive_next_message(tcp, !is_gone &&
                                      !hub_is_gone)); /* who looks again and again is in the way of ZeroMQ's thread */
    tcp->awaited = NULL;
    if (!tcp->received && (is_gone || hub_is_gone))
        return link_is_lost(tcp, is_gone ? link : hub);
    return TUTTI_OK;
}

/* From time to time: checks for stops, although there is nothing to wait for. */
static enum tutti_err poll_for_stop(struct tt_tcp_fabric *tcp)
{
    if (tt_wall_clock_now() < tcp->next_look)
        return TUTTI_OK;
    do
        TRY(receive_next_message(tcp, false));
    while (tcp->received);
    const struct tcp_link *hub = hub_link(tcp);
    return hub->gone ? link_is_lost(tcp, hub) : TUTTI_OK;
}

/* Calls the rank if it is for us to call (the higher calls the lower); then await_link_up. */
static enum tutti_err tcp_fabric_connect_link(struct tt_tcp_fabric *tcp, int rank)
{
    struct tcp_link *link = &tcp->links[rank];
    if (rank >= tcp->fabric.rank || link->state != TUTTI_TCP_UNKNOWN)
        return TUTTI_OK;
    link->route = tt_tcp_socket_route(&tcp->socket, (uint32_t)rank);
    link->since = tt_wall_clock_now();
    TRY(tt_tcp_socket_connect(&tcp->socket, link->numeric, tcp->peers[rank].public_key, (uint32_t)rank));
    link->state = TUTTI_TCP_CALLING;
    return tcp_fabric_send_hello(tcp, &link->route, TUTTI_FRAME_FINE);
}

static enum tutti_err await_link_up(struct tt_tcp_fabric *tcp, struct tcp_link *link)
{
    while (link->state != TUTTI_TCP_UP)
        TRY(await_link_step(tcp, link));
    return TUTTI_OK;
}

static enum tutti_err send_tcp_frame(struct tt_tcp_fabric *tcp, struct tcp_link *link, struct tt_frame_head *head,
                                     zmq_msg_t *message)
{
    while (link->sent - link->acked >= WINDOW)
        TRY(await_link_step(tcp, link));
    for (;;) {
        head->number = link->sent;
        head->taken = link->taken;
        tt_tcp_frame_write_head(zmq_msg_data(message), head);
        enum tt_sending sending = tt_tcp_socket_send(&tcp->socket, &link->route, message);
        if (sending == TUTTI_SENDING_DONE)
            break;
        if (sending == TUTTI_SENDING_GONE) {
            link->gone = true;
            link->why = link->why ? link->why : tt_tcp_socket_event_text(TUTTI_TCP_DISCONNECTED);
            return link_is_lost(tcp, link);
        }
        TRY(await_link_step(tcp, link));
    }
    link->sent++;
    link->told = head->taken;
    return TUTTI_OK;
}

/* Sends a message of `kind` (DATA or REDUCE) whose body is filled in after TUTTI_FRAME_HEAD; takes it. */
static enum tutti_err send_data_frame(struct tt_tcp_fabric *tcp, struct tcp_link *link, enum tt_frame_kind kind,
                                      uint32_t channel, zmq_msg_t *message)
{
    struct tt_frame_head head = {.kind = kind, .channel = channel};
    enum tutti_err err = send_tcp_frame(tcp, link, &head, message);
    if (err)
        zmq_msg_close(message);
    return err;
}

/* Waits for the next message of the link, which must be of this kind; the caller closes it. */
static enum tutti_err tcp_fabric_receive_from_link(struct tt_tcp_fabric *tcp, struct tcp_link *link,
                                                   enum tt_frame_kind kind, uint32_t channel, zmq_msg_t *message)
{
    while (link->queued == 0)
        TRY(await_link_step(tcp, link));
    zmq_msg_t *slot = &link->queue[link->first];
    struct tt_frame_head head;
    if (!tt_tcp_frame_read_head(zmq_msg_data(slot), zmq_msg_size(slot), &head) || head.kind != kind ||
        head.channel != channel || head.number != link->taken)
        return fail_tcp_protocol(tcp, link); /* L1 */
    zmq_msg_init(message);
    zmq_msg_move(message, slot);
    zmq_msg_close(slot);
    link->first = (link->first + 1) & (link->room - 1);
    link->queued--;
    link->taken++;
    if (link->taken - link->told >= WINDOW / 4) { /* no message in the opposite direction carries the acknowledgement */
        const struct tt_frame_head ack = {.kind = TUTTI_FRAME_ACK, .taken = link->taken};
        if (tt_tcp_socket_send_frame(&tcp->socket, &link->route, &ack, NULL) == TUTTI_SENDING_DONE)
            link->told = link->taken;
    }
    return TUTTI_OK;
}

/* Reductions: the order of messages is determined once.
 *
 * Ranks of one machine first: along a binomial tree to the lowest of them. These leaders of machines then go through
 * ceil(log2 n) rounds, in round k sending to the one 2^k further and receiving from the one 2^k before (dissemination;
 * Hensgen, Finkel and Manber 1988, for barriers): for min and max a value may be counted twice, and any number of
 * machines works. Finally down the trees. Two ranks are two leaders: one message each way, simultaneously. */

/* Ranks of a machine, in ascending order, and the index of this one. */
struct host_group {
    int *ranks;
    int count, own;
};

static void tcp_fabric_add_deed(struct tt_tcp_fabric *tcp, enum deed deed, int rank)
{
    tcp->turns[tcp->turn_count++] = (struct reduce_turn){deed, rank};
}

static bool ranks_share_host(const struct tt_tcp_fabric *tcp, int a, int b)
{
    return strcmp(tcp->peers[a].host, tcp->peers[b].host) == 0;
}

/* Its own machine's ranks; and of each machine the first. */
static void group_ranks_by_host(const struct tt_tcp_fabric *tcp, struct host_group *home, struct host_group *leaders)
{
    home->own = leaders->own = -1;
    for (int rank = 0; rank < tcp->fabric.ranks; rank++) {
        bool is_first = true;
        for (int i = 0; i < leaders->count && is_first; i++)
            is_first = !ranks_share_host(tcp, leaders->ranks[i], rank);
        if (rank == tcp->fabric.rank)
            home->own = home->count;
        if (ranks_share_host(tcp, rank, tcp->fabric.rank))
            home->ranks[home->count++] = rank;
        if (is_first) {
            leaders->own = rank == tcp->fabric.rank ? leaders->count : leaders->own;
            leaders->ranks[leaders->count++] = rank;
        }
    }
}

/* The children of n in a binomial tree of `count` are n + 2^k for all 2^k below its lowest one-bit. */
static void tcp_fabric_plan_tree(struct tt_tcp_fabric *tcp, const struct host_group *home,
                                 const struct host_group *leaders)
{
    int lowest = home->own == 0 ? home->count : home->own & -home->own;
    for (int k = 1; k < lowest && home->own + k < home->count; k *= 2)
        tcp_fabric_add_deed(tcp, COMBINE, home->ranks[home->own + k]);
    if (home->own > 0) {
        tcp_fabric_add_deed(tcp, TELL, home->ranks[home->own - lowest]);
        tcp_fabric_add_deed(tcp, ADOPT, home->ranks[home->own - lowest]);
    }
    for (int k = 1; leaders->own >= 0 && k < leaders->count; k *= 2) {
        tcp_fabric_add_deed(tcp, TELL, leaders->ranks[(leaders->own + k) % leaders->count]);
        tcp_fabric_add_deed(tcp, COMBINE, leaders->ranks[(leaders->own - k + leaders->count) % leaders->count]);
    }
    int top = 1;
    while (top < lowest)
        top *= 2;
    for (int k = top; k >= 1; k /= 2)
        if (k < lowest && home->own + k < home->count)
            tcp_fabric_add_deed(tcp, TELL, home->ranks[home->own + k]);
}

static enum tutti_err tcp_fabric_plan_reduction(struct tt_tcp_fabric *tcp)
{
    size_t ranks = (size_t)tcp->fabric.ranks;
    struct host_group home = {.ranks = calloc(ranks, sizeof(int))}, leaders = {.ranks = calloc(ranks, sizeof(int))};
    tcp->turns =
        calloc(4 * 32 + 2, sizeof *tcp->turns); /* each of the four loops has at most 32 rounds, or twice that */
    bool good = home.ranks && leaders.ranks && tcp->turns;
    if (good && ranks == 2) {
        home = (struct host_group){.ranks = home.ranks, .count = 1};
        leaders = (struct host_group){.ranks = leaders.ranks, .count = 2, .own = tcp->fabric.rank};
        leaders.ranks[1] = 1;
    } else if (good)
        group_ranks_by_host(tcp, &home, &leaders);
    if (good)
        tcp_fabric_plan_tree(tcp, &home, &leaders);
    free(home.ranks);
    free(leaders.ranks);
    return good ? TUTTI_OK : tt_fail_memory();
}

static enum tutti_err tcp_fabric_receive_values(struct tt_tcp_fabric *tcp, struct tcp_link *link, bool adopt,
                                                enum tt_fabric_reduction reduction, double *values, size_t count)
{
    zmq_msg_t message;
    TRY(tcp_fabric_receive_from_link(tcp, link, TUTTI_FRAME_REDUCE, 0, &message));
    bool fits = zmq_msg_size(&message) == TUTTI_FRAME_HEAD + count * sizeof *values;
    const char *theirs = (const char *)zmq_msg_data(&message) + TUTTI_FRAME_HEAD;
    if (fits && adopt)
        memcpy(values, theirs, count * sizeof *values);
    else if (fits)
        for (size_t i = 0; i < count; i++) {
            double value; /* the message need not be aligned */
            memcpy(&value, theirs + i * sizeof value, sizeof value);
            tt_fabric_combine(reduction, &values[i], &value, 1);
        }
    zmq_msg_close(&message);
    return fits ? TUTTI_OK : fail_tcp_protocol(tcp, link);
}

static enum tutti_err tcp_fabric_reduce(struct tt_fabric *fabric, enum tt_fabric_reduction reduction, double *values,
                                        size_t count)
{
    struct tt_tcp_fabric *tcp = tcp_from_fabric(fabric);
    if (count == 0 || fabric->ranks == 1)
        return TUTTI_OK;
    if (!tcp->turns) {
        TRY(tcp_fabric_plan_reduction(tcp));
        for (size_t i = 0; i < tcp->turn_count; i++)
            TRY(tcp_fabric_connect_link(tcp, tcp->turns[i].rank));
        for (size_t i = 0; i < tcp->turn_count; i++)
            TRY(await_link_up(tcp, &tcp->links[tcp->turns[i].rank]));
    }
    for (size_t i = 0; i < tcp->turn_count; i++) {
        const struct reduce_turn *turn = &tcp->turns[i];
        struct tcp_link *link = &tcp->links[turn->rank];
        if (turn->deed == TELL) {
            zmq_msg_t message;
            if (zmq_msg_init_size(&message, TUTTI_FRAME_HEAD + count * sizeof *values) != 0)
                return tt_fail_memory();
            memcpy((char *)zmq_msg_data(&message) + TUTTI_FRAME_HEAD, values, count * sizeof *values);
            TRY(send_data_frame(tcp, link, TUTTI_FRAME_REDUCE, 0, &message));
        } else
            TRY(tcp_fabric_receive_values(tcp, link, turn->deed == ADOPT, reduction, values, count));
    }
    return TUTTI_OK;
}

/* Reports of a rank: collected, and sent to the hub as far as it gives leave. */

/* Rows come by the thousand and can wait for each other. Everything else is rare, or has to be known at once. */
static bool report_can_wait(const void *frame, size_t size)
{
    enum tt_report_kind kind;
    size_t length;
    bool whole;
    if (tt_fabric_find_report(frame, size, &kind, &length, &whole) != TUTTI_OK || !whole)
        return false;
    return kind == TUTTI_REPORT_ROW || kind == TUTTI_REPORT_STEP || kind == TUTTI_REPORT_PROGRESS ||
           kind == TUTTI_REPORT_LOAD;
}

/* Waits for credit to send the batch, and sends it. A stop does not end this wait: computed data belongs to the result,
 * and the conductor receives it as the other ranks end. */
static enum tutti_err tcp_fabric_await_credit(struct tt_tcp_fabric *tcp)
{
    const struct tcp_link *hub = hub_link(tcp);
    while (!hub->gone && !hub->left) {
        if (has_send_credit(tcp) && send_report_batch(tcp) == TUTTI_SENDING_DONE)
            return TUTTI_OK;
        TRY(receive_next_message(tcp, true));
    }
    return tt_fail(TUTTI_ERR_LOST, "the conductor is lost: %s", hub->why ? hub->why : "it has ended before us");
}

static enum tutti_err tcp_fabric_report(struct tt_fabric *fabric, const void *bytes, size_t size)
{
    struct tt_tcp_fabric *tcp = tcp_from_fabric(fabric);
    bool is_patient = report_can_wait(bytes, size);
    if (tcp->batched > 0 && tcp->batched + size > TUTTI_TCP_BATCH)
        TRY(tcp_fabric_await_credit(tcp));
    if (tcp->batched == 0)
        tcp->batched_since = tt_wall_clock_now();
    const char *at = bytes;
    while (size > 0) {
        size_t part = TUTTI_TCP_BATCH - tcp->batched < size ? TUTTI_TCP_BATCH - tcp->batched : size;
        memcpy(tcp->batch + tcp->batched, at, part);
        tcp->batched += part;
        at += part;
        size -= part;
        if (size > 0)
            TRY(tcp_fabric_await_credit(tcp));
    }
    tcp_fabric_flush_batch(tcp, is_patient);
    return TUTTI_OK;
}

void tt_tcp_fabric_flush_on_crash(struct tt_fabric *fabric)
{
    tcp_fabric_flush_batch(tcp_from_fabric(fabric), false);
}

/* Seconds: for peers to say goodbye, for the hub; for ZeroMQ to get rid of what was sent, and if no peer waits for it. */
static const double GOODBYE = 1, LAST_GOODBYE = 5, LINGER = 1, SHORT_LINGER = 0.1;

enum tutti_err tt_tcp_fabric_listen(struct tt_tcp_fabric **out, const char *address, const struct tt_port_range *ports,
                                    const struct tt_curve_keys *own, double lost_after, const struct tutti_log *log)
{
    static const struct tt_port_range any;
    struct tt_tcp_fabric *tcp = aligned_alloc(_Alignof(struct tt_tcp_fabric), sizeof *tcp);
    *out = NULL;
    if (!tcp)
        return tt_fail_memory();
    *tcp = (struct tt_tcp_fabric){.log = log, .linger = SHORT_LINGER};
    enum tutti_err err = tt_tcp_socket_open(&tcp->socket, address, ports ? ports : &any, own, lost_after, log);
    if (err) {
        tt_tcp_fabric_free(tcp);
        return err;
    }
    *out = tcp;
    return TUTTI_OK;
}

int tt_tcp_fabric_port(const struct tt_tcp_fabric *tcp)
{
    return tcp->socket.port;
}

void tt_tcp_fabric_free(struct tt_tcp_fabric *tcp)
{
    if (!tcp)
        return;
    for (int i = 0; tcp->links && i <= tcp->fabric.ranks; i++) {
        struct tcp_link *link = &tcp->links[i];
        for (uint32_t n = 0; n < link->queued; n++)
            zmq_msg_close(&link->queue[(link->first + n) & (link->room - 1)]);
        free(link->queue);
    }
    tt_tcp_socket_close(&tcp->socket, tcp->linger);
    free(tcp->peers);
    free(tcp->links);
    free(tcp->callers);
    free(tcp->channels);
    free(tcp->turns);
    free(tcp->batch);
    free(tcp);
}

static enum tutti_err tcp_fabric_open_channel(struct tt_fabric *fabric, const struct tt_channel *channel)
{
    struct tt_tcp_fabric *tcp = tcp_from_fabric(fabric);
    if (!tt_vector_reserve(&tcp->channels, &tcp->channel_room, tcp->channel_count + 1, sizeof *tcp->channels))
        return tt_fail_memory();
    tcp->channels[tcp->channel_count++] = channel;
    for (uint32_t i = 0; i < channel->link_count; i++)
        TRY(tcp_fabric_connect_link(tcp, channel->links[i].peer));
    for (uint32_t i = 0; i < channel->link_count; i++)
        TRY(await_link_up(tcp, &tcp->links[channel->links[i].peer]));
    return TUTTI_OK;
}

static enum tutti_err send_cargo(struct tt_tcp_fabric *tcp, uint32_t channel, const struct tt_channel_link *link,
                                 const char *base)
{
    zmq_msg_t message;
    size_t size = tt_fabric_cargo_size(&link->out, base);
    if (size > TUTTI_TCP_GREATEST - TUTTI_FRAME_HEAD)
        return tt_fail(TUTTI_ERR_LIMIT, "what rank %d is to read has %zu bytes: at most %d go over the network",
                       link->peer, size, TUTTI_TCP_GREATEST - TUTTI_FRAME_HEAD);
    if (zmq_msg_init_size(&message, TUTTI_FRAME_HEAD + size) != 0)
        return tt_fail_memory();
    tt_fabric_cargo_pack(&link->out, base, (char *)zmq_msg_data(&message) + TUTTI_FRAME_HEAD);
    return send_data_frame(tcp, &tcp->links[link->peer], TUTTI_FRAME_DATA, channel, &message);
}

static enum tutti_err receive_cargo(struct tt_tcp_fabric *tcp, uint32_t channel, const struct tt_channel_link *link,
                                    char *base)
{
    zmq_msg_t message;
    struct tcp_link *from = &tcp->links[link->peer];
    TRY(tcp_fabric_receive_from_link(tcp, from, TUTTI_FRAME_DATA, channel, &message));
    const char *data = zmq_msg_data(&message);
    enum tutti_err err =
        tt_fabric_cargo_unpack(&link->in, base, data + TUTTI_FRAME_HEAD, zmq_msg_size(&message) - TUTTI_FRAME_HEAD);
    zmq_msg_close(&message);
    return err ? tt_fail_context(err, "%s", tcp_peer_name(tcp, from).text) : TUTTI_OK;
}

static enum tutti_err tcp_fabric_exchange(struct tt_fabric *fabric, uint32_t channel, char *base)
{
    struct tt_tcp_fabric *tcp = tcp_from_fabric(fabric);
    const struct tt_channel *links = tcp->channels[channel];
    fabric->exchanges++;
    for (uint32_t i = 0; i < links->link_count; i++)
        if (!tt_fabric_cargo_is_empty(&links->links[i].out))
            TRY(send_cargo(tcp, channel, &links->links[i], base));
    for (uint32_t i = 0; i < links->link_count; i++)
        if (!tt_fabric_cargo_is_empty(&links->links[i].in))
            TRY(receive_cargo(tcp, channel, &links->links[i], base));
    return poll_for_stop(tcp);
}

enum tutti_err tt_tcp_fabric_await_all_links(struct tt_fabric *fabric)
{
    struct tt_tcp_fabric *tcp = tcp_from_fabric(fabric);
    for (int r = 0; r < fabric->rank; r++)
        TRY(tcp_fabric_connect_link(tcp, r));
    for (int r = 0; r < fabric->ranks; r++)
        if (r != fabric->rank)
            TRY(await_link_up(tcp, &tcp->links[r]));
    return TUTTI_OK;
}

static void tcp_fabric_stop(struct tt_fabric *fabric, uint64_t step)
{
    broadcast_stop(tcp_from_fabric(fabric), step);
}

/* Peers may still need the last messages: ZeroMQ's thread must live until they are delivered, as a peer's BYE confirms. */
static void send_close(struct tt_tcp_fabric *tcp)
{
    const struct tt_frame_head bye = {.kind = TUTTI_FRAME_BYE};
    struct tcp_link *hub = hub_link(tcp);
    for (struct tcp_link *link = tcp->links; link <= hub; link++)
        if (link->state == TUTTI_TCP_UP && !link->gone &&
            tt_tcp_socket_send_frame(&tcp->socket, &link->route, &bye, NULL) != TUTTI_SENDING_DONE)
            link->gone = true;
    double start = tt_wall_clock_now();
    for (struct tcp_link *link = hub; link >= tcp->links; link--) {
        tcp->awaited = link;
        double patience = link == hub ? LAST_GOODBYE : GOODBYE;
        while (link->state == TUTTI_TCP_UP && !link->gone && !link->left && tt_wall_clock_now() - start < patience &&
               (link == hub || !tt_fabric_is_stopped(&tcp->fabric)))
            if (receive_next_message(tcp, true) != TUTTI_OK)
                return;
    }
}

static void close_tcp_fabric(struct tt_fabric *fabric)
{
    if (!fabric)
        return;
    struct tt_tcp_fabric *tcp = tcp_from_fabric(fabric);
    /* Sends the last reports, and waits for credit as long as the hub is there. */
    if (tcp->batched == 0 || tcp_fabric_await_credit(tcp) == TUTTI_OK) {
        send_close(tcp);
        tcp->linger = tt_fabric_is_stopped(fabric) ? SHORT_LINGER : LINGER;
    }
    tt_tcp_fabric_free(tcp);
}

static const struct tt_fabric_kind kind = {
    .name = "tcp",
    .open = tcp_fabric_open_channel,
    .exchange = tcp_fabric_exchange,
    .reduce = tcp_fabric_reduce,
    .report = tcp_fabric_report,
    .stop = tcp_fabric_stop,
    .close = close_tcp_fabric,
};

static enum tutti_err tcp_fabric_init(struct tt_tcp_fabric *tcp, int rank, const struct tt_tcp_run *run,
                                      struct tt_heartbeat *where)
{
    size_t ranks = (size_t)run->ranks, room = 4;
    while (room < 2 * (ranks + 1))
        room *= 2;
    tcp->fabric = (struct tt_fabric){.kind = &kind,
                                     .rank = rank,
                                     .ranks = run->ranks,
                                     .stop_after = &tcp->stop_after,
                                     .where = where ? where : &tcp->where};
    atomic_store(&tcp->stop_after, UINT64_MAX);
    tcp->peers = calloc(ranks, sizeof *tcp->peers);
    tcp->links = calloc(ranks + 1, sizeof *tcp->links);
    tcp->callers = malloc(room * sizeof *tcp->callers);
    tcp->batch = malloc(TUTTI_TCP_BATCH);
    tcp->caller_room = room;
    if (!tcp->peers || !tcp->links || !tcp->callers || !tcp->batch)
        return tt_fail_memory();
    memcpy(tcp->peers, run->peers, ranks * sizeof *tcp->peers);
    memset(tcp->callers, 0xff, room * sizeof *tcp->callers);
    tcp->granted = TUTTI_TCP_LEAVE;
    tt_tcp_frame_fill_hello(&tcp->hello, run->id, (uint32_t)rank, (uint32_t)run->ranks);
    return TUTTI_OK;
}

/* Addresses are looked up now, so that a name that is wrong shows before anything has run. */
static enum tutti_err tcp_fabric_resolve_peers(struct tt_tcp_fabric *tcp)
{
    for (int i = 0; i <= tcp->fabric.ranks; i++) {
        tcp->links[i].rank = i < tcp->fabric.ranks ? i : -1;
        tcp->links[i].stop = UINT64_MAX;
    }
    for (int i = 0; i < tcp->fabric.ranks; i++) {
        bool loopback;
        enum tutti_err err = tt_tcp_address_resolve(tcp->peers[i].endpoint, tcp->links[i].numeric, &loopback);
        if (err)
            return tt_fail_context(err, "rank %d", i);
        if (!loopback && !tcp->socket.has_keys)
            return tt_fail(TUTTI_ERR_ARGUMENT, "rank %d at %s is on another machine: nothing goes there without keys",
                           i, tcp->peers[i].endpoint);
    }
    return TUTTI_OK;
}

static enum tutti_err allow_peers(struct tt_tcp_fabric *tcp, const struct tt_tcp_run *run)
{
    if (!tcp->socket.zap)
        return TUTTI_OK;
    for (int i = 0; i < run->ranks; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        TRY(tt_curve_auth_allow_key(tcp->socket.zap, run->peers[i].public_key, name));
    }
    TRY(tt_curve_auth_allow_key(tcp->socket.zap, run->hub_key, "hub"));
    tt_curve_auth_start_answering(tcp->socket.zap);
    return TUTTI_OK;
}

static enum tutti_err tcp_fabric_join(struct tt_tcp_fabric *tcp, int rank, const struct tt_tcp_run *run,
                                      struct tt_heartbeat *where)
{
    if (run->has_keys != tcp->socket.has_keys)
        return tt_fail(TUTTI_ERR_ARGUMENT, "either all members of a run have keys, or none");
    TRY(tcp_fabric_init(tcp, rank, run, where));
    TRY(tcp_fabric_resolve_peers(tcp));
    TRY(allow_peers(tcp, run));
    const struct tcp_link *hub = hub_link(tcp);
    double start = tt_wall_clock_now();
    while (hub->state != TUTTI_TCP_UP) {
        if (tt_wall_clock_now() - start > TUTTI_TCP_PATIENCE)
            return tt_fail(TUTTI_ERR_LOST, "the conductor has not come within %d s", TUTTI_TCP_PATIENCE);
        TRY(receive_next_message(tcp, true));
    }
    return TUTTI_OK;
}

enum tutti_err tt_tcp_fabric_connect(struct tt_fabric **out, struct tt_tcp_fabric *tcp, int rank,
                                     const struct tt_tcp_run *run, struct tt_heartbeat *where)
{
    *out = NULL;
    enum tutti_err err = tcp_fabric_join(tcp, rank, run, where);
    if (err) {
        tt_tcp_fabric_free(tcp);
        return err;
    }
    *out = &tcp->fabric;
    return TUTTI_OK;
}
