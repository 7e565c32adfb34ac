/* SPDX-License-Identifier: MIT */
#include "fabric/tcp_hub.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "fabric/address.h"
#include "fabric/report.h"
#include "fabric/tcp_socket.h"

static const double LOOK_EVERY = 0.1, LINGER = 0.1; /* seconds */
enum { AT_ONCE = 1000, UNASKED = 64 << 20 };        /* messages of one wait; bytes that a rank may send without leave */

struct member {
    enum tutti_tcp_link_state state;
    bool left;
    enum tutti_err err; /* LOST or FORMAT */
    char *message;      /* ... and why */
    struct tutti_route route;
    char endpoint[TUTTI_ADDRESS_SIZE], numeric[TUTTI_ADDRESS_SIZE];
    char *bytes;
    size_t begin, end, room;
    uint64_t received, granted;
};

struct tutti_tcp_hub {
    struct tutti_tcp_socket socket;
    struct tutti_frame_hello hello;
    struct member *members;
    int ranks;
    uint64_t stop_after;
    double start, next_look;
};

static const char *address_of(const struct member *member)
{
    return member->endpoint + strlen("tcp://");
}

/* Keeps the thread's message: state is asked later. Only the first counts. */
static void give_up(struct member *member, enum tutti_err err)
{
    if (member->err || member->left)
        return;
    member->err = err;
    member->message = strdup(tutti_err_message());
}

static void lose(struct tutti_tcp_hub *hub, struct member *member, const char *why)
{
    give_up(member, tutti_fail(TUTTI_ERR_LOST, "rank %d at %s is lost: %s", (int)(member - hub->members),
                               address_of(member), why));
}

static void tell(struct tutti_tcp_hub *hub, struct member *member, enum tutti_frame_kind kind, const uint64_t *number)
{
    struct tutti_frame_head head = {.kind = kind};
    if (member->state != TUTTI_TCP_UP || member->err)
        return;
    enum tutti_sending sending = tutti_tcp_socket_tell(&hub->socket, &member->route, &head, number);
    if (sending == TUTTI_SENDING_MEMORY)
        give_up(member, tutti_fail_memory());
    else if (sending == TUTTI_SENDING_GONE && !member->left)
        lose(hub, member, tutti_tcp_event_text(TUTTI_TCP_DISCONNECTED));
}

/* A rank may send so much that half a megabyte of it, or one whole frame, waits here. */
static void grant(struct tutti_tcp_hub *hub, struct member *member)
{
    enum tutti_report_kind kind;
    size_t size = 0, waiting = member->end - member->begin;
    bool whole;
    uint64_t leave = TUTTI_TCP_LEAVE;
    if (waiting > 0 && tutti_report_find(member->bytes + member->begin, waiting, &kind, &size, &whole) == TUTTI_OK &&
        !whole && size + TUTTI_REPORT_HEADER > leave)
        leave = size + TUTTI_REPORT_HEADER;
    uint64_t granted = member->received - waiting + leave;
    if (granted >= member->granted + TUTTI_TCP_BATCH) {
        member->granted = granted;
        tell(hub, member, TUTTI_FRAME_GRANT, &granted);
    }
}

static enum tutti_err keep(struct tutti_tcp_hub *hub, struct member *member, const char *bytes, size_t size)
{
    if (member->received + size > member->granted + UNASKED) {
        give_up(member, tutti_fail(TUTTI_ERR_FORMAT, "rank %d at %s sent more than it was given leave to",
                                   (int)(member - hub->members), address_of(member)));
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
            return tutti_fail_memory();
        member->bytes = larger;
        member->room = room;
    }
    if (size > 0)
        memcpy(member->bytes + member->end, bytes, size);
    member->end += size;
    member->received += size;
    grant(hub, member);
    return TUTTI_OK;
}

static void meet(struct tutti_tcp_hub *hub, struct member *member, const void *data, size_t size)
{
    struct tutti_frame_hello hello;
    enum tutti_frame_reason reason;
    char version[TUTTI_FRAME_VERSION], who[TUTTI_ADDRESS_SIZE + 32];
    snprintf(who, sizeof who, "rank %d at %s", (int)(member - hub->members), address_of(member));
    if (tutti_frame_get_refusal(data, size, &reason, version)) {
        give_up(member, tutti_frame_disagree(reason, who, version));
        return;
    }
    bool is_hello = tutti_frame_get_hello(data, size, &hello);
    reason = is_hello ? tutti_frame_compare(&hello, &hub->hello) : TUTTI_FRAME_FINE;
    if (!is_hello || reason != TUTTI_FRAME_FINE || hello.rank != (uint32_t)(member - hub->members)) {
        give_up(member, tutti_frame_disagree(reason, who, is_hello ? hello.version : ""));
        return;
    }
    member->state = TUTTI_TCP_UP;
    if (hub->stop_after < UINT64_MAX)
        tell(hub, member, TUTTI_FRAME_STOP, &hub->stop_after);
}

static enum tutti_err obey(struct tutti_tcp_hub *hub, struct member *member, const char *data, size_t size)
{
    struct tutti_frame_head head;
    bool good = tutti_frame_get_head(data, size, &head);
    if (member->err || member->left)
        return TUTTI_OK;
    if (member->state != TUTTI_TCP_UP) {
        meet(hub, member, data, size);
        return TUTTI_OK;
    }
    if (good && head.kind == TUTTI_FRAME_REPORT)
        return keep(hub, member, data + TUTTI_FRAME_HEAD, size - TUTTI_FRAME_HEAD);
    if (good && head.kind == TUTTI_FRAME_STOP)
        tutti_tcp_hub_stop(hub, tutti_frame_get_u64(data));
    else if (good && head.kind == TUTTI_FRAME_BYE) {
        tell(hub, member, TUTTI_FRAME_BYE, NULL);
        member->left = true;
    } else if (!good || head.kind != TUTTI_FRAME_PING) {
        char who[TUTTI_ADDRESS_SIZE + 32];
        snprintf(who, sizeof who, "rank %d at %s", (int)(member - hub->members), address_of(member));
        give_up(member, tutti_frame_disagree(TUTTI_FRAME_FINE, who, ""));
    }
    return TUTTI_OK;
}

static enum tutti_err receive(struct tutti_tcp_hub *hub, bool wait, bool *got)
{
    struct tutti_route route;
    zmq_msg_t message;
    uint32_t rank;
    TRY(tutti_tcp_socket_receive(&hub->socket, wait, &route, &message, got));
    if (!*got)
        return TUTTI_OK;
    enum tutti_err err = TUTTI_OK;
    if (tutti_tcp_socket_is_route(&hub->socket, &route, &rank) && rank < (uint32_t)hub->ranks)
        err = obey(hub, &hub->members[rank], zmq_msg_data(&message), zmq_msg_size(&message));
    zmq_msg_close(&message);
    return err;
}

/* What was on its way when a connection ended has been received before: no rank is lost in the middle of a message. */
static enum tutti_err look_around(struct tutti_tcp_hub *hub)
{
    enum tutti_tcp_event event;
    char numeric[TUTTI_ADDRESS_SIZE];
    while (tutti_tcp_socket_event(&hub->socket, &event, numeric))
        for (int i = 0; i < hub->ranks; i++) {
            struct member *member = &hub->members[i];
            if (strcmp(member->numeric, numeric) != 0)
                continue;
            if (event == TUTTI_TCP_CONNECTED)
                member->state = member->state == TUTTI_TCP_CALLING ? TUTTI_TCP_REACHED : member->state;
            else if (event != TUTTI_TCP_REFUSED || member->state == TUTTI_TCP_CALLING) {
                for (bool got = true; got;)
                    TRY(receive(hub, false, &got));
                lose(hub, member, tutti_tcp_event_text(event));
            }
        }
    double now = tutti_clock_now();
    for (int i = 0; now - hub->start > TUTTI_TCP_PATIENCE && i < hub->ranks; i++)
        if (hub->members[i].state == TUTTI_TCP_CALLING)
            lose(hub, &hub->members[i], tutti_tcp_event_text(TUTTI_TCP_CONNECTED));
    hub->next_look = now + LOOK_EVERY;
    return TUTTI_OK;
}

enum tutti_err tutti_tcp_hub_wait(struct tutti_tcp_hub *hub, double seconds)
{
    double end = tutti_clock_now() + seconds;
    bool got = false;
    do {
        TRY(receive(hub, seconds > 0, &got));
        if (tutti_clock_now() >= hub->next_look)
            TRY(look_around(hub));
    } while (!got && tutti_clock_now() < end);
    for (int i = 0; got && i < AT_ONCE; i++)
        TRY(receive(hub, false, &got));
    return TUTTI_OK;
}

static enum tutti_err call(struct tutti_tcp_hub *hub, const struct tutti_tcp_run *run, int rank)
{
    struct member *member = &hub->members[rank];
    bool loopback;
    memcpy(member->endpoint, run->peers[rank].endpoint, sizeof member->endpoint);
    TRY(tutti_address_resolve(member->endpoint, member->numeric, &loopback));
    if (!loopback && !run->has_keys)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "rank %d at %s is on another machine: nothing goes there without keys",
                          rank, address_of(member));
    struct tutti_parcel parcel = {0};
    tutti_frame_put_hello(&parcel, &hub->hello);
    member->route = tutti_tcp_socket_route(&hub->socket, (uint32_t)rank);
    member->granted = TUTTI_TCP_LEAVE;
    enum tutti_err err =
        tutti_tcp_socket_connect(&hub->socket, member->numeric, run->peers[rank].public_key, (uint32_t)rank);
    if (!err && tutti_tcp_socket_post(&hub->socket, &member->route, &parcel) != TUTTI_SENDING_DONE)
        err = tutti_fail(TUTTI_ERR_IO, "rank %d at %s cannot be called", rank, address_of(member));
    tutti_parcel_fini(&parcel);
    member->state = TUTTI_TCP_CALLING;
    return err;
}

static enum tutti_err set_up(struct tutti_tcp_hub *hub, const struct tutti_tcp_run *run, const struct tutti_keys *own)
{
    hub->ranks = run->ranks;
    hub->stop_after = UINT64_MAX;
    hub->start = tutti_clock_now();
    hub->members = calloc((size_t)run->ranks, sizeof *hub->members);
    if (!hub->members)
        return tutti_fail_memory();
    if (run->has_keys != (own != NULL))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "either all members of a run have keys, or none");
    TRY(tutti_tcp_socket_open(&hub->socket, NULL, NULL, own, run->lost_after, NULL));
    tutti_frame_introduce(&hub->hello, run->id, TUTTI_FRAME_HUB, (uint32_t)run->ranks);
    for (int i = 0; i < run->ranks; i++)
        TRY(call(hub, run, i));
    return TUTTI_OK;
}

enum tutti_err tutti_tcp_hub_open(struct tutti_tcp_hub **out, const struct tutti_tcp_run *run,
                                  const struct tutti_keys *own)
{
    struct tutti_tcp_hub *hub = calloc(1, sizeof *hub);
    *out = NULL;
    if (!hub)
        return tutti_fail_memory();
    enum tutti_err err = set_up(hub, run, own);
    if (err) {
        tutti_tcp_hub_close(hub);
        return err;
    }
    *out = hub;
    return TUTTI_OK;
}

void *tutti_tcp_hub_socket(const struct tutti_tcp_hub *hub)
{
    return hub->socket.socket;
}

const char *tutti_tcp_hub_bytes(const struct tutti_tcp_hub *hub, int rank, size_t *count)
{
    const struct member *member = &hub->members[rank];
    *count = member->end - member->begin;
    return *count > 0 ? member->bytes + member->begin : NULL;
}

void tutti_tcp_hub_take(struct tutti_tcp_hub *hub, int rank, size_t count)
{
    struct member *member = &hub->members[rank];
    member->begin += count;
    if (member->begin == member->end)
        member->begin = member->end = 0;
    grant(hub, member);
}

enum tutti_err tutti_tcp_hub_state(const struct tutti_tcp_hub *hub, int rank)
{
    const struct member *member = &hub->members[rank];
    return member->err ? tutti_fail(member->err, "%s", member->message ? member->message : "out of memory") : TUTTI_OK;
}

bool tutti_tcp_hub_is_here(const struct tutti_tcp_hub *hub, int rank)
{
    return hub->members[rank].state == TUTTI_TCP_UP;
}

bool tutti_tcp_hub_has_left(const struct tutti_tcp_hub *hub, int rank)
{
    return hub->members[rank].left;
}

void tutti_tcp_hub_stop(struct tutti_tcp_hub *hub, uint64_t step)
{
    if (step >= hub->stop_after)
        return;
    hub->stop_after = step;
    for (int i = 0; i < hub->ranks; i++)
        tell(hub, &hub->members[i], TUTTI_FRAME_STOP, &step);
}

void tutti_tcp_hub_close(struct tutti_tcp_hub *hub)
{
    if (!hub)
        return;
    tutti_tcp_socket_close(&hub->socket, LINGER);
    for (int i = 0; hub->members && i < hub->ranks; i++) {
        free(hub->members[i].bytes);
        free(hub->members[i].message);
    }
    free(hub->members);
    free(hub);
}
