/* SPDX-License-Identifier: MIT */
/* The tcp fabric: a rank from its port to its end. */
#include "fabric/tcp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "fabric/address.h"
#include "fabric/tcp_rank.h"

/* Seconds: for peers to say goodbye, for the hub; for ZeroMQ to get rid of what was sent, and if nobody waits for it. */
static const double GOODBYE = 1, LAST_GOODBYE = 5, LINGER = 1, SHORT_LINGER = 0.1;

enum tutti_err tutti_tcp_listen(struct tutti_tcp **out, const char *address, const struct tutti_keys *own,
                                double lost_after, const struct tutti_log *log)
{
    struct tutti_tcp *tcp = aligned_alloc(_Alignof(struct tutti_tcp), sizeof *tcp);
    *out = NULL;
    if (!tcp)
        return tutti_fail_memory();
    *tcp = (struct tutti_tcp){.log = log, .linger = SHORT_LINGER};
    enum tutti_err err = tutti_tcp_socket_open(&tcp->socket, address, own, lost_after, log);
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
        struct tutti_tcp_link *link = &tcp->links[i];
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
    struct tutti_tcp *tcp = tutti_tcp_of(fabric);
    if (tcp->channel_count == tcp->channel_room) {
        uint32_t room = 2 * tcp->channel_room + 8;
        const struct tutti_channel **channels = realloc(tcp->channels, room * sizeof *channels);
        if (!channels)
            return tutti_fail_memory();
        tcp->channels = channels;
        tcp->channel_room = room;
    }
    tcp->channels[tcp->channel_count++] = channel;
    for (uint32_t i = 0; i < channel->link_count; i++)
        TRY(tutti_tcp_call(tcp, channel->links[i].peer));
    for (uint32_t i = 0; i < channel->link_count; i++)
        TRY(tutti_tcp_wait_up(tcp, &tcp->links[channel->links[i].peer]));
    return TUTTI_OK;
}

static enum tutti_err send_cargo(struct tutti_tcp *tcp, uint32_t channel, const struct tutti_link *link,
                                 const char *base)
{
    zmq_msg_t message;
    size_t size = tutti_cargo_size(&link->out, base);
    if (size > TUTTI_TCP_GREATEST - TUTTI_WIRE_HEAD)
        return tutti_fail(TUTTI_ERR_LIMIT, "what rank %d is to read has %zu bytes: at most %d go over the network",
                          link->peer, size, TUTTI_TCP_GREATEST - TUTTI_WIRE_HEAD);
    if (zmq_msg_init_size(&message, TUTTI_WIRE_HEAD + size) != 0)
        return tutti_fail_memory();
    tutti_cargo_pack(&link->out, base, (char *)zmq_msg_data(&message) + TUTTI_WIRE_HEAD);
    return tutti_tcp_send(tcp, &tcp->links[link->peer], TUTTI_WIRE_DATA, channel, &message);
}

static enum tutti_err take_cargo(struct tutti_tcp *tcp, uint32_t channel, const struct tutti_link *link, char *base)
{
    zmq_msg_t message;
    struct tutti_tcp_link *from = &tcp->links[link->peer];
    TRY(tutti_tcp_take(tcp, from, TUTTI_WIRE_DATA, channel, &message));
    const char *data = zmq_msg_data(&message);
    enum tutti_err err =
        tutti_cargo_unpack(&link->in, base, data + TUTTI_WIRE_HEAD, zmq_msg_size(&message) - TUTTI_WIRE_HEAD);
    zmq_msg_close(&message);
    return err ? tutti_fail_context(err, "%s", tutti_tcp_who(tcp, from).text) : TUTTI_OK;
}

static enum tutti_err exchange(struct tutti_fabric *fabric, uint32_t channel, char *base)
{
    struct tutti_tcp *tcp = tutti_tcp_of(fabric);
    const struct tutti_channel *links = tcp->channels[channel];
    fabric->exchanges++;
    for (uint32_t i = 0; i < links->link_count; i++)
        if (!tutti_cargo_is_empty(&links->links[i].out))
            TRY(send_cargo(tcp, channel, &links->links[i], base));
    for (uint32_t i = 0; i < links->link_count; i++)
        if (!tutti_cargo_is_empty(&links->links[i].in))
            TRY(take_cargo(tcp, channel, &links->links[i], base));
    return tutti_tcp_glance(tcp);
}

static void stop(struct tutti_fabric *fabric, uint64_t step)
{
    tutti_tcp_spread_stop(tutti_tcp_of(fabric), step);
}

/* Others may still want what was sent last: ZeroMQ's thread has to live until it is theirs. Whoever says goodbye has it. */
static void say_goodbye(struct tutti_tcp *tcp)
{
    const struct tutti_wire_head bye = {.kind = TUTTI_WIRE_BYE};
    struct tutti_tcp_link *hub = tutti_tcp_hub_link(tcp);
    for (struct tutti_tcp_link *link = tcp->links; link <= hub; link++)
        if (link->state == TUTTI_TCP_UP && !link->gone &&
            tutti_tcp_socket_tell(&tcp->socket, &link->route, &bye, NULL) != TUTTI_SENDING_DONE)
            link->gone = true;
    double start = tutti_clock_now();
    for (struct tutti_tcp_link *link = hub; link >= tcp->links; link--) {
        tcp->awaited = link;
        double patience = link == hub ? LAST_GOODBYE : GOODBYE;
        while (link->state == TUTTI_TCP_UP && !link->gone && !link->left && tutti_clock_now() - start < patience &&
               (link == hub || !tutti_fabric_is_stopped(&tcp->fabric)))
            if (tutti_tcp_pump(tcp, true) != TUTTI_OK)
                return;
    }
}

static void close_tcp(struct tutti_fabric *fabric)
{
    if (!fabric)
        return;
    struct tutti_tcp *tcp = tutti_tcp_of(fabric);
    if (tutti_tcp_drain(tcp) == TUTTI_OK) {
        say_goodbye(tcp);
        tcp->linger = tutti_fabric_is_stopped(fabric) ? SHORT_LINGER : LINGER;
    }
    tutti_tcp_free(tcp);
}

static const struct tutti_fabric_kind kind = {
    .name = "tcp",
    .open = open_channel,
    .exchange = exchange,
    .reduce = tutti_tcp_reduce,
    .report = tutti_tcp_report,
    .stop = stop,
    .close = close_tcp,
};

static enum tutti_err set_up(struct tutti_tcp *tcp, int rank, const struct tutti_tcp_run *run,
                             struct tutti_whereabouts *where)
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
    tutti_wire_introduce(&tcp->hello, run->id, (uint32_t)rank, (uint32_t)run->ranks);
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
                           struct tutti_whereabouts *where)
{
    if (run->has_keys != tcp->socket.has_keys)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "either all members of a run have keys, or none");
    TRY(set_up(tcp, rank, run, where));
    TRY(look_up(tcp));
    TRY(let_in(tcp, run));
    const struct tutti_tcp_link *hub = tutti_tcp_hub_link(tcp);
    double start = tutti_clock_now();
    while (hub->state != TUTTI_TCP_UP) {
        if (tutti_clock_now() - start > TUTTI_TCP_PATIENCE)
            return tutti_fail(TUTTI_ERR_LOST, "the conductor has not come within %d s", TUTTI_TCP_PATIENCE);
        TRY(tutti_tcp_pump(tcp, true));
    }
    return TUTTI_OK;
}

enum tutti_err tutti_tcp_connect(struct tutti_fabric **out, struct tutti_tcp *tcp, int rank,
                                 const struct tutti_tcp_run *run, struct tutti_whereabouts *where)
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
