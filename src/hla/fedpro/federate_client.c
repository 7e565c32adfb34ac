/* SPDX-License-Identifier: MIT */
#include "hla/fedpro/federate_client.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vector.h"

/* ---- callbacks that arrive while a call waits ---- */

static enum tutti_err queue_received_callback(struct tutti_federate_client *federate, uint32_t number, uint8_t *content,
                                              size_t size)
{
    struct tt_client_callback *later = malloc(sizeof *later);
    if (!later) {
        free(content);
        return tt_fail_memory();
    }
    *later = (struct tt_client_callback){NULL, number, size, content};
    if (federate->last)
        federate->last->next = later;
    else
        federate->first = later;
    federate->last = later;
    return TUTTI_OK;
}

/* Waits for a callback of one of two numbers; others stay for tutti_federate_next. Its message is in the memory. */
enum tutti_err tt_federate_client_wait(struct tutti_federate_client *federate, uint32_t one, uint32_t other,
                                       const ProtobufCMessageDescriptor *form, uint32_t *number,
                                       ProtobufCMessage **message)
{
    static const double LOOK = 0.1; /* seconds between two looks at `interrupt` */
    uint8_t *content = NULL;
    size_t size = 0;
    for (;;) {
        TRY(tt_fedpro_caller_next(federate->caller, federate->interrupt ? LOOK : -1, number, &content, &size));
        if (*number == one || *number == other)
            break;
        if (*number)
            TRY(queue_received_callback(federate, *number, content, size));
        if (federate->interrupt && *federate->interrupt)
            return tt_fail(TUTTI_ERR_INTERRUPTED, "interrupted while it waited for the federation %s",
                           federate->federation);
    }
    *message = protobuf_c_message_unpack(form, &federate->memory.allocator, size, content);
    free(content);
    return *message ? TUTTI_OK : tt_federate_client_fail_format(federate, "a callback that is none");
}

/* ---- what comes, as events ---- */

/* UNPACK(federate, Form, form, content, size): the message in the memory, or NULL. */
#define UNPACK(federate, form, content, size) fedpro__##form##__unpack(&(federate)->memory.allocator, size, content)

static enum tutti_err federate_client_read_values(struct tutti_federate_client *federate, size_t class,
                                                  const Fedpro__Values *values, struct tutti_federate_event *event)
{
    size_t count = values ? values->n_item : 0;
    struct tutti_federate_value *items = tt_payload_memory_allocate(&federate->memory, (count + 1) * sizeof *items);
    if (!items)
        return tt_fail_memory();
    for (size_t i = 0; i < count; i++) {
        size_t which = 0;
        TRY(tt_federate_client_member_by_handle(federate, class, values->item[i]->handle, &which));
        const struct tt_client_member *member = &federate->classes[class].members[which];
        items[i] = (struct tutti_federate_value){member->name, values->item[i]->value.data, values->item[i]->value.len};
    }
    event->values = items;
    event->count = count;
    return TUTTI_OK;
}

static void set_event_object(struct tutti_federate_client *federate, uint32_t number,
                             struct tutti_federate_event *event)
{
    const struct tt_client_object *object = tt_federate_client_object(federate, number);
    event->object = number;
    event->object_name = object ? object->name : NULL;
    event->class_name = object ? federate->classes[object->class].name : NULL;
}

static enum tutti_err federate_client_discover(struct tutti_federate_client *federate, const uint8_t *content,
                                               size_t size, struct tutti_federate_event *event)
{
    const Fedpro__Discovered *found = UNPACK(federate, discovered, content, size);
    size_t place = 0;
    struct tt_client_handle handle = {0};
    uint32_t number = 0;
    if (!found || !tt_federate_client_copy_handle(&handle, found->object))
        return tt_federate_client_fail_format(federate, "a discovery without an object");
    TRY(tt_federate_client_class_by_handle(federate, false, found->object_class, &place));
    TRY(tt_federate_client_add_object(federate, found->name, &handle, place, &number));
    set_event_object(federate, number, event);
    event->kind = TUTTI_FEDERATE_DISCOVER;
    return TUTTI_OK;
}

/* NULL: it came without a time. */
static void federate_client_set_time(const struct tutti_federate_client *federate, const Fedpro__Handle *encoded,
                                     struct tutti_federate_event *event)
{
    event->timed = encoded != NULL;
    event->time = tt_federate_read_time(federate, encoded);
}

static enum tutti_err federate_client_reflect(struct tutti_federate_client *federate, const uint8_t *content,
                                              size_t size, struct tutti_federate_event *event)
{
    const Fedpro__Received *received = UNPACK(federate, received, content, size);
    uint32_t number = received ? tt_federate_client_object_by_handle(federate, received->subject) : 0;
    if (number == 0)
        return TUTTI_OK; /* deleted here in the meantime */
    TRY(federate_client_read_values(federate, federate->objects[number - 1].class, received->values, event));
    set_event_object(federate, number, event);
    event->kind = TUTTI_FEDERATE_REFLECT;
    federate_client_set_time(federate, received->time, event);
    return TUTTI_OK;
}

static enum tutti_err federate_client_receive(struct tutti_federate_client *federate, const uint8_t *content,
                                              size_t size, struct tutti_federate_event *event)
{
    const Fedpro__Received *received = UNPACK(federate, received, content, size);
    size_t place = 0;
    if (!received)
        return tt_federate_client_fail_format(federate, "an interaction that is none");
    TRY(tt_federate_client_class_by_handle(federate, true, received->subject, &place));
    TRY(federate_client_read_values(federate, place, received->values, event));
    event->kind = TUTTI_FEDERATE_INTERACTION;
    event->class_name = federate->classes[place].name;
    federate_client_set_time(federate, received->time, event);
    return TUTTI_OK;
}

static enum tutti_err read_object_removal(struct tutti_federate_client *federate, const uint8_t *content, size_t size,
                                          struct tutti_federate_event *event)
{
    const Fedpro__Removed *removed = UNPACK(federate, removed, content, size);
    uint32_t number = removed ? tt_federate_client_object_by_handle(federate, removed->object) : 0;
    if (number == 0)
        return TUTTI_OK;
    set_event_object(federate, number, event);
    federate->objects[number - 1].gone = true;
    event->kind = TUTTI_FEDERATE_REMOVE;
    federate_client_set_time(federate, removed->time, event);
    return TUTTI_OK;
}

static enum tutti_err federate_client_provide(struct tutti_federate_client *federate, const uint8_t *content,
                                              size_t size, struct tutti_federate_event *event)
{
    const Fedpro__Members *members = UNPACK(federate, members, content, size);
    uint32_t number = members ? tt_federate_client_object_by_handle(federate, members->subject) : 0;
    size_t count = members && members->members ? members->members->n_item : 0;
    struct tutti_federate_value *items = tt_payload_memory_allocate(&federate->memory, (count + 1) * sizeof *items);
    if (number == 0)
        return TUTTI_OK;
    for (size_t i = 0; items && i < count; i++) {
        size_t which = 0, class = federate->objects[number - 1].class;
        TRY(tt_federate_client_member_by_handle(federate, class, members->members->item[i], &which));
        items[i].name = federate->classes[class].members[which].name;
    }
    set_event_object(federate, number, event);
    event->kind = TUTTI_FEDERATE_PROVIDE;
    event->values = items;
    event->count = items ? count : 0;
    return items ? TUTTI_OK : tt_fail_memory();
}

static enum tutti_err federate_client_grant(struct tutti_federate_client *federate, const uint8_t *content, size_t size,
                                            struct tutti_federate_event *event)
{
    const Fedpro__OneHandle *granted = UNPACK(federate, one_handle, content, size);
    if (!granted)
        return tt_federate_client_fail_format(federate, "a grant without a time");
    event->kind = TUTTI_FEDERATE_GRANT;
    event->timed = true;
    event->time = federate->now = tt_federate_read_time(federate, granted->handle);
    return TUTTI_OK;
}

static enum tutti_err federate_client_announce(struct tutti_federate_client *federate, const uint8_t *content,
                                               size_t size, struct tutti_federate_event *event)
{
    const Fedpro__Point *point = UNPACK(federate, point, content, size);
    if (!point)
        return tt_federate_client_fail_format(federate, "a point of synchronization without a label");
    event->kind = TUTTI_FEDERATE_ANNOUNCE;
    event->label = point->label;
    return TUTTI_OK;
}

/* Reads an event; callbacks that are not supported leave it as NOTHING. */
static enum tutti_err read_event(struct tutti_federate_client *federate, uint32_t number, const uint8_t *content,
                                 size_t size, struct tutti_federate_event *event)
{
    switch (number) {
    case DISCOVER: return federate_client_discover(federate, content, size, event);
    case REFLECT:
    case REFLECT_TIMED: return federate_client_reflect(federate, content, size, event);
    case RECEIVE:
    case RECEIVE_TIMED: return federate_client_receive(federate, content, size, event);
    case REMOVE:
    case REMOVE_TIMED: return read_object_removal(federate, content, size, event);
    case PROVIDE: return federate_client_provide(federate, content, size, event);
    case ANNOUNCE: return federate_client_announce(federate, content, size, event);
    case GRANT:
    case FLUSH_GRANT: return federate_client_grant(federate, content, size, event);
    default: return TUTTI_OK;
    }
}

/* The oldest callback that was kept, or the next one of the RTI. */
static enum tutti_err next_callback(struct tutti_federate_client *federate, double timeout, uint32_t *number,
                                    uint8_t **content, size_t *size)
{
    struct tt_client_callback *later = federate->first;
    if (!later)
        return tt_fedpro_caller_next(federate->caller, timeout, number, content, size);
    federate->first = later->next;
    if (!federate->first)
        federate->last = NULL;
    *number = later->number;
    *content = later->content;
    *size = later->size;
    free(later);
    return TUTTI_OK;
}

enum tutti_err tutti_federate_next(struct tutti_federate_client *federate, double timeout,
                                   struct tutti_federate_event *event)
{
    *event = (struct tutti_federate_event){.kind = TUTTI_FEDERATE_NOTHING};
    while (event->kind == TUTTI_FEDERATE_NOTHING) {
        uint32_t number = 0;
        uint8_t *content = NULL;
        size_t size = 0;
        tt_payload_memory_reset(&federate->memory);
        TRY(next_callback(federate, timeout, &number, &content, &size));
        if (number == 0)
            return TUTTI_OK;
        enum tutti_err err = read_event(federate, number, content, size, event);
        free(content);
        TRY(err);
    }
    return TUTTI_OK;
}

bool tt_federate_client_copy_handle(struct tt_client_handle *handle, const Fedpro__Handle *from)
{
    if (!from || from->data.len > TUTTI_MOST_HANDLE)
        return false;
    handle->size = (uint8_t)from->data.len;
    if (from->data.len > 0)
        memcpy(handle->bytes, from->data.data, from->data.len);
    return true;
}

static bool handle_equals(const struct tt_client_handle *handle, const Fedpro__Handle *other)
{
    return other && other->data.len == handle->size && memcmp(handle->bytes, other->data.data, handle->size) == 0;
}

Fedpro__Handle tt_federate_client_borrow_handle(const struct tt_client_handle *handle)
{
    Fedpro__Handle lent = FEDPRO__HANDLE__INIT;
    lent.data = (ProtobufCBinaryData){handle->size, tt_payload_borrow(handle->bytes)};
    return lent;
}

enum tutti_err tt_federate_client_fail_format(const struct tutti_federate_client *federate, const char *what)
{
    return tt_fail(TUTTI_ERR_FORMAT, "the RTI at %s sent %s", federate->caller->address.text, what);
}

enum tutti_err tt_federate_client_query_handle(struct tutti_federate_client *federate, uint32_t number,
                                               const ProtobufCMessage *request, struct tt_client_handle *handle)
{
    ProtobufCMessage *response = NULL;
    TRY(tt_fedpro_caller_call(federate->caller, &federate->memory, number, request, &fedpro__one_handle__descriptor,
                              &response));
    return tt_federate_client_copy_handle(handle, ((Fedpro__OneHandle *)(void *)response)->handle)
               ? TUTTI_OK
               : tt_federate_client_fail_format(federate, "no handle");
}

static enum tutti_err query_name(struct tutti_federate_client *federate, uint32_t number,
                                 const ProtobufCMessage *request, const char **name)
{
    ProtobufCMessage *response = NULL;
    TRY(tt_fedpro_caller_call(federate->caller, &federate->memory, number, request, &fedpro__text__descriptor,
                              &response));
    *name = ((Fedpro__Text *)(void *)response)->text;
    return TUTTI_OK;
}

static enum tutti_err federate_client_add_class(struct tutti_federate_client *federate, bool interaction,
                                                const char *name, const struct tt_client_handle *handle, size_t *place)
{
    if (!tt_vector_reserve(&federate->classes, &federate->class_room, federate->class_count + 1,
                           sizeof(struct tt_client_class)))
        return tt_fail_memory();
    struct tt_client_class *class = &federate->classes[federate->class_count];
    *class = (struct tt_client_class){.name = tt_text_copy(name), .handle = *handle, .interaction = interaction};
    if (!class->name)
        return tt_fail_memory();
    *place = federate->class_count++;
    return TUTTI_OK;
}

enum tutti_err tt_federate_client_find_class(struct tutti_federate_client *federate, bool interaction, const char *name,
                                             size_t *place)
{
    for (size_t i = 0; i < federate->class_count; i++)
        if (federate->classes[i].interaction == interaction && strcmp(federate->classes[i].name, name) == 0) {
            *place = i;
            return TUTTI_OK;
        }
    Fedpro__Text request = FEDPRO__TEXT__INIT;
    struct tt_client_handle handle = {0};
    request.text = tt_payload_make_text(name);
    TRY(tt_federate_client_query_handle(federate, interaction ? INTERACTION_CLASS_HANDLE : OBJECT_CLASS_HANDLE,
                                        &request.base, &handle));
    return federate_client_add_class(federate, interaction, name, &handle, place);
}

enum tutti_err tt_federate_client_class_by_handle(struct tutti_federate_client *federate, bool interaction,
                                                  const Fedpro__Handle *wanted, size_t *place)
{
    for (size_t i = 0; i < federate->class_count; i++)
        if (federate->classes[i].interaction == interaction && handle_equals(&federate->classes[i].handle, wanted)) {
            *place = i;
            return TUTTI_OK;
        }
    Fedpro__OneHandle request = FEDPRO__ONE_HANDLE__INIT;
    struct tt_client_handle handle = {0};
    const char *name = NULL;
    if (!tt_federate_client_copy_handle(&handle, wanted))
        return tt_federate_client_fail_format(federate, "no class");
    request.handle = tt_payload_borrow(wanted);
    TRY(query_name(federate, interaction ? INTERACTION_CLASS_NAME : OBJECT_CLASS_NAME, &request.base, &name));
    return federate_client_add_class(federate, interaction, name, &handle, place);
}

static enum tutti_err federate_client_add_member(struct tt_client_class *class, const char *name,
                                                 const struct tt_client_handle *handle, size_t *which)
{
    if (!tt_vector_reserve(&class->members, &class->room, class->count + 1, sizeof(struct tt_client_member)))
        return tt_fail_memory();
    struct tt_client_member *added = &class->members[class->count];
    *added = (struct tt_client_member){tt_text_copy(name), *handle};
    if (!added->name)
        return tt_fail_memory();
    *which = class->count++;
    return TUTTI_OK;
}

enum tutti_err tt_federate_client_find_member(struct tutti_federate_client *federate, size_t place, const char *name,
                                              size_t *which)
{
    struct tt_client_class *class = &federate->classes[place];
    for (size_t i = 0; i < class->count; i++)
        if (strcmp(class->members[i].name, name) == 0) {
            *which = i;
            return TUTTI_OK;
        }
    Fedpro__Named request = FEDPRO__NAMED__INIT;
    Fedpro__Handle lent = tt_federate_client_borrow_handle(&class->handle);
    struct tt_client_handle handle = {0};
    request.handle = &lent;
    request.name = tt_payload_make_text(name);
    TRY(tt_federate_client_query_handle(federate, class->interaction ? PARAMETER_HANDLE : ATTRIBUTE_HANDLE,
                                        &request.base, &handle));
    return federate_client_add_member(class, name, &handle, which);
}

enum tutti_err tt_federate_client_member_by_handle(struct tutti_federate_client *federate, size_t place,
                                                   const Fedpro__Handle *wanted, size_t *which)
{
    struct tt_client_class *class = &federate->classes[place];
    for (size_t i = 0; i < class->count; i++)
        if (handle_equals(&class->members[i].handle, wanted)) {
            *which = i;
            return TUTTI_OK;
        }
    Fedpro__TwoHandles request = FEDPRO__TWO_HANDLES__INIT;
    Fedpro__Handle lent = tt_federate_client_borrow_handle(&class->handle);
    struct tt_client_handle handle = {0};
    const char *name = NULL;
    if (!tt_federate_client_copy_handle(&handle, wanted))
        return tt_federate_client_fail_format(federate, "no attribute or parameter");
    request.first = &lent;
    request.second = tt_payload_borrow(wanted);
    TRY(query_name(federate, class->interaction ? PARAMETER_NAME : ATTRIBUTE_NAME, &request.base, &name));
    return federate_client_add_member(class, name, &handle, which);
}

enum tutti_err tt_federate_client_add_object(struct tutti_federate_client *federate, const char *name,
                                             const struct tt_client_handle *handle, size_t class, uint32_t *object)
{
    if (!tt_vector_reserve(&federate->objects, &federate->object_room, federate->object_count + 1,
                           sizeof(struct tt_client_object)))
        return tt_fail_memory();
    struct tt_client_object *added = &federate->objects[federate->object_count];
    *added = (struct tt_client_object){.name = tt_text_copy(name), .handle = *handle, .class = class};
    if (!added->name)
        return tt_fail_memory();
    *object = (uint32_t)++federate->object_count;
    return TUTTI_OK;
}

/* NULL: never discovered, or removed. */
struct tt_client_object *tt_federate_client_object(struct tutti_federate_client *federate, uint32_t number)
{
    bool there = number >= 1 && number <= federate->object_count && !federate->objects[number - 1].gone;
    return there ? &federate->objects[number - 1] : NULL;
}

uint32_t tt_federate_client_object_by_handle(const struct tutti_federate_client *federate, const Fedpro__Handle *wanted)
{
    for (size_t i = federate->object_count; i-- > 0;)
        if (!federate->objects[i].gone && handle_equals(&federate->objects[i].handle, wanted))
            return (uint32_t)i + 1;
    return 0;
}

void tt_federate_client_free_names(struct tutti_federate_client *federate)
{
    for (size_t i = 0; i < federate->class_count; i++) {
        for (size_t k = 0; k < federate->classes[i].count; k++)
            free(federate->classes[i].members[k].name);
        free(federate->classes[i].members);
        free(federate->classes[i].name);
    }
    for (size_t i = 0; i < federate->object_count; i++)
        free(federate->objects[i].name);
    free(federate->classes);
    free(federate->objects);
}
