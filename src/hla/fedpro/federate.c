/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vector.h"
#include "hla/fedpro/federate_client.h"
#include "hla/fedpro/payload.h"

/* A call that is answered by a message without content. */
enum tutti_err tt_federate_call(struct tutti_federate_client *federate, uint32_t number,
                                const ProtobufCMessage *request)
{
    ProtobufCMessage *response = NULL;
    return tt_fedpro_caller_call(federate->caller, &federate->memory, number, request, &fedpro__nothing__descriptor,
                                 &response);
}

/* ---- declarations ---- */

static enum tutti_err declare_attributes(struct tutti_federate_client *federate, uint32_t number,
                                         const char *object_class, const char *attributes)
{
    size_t place = 0, most = strlen(attributes) + 1;
    Fedpro__Members request = FEDPRO__MEMBERS__INIT;
    Fedpro__Handles set = FEDPRO__HANDLES__INIT;
    tt_payload_memory_reset(&federate->memory);
    TRY(tt_federate_client_find_class(federate, false, object_class, &place));
    Fedpro__Handle *handles = tt_payload_memory_allocate(&federate->memory, most * sizeof *handles);
    char *names = tt_payload_memory_allocate(&federate->memory, most);
    set.item = tt_payload_memory_allocate(&federate->memory, most * sizeof(Fedpro__Handle *));
    if (!handles || !names || !set.item)
        return tt_fail_memory();
    memcpy(names, attributes, most);
    char *rest = NULL;
    for (char *name = strtok_r(names, ", ", &rest); name; name = strtok_r(NULL, ", ", &rest)) {
        size_t which = 0;
        TRY(tt_federate_client_find_member(federate, place, name, &which));
        const struct tt_client_member *member = &federate->classes[place].members[which];
        fedpro__handle__init(&handles[set.n_item]);
        handles[set.n_item].data.data = tt_payload_memory_allocate(&federate->memory, TUTTI_MOST_HANDLE);
        if (!handles[set.n_item].data.data)
            return tt_fail_memory();
        handles[set.n_item].data.len = member->handle.size;
        memcpy(handles[set.n_item].data.data, member->handle.bytes, member->handle.size);
        set.item[set.n_item] = &handles[set.n_item];
        set.n_item++;
    }
    Fedpro__Handle class = tt_federate_client_borrow_handle(&federate->classes[place].handle);
    request.subject = &class;
    request.members = &set;
    return tt_federate_call(federate, number, &request.base);
}

enum tutti_err tutti_federate_publish(struct tutti_federate_client *federate, const char *object_class,
                                      const char *attributes)
{
    return declare_attributes(federate, PUBLISH, object_class, attributes);
}

enum tutti_err tutti_federate_subscribe(struct tutti_federate_client *federate, const char *object_class,
                                        const char *attributes)
{
    return declare_attributes(federate, SUBSCRIBE, object_class, attributes);
}

static enum tutti_err declare_interaction(struct tutti_federate_client *federate, uint32_t number, const char *name)
{
    size_t place = 0;
    Fedpro__OneHandle request = FEDPRO__ONE_HANDLE__INIT;
    tt_payload_memory_reset(&federate->memory);
    TRY(tt_federate_client_find_class(federate, true, name, &place));
    Fedpro__Handle class = tt_federate_client_borrow_handle(&federate->classes[place].handle);
    request.handle = &class;
    return tt_federate_call(federate, number, &request.base);
}

enum tutti_err tutti_federate_publish_interaction(struct tutti_federate_client *federate, const char *interaction_class)
{
    return declare_interaction(federate, PUBLISH_INTERACTION, interaction_class);
}

enum tutti_err tutti_federate_subscribe_interaction(struct tutti_federate_client *federate,
                                                    const char *interaction_class)
{
    return declare_interaction(federate, SUBSCRIBE_INTERACTION, interaction_class);
}

/* ---- objects and interactions ---- */

static enum tutti_err unknown_object(uint32_t object)
{
    return tt_fail(TUTTI_ERR_ARGUMENT, "there is no object %u", (unsigned)object);
}

static enum tutti_err reserve_object_name(struct tutti_federate_client *federate, const char *name)
{
    Fedpro__Text request = FEDPRO__TEXT__INIT;
    ProtobufCMessage *message = NULL;
    uint32_t number = 0;
    request.text = tt_payload_make_text(name);
    TRY(tt_federate_call(federate, RESERVE_NAME, &request.base));
    TRY(tt_federate_client_wait(federate, NAME_RESERVED, NAME_NOT_RESERVED, &fedpro__text__descriptor, &number,
                                &message));
    if (number == NAME_NOT_RESERVED)
        return tt_fail(TUTTI_ERR_STATE, "ObjectInstanceNameInUse: another object is called %s", name);
    return TUTTI_OK;
}

enum tutti_err tutti_federate_register(struct tutti_federate_client *federate, const char *object_class,
                                       const char *name, uint32_t *object)
{
    size_t place = 0;
    struct tt_client_handle handle = {0};
    Fedpro__OneHandle any = FEDPRO__ONE_HANDLE__INIT;
    Fedpro__Named named = FEDPRO__NAMED__INIT;
    tt_payload_memory_reset(&federate->memory);
    TRY(tt_federate_client_find_class(federate, false, object_class, &place));
    if (name)
        TRY(reserve_object_name(federate, name));
    Fedpro__Handle class = tt_federate_client_borrow_handle(&federate->classes[place].handle);
    any.handle = named.handle = &class;
    named.name = tt_payload_make_text(name);
    if (name)
        TRY(tt_federate_client_query_handle(federate, REGISTER_NAMED, &named.base, &handle));
    else
        TRY(tt_federate_client_query_handle(federate, REGISTER, &any.base, &handle));
    return tt_federate_client_add_object(federate, name ? name : "", &handle, place, object);
}

static enum tutti_err encode_time(struct tutti_federate_client *federate, double time, Fedpro__Handle **encoded)
{
    int64_t value = 0;
    if (!tt_logical_time_from_double(federate->kind, time, &value))
        return tt_fail(TUTTI_ERR_ARGUMENT, "%g is no time or interval of %s", time,
                       tt_logical_time_kind_name(federate->kind));
    *encoded = tt_payload_make_time(&federate->memory, federate->kind, value);
    return *encoded ? TUTTI_OK : tt_fail_memory();
}

static enum tutti_err make_values(struct tutti_federate_client *federate, size_t class,
                                  const struct tutti_federate_value *values, size_t count, Fedpro__Values *set)
{
    set->item = tt_payload_memory_allocate(&federate->memory, (count + 1) * sizeof(Fedpro__Value *));
    for (size_t i = 0; set->item && i < count; i++) {
        size_t which = 0;
        TRY(tt_federate_client_find_member(federate, class, values[i].name, &which));
        const struct tt_client_member *member = &federate->classes[class].members[which];
        Fedpro__Value *value = tt_payload_memory_allocate(&federate->memory, sizeof *value);
        Fedpro__Handle *handle = tt_payload_memory_allocate(&federate->memory, sizeof *handle + TUTTI_MOST_HANDLE);
        if (!value || !handle)
            return tt_fail_memory();
        fedpro__value__init(value);
        fedpro__handle__init(handle);
        handle->data = (ProtobufCBinaryData){member->handle.size, (uint8_t *)(handle + 1)};
        memcpy(handle->data.data, member->handle.bytes, member->handle.size);
        value->handle = handle;
        value->value = (ProtobufCBinaryData){values[i].size, tt_payload_borrow(values[i].data)};
        set->item[set->n_item++] = value;
    }
    return set->item ? TUTTI_OK : tt_fail_memory();
}

/* An update or an interaction. */
static enum tutti_err send_message(struct tutti_federate_client *federate, uint32_t number,
                                   const struct tt_client_handle *subject, size_t class,
                                   const struct tutti_federate_value *values, size_t count, const double *time)
{
    Fedpro__Sent request = FEDPRO__SENT__INIT;
    Fedpro__Values set = FEDPRO__VALUES__INIT;
    Fedpro__Handle lent = tt_federate_client_borrow_handle(subject);
    ProtobufCMessage *response = NULL;
    TRY(make_values(federate, class, values, count, &set));
    request.subject = &lent;
    request.values = &set;
    if (!time)
        return tt_federate_call(federate, number, &request.base);
    TRY(encode_time(federate, *time, &request.time));
    return TUTTI_CLIENT_CALL(federate, number + 1, &request, maybe_result, &response);
}

enum tutti_err tutti_federate_update(struct tutti_federate_client *federate, uint32_t object,
                                     const struct tutti_federate_value *values, size_t count, const double *time)
{
    const struct tt_client_object *known = tt_federate_client_object(federate, object);
    if (!known)
        return unknown_object(object);
    struct tt_client_handle handle = known->handle;
    tt_payload_memory_reset(&federate->memory);
    return send_message(federate, UPDATE, &handle, known->class, values, count, time);
}

enum tutti_err tutti_federate_send(struct tutti_federate_client *federate, const char *interaction_class,
                                   const struct tutti_federate_value *values, size_t count, const double *time)
{
    size_t place = 0;
    tt_payload_memory_reset(&federate->memory);
    TRY(tt_federate_client_find_class(federate, true, interaction_class, &place));
    struct tt_client_handle handle = federate->classes[place].handle;
    return send_message(federate, SEND, &handle, place, values, count, time);
}

enum tutti_err tutti_federate_delete(struct tutti_federate_client *federate, uint32_t object)
{
    struct tt_client_object *known = tt_federate_client_object(federate, object);
    if (!known)
        return unknown_object(object);
    Fedpro__Deleted request = FEDPRO__DELETED__INIT;
    Fedpro__Handle lent = tt_federate_client_borrow_handle(&known->handle);
    tt_payload_memory_reset(&federate->memory);
    request.object = &lent;
    TRY(tt_federate_call(federate, DELETE, &request.base));
    known->gone = true;
    return TUTTI_OK;
}

void tutti_federate_put_double(unsigned char bytes[8], double value)
{
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    tt_fedpro_message_put_u32(bytes, (uint32_t)(bits >> 32));
    tt_fedpro_message_put_u32(bytes + 4, (uint32_t)bits);
}

bool tutti_federate_get_double(const struct tutti_federate_value *value, double *number)
{
    const uint8_t *bytes = value->data;
    if (value->size != sizeof *number)
        return false;
    uint64_t bits = (uint64_t)tt_fedpro_message_get_u32(bytes) << 32 | tt_fedpro_message_get_u32(bytes + 4);
    memcpy(number, &bits, sizeof bits);
    return true;
}

/* ---- time ---- */

double tt_federate_read_time(const struct tutti_federate_client *federate, const Fedpro__Handle *encoded)
{
    int64_t time = 0;
    bool good = encoded && tt_logical_time_decode(federate->kind, encoded->data.data, encoded->data.len, &time);
    return good ? tt_logical_time_to_double(federate->kind, time) : 0;
}

/* Waits for the callback, which has the time. */
static enum tutti_err enable_time_role(struct tutti_federate_client *federate, uint32_t call_number,
                                       const ProtobufCMessage *request, uint32_t callback)
{
    ProtobufCMessage *message = NULL;
    uint32_t number = 0;
    TRY(tt_federate_call(federate, call_number, request));
    TRY(tt_federate_client_wait(federate, callback, callback, &fedpro__one_handle__descriptor, &number, &message));
    federate->now = tt_federate_read_time(federate, ((Fedpro__OneHandle *)(void *)message)->handle);
    return TUTTI_OK;
}

enum tutti_err tutti_federate_regulate(struct tutti_federate_client *federate, double lookahead)
{
    Fedpro__OneHandle request = FEDPRO__ONE_HANDLE__INIT;
    tt_payload_memory_reset(&federate->memory);
    TRY(encode_time(federate, lookahead, &request.handle));
    return enable_time_role(federate, ENABLE_REGULATION, &request.base, REGULATION_ENABLED);
}

enum tutti_err tutti_federate_constrain(struct tutti_federate_client *federate)
{
    Fedpro__Nothing request = FEDPRO__NOTHING__INIT;
    tt_payload_memory_reset(&federate->memory);
    return enable_time_role(federate, ENABLE_CONSTRAINED, &request.base, CONSTRAINED_ENABLED);
}

enum tutti_err tutti_federate_look_ahead(struct tutti_federate_client *federate, double lookahead)
{
    Fedpro__OneHandle request = FEDPRO__ONE_HANDLE__INIT;
    tt_payload_memory_reset(&federate->memory);
    TRY(encode_time(federate, lookahead, &request.handle));
    return tt_federate_call(federate, MODIFY_LOOKAHEAD, &request.base);
}

enum tutti_err tutti_federate_request(struct tutti_federate_client *federate, enum tutti_federate_advance how,
                                      double time)
{
    Fedpro__OneHandle request = FEDPRO__ONE_HANDLE__INIT;
    tt_payload_memory_reset(&federate->memory);
    TRY(encode_time(federate, time, &request.handle));
    return tt_federate_call(federate, ADVANCE + (uint32_t)how, &request.base);
}

double tutti_federate_time(const struct tutti_federate_client *federate)
{
    return federate->now;
}

bool tutti_federate_counts(const struct tutti_federate_client *federate)
{
    return federate->kind == TUTTI_TIME_INTEGER64;
}

enum tutti_err tutti_federate_members(struct tutti_federate_client *federate, size_t *count)
{
    Fedpro__Text request = FEDPRO__TEXT__INIT;
    ProtobufCMessage *message = NULL;
    uint32_t number = 0;
    tt_payload_memory_reset(&federate->memory);
    request.text = tt_payload_make_text(federate->federation);
    TRY(tt_federate_call(federate, LIST_MEMBERS, &request.base));
    TRY(tt_federate_client_wait(federate, MEMBERS, MEMBERS, &fedpro__named_pairs__descriptor, &number, &message));
    const Fedpro__Pairs *report = ((Fedpro__NamedPairs *)(void *)message)->report;
    *count = report ? report->n_item : 0;
    return TUTTI_OK;
}

enum tutti_err tutti_federate_synchronize(struct tutti_federate_client *federate, const char *label)
{
    Fedpro__Point point = FEDPRO__POINT__INIT;
    Fedpro__Achieved achieved = FEDPRO__ACHIEVED__INIT;
    ProtobufCMessage *message = NULL;
    uint32_t number = 0;
    tt_payload_memory_reset(&federate->memory);
    point.label = achieved.label = tt_payload_make_text(label);
    achieved.successfully = true;
    TRY(tt_federate_call(federate, REGISTER_POINT,
                         &point.base)); /* a callback reports whether it is the first to do so, which does not matter */
    TRY(tt_federate_call(federate, ACHIEVE_POINT, &achieved.base));
    do
        TRY(tt_federate_client_wait(federate, SYNCHRONIZED, SYNCHRONIZED, &fedpro__text_set__descriptor, &number,
                                    &message));
    while (!message || strcmp(((Fedpro__TextSet *)(void *)message)->text, label) != 0);
    return TUTTI_OK;
}

enum tutti_err tutti_federate_achieve(struct tutti_federate_client *federate, const char *label)
{
    Fedpro__Achieved achieved = FEDPRO__ACHIEVED__INIT;
    char *copy = tt_text_copy(label); /* it may be an event's */
    if (!copy)
        return tt_fail_memory();
    tt_payload_memory_reset(&federate->memory);
    achieved.label = copy;
    achieved.successfully = true;
    enum tutti_err err = tt_federate_call(federate, ACHIEVE_POINT, &achieved.base);
    free(copy);
    return err;
}

enum { DELETE_THEN_DIVEST = 4 };

static enum tutti_err federate_read_module(struct tt_payload_memory *memory, const char *path, Fedpro__Module *module)
{
    enum { MOST = 16 << 20 };
    FILE *file = fopen(path, "rbe");
    if (!file)
        return tt_fail(TUTTI_ERR_IO, "%s cannot be opened: %s", path, strerror(errno));
    uint8_t *bytes = NULL;
    size_t room = 0, count = 0, got = 1;
    while (got > 0 && count <= MOST && tt_vector_reserve(&bytes, &room, count + 65536, 1)) {
        got = fread(bytes + count, 1, room - count, file);
        count += got;
    }
    fclose(file);
    fedpro__module__init(module);
    module->form_case = FEDPRO__MODULE__FORM_FILE;
    module->file = tt_payload_memory_allocate(memory, sizeof *module->file);
    uint8_t *kept = tt_payload_memory_allocate(memory, count + 1);
    if (module->file && kept && bytes) {
        memcpy(kept, bytes, count);
        fedpro__module_file__init(module->file);
        module->file->name = tt_payload_make_text(path);
        module->file->content = (ProtobufCBinaryData){count, kept};
    }
    free(bytes);
    return module->file && kept && got == 0 ? TUTTI_OK : tt_fail(TUTTI_ERR_LIMIT, "%s is too large", path);
}

static enum tutti_err read_modules(struct tutti_federate_client *federate, const struct tutti_federate_options *options,
                                   Fedpro__Modules *set)
{
    Fedpro__Module *modules = tt_payload_memory_allocate(&federate->memory, options->module_count * sizeof *modules);
    set->item = tt_payload_memory_allocate(&federate->memory, options->module_count * sizeof(Fedpro__Module *));
    if (!modules || !set->item)
        return tt_fail_memory();
    for (size_t i = 0; i < options->module_count; i++) {
        TRY(federate_read_module(&federate->memory, options->modules[i], &modules[i]));
        set->item[set->n_item++] = &modules[i];
    }
    return TUTTI_OK;
}

static enum tutti_err federate_connect(struct tutti_federate_client *federate,
                                       const struct tutti_federate_options *options)
{
    Fedpro__Nothing plain = FEDPRO__NOTHING__INIT;
    Fedpro__Credited credited = FEDPRO__CREDITED__INIT;
    Fedpro__Credentials credentials = FEDPRO__CREDENTIALS__INIT;
    ProtobufCMessage *response = NULL;
    if (!options->key)
        return TUTTI_CLIENT_CALL(federate, CONNECT, &plain, connected, &response);
    credentials.type = tt_payload_make_text("HLAplainTextPassword");
    TRY(tt_payload_make_credentials(&federate->memory, options->key, &credentials.data));
    credited.credentials = &credentials;
    return TUTTI_CLIENT_CALL(federate, CONNECT_WITH_CREDENTIALS, &credited, connected, &response);
}

/* `modules` are added to the federation's model; NULL: none. */
static enum tutti_err federate_join_federation(struct tutti_federate_client *federate,
                                               const struct tutti_federate_options *options, Fedpro__Modules *modules)
{
    Fedpro__Join any = FEDPRO__JOIN__INIT;
    Fedpro__JoinNamed named = FEDPRO__JOIN_NAMED__INIT;
    char *type = tt_payload_make_text(options->type ? options->type : "tutti");
    ProtobufCMessage *response = NULL;
    any.type = named.type = type;
    any.federation = named.federation = tt_payload_make_text(options->federation);
    any.modules = named.modules = modules;
    named.name = tt_payload_make_text(options->name);
    if (options->name)
        TRY(TUTTI_CLIENT_CALL(federate, modules ? JOIN_NAMED_WITH_MODULES : JOIN_NAMED, &named, joined, &response));
    else
        TRY(TUTTI_CLIENT_CALL(federate, modules ? JOIN_WITH_MODULES : JOIN, &any, joined, &response));
    const Fedpro__Joined *joined = (const Fedpro__Joined *)(const void *)response;
    if (!joined->result || !tt_logical_time_kind_find(joined->result->name, &federate->kind))
        return tt_fail(TUTTI_ERR_UNSUPPORTED,
                       "the federation's time is %s; HLAfloat64Time and HLAinteger64Time are known",
                       joined->result ? joined->result->name : "not said");
    federate->joined = true;
    return TUTTI_OK;
}

static enum tutti_err federate_enter_federation(struct tutti_federate_client *federate,
                                                const struct tutti_federate_options *options)
{
    const char *address = options->address ? options->address : "localhost";
    struct tt_fedpro_caller_options wishes = {.address = address,
                                              .patience = options->patience > 0 ? options->patience : 10};
    if (options->tls)
        TRY(tt_tls_open_client(&federate->tls, options->trust, options->certificate, options->private_key));
    wishes.tls = federate->tls;
    federate->interrupt = options->interrupt;
    federate->federation = tt_text_copy(options->federation);
    if (!federate->federation)
        return tt_fail_memory();
    TRY(tt_fedpro_caller_open(&federate->caller, &wishes));
    TRY(federate_connect(federate, options));

    /* Creates the federation, unless it exists already. */
    Fedpro__Modules modules = FEDPRO__MODULES__INIT;
    bool there = false;
    if (options->module_count > 0) {
        TRY(read_modules(federate, options, &modules));
        Fedpro__CreateSeveral request = FEDPRO__CREATE_SEVERAL__INIT;
        request.federation = tt_payload_make_text(options->federation);
        request.modules = &modules;
        request.time = tt_payload_make_text(options->time ? options->time : "HLAfloat64Time");
        enum tutti_err err = tt_federate_call(federate, CREATE, &request.base);
        there = err == TUTTI_ERR_STATE && strncmp(tutti_err_message(), "FederationExecutionAlreadyExists", 32) == 0;
        if (err && !there)
            return err;
    }
    return federate_join_federation(federate, options, there ? &modules : NULL);
}

static void federate_release(struct tutti_federate_client *federate)
{
    tt_fedpro_caller_free(federate->caller);
    tt_tls_free(federate->tls);
    tt_federate_client_free_names(federate);
    for (struct tt_client_callback *later = federate->first, *next = NULL; later; later = next) {
        next = later->next;
        free(later->content);
        free(later);
    }
    free(federate->federation);
    tt_payload_memory_fini(&federate->memory);
    free(federate);
}

enum tutti_err tutti_federate_join(struct tutti_federate_client **out, const struct tutti_federate_options *options)
{
    *out = NULL;
    if (!options->federation || !options->federation[0])
        return tt_fail(TUTTI_ERR_ARGUMENT, "the name of the federation is missing");
    struct tutti_federate_client *federate = calloc(1, sizeof *federate);
    if (!federate)
        return tt_fail_memory();
    tt_payload_memory_init(&federate->memory);
    enum tutti_err err = federate_enter_federation(federate, options);
    if (err) {
        struct tt_failure failure;
        tt_fail_save(&failure, err);
        federate_release(federate);
        return tt_fail_restore(&failure);
    }
    *out = federate;
    return TUTTI_OK;
}

enum tutti_err tutti_federate_leave(struct tutti_federate_client *federate)
{
    if (!federate)
        return TUTTI_OK;
    Fedpro__Number action = FEDPRO__NUMBER__INIT;
    Fedpro__Text name = FEDPRO__TEXT__INIT;
    struct tt_failure failure;
    tt_payload_memory_reset(&federate->memory);
    action.value = DELETE_THEN_DIVEST;
    name.text = federate->federation;
    enum tutti_err err = tt_federate_call(federate, RESIGN, &action.base);
    tt_fail_save(&failure, err);
    if (!err)
        (void)!tt_federate_call(federate, DESTROY, &name.base); /* fails while others are in it */
    federate_release(federate);
    return tt_fail_restore(&failure);
}
