/* SPDX-License-Identifier: MIT */
/* The connection to a node, and what can be wrong with it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "conduct/nodes_parts.h"
#include "fabric/address.h"
#include "fabric/zap.h"

enum {
    EVENTS = ZMQ_EVENT_CONNECTED | ZMQ_EVENT_CLOSED | ZMQ_EVENT_CONNECT_RETRIED | ZMQ_EVENT_DISCONNECTED |
             ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
             ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL
};

/* Bytes of an offer in a message: the length of its name, and its content. */
enum { LEAST_OFFER = sizeof(uint64_t) + TUTTI_CONTENT_SIZE + sizeof(uint64_t) };
/* Descriptions are large at times; nobody needs more. */
static const uint64_t LARGEST_STAND_IN = (uint64_t)1 << 32;

static enum tutti_err connect_to(struct tutti_far *far, void *context, const struct tutti_keys *keys)
{
    char endpoint[TUTTI_ADDRESS_SIZE], numeric[TUTTI_ADDRESS_SIZE], monitor[64];
    bool loopback;
    tutti_node_address_endpoint(&far->entry->address, endpoint, sizeof endpoint);
    TRY(tutti_address_resolve(endpoint, numeric, &loopback));
    TRY(tutti_node_set_up(far->socket, numeric));
    if (keys)
        TRY(tutti_zap_present(far->socket, keys, far->entry->key));
    snprintf(monitor, sizeof monitor, "inproc://monitor-%p", (void *)far);
    far->monitor = zmq_socket(context, ZMQ_PAIR);
    if (!far->monitor || zmq_socket_monitor(far->socket, monitor, EVENTS) != 0 ||
        zmq_connect(far->monitor, monitor) != 0 || zmq_connect(far->socket, numeric) != 0)
        return tutti_fail(TUTTI_ERR_LOST, "cannot connect to the node at %s: %s", far->name, zmq_strerror(zmq_errno()));
    return TUTTI_OK;
}

enum tutti_err tutti_far_open(struct tutti_far *far, void *context, const struct tutti_nodes_entry *entry,
                              const struct tutti_keys *keys)
{
    bool colons = strchr(entry->address.host, ':') != NULL;
    *far = (struct tutti_far){.entry = entry, .fd = -1};
    snprintf(far->name, sizeof far->name, "%s%s%s:%d", colons ? "[" : "", entry->address.host, colons ? "]" : "",
             entry->address.port);
    far->socket = zmq_socket(context, ZMQ_DEALER);
    return far->socket ? connect_to(far, context, keys)
                       : tutti_fail(TUTTI_ERR_IO, "ZeroMQ cannot begin: %s", zmq_strerror(zmq_errno()));
}

void tutti_far_close(struct tutti_far *far)
{
    int none = 0;
    if (far->socket)
        zmq_close(far->socket);
    if (far->monitor) {
        zmq_setsockopt(far->monitor, ZMQ_LINGER, &none, sizeof none);
        zmq_close(far->monitor);
    }
    if (far->fd >= 0)
        close(far->fd);
    for (uint32_t i = 0; i < far->offer_count; i++) {
        free(far->offers[i].name);
        free(far->offers[i].path);
    }
    free(far->offers);
    free(far->lacks);
}

/* ---- what is the matter ---- */

static enum tutti_err fail_keys(const struct tutti_far *far, bool refused)
{
    if (refused)
        return tutti_fail(TUTTI_ERR_LOST,
                          "the node at %s does not let this key in; its owner has to start it with --allow and the "
                          "public key that belongs to --key",
                          far->name);
    return tutti_fail(TUTTI_ERR_LOST,
                      "the node at %s has another key than the list of nodes says, or was started without a key, or "
                      "something else is at that port; get its public key again",
                      far->name);
}

static enum tutti_err fail_mechanism(const struct tutti_far *far, bool keys)
{
    if (keys)
        return tutti_fail(TUTTI_ERR_LOST,
                          "the node at %s was started without a key, and this run has keys; start it with --key and "
                          "--allow",
                          far->name);
    return tutti_fail(TUTTI_ERR_LOST,
                      "the node at %s wants keys; name its public key in a file of nodes (--nodes FILE) and your own "
                      "secret key (--key FILE)",
                      far->name);
}

static enum tutti_err fail_gone(struct tutti_far *far)
{
    far->lost = true;
    return tutti_fail(
        TUTTI_ERR_LOST,
        "the connection to the node at %s is lost: its program or its machine has ended, or the network is "
        "cut",
        far->name);
}

enum tutti_err tutti_far_fail_late(const struct tutti_far *far, bool keys)
{
    const char *why = far->error ? strerror(far->error) : "no answer";
    if (!far->connected)
        return tutti_fail(
            TUTTI_ERR_LOST,
            "the node at %s cannot be reached (%s); is `tutti node --listen` running there, is the address "
            "right, and does a firewall let port %d through?",
            far->name, why, far->entry->address.port);
    if (!far->met && keys)
        return fail_keys(far, false);
    if (!far->met)
        return tutti_fail(
            TUTTI_ERR_LOST,
            "what is at %s does not answer as a node does; is it one? If it wants keys, name its public key "
            "in a file of nodes (--nodes FILE) and your own secret key (--key FILE)",
            far->name);
    return tutti_fail(TUTTI_ERR_LOST,
                      "what is at %s does not answer as a node of Tutti %s does; is it one, of the same "
                      "version?",
                      far->name, tutti_version());
}

struct __attribute__((packed)) news {
    uint16_t event;
    int32_t value;
};

static enum tutti_err take_news(struct tutti_far *far, const struct news *news, bool keys)
{
    switch (news->event) {
    case ZMQ_EVENT_CONNECTED: far->connected = true; break;
    case ZMQ_EVENT_HANDSHAKE_SUCCEEDED: far->met = true; break;
    case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH: return fail_keys(far, true);
    case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
        if (news->value == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH)
            return fail_mechanism(far, keys);
        far->failures++;
        break;
    case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL: far->failures++; break;
    case ZMQ_EVENT_DISCONNECTED:
        if (far->met)
            return fail_gone(far);
        far->failures++;
        break;
    default: break;
    }
    /* It hung up while keys were shown; tried again, in case it was only being restarted. */
    return far->failures >= 3 && far->connected ? tutti_far_fail_late(far, keys) : TUTTI_OK;
}

enum tutti_err tutti_far_look(struct tutti_far *far, bool keys)
{
    struct news news;
    char rest[8];
    while (!far->lost && zmq_recv(far->monitor, &news, sizeof news, ZMQ_DONTWAIT) == (int)sizeof news) {
        (void)!zmq_recv(far->monitor, rest, sizeof rest, ZMQ_DONTWAIT); /* the address */
        TRY(take_news(far, &news, keys));
    }
    return TUTTI_OK;
}

/* ---- messages ---- */

enum tutti_err tutti_far_fail_message(const struct tutti_far *far)
{
    return tutti_fail(TUTTI_ERR_FORMAT, "the node at %s says what no node of Tutti %s says", far->name,
                      tutti_version());
}

enum tutti_err tutti_far_send(struct tutti_far *far, const struct tutti_parcel *parcel)
{
    if (parcel->failed)
        return tutti_fail_memory();
    if (parcel->size > TUTTI_NODE_LARGEST)
        return tutti_fail(TUTTI_ERR_LIMIT, "the run's options and placement are too large for a node");
    return tutti_node_send(far->socket, NULL, 0, parcel) ? TUTTI_OK : fail_gone(far);
}

static enum tutti_err fail_refused(const struct tutti_far *far, struct tutti_unparcel *in)
{
    uint32_t err = tutti_unparcel_u32(in);
    const char *sentence = tutti_unparcel_text(in);
    if (in->bad || err == TUTTI_OK || err > TUTTI_ERR_LOST)
        return tutti_far_fail_message(far);
    char *copy = tutti_str_copy(sentence ? sentence : "");
    if (!copy)
        return tutti_fail_memory();
    tutti_str_make_printable(copy);
    enum tutti_err failed = tutti_fail((enum tutti_err)err, "the node at %s refuses: %s", far->name, copy);
    free(copy);
    return failed;
}

enum tutti_err tutti_far_take_kind(const struct tutti_far *far, struct tutti_unparcel *in, uint32_t *kind)
{
    *kind = tutti_unparcel_u32(in);
    if (in->bad)
        return tutti_far_fail_message(far);
    return *kind == TUTTI_NODE_REFUSED ? fail_refused(far, in) : TUTTI_OK;
}

enum tutti_err tutti_far_take_welcome(struct tutti_far *far, struct tutti_unparcel *in)
{
    (void)tutti_unparcel_text(in); /* its version, which is ours */
    uint32_t count = tutti_unparcel_u32(in);
    if (in->bad || count > (size_t)(in->end - in->at) / LEAST_OFFER)
        return tutti_far_fail_message(far);
    far->offers = calloc(count + 1, sizeof *far->offers);
    if (!far->offers)
        return tutti_fail_memory();
    for (uint32_t i = 0; i < count; i++) {
        const char *name = tutti_unparcel_text(in);
        struct tutti_far_offer *offer = &far->offers[far->offer_count++];
        tutti_node_take_content(in, &offer->content);
        if (in->bad || !name || offer->content.size > LARGEST_STAND_IN)
            return tutti_far_fail_message(far);
        offer->name = tutti_str_copy(name);
        if (!offer->name)
            return tutti_fail_memory();
    }
    far->welcome = true;
    return TUTTI_OK;
}

enum tutti_err tutti_far_take_lack(struct tutti_far *far, struct tutti_unparcel *in, uint32_t files)
{
    uint32_t count = tutti_unparcel_u32(in);
    if (in->bad || far->knows_lack || count > files)
        return tutti_far_fail_message(far);
    far->lacks = calloc(count + 1, sizeof *far->lacks);
    if (!far->lacks)
        return tutti_fail_memory();
    for (uint32_t i = 0; i < count; i++) {
        far->lacks[i] = tutti_unparcel_u32(in);
        if (in->bad || far->lacks[i] >= files)
            return tutti_far_fail_message(far);
    }
    far->lack_count = count;
    far->knows_lack = true;
    return TUTTI_OK;
}

enum tutti_err tutti_far_receive(struct tutti_far *far, struct tutti_far_message *message, bool *got)
{
    *got = false;
    zmq_msg_init(&message->message);
    if (zmq_msg_recv(&message->message, far->socket, ZMQ_DONTWAIT) < 0) {
        zmq_msg_close(&message->message);
        return TUTTI_OK;
    }
    const char *bytes = zmq_msg_data(&message->message);
    message->in = (struct tutti_unparcel){.at = bytes, .end = bytes + zmq_msg_size(&message->message)};
    enum tutti_err err = zmq_msg_more(&message->message) ? tutti_far_fail_message(far)
                                                         : tutti_far_take_kind(far, &message->in, &message->kind);
    *got = !err;
    if (err)
        tutti_far_release(message);
    return err;
}

void tutti_far_release(struct tutti_far_message *message)
{
    zmq_msg_close(&message->message);
}
