/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vector.h"
#include "hla/fedpro/federate_client.h"

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

/* Borrows the handle's bytes. */
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

/* The handle that a call answers. */
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

/* NULL: it was never heard of, or is gone. */
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
