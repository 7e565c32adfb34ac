/* SPDX-License-Identifier: MIT */
/* Connections, federations, membership, points of synchronization. */
#include <stdlib.h>
#include <string.h>

#include "fedpro/call.h"
#include "fedpro/credentials.h"
#include "fedpro/service.h"
#include "rti/rti.h"
#include "rti/sync_points.h"

enum { SETTINGS_IGNORED = 0 };

/* Nothing of a configuration is used: the address led here already. */
static enum tutti_hla connect_with(struct tutti_fedpro_call *call, const char *key)
{
    HLA_TRY(tutti_fedpro_service_connect(call->service, call->client, key));
    Fedpro__Connected *answer = tutti_fedpro_memory_take(call->memory, sizeof *answer);
    Fedpro__ConfigurationResult *result = tutti_fedpro_memory_take(call->memory, sizeof *result);
    if (!answer || !result)
        return tutti_hla_raise_memory();
    fedpro__connected__init(answer);
    fedpro__configuration_result__init(result);
    result->settings_result = SETTINGS_IGNORED;
    answer->result = result;
    call->response = &answer->base;
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_fedpro_serve_connect(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    (void)request;
    return connect_with(call, NULL);
}

enum tutti_hla tutti_fedpro_serve_connect_credited(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    return connect_with(call, tutti_fedpro_key_of_credentials(call->memory, TAKE(Credited, request)->credentials));
}

enum tutti_hla tutti_fedpro_serve_connect_configured(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__Configured *configured = TAKE(Configured, request);
    const char *key = tutti_fedpro_key_of_credentials(call->memory, configured->credentials);
    if (!key && configured->configuration)
        key = tutti_fedpro_key_of_settings(call->memory, configured->configuration->settings);
    return connect_with(call, key);
}

enum tutti_hla tutti_fedpro_serve_disconnect(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    (void)request;
    return tutti_fedpro_service_disconnect(call->client);
}

static void log_call(const struct tutti_fedpro_call *call, const char *who, const char *what, const char *federation)
{
    tutti_log_printf(call->service->options.log, TUTTI_LOG_INFO, NULL, "%s%s%s", who, what, federation);
}

/* Takes the modules. `hla` is how reading them went. */
static enum tutti_hla create(struct tutti_fedpro_call *call, const char *name, const char *time,
                             struct tutti_fedpro_modules *modules, enum tutti_hla hla)
{
    if (!hla) {
        hla = tutti_rti_create(call->ambassador, name, modules->items, modules->count, time, NULL);
        modules->count = 0; /* taken */
    }
    tutti_fedpro_modules_fini(modules);
    if (!hla)
        log_call(call, "", "a federation is created: ", name);
    return hla;
}

enum tutti_hla tutti_fedpro_serve_create_one(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__CreateOne *one = TAKE(CreateOne, request);
    struct tutti_fedpro_modules modules = {0};
    enum tutti_hla hla = tutti_fedpro_modules_add(&modules, one->module, &call->service->options.shelf);
    return create(call, one->federation, one->time, &modules, hla);
}

enum tutti_hla tutti_fedpro_serve_create_several(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__CreateSeveral *several = TAKE(CreateSeveral, request);
    struct tutti_fedpro_modules modules = {0};
    enum tutti_hla hla = tutti_fedpro_modules_add_all(&modules, several->modules, &call->service->options.shelf);
    return create(call, several->federation, several->time, &modules, hla);
}

/* The standard's own module is part of every federation; what is given in its place is merged with it. */
static enum tutti_hla add_mim(struct tutti_fedpro_modules *modules, const Fedpro__Module *mim,
                              const struct tutti_fedpro_shelf *shelf)
{
    if (!mim || mim->form_case == FEDPRO__MODULE__FORM__NOT_SET)
        return TUTTI_HLA_OK;
    if (mim->form_case == FEDPRO__MODULE__FORM_URL && strcmp(mim->url, "HLAstandardMIM") == 0)
        return RAISE(DesignatorIsHLAstandardMIM,
                     "HLAstandardMIM is part of every federation: create it without naming a MIM");
    enum tutti_hla hla = tutti_fedpro_modules_add(modules, mim, shelf);
    return hla == TUTTI_HLA_CouldNotOpenFOM   ? TUTTI_HLA_CouldNotOpenMIM
           : hla == TUTTI_HLA_ErrorReadingFOM ? TUTTI_HLA_ErrorReadingMIM
                                              : hla;
}

enum tutti_hla tutti_fedpro_serve_create_with_mim(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__CreateWithMim *with = TAKE(CreateWithMim, request);
    const struct tutti_fedpro_shelf *shelf = &call->service->options.shelf;
    struct tutti_fedpro_modules modules = {0};
    enum tutti_hla hla = add_mim(&modules, with->mim, shelf);
    hla = hla ? hla : tutti_fedpro_modules_add_all(&modules, with->modules, shelf);
    return create(call, with->federation, with->time, &modules, hla);
}

enum tutti_hla tutti_fedpro_serve_destroy(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    const char *name = TAKE(Text, request)->text;
    HLA_TRY(tutti_rti_destroy(call->ambassador, name));
    log_call(call, "", "a federation is destroyed: ", name);
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_fedpro_serve_list_federations(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    (void)request;
    return tutti_rti_list_federations(call->ambassador);
}

enum tutti_hla tutti_fedpro_serve_list_members(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    return tutti_rti_list_members(call->ambassador, TAKE(Text, request)->text);
}

static enum tutti_hla answer_joined(struct tutti_fedpro_call *call, uint32_t federate, enum tutti_time_kind time)
{
    Fedpro__Joined *answer = tutti_fedpro_memory_take(call->memory, sizeof *answer);
    Fedpro__Named *result = tutti_fedpro_memory_take(call->memory, sizeof *result);
    if (!answer || !result)
        return tutti_hla_raise_memory();
    fedpro__joined__init(answer);
    fedpro__named__init(result);
    result->handle = tutti_fedpro_make_handle(call->memory, federate);
    result->name = tutti_fedpro_make_text(tutti_time_kind_name(time));
    answer->result = result;
    call->response = &answer->base;
    return TUTTI_HLA_OK;
}

static enum tutti_hla join(struct tutti_fedpro_call *call, struct tutti_rti_join *wish, const Fedpro__Modules *set)
{
    struct tutti_fedpro_modules modules = {0};
    uint32_t federate = 0;
    enum tutti_time_kind time = TUTTI_TIME_FLOAT64;
    enum tutti_hla hla = tutti_fedpro_modules_add_all(&modules, set, &call->service->options.shelf);
    if (!hla) {
        wish->modules = modules.items;
        wish->module_count = modules.count;
        hla = tutti_rti_join(call->ambassador, wish, &federate, &time);
        modules.count = 0; /* taken */
    }
    tutti_fedpro_modules_fini(&modules);
    HLA_TRY(hla);
    log_call(call, call->ambassador->federate->name, " joins ", wish->federation);
    return answer_joined(call, federate, time);
}

enum tutti_hla tutti_fedpro_serve_join(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__Join *asked = TAKE(Join, request);
    struct tutti_rti_join wish = {.federation = asked->federation, .type = asked->type};
    return join(call, &wish, asked->modules);
}

enum tutti_hla tutti_fedpro_serve_join_named(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__JoinNamed *asked = TAKE(JoinNamed, request);
    struct tutti_rti_join wish = {.federation = asked->federation, .type = asked->type, .name = asked->name};
    return join(call, &wish, asked->modules);
}

enum tutti_hla tutti_fedpro_serve_resign(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    uint32_t action = TAKE(Number, request)->value;
    if (action >= TUTTI_RESIGNS)
        return RAISE(InvalidResignAction, "%u is no resign action", (unsigned)action);
    const struct tutti_federate *federate = call->ambassador->federate;
    char *name = NULL;
    if (federate) {
        size_t size = strlen(federate->name) + 1;
        name = tutti_fedpro_memory_take(call->memory, size);
        if (name)
            memcpy(name, federate->name, size);
    }
    const char *federation = federate ? federate->federation->name : "";
    HLA_TRY(tutti_rti_resign(call->ambassador, (enum tutti_resign)action));
    log_call(call, name ? name : "", " resigns from ", federation);
    return TUTTI_HLA_OK;
}

static enum tutti_hla register_point(struct tutti_fedpro_call *call, const Fedpro__Point *point,
                                     const Fedpro__Handles *set)
{
    size_t count = 0;
    const uint32_t *federates = tutti_fedpro_read_handles(call->memory, set, &count);
    return tutti_rti_register_sync_point(call->ambassador, point->label, tutti_fedpro_read_bytes(point->tag), federates,
                                         count);
}

enum tutti_hla tutti_fedpro_serve_register_point(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    return register_point(call, TAKE(Point, request), NULL);
}

enum tutti_hla tutti_fedpro_serve_register_point_set(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    return register_point(call, TAKE(Point, request), TAKE(Point, request)->set);
}

enum tutti_hla tutti_fedpro_serve_achieve_point(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__Achieved *achieved = TAKE(Achieved, request);
    return tutti_rti_sync_point_achieved(call->ambassador, achieved->label, achieved->successfully);
}
