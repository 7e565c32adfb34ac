/* SPDX-License-Identifier: MIT */
/* The tcp fabric: a rank from its port to its end, its links, reductions and reports.
 *
 * Invariants:
 *  L1  Both ends of a link send and take DATA and REDUCE in the same order (F1), so that a queue per link is enough, and a message
 *      that is not the one expected is a fault of the peer.
 *  L2  At most WINDOW messages are on a link that the other end has not taken. Those who wait for room are ahead of the other by so
 *      many exchanges; those who wait for data are not ahead: no circle of waiting.
 *  L3  A stop goes out by all links of the rank that hears of it first: what came by a link before the stop did was
 *      sent before its peer knew of it, and is taken.
 *  L4  A rank that waits looks at everything that comes, and ten times a second at the connections. */
#include "fabric/tcp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "base/vector.h"
#include "fabric/address.h"
#include "fabric/report.h"
#include "fabric/tcp_socket.h"

enum { WINDOW = 256 }; /* messages */

struct link {
    int rank; /* of the peer; -1: the hub */
    enum tutti_tcp_link_state state;
    bool gone, left; /* its connection has ended; it said goodbye */
    const char *why; /* it is gone */
    double since;    /* when we called */
    uint64_t stop;   /* the least that came by it */
    struct tutti_route route;
    char numeric[TUTTI_ADDRESS_SIZE];
    zmq_msg_t *queue; /* a ring of those that came and were not taken */
    uint32_t first, queued, room;
    uint32_t sent, acked, taken,
        told; /* DATA and REDUCE: by us; of these, taken there; of theirs, by us; of these, told */
};

/* A turn of a reduction: which rank is told, or heard. */
enum deed { TELL, COMBINE, ADOPT };

struct turn {
    enum deed deed;
    int rank;
};

struct tutti_tcp {
    struct tutti_fabric fabric;
    struct tutti_tcp_socket socket;
    const struct tutti_log *log;
    struct tutti_frame_hello hello; /* ours */
    struct tutti_tcp_peer *peers;
    struct link *links; /* per rank, then that of the hub */
    uint32_t *callers;  /* links that others called, by a hash of their routes; a power of two; UINT32_MAX: free */
    size_t caller_room;
    struct link *awaited; /* whom we wait for now, or NULL */
    bool received;        /* by the last pump */
    double next_look;
    double stop_came; /* when the last stop came from others */
    double linger;
    unsigned strangers; /* messages of those who are no members */

    const struct tutti_channel **channels;
    size_t channel_count, channel_room;

    struct turn *turns; /* of a reduction; made by the first */
    size_t turn_count;

    char *batch; /* of reports; not sent yet */
    size_t batched;
    double batched_since;
    uint64_t reported, granted; /* bytes: sent; that may be sent */

    _Atomic uint64_t stop_after;
    struct tutti_heartbeat where;
};

static inline struct tutti_tcp *tcp_of(struct tutti_fabric *fabric)
{
    return (struct tutti_tcp *)(void *)fabric; /* its first member */
}

static inline struct link *hub_link(const struct tutti_tcp *tcp)
{
    return &tcp->links[tcp->fabric.ranks];
}

/* Links of a rank: how they come up, what comes in by them, how one waits for it. */

static const double LOOK_EVERY = 0.1,
                    GRACE = 0.25; /* seconds: between looks; for a stop to come by the awaited link, too */
static const double OLD = 0.2;    /* seconds: reports that wait for others so long are sent */
enum { WARNINGS = 10 };

/* "rank 2 at host:port". */
static struct tutti_shown peer_name(const struct tutti_tcp *tcp, const struct link *link)
{
    struct tutti_shown shown;
    if (link->rank < 0)
        snprintf(shown.text, sizeof shown.text, "the conductor");
    else
        snprintf(shown.text, sizeof shown.text, "rank %d at %.70s", link->rank,
                 tcp->peers[link->rank].endpoint + strlen("tcp://"));
    return shown;
}

/* FORMAT: it broke the rules. */
static enum tutti_err protocol_error(const struct tutti_tcp *tcp, const struct link *link)
{
    return tutti_frame_disagree(TUTTI_FRAME_FINE, peer_name(tcp, link).text, "");
}

/* Callers: routes that ZeroMQ made, and whose links they are ---------------------------------------------------------------- */

static size_t hash_of(const struct tutti_route *route)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (unsigned i = 0; i < route->size; i++)
        hash = (hash ^ route->bytes[i]) * 1099511628211u;
    return (size_t)(hash ^ hash >> 32);
}

/* The number of the link, or -1. */
static int find_link(const struct tutti_tcp *tcp, const struct tutti_route *route)
{
    uint32_t number;
    if (tutti_tcp_socket_is_route(&tcp->socket, route, &number))
        return number < (uint32_t)tcp->fabric.ranks ? (int)number : -1;
    for (size_t at = hash_of(route);; at++) {
        uint32_t caller = tcp->callers[at & (tcp->caller_room - 1)];
        if (caller == UINT32_MAX)
            return -1;
        if (tutti_route_same(&tcp->links[caller].route, route))
            return (int)caller;
    }
}

static void add_caller(struct tutti_tcp *tcp, struct link *link)
{
    size_t at = hash_of(&link->route);
    while (tcp->callers[at & (tcp->caller_room - 1)] != UINT32_MAX)
        at++;
    tcp->callers[at & (tcp->caller_room - 1)] = (uint32_t)(link - tcp->links);
}

/* What comes in ------------------------------------------------------------------------------------------------------------- */

static enum tutti_err greet(struct tutti_tcp *tcp, const struct tutti_route *route, enum tutti_frame_reason reason)
{
    struct tutti_parcel parcel = {0};
    if (reason == TUTTI_FRAME_FINE)
        tutti_frame_put_hello(&parcel, &tcp->hello);
    else
        tutti_frame_put_refusal(&parcel, reason);
    enum tutti_sending sending = tutti_tcp_socket_post(&tcp->socket, route, &parcel);
    tutti_parcel_fini(&parcel);
    return sending == TUTTI_SENDING_MEMORY ? tutti_fail_memory() : TUTTI_OK; /* if it is gone, that shows later */
}

/* The link that a hello opens, or NULL. With keys, no peer can be another than its key says. */
static struct link *expected(struct tutti_tcp *tcp, const struct tutti_frame_hello *hello, zmq_msg_t *message)
{
    bool is_hub = hello->rank == TUTTI_FRAME_HUB;
    if (!is_hub && (hello->rank >= hello->ranks || hello->rank <= (uint32_t)tcp->fabric.rank))
        return NULL; /* the higher rank calls */
    struct link *link = &tcp->links[is_hub ? (uint32_t)tcp->fabric.ranks : hello->rank];
    char name[16] = "hub";
    if (!is_hub)
        snprintf(name, sizeof name, "%u", hello->rank);
    const char *user = tcp->socket.has_keys ? zmq_msg_gets(message, "User-Id") : name;
    return link->state == TUTTI_TCP_UNKNOWN && user && strcmp(user, name) == 0 ? link : NULL;
}

/* A message by a connection that has not said who it is. A stranger is turned away, and does not disturb the run. */
static enum tutti_err meet(struct tutti_tcp *tcp, const struct tutti_route *route, zmq_msg_t *message)
{
    struct tutti_frame_hello hello;
    if (!tutti_frame_get_hello(zmq_msg_data(message), zmq_msg_size(message), &hello)) {
        if (tcp->strangers++ < WARNINGS)
            tutti_log_printf(tcp->log, TUTTI_LOG_WARNING, NULL, "a program that is no member of the run sent %zu bytes",
                             zmq_msg_size(message));
        return TUTTI_OK;
    }
    enum tutti_frame_reason reason = tutti_frame_compare(&hello, &tcp->hello);
    struct link *link = reason == TUTTI_FRAME_FINE ? expected(tcp, &hello, message) : NULL;
    if (!link) {
        reason = reason == TUTTI_FRAME_FINE ? TUTTI_FRAME_NOT_EXPECTED : reason;
        if (tcp->strangers++ < WARNINGS) {
            (void)tutti_frame_disagree(reason, "the program that called", hello.version);
            tutti_log_printf(tcp->log, TUTTI_LOG_WARNING, NULL, "%s", tutti_err_message());
        }
        return greet(tcp, route, reason);
    }
    link->route = *route;
    link->state = TUTTI_TCP_UP;
    add_caller(tcp, link);
    return greet(tcp, route, TUTTI_FRAME_FINE);
}

/* The answer to our hello. */
static enum tutti_err meet_called(struct tutti_tcp *tcp, struct link *link, zmq_msg_t *message)
{
    struct tutti_frame_hello hello;
    enum tutti_frame_reason reason;
    char version[TUTTI_FRAME_VERSION];
    struct tutti_shown who = peer_name(tcp, link);
    if (tutti_frame_get_refusal(zmq_msg_data(message), zmq_msg_size(message), &reason, version))
        return tutti_frame_disagree(reason, who.text, version);
    if (!tutti_frame_get_hello(zmq_msg_data(message), zmq_msg_size(message), &hello))
        return protocol_error(tcp, link);
    reason = tutti_frame_compare(&hello, &tcp->hello);
    if (reason != TUTTI_FRAME_FINE)
        return tutti_frame_disagree(reason, who.text, hello.version);
    if (hello.rank != (uint32_t)link->rank)
        return protocol_error(tcp, link);
    link->state = TUTTI_TCP_UP;
    return TUTTI_OK;
}

/* Keeps the message until it is taken. */
static enum tutti_err enqueue(struct tutti_tcp *tcp, struct link *link, zmq_msg_t *message)
{
    if (link->queued > 2 * WINDOW)
        return protocol_error(tcp, link); /* L2 */
    if (link->queued == link->room) {
        uint32_t room = link->room ? 2 * link->room : 4;
        zmq_msg_t *queue = malloc(room * sizeof *queue);
        if (!queue)
            return tutti_fail_memory();
        for (uint32_t i = 0; i < link->queued; i++) /* ZeroMQ: a message is moved by its own function only */
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

static void spread_stop(struct tutti_tcp *tcp, uint64_t step)
{
    if (step >= atomic_load(tcp->fabric.stop_after))
        return;
    tutti_fabric_lower_stop(tcp->fabric.stop_after, step);
    for (int i = 0; i <= tcp->fabric.ranks; i++)
        if (tcp->links[i].state == TUTTI_TCP_UP && !tcp->links[i].gone)
            tutti_tcp_socket_tell(&tcp->socket, &tcp->links[i].route,
                                  &(struct tutti_frame_head){.kind = TUTTI_FRAME_STOP}, &step);
}

static void hear_stop(struct tutti_tcp *tcp, struct link *link, uint64_t step)
{
    link->stop = step < link->stop ? step : link->stop;
    if (step < atomic_load(tcp->fabric.stop_after))
        tcp->stop_came = tutti_clock_now();
    spread_stop(tcp, step);
}

static enum tutti_err obey(struct tutti_tcp *tcp, struct link *link, zmq_msg_t *message)
{
    const void *data = zmq_msg_data(message);
    struct tutti_frame_head head;
    bool is_hub = link->rank < 0;
    if (!tutti_frame_get_head(data, zmq_msg_size(message), &head))
        return protocol_error(tcp, link);
    if (link->state != TUTTI_TCP_UP)
        return meet_called(tcp, link, message);
    if (head.kind == TUTTI_FRAME_PING)
        return TUTTI_OK;
    if (head.kind == TUTTI_FRAME_STOP) {
        hear_stop(tcp, link, tutti_frame_get_u64(data));
        return TUTTI_OK;
    }
    if (head.kind == TUTTI_FRAME_BYE)
        return link->left = true, TUTTI_OK;
    if (is_hub && head.kind == TUTTI_FRAME_GRANT) {
        uint64_t granted = tutti_frame_get_u64(data);
        tcp->granted = granted > tcp->granted ? granted : tcp->granted;
        return TUTTI_OK;
    }
    if (is_hub || (head.kind != TUTTI_FRAME_ACK && head.kind != TUTTI_FRAME_DATA && head.kind != TUTTI_FRAME_REDUCE) ||
        head.taken - link->acked > link->sent - link->acked)
        return protocol_error(tcp, link);
    link->acked = head.taken;
    return head.kind == TUTTI_FRAME_ACK ? TUTTI_OK : enqueue(tcp, link, message);
}

/* Waiting ------------------------------------------------------------------------------------------------------------------- */

static void hear_events(struct tutti_tcp *tcp)
{
    enum tutti_tcp_event event;
    char numeric[TUTTI_ADDRESS_SIZE];
    while (tutti_tcp_socket_event(&tcp->socket, &event, numeric))
        for (int i = 0; i < tcp->fabric.rank; i++) {
            struct link *link = &tcp->links[i];
            if (link->state == TUTTI_TCP_UNKNOWN || strcmp(link->numeric, numeric) != 0)
                continue;
            if (event == TUTTI_TCP_CONNECTED)
                link->state = link->state == TUTTI_TCP_CALLING ? TUTTI_TCP_REACHED : link->state;
            else if (!link->gone && (event != TUTTI_TCP_REFUSED || link->state == TUTTI_TCP_CALLING)) {
                link->gone = true;
                link->why = tutti_tcp_event_text(event);
            }
        }
}

/* A connection that others made has no event that says whose it is; but sending to it fails once it has ended. */
static void probe(struct tutti_tcp *tcp, struct link *link)
{
    if (link->state == TUTTI_TCP_UP && !link->gone &&
        tutti_tcp_socket_tell(&tcp->socket, &link->route, &(struct tutti_frame_head){.kind = TUTTI_FRAME_PING}, NULL) ==
            TUTTI_SENDING_GONE) {
        link->gone = true;
        link->why = tutti_tcp_event_text(TUTTI_TCP_DISCONNECTED);
    }
}

static bool has_leave(const struct tutti_tcp *tcp)
{
    return tcp->reported + tcp->batched <= tcp->granted;
}

/* Sends the batch, whether there is leave or not. */
static enum tutti_sending send_batch(struct tutti_tcp *tcp)
{
    struct link *hub = hub_link(tcp);
    zmq_msg_t message;
    if (zmq_msg_init_size(&message, TUTTI_FRAME_HEAD + tcp->batched) != 0)
        return TUTTI_SENDING_FULL;
    char *data = zmq_msg_data(&message);
    tutti_frame_put_head(data, &(struct tutti_frame_head){.kind = TUTTI_FRAME_REPORT});
    memcpy(data + TUTTI_FRAME_HEAD, tcp->batch, tcp->batched);
    enum tutti_sending sending = tutti_tcp_socket_send(&tcp->socket, &hub->route, &message);
    if (sending == TUTTI_SENDING_DONE) {
        tcp->reported += tcp->batched;
        tcp->batched = 0;
    } else
        zmq_msg_close(&message);
    if (sending == TUTTI_SENDING_GONE) {
        hub->gone = true;
        hub->why = tutti_tcp_event_text(TUTTI_TCP_DISCONNECTED);
    }
    return sending;
}

/* Sends what is collected; if `old`, only if it has been here for a while. Does not wait. */
static void flush(struct tutti_tcp *tcp, bool old)
{
    if (tcp->batched > 0 && has_leave(tcp) && (!old || tutti_clock_now() - tcp->batched_since > OLD))
        send_batch(tcp);
}

static void look_around(struct tutti_tcp *tcp, double now)
{
    tcp->next_look = now + LOOK_EVERY;
    atomic_fetch_add_explicit(&tcp->fabric.where->beat, 1, memory_order_relaxed);
    hear_events(tcp);
    probe(tcp, hub_link(tcp));
    flush(tcp, true);
    struct link *awaited = tcp->awaited;
    if (!awaited)
        return;
    probe(tcp, awaited);
    if (awaited->state == TUTTI_TCP_CALLING && now - awaited->since > TUTTI_TCP_PATIENCE) {
        awaited->gone = true;
        awaited->why = tutti_tcp_event_text(TUTTI_TCP_CONNECTED);
    }
}

/* Takes the next message off the socket, if there is one, and does what it says. Waits at most 0.1 s if `wait`. */
static enum tutti_err pump(struct tutti_tcp *tcp, bool wait)
{
    struct tutti_route route;
    zmq_msg_t message;
    TRY(tutti_tcp_socket_receive(&tcp->socket, wait, &route, &message, &tcp->received));
    enum tutti_err err = TUTTI_OK;
    if (tcp->received) {
        int link = find_link(tcp, &route);
        err = link >= 0 ? obey(tcp, &tcp->links[link], &message) : meet(tcp, &route, &message);
        zmq_msg_close(&message);
    }
    double now = tutti_clock_now();
    if (now >= tcp->next_look)
        look_around(tcp, now);
    return err;
}

/* Said only when nothing is left that came before the connection ended: a stop may have been the last. */
static enum tutti_err is_lost(struct tutti_tcp *tcp, const struct link *link)
{
    do
        TRY(pump(tcp, false));
    while (tcp->received);
    if (tutti_fabric_is_stopped(&tcp->fabric))
        return tutti_fabric_stopped();
    return tutti_fail(TUTTI_ERR_LOST, "%s is lost: %s", peer_name(tcp, link).text,
                      link->gone && link->why ? link->why : "it has ended before us");
}

/* The stop has come by another link, perhaps. What the peer sent before it knew of the stop is taken (L3), unless it is so busy that
 * it has not even passed the stop on. */
static enum tutti_err await_stopped(struct tutti_tcp *tcp, const struct link *link)
{
    bool is_last = link->stop <= tcp->fabric.step || link->gone || link->left || link->state != TUTTI_TCP_UP ||
                   tutti_clock_now() - tcp->stop_came > GRACE;
    TRY(pump(tcp, !is_last));
    return tcp->received || !is_last ? TUTTI_OK : tutti_fabric_stopped();
}

/* One turn of a wait for `link`: STOPPED, LOST, or OK: look whether it has come. */
static enum tutti_err await_link(struct tutti_tcp *tcp, struct link *link)
{
    const struct link *hub = hub_link(tcp);
    bool is_gone = link->gone || link->left, hub_is_gone = hub->gone || hub->left;
    if (tutti_fabric_is_stopped(&tcp->fabric))
        return await_stopped(tcp, link);
    tcp->awaited = link;
    TRY(pump(tcp, !is_gone && !hub_is_gone)); /* who looks again and again is in the way of ZeroMQ's thread */
    tcp->awaited = NULL;
    if (!tcp->received && (is_gone || hub_is_gone))
        return is_lost(tcp, is_gone ? link : hub);
    return TUTTI_OK;
}

/* Now and then: looks for stops, though there is nothing to wait for. */
static enum tutti_err glance(struct tutti_tcp *tcp)
{
    if (tutti_clock_now() < tcp->next_look)
        return TUTTI_OK;
    do
        TRY(pump(tcp, false));
    while (tcp->received);
    const struct link *hub = hub_link(tcp);
    return hub->gone ? is_lost(tcp, hub) : TUTTI_OK;
}

/* Calls the rank if it is for us to call (the higher calls the lower); then wait_up. */
static enum tutti_err call(struct tutti_tcp *tcp, int rank)
{
    struct link *link = &tcp->links[rank];
    if (rank >= tcp->fabric.rank || link->state != TUTTI_TCP_UNKNOWN)
        return TUTTI_OK;
    link->route = tutti_tcp_socket_route(&tcp->socket, (uint32_t)rank);
    link->since = tutti_clock_now();
    TRY(tutti_tcp_socket_connect(&tcp->socket, link->numeric, tcp->peers[rank].public_key, (uint32_t)rank));
    link->state = TUTTI_TCP_CALLING;
    return greet(tcp, &link->route, TUTTI_FRAME_FINE);
}

static enum tutti_err wait_up(struct tutti_tcp *tcp, struct link *link)
{
    while (link->state != TUTTI_TCP_UP)
        TRY(await_link(tcp, link));
    return TUTTI_OK;
}

static enum tutti_err send_it(struct tutti_tcp *tcp, struct link *link, struct tutti_frame_head *head,
                              zmq_msg_t *message)
{
    while (link->sent - link->acked >= WINDOW)
        TRY(await_link(tcp, link));
    for (;;) {
        head->number = link->sent;
        head->taken = link->taken;
        tutti_frame_put_head(zmq_msg_data(message), head);
        enum tutti_sending sending = tutti_tcp_socket_send(&tcp->socket, &link->route, message);
        if (sending == TUTTI_SENDING_DONE)
            break;
        if (sending == TUTTI_SENDING_GONE) {
            link->gone = true;
            link->why = link->why ? link->why : tutti_tcp_event_text(TUTTI_TCP_DISCONNECTED);
            return is_lost(tcp, link);
        }
        TRY(await_link(tcp, link));
    }
    link->sent++;
    link->told = head->taken;
    return TUTTI_OK;
}

/* Sends a message of `kind` (DATA or REDUCE) whose body is filled in after TUTTI_FRAME_HEAD; takes it. */
static enum tutti_err send_data(struct tutti_tcp *tcp, struct link *link, enum tutti_frame_kind kind, uint32_t channel,
                                zmq_msg_t *message)
{
    struct tutti_frame_head head = {.kind = kind, .channel = channel};
    enum tutti_err err = send_it(tcp, link, &head, message);
    if (err)
        zmq_msg_close(message);
    return err;
}

/* Waits for the next message of the link, which has to be this one; the caller closes it. */
static enum tutti_err take(struct tutti_tcp *tcp, struct link *link, enum tutti_frame_kind kind, uint32_t channel,
                           zmq_msg_t *message)
{
    while (link->queued == 0)
        TRY(await_link(tcp, link));
    zmq_msg_t *slot = &link->queue[link->first];
    struct tutti_frame_head head;
    if (!tutti_frame_get_head(zmq_msg_data(slot), zmq_msg_size(slot), &head) || head.kind != kind ||
        head.channel != channel || head.number != link->taken)
        return protocol_error(tcp, link); /* L1 */
    zmq_msg_init(message);
    zmq_msg_move(message, slot);
    zmq_msg_close(slot);
    link->first = (link->first + 1) & (link->room - 1);
    link->queued--;
    link->taken++;
    if (link->taken - link->told >= WINDOW / 4) { /* nothing goes the other way that would tell it */
        const struct tutti_frame_head ack = {.kind = TUTTI_FRAME_ACK, .taken = link->taken};
        if (tutti_tcp_socket_tell(&tcp->socket, &link->route, &ack, NULL) == TUTTI_SENDING_DONE)
            link->told = link->taken;
    }
    return TUTTI_OK;
}

/* Reductions: who tells whom, in which order, is laid down once.
 *
 * Ranks of one machine first: along a binomial tree to the lowest of them. These leaders of machines then go through
 * ceil(log2 n) rounds, in round k telling the one 2^k further and hearing the one 2^k before (dissemination; Hensgen, Finkel and
 * Manber 1988, for barriers): for min and max it does no harm that a value may come twice, and no number of machines is special.
 * At last down the trees. Two ranks alone are two leaders: one message each way, at the same time. */

/* Ranks of a machine, in rising order, and which of them this one is. */
struct group {
    int *ranks;
    int count, own;
};

static void add(struct tutti_tcp *tcp, enum deed deed, int rank)
{
    tcp->turns[tcp->turn_count++] = (struct turn){deed, rank};
}

static bool same_host(const struct tutti_tcp *tcp, int a, int b)
{
    return strcmp(tcp->peers[a].host, tcp->peers[b].host) == 0;
}

/* Its own machine's ranks; and of each machine the first. */
static void find_groups(const struct tutti_tcp *tcp, struct group *home, struct group *leaders)
{
    home->own = leaders->own = -1;
    for (int rank = 0; rank < tcp->fabric.ranks; rank++) {
        bool is_first = true;
        for (int i = 0; i < leaders->count && is_first; i++)
            is_first = !same_host(tcp, leaders->ranks[i], rank);
        if (rank == tcp->fabric.rank)
            home->own = home->count;
        if (same_host(tcp, rank, tcp->fabric.rank))
            home->ranks[home->count++] = rank;
        if (is_first) {
            leaders->own = rank == tcp->fabric.rank ? leaders->count : leaders->own;
            leaders->ranks[leaders->count++] = rank;
        }
    }
}

/* The children of n in a binomial tree of `count` are n + 2^k for all 2^k below its lowest one-bit. */
static void lay_out(struct tutti_tcp *tcp, const struct group *home, const struct group *leaders)
{
    int lowest = home->own == 0 ? home->count : home->own & -home->own;
    for (int k = 1; k < lowest && home->own + k < home->count; k *= 2)
        add(tcp, COMBINE, home->ranks[home->own + k]);
    if (home->own > 0) {
        add(tcp, TELL, home->ranks[home->own - lowest]);
        add(tcp, ADOPT, home->ranks[home->own - lowest]);
    }
    for (int k = 1; leaders->own >= 0 && k < leaders->count; k *= 2) {
        add(tcp, TELL, leaders->ranks[(leaders->own + k) % leaders->count]);
        add(tcp, COMBINE, leaders->ranks[(leaders->own - k + leaders->count) % leaders->count]);
    }
    int top = 1;
    while (top < lowest)
        top *= 2;
    for (int k = top; k >= 1; k /= 2)
        if (k < lowest && home->own + k < home->count)
            add(tcp, TELL, home->ranks[home->own + k]);
}

static enum tutti_err plan(struct tutti_tcp *tcp)
{
    size_t ranks = (size_t)tcp->fabric.ranks;
    struct group home = {.ranks = calloc(ranks, sizeof(int))}, leaders = {.ranks = calloc(ranks, sizeof(int))};
    tcp->turns =
        calloc(4 * 32 + 2, sizeof *tcp->turns); /* each of the four loops has at most 32 rounds, or twice that */
    bool good = home.ranks && leaders.ranks && tcp->turns;
    if (good && ranks == 2) {
        home = (struct group){.ranks = home.ranks, .count = 1};
        leaders = (struct group){.ranks = leaders.ranks, .count = 2, .own = tcp->fabric.rank};
        leaders.ranks[1] = 1;
    } else if (good)
        find_groups(tcp, &home, &leaders);
    if (good)
        lay_out(tcp, &home, &leaders);
    free(home.ranks);
    free(leaders.ranks);
    return good ? TUTTI_OK : tutti_fail_memory();
}

static enum tutti_err connect_all(struct tutti_tcp *tcp)
{
    for (size_t i = 0; i < tcp->turn_count; i++)
        TRY(call(tcp, tcp->turns[i].rank));
    for (size_t i = 0; i < tcp->turn_count; i++)
        TRY(wait_up(tcp, &tcp->links[tcp->turns[i].rank]));
    return TUTTI_OK;
}

static enum tutti_err tell(struct tutti_tcp *tcp, struct link *link, const double *values, size_t size)
{
    zmq_msg_t message;
    if (zmq_msg_init_size(&message, TUTTI_FRAME_HEAD + size) != 0)
        return tutti_fail_memory();
    memcpy((char *)zmq_msg_data(&message) + TUTTI_FRAME_HEAD, values, size);
    return send_data(tcp, link, TUTTI_FRAME_REDUCE, 0, &message);
}

static enum tutti_err hear(struct tutti_tcp *tcp, struct link *link, bool adopt, enum tutti_reduction reduction,
                           double *values, size_t count)
{
    zmq_msg_t message;
    TRY(take(tcp, link, TUTTI_FRAME_REDUCE, 0, &message));
    bool fits = zmq_msg_size(&message) == TUTTI_FRAME_HEAD + count * sizeof *values;
    const char *theirs = (const char *)zmq_msg_data(&message) + TUTTI_FRAME_HEAD;
    if (fits && adopt)
        memcpy(values, theirs, count * sizeof *values);
    else if (fits)
        for (size_t i = 0; i < count; i++) {
            double value; /* the message need not be aligned */
            memcpy(&value, theirs + i * sizeof value, sizeof value);
            tutti_fabric_combine(reduction, &values[i], &value, 1);
        }
    zmq_msg_close(&message);
    return fits ? TUTTI_OK : protocol_error(tcp, link);
}

static enum tutti_err reduce(struct tutti_fabric *fabric, enum tutti_reduction reduction, double *values, size_t count)
{
    struct tutti_tcp *tcp = tcp_of(fabric);
    if (count == 0 || fabric->ranks == 1)
        return TUTTI_OK;
    if (!tcp->turns) {
        TRY(plan(tcp));
        TRY(connect_all(tcp));
    }
    for (size_t i = 0; i < tcp->turn_count; i++) {
        const struct turn *turn = &tcp->turns[i];
        struct link *link = &tcp->links[turn->rank];
        if (turn->deed == TELL)
            TRY(tell(tcp, link, values, count * sizeof *values));
        else
            TRY(hear(tcp, link, turn->deed == ADOPT, reduction, values, count));
    }
    return TUTTI_OK;
}

/* Reports of a rank: collected, and sent to the hub as far as it gives leave. */

/* Rows come by the thousand and can wait for each other. Everything else is rare, or has to be known at once. */
static bool can_wait(const void *frame, size_t size)
{
    enum tutti_report_kind kind;
    size_t length;
    bool whole;
    if (tutti_report_find(frame, size, &kind, &length, &whole) != TUTTI_OK || !whole)
        return false;
    return kind == TUTTI_REPORT_ROW || kind == TUTTI_REPORT_STEP || kind == TUTTI_REPORT_PROGRESS ||
           kind == TUTTI_REPORT_LOAD;
}

/* Waits for leave to send the batch, and sends it. A stop does not end this wait: what was computed until then belongs to the
 * result, and the conductor takes it as the others come to their end. */
static enum tutti_err make_room(struct tutti_tcp *tcp)
{
    const struct link *hub = hub_link(tcp);
    while (!hub->gone && !hub->left) {
        if (has_leave(tcp) && send_batch(tcp) == TUTTI_SENDING_DONE)
            return TUTTI_OK;
        TRY(pump(tcp, true));
    }
    return tutti_fail(TUTTI_ERR_LOST, "the conductor is lost: %s", hub->why ? hub->why : "it has ended before us");
}

static enum tutti_err report(struct tutti_fabric *fabric, const void *bytes, size_t size)
{
    struct tutti_tcp *tcp = tcp_of(fabric);
    bool is_patient = can_wait(bytes, size);
    if (tcp->batched > 0 && tcp->batched + size > TUTTI_TCP_BATCH)
        TRY(make_room(tcp));
    if (tcp->batched == 0)
        tcp->batched_since = tutti_clock_now();
    const char *at = bytes;
    while (size > 0) {
        size_t part = TUTTI_TCP_BATCH - tcp->batched < size ? TUTTI_TCP_BATCH - tcp->batched : size;
        memcpy(tcp->batch + tcp->batched, at, part);
        tcp->batched += part;
        at += part;
        size -= part;
        if (size > 0)
            TRY(make_room(tcp));
    }
    flush(tcp, is_patient);
    return TUTTI_OK;
}

void tutti_tcp_hurry(struct tutti_fabric *fabric)
{
    flush(tcp_of(fabric), false);
}

/* Sends the last, and waits for leave as long as the hub is there. */
static enum tutti_err drain(struct tutti_tcp *tcp)
{
    return tcp->batched > 0 ? make_room(tcp) : TUTTI_OK;
}

/* Seconds: for peers to say goodbye, for the hub; for ZeroMQ to get rid of what was sent, and if no peer waits for it. */
static const double GOODBYE = 1, LAST_GOODBYE = 5, LINGER = 1, SHORT_LINGER = 0.1;

enum tutti_err tutti_tcp_listen(struct tutti_tcp **out, const char *address, const struct tutti_ports *ports,
                                const struct tutti_keys *own, double lost_after, const struct tutti_log *log)
{
    static const struct tutti_ports any;
    struct tutti_tcp *tcp = aligned_alloc(_Alignof(struct tutti_tcp), sizeof *tcp);
    *out = NULL;
    if (!tcp)
        return tutti_fail_memory();
    *tcp = (struct tutti_tcp){.log = log, .linger = SHORT_LINGER};
    enum tutti_err err = tutti_tcp_socket_open(&tcp->socket, address, ports ? ports : &any, own, lost_after, log);
    if (err) {
        tutti_tcp_free(tcp);
        return err;
    }
    *out = tcp;
    return TUTTI_OK;
}

int tutti_tcp_port(const struct tutti_tcp *tcp)
{
    return tcp->socket.port;
}

void tutti_tcp_free(struct tutti_tcp *tcp)
{
    if (!tcp)
        return;
    for (int i = 0; tcp->links && i <= tcp->fabric.ranks; i++) {
        struct link *link = &tcp->links[i];
        for (uint32_t n = 0; n < link->queued; n++)
            zmq_msg_close(&link->queue[(link->first + n) & (link->room - 1)]);
        free(link->queue);
    }
    tutti_tcp_socket_close(&tcp->socket, tcp->linger);
    free(tcp->peers);
    free(tcp->links);
    free(tcp->callers);
    free(tcp->channels);
    free(tcp->turns);
    free(tcp->batch);
    free(tcp);
}

static enum tutti_err open_channel(struct tutti_fabric *fabric, const struct tutti_channel *channel)
{
    struct tutti_tcp *tcp = tcp_of(fabric);
    if (!tutti_vector_reserve(&tcp->channels, &tcp->channel_room, tcp->channel_count + 1, sizeof *tcp->channels))
        return tutti_fail_memory();
    tcp->channels[tcp->channel_count++] = channel;
    for (uint32_t i = 0; i < channel->link_count; i++)
        TRY(call(tcp, channel->links[i].peer));
    for (uint32_t i = 0; i < channel->link_count; i++)
        TRY(wait_up(tcp, &tcp->links[channel->links[i].peer]));
    return TUTTI_OK;
}

static enum tutti_err send_cargo(struct tutti_tcp *tcp, uint32_t channel, const struct tutti_link *link,
                                 const char *base)
{
    zmq_msg_t message;
    size_t size = tutti_cargo_size(&link->out, base);
    if (size > TUTTI_TCP_GREATEST - TUTTI_FRAME_HEAD)
        return tutti_fail(TUTTI_ERR_LIMIT, "what rank %d is to read has %zu bytes: at most %d go over the network",
                          link->peer, size, TUTTI_TCP_GREATEST - TUTTI_FRAME_HEAD);
    if (zmq_msg_init_size(&message, TUTTI_FRAME_HEAD + size) != 0)
        return tutti_fail_memory();
    tutti_cargo_pack(&link->out, base, (char *)zmq_msg_data(&message) + TUTTI_FRAME_HEAD);
    return send_data(tcp, &tcp->links[link->peer], TUTTI_FRAME_DATA, channel, &message);
}

static enum tutti_err take_cargo(struct tutti_tcp *tcp, uint32_t channel, const struct tutti_link *link, char *base)
{
    zmq_msg_t message;
    struct link *from = &tcp->links[link->peer];
    TRY(take(tcp, from, TUTTI_FRAME_DATA, channel, &message));
    const char *data = zmq_msg_data(&message);
    enum tutti_err err =
        tutti_cargo_unpack(&link->in, base, data + TUTTI_FRAME_HEAD, zmq_msg_size(&message) - TUTTI_FRAME_HEAD);
    zmq_msg_close(&message);
    return err ? tutti_fail_context(err, "%s", peer_name(tcp, from).text) : TUTTI_OK;
}

static enum tutti_err exchange(struct tutti_fabric *fabric, uint32_t channel, char *base)
{
    struct tutti_tcp *tcp = tcp_of(fabric);
    const struct tutti_channel *links = tcp->channels[channel];
    fabric->exchanges++;
    for (uint32_t i = 0; i < links->link_count; i++)
        if (!tutti_cargo_is_empty(&links->links[i].out))
            TRY(send_cargo(tcp, channel, &links->links[i], base));
    for (uint32_t i = 0; i < links->link_count; i++)
        if (!tutti_cargo_is_empty(&links->links[i].in))
            TRY(take_cargo(tcp, channel, &links->links[i], base));
    return glance(tcp);
}

enum tutti_err tutti_tcp_meet_all(struct tutti_fabric *fabric)
{
    struct tutti_tcp *tcp = tcp_of(fabric);
    for (int r = 0; r < fabric->rank; r++)
        TRY(call(tcp, r));
    for (int r = 0; r < fabric->ranks; r++)
        if (r != fabric->rank)
            TRY(wait_up(tcp, &tcp->links[r]));
    return TUTTI_OK;
}

static void stop(struct tutti_fabric *fabric, uint64_t step)
{
    spread_stop(tcp_of(fabric), step);
}

/* Others may still want what was sent last: ZeroMQ's thread has to live until it is theirs. One that says goodbye has it. */
static void say_goodbye(struct tutti_tcp *tcp)
{
    const struct tutti_frame_head bye = {.kind = TUTTI_FRAME_BYE};
    struct link *hub = hub_link(tcp);
    for (struct link *link = tcp->links; link <= hub; link++)
        if (link->state == TUTTI_TCP_UP && !link->gone &&
            tutti_tcp_socket_tell(&tcp->socket, &link->route, &bye, NULL) != TUTTI_SENDING_DONE)
            link->gone = true;
    double start = tutti_clock_now();
    for (struct link *link = hub; link >= tcp->links; link--) {
        tcp->awaited = link;
        double patience = link == hub ? LAST_GOODBYE : GOODBYE;
        while (link->state == TUTTI_TCP_UP && !link->gone && !link->left && tutti_clock_now() - start < patience &&
               (link == hub || !tutti_fabric_is_stopped(&tcp->fabric)))
            if (pump(tcp, true) != TUTTI_OK)
                return;
    }
}

static void close_tcp(struct tutti_fabric *fabric)
{
    if (!fabric)
        return;
    struct tutti_tcp *tcp = tcp_of(fabric);
    if (drain(tcp) == TUTTI_OK) {
        say_goodbye(tcp);
        tcp->linger = tutti_fabric_is_stopped(fabric) ? SHORT_LINGER : LINGER;
    }
    tutti_tcp_free(tcp);
}

static const struct tutti_fabric_kind kind = {
    .name = "tcp",
    .open = open_channel,
    .exchange = exchange,
    .reduce = reduce,
    .report = report,
    .stop = stop,
    .close = close_tcp,
};

static enum tutti_err set_up(struct tutti_tcp *tcp, int rank, const struct tutti_tcp_run *run,
                             struct tutti_heartbeat *where)
{
    size_t ranks = (size_t)run->ranks, room = 4;
    while (room < 2 * (ranks + 1))
        room *= 2;
    tcp->fabric = (struct tutti_fabric){.kind = &kind,
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
        return tutti_fail_memory();
    memcpy(tcp->peers, run->peers, ranks * sizeof *tcp->peers);
    memset(tcp->callers, 0xff, room * sizeof *tcp->callers);
    tcp->granted = TUTTI_TCP_LEAVE;
    tutti_frame_introduce(&tcp->hello, run->id, (uint32_t)rank, (uint32_t)run->ranks);
    return TUTTI_OK;
}

/* Addresses are looked up now, so that a name that is wrong shows before anything has run. */
static enum tutti_err look_up(struct tutti_tcp *tcp)
{
    for (int i = 0; i <= tcp->fabric.ranks; i++) {
        tcp->links[i].rank = i < tcp->fabric.ranks ? i : -1;
        tcp->links[i].stop = UINT64_MAX;
    }
    for (int i = 0; i < tcp->fabric.ranks; i++) {
        bool loopback;
        enum tutti_err err = tutti_address_resolve(tcp->peers[i].endpoint, tcp->links[i].numeric, &loopback);
        if (err)
            return tutti_fail_context(err, "rank %d", i);
        if (!loopback && !tcp->socket.has_keys)
            return tutti_fail(TUTTI_ERR_ARGUMENT,
                              "rank %d at %s is on another machine: nothing goes there without keys", i,
                              tcp->peers[i].endpoint);
    }
    return TUTTI_OK;
}

static enum tutti_err let_in(struct tutti_tcp *tcp, const struct tutti_tcp_run *run)
{
    if (!tcp->socket.zap)
        return TUTTI_OK;
    for (int i = 0; i < run->ranks; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        TRY(tutti_zap_allow(tcp->socket.zap, run->peers[i].public_key, name));
    }
    TRY(tutti_zap_allow(tcp->socket.zap, run->hub_key, "hub"));
    tutti_zap_open(tcp->socket.zap);
    return TUTTI_OK;
}

static enum tutti_err join(struct tutti_tcp *tcp, int rank, const struct tutti_tcp_run *run,
                           struct tutti_heartbeat *where)
{
    if (run->has_keys != tcp->socket.has_keys)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "either all members of a run have keys, or none");
    TRY(set_up(tcp, rank, run, where));
    TRY(look_up(tcp));
    TRY(let_in(tcp, run));
    const struct link *hub = hub_link(tcp);
    double start = tutti_clock_now();
    while (hub->state != TUTTI_TCP_UP) {
        if (tutti_clock_now() - start > TUTTI_TCP_PATIENCE)
            return tutti_fail(TUTTI_ERR_LOST, "the conductor has not come within %d s", TUTTI_TCP_PATIENCE);
        TRY(pump(tcp, true));
    }
    return TUTTI_OK;
}

enum tutti_err tutti_tcp_connect(struct tutti_fabric **out, struct tutti_tcp *tcp, int rank,
                                 const struct tutti_tcp_run *run, struct tutti_heartbeat *where)
{
    *out = NULL;
    enum tutti_err err = join(tcp, rank, run, where);
    if (err) {
        tutti_tcp_free(tcp);
        return err;
    }
    *out = &tcp->fabric;
    return TUTTI_OK;
}
