/* SPDX-License-Identifier: MIT */
#include "conduct/node/messages.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <tutti/run.h>
#include <zmq.h>

#include "base/number.h"
#include "base/str.h"

static const uint64_t ORDER = 0x0102030405060708; /* reads differently in another byte order */

/* ---- parcels ---- */

void tutti_node_begin(struct tutti_parcel *parcel, enum tutti_node_message kind)
{
    tutti_parcel_reset(parcel);
    tutti_parcel_put_u32(parcel, kind);
}

void tutti_node_put_content(struct tutti_parcel *parcel, const struct tutti_content *content)
{
    tutti_parcel_put_bytes(parcel, content->hash, sizeof content->hash);
    tutti_parcel_put_u64(parcel, content->size);
}

void tutti_node_take_content(struct tutti_unparcel *in, struct tutti_content *content)
{
    const void *hash = tutti_unparcel_bytes(in, sizeof content->hash);
    *content = (struct tutti_content){0};
    if (hash)
        memcpy(content->hash, hash, sizeof content->hash);
    content->size = tutti_unparcel_u64(in);
}

void tutti_node_write_hello(struct tutti_parcel *parcel)
{
    tutti_node_begin(parcel, TUTTI_NODE_HELLO);
    tutti_parcel_put_text(parcel, "tutti");
    tutti_parcel_put_u32(parcel, TUTTI_NODE_PROTOCOL);
    tutti_parcel_put_text(parcel, tutti_version());
    tutti_parcel_put_bytes(parcel, &ORDER, sizeof ORDER);
}

enum tutti_err tutti_node_read_hello(struct tutti_unparcel *in)
{
    const char *magic = tutti_unparcel_text(in);
    uint32_t protocol = tutti_unparcel_u32(in);
    const char *version = tutti_unparcel_text(in);
    const void *order = tutti_unparcel_bytes(in, sizeof ORDER);
    if (!magic || strcmp(magic, "tutti") != 0)
        return tutti_fail(TUTTI_ERR_FORMAT, "this is a node of Tutti, and what came is no greeting that it knows");
    if (protocol != TUTTI_NODE_PROTOCOL || in->bad || !version || strcmp(version, tutti_version()) != 0)
        return tutti_fail(TUTTI_ERR_FORMAT,
                          "the node runs Tutti %s (protocol %d), and this is Tutti %s (protocol %u); install the same "
                          "version on both",
                          tutti_version(), TUTTI_NODE_PROTOCOL, version ? tutti_str_show(version).text : "?", protocol);
    if (memcmp(order, &ORDER, sizeof ORDER) != 0)
        return tutti_fail(TUTTI_ERR_FORMAT, "the node's machine has another byte order than this one; they cannot work "
                                            "together");
    return TUTTI_OK;
}

bool tutti_node_read_ready(struct tutti_unparcel *in, int ranks, struct tutti_node_ready *ready)
{
    ready->rank = tutti_unparcel_u32(in);
    uint32_t port = tutti_unparcel_u32(in);
    const void *key = tutti_unparcel_bytes(in, sizeof ready->key);
    ready->is_confined = tutti_unparcel_u8(in) != 0;
    if (in->bad || ready->rank >= (uint32_t)ranks || port == 0 || port > 65535)
        return false;
    ready->port = (int)port;
    memcpy(ready->key, key, sizeof ready->key);
    return true;
}

bool tutti_node_read_lost(struct tutti_unparcel *in, int ranks, struct tutti_node_lost *lost)
{
    lost->rank = tutti_unparcel_u32(in);
    lost->how = tutti_unparcel_u8(in);
    lost->detail = tutti_unparcel_u32(in);
    lost->component = tutti_unparcel_u32(in);
    lost->t = tutti_unparcel_double(in);
    lost->step = tutti_unparcel_u64(in);
    uint32_t err = tutti_unparcel_u32(in);
    lost->message = tutti_unparcel_text(in);
    if (in->bad || lost->rank >= (uint32_t)ranks || err == TUTTI_OK || err > TUTTI_ERR_LOST)
        return false;
    lost->err = (enum tutti_err)err;
    return true;
}

static void read_peer(struct tutti_unparcel *in, struct tutti_tcp_peer *peer)
{
    const char *endpoint = tutti_unparcel_text(in), *host = tutti_unparcel_text(in);
    const void *key = tutti_unparcel_bytes(in, sizeof peer->public_key);
    if (in->bad || !endpoint || !host || strlen(endpoint) >= sizeof peer->endpoint ||
        strlen(host) >= sizeof peer->host) {
        in->bad = true;
        return;
    }
    snprintf(peer->endpoint, sizeof peer->endpoint, "%s", endpoint);
    snprintf(peer->host, sizeof peer->host, "%s", host);
    memcpy(peer->public_key, key, sizeof peer->public_key);
}

bool tutti_node_read_denied(struct tutti_unparcel *in, int ranks, struct tutti_node_denied *denied)
{
    *denied = (struct tutti_node_denied){.rank = tutti_unparcel_u32(in)};
    denied->denial.component = tutti_unparcel_u32(in);
    const char *what = tutti_unparcel_text(in), *allow = tutti_unparcel_text(in);
    if (in->bad || denied->rank >= (uint32_t)ranks || !what || !allow)
        return false;
    snprintf(denied->denial.what, sizeof denied->denial.what, "%s", what);
    snprintf(denied->denial.allow, sizeof denied->denial.allow, "%s", allow);
    return true;
}

bool tutti_node_read_peers(struct tutti_unparcel *in, int ranks, bool *meets_all, uint8_t hub_key[TUTTI_KEY_SIZE],
                           struct tutti_tcp_peer *peers)
{
    *meets_all = tutti_unparcel_u8(in) != 0;
    const void *key = tutti_unparcel_bytes(in, TUTTI_KEY_SIZE);
    if (key)
        memcpy(hub_key, key, TUTTI_KEY_SIZE);
    for (int i = 0; i < ranks; i++)
        read_peer(in, &peers[i]);
    return !in->bad && in->at == in->end;
}

/* ---- sockets ---- */

/* A signal does not part a message. */
static bool send_part(void *socket, const void *bytes, size_t size, int flags)
{
    int sent;
    do
        sent = zmq_send(socket, bytes, size, flags | ZMQ_DONTWAIT);
    while (sent < 0 && zmq_errno() == EINTR);
    return sent >= 0;
}

bool tutti_node_send(void *socket, const void *id, size_t id_size, const struct tutti_parcel *parcel)
{
    if (parcel->failed || parcel->size > TUTTI_NODE_LARGEST)
        return false;
    if (id && !send_part(socket, id, id_size, ZMQ_SNDMORE))
        return false;
    return send_part(socket, parcel->bytes, parcel->size, 0);
}

enum tutti_err tutti_node_set_up(void *socket, const char *endpoint)
{
    const struct {
        int option, value;
    } settings[] = {
        {ZMQ_LINGER, 0},
        {ZMQ_IPV6, strchr(endpoint, '[') != NULL},
        {ZMQ_SNDHWM, 0},
        {ZMQ_RCVHWM, 2 * TUTTI_NODE_AHEAD},
        {ZMQ_HEARTBEAT_IVL, TUTTI_NODE_BEAT_MS},
        {ZMQ_HEARTBEAT_TIMEOUT, TUTTI_NODE_LOST_MS},
        {ZMQ_HEARTBEAT_TTL, TUTTI_NODE_LOST_MS},
        {ZMQ_HANDSHAKE_IVL, TUTTI_NODE_LOST_MS},
        {ZMQ_RECONNECT_IVL, 100},
    };
    int64_t largest = TUTTI_NODE_LARGEST;
    int result = zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &largest, sizeof largest);
    for (size_t i = 0; result == 0 && i < sizeof settings / sizeof *settings; i++)
        result = zmq_setsockopt(socket, settings[i].option, &settings[i].value, sizeof settings[i].value);
    return result == 0
               ? TUTTI_OK
               : tutti_fail(TUTTI_ERR_UNSUPPORTED, "ZeroMQ does not take a setting: %s", zmq_strerror(zmq_errno()));
}
