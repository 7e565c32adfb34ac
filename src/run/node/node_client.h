/* SPDX-License-Identifier: MIT */
/* node_client.h - the connection to a node, as the one sees it who starts a run, and what can be wrong with it. */
#ifndef TT_RUN_NODE_NODE_CLIENT_H
#define TT_RUN_NODE_NODE_CLIENT_H

#include <zmq.h>

#include "run/node/node_protocol.h"
#include "run/launch/nodes_list.h"

/* An offer of a node. */
struct tt_node_client_offer {
    char *name;                /* "engine.fmu" */
    struct tt_content content; /* of the stand-in */
    char *path;                /* where that is here; NULL: not fetched */
};

/* A connection to a node. */
struct tt_node_client {
    const struct tt_nodes_entry *entry;
    char name[TUTTI_ADDRESS_SIZE]; /* "host:port" */
    void *socket, *monitor;
    bool connected; /* by TCP, at some time */
    bool met;       /* keys and protocol are right */
    bool welcome;
    bool lost;
    int failures; /* of greetings on the level of ZeroMQ */
    int error;    /* errno of the last try to connect */
    char why[200];
    struct tt_node_client_offer *offers;
    uint32_t offer_count;
    /* Files that it lacks, and how far they are sent. */
    bool asked, knows_lack, started;
    uint32_t *lacks;
    uint32_t lack_count, lack_next;
    uint64_t offset;
    unsigned ahead; /* number of unconfirmed pieces */
    int fd;         /* of the file that is being sent; -1: none */
    int ready;      /* ranks */
};

/* One message from a node, whose bytes `in` points to. */
struct tt_node_client_message {
    zmq_msg_t message;
    struct tt_byte_reader in;
    uint32_t kind;
};

/* Begins to connect, with these keys. */
TUTTI_CHECKED enum tutti_err tt_node_client_open(struct tt_node_client *client, void *context,
                                                 const struct tt_nodes_entry *entry, const struct tt_curve_keys *keys);
void tt_node_client_close(struct tt_node_client *client);
/* Checks the state of the connection. LOST, with what to do, if it has failed for good. */
TUTTI_CHECKED enum tutti_err tt_node_client_check(struct tt_node_client *client);
/* Reports a late answer, with the likely cause. */
enum tutti_err tt_node_client_fail_late(const struct tt_node_client *client);
/* Receives the next message, if any: then tt_node_client_release follows. A refusal is an error with its sentence. */
TUTTI_CHECKED enum tutti_err tt_node_client_receive(struct tt_node_client *client,
                                                    struct tt_node_client_message *message, bool *got);
void tt_node_client_release(struct tt_node_client_message *message);
TUTTI_CHECKED enum tutti_err tt_node_client_send(struct tt_node_client *client, const struct tt_byte_writer *parcel);
enum tutti_err tt_node_client_fail_message(const struct tt_node_client *client);
/* Parse messages without a socket: the beginning of every message (REFUSED is an error with the node's sentence),
 * WELCOME, and LACK of `count` files. */
TUTTI_CHECKED enum tutti_err tt_node_client_read_kind(const struct tt_node_client *client, struct tt_byte_reader *in,
                                                      uint32_t *kind);
TUTTI_CHECKED enum tutti_err tt_node_client_read_welcome(struct tt_node_client *client, struct tt_byte_reader *in);
TUTTI_CHECKED enum tutti_err tt_node_client_read_lack(struct tt_node_client *client, struct tt_byte_reader *in,
                                                      uint32_t files);

#endif
