/* SPDX-License-Identifier: MIT */
/* Declaration management: what a federate publishes and subscribes to. */
#include <string.h>

#include "hla/fedpro/service_call.h"
#include "hla/rti/declarations.h"

static struct tt_class_set services_class_set(struct tt_fedpro_call *call, const Fedpro__Members *members)
{
    struct tt_class_set set = {.class = tt_payload_read_handle(members->subject)};
    set.handles = tt_payload_read_handles(call->memory, members->members, &set.count);
    return set;
}

/* Services that take members of a class. */
#define SERVE(name, ...)                                                                                               \
    enum tt_hla tt_services_##name(struct tt_fedpro_call *call, const ProtobufCMessage *request)                       \
    {                                                                                                                  \
        const Fedpro__Members *members = TAKE(Members, request);                                                       \
        return __VA_ARGS__;                                                                                            \
    }
/* Services that take a class. */
#define SERVE_CLASS(name, ...)                                                                                         \
    enum tt_hla tt_services_##name(struct tt_fedpro_call *call, const ProtobufCMessage *request)                       \
    {                                                                                                                  \
        uint32_t class = tt_payload_read_handle(TAKE(OneHandle, request)->handle);                                     \
        return __VA_ARGS__;                                                                                            \
    }
#define SET services_class_set(call, members)

/* The name of an update rate, with a NUL. */
static enum tt_hla services_subscribe(struct tt_fedpro_call *call, const Fedpro__Members *members, bool active)
{
    char *rate = tt_payload_memory_allocate(call->memory, members->extra.len + 1);
    if (!rate)
        return tt_exception_raise_memory();
    if (members->extra.len > 0)
        memcpy(rate, members->extra.data, members->extra.len);
    return tt_declarations_subscribe_attributes(call->ambassador, SET, active, rate);
}

SERVE(publish_attributes, tt_declarations_publish_attributes(call->ambassador, SET))
SERVE(unpublish_attributes, tt_declarations_unpublish_attributes(call->ambassador, SET))
SERVE_CLASS(unpublish_object_class, tt_declarations_unpublish_object_class(call->ambassador, class))
SERVE(subscribe_attributes, services_subscribe(call, members, true))
SERVE(subscribe_attributes_passively, services_subscribe(call, members, false))
SERVE(unsubscribe_attributes, tt_declarations_unsubscribe_attributes(call->ambassador, SET))
SERVE_CLASS(unsubscribe_object_class, tt_declarations_unsubscribe_object_class(call->ambassador, class))

SERVE_CLASS(publish_interaction, tt_declarations_publish_interaction(call->ambassador, class))
SERVE_CLASS(unpublish_interaction, tt_declarations_unpublish_interaction(call->ambassador, class))
SERVE_CLASS(subscribe_interaction, tt_declarations_subscribe_interaction(call->ambassador, class, true))
SERVE_CLASS(subscribe_interaction_passively, tt_declarations_subscribe_interaction(call->ambassador, class, false))
SERVE_CLASS(unsubscribe_interaction, tt_declarations_unsubscribe_interaction(call->ambassador, class))

SERVE(publish_directed, tt_declarations_publish_directed(call->ambassador, SET))
SERVE(unpublish_directed, tt_declarations_unpublish_directed(call->ambassador, SET))
SERVE(subscribe_directed, tt_declarations_subscribe_directed(call->ambassador, SET, false))
SERVE(subscribe_directed_universally, tt_declarations_subscribe_directed(call->ambassador, SET, true))
SERVE(unsubscribe_directed, tt_declarations_unsubscribe_directed(call->ambassador, SET))

static enum tt_hla check_order(uint32_t order)
{
    return order <= TUTTI_ORDER_TIMESTAMP ? TUTTI_HLA_OK : RAISE(InvalidOrderType, "%u is no type of order", order);
}

enum tt_hla tt_services_default_order(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__MembersNumber *members = TAKE(MembersNumber, request);
    struct tt_class_set set = {.class = tt_payload_read_handle(members->subject)};
    set.handles = tt_payload_read_handles(call->memory, members->members, &set.count);
    HLA_TRY(check_order(members->number));
    return tt_declarations_set_default_order(call->ambassador, set, (enum tt_message_order)members->number);
}

enum tt_hla tt_services_interaction_order(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__HandleNumber *class = TAKE(HandleNumber, request);
    HLA_TRY(check_order(class->number));
    return tt_declarations_set_interaction_order(call->ambassador, tt_payload_read_handle(class->handle),
                                                 (enum tt_message_order) class->number);
}

enum tt_hla tt_services_default_attribute_transportation(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__MembersHandle *members = TAKE(MembersHandle, request);
    struct tt_class_set set = {.class = tt_payload_read_handle(members->subject)};
    set.handles = tt_payload_read_handles(call->memory, members->members, &set.count);
    return tt_declarations_set_default_transportation(call->ambassador, set, tt_payload_read_handle(members->handle));
}

enum tt_hla tt_services_interaction_transportation(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__TwoHandles *handles = TAKE(TwoHandles, request);
    return tt_declarations_set_interaction_transportation(call->ambassador, tt_payload_read_handle(handles->first),
                                                          tt_payload_read_handle(handles->second));
}

enum tt_hla tt_services_query_interaction_transportation(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__TwoHandles *handles = TAKE(TwoHandles, request);
    return tt_declarations_query_interaction_transportation(call->ambassador, tt_payload_read_handle(handles->first),
                                                            tt_payload_read_handle(handles->second));
}
