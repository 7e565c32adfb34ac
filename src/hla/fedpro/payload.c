/* SPDX-License-Identifier: MIT */
#include "hla/fedpro/payload.h"

#include "hla/fedpro/fedpro_message.h"

enum { COUNT = 4, NUMBER = 4, RETRACTION = 8 };

uint32_t tt_payload_read_handle(const Fedpro__Handle *handle)
{
    if (!handle)
        return 0;
    if (handle->data.len == COUNT + NUMBER && tt_fedpro_message_get_u32(handle->data.data) == NUMBER)
        return tt_fedpro_message_get_u32(handle->data.data + COUNT);
    return handle->data.len == NUMBER ? tt_fedpro_message_get_u32(handle->data.data) : 0;
}

uint64_t tt_payload_read_retraction(const Fedpro__Handle *handle)
{
    if (!handle || handle->data.len != RETRACTION)
        return 0;
    return (uint64_t)tt_fedpro_message_get_u32(handle->data.data) << 32 |
           tt_fedpro_message_get_u32(handle->data.data + 4);
}

uint32_t *tt_payload_read_handles(struct tt_payload_memory *memory, const Fedpro__Handles *handles, size_t *count)
{
    *count = 0;
    if (!handles || handles->n_item == 0)
        return NULL;
    uint32_t *items = tt_payload_memory_allocate(memory, handles->n_item * sizeof *items);
    if (!items)
        return NULL;
    *count = handles->n_item;
    for (size_t i = 0; i < handles->n_item; i++)
        items[i] = tt_payload_read_handle(handles->item[i]);
    return items;
}

struct tt_hla_value *tt_payload_read_values(struct tt_payload_memory *memory, const Fedpro__Values *values,
                                            size_t *count)
{
    *count = 0;
    if (!values || values->n_item == 0)
        return NULL;
    struct tt_hla_value *items = tt_payload_memory_allocate(memory, values->n_item * sizeof *items);
    if (!items)
        return NULL;
    *count = values->n_item;
    for (size_t i = 0; i < values->n_item; i++)
        items[i] = (struct tt_hla_value){tt_payload_read_handle(values->item[i]->handle),
                                         tt_payload_read_bytes(values->item[i]->value)};
    return items;
}

/* A handle with room for so many bytes. */
static Fedpro__Handle *payload_new_handle(struct tt_payload_memory *memory, size_t size)
{
    Fedpro__Handle *made = tt_payload_memory_allocate(memory, sizeof *made + size);
    if (!made)
        return NULL;
    fedpro__handle__init(made);
    made->data = (ProtobufCBinaryData){size, (uint8_t *)(made + 1)};
    return made;
}

Fedpro__Handle *tt_payload_make_handle(struct tt_payload_memory *memory, uint32_t handle)
{
    Fedpro__Handle *made = payload_new_handle(memory, COUNT + NUMBER);
    if (made) {
        tt_fedpro_message_put_u32(made->data.data, NUMBER);
        tt_fedpro_message_put_u32(made->data.data + COUNT, handle);
    }
    return made;
}

Fedpro__Handle *tt_payload_make_transportation(struct tt_payload_memory *memory, uint32_t transportation)
{
    Fedpro__Handle *made = payload_new_handle(memory, NUMBER);
    if (made)
        tt_fedpro_message_put_u32(made->data.data, transportation);
    return made;
}

Fedpro__Handle *tt_payload_make_retraction(struct tt_payload_memory *memory, uint64_t number)
{
    Fedpro__Handle *made = payload_new_handle(memory, RETRACTION);
    if (made) {
        tt_fedpro_message_put_u32(made->data.data, (uint32_t)(number >> 32));
        tt_fedpro_message_put_u32(made->data.data + 4, (uint32_t)number);
    }
    return made;
}

Fedpro__Handle *tt_payload_make_time(struct tt_payload_memory *memory, enum tt_logical_time_kind kind, int64_t time)
{
    Fedpro__Handle *made = payload_new_handle(memory, TUTTI_TIME_BYTES);
    if (made)
        tt_logical_time_encode(kind, time, made->data.data);
    return made;
}

Fedpro__Handles *tt_payload_make_handles(struct tt_payload_memory *memory, const uint32_t *handles, size_t count)
{
    Fedpro__Handles *made = tt_payload_memory_allocate(memory, sizeof *made);
    Fedpro__Handle **items = count ? tt_payload_memory_allocate(memory, count * sizeof(Fedpro__Handle *)) : NULL;
    if (!made)
        return NULL;
    fedpro__handles__init(made);
    if (!items)
        return made;
    for (size_t i = 0; i < count; i++)
        if ((items[i] = tt_payload_make_handle(memory, handles[i])) == NULL)
            return made;
    made->item = items;
    made->n_item = count;
    return made;
}

static Fedpro__Value *payload_make_value(struct tt_payload_memory *memory, const struct tt_hla_value *value)
{
    Fedpro__Value *made = tt_payload_memory_allocate(memory, sizeof *made);
    if (!made)
        return NULL;
    fedpro__value__init(made);
    made->handle = tt_payload_make_handle(memory, value->handle);
    made->value = (ProtobufCBinaryData){value->bytes.size, tt_payload_borrow(value->bytes.data)};
    return made;
}

Fedpro__Values *tt_payload_make_values(struct tt_payload_memory *memory, const struct tt_hla_value *values,
                                       size_t count)
{
    Fedpro__Values *made = tt_payload_memory_allocate(memory, sizeof *made);
    Fedpro__Value **items = count ? tt_payload_memory_allocate(memory, count * sizeof(Fedpro__Value *)) : NULL;
    if (!made)
        return NULL;
    fedpro__values__init(made);
    if (!items)
        return made;
    for (size_t i = 0; i < count; i++)
        if ((items[i] = payload_make_value(memory, &values[i])) == NULL)
            return made;
    made->item = items;
    made->n_item = count;
    return made;
}

char *tt_payload_make_text(const char *text)
{
    return tt_payload_borrow(text ? text : "");
}
