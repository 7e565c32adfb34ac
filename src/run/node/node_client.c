/* SPDX-License-Identifier: MIT */
#include "run/node/node_client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/run.h>
#include <unistd.h>

#include "base/text.h"
#include "sim/ranks/tcp_address.h"
#include "sim/ranks/curve_auth.h"

enum {
    EVENTS = ZMQ_EVENT_CONNECTED | ZMQ_EVENT_CLOSED | ZMQ_EVENT_CONNECT_RETRIED | ZMQ_EVENT_DISCONNECTED |
             ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
             ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL
};

/* Bytes of an offer in a message: the length of its name, and its content. */
enum { LEAST_OFFER = sizeof(uint64_t) + TUTTI_CONTENT_SIZE + sizeof(uint64_t) };
/* Descriptions are large at times; no run needs more. */
static const uint64_t LARGEST_STAND_IN = (uint64_t)1 << 32;

static enum tutti_err node_client_connect_to(struct tt_node_client *client, void *context,
                                             const struct tt_curve_keys *keys)
{
    char endpoint[TUTTI_ADDRESS_SIZE], numeric[TUTTI_ADDRESS_SIZE], monitor[64];
    bool loopback;
    tt_address_format(&client->entry->address, "tcp://", endpoint, sizeof endpoint);
    TRY(tt_tcp_address_resolve(endpoint, numeric, &loopback));
    TRY(tt_node_protocol_configure_socket(client->socket, numeric));
    TRY(tt_curve_auth_identify_socket(client->socket, keys, client->entry->key));
    snprintf(monitor, sizeof monitor, "inproc://monitor-%p", (void *)client);
    client->monitor = zmq_socket(context, ZMQ_PAIR);
    if (!client->monitor || zmq_socket_monitor(client->socket, monitor, EVENTS) != 0 ||
        zmq_connect(client->monitor, monitor) != 0 || zmq_connect(client->socket, numeric) != 0)
        return tt_fail(TUTTI_ERR_LOST, "cannot connect to the node at %s: %s", client->name, zmq_strerror(zmq_errno()));
    return TUTTI_OK;
}

enum tutti_err tt_node_client_open(struct tt_node_client *client, void *context, const struct tt_nodes_entry *entry,
                                   const struct tt_curve_keys *keys)
{
    *client = (struct tt_node_client){.entry = entry, .fd = -1};
    tt_address_format(&entry->address, "", client->name, sizeof client->name);
    client->socket = zmq_socket(context, ZMQ_DEALER);
    return client->socket ? node_client_connect_to(client, context, keys)
                          : tt_fail(TUTTI_ERR_IO, "ZeroMQ cannot begin: %s", zmq_strerror(zmq_errno()));
}

void tt_node_client_close(struct tt_node_client *client)
{
    int none = 0;
    if (client->socket)
        zmq_close(client->socket);
    if (client->monitor) {
        zmq_setsockopt(client->monitor, ZMQ_LINGER, &none, sizeof none);
        zmq_close(client->monitor);
    }
    if (client->fd >= 0)
        close(client->fd);
    for (uint32_t i = 0; i < client->offer_count; i++) {
        free(client->offers[i].name);
        free(client->offers[i].path);
    }
    free(client->offers);
    free(client->lacks);
}

/* ---- what is the matter ---- */

static enum tutti_err fail_node_keys(const struct tt_node_client *client, bool refused)
{
    if (!client->entry->has_key)
        return tt_fail(
            TUTTI_ERR_LOST,
            "what is at %s does not answer as a node of this user does: it is another user's, or was started with "
            "a key, or is no node of Tutti %s. A node without a key works for the user who started it only; if "
            "it has one, name its public key in a file of nodes (--nodes FILE) and your own secret key (--key "
            "FILE), which its owner has to --allow",
            client->name, tutti_version());
    if (refused)
        return tt_fail(TUTTI_ERR_LOST,
                       "the node at %s does not let this key in; its owner has to start it with --allow and the "
                       "public key that belongs to --key",
                       client->name);
    return tt_fail(TUTTI_ERR_LOST,
                   "the node at %s has another key than the list of nodes says, or was started without a key, or "
                   "something else is at that port; get its public key again",
                   client->name);
}

static enum tutti_err fail_node_gone(struct tt_node_client *client)
{
    client->lost = true;
    return tt_fail(TUTTI_ERR_LOST,
                   "the connection to the node at %s is lost: its program or its machine has ended, or the network is "
                   "cut",
                   client->name);
}

enum tutti_err tt_node_client_fail_late(const struct tt_node_client *client)
{
    const char *why = client->error ? strerror(client->error) : "no answer";
    if (!client->connected)
        return tt_fail(TUTTI_ERR_LOST,
                       "the node at %s cannot be reached (%s); is `tutti node --listen` running there, is the address "
                       "right, and does a firewall let port %d through?",
                       client->name, why, client->entry->address.port);
    if (!client->met)
        return fail_node_keys(client, false);
    return tt_fail(TUTTI_ERR_LOST,
                   "what is at %s does not answer as a node of Tutti %s does; is it one, of the same "
                   "version?",
                   client->name, tutti_version());
}

struct __attribute__((packed)) node_client_event {
    uint16_t event;
    int32_t value;
};

static enum tutti_err node_client_handle_event(struct tt_node_client *client, const struct node_client_event *news)
{
    switch (news->event) {
    case ZMQ_EVENT_CONNECTED: client->connected = true; break;
    case ZMQ_EVENT_HANDSHAKE_SUCCEEDED: client->met = true; break;
    case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH: return fail_node_keys(client, true);
    case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
        if (news->value == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH)
            return fail_node_keys(client, false);
        client->failures++;
        break;
    case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL: client->failures++; break;
    case ZMQ_EVENT_DISCONNECTED:
        if (client->met)
            return fail_node_gone(client);
        client->failures++;
        break;
    default: break;
    }
    /* It hung up while keys were shown; tried again, in case it was only being restarted. */
    return client->failures >= 3 && client->connected ? tt_node_client_fail_late(client) : TUTTI_OK;
}

enum tutti_err tt_node_client_check(struct tt_node_client *client)
{
    struct node_client_event news;
    char rest[8];
    while (!client->lost && zmq_recv(client->monitor, &news, sizeof news, ZMQ_DONTWAIT) == (int)sizeof news) {
        (void)!zmq_recv(client->monitor, rest, sizeof rest, ZMQ_DONTWAIT); /* the address */
        TRY(node_client_handle_event(client, &news));
    }
    return TUTTI_OK;
}

/* ---- messages ---- */

enum tutti_err tt_node_client_fail_message(const struct tt_node_client *client)
{
    return tt_fail(TUTTI_ERR_FORMAT, "the node at %s says what no node of Tutti %s says", client->name,
                   tutti_version());
}

enum tutti_err tt_node_client_send(struct tt_node_client *client, const struct tt_byte_writer *parcel)
{
    if (parcel->failed)
        return tt_fail_memory();
    if (parcel->size > TUTTI_NODE_LARGEST)
        return tt_fail(TUTTI_ERR_LIMIT, "the run's options and placement are too large for a node");
    return tt_node_protocol_send(client->socket, NULL, 0, parcel) ? TUTTI_OK : fail_node_gone(client);
}

static enum tutti_err fail_node_refused(const struct tt_node_client *client, struct tt_byte_reader *in)
{
    uint32_t err = tt_bytes_get_u32(in);
    const char *sentence = tt_bytes_get_text(in);
    if (in->bad || err == TUTTI_OK || err > TUTTI_ERR_LOST)
        return tt_node_client_fail_message(client);
    char *copy = tt_text_copy(sentence ? sentence : "");
    if (!copy)
        return tt_fail_memory();
    tt_text_make_printable(copy);
    enum tutti_err failed = tt_fail((enum tutti_err)err, "the node at %s refuses: %s", client->name, copy);
    free(copy);
    return failed;
}

enum tutti_err tt_node_client_read_kind(const struct tt_node_client *client, struct tt_byte_reader *in, uint32_t *kind)
{
    *kind = tt_bytes_get_u32(in);
    if (in->bad)
        return tt_node_client_fail_message(client);
    return *kind == TUTTI_NODE_REFUSED ? fail_node_refused(client, in) : TUTTI_OK;
}

enum tutti_err tt_node_client_read_welcome(struct tt_node_client *client, struct tt_byte_reader *in)
{
    (void)tt_bytes_get_text(in); /* its version, which is ours */
    uint32_t count = tt_bytes_get_u32(in);
    if (in->bad || count > (size_t)(in->end - in->at) / LEAST_OFFER)
        return tt_node_client_fail_message(client);
    client->offers = calloc(count + 1, sizeof *client->offers);
    if (!client->offers)
        return tt_fail_memory();
    for (uint32_t i = 0; i < count; i++) {
        const char *name = tt_bytes_get_text(in);
        struct tt_node_client_offer *offer = &client->offers[client->offer_count++];
        tt_node_protocol_read_content(in, &offer->content);
        if (in->bad || !name || offer->content.size > LARGEST_STAND_IN)
            return tt_node_client_fail_message(client);
        offer->name = tt_text_copy(name);
        if (!offer->name)
            return tt_fail_memory();
    }
    client->welcome = true;
    return TUTTI_OK;
}

enum tutti_err tt_node_client_read_lack(struct tt_node_client *client, struct tt_byte_reader *in, uint32_t files)
{
    uint32_t count = tt_bytes_get_u32(in);
    if (in->bad || client->knows_lack || count > files)
        return tt_node_client_fail_message(client);
    client->lacks = calloc(count + 1, sizeof *client->lacks);
    if (!client->lacks)
        return tt_fail_memory();
    for (uint32_t i = 0; i < count; i++) {
        client->lacks[i] = tt_bytes_get_u32(in);
        if (in->bad || client->lacks[i] >= files)
            return tt_node_client_fail_message(client);
    }
    client->lack_count = count;
    client->knows_lack = true;
    return TUTTI_OK;
}

enum tutti_err tt_node_client_receive(struct tt_node_client *client, struct tt_node_client_message *message, bool *got)
{
    *got = false;
    zmq_msg_init(&message->message);
    if (zmq_msg_recv(&message->message, client->socket, ZMQ_DONTWAIT) < 0) {
        zmq_msg_close(&message->message);
        return TUTTI_OK;
    }
    const char *bytes = zmq_msg_data(&message->message);
    message->in = (struct tt_byte_reader){.at = bytes, .end = bytes + zmq_msg_size(&message->message)};
    enum tutti_err err = zmq_msg_more(&message->message)
                             ? tt_node_client_fail_message(client)
                             : tt_node_client_read_kind(client, &message->in, &message->kind);
    *got = !err;
    if (err)
        tt_node_client_release(message);
    return err;
}

void tt_node_client_release(struct tt_node_client_message *message)
{
    zmq_msg_close(&message->message);
}
