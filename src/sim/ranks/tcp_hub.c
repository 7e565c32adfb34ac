/* SPDX-License-Identifier: MIT */
#include "sim/ranks/tcp_hub.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/wall_clock.h"
#include "sim/ranks/tcp_address.h"
#include "sim/ranks/fabric.h"
#include "sim/ranks/tcp_socket.h"

static const double LOOK_EVERY = 0.1, LINGER = 0.1; /* seconds */
enum { AT_ONCE = 1000, UNASKED = 64 << 20 };        /* messages of one wait; bytes that a rank may send without leave */

struct hub_member {
    enum tt_tcp_link_state state;
    bool left;
    enum tutti_err err; /* LOST or FORMAT */
    char *message;      /* and the reason */
    struct tt_tcp_route route;
    char endpoint[TUTTI_ADDRESS_SIZE], numeric[TUTTI_ADDRESS_SIZE];
    char *bytes;
    size_t begin, end, room;
    uint64_t received, granted;
};

struct tt_tcp_hub {
    struct tt_tcp_socket socket;
    struct tt_frame_hello hello;
    struct hub_member *members;
    int ranks;
    uint64_t stop_after;
    double start, next_look;
};

static const char *hub_member_address(const struct hub_member *member)
{
    return member->endpoint + strlen("tcp://");
}

/* Keeps the thread's message: state is asked later. Only the first counts. */
static void tcp_hub_fail_member(struct hub_member *member, enum tutti_err err)
{
    if (member->err || member->left)
        return;
    member->err = err;
    member->message = strdup(tutti_err_message());
}

static void tcp_hub_disconnect(struct tt_tcp_hub *hub, struct hub_member *member, const char *why)
{
    tcp_hub_fail_member(member, tt_fail(TUTTI_ERR_LOST, "rank %d at %s is lost: %s", (int)(member - hub->members),
                                        hub_member_address(member), why));
}

static void tcp_hub_send_to(struct tt_tcp_hub *hub, struct hub_member *member, enum tt_frame_kind kind,
                            const uint64_t *number)
{
    struct tt_frame_head head = {.kind = kind};
    if (member->state != TUTTI_TCP_UP || member->err)
        return;
    enum tt_sending sending = tt_tcp_socket_send_frame(&hub->socket, &member->route, &head, number);
    if (sending == TUTTI_SENDING_MEMORY)
        tcp_hub_fail_member(member, tt_fail_memory());
    else if (sending == TUTTI_SENDING_GONE && !member->left)
        tcp_hub_disconnect(hub, member, tt_tcp_socket_event_text(TUTTI_TCP_DISCONNECTED));
}

/* A rank may send so much that half a megabyte of it, or one whole frame, waits here. */
static void tcp_hub_grant_credit(struct tt_tcp_hub *hub, struct hub_member *member)
{
    enum tt_report_kind kind;
    size_t size = 0, waiting = member->end - member->begin;
    bool whole;
    uint64_t leave = TUTTI_TCP_LEAVE;
    if (waiting > 0 &&
        tt_fabric_find_report(member->bytes + member->begin, waiting, &kind, &size, &whole) == TUTTI_OK && !whole &&
        size + TUTTI_REPORT_HEADER > leave)
        leave = size + TUTTI_REPORT_HEADER;
    uint64_t granted = member->received - waiting + leave;
    if (granted >= member->granted + TUTTI_TCP_BATCH) {
        member->granted = granted;
        tcp_hub_send_to(hub, member, TUTTI_FRAME_GRANT, &granted);
    }
}

static enum tutti_err tcp_hub_append_report(struct tt_tcp_hub *hub, struct hub_member *member, const char *bytes,
                                            size_t size)
{
    if (member->received + size > member->granted + UNASKED) {
        tcp_hub_fail_member(member, tt_fail(TUTTI_ERR_FORMAT, "rank %d at %s sent more than it was given leave to",
                                            (int)(member - hub->members), hub_member_address(member)));
        return TUTTI_OK;
    }
    if (member->begin > 0 && member->end + size > member->room) {
        memmove(member->bytes, member->bytes + member->begin, member->end - member->begin);
        member->end -= member->begin;
        member->begin = 0;
    }
    if (member->end + size > member->room) {
        size_t room = 2 * member->room + size;
        char *larger = realloc(member->bytes, room);
        if (!larger)
            return tt_fail_memory();
        member->bytes = larger;
        member->room = room;
    }
    if (size > 0)
        memcpy(member->bytes + member->end, bytes, size);
    member->end += size;
    member->received += size;
    tcp_hub_grant_credit(hub, member);
    return TUTTI_OK;
}

static void tcp_hub_handle_hello(struct tt_tcp_hub *hub, struct hub_member *member, const void *data, size_t size)
{
    struct tt_frame_hello hello;
    enum tt_frame_reason reason;
    char version[TUTTI_FRAME_VERSION], who[TUTTI_ADDRESS_SIZE + 32];
    snprintf(who, sizeof who, "rank %d at %s", (int)(member - hub->members), hub_member_address(member));
    if (tt_tcp_frame_read_refusal(data, size, &reason, version)) {
        tcp_hub_fail_member(member, tt_tcp_frame_fail_mismatch(reason, who, version));
        return;
    }
    bool is_hello = tt_tcp_frame_read_hello(data, size, &hello);
    reason = is_hello ? tt_tcp_frame_compare_hello(&hello, &hub->hello) : TUTTI_FRAME_FINE;
    if (!is_hello || reason != TUTTI_FRAME_FINE || hello.rank != (uint32_t)(member - hub->members)) {
        tcp_hub_fail_member(member, tt_tcp_frame_fail_mismatch(reason, who, is_hello ? hello.version : ""));
        return;
    }
    member->state = TUTTI_TCP_UP;
    if (hub->stop_after < UINT64_MAX)
        tcp_hub_send_to(hub, member, TUTTI_FRAME_STOP, &hub->stop_after);
}

static enum tutti_err tcp_hub_handle_message(struct tt_tcp_hub *hub, struct hub_member *member, const char *data,
                                             size_t size)
{
    struct tt_frame_head head;
    bool good = tt_tcp_frame_read_head(data, size, &head);
    if (member->err || member->left)
        return TUTTI_OK;
    if (member->state != TUTTI_TCP_UP) {
        tcp_hub_handle_hello(hub, member, data, size);
        return TUTTI_OK;
    }
    if (good && head.kind == TUTTI_FRAME_REPORT)
        return tcp_hub_append_report(hub, member, data + TUTTI_FRAME_HEAD, size - TUTTI_FRAME_HEAD);
    if (good && head.kind == TUTTI_FRAME_STOP)
        tt_tcp_hub_stop(hub, tt_tcp_frame_read_u64(data));
    else if (good && head.kind == TUTTI_FRAME_BYE) {
        tcp_hub_send_to(hub, member, TUTTI_FRAME_BYE, NULL);
        member->left = true;
    } else if (!good || head.kind != TUTTI_FRAME_PING) {
        char who[TUTTI_ADDRESS_SIZE + 32];
        snprintf(who, sizeof who, "rank %d at %s", (int)(member - hub->members), hub_member_address(member));
        tcp_hub_fail_member(member, tt_tcp_frame_fail_mismatch(TUTTI_FRAME_FINE, who, ""));
    }
    return TUTTI_OK;
}

static enum tutti_err tcp_hub_receive(struct tt_tcp_hub *hub, bool wait, bool *got)
{
    struct tt_tcp_route route;
    zmq_msg_t message;
    uint32_t rank;
    TRY(tt_tcp_socket_receive(&hub->socket, wait, &route, &message, got));
    if (!*got)
        return TUTTI_OK;
    enum tutti_err err = TUTTI_OK;
    if (tt_tcp_socket_is_route(&hub->socket, &route, &rank) && rank < (uint32_t)hub->ranks)
        err = tcp_hub_handle_message(hub, &hub->members[rank], zmq_msg_data(&message), zmq_msg_size(&message));
    zmq_msg_close(&message);
    return err;
}

/* Messages in transit when a connection ended were received before: no rank is lost in the middle of a message. */
static enum tutti_err tcp_hub_check_members(struct tt_tcp_hub *hub)
{
    enum tt_tcp_event event;
    char numeric[TUTTI_ADDRESS_SIZE];
    while (tt_tcp_socket_event(&hub->socket, &event, numeric))
        for (int i = 0; i < hub->ranks; i++) {
            struct hub_member *member = &hub->members[i];
            if (strcmp(member->numeric, numeric) != 0)
                continue;
            if (event == TUTTI_TCP_CONNECTED)
                member->state = member->state == TUTTI_TCP_CALLING ? TUTTI_TCP_REACHED : member->state;
            else if (event != TUTTI_TCP_REFUSED || member->state == TUTTI_TCP_CALLING) {
                for (bool got = true; got;)
                    TRY(tcp_hub_receive(hub, false, &got));
                tcp_hub_disconnect(hub, member, tt_tcp_socket_event_text(event));
            }
        }
    double now = tt_wall_clock_now();
    for (int i = 0; now - hub->start > TUTTI_TCP_PATIENCE && i < hub->ranks; i++)
        if (hub->members[i].state == TUTTI_TCP_CALLING)
            tcp_hub_disconnect(hub, &hub->members[i], tt_tcp_socket_event_text(TUTTI_TCP_CONNECTED));
    hub->next_look = now + LOOK_EVERY;
    return TUTTI_OK;
}

enum tutti_err tt_tcp_hub_wait(struct tt_tcp_hub *hub, double seconds)
{
    double end = tt_wall_clock_now() + seconds;
    bool got = false;
    do {
        TRY(tcp_hub_receive(hub, seconds > 0, &got));
        if (tt_wall_clock_now() >= hub->next_look)
            TRY(tcp_hub_check_members(hub));
    } while (!got && tt_wall_clock_now() < end);
    for (int i = 0; got && i < AT_ONCE; i++)
        TRY(tcp_hub_receive(hub, false, &got));
    return TUTTI_OK;
}

static enum tutti_err tcp_hub_connect_member(struct tt_tcp_hub *hub, const struct tt_tcp_run *run, int rank)
{
    struct hub_member *member = &hub->members[rank];
    bool loopback;
    memcpy(member->endpoint, run->peers[rank].endpoint, sizeof member->endpoint);
    TRY(tt_tcp_address_resolve(member->endpoint, member->numeric, &loopback));
    if (!loopback && !run->has_keys)
        return tt_fail(TUTTI_ERR_ARGUMENT, "rank %d at %s is on another machine: nothing goes there without keys", rank,
                       hub_member_address(member));
    struct tt_byte_writer parcel = {0};
    tt_tcp_frame_write_hello(&parcel, &hub->hello);
    member->route = tt_tcp_socket_route(&hub->socket, (uint32_t)rank);
    member->granted = TUTTI_TCP_LEAVE;
    enum tutti_err err =
        tt_tcp_socket_connect(&hub->socket, member->numeric, run->peers[rank].public_key, (uint32_t)rank);
    if (!err && tt_tcp_socket_send_parcel(&hub->socket, &member->route, &parcel) != TUTTI_SENDING_DONE)
        err = tt_fail(TUTTI_ERR_IO, "rank %d at %s cannot be called", rank, hub_member_address(member));
    tt_bytes_fini(&parcel);
    member->state = TUTTI_TCP_CALLING;
    return err;
}

static enum tutti_err tcp_hub_init(struct tt_tcp_hub *hub, const struct tt_tcp_run *run,
                                   const struct tt_curve_keys *own)
{
    hub->ranks = run->ranks;
    hub->stop_after = UINT64_MAX;
    hub->start = tt_wall_clock_now();
    hub->members = calloc((size_t)run->ranks, sizeof *hub->members);
    if (!hub->members)
        return tt_fail_memory();
    if (run->has_keys != (own != NULL))
        return tt_fail(TUTTI_ERR_ARGUMENT, "either all members of a run have keys, or none");
    TRY(tt_tcp_socket_open(&hub->socket, NULL, NULL, own, run->lost_after, NULL));
    tt_tcp_frame_fill_hello(&hub->hello, run->id, TUTTI_FRAME_HUB, (uint32_t)run->ranks);
    for (int i = 0; i < run->ranks; i++)
        TRY(tcp_hub_connect_member(hub, run, i));
    return TUTTI_OK;
}

enum tutti_err tt_tcp_hub_open(struct tt_tcp_hub **out, const struct tt_tcp_run *run, const struct tt_curve_keys *own)
{
    struct tt_tcp_hub *hub = calloc(1, sizeof *hub);
    *out = NULL;
    if (!hub)
        return tt_fail_memory();
    enum tutti_err err = tcp_hub_init(hub, run, own);
    if (err) {
        tt_tcp_hub_close(hub);
        return err;
    }
    *out = hub;
    return TUTTI_OK;
}

void *tt_tcp_hub_socket(const struct tt_tcp_hub *hub)
{
    return hub->socket.socket;
}

const char *tt_tcp_hub_pending_bytes(const struct tt_tcp_hub *hub, int rank, size_t *count)
{
    const struct hub_member *member = &hub->members[rank];
    *count = member->end - member->begin;
    return *count > 0 ? member->bytes + member->begin : NULL;
}

void tt_tcp_hub_consume(struct tt_tcp_hub *hub, int rank, size_t count)
{
    struct hub_member *member = &hub->members[rank];
    member->begin += count;
    if (member->begin == member->end)
        member->begin = member->end = 0;
    tcp_hub_grant_credit(hub, member);
}

enum tutti_err tt_tcp_hub_state(const struct tt_tcp_hub *hub, int rank)
{
    const struct hub_member *member = &hub->members[rank];
    return member->err ? tt_fail(member->err, "%s", member->message ? member->message : "out of memory") : TUTTI_OK;
}

bool tt_tcp_hub_is_connected(const struct tt_tcp_hub *hub, int rank)
{
    return hub->members[rank].state == TUTTI_TCP_UP;
}

bool tt_tcp_hub_has_left(const struct tt_tcp_hub *hub, int rank)
{
    return hub->members[rank].left;
}

void tt_tcp_hub_stop(struct tt_tcp_hub *hub, uint64_t step)
{
    if (step >= hub->stop_after)
        return;
    hub->stop_after = step;
    for (int i = 0; i < hub->ranks; i++)
        tcp_hub_send_to(hub, &hub->members[i], TUTTI_FRAME_STOP, &step);
}

void tt_tcp_hub_close(struct tt_tcp_hub *hub)
{
    if (!hub)
        return;
    tt_tcp_socket_close(&hub->socket, LINGER);
    for (int i = 0; hub->members && i < hub->ranks; i++) {
        free(hub->members[i].bytes);
        free(hub->members[i].message);
    }
    free(hub->members);
    free(hub);
}
