/* SPDX-License-Identifier: MIT */
/* fedpro_caller.h - a program's side of the Federate Protocol: a session with an RTI, over TCP or TLS, whose calls
 * block.
 *
 * A broken connection is re-established, and the session resumed, inside the call that notices it. A thread sends
 * heartbeats while the program computes; the calling thread does everything else, and only one thread may call. */
#ifndef TT_HLA_FEDPRO_FEDPRO_CALLER_H
#define TT_HLA_FEDPRO_FEDPRO_CALLER_H

#include <pthread.h>

#include "base/address.h"
#include "hla/transport/transport.h"
#include "hla/fedpro/payload.h"
#include "hla/fedpro/fedpro_message.h"
#include "hla/fedpro/session_link.h"
#include "hla/transport/tls.h"

struct tt_fedpro_caller_options {
    const char *address; /* "HOST:PORT"; the port may be left out */
    struct tt_tls *tls;  /* borrowed; NULL: plain */
    double patience;     /* seconds for which a lost connection is tried again */
};

struct tt_fedpro_caller {
    struct tt_fedpro_caller_options options;
    char host[TUTTI_HOST_SIZE]; /* as the user wrote it: what a certificate must name */
    struct tt_socket_address address;
    pthread_mutex_t mutex; /* around everything below, while the thread of heartbeats lives */
    pthread_cond_t ending;
    pthread_t heart;
    bool has_heart, over;
    int socket;
    struct tt_transport *transport;
    struct tt_session_link link;
    struct tt_fedpro_intake intake;
    struct tt_caller_queued *first, *last; /* received callbacks not yet requested */
    int32_t expected;                      /* the call that waits for its response */
    uint8_t *response;
    size_t response_size;
    bool has_response, terminated;
    bool dead; /* the session could not be resumed: no further try */
    double sent;
    uint8_t buffer[4096]; /* of what is being written */
};

/* Connects and begins a session. LOST with the reason. `*caller` is the caller's. */
TUTTI_CHECKED enum tutti_err tt_fedpro_caller_open(struct tt_fedpro_caller **caller,
                                                   const struct tt_fedpro_caller_options *options);
/* Ends the session, notifying the RTI if the connection works. NULL is allowed. */
void tt_fedpro_caller_free(struct tt_fedpro_caller *caller);

/* Calls field `number` of CallRequest; the response has the form `form`, in the memory, and is valid until that is
 * reset. STATE: an exception of HLA; the message begins with its name. LOST: the RTI cannot be reached any more. */
TUTTI_CHECKED enum tutti_err tt_fedpro_caller_call(struct tt_fedpro_caller *caller, struct tt_payload_memory *memory,
                                                   uint32_t number, const ProtobufCMessage *request,
                                                   const ProtobufCMessageDescriptor *form, ProtobufCMessage **response);
/* Returns the next callback: field *number of CallbackRequest, *content in memory that the caller frees. *number is 0
 * if none arrived within `seconds` (negative: without limit). */
TUTTI_CHECKED enum tutti_err tt_fedpro_caller_next(struct tt_fedpro_caller *caller, double timeout, uint32_t *number,
                                                   uint8_t **content, size_t *size);

#endif
