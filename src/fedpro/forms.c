/* SPDX-License-Identifier: MIT */
#include "fedpro/forms.h"

#include "fedpro/message.h"

enum { COUNT = 4, NUMBER = 4, RETRACTION = 8 };

uint32_t tutti_fedpro_read_handle(const Fedpro__Handle *handle)
{
    if (!handle)
        return 0;
    if (handle->data.len == COUNT + NUMBER && tutti_fedpro_get_u32(handle->data.data) == NUMBER)
        return tutti_fedpro_get_u32(handle->data.data + COUNT);
    return handle->data.len == NUMBER ? tutti_fedpro_get_u32(handle->data.data) : 0;
}

uint64_t tutti_fedpro_read_retraction(const Fedpro__Handle *handle)
{
    if (!handle || handle->data.len != RETRACTION)
        return 0;
    return (uint64_t)tutti_fedpro_get_u32(handle->data.data) << 32 | tutti_fedpro_get_u32(handle->data.data + 4);
}

uint32_t *tutti_fedpro_read_handles(struct tutti_fedpro_memory *memory, const Fedpro__Handles *handles, size_t *count)
{
    *count = 0;
    if (!handles || handles->n_item == 0)
        return NULL;
    uint32_t *items = tutti_fedpro_memory_take(memory, handles->n_item * sizeof *items);
    if (!items)
        return NULL;
    *count = handles->n_item;
    for (size_t i = 0; i < handles->n_item; i++)
        items[i] = tutti_fedpro_read_handle(handles->item[i]);
    return items;
}

struct tutti_value *tutti_fedpro_read_values(struct tutti_fedpro_memory *memory, const Fedpro__Values *values,
                                             size_t *count)
{
    *count = 0;
    if (!values || values->n_item == 0)
        return NULL;
    struct tutti_value *items = tutti_fedpro_memory_take(memory, values->n_item * sizeof *items);
    if (!items)
        return NULL;
    *count = values->n_item;
    for (size_t i = 0; i < values->n_item; i++)
        items[i] = (struct tutti_value){tutti_fedpro_read_handle(values->item[i]->handle),
                                        tutti_fedpro_read_bytes(values->item[i]->value)};
    return items;
}

/* A handle with room for so many bytes. */
static Fedpro__Handle *make(struct tutti_fedpro_memory *memory, size_t size)
{
    Fedpro__Handle *made = tutti_fedpro_memory_take(memory, sizeof *made + size);
    if (!made)
        return NULL;
    fedpro__handle__init(made);
    made->data = (ProtobufCBinaryData){size, (uint8_t *)(made + 1)};
    return made;
}

Fedpro__Handle *tutti_fedpro_make_handle(struct tutti_fedpro_memory *memory, uint32_t handle)
{
    Fedpro__Handle *made = make(memory, COUNT + NUMBER);
    if (made) {
        tutti_fedpro_put_u32(made->data.data, NUMBER);
        tutti_fedpro_put_u32(made->data.data + COUNT, handle);
    }
    return made;
}

Fedpro__Handle *tutti_fedpro_make_transportation(struct tutti_fedpro_memory *memory, uint32_t transportation)
{
    Fedpro__Handle *made = make(memory, NUMBER);
    if (made)
        tutti_fedpro_put_u32(made->data.data, transportation);
    return made;
}

Fedpro__Handle *tutti_fedpro_make_retraction(struct tutti_fedpro_memory *memory, uint64_t number)
{
    Fedpro__Handle *made = make(memory, RETRACTION);
    if (made) {
        tutti_fedpro_put_u32(made->data.data, (uint32_t)(number >> 32));
        tutti_fedpro_put_u32(made->data.data + 4, (uint32_t)number);
    }
    return made;
}

Fedpro__Handle *tutti_fedpro_make_time(struct tutti_fedpro_memory *memory, enum tutti_time_kind kind, int64_t time)
{
    Fedpro__Handle *made = make(memory, TUTTI_TIME_BYTES);
    if (made)
        tutti_time_encode(kind, time, made->data.data);
    return made;
}

Fedpro__Handles *tutti_fedpro_make_handles(struct tutti_fedpro_memory *memory, const uint32_t *handles, size_t count)
{
    Fedpro__Handles *made = tutti_fedpro_memory_take(memory, sizeof *made);
    Fedpro__Handle **items = count ? tutti_fedpro_memory_take(memory, count * sizeof(Fedpro__Handle *)) : NULL;
    if (!made)
        return NULL;
    fedpro__handles__init(made);
    if (!items)
        return made;
    for (size_t i = 0; i < count; i++)
        if ((items[i] = tutti_fedpro_make_handle(memory, handles[i])) == NULL)
            return made;
    made->item = items;
    made->n_item = count;
    return made;
}

static Fedpro__Value *make_value(struct tutti_fedpro_memory *memory, const struct tutti_value *value)
{
    Fedpro__Value *made = tutti_fedpro_memory_take(memory, sizeof *made);
    if (!made)
        return NULL;
    fedpro__value__init(made);
    made->handle = tutti_fedpro_make_handle(memory, value->handle);
    made->value = (ProtobufCBinaryData){value->bytes.size, tutti_fedpro_borrow(value->bytes.data)};
    return made;
}

Fedpro__Values *tutti_fedpro_make_values(struct tutti_fedpro_memory *memory, const struct tutti_value *values,
                                         size_t count)
{
    Fedpro__Values *made = tutti_fedpro_memory_take(memory, sizeof *made);
    Fedpro__Value **items = count ? tutti_fedpro_memory_take(memory, count * sizeof(Fedpro__Value *)) : NULL;
    if (!made)
        return NULL;
    fedpro__values__init(made);
    if (!items)
        return made;
    for (size_t i = 0; i < count; i++)
        if ((items[i] = make_value(memory, &values[i])) == NULL)
            return made;
    made->item = items;
    made->n_item = count;
    return made;
}

char *tutti_fedpro_make_text(const char *text)
{
    return tutti_fedpro_borrow(text ? text : "");
}
