/* SPDX-License-Identifier: MIT */
/* fedpro_service.h - an RTI that federates call over sessions: each session is an ambassador of the RTI, its calls are
 * the RTI's services, and the ambassador's callbacks are sent back. No sockets. */
#ifndef TT_HLA_FEDPRO_FEDPRO_SERVICE_H
#define TT_HLA_FEDPRO_FEDPRO_SERVICE_H

#include "base/log.h"
#include "hla/fedpro/fedpro_journal.h"
#include "hla/fedpro/module_set.h"
#include "hla/fedpro/payload.h"
#include "hla/fedpro/sessions.h"
#include "hla/rti/exception.h"
#include "hla/rti/federation.h"
#include "hla/rti/rti.h"

/* Detects stalls: federations in which federates wait and none is granted an advance for some time. Each stall is
 * logged once, with the federates that wait for each other. */

/* Zeroed is empty. */
struct tt_fedpro_stalls {
    struct tt_stall_watch *items; /* one for each federation */
    size_t count;
};

void tt_fedpro_service_free_stalls(struct tt_fedpro_stalls *stalls);
/* Called periodically. Logs a warning for a federation without progress for `patience` seconds at `now`; 0: never. */
void tt_fedpro_service_report_stalls(struct tt_fedpro_stalls *stalls, const struct tt_rti *rti, double now,
                                     double patience, const struct tutti_log *log);

struct tt_fedpro_service_options {
    const char *key;              /* the key that federates must present; NULL: none */
    struct tt_module_files shelf; /* FOM modules that federates may name; borrowed */
    struct tt_rti_limits limits;
    struct tt_fedpro_journal *journal; /* borrowed; NULL: none */
    double patience;                   /* seconds after which a stall is logged; 0: never */
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
/* Called periodically: flushes the journal and logs stalls. */
void tt_fedpro_service_tick(void *context, double now);

/* For the services: makes the caller an ambassador, or ends that. AlreadyConnected, Unauthorized, InvalidCredentials; NotConnected,
 * FederateIsExecutionMember. */
TUTTI_CHECKED enum tt_hla tt_fedpro_service_connect(struct tt_fedpro_service *service, struct tt_fedpro_client *client,
                                                    const char *key);
TUTTI_CHECKED enum tt_hla tt_fedpro_service_disconnect(struct tt_fedpro_client *client);

/* A call of a federate while it is served: its caller and its answer. */

struct tt_fedpro_service;

struct tt_fedpro_call {
    struct tt_fedpro_service *service;
    struct tt_fedpro_client *client;
    struct tt_ambassador *ambassador; /* NULL: not connected */
    struct tt_payload_memory *memory;
    ProtobufCMessage *response; /* in the memory; NULL: a message without content */
};

/* Serves a call: reads the request, calls the RTI, makes the response. service_list.def defines the form of `request`. */
typedef enum tt_hla tt_services_function(struct tt_fedpro_call *call, const ProtobufCMessage *request);

/* TAKE(Form, request): the request as its own type. */
#define TAKE(Form, message) ((const Fedpro__##Form *)(const void *)(message))

/* Responses of the forms that services share. RTIinternalError when memory is out. */
TUTTI_CHECKED enum tt_hla tt_fedpro_service_answer_handle(struct tt_fedpro_call *call, uint32_t handle);
TUTTI_CHECKED enum tt_hla tt_fedpro_service_answer_transportation(struct tt_fedpro_call *call, uint32_t transportation);
TUTTI_CHECKED enum tt_hla tt_fedpro_service_answer_handles(struct tt_fedpro_call *call, const uint32_t *handles,
                                                           size_t count);
TUTTI_CHECKED enum tt_hla tt_fedpro_service_answer_text(struct tt_fedpro_call *call, const char *text);
TUTTI_CHECKED enum tt_hla tt_fedpro_service_answer_number(struct tt_fedpro_call *call, uint32_t number);
TUTTI_CHECKED enum tt_hla tt_fedpro_service_answer_flag(struct tt_fedpro_call *call, bool flag);
TUTTI_CHECKED enum tt_hla tt_fedpro_service_answer_double(struct tt_fedpro_call *call, double value);
TUTTI_CHECKED enum tt_hla tt_fedpro_service_answer_time(struct tt_fedpro_call *call, int64_t time);
TUTTI_CHECKED enum tt_hla tt_fedpro_service_answer_valid_time(struct tt_fedpro_call *call, bool valid, int64_t time);
/* 0: it cannot be retracted. */
TUTTI_CHECKED enum tt_hla tt_fedpro_service_answer_retraction(struct tt_fedpro_call *call, uint64_t number);

/* Reads a time or an interval of the caller's federation. FederateNotExecutionMember, InvalidLogicalTime; `wrong` for a
 * value that is not a time. */
TUTTI_CHECKED enum tt_hla tt_fedpro_service_read_time(const struct tt_fedpro_call *call, const Fedpro__Handle *encoded,
                                                      enum tt_hla wrong, int64_t *time);

/* The services, by topic. */
#define X(number, name, Form, function) tt_services_function tt_services_##function;
#define UNSERVED(number, name, why)
#include "hla/fedpro/service_list.def"
#undef X
#undef UNSERVED

#endif
