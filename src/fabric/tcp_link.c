/* SPDX-License-Identifier: MIT */
/* Links of a rank: how they come up, what comes in by them, how one waits for it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "fabric/tcp_rank.h"

static const double LOOK_EVERY = 0.1,
                    GRACE = 0.25; /* seconds: between looks; for a stop to come by the awaited link, too */
enum { WARNINGS = 10 };

struct tutti_shown tutti_tcp_who(const struct tutti_tcp *tcp, const struct tutti_tcp_link *link)
{
    struct tutti_shown shown;
    if (link->rank < 0)
        snprintf(shown.text, sizeof shown.text, "the conductor");
    else
        snprintf(shown.text, sizeof shown.text, "rank %d at %.70s", link->rank,
                 tcp->peers[link->rank].endpoint + strlen("tcp://"));
    return shown;
}

enum tutti_err tutti_tcp_nonsense(const struct tutti_tcp *tcp, const struct tutti_tcp_link *link)
{
    return tutti_wire_disagree(TUTTI_WIRE_FINE, tutti_tcp_who(tcp, link).text, "");
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

static void add_caller(struct tutti_tcp *tcp, struct tutti_tcp_link *link)
{
    size_t at = hash_of(&link->route);
    while (tcp->callers[at & (tcp->caller_room - 1)] != UINT32_MAX)
        at++;
    tcp->callers[at & (tcp->caller_room - 1)] = (uint32_t)(link - tcp->links);
}

/* What comes in ------------------------------------------------------------------------------------------------------------- */

static enum tutti_err greet(struct tutti_tcp *tcp, const struct tutti_route *route, enum tutti_wire_reason reason)
{
    struct tutti_parcel parcel = {0};
    if (reason == TUTTI_WIRE_FINE)
        tutti_wire_put_hello(&parcel, &tcp->hello);
    else
        tutti_wire_put_refusal(&parcel, reason);
    bool failed = parcel.failed;
    tutti_tcp_socket_post(&tcp->socket, route, &parcel); /* if it is gone, that shows later */
    tutti_parcel_fini(&parcel);
    return failed ? tutti_fail_memory() : TUTTI_OK;
}

/* The link that a hello opens, or NULL. With keys, nobody can be another than his key says. */
static struct tutti_tcp_link *expected(struct tutti_tcp *tcp, const struct tutti_wire_hello *hello, zmq_msg_t *message)
{
    bool is_hub = hello->rank == TUTTI_WIRE_HUB;
    if (!is_hub && (hello->rank >= hello->ranks || hello->rank <= (uint32_t)tcp->fabric.rank))
        return NULL; /* the higher rank calls */
    struct tutti_tcp_link *link = &tcp->links[is_hub ? (uint32_t)tcp->fabric.ranks : hello->rank];
    char name[16] = "hub";
    if (!is_hub)
        snprintf(name, sizeof name, "%u", hello->rank);
    const char *user = tcp->socket.has_keys ? zmq_msg_gets(message, "User-Id") : name;
    return link->state == TUTTI_TCP_UNKNOWN && user && strcmp(user, name) == 0 ? link : NULL;
}

/* A message by a connection that has not said who it is. A stranger is turned away, and does not disturb the run. */
static enum tutti_err meet(struct tutti_tcp *tcp, const struct tutti_route *route, zmq_msg_t *message)
{
    struct tutti_wire_hello hello;
    if (!tutti_wire_get_hello(zmq_msg_data(message), zmq_msg_size(message), &hello)) {
        if (tcp->strangers++ < WARNINGS)
            tutti_log_printf(tcp->log, TUTTI_LOG_WARNING, NULL, "a program that is no member of the run sent %zu bytes",
                             zmq_msg_size(message));
        return TUTTI_OK;
    }
    enum tutti_wire_reason reason = tutti_wire_compare(&hello, &tcp->hello);
    struct tutti_tcp_link *link = reason == TUTTI_WIRE_FINE ? expected(tcp, &hello, message) : NULL;
    if (!link) {
        reason = reason == TUTTI_WIRE_FINE ? TUTTI_WIRE_NOT_EXPECTED : reason;
        if (tcp->strangers++ < WARNINGS) {
            (void)tutti_wire_disagree(reason, "the program that called", hello.version);
            tutti_log_printf(tcp->log, TUTTI_LOG_WARNING, NULL, "%s", tutti_err_message());
        }
        return greet(tcp, route, reason);
    }
    link->route = *route;
    link->state = TUTTI_TCP_UP;
    add_caller(tcp, link);
    return greet(tcp, route, TUTTI_WIRE_FINE);
}

/* The answer to our hello. */
static enum tutti_err meet_called(struct tutti_tcp *tcp, struct tutti_tcp_link *link, zmq_msg_t *message)
{
    struct tutti_wire_hello hello;
    enum tutti_wire_reason reason;
    char version[TUTTI_WIRE_VERSION];
    struct tutti_shown who = tutti_tcp_who(tcp, link);
    if (tutti_wire_get_refusal(zmq_msg_data(message), zmq_msg_size(message), &reason, version))
        return tutti_wire_disagree(reason, who.text, version);
    if (!tutti_wire_get_hello(zmq_msg_data(message), zmq_msg_size(message), &hello))
        return tutti_tcp_nonsense(tcp, link);
    reason = tutti_wire_compare(&hello, &tcp->hello);
    if (reason != TUTTI_WIRE_FINE)
        return tutti_wire_disagree(reason, who.text, hello.version);
    if (hello.rank != (uint32_t)link->rank)
        return tutti_tcp_nonsense(tcp, link);
    link->state = TUTTI_TCP_UP;
    return TUTTI_OK;
}

/* Keeps the message until it is taken. */
static enum tutti_err enqueue(struct tutti_tcp *tcp, struct tutti_tcp_link *link, zmq_msg_t *message)
{
    if (link->queued > 2 * TUTTI_TCP_WINDOW)
        return tutti_tcp_nonsense(tcp, link); /* W2 */
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

void tutti_tcp_spread_stop(struct tutti_tcp *tcp, uint64_t step)
{
    if (step >= atomic_load(tcp->fabric.stop_after))
        return;
    tutti_fabric_lower_stop(tcp->fabric.stop_after, step);
    for (int i = 0; i <= tcp->fabric.ranks; i++)
        if (tcp->links[i].state == TUTTI_TCP_UP && !tcp->links[i].gone)
            tutti_tcp_socket_tell(&tcp->socket, &tcp->links[i].route,
                                  &(struct tutti_wire_head){.kind = TUTTI_WIRE_STOP}, &step);
}

static void hear_stop(struct tutti_tcp *tcp, struct tutti_tcp_link *link, uint64_t step)
{
    link->stop = step < link->stop ? step : link->stop;
    if (step < atomic_load(tcp->fabric.stop_after))
        tcp->stop_came = tutti_clock_now();
    tutti_tcp_spread_stop(tcp, step);
}

static enum tutti_err obey(struct tutti_tcp *tcp, struct tutti_tcp_link *link, zmq_msg_t *message)
{
    const void *data = zmq_msg_data(message);
    struct tutti_wire_head head;
    bool is_hub = link->rank < 0;
    if (!tutti_wire_get_head(data, zmq_msg_size(message), &head))
        return tutti_tcp_nonsense(tcp, link);
    if (link->state != TUTTI_TCP_UP)
        return meet_called(tcp, link, message);
    if (head.kind == TUTTI_WIRE_PING)
        return TUTTI_OK;
    if (head.kind == TUTTI_WIRE_STOP) {
        hear_stop(tcp, link, tutti_wire_get_u64(data));
        return TUTTI_OK;
    }
    if (head.kind == TUTTI_WIRE_BYE)
        return link->left = true, TUTTI_OK;
    if (is_hub && head.kind == TUTTI_WIRE_GRANT) {
        uint64_t granted = tutti_wire_get_u64(data);
        tcp->granted = granted > tcp->granted ? granted : tcp->granted;
        return TUTTI_OK;
    }
    if (is_hub || (head.kind != TUTTI_WIRE_ACK && head.kind != TUTTI_WIRE_DATA && head.kind != TUTTI_WIRE_REDUCE) ||
        head.taken - link->acked > link->sent - link->acked)
        return tutti_tcp_nonsense(tcp, link);
    link->acked = head.taken;
    return head.kind == TUTTI_WIRE_ACK ? TUTTI_OK : enqueue(tcp, link, message);
}

/* Waiting ------------------------------------------------------------------------------------------------------------------- */

static void hear_events(struct tutti_tcp *tcp)
{
    enum tutti_tcp_event event;
    char numeric[TUTTI_TCP_ENDPOINT];
    while (tutti_tcp_socket_event(&tcp->socket, &event, numeric))
        for (int i = 0; i < tcp->fabric.rank; i++) {
            struct tutti_tcp_link *link = &tcp->links[i];
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
static void probe(struct tutti_tcp *tcp, struct tutti_tcp_link *link)
{
    if (link->state == TUTTI_TCP_UP && !link->gone &&
        tutti_tcp_socket_tell(&tcp->socket, &link->route, &(struct tutti_wire_head){.kind = TUTTI_WIRE_PING}, NULL) ==
            TUTTI_SENDING_GONE) {
        link->gone = true;
        link->why = tutti_tcp_event_text(TUTTI_TCP_DISCONNECTED);
    }
}

static void look_around(struct tutti_tcp *tcp, double now)
{
    tcp->next_look = now + LOOK_EVERY;
    atomic_fetch_add_explicit(&tcp->fabric.where->beat, 1, memory_order_relaxed);
    hear_events(tcp);
    probe(tcp, tutti_tcp_hub_link(tcp));
    tutti_tcp_flush(tcp, true);
    struct tutti_tcp_link *awaited = tcp->awaited;
    if (!awaited)
        return;
    probe(tcp, awaited);
    if (awaited->state == TUTTI_TCP_CALLING && now - awaited->since > TUTTI_TCP_PATIENCE) {
        awaited->gone = true;
        awaited->why = tutti_tcp_event_text(TUTTI_TCP_CONNECTED);
    }
}

enum tutti_err tutti_tcp_pump(struct tutti_tcp *tcp, bool wait)
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
static enum tutti_err is_lost(struct tutti_tcp *tcp, const struct tutti_tcp_link *link)
{
    do
        TRY(tutti_tcp_pump(tcp, false));
    while (tcp->received);
    if (tutti_fabric_is_stopped(&tcp->fabric))
        return tutti_fabric_stopped();
    return tutti_fail(TUTTI_ERR_LOST, "%s is lost: %s", tutti_tcp_who(tcp, link).text,
                      link->gone && link->why ? link->why : "it has ended before us");
}

/* The stop has come by another link, perhaps. What the peer sent before it knew of the stop is taken (W3), unless it is so busy that
 * it has not even passed the stop on. */
static enum tutti_err await_stopped(struct tutti_tcp *tcp, const struct tutti_tcp_link *link)
{
    bool is_last = link->stop <= tcp->fabric.step || link->gone || link->left || link->state != TUTTI_TCP_UP ||
                   tutti_clock_now() - tcp->stop_came > GRACE;
    TRY(tutti_tcp_pump(tcp, !is_last));
    return tcp->received || !is_last ? TUTTI_OK : tutti_fabric_stopped();
}

enum tutti_err tutti_tcp_await(struct tutti_tcp *tcp, struct tutti_tcp_link *link)
{
    const struct tutti_tcp_link *hub = tutti_tcp_hub_link(tcp);
    bool is_gone = link->gone || link->left, hub_is_gone = hub->gone || hub->left;
    if (tutti_fabric_is_stopped(&tcp->fabric))
        return await_stopped(tcp, link);
    tcp->awaited = link;
    TRY(tutti_tcp_pump(tcp, !is_gone && !hub_is_gone)); /* who looks again and again is in the way of ZeroMQ's thread */
    tcp->awaited = NULL;
    if (!tcp->received && (is_gone || hub_is_gone))
        return is_lost(tcp, is_gone ? link : hub);
    return TUTTI_OK;
}

enum tutti_err tutti_tcp_glance(struct tutti_tcp *tcp)
{
    if (tutti_clock_now() < tcp->next_look)
        return TUTTI_OK;
    do
        TRY(tutti_tcp_pump(tcp, false));
    while (tcp->received);
    const struct tutti_tcp_link *hub = tutti_tcp_hub_link(tcp);
    return hub->gone ? is_lost(tcp, hub) : TUTTI_OK;
}

enum tutti_err tutti_tcp_call(struct tutti_tcp *tcp, int rank)
{
    struct tutti_tcp_link *link = &tcp->links[rank];
    if (rank >= tcp->fabric.rank || link->state != TUTTI_TCP_UNKNOWN)
        return TUTTI_OK;
    link->route = tutti_tcp_socket_route(&tcp->socket, (uint32_t)rank);
    link->since = tutti_clock_now();
    TRY(tutti_tcp_socket_connect(&tcp->socket, link->numeric, tcp->peers[rank].public_key, (uint32_t)rank));
    link->state = TUTTI_TCP_CALLING;
    return greet(tcp, &link->route, TUTTI_WIRE_FINE);
}

enum tutti_err tutti_tcp_wait_up(struct tutti_tcp *tcp, struct tutti_tcp_link *link)
{
    while (link->state != TUTTI_TCP_UP)
        TRY(tutti_tcp_await(tcp, link));
    return TUTTI_OK;
}

static enum tutti_err send_it(struct tutti_tcp *tcp, struct tutti_tcp_link *link, struct tutti_wire_head *head,
                              zmq_msg_t *message)
{
    while (link->sent - link->acked >= TUTTI_TCP_WINDOW)
        TRY(tutti_tcp_await(tcp, link));
    for (;;) {
        head->number = link->sent;
        head->taken = link->taken;
        tutti_wire_put_head(zmq_msg_data(message), head);
        enum tutti_sending sending = tutti_tcp_socket_send(&tcp->socket, &link->route, message);
        if (sending == TUTTI_SENDING_DONE)
            break;
        if (sending == TUTTI_SENDING_GONE) {
            link->gone = true;
            link->why = link->why ? link->why : tutti_tcp_event_text(TUTTI_TCP_DISCONNECTED);
            return is_lost(tcp, link);
        }
        TRY(tutti_tcp_await(tcp, link));
    }
    link->sent++;
    link->told = head->taken;
    return TUTTI_OK;
}

enum tutti_err tutti_tcp_send(struct tutti_tcp *tcp, struct tutti_tcp_link *link, enum tutti_wire_kind kind,
                              uint32_t channel, zmq_msg_t *message)
{
    struct tutti_wire_head head = {.kind = kind, .channel = channel};
    enum tutti_err err = send_it(tcp, link, &head, message);
    if (err)
        zmq_msg_close(message);
    return err;
}

enum tutti_err tutti_tcp_take(struct tutti_tcp *tcp, struct tutti_tcp_link *link, enum tutti_wire_kind kind,
                              uint32_t channel, zmq_msg_t *message)
{
    while (link->queued == 0)
        TRY(tutti_tcp_await(tcp, link));
    zmq_msg_t *slot = &link->queue[link->first];
    struct tutti_wire_head head;
    if (!tutti_wire_get_head(zmq_msg_data(slot), zmq_msg_size(slot), &head) || head.kind != kind ||
        head.channel != channel || head.number != link->taken)
        return tutti_tcp_nonsense(tcp, link); /* W1 */
    zmq_msg_init(message);
    zmq_msg_move(message, slot);
    zmq_msg_close(slot);
    link->first = (link->first + 1) & (link->room - 1);
    link->queued--;
    link->taken++;
    if (link->taken - link->told >= TUTTI_TCP_WINDOW / 4) { /* nothing goes the other way that would tell it */
        link->told = link->taken;
        tutti_tcp_socket_tell(&tcp->socket, &link->route,
                              &(struct tutti_wire_head){.kind = TUTTI_WIRE_ACK, .taken = link->taken}, NULL);
    }
    return TUTTI_OK;
}
