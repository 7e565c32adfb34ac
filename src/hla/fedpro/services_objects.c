/* SPDX-License-Identifier: MIT */
/* Object management: objects and interactions. */
#include <math.h>
#include <string.h>

#include "hla/fedpro/service_call.h"
#include "hla/fedpro/fedpro_service.h"
#include "hla/rti/interactions.h"
#include "hla/rti/objects.h"

enum tt_hla tt_services_reserve_name(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    return tt_objects_reserve_name(call->ambassador, TAKE(Text, request)->text);
}

enum tt_hla tt_services_release_name(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    return tt_objects_release_name(call->ambassador, TAKE(Text, request)->text);
}

enum tt_hla tt_services_reserve_names(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__Texts *names = TAKE(Texts, request);
    return tt_objects_reserve_names(call->ambassador, (const char *const *)names->text, names->n_text);
}

enum tt_hla tt_services_release_names(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__Texts *names = TAKE(Texts, request);
    return tt_objects_release_names(call->ambassador, (const char *const *)names->text, names->n_text);
}

static enum tt_hla register_object(struct tt_fedpro_call *call, uint32_t class, const char *name)
{
    uint32_t object = 0;
    HLA_TRY(tt_objects_register(call->ambassador, class, name, &object));
    return tt_fedpro_service_answer_handle(call, object);
}

enum tt_hla tt_services_register(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    return register_object(call, tt_payload_read_handle(TAKE(OneHandle, request)->handle), NULL);
}

enum tt_hla tt_services_register_named(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__Named *named = TAKE(Named, request);
    return register_object(call, tt_payload_read_handle(named->handle), named->name);
}

/* A service that sends: at `time`, or without one (NULL). *retraction may be NULL. */
typedef enum tt_hla sending(struct tt_fedpro_call *call, const ProtobufCMessage *request, const int64_t *time,
                            uint64_t *retraction);

/* At the time that the request has. */
static enum tt_hla send_timed(struct tt_fedpro_call *call, const ProtobufCMessage *request,
                              const Fedpro__Handle *encoded, sending *send)
{
    int64_t time = 0;
    uint64_t retraction = 0;
    HLA_TRY(tt_fedpro_service_read_time(call, encoded, TUTTI_HLA_InvalidLogicalTime, &time));
    HLA_TRY(send(call, request, &time, &retraction));
    return tt_fedpro_service_answer_retraction(call, retraction);
}

/* Into the journal, if there is one. */
static void write_down(const struct tt_fedpro_call *call, const char *kind, const char *name,
                       const struct tt_fom_tree *tree, const struct tt_hla_value *values, size_t count,
                       const int64_t *time)
{
    const struct tt_federate *federate = call->ambassador->federate;
    for (size_t i = 0; call->service->options.journal && i < count; i++) {
        const struct tt_fom_member *member = tt_fom_member(tree, values[i].handle);
        if (!member)
            continue;
        struct tt_fedpro_journal_entry entry = {
            .federation = federate->federation->name,
            .federate = federate->name,
            .kind = kind,
            .name = name,
            .member = member->name,
            .stamp = time ? tt_logical_time_to_double(federate->federation->time_kind, *time) : NAN,
            .is_double = member->data_type && strcmp(member->data_type, "HLAfloat64BE") == 0,
            .data = values[i].bytes.data,
            .size = values[i].bytes.size,
        };
        tt_fedpro_journal_write(call->service->options.journal, &entry);
    }
}

static void services_write_interaction(const struct tt_fedpro_call *call, const Fedpro__Handle *handle,
                                       const struct tt_hla_value *values, size_t count, const int64_t *time)
{
    const struct tt_fom_tree *tree = &call->ambassador->federate->federation->fom->interactions;
    const struct tt_fom_class *class = tt_fom_class(tree, tt_payload_read_handle(handle));
    if (class)
        write_down(call, "interaction", class->name, tree, values, count, time);
}

static enum tt_hla services_update_values(struct tt_fedpro_call *call, const ProtobufCMessage *request,
                                          const int64_t *time, uint64_t *retraction)
{
    const Fedpro__Sent *sent = TAKE(Sent, request);
    size_t count = 0;
    const struct tt_hla_value *values = tt_payload_read_values(call->memory, sent->values, &count);
    struct tt_message_stamp send = {.time = time, .tag = tt_payload_read_bytes(sent->tag)};
    uint32_t handle = tt_payload_read_handle(sent->subject);
    HLA_TRY(tt_objects_update(call->ambassador, handle, values, count, send, retraction));
    const struct tt_federation *federation = call->ambassador->federate->federation;
    const struct tt_object *object = tt_federation_object(federation, handle);
    if (object)
        write_down(call, "update", object->name, &federation->fom->objects, values, count, time);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_services_update(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    return services_update_values(call, request, NULL, NULL);
}

enum tt_hla tt_services_update_timed(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    return send_timed(call, request, TAKE(Sent, request)->time, services_update_values);
}

static enum tt_hla send_interaction(struct tt_fedpro_call *call, const ProtobufCMessage *request, const int64_t *time,
                                    uint64_t *retraction)
{
    const Fedpro__Sent *sent = TAKE(Sent, request);
    size_t count = 0;
    const struct tt_hla_value *values = tt_payload_read_values(call->memory, sent->values, &count);
    struct tt_message_stamp send = {.time = time, .tag = tt_payload_read_bytes(sent->tag)};
    HLA_TRY(tt_objects_send_interaction(call->ambassador, tt_payload_read_handle(sent->subject), values, count, send,
                                        retraction));
    services_write_interaction(call, sent->subject, values, count, time);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_services_send(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    return send_interaction(call, request, NULL, NULL);
}

enum tt_hla tt_services_send_timed(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    return send_timed(call, request, TAKE(Sent, request)->time, send_interaction);
}

static enum tt_hla send_directed(struct tt_fedpro_call *call, const ProtobufCMessage *request, const int64_t *time,
                                 uint64_t *retraction)
{
    const Fedpro__SentDirected *sent = TAKE(SentDirected, request);
    size_t count = 0;
    const struct tt_hla_value *values = tt_payload_read_values(call->memory, sent->values, &count);
    struct tt_message_stamp send = {.time = time, .tag = tt_payload_read_bytes(sent->tag)};
    HLA_TRY(tt_objects_send_directed(call->ambassador, tt_payload_read_handle(sent->interaction),
                                     tt_payload_read_handle(sent->object), values, count, send, retraction));
    services_write_interaction(call, sent->interaction, values, count, time);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_services_send_directed(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    return send_directed(call, request, NULL, NULL);
}

enum tt_hla tt_services_send_directed_timed(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    return send_timed(call, request, TAKE(SentDirected, request)->time, send_directed);
}

static enum tt_hla services_delete_object(struct tt_fedpro_call *call, const ProtobufCMessage *request,
                                          const int64_t *time, uint64_t *retraction)
{
    const Fedpro__Deleted *deleted = TAKE(Deleted, request);
    struct tt_message_stamp send = {.time = time, .tag = tt_payload_read_bytes(deleted->tag)};
    return tt_objects_delete(call->ambassador, tt_payload_read_handle(deleted->object), send, retraction);
}

enum tt_hla tt_services_delete(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    return services_delete_object(call, request, NULL, NULL);
}

enum tt_hla tt_services_delete_timed(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    return send_timed(call, request, TAKE(Deleted, request)->time, services_delete_object);
}

enum tt_hla tt_services_local_delete(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    return tt_objects_local_delete(call->ambassador, tt_payload_read_handle(TAKE(OneHandle, request)->handle));
}

enum tt_hla tt_services_request_update(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__Members *members = TAKE(Members, request);
    struct tt_attribute_set set = {.object = tt_payload_read_handle(members->subject)};
    set.attributes = tt_payload_read_handles(call->memory, members->members, &set.count);
    return tt_objects_request_update(call->ambassador, set, tt_payload_read_bytes(members->extra));
}

enum tt_hla tt_services_request_class_update(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__Members *members = TAKE(Members, request);
    size_t count = 0;
    const uint32_t *attributes = tt_payload_read_handles(call->memory, members->members, &count);
    return tt_objects_request_class_update(call->ambassador, tt_payload_read_handle(members->subject), attributes,
                                           count, tt_payload_read_bytes(members->extra));
}

enum tt_hla tt_services_attribute_order(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__MembersNumber *members = TAKE(MembersNumber, request);
    struct tt_attribute_set set = {.object = tt_payload_read_handle(members->subject)};
    set.attributes = tt_payload_read_handles(call->memory, members->members, &set.count);
    if (members->number > TUTTI_ORDER_TIMESTAMP)
        return RAISE(InvalidOrderType, "%u is no type of order", members->number);
    return tt_objects_set_attribute_order(call->ambassador, set, (enum tt_message_order)members->number);
}

enum tt_hla tt_services_attribute_transportation(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__MembersHandle *members = TAKE(MembersHandle, request);
    struct tt_attribute_set set = {.object = tt_payload_read_handle(members->subject)};
    set.attributes = tt_payload_read_handles(call->memory, members->members, &set.count);
    return tt_objects_set_attribute_transportation(call->ambassador, set, tt_payload_read_handle(members->handle));
}

enum tt_hla tt_services_query_attribute_transportation(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__TwoHandles *handles = TAKE(TwoHandles, request);
    return tt_objects_query_attribute_transportation(call->ambassador, tt_payload_read_handle(handles->first),
                                                     tt_payload_read_handle(handles->second));
}

enum tt_hla tt_services_retract(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    return tt_message_retract(call->ambassador, tt_payload_read_retraction(TAKE(OneHandle, request)->handle));
}
