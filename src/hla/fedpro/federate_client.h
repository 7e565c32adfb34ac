/* SPDX-License-Identifier: MIT */
/* federate_client.h - a program as a federate (<tutti/federate.h>), over a caller.
 *
 * Handles are opaque bytes, whose size depends on the RTI: classes, members and objects are stored by name with their
 * handle, and found by either. Callbacks that arrive during a wait for a specific one are queued for later events. */
#ifndef TT_HLA_FEDPRO_FEDERATE_CLIENT_H
#define TT_HLA_FEDPRO_FEDERATE_CLIENT_H

#include <tutti/federate.h>

#include "hla/fedpro/fedpro_caller.h"
#include "hla/fedpro/payload.h"

enum { TUTTI_MOST_HANDLE = 64 };

/* Fields of CallRequest and CallbackRequest. */
enum {
    CONNECT = 1,
    CONNECT_WITH_CREDENTIALS = 2,
    CREATE = 9,
    DESTROY = 12,
    LIST_MEMBERS = 14,
    JOIN = 15,
    JOIN_WITH_MODULES = 16,
    JOIN_NAMED = 17,
    JOIN_NAMED_WITH_MODULES = 18,
    RESIGN = 19,
    REGISTER_POINT = 20,
    ACHIEVE_POINT = 22,
    PUBLISH = 35,
    PUBLISH_INTERACTION = 38,
    SUBSCRIBE = 43,
    SUBSCRIBE_INTERACTION = 49,
    RESERVE_NAME = 56,
    REGISTER = 60,
    REGISTER_NAMED = 61,
    UPDATE = 62,
    UPDATE_TIMED = 63,
    SEND = 64,
    SEND_TIMED = 65,
    DELETE = 68,
    ENABLE_REGULATION = 89,
    ENABLE_CONSTRAINED = 91,
    ADVANCE = 93,
    MODIFY_LOOKAHEAD = 103,
    OBJECT_CLASS_HANDLE = 126,
    OBJECT_CLASS_NAME = 127,
    ATTRIBUTE_HANDLE = 131,
    ATTRIBUTE_NAME = 132,
    INTERACTION_CLASS_HANDLE = 135,
    INTERACTION_CLASS_NAME = 136,
    PARAMETER_HANDLE = 137,
    PARAMETER_NAME = 138,

    MEMBERS = 3,
    ANNOUNCE = 8,
    SYNCHRONIZED = 9,
    NAME_RESERVED = 26,
    NAME_NOT_RESERVED = 27,
    DISCOVER = 30,
    REFLECT = 31,
    REFLECT_TIMED = 32,
    RECEIVE = 33,
    RECEIVE_TIMED = 34,
    REMOVE = 37,
    REMOVE_TIMED = 38,
    PROVIDE = 41,
    REGULATION_ENABLED = 58,
    CONSTRAINED_ENABLED = 59,
    FLUSH_GRANT = 60,
    GRANT = 61,
};

struct tt_client_handle {
    uint8_t size, bytes[TUTTI_MOST_HANDLE];
};

struct tt_client_member {
    char *name;
    struct tt_client_handle handle;
};

struct tt_client_class {
    char *name;
    struct tt_client_handle handle;
    bool interaction;
    struct tt_client_member *members;
    size_t count, room;
};

struct tt_client_object {
    char *name;
    struct tt_client_handle handle;
    size_t class;
    bool gone;
};

/* A callback that arrived during a wait for a different one. */
struct tt_client_callback {
    struct tt_client_callback *next;
    uint32_t number;
    size_t size;
    uint8_t *content;
};

struct tutti_federate_client {
    struct tt_fedpro_caller *caller;
    struct tt_tls *tls;
    struct tt_payload_memory memory; /* of the call or the event */
    char *federation;
    enum tt_logical_time_kind kind;
    bool joined;
    double now;
    struct tt_client_class *classes;
    size_t class_count, class_room;
    struct tt_client_object *objects;
    size_t object_count, object_room;
    struct tt_client_callback *first, *last;
    const volatile sig_atomic_t *interrupt; /* NULL: never */
};

/* Makes a call whose response has the form fedpro__FORM; the response is in the memory. */
#define TUTTI_CLIENT_CALL(federate, number, request, form, response)                                                   \
    tt_fedpro_caller_call((federate)->caller, &(federate)->memory, number, &(request)->base,                           \
                          &fedpro__##form##__descriptor, response)

/* A call that is answered by a message without content. */
TUTTI_CHECKED enum tutti_err tt_federate_call(struct tutti_federate_client *federate, uint32_t number,
                                              const ProtobufCMessage *request);
/* Returns the handle that the call answers. */
TUTTI_CHECKED enum tutti_err tt_federate_client_query_handle(struct tutti_federate_client *federate, uint32_t number,
                                                             const ProtobufCMessage *request,
                                                             struct tt_client_handle *handle);
/* FORMAT: the RTI sent this, which it should not. */
TUTTI_CHECKED enum tutti_err tt_federate_client_fail_format(const struct tutti_federate_client *federate,
                                                            const char *what);

/* False: no handle, or it is too long. */
bool tt_federate_client_copy_handle(struct tt_client_handle *handle, const Fedpro__Handle *from);
/* Borrows the handle's bytes. */
Fedpro__Handle tt_federate_client_borrow_handle(const struct tt_client_handle *handle);

/* Finds classes and their members, by name or handle, as indices in their lists. Unknown ones are queried from the RTI. */
TUTTI_CHECKED enum tutti_err tt_federate_client_find_class(struct tutti_federate_client *federate, bool interaction,
                                                           const char *name, size_t *place);
TUTTI_CHECKED enum tutti_err tt_federate_client_class_by_handle(struct tutti_federate_client *federate,
                                                                bool interaction, const Fedpro__Handle *wanted,
                                                                size_t *place);
TUTTI_CHECKED enum tutti_err tt_federate_client_find_member(struct tutti_federate_client *federate, size_t place,
                                                            const char *name, size_t *which);
TUTTI_CHECKED enum tutti_err tt_federate_client_member_by_handle(struct tutti_federate_client *federate, size_t place,
                                                                 const Fedpro__Handle *wanted, size_t *which);
/* Objects have numbers from 1 on. */
TUTTI_CHECKED enum tutti_err tt_federate_client_add_object(struct tutti_federate_client *federate, const char *name,
                                                           const struct tt_client_handle *handle, size_t class,
                                                           uint32_t *object);
/* NULL: never discovered, or removed. */
struct tt_client_object *tt_federate_client_object(struct tutti_federate_client *federate, uint32_t number);
/* Returns 0 if there is none. */
uint32_t tt_federate_client_object_by_handle(const struct tutti_federate_client *federate,
                                             const Fedpro__Handle *wanted);
/* Frees all that is known by name. */
void tt_federate_client_free_names(struct tutti_federate_client *federate);

/* 0 if it cannot be read. */
double tt_federate_read_time(const struct tutti_federate_client *federate, const Fedpro__Handle *encoded);
/* Waits for a callback of one of two numbers; others stay for tutti_federate_next. Its message is in the memory. */
TUTTI_CHECKED enum tutti_err tt_federate_client_wait(struct tutti_federate_client *federate, uint32_t one,
                                                     uint32_t other, const ProtobufCMessageDescriptor *form,
                                                     uint32_t *number, ProtobufCMessage **message);

#endif
