/* SPDX-License-Identifier: MIT */
/* Declaration management: what a federate publishes and subscribes to. */
#include <string.h>

#include "fedpro/call.h"
#include "rti/declarations.h"

static struct tutti_class_set set_of(struct tutti_fedpro_call *call, const Fedpro__Members *members)
{
    struct tutti_class_set set = {.class = tutti_fedpro_read_handle(members->subject)};
    set.handles = tutti_fedpro_read_handles(call->memory, members->members, &set.count);
    return set;
}

/* Services that take members of a class. */
#define SERVE(name, ...)                                                                                               \
    enum tutti_hla tutti_fedpro_serve_##name(struct tutti_fedpro_call *call, const ProtobufCMessage *request)          \
    {                                                                                                                  \
        const Fedpro__Members *members = TAKE(Members, request);                                                       \
        return __VA_ARGS__;                                                                                            \
    }
/* Services that take a class. */
#define SERVE_CLASS(name, ...)                                                                                         \
    enum tutti_hla tutti_fedpro_serve_##name(struct tutti_fedpro_call *call, const ProtobufCMessage *request)          \
    {                                                                                                                  \
        uint32_t class = tutti_fedpro_read_handle(TAKE(OneHandle, request)->handle);                                   \
        return __VA_ARGS__;                                                                                            \
    }
#define SET set_of(call, members)

/* The name of an update rate, with a NUL. */
static enum tutti_hla subscribe(struct tutti_fedpro_call *call, const Fedpro__Members *members, bool active)
{
    char *rate = tutti_fedpro_memory_take(call->memory, members->extra.len + 1);
    if (!rate)
        return tutti_hla_raise_memory();
    if (members->extra.len > 0)
        memcpy(rate, members->extra.data, members->extra.len);
    return tutti_rti_subscribe_attributes(call->ambassador, SET, active, rate);
}

SERVE(publish_attributes, tutti_rti_publish_attributes(call->ambassador, SET))
SERVE(unpublish_attributes, tutti_rti_unpublish_attributes(call->ambassador, SET))
SERVE_CLASS(unpublish_object_class, tutti_rti_unpublish_object_class(call->ambassador, class))
SERVE(subscribe_attributes, subscribe(call, members, true))
SERVE(subscribe_attributes_passively, subscribe(call, members, false))
SERVE(unsubscribe_attributes, tutti_rti_unsubscribe_attributes(call->ambassador, SET))
SERVE_CLASS(unsubscribe_object_class, tutti_rti_unsubscribe_object_class(call->ambassador, class))

SERVE_CLASS(publish_interaction, tutti_rti_publish_interaction(call->ambassador, class))
SERVE_CLASS(unpublish_interaction, tutti_rti_unpublish_interaction(call->ambassador, class))
SERVE_CLASS(subscribe_interaction, tutti_rti_subscribe_interaction(call->ambassador, class, true))
SERVE_CLASS(subscribe_interaction_passively, tutti_rti_subscribe_interaction(call->ambassador, class, false))
SERVE_CLASS(unsubscribe_interaction, tutti_rti_unsubscribe_interaction(call->ambassador, class))

SERVE(publish_directed, tutti_rti_publish_directed(call->ambassador, SET))
SERVE(unpublish_directed, tutti_rti_unpublish_directed(call->ambassador, SET))
SERVE(subscribe_directed, tutti_rti_subscribe_directed(call->ambassador, SET, false))
SERVE(subscribe_directed_universally, tutti_rti_subscribe_directed(call->ambassador, SET, true))
SERVE(unsubscribe_directed, tutti_rti_unsubscribe_directed(call->ambassador, SET))

static enum tutti_hla check_order(uint32_t order)
{
    return order <= TUTTI_ORDER_TIMESTAMP ? TUTTI_HLA_OK : RAISE(InvalidOrderType, "%u is no type of order", order);
}

enum tutti_hla tutti_fedpro_serve_default_order(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__MembersNumber *members = TAKE(MembersNumber, request);
    struct tutti_class_set set = {.class = tutti_fedpro_read_handle(members->subject)};
    set.handles = tutti_fedpro_read_handles(call->memory, members->members, &set.count);
    HLA_TRY(check_order(members->number));
    return tutti_rti_change_default_attribute_order(call->ambassador, set, (enum tutti_order)members->number);
}

enum tutti_hla tutti_fedpro_serve_interaction_order(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__HandleNumber *class = TAKE(HandleNumber, request);
    HLA_TRY(check_order(class->number));
    return tutti_rti_change_interaction_order(call->ambassador, tutti_fedpro_read_handle(class->handle),
                                              (enum tutti_order) class->number);
}

enum tutti_hla tutti_fedpro_serve_default_attribute_transportation(struct tutti_fedpro_call *call,
                                                                   const ProtobufCMessage *request)
{
    const Fedpro__MembersHandle *members = TAKE(MembersHandle, request);
    struct tutti_class_set set = {.class = tutti_fedpro_read_handle(members->subject)};
    set.handles = tutti_fedpro_read_handles(call->memory, members->members, &set.count);
    return tutti_rti_change_default_attribute_transportation(call->ambassador, set,
                                                             tutti_fedpro_read_handle(members->handle));
}

enum tutti_hla tutti_fedpro_serve_interaction_transportation(struct tutti_fedpro_call *call,
                                                             const ProtobufCMessage *request)
{
    const Fedpro__TwoHandles *handles = TAKE(TwoHandles, request);
    return tutti_rti_change_interaction_transportation(call->ambassador, tutti_fedpro_read_handle(handles->first),
                                                       tutti_fedpro_read_handle(handles->second));
}

enum tutti_hla tutti_fedpro_serve_query_interaction_transportation(struct tutti_fedpro_call *call,
                                                                   const ProtobufCMessage *request)
{
    const Fedpro__TwoHandles *handles = TAKE(TwoHandles, request);
    return tutti_rti_query_interaction_transportation(call->ambassador, tutti_fedpro_read_handle(handles->first),
                                                      tutti_fedpro_read_handle(handles->second));
}
