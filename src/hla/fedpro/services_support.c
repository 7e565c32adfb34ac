/* SPDX-License-Identifier: MIT */
/* Support services: handles to names and back, normalized handles, switches. */
#include <stdio.h>
#include <string.h>

#include "hla/fedpro/service_call.h"
#include "hla/rti/support.h"

/* A handle by a name. */
#define BY_NAME(what, service)                                                                                         \
    enum tt_hla tt_services_##what(struct tt_fedpro_call *call, const ProtobufCMessage *request)                       \
    {                                                                                                                  \
        uint32_t handle = 0;                                                                                           \
        HLA_TRY(service(call->ambassador, TAKE(Text, request)->text, &handle));                                        \
        return tt_fedpro_service_answer_handle(call, handle);                                                          \
    }
/* A name by a handle. */
#define BY_HANDLE(what, service)                                                                                       \
    enum tt_hla tt_services_##what(struct tt_fedpro_call *call, const ProtobufCMessage *request)                       \
    {                                                                                                                  \
        const char *text = NULL;                                                                                       \
        HLA_TRY(service(call->ambassador, tt_payload_read_handle(TAKE(OneHandle, request)->handle), &text));           \
        return tt_fedpro_service_answer_text(call, text);                                                              \
    }
/* A member of a class by its name, and its name. */
#define MEMBER_BY_NAME(what, service)                                                                                  \
    enum tt_hla tt_services_##what(struct tt_fedpro_call *call, const ProtobufCMessage *request)                       \
    {                                                                                                                  \
        const Fedpro__Named *named = TAKE(Named, request);                                                             \
        uint32_t handle = 0;                                                                                           \
        HLA_TRY(service(call->ambassador, tt_payload_read_handle(named->handle), named->name, &handle));               \
        return tt_fedpro_service_answer_handle(call, handle);                                                          \
    }
#define MEMBER_BY_HANDLE(what, service)                                                                                \
    enum tt_hla tt_services_##what(struct tt_fedpro_call *call, const ProtobufCMessage *request)                       \
    {                                                                                                                  \
        const Fedpro__TwoHandles *two = TAKE(TwoHandles, request);                                                     \
        const char *text = NULL;                                                                                       \
        HLA_TRY(service(call->ambassador, tt_payload_read_handle(two->first), tt_payload_read_handle(two->second),     \
                        &text));                                                                                       \
        return tt_fedpro_service_answer_text(call, text);                                                              \
    }
/* A number by a handle. */
#define NUMBER(what, service)                                                                                          \
    enum tt_hla tt_services_##what(struct tt_fedpro_call *call, const ProtobufCMessage *request)                       \
    {                                                                                                                  \
        uint32_t value = 0;                                                                                            \
        HLA_TRY(service(call->ambassador, tt_payload_read_handle(TAKE(OneHandle, request)->handle), &value));          \
        return tt_fedpro_service_answer_number(call, value);                                                           \
    }

enum tt_hla tt_services_transportation_handle(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    uint32_t transportation = 0;
    HLA_TRY(tt_support_get_transportation_handle(call->ambassador, TAKE(Text, request)->text, &transportation));
    return tt_fedpro_service_answer_transportation(call, transportation);
}

BY_NAME(federate_handle, tt_support_get_federate_handle)
BY_HANDLE(federate_name, tt_support_get_federate_name)
BY_NAME(object_class_handle, tt_support_get_object_class_handle)
BY_HANDLE(object_class_name, tt_support_get_object_class_name)
BY_NAME(object_handle, tt_support_get_object_handle)
BY_HANDLE(object_name, tt_support_get_object_name)
MEMBER_BY_NAME(attribute_handle, tt_support_get_attribute_handle)
MEMBER_BY_HANDLE(attribute_name, tt_support_get_attribute_name)
BY_NAME(interaction_class_handle, tt_support_get_interaction_class_handle)
BY_HANDLE(interaction_class_name, tt_support_get_interaction_class_name)
MEMBER_BY_NAME(parameter_handle, tt_support_get_parameter_handle)
MEMBER_BY_HANDLE(parameter_name, tt_support_get_parameter_name)
BY_HANDLE(transportation_name, tt_support_get_transportation_name)
BY_NAME(dimension_handle, tt_support_get_dimension_handle)
BY_HANDLE(dimension_name, tt_support_get_dimension_name)
NUMBER(dimension_upper_bound, tt_support_get_dimension_upper_bound)
NUMBER(normalize_federate, tt_support_normalize_federate)
NUMBER(normalize_object_class, tt_support_normalize_object_class)
NUMBER(normalize_interaction_class, tt_support_normalize_interaction_class)
NUMBER(normalize_object, tt_support_normalize_object)

enum tt_hla tt_services_known_object_class(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    uint32_t class = 0;
    HLA_TRY(
        tt_support_get_known_class(call->ambassador, tt_payload_read_handle(TAKE(OneHandle, request)->handle), &class));
    return tt_fedpro_service_answer_handle(call, class);
}

enum tt_hla tt_services_update_rate(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    double rate = 0;
    HLA_TRY(tt_support_get_update_rate(call->ambassador, TAKE(Text, request)->text, &rate));
    return tt_fedpro_service_answer_double(call, rate);
}

/* Updates are not thinned out: the rate is that of no bound, 0. */
enum tt_hla tt_services_attribute_update_rate(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__TwoHandles *two = TAKE(TwoHandles, request);
    struct tt_federate *federate = NULL;
    struct tt_object *object = NULL;
    uint32_t attribute = tt_payload_read_handle(two->second);
    HLA_TRY(tt_federation_of_ambassador(call->ambassador, &federate));
    HLA_TRY(tt_federation_find_object(federate, tt_payload_read_handle(two->first), &object));
    if (!tt_federation_find_attribute(object, attribute))
        return RAISE(AttributeNotDefined, "%s has no attribute %u", object->name, (unsigned)attribute);
    return tt_fedpro_service_answer_double(call, 0);
}

enum tt_hla tt_services_order_type(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    enum tt_message_order order = TUTTI_ORDER_RECEIVE;
    HLA_TRY(tt_support_get_order(call->ambassador, TAKE(Text, request)->text, &order));
    return tt_fedpro_service_answer_number(call, (uint32_t)order);
}

enum tt_hla tt_services_order_name(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    uint32_t order = TAKE(Number, request)->value;
    const char *name = NULL;
    if (order > TUTTI_ORDER_TIMESTAMP)
        return RAISE(InvalidOrderType, "%u is no type of order", (unsigned)order);
    HLA_TRY(tt_support_get_order_name(call->ambassador, (enum tt_message_order)order, &name));
    return tt_fedpro_service_answer_text(call, name);
}

enum tt_hla tt_services_normalize_service_group(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    uint32_t value = 0;
    HLA_TRY(tt_support_normalize_service_group(call->ambassador, TAKE(Number, request)->value, &value));
    return tt_fedpro_service_answer_number(call, value);
}

/* The dimensions that are named in a list with a space after each. */
static enum tt_hla answer_dimensions(struct tt_fedpro_call *call, const struct tt_fom *fom, const char *names)
{
    size_t count = 0, most = strlen(names) / 2 + 1;
    uint32_t *handles = tt_payload_memory_allocate(call->memory, most * sizeof *handles);
    if (!handles)
        return tt_exception_raise_memory();
    for (const char *end = NULL; (end = strchr(names, ' ')) != NULL; names = end + 1) {
        size_t length = (size_t)(end - names);
        char *name = tt_payload_memory_allocate(call->memory, length + 1);
        if (!name)
            return tt_exception_raise_memory();
        snprintf(name, length + 1, "%.*s", (int)length, names);
        uint32_t handle = tt_fom_find_entry(&fom->dimensions, name);
        if (handle)
            handles[count++] = handle;
    }
    return tt_fedpro_service_answer_handles(call, handles, count);
}

/* The object model of the caller's federation. */
static enum tt_hla caller_object_model(const struct tt_fedpro_call *call, const struct tt_fom **fom)
{
    struct tt_federate *federate = NULL;
    HLA_TRY(tt_federation_of_ambassador(call->ambassador, &federate));
    *fom = federate->federation->fom;
    return TUTTI_HLA_OK;
}

/* Those of all attributes that the class has. */
enum tt_hla tt_services_object_class_dimensions(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    const struct tt_fom *fom = NULL;
    HLA_TRY(caller_object_model(call, &fom));
    uint32_t class = tt_payload_read_handle(TAKE(OneHandle, request)->handle);
    if (!tt_fom_class(&fom->objects, class))
        return RAISE(InvalidObjectClassHandle, "%u is no object class", (unsigned)class);
    const char *names = "";
    for (uint32_t i = 1; i <= fom->objects.member_count; i++) {
        const struct tt_fom_member *member = tt_fom_member(&fom->objects, i);
        if (!tt_fom_has_member(&fom->objects, class, i) || member->dimensions[0] == '\0')
            continue;
        size_t had = strlen(names), more = strlen(member->dimensions);
        char *both = tt_payload_memory_allocate(call->memory, had + more + 1);
        if (!both)
            return tt_exception_raise_memory();
        snprintf(both, had + more + 1, "%s%s", names, member->dimensions);
        names = both;
    }
    return answer_dimensions(call, fom, names);
}

enum tt_hla tt_services_interaction_class_dimensions(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    const struct tt_fom *fom = NULL;
    HLA_TRY(caller_object_model(call, &fom));
    uint32_t handle = tt_payload_read_handle(TAKE(OneHandle, request)->handle);
    const struct tt_fom_class *class = tt_fom_class(&fom->interactions, handle);
    if (!class)
        return RAISE(InvalidInteractionClassHandle, "%u is no interaction class", (unsigned)handle);
    return answer_dimensions(call, fom, class->dimensions);
}

/* Switches: OWN are the federate's, to read and to write; FEDERATION's are to be read. */
#define GET(name, whose, field)                                                                                        \
    enum tt_hla tt_services_get_##name(struct tt_fedpro_call *call, const ProtobufCMessage *request)                   \
    {                                                                                                                  \
        struct tt_fom_switches *own = NULL;                                                                            \
        const struct tt_fom_switches *federation = NULL;                                                               \
        (void)request;                                                                                                 \
        HLA_TRY(tt_support_switches(call->ambassador, &own, &federation));                                             \
        return tt_fedpro_service_answer_flag(call, whose->field);                                                      \
    }
#define SET(name, field)                                                                                               \
    enum tt_hla tt_services_set_##name(struct tt_fedpro_call *call, const ProtobufCMessage *request)                   \
    {                                                                                                                  \
        struct tt_fom_switches *own = NULL;                                                                            \
        const struct tt_fom_switches *federation = NULL;                                                               \
        HLA_TRY(tt_support_switches(call->ambassador, &own, &federation));                                             \
        own->field = TAKE(Flag, request)->value;                                                                       \
        return TUTTI_HLA_OK;                                                                                           \
    }

GET(object_class_relevance, own, object_class_relevance_advisory)
SET(object_class_relevance, object_class_relevance_advisory)
GET(attribute_relevance, own, attribute_relevance_advisory)
SET(attribute_relevance, attribute_relevance_advisory)
GET(attribute_scope, own, attribute_scope_advisory)
SET(attribute_scope, attribute_scope_advisory)
GET(interaction_relevance, own, interaction_relevance_advisory)
SET(interaction_relevance, interaction_relevance_advisory)
GET(convey_regions, own, convey_region_designator_sets)
SET(convey_regions, convey_region_designator_sets)
GET(service_reporting, own, service_reporting)
SET(service_reporting, service_reporting)
GET(exception_reporting, own, exception_reporting)
SET(exception_reporting, exception_reporting)
GET(reports_to_file, own, send_service_reports_to_file)
SET(reports_to_file, send_service_reports_to_file)
GET(auto_provide, federation, auto_provide)
GET(delay_subscription, federation, delay_subscription_evaluation)
GET(advisories_known_class, federation, advisories_use_known_class)
GET(relaxed_ddm, federation, allow_relaxed_ddm)
GET(non_regulated_grant, federation, non_regulated_grant)

enum tt_hla tt_services_get_automatic_resign(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    struct tt_fom_switches *own = NULL;
    const struct tt_fom_switches *federation = NULL;
    (void)request;
    HLA_TRY(tt_support_switches(call->ambassador, &own, &federation));
    return tt_fedpro_service_answer_number(call, (uint32_t)own->automatic_resign);
}

enum tt_hla tt_services_set_automatic_resign(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    struct tt_fom_switches *own = NULL;
    const struct tt_fom_switches *federation = NULL;
    uint32_t action = TAKE(Number, request)->value;
    HLA_TRY(tt_support_switches(call->ambassador, &own, &federation));
    if (action >= TUTTI_RESIGNS)
        return RAISE(InvalidResignAction, "%u is no resign action", (unsigned)action);
    own->automatic_resign = (enum tt_resign)action;
    return TUTTI_HLA_OK;
}
