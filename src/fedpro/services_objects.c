/* SPDX-License-Identifier: MIT */
/* Object management: objects and interactions. */
#include <math.h>
#include <string.h>

#include "fedpro/call.h"
#include "fedpro/service.h"
#include "rti/interactions.h"
#include "rti/objects.h"

enum tutti_hla tutti_fedpro_serve_reserve_name(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    return tutti_rti_reserve_name(call->ambassador, TAKE(Text, request)->text);
}

enum tutti_hla tutti_fedpro_serve_release_name(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    return tutti_rti_release_name(call->ambassador, TAKE(Text, request)->text);
}

enum tutti_hla tutti_fedpro_serve_reserve_names(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__Texts *names = TAKE(Texts, request);
    return tutti_rti_reserve_names(call->ambassador, (const char *const *)names->text, names->n_text);
}

enum tutti_hla tutti_fedpro_serve_release_names(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__Texts *names = TAKE(Texts, request);
    return tutti_rti_release_names(call->ambassador, (const char *const *)names->text, names->n_text);
}

static enum tutti_hla register_object(struct tutti_fedpro_call *call, uint32_t class, const char *name)
{
    uint32_t object = 0;
    HLA_TRY(tutti_rti_register(call->ambassador, class, name, &object));
    return tutti_fedpro_answer_handle(call, object);
}

enum tutti_hla tutti_fedpro_serve_register(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    return register_object(call, tutti_fedpro_read_handle(TAKE(OneHandle, request)->handle), NULL);
}

enum tutti_hla tutti_fedpro_serve_register_named(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__Named *named = TAKE(Named, request);
    return register_object(call, tutti_fedpro_read_handle(named->handle), named->name);
}

/* A service that sends: at `time`, or without one (NULL). *retraction may be NULL. */
typedef enum tutti_hla sending(struct tutti_fedpro_call *call, const ProtobufCMessage *request, const int64_t *time,
                               uint64_t *retraction);

/* At the time that the request has. */
static enum tutti_hla send_timed(struct tutti_fedpro_call *call, const ProtobufCMessage *request,
                                 const Fedpro__Handle *encoded, sending *send)
{
    int64_t time = 0;
    uint64_t retraction = 0;
    HLA_TRY(tutti_fedpro_call_time(call, encoded, TUTTI_HLA_InvalidLogicalTime, &time));
    HLA_TRY(send(call, request, &time, &retraction));
    return tutti_fedpro_answer_retraction(call, retraction);
}

/* Into the journal, if there is one. */
static void write_down(const struct tutti_fedpro_call *call, const char *kind, const char *name,
                       const struct tutti_fom_tree *tree, const struct tutti_value *values, size_t count,
                       const int64_t *time)
{
    const struct tutti_federate *federate = call->ambassador->federate;
    for (size_t i = 0; call->service->options.journal && i < count; i++) {
        const struct tutti_fom_member *member = tutti_fom_member(tree, values[i].handle);
        if (!member)
            continue;
        struct tutti_fedpro_entry entry = {
            .federation = federate->federation->name,
            .federate = federate->name,
            .kind = kind,
            .name = name,
            .member = member->name,
            .stamp = time ? tutti_time_to_double(federate->federation->time_kind, *time) : NAN,
            .is_double = member->data_type && strcmp(member->data_type, "HLAfloat64BE") == 0,
            .data = values[i].bytes.data,
            .size = values[i].bytes.size,
        };
        tutti_fedpro_journal_write(call->service->options.journal, &entry);
    }
}

static void write_interaction(const struct tutti_fedpro_call *call, const Fedpro__Handle *handle,
                              const struct tutti_value *values, size_t count, const int64_t *time)
{
    const struct tutti_fom_tree *tree = &call->ambassador->federate->federation->fom->interactions;
    const struct tutti_fom_class *class = tutti_fom_class(tree, tutti_fedpro_read_handle(handle));
    if (class)
        write_down(call, "interaction", class->name, tree, values, count, time);
}

static enum tutti_hla update(struct tutti_fedpro_call *call, const ProtobufCMessage *request, const int64_t *time,
                             uint64_t *retraction)
{
    const Fedpro__Sent *sent = TAKE(Sent, request);
    size_t count = 0;
    const struct tutti_value *values = tutti_fedpro_read_values(call->memory, sent->values, &count);
    struct tutti_send send = {.time = time, .tag = tutti_fedpro_read_bytes(sent->tag)};
    uint32_t handle = tutti_fedpro_read_handle(sent->subject);
    HLA_TRY(tutti_rti_update(call->ambassador, handle, values, count, send, retraction));
    const struct tutti_federation *federation = call->ambassador->federate->federation;
    const struct tutti_object *object = tutti_federation_object(federation, handle);
    if (object)
        write_down(call, "update", object->name, &federation->fom->objects, values, count, time);
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_fedpro_serve_update(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    return update(call, request, NULL, NULL);
}

enum tutti_hla tutti_fedpro_serve_update_timed(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    return send_timed(call, request, TAKE(Sent, request)->time, update);
}

static enum tutti_hla send_interaction(struct tutti_fedpro_call *call, const ProtobufCMessage *request,
                                       const int64_t *time, uint64_t *retraction)
{
    const Fedpro__Sent *sent = TAKE(Sent, request);
    size_t count = 0;
    const struct tutti_value *values = tutti_fedpro_read_values(call->memory, sent->values, &count);
    struct tutti_send send = {.time = time, .tag = tutti_fedpro_read_bytes(sent->tag)};
    HLA_TRY(tutti_rti_send_interaction(call->ambassador, tutti_fedpro_read_handle(sent->subject), values, count, send,
                                       retraction));
    write_interaction(call, sent->subject, values, count, time);
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_fedpro_serve_send(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    return send_interaction(call, request, NULL, NULL);
}

enum tutti_hla tutti_fedpro_serve_send_timed(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    return send_timed(call, request, TAKE(Sent, request)->time, send_interaction);
}

static enum tutti_hla send_directed(struct tutti_fedpro_call *call, const ProtobufCMessage *request,
                                    const int64_t *time, uint64_t *retraction)
{
    const Fedpro__SentDirected *sent = TAKE(SentDirected, request);
    size_t count = 0;
    const struct tutti_value *values = tutti_fedpro_read_values(call->memory, sent->values, &count);
    struct tutti_send send = {.time = time, .tag = tutti_fedpro_read_bytes(sent->tag)};
    HLA_TRY(tutti_rti_send_directed(call->ambassador, tutti_fedpro_read_handle(sent->interaction),
                                    tutti_fedpro_read_handle(sent->object), values, count, send, retraction));
    write_interaction(call, sent->interaction, values, count, time);
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_fedpro_serve_send_directed(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    return send_directed(call, request, NULL, NULL);
}

enum tutti_hla tutti_fedpro_serve_send_directed_timed(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    return send_timed(call, request, TAKE(SentDirected, request)->time, send_directed);
}

static enum tutti_hla delete_object(struct tutti_fedpro_call *call, const ProtobufCMessage *request,
                                    const int64_t *time, uint64_t *retraction)
{
    const Fedpro__Deleted *deleted = TAKE(Deleted, request);
    struct tutti_send send = {.time = time, .tag = tutti_fedpro_read_bytes(deleted->tag)};
    return tutti_rti_delete(call->ambassador, tutti_fedpro_read_handle(deleted->object), send, retraction);
}

enum tutti_hla tutti_fedpro_serve_delete(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    return delete_object(call, request, NULL, NULL);
}

enum tutti_hla tutti_fedpro_serve_delete_timed(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    return send_timed(call, request, TAKE(Deleted, request)->time, delete_object);
}

enum tutti_hla tutti_fedpro_serve_local_delete(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    return tutti_rti_local_delete(call->ambassador, tutti_fedpro_read_handle(TAKE(OneHandle, request)->handle));
}

enum tutti_hla tutti_fedpro_serve_request_update(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__Members *members = TAKE(Members, request);
    struct tutti_attribute_set set = {.object = tutti_fedpro_read_handle(members->subject)};
    set.attributes = tutti_fedpro_read_handles(call->memory, members->members, &set.count);
    return tutti_rti_request_update(call->ambassador, set, tutti_fedpro_read_bytes(members->extra));
}

enum tutti_hla tutti_fedpro_serve_request_class_update(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__Members *members = TAKE(Members, request);
    size_t count = 0;
    const uint32_t *attributes = tutti_fedpro_read_handles(call->memory, members->members, &count);
    return tutti_rti_request_class_update(call->ambassador, tutti_fedpro_read_handle(members->subject), attributes,
                                          count, tutti_fedpro_read_bytes(members->extra));
}

enum tutti_hla tutti_fedpro_serve_attribute_order(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__MembersNumber *members = TAKE(MembersNumber, request);
    struct tutti_attribute_set set = {.object = tutti_fedpro_read_handle(members->subject)};
    set.attributes = tutti_fedpro_read_handles(call->memory, members->members, &set.count);
    if (members->number > TUTTI_ORDER_TIMESTAMP)
        return RAISE(InvalidOrderType, "%u is no type of order", members->number);
    return tutti_rti_change_attribute_order(call->ambassador, set, (enum tutti_order)members->number);
}

enum tutti_hla tutti_fedpro_serve_attribute_transportation(struct tutti_fedpro_call *call,
                                                           const ProtobufCMessage *request)
{
    const Fedpro__MembersHandle *members = TAKE(MembersHandle, request);
    struct tutti_attribute_set set = {.object = tutti_fedpro_read_handle(members->subject)};
    set.attributes = tutti_fedpro_read_handles(call->memory, members->members, &set.count);
    return tutti_rti_change_attribute_transportation(call->ambassador, set, tutti_fedpro_read_handle(members->handle));
}

enum tutti_hla tutti_fedpro_serve_query_attribute_transportation(struct tutti_fedpro_call *call,
                                                                 const ProtobufCMessage *request)
{
    const Fedpro__TwoHandles *handles = TAKE(TwoHandles, request);
    return tutti_rti_query_attribute_transportation(call->ambassador, tutti_fedpro_read_handle(handles->first),
                                                    tutti_fedpro_read_handle(handles->second));
}

enum tutti_hla tutti_fedpro_serve_retract(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    return tutti_rti_retract(call->ambassador, tutti_fedpro_read_retraction(TAKE(OneHandle, request)->handle));
}
