/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "fedpro/federate/client.h"

/* A call that is answered by a message without content. */
enum tutti_err tutti_client_call(struct tutti_federate_client *federate, uint32_t number,
                                 const ProtobufCMessage *request)
{
    ProtobufCMessage *response = NULL;
    return tutti_fedpro_caller_call(federate->caller, &federate->memory, number, request, &fedpro__nothing__descriptor,
                                    &response);
}

/* ---- declarations ---- */

static enum tutti_err declare(struct tutti_federate_client *federate, uint32_t number, const char *object_class,
                              const char *attributes)
{
    size_t place = 0, most = strlen(attributes) + 1;
    Fedpro__Members request = FEDPRO__MEMBERS__INIT;
    Fedpro__Handles set = FEDPRO__HANDLES__INIT;
    tutti_fedpro_memory_reset(&federate->memory);
    TRY(tutti_client_find_class(federate, false, object_class, &place));
    Fedpro__Handle *handles = tutti_fedpro_memory_take(&federate->memory, most * sizeof *handles);
    char *names = tutti_fedpro_memory_take(&federate->memory, most);
    set.item = tutti_fedpro_memory_take(&federate->memory, most * sizeof(Fedpro__Handle *));
    if (!handles || !names || !set.item)
        return tutti_fail_memory();
    memcpy(names, attributes, most);
    char *rest = NULL;
    for (char *name = strtok_r(names, ", ", &rest); name; name = strtok_r(NULL, ", ", &rest)) {
        size_t which = 0;
        TRY(tutti_client_find_member(federate, place, name, &which));
        const struct tutti_client_member *member = &federate->classes[place].members[which];
        fedpro__handle__init(&handles[set.n_item]);
        handles[set.n_item].data.data = tutti_fedpro_memory_take(&federate->memory, TUTTI_MOST_HANDLE);
        if (!handles[set.n_item].data.data)
            return tutti_fail_memory();
        handles[set.n_item].data.len = member->handle.size;
        memcpy(handles[set.n_item].data.data, member->handle.bytes, member->handle.size);
        set.item[set.n_item] = &handles[set.n_item];
        set.n_item++;
    }
    Fedpro__Handle class = tutti_handle_lend(&federate->classes[place].handle);
    request.subject = &class;
    request.members = &set;
    return tutti_client_call(federate, number, &request.base);
}

enum tutti_err tutti_federate_publish(struct tutti_federate_client *federate, const char *object_class,
                                      const char *attributes)
{
    return declare(federate, PUBLISH, object_class, attributes);
}

enum tutti_err tutti_federate_subscribe(struct tutti_federate_client *federate, const char *object_class,
                                        const char *attributes)
{
    return declare(federate, SUBSCRIBE, object_class, attributes);
}

static enum tutti_err declare_interaction(struct tutti_federate_client *federate, uint32_t number, const char *name)
{
    size_t place = 0;
    Fedpro__OneHandle request = FEDPRO__ONE_HANDLE__INIT;
    tutti_fedpro_memory_reset(&federate->memory);
    TRY(tutti_client_find_class(federate, true, name, &place));
    Fedpro__Handle class = tutti_handle_lend(&federate->classes[place].handle);
    request.handle = &class;
    return tutti_client_call(federate, number, &request.base);
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
    return tutti_fail(TUTTI_ERR_ARGUMENT, "there is no object %u", (unsigned)object);
}

static enum tutti_err reserve(struct tutti_federate_client *federate, const char *name)
{
    Fedpro__Text request = FEDPRO__TEXT__INIT;
    ProtobufCMessage *message = NULL;
    uint32_t number = 0;
    request.text = tutti_fedpro_make_text(name);
    TRY(tutti_client_call(federate, RESERVE_NAME, &request.base));
    TRY(tutti_client_wait_for(federate, NAME_RESERVED, NAME_NOT_RESERVED, &fedpro__text__descriptor, &number,
                              &message));
    if (number == NAME_NOT_RESERVED)
        return tutti_fail(TUTTI_ERR_STATE, "ObjectInstanceNameInUse: another object is called %s", name);
    return TUTTI_OK;
}

enum tutti_err tutti_federate_register(struct tutti_federate_client *federate, const char *object_class,
                                       const char *name, uint32_t *object)
{
    size_t place = 0;
    struct tutti_handle handle = {0};
    Fedpro__OneHandle any = FEDPRO__ONE_HANDLE__INIT;
    Fedpro__Named named = FEDPRO__NAMED__INIT;
    tutti_fedpro_memory_reset(&federate->memory);
    TRY(tutti_client_find_class(federate, false, object_class, &place));
    if (name)
        TRY(reserve(federate, name));
    Fedpro__Handle class = tutti_handle_lend(&federate->classes[place].handle);
    any.handle = named.handle = &class;
    named.name = tutti_fedpro_make_text(name);
    if (name)
        TRY(tutti_client_ask_handle(federate, REGISTER_NAMED, &named.base, &handle));
    else
        TRY(tutti_client_ask_handle(federate, REGISTER, &any.base, &handle));
    return tutti_client_add_object(federate, name ? name : "", &handle, place, object);
}

static enum tutti_err encode_time(struct tutti_federate_client *federate, double time, Fedpro__Handle **encoded)
{
    int64_t value = 0;
    if (!tutti_time_from_double(federate->kind, time, &value))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "%g is no time or interval of %s", time,
                          tutti_time_kind_name(federate->kind));
    *encoded = tutti_fedpro_make_time(&federate->memory, federate->kind, value);
    return *encoded ? TUTTI_OK : tutti_fail_memory();
}

static enum tutti_err make_values(struct tutti_federate_client *federate, size_t class,
                                  const struct tutti_federate_value *values, size_t count, Fedpro__Values *set)
{
    set->item = tutti_fedpro_memory_take(&federate->memory, (count + 1) * sizeof(Fedpro__Value *));
    for (size_t i = 0; set->item && i < count; i++) {
        size_t which = 0;
        TRY(tutti_client_find_member(federate, class, values[i].name, &which));
        const struct tutti_client_member *member = &federate->classes[class].members[which];
        Fedpro__Value *value = tutti_fedpro_memory_take(&federate->memory, sizeof *value);
        Fedpro__Handle *handle = tutti_fedpro_memory_take(&federate->memory, sizeof *handle + TUTTI_MOST_HANDLE);
        if (!value || !handle)
            return tutti_fail_memory();
        fedpro__value__init(value);
        fedpro__handle__init(handle);
        handle->data = (ProtobufCBinaryData){member->handle.size, (uint8_t *)(handle + 1)};
        memcpy(handle->data.data, member->handle.bytes, member->handle.size);
        value->handle = handle;
        value->value = (ProtobufCBinaryData){values[i].size, tutti_fedpro_borrow(values[i].data)};
        set->item[set->n_item++] = value;
    }
    return set->item ? TUTTI_OK : tutti_fail_memory();
}

/* An update or an interaction. */
static enum tutti_err send_message(struct tutti_federate_client *federate, uint32_t number,
                                   const struct tutti_handle *subject, size_t class,
                                   const struct tutti_federate_value *values, size_t count, const double *time)
{
    Fedpro__Sent request = FEDPRO__SENT__INIT;
    Fedpro__Values set = FEDPRO__VALUES__INIT;
    Fedpro__Handle lent = tutti_handle_lend(subject);
    ProtobufCMessage *response = NULL;
    TRY(make_values(federate, class, values, count, &set));
    request.subject = &lent;
    request.values = &set;
    if (!time)
        return tutti_client_call(federate, number, &request.base);
    TRY(encode_time(federate, *time, &request.time));
    return TUTTI_CLIENT_CALL(federate, number + 1, &request, maybe_result, &response);
}

enum tutti_err tutti_federate_update(struct tutti_federate_client *federate, uint32_t object,
                                     const struct tutti_federate_value *values, size_t count, const double *time)
{
    const struct tutti_client_object *known = tutti_client_object(federate, object);
    if (!known)
        return unknown_object(object);
    struct tutti_handle handle = known->handle;
    tutti_fedpro_memory_reset(&federate->memory);
    return send_message(federate, UPDATE, &handle, known->class, values, count, time);
}

enum tutti_err tutti_federate_send(struct tutti_federate_client *federate, const char *interaction_class,
                                   const struct tutti_federate_value *values, size_t count, const double *time)
{
    size_t place = 0;
    tutti_fedpro_memory_reset(&federate->memory);
    TRY(tutti_client_find_class(federate, true, interaction_class, &place));
    struct tutti_handle handle = federate->classes[place].handle;
    return send_message(federate, SEND, &handle, place, values, count, time);
}

enum tutti_err tutti_federate_delete(struct tutti_federate_client *federate, uint32_t object)
{
    struct tutti_client_object *known = tutti_client_object(federate, object);
    if (!known)
        return unknown_object(object);
    Fedpro__Deleted request = FEDPRO__DELETED__INIT;
    Fedpro__Handle lent = tutti_handle_lend(&known->handle);
    tutti_fedpro_memory_reset(&federate->memory);
    request.object = &lent;
    TRY(tutti_client_call(federate, DELETE, &request.base));
    known->gone = true;
    return TUTTI_OK;
}

void tutti_federate_put_double(unsigned char bytes[8], double value)
{
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    tutti_fedpro_put_u32(bytes, (uint32_t)(bits >> 32));
    tutti_fedpro_put_u32(bytes + 4, (uint32_t)bits);
}

bool tutti_federate_get_double(const struct tutti_federate_value *value, double *number)
{
    const uint8_t *bytes = value->data;
    if (value->size != sizeof *number)
        return false;
    uint64_t bits = (uint64_t)tutti_fedpro_get_u32(bytes) << 32 | tutti_fedpro_get_u32(bytes + 4);
    memcpy(number, &bits, sizeof bits);
    return true;
}

/* ---- time ---- */

double tutti_client_read_time(const struct tutti_federate_client *federate, const Fedpro__Handle *encoded)
{
    int64_t time = 0;
    bool good = encoded && tutti_time_decode(federate->kind, encoded->data.data, encoded->data.len, &time);
    return good ? tutti_time_to_double(federate->kind, time) : 0;
}

/* Waits for the callback that follows, which says the time. */
static enum tutti_err enable(struct tutti_federate_client *federate, uint32_t call_number,
                             const ProtobufCMessage *request, uint32_t callback)
{
    ProtobufCMessage *message = NULL;
    uint32_t number = 0;
    TRY(tutti_client_call(federate, call_number, request));
    TRY(tutti_client_wait_for(federate, callback, callback, &fedpro__one_handle__descriptor, &number, &message));
    federate->now = tutti_client_read_time(federate, ((Fedpro__OneHandle *)(void *)message)->handle);
    return TUTTI_OK;
}

enum tutti_err tutti_federate_regulate(struct tutti_federate_client *federate, double lookahead)
{
    Fedpro__OneHandle request = FEDPRO__ONE_HANDLE__INIT;
    tutti_fedpro_memory_reset(&federate->memory);
    TRY(encode_time(federate, lookahead, &request.handle));
    return enable(federate, ENABLE_REGULATION, &request.base, REGULATION_ENABLED);
}

enum tutti_err tutti_federate_constrain(struct tutti_federate_client *federate)
{
    Fedpro__Nothing request = FEDPRO__NOTHING__INIT;
    tutti_fedpro_memory_reset(&federate->memory);
    return enable(federate, ENABLE_CONSTRAINED, &request.base, CONSTRAINED_ENABLED);
}

enum tutti_err tutti_federate_look_ahead(struct tutti_federate_client *federate, double lookahead)
{
    Fedpro__OneHandle request = FEDPRO__ONE_HANDLE__INIT;
    tutti_fedpro_memory_reset(&federate->memory);
    TRY(encode_time(federate, lookahead, &request.handle));
    return tutti_client_call(federate, MODIFY_LOOKAHEAD, &request.base);
}

enum tutti_err tutti_federate_request(struct tutti_federate_client *federate, enum tutti_federate_advance how,
                                      double time)
{
    Fedpro__OneHandle request = FEDPRO__ONE_HANDLE__INIT;
    tutti_fedpro_memory_reset(&federate->memory);
    TRY(encode_time(federate, time, &request.handle));
    return tutti_client_call(federate, ADVANCE + (uint32_t)how, &request.base);
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
    tutti_fedpro_memory_reset(&federate->memory);
    request.text = tutti_fedpro_make_text(federate->federation);
    TRY(tutti_client_call(federate, LIST_MEMBERS, &request.base));
    TRY(tutti_client_wait_for(federate, MEMBERS, MEMBERS, &fedpro__named_pairs__descriptor, &number, &message));
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
    tutti_fedpro_memory_reset(&federate->memory);
    point.label = achieved.label = tutti_fedpro_make_text(label);
    achieved.successfully = true;
    TRY(tutti_client_call(
        federate, REGISTER_POINT,
        &point.base)); /* whether it is the first to do so, is told by a callback and does not matter */
    TRY(tutti_client_call(federate, ACHIEVE_POINT, &achieved.base));
    do
        TRY(tutti_client_wait_for(federate, SYNCHRONIZED, SYNCHRONIZED, &fedpro__text_set__descriptor, &number,
                                  &message));
    while (!message || strcmp(((Fedpro__TextSet *)(void *)message)->text, label) != 0);
    return TUTTI_OK;
}

enum tutti_err tutti_federate_achieve(struct tutti_federate_client *federate, const char *label)
{
    Fedpro__Achieved achieved = FEDPRO__ACHIEVED__INIT;
    char *copy = tutti_str_copy(label); /* it may be an event's */
    if (!copy)
        return tutti_fail_memory();
    tutti_fedpro_memory_reset(&federate->memory);
    achieved.label = copy;
    achieved.successfully = true;
    enum tutti_err err = tutti_client_call(federate, ACHIEVE_POINT, &achieved.base);
    free(copy);
    return err;
}
