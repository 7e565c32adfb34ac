/* SPDX-License-Identifier: MIT */
/* Connections, federations, membership, points of synchronization. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "hla/fedpro/fedpro_service.h"
#include "hla/fedpro/payload.h"
#include "hla/rti/declarations.h"
#include "hla/rti/objects.h"
#include "hla/rti/ownership.h"
#include "hla/rti/rti.h"
#include "hla/rti/support.h"
#include "hla/rti/time_management.h"

enum { SETTINGS_IGNORED = 0 };

/* Nothing of a configuration is used: the address led here already. */
static enum tt_hla connect_with(struct tt_fedpro_call *call, const char *key)
{
    HLA_TRY(tt_fedpro_service_connect(call->service, call->client, key));
    Fedpro__Connected *answer = tt_payload_memory_allocate(call->memory, sizeof *answer);
    Fedpro__ConfigurationResult *result = tt_payload_memory_allocate(call->memory, sizeof *result);
    if (!answer || !result)
        return tt_exception_raise_memory();
    fedpro__connected__init(answer);
    fedpro__configuration_result__init(result);
    result->settings_result = SETTINGS_IGNORED;
    answer->result = result;
    call->response = &answer->base;
    return TUTTI_HLA_OK;
}

enum tt_hla tt_services_connect(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    (void)request;
    return connect_with(call, NULL);
}

enum tt_hla tt_services_connect_credited(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    return connect_with(call, tt_payload_read_credentials(call->memory, TAKE(Credited, request)->credentials));
}

enum tt_hla tt_services_connect_configured(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__Configured *configured = TAKE(Configured, request);
    const char *key = tt_payload_read_credentials(call->memory, configured->credentials);
    if (!key && configured->configuration)
        key = tt_payload_read_settings_key(call->memory, configured->configuration->settings);
    return connect_with(call, key);
}

enum tt_hla tt_services_disconnect(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    (void)request;
    return tt_fedpro_service_disconnect(call->client);
}

static void log_call(const struct tt_fedpro_call *call, const char *who, const char *what, const char *federation)
{
    tt_log(call->service->options.log, TUTTI_LOG_INFO, NULL, "%s%s%s", who, what, federation);
}

/* Takes the modules. `hla` is how reading them went. */
static enum tt_hla services_create_federation(struct tt_fedpro_call *call, const char *name, const char *time,
                                              struct tt_module_set *modules, enum tt_hla hla)
{
    if (!hla) {
        hla = tt_rti_create(call->ambassador, name, modules->items, modules->count, time, NULL);
        modules->count = 0; /* taken */
    }
    tt_module_set_fini(modules);
    if (!hla)
        log_call(call, "", "a federation is created: ", name);
    return hla;
}

enum tt_hla tt_services_create_one(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__CreateOne *one = TAKE(CreateOne, request);
    struct tt_module_set modules = {0};
    enum tt_hla hla = tt_module_set_add(&modules, one->module, &call->service->options.shelf);
    return services_create_federation(call, one->federation, one->time, &modules, hla);
}

enum tt_hla tt_services_create_several(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__CreateSeveral *several = TAKE(CreateSeveral, request);
    struct tt_module_set modules = {0};
    enum tt_hla hla = tt_module_set_add_all(&modules, several->modules, &call->service->options.shelf);
    return services_create_federation(call, several->federation, several->time, &modules, hla);
}

/* The standard's own module is part of every federation; what is given in its place is merged with it. */
static enum tt_hla add_mim(struct tt_module_set *modules, const Fedpro__Module *mim,
                           const struct tt_module_files *shelf)
{
    if (!mim || mim->form_case == FEDPRO__MODULE__FORM__NOT_SET)
        return TUTTI_HLA_OK;
    if (mim->form_case == FEDPRO__MODULE__FORM_URL && strcmp(mim->url, "HLAstandardMIM") == 0)
        return RAISE(DesignatorIsHLAstandardMIM,
                     "HLAstandardMIM is part of every federation: create it without naming a MIM");
    enum tt_hla hla = tt_module_set_add(modules, mim, shelf);
    return hla == TUTTI_HLA_CouldNotOpenFOM   ? TUTTI_HLA_CouldNotOpenMIM
           : hla == TUTTI_HLA_ErrorReadingFOM ? TUTTI_HLA_ErrorReadingMIM
                                              : hla;
}

enum tt_hla tt_services_create_with_mim(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__CreateWithMim *with = TAKE(CreateWithMim, request);
    const struct tt_module_files *shelf = &call->service->options.shelf;
    struct tt_module_set modules = {0};
    enum tt_hla hla = add_mim(&modules, with->mim, shelf);
    hla = hla ? hla : tt_module_set_add_all(&modules, with->modules, shelf);
    return services_create_federation(call, with->federation, with->time, &modules, hla);
}

enum tt_hla tt_services_destroy(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    const char *name = TAKE(Text, request)->text;
    HLA_TRY(tt_rti_destroy(call->ambassador, name));
    log_call(call, "", "a federation is destroyed: ", name);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_services_list_federations(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    (void)request;
    return tt_rti_list_federations(call->ambassador);
}

enum tt_hla tt_services_list_members(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    return tt_rti_list_members(call->ambassador, TAKE(Text, request)->text);
}

static enum tt_hla answer_joined(struct tt_fedpro_call *call, uint32_t federate, enum tt_logical_time_kind time)
{
    Fedpro__Joined *answer = tt_payload_memory_allocate(call->memory, sizeof *answer);
    Fedpro__Named *result = tt_payload_memory_allocate(call->memory, sizeof *result);
    if (!answer || !result)
        return tt_exception_raise_memory();
    fedpro__joined__init(answer);
    fedpro__named__init(result);
    result->handle = tt_payload_make_handle(call->memory, federate);
    result->name = tt_payload_make_text(tt_logical_time_kind_name(time));
    answer->result = result;
    call->response = &answer->base;
    return TUTTI_HLA_OK;
}

static enum tt_hla services_join_federation(struct tt_fedpro_call *call, struct tt_rti_join *wish,
                                            const Fedpro__Modules *set)
{
    struct tt_module_set modules = {0};
    uint32_t federate = 0;
    enum tt_logical_time_kind time = TUTTI_TIME_FLOAT64;
    enum tt_hla hla = tt_module_set_add_all(&modules, set, &call->service->options.shelf);
    if (!hla) {
        wish->modules = modules.items;
        wish->module_count = modules.count;
        hla = tt_rti_join(call->ambassador, wish, &federate, &time);
        modules.count = 0; /* taken */
    }
    tt_module_set_fini(&modules);
    HLA_TRY(hla);
    log_call(call, call->ambassador->federate->name, " joins ", wish->federation);
    return answer_joined(call, federate, time);
}

enum tt_hla tt_services_join(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__Join *asked = TAKE(Join, request);
    struct tt_rti_join wish = {.federation = asked->federation, .type = asked->type};
    return services_join_federation(call, &wish, asked->modules);
}

enum tt_hla tt_services_join_named(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__JoinNamed *asked = TAKE(JoinNamed, request);
    struct tt_rti_join wish = {.federation = asked->federation, .type = asked->type, .name = asked->name};
    return services_join_federation(call, &wish, asked->modules);
}

enum tt_hla tt_services_resign(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    uint32_t action = TAKE(Number, request)->value;
    if (action >= TUTTI_RESIGNS)
        return RAISE(InvalidResignAction, "%u is no resign action", (unsigned)action);
    const struct tt_federate *federate = call->ambassador->federate;
    char *name = NULL;
    if (federate) {
        size_t size = strlen(federate->name) + 1;
        name = tt_payload_memory_allocate(call->memory, size);
        if (name)
            memcpy(name, federate->name, size);
    }
    const char *federation = federate ? federate->federation->name : "";
    HLA_TRY(tt_rti_resign(call->ambassador, (enum tt_resign)action));
    log_call(call, name ? name : "", " resigns from ", federation);
    return TUTTI_HLA_OK;
}

static enum tt_hla register_point(struct tt_fedpro_call *call, const Fedpro__Point *point, const Fedpro__Handles *set)
{
    size_t count = 0;
    const uint32_t *federates = tt_payload_read_handles(call->memory, set, &count);
    return tt_rti_register_sync_point(call->ambassador, point->label, tt_payload_read_bytes(point->tag), federates,
                                      count);
}

enum tt_hla tt_services_register_point(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    return register_point(call, TAKE(Point, request), NULL);
}

enum tt_hla tt_services_register_point_set(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    return register_point(call, TAKE(Point, request), TAKE(Point, request)->set);
}

enum tt_hla tt_services_achieve_point(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__Achieved *achieved = TAKE(Achieved, request);
    return tt_rti_achieve_sync_point(call->ambassador, achieved->label, achieved->successfully);
}

/* Declaration management: what a federate publishes and subscribes to. */

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

/* Object management: objects and interactions. */

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

/* Writes to the journal, if there is one. */
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

static struct tt_attribute_set services_attribute_set(struct tt_fedpro_call *call, const Fedpro__Members *members)
{
    struct tt_attribute_set set = {.object = tt_payload_read_handle(members->subject)};
    set.attributes = tt_payload_read_handles(call->memory, members->members, &set.count);
    return set;
}

/* Services that take attributes of an object, and a tag or none. */
#define SERVICES_OWNERSHIP_SERVE(name, ...)                                                                            \
    enum tt_hla tt_services_##name(struct tt_fedpro_call *call, const ProtobufCMessage *request)                       \
    {                                                                                                                  \
        const Fedpro__Members *members = TAKE(Members, request);                                                       \
        return __VA_ARGS__;                                                                                            \
    }
#define SERVICES_OWNERSHIP_SET services_attribute_set(call, members)
#define TAG tt_payload_read_bytes(members->extra)

SERVICES_OWNERSHIP_SERVE(divest, tt_ownership_unconditional_divest(call->ambassador, SERVICES_OWNERSHIP_SET, TAG))
SERVICES_OWNERSHIP_SERVE(negotiate, tt_ownership_negotiated_divest(call->ambassador, SERVICES_OWNERSHIP_SET, TAG))
SERVICES_OWNERSHIP_SERVE(confirm_divestiture,
                         tt_ownership_confirm_divestiture(call->ambassador, SERVICES_OWNERSHIP_SET, TAG))
SERVICES_OWNERSHIP_SERVE(acquire, tt_ownership_acquire(call->ambassador, SERVICES_OWNERSHIP_SET, TAG))
SERVICES_OWNERSHIP_SERVE(acquire_if_available,
                         tt_ownership_acquire_if_available(call->ambassador, SERVICES_OWNERSHIP_SET, TAG))
SERVICES_OWNERSHIP_SERVE(release_denied, tt_ownership_release_denied(call->ambassador, SERVICES_OWNERSHIP_SET))
SERVICES_OWNERSHIP_SERVE(cancel_negotiated,
                         tt_ownership_cancel_negotiated_divest(call->ambassador, SERVICES_OWNERSHIP_SET))
SERVICES_OWNERSHIP_SERVE(cancel_acquisition, tt_ownership_cancel_acquisition(call->ambassador, SERVICES_OWNERSHIP_SET))
SERVICES_OWNERSHIP_SERVE(query_ownership, tt_ownership_query(call->ambassador, SERVICES_OWNERSHIP_SET))

enum tt_hla tt_services_divest_if_wanted(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__Members *members = TAKE(Members, request);
    struct tt_attribute_set set = SERVICES_OWNERSHIP_SET;
    size_t count = 0;
    uint32_t *divested = tt_payload_memory_allocate(call->memory, (set.count + 1) * sizeof *divested);
    if (!divested)
        return tt_exception_raise_memory();
    HLA_TRY(tt_ownership_divest_if_wanted(call->ambassador, set, TAG, divested, &count));
    return tt_fedpro_service_answer_handles(call, divested, count);
}

enum tt_hla tt_services_is_owned(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__TwoHandles *two = TAKE(TwoHandles, request);
    bool owned = false;
    HLA_TRY(tt_ownership_is_owned(call->ambassador, tt_payload_read_handle(two->first),
                                  tt_payload_read_handle(two->second), &owned));
    return tt_fedpro_service_answer_flag(call, owned);
}

/* How the RTI stands, for `tutti rti status`. */

static const char *const pending_names[] = {
    [TUTTI_ADVANCE_NONE] = "",   [TUTTI_ADVANCE_TAR] = "TAR",   [TUTTI_ADVANCE_TARA] = "TARA",
    [TUTTI_ADVANCE_NMR] = "NMR", [TUTTI_ADVANCE_NMRA] = "NMRA",
};

static const struct tt_fedpro_session *services_find_session(const struct tt_fedpro_call *call,
                                                             const struct tt_federate *federate)
{
    for (const struct tt_fedpro_client *client = call->service->clients; client; client = client->next)
        if (client->ambassador == federate->ambassador)
            return client->session;
    return NULL;
}

static void services_report_time(Fedpro__StatusFederate *told, struct tt_federate *federate)
{
    enum tt_logical_time_kind kind = federate->federation->time_kind;
    struct tt_time_status status;
    tt_time_management_status(federate, &status);
    told->time = tt_logical_time_to_double(kind, federate->time.now);
    told->regulating = federate->time.regulating;
    told->lookahead = federate->time.regulating ? tt_logical_time_to_double(kind, federate->time.lookahead) : 0;
    told->constrained = federate->time.constrained;
    told->pending = tt_payload_make_text(pending_names[federate->time.pending]);
    told->target = federate->time.pending ? tt_logical_time_to_double(kind, federate->time.target) : 0;
    told->has_galt = status.has_galt;
    told->galt = status.has_galt ? tt_logical_time_to_double(kind, status.galt) : 0;
    told->has_lits = status.has_lits;
    told->lits = status.has_lits ? tt_logical_time_to_double(kind, status.lits) : 0;
    const struct tt_federate *holder = tt_federation_member(federate->federation, status.holder);
    told->holder = tt_payload_make_text(holder ? holder->name : "");
}

static Fedpro__StatusFederate *report_federate_status(struct tt_fedpro_call *call, struct tt_federate *federate)
{
    Fedpro__StatusFederate *told = tt_payload_memory_allocate(call->memory, sizeof *told);
    const struct tt_fedpro_session *session = services_find_session(call, federate);
    if (!told)
        return NULL;
    fedpro__status_federate__init(told);
    told->name = tt_payload_make_text(federate->name);
    told->type = tt_payload_make_text(federate->type);
    told->queued = (uint32_t)federate->tso.count;
    told->unsent = session ? (uint32_t)tt_session_link_pending(&session->link) : 0;
    told->connected = session && session->connection;
    services_report_time(told, federate);
    return told;
}

static Fedpro__StatusFederation *report_federation_status(struct tt_fedpro_call *call, struct tt_federation *federation)
{
    size_t count = federation->federates.count;
    struct tt_text waits = {0};
    Fedpro__StatusFederation *told = tt_payload_memory_allocate(call->memory, sizeof *told);
    Fedpro__StatusFederate **items = tt_payload_memory_allocate(call->memory, (count + 1) * sizeof(void *));
    if (!told || !items)
        return NULL;
    fedpro__status_federation__init(told);
    told->name = tt_payload_make_text(federation->name);
    told->time = tt_payload_make_text(tt_logical_time_kind_name(federation->time_kind));
    told->objects = (uint32_t)federation->objects.count;
    told->federate = items;
    for (size_t i = 0; i < count; i++)
        if ((items[told->n_federate] = report_federate_status(call, tt_federation_at(federation, i))) != NULL)
            told->n_federate++;
    tt_time_management_explain(federation, &waits);
    char *kept = tt_payload_memory_allocate(call->memory, waits.length + 1);
    if (kept && waits.text)
        memcpy(kept, waits.text, waits.length);
    told->waits = tt_payload_make_text(kept);
    tt_text_fini(&waits);
    return told;
}

enum tt_hla tt_services_status(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    (void)request;
    const struct tt_rti *rti = call->service->rti;
    Fedpro__Status *status = tt_payload_memory_allocate(call->memory, sizeof *status);
    Fedpro__StatusFederation **items = tt_payload_memory_allocate(call->memory, (rti->count + 1) * sizeof(void *));
    if (!status || !items)
        return tt_exception_raise_memory();
    fedpro__status__init(status);
    status->federation = items;
    for (size_t i = 0; i < rti->count; i++)
        if ((items[status->n_federation] = report_federation_status(call, rti->federations[i])) != NULL)
            status->n_federation++;
    for (const struct tt_fedpro_client *client = call->service->clients; client; client = client->next)
        status->sessions++;
    call->response = &status->base;
    return TUTTI_HLA_OK;
}

/* Support services: handles to names and back, normalized handles, switches. */

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

/* Updates are not thinned out: the rate is 0, unbounded. */
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
#define SERVICES_SUPPORT_SET(name, field)                                                                              \
    enum tt_hla tt_services_set_##name(struct tt_fedpro_call *call, const ProtobufCMessage *request)                   \
    {                                                                                                                  \
        struct tt_fom_switches *own = NULL;                                                                            \
        const struct tt_fom_switches *federation = NULL;                                                               \
        HLA_TRY(tt_support_switches(call->ambassador, &own, &federation));                                             \
        own->field = TAKE(Flag, request)->value;                                                                       \
        return TUTTI_HLA_OK;                                                                                           \
    }

GET(object_class_relevance, own, object_class_relevance_advisory)
SERVICES_SUPPORT_SET(object_class_relevance, object_class_relevance_advisory)
GET(attribute_relevance, own, attribute_relevance_advisory)
SERVICES_SUPPORT_SET(attribute_relevance, attribute_relevance_advisory)
GET(attribute_scope, own, attribute_scope_advisory)
SERVICES_SUPPORT_SET(attribute_scope, attribute_scope_advisory)
GET(interaction_relevance, own, interaction_relevance_advisory)
SERVICES_SUPPORT_SET(interaction_relevance, interaction_relevance_advisory)
GET(convey_regions, own, convey_region_designator_sets)
SERVICES_SUPPORT_SET(convey_regions, convey_region_designator_sets)
GET(service_reporting, own, service_reporting)
SERVICES_SUPPORT_SET(service_reporting, service_reporting)
GET(exception_reporting, own, exception_reporting)
SERVICES_SUPPORT_SET(exception_reporting, exception_reporting)
GET(reports_to_file, own, send_service_reports_to_file)
SERVICES_SUPPORT_SET(reports_to_file, send_service_reports_to_file)
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

enum tt_hla tt_services_enable_regulation(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    int64_t lookahead = 0;
    HLA_TRY(
        tt_fedpro_service_read_time(call, TAKE(OneHandle, request)->handle, TUTTI_HLA_InvalidLookahead, &lookahead));
    return tt_time_management_enable_regulation(call->ambassador, lookahead);
}

enum tt_hla tt_services_disable_regulation(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    (void)request;
    return tt_time_management_disable_regulation(call->ambassador);
}

enum tt_hla tt_services_enable_constrained(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    (void)request;
    return tt_time_management_enable_constrained(call->ambassador);
}

enum tt_hla tt_services_disable_constrained(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    (void)request;
    return tt_time_management_disable_constrained(call->ambassador);
}

static enum tt_hla services_advance(struct tt_fedpro_call *call, const ProtobufCMessage *request,
                                    enum tt_time_advance how)
{
    int64_t time = 0;
    HLA_TRY(tt_fedpro_service_read_time(call, TAKE(OneHandle, request)->handle, TUTTI_HLA_InvalidLogicalTime, &time));
    return tt_time_management_advance(call->ambassador, how, time);
}

enum tt_hla tt_services_tar(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    return services_advance(call, request, TUTTI_ADVANCE_TAR);
}

enum tt_hla tt_services_tara(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    return services_advance(call, request, TUTTI_ADVANCE_TARA);
}

enum tt_hla tt_services_nmr(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    return services_advance(call, request, TUTTI_ADVANCE_NMR);
}

enum tt_hla tt_services_nmra(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    return services_advance(call, request, TUTTI_ADVANCE_NMRA);
}

enum tt_hla tt_services_flush_queue(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    int64_t time = 0;
    HLA_TRY(tt_fedpro_service_read_time(call, TAKE(OneHandle, request)->handle, TUTTI_HLA_InvalidLogicalTime, &time));
    return tt_time_management_flush_queue(call->ambassador, time);
}

enum tt_hla tt_services_enable_asynchronous(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    (void)request;
    return tt_time_management_enable_async(call->ambassador);
}

enum tt_hla tt_services_disable_asynchronous(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    (void)request;
    return tt_time_management_disable_async(call->ambassador);
}

enum tt_hla tt_services_galt(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    (void)request;
    bool valid = false;
    int64_t time = 0;
    HLA_TRY(tt_time_management_query_galt(call->ambassador, &valid, &time));
    return tt_fedpro_service_answer_valid_time(call, valid, time);
}

enum tt_hla tt_services_lits(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    (void)request;
    bool valid = false;
    int64_t time = 0;
    HLA_TRY(tt_time_management_query_lits(call->ambassador, &valid, &time));
    return tt_fedpro_service_answer_valid_time(call, valid, time);
}

enum tt_hla tt_services_logical_time(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    (void)request;
    int64_t time = 0;
    HLA_TRY(tt_time_management_query_logical_time(call->ambassador, &time));
    return tt_fedpro_service_answer_time(call, time);
}

enum tt_hla tt_services_lookahead(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    (void)request;
    int64_t lookahead = 0;
    HLA_TRY(tt_time_management_query_lookahead(call->ambassador, &lookahead));
    return tt_fedpro_service_answer_time(call, lookahead);
}

enum tt_hla tt_services_modify_lookahead(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    int64_t lookahead = 0;
    HLA_TRY(
        tt_fedpro_service_read_time(call, TAKE(OneHandle, request)->handle, TUTTI_HLA_InvalidLookahead, &lookahead));
    return tt_time_management_modify_lookahead(call->ambassador, lookahead);
}
