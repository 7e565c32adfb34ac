/* SPDX-License-Identifier: MIT */
/* Connections, federations, membership, points of synchronization. */
#include <stdlib.h>
#include <string.h>

#include "hla/fedpro/service_call.h"
#include "hla/fedpro/credentials.h"
#include "hla/fedpro/fedpro_service.h"
#include "hla/rti/rti.h"
#include "hla/rti/sync_points.h"

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
