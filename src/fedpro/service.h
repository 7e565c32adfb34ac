/* SPDX-License-Identifier: MIT */
/* service.h - an RTI that federates call over sessions: each session is an ambassador of the RTI, its calls are the RTI's services, and what
 * the RTI tells the ambassador goes back as callbacks. No sockets. */
#ifndef TUTTI_FEDPRO_SERVICE_H
#define TUTTI_FEDPRO_SERVICE_H

#include "base/log.h"
#include "fedpro/envelope.h"
#include "fedpro/journal.h"
#include "fedpro/modules.h"
#include "fedpro/sessions.h"
#include "fedpro/stalls.h"
#include "rti/rti.h"

struct tutti_fedpro_service_options {
    const char *key;                 /* what federates have to know; NULL: nothing */
    struct tutti_fedpro_shelf shelf; /* FOM modules that federates may name; borrowed */
    struct tutti_rti_limits limits;
    struct tutti_fedpro_journal *journal; /* borrowed; NULL: none */
    double patience;                      /* seconds after which a stall is told; 0: never */
    uint32_t longest_message;             /* bytes that a federate may send at once when it is connected */
    const struct tutti_log *log;          /* borrowed; may be NULL */
};
enum { TUTTI_FEDPRO_LONGEST_MESSAGE = 64 << 20 };

/* A session with its ambassador. */
struct tutti_fedpro_client {
    struct tutti_fedpro_session *session;
    struct tutti_ambassador *ambassador; /* NULL: not connected, or not any more */
    struct tutti_fedpro_client *next, *previous;
};

struct tutti_fedpro_service {
    struct tutti_rti *rti;
    struct tutti_fedpro_service_options options;
    struct tutti_fedpro_memory memory; /* of the call that is served */
    struct tutti_fedpro_client *clients;
    struct tutti_fedpro_stalls stalls;
};

TUTTI_CHECKED enum tutti_err tutti_fedpro_service_init(struct tutti_fedpro_service *service,
                                                       const struct tutti_fedpro_service_options *options);
/* After its sessions have ended. */
void tutti_fedpro_service_fini(struct tutti_fedpro_service *service);

/* The handler of its sessions, without `ready`. */
struct tutti_fedpro_handler tutti_fedpro_service_handler(struct tutti_fedpro_service *service);
/* Sends the callbacks that wait; after each round of calls. `context` is the service. */
void tutti_fedpro_service_settle(void *context);
/* From time to time: the journal is flushed, and stalls are told. */
void tutti_fedpro_service_tick(void *context, double now);

/* For the services: makes the caller an ambassador, or ends that. AlreadyConnected, Unauthorized, InvalidCredentials; NotConnected,
 * FederateIsExecutionMember. */
TUTTI_CHECKED enum tutti_hla tutti_fedpro_service_connect(struct tutti_fedpro_service *service,
                                                          struct tutti_fedpro_client *client, const char *key);
TUTTI_CHECKED enum tutti_hla tutti_fedpro_service_disconnect(struct tutti_fedpro_client *client);

#endif
