/* SPDX-License-Identifier: MIT */
/* service_call.h - a call of a federate while it is served: who calls, what it is answered. */
#ifndef TT_HLA_FEDPRO_SERVICE_CALL_H
#define TT_HLA_FEDPRO_SERVICE_CALL_H

#include "hla/fedpro/payload.h"
#include "hla/rti/exception.h"
#include "hla/rti/federation.h"

struct tt_fedpro_service;

struct tt_fedpro_call {
    struct tt_fedpro_service *service;
    struct tt_fedpro_client *client;
    struct tt_ambassador *ambassador; /* NULL: not connected */
    struct tt_payload_memory *memory;
    ProtobufCMessage *response; /* in the memory; NULL: a message without content */
};

/* Serves a call: reads the request, calls the RTI, makes the response. `request` has the form that service_list.def says. */
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

/* A time or an interval of the caller's federation. FederateNotExecutionMember, InvalidLogicalTime; `wrong` for what is no time. */
TUTTI_CHECKED enum tt_hla tt_fedpro_service_read_time(const struct tt_fedpro_call *call, const Fedpro__Handle *encoded,
                                                      enum tt_hla wrong, int64_t *time);

/* The services, by what they are about. */
#define X(number, name, Form, function) tt_services_function tt_services_##function;
#define UNSERVED(number, name, why)
#include "hla/fedpro/service_list.def"
#undef X
#undef UNSERVED

#endif
