/* SPDX-License-Identifier: MIT */
/* service.h - an RTI that federates call over sessions: each session is an ambassador of the RTI, its calls are the RTI's services, and what
 * the RTI tells the ambassador goes back as callbacks. No sockets. */
#ifndef TT_HLA_FEDPRO_FEDPRO_SERVICE_H
#define TT_HLA_FEDPRO_FEDPRO_SERVICE_H

#include "base/log.h"
#include "hla/fedpro/envelope.h"
#include "hla/fedpro/fedpro_journal.h"
#include "hla/fedpro/module_set.h"
#include "hla/fedpro/sessions.h"
#include "hla/fedpro/stalls.h"
#include "hla/rti/rti.h"

struct tt_fedpro_service_options {
    const char *key;              /* what federates have to know; NULL: nothing */
    struct tt_module_files shelf; /* FOM modules that federates may name; borrowed */
    struct tt_rti_limits limits;
    struct tt_fedpro_journal *journal; /* borrowed; NULL: none */
    double patience;                   /* seconds after which a stall is told; 0: never */
    uint32_t longest_message;          /* bytes that a federate may send at once when it is connected */
    const struct tutti_log *log;       /* borrowed; may be NULL */
};
enum { TUTTI_FEDPRO_LONGEST_MESSAGE = 64 << 20 };

/* A session with its ambassador. */
struct tt_fedpro_client {
    struct tt_fedpro_session *session;
    struct tt_ambassador *ambassador; /* NULL: not connected, or not any more */
    struct tt_fedpro_client *next, *previous;
};

struct tt_fedpro_service {
    struct tt_rti *rti;
    struct tt_fedpro_service_options options;
    struct tt_payload_memory memory; /* of the call that is served */
    struct tt_fedpro_client *clients;
    struct tt_fedpro_stalls stalls;
};

TUTTI_CHECKED enum tutti_err tt_fedpro_service_init(struct tt_fedpro_service *service,
                                                    const struct tt_fedpro_service_options *options);
/* After its sessions have ended. */
void tt_fedpro_service_fini(struct tt_fedpro_service *service);

/* The handler of its sessions, without `ready`. */
struct tt_fedpro_handler tt_fedpro_service_session_handler(struct tt_fedpro_service *service);
/* Sends the callbacks that wait; after each round of calls. `context` is the service. */
void tt_fedpro_service_send_callbacks(void *context);
/* From time to time: the journal is flushed, and stalls are told. */
void tt_fedpro_service_tick(void *context, double now);

/* For the services: makes the caller an ambassador, or ends that. AlreadyConnected, Unauthorized, InvalidCredentials; NotConnected,
 * FederateIsExecutionMember. */
TUTTI_CHECKED enum tt_hla tt_fedpro_service_connect(struct tt_fedpro_service *service, struct tt_fedpro_client *client,
                                                    const char *key);
TUTTI_CHECKED enum tt_hla tt_fedpro_service_disconnect(struct tt_fedpro_client *client);

#endif
