/* SPDX-License-Identifier: MIT */
#include "hla/fedpro/payload.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "hla/fedpro/fedpro_message.h"
#include "hla/rti/mom.h"

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

/* Allocates a handle of `size` bytes. */
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
    for (size_t i = 0; i < count; i++) {
        items[i] = tt_payload_memory_allocate(memory, sizeof *items[i]);
        if (!items[i])
            return made;
        fedpro__value__init(items[i]);
        items[i]->handle = tt_payload_make_handle(memory, values[i].handle);
        items[i]->value = (ProtobufCBinaryData){values[i].bytes.size, tt_payload_borrow(values[i].bytes.data)};
    }
    made->item = items;
    made->n_item = count;
    return made;
}

char *tt_payload_make_text(const char *text)
{
    return tt_payload_borrow(text ? text : "");
}

enum { LONGEST = 1024 };

/* One character of UTF-16 as UTF-8; returns its bytes. Surrogates are taken one by one: such a key does not fit any. */
static size_t payload_put_utf8(char *text, unsigned character)
{
    if (character < 0x80) {
        text[0] = (char)character;
        return 1;
    }
    if (character < 0x800) {
        text[0] = (char)(0xc0 | character >> 6);
        text[1] = (char)(0x80 | (character & 0x3f));
        return 2;
    }
    text[0] = (char)(0xe0 | character >> 12);
    text[1] = (char)(0x80 | (character >> 6 & 0x3f));
    text[2] = (char)(0x80 | (character & 0x3f));
    return 3;
}

const char *tt_payload_read_credentials(struct tt_payload_memory *memory, const Fedpro__Credentials *credentials)
{
    if (!credentials || strcmp(credentials->type, "HLAplainTextPassword") != 0)
        return NULL;

    /* HLAunicodeString: how many characters in four bytes, then two bytes each, big-endian. */
    const uint8_t *bytes = credentials->data.data;
    size_t size = credentials->data.len;
    if (size < 4)
        return NULL;
    size_t count = tt_fedpro_message_get_u32(bytes), length = 0;
    if (count > LONGEST || size < 4 + 2 * count)
        return NULL;
    char *text = tt_payload_memory_allocate(memory, 3 * count + 1);
    for (size_t i = 0; text && i < count; i++)
        length += payload_put_utf8(text + length, (unsigned)bytes[4 + 2 * i] << 8 | bytes[5 + 2 * i]);
    return text;
}

const char *tt_payload_read_settings_key(struct tt_payload_memory *memory, const char *settings)
{
    static const char name[] = "tutti.key=";
    while (settings && *settings) {
        settings += strspn(settings, ", \t\r\n");
        size_t length = strcspn(settings, ",\r\n");
        if (strncmp(settings, name, sizeof name - 1) == 0) {
            size_t value = length - (sizeof name - 1);
            char *text = tt_payload_memory_allocate(memory, value + 1);
            return text ? memcpy(text, settings + sizeof name - 1, value) : NULL;
        }
        settings += length;
    }
    return NULL;
}

enum tutti_err tt_payload_make_credentials(struct tt_payload_memory *memory, const char *key, ProtobufCBinaryData *data)
{
    enum { BEYOND_UTF_16 = 4 }; /* bytes of characters that have two units there */
    struct tt_text text = {0};
    size_t length = 0;
    for (const char *at = key; *at; at += length) {
        length = tt_text_utf8_length(at);
        if (length == 0 || length == BEYOND_UTF_16)
            return tt_fail(TUTTI_ERR_ARGUMENT, "the key has a character that cannot be sent: use letters and digits");
    }
    tt_mom_put_text(&text, key);
    uint8_t *bytes = text.failed ? NULL : tt_payload_memory_allocate(memory, text.length);
    if (bytes)
        memcpy(bytes, text.text, text.length);
    *data = (ProtobufCBinaryData){text.length, bytes};
    tt_text_fini(&text);
    return bytes ? TUTTI_OK : tt_fail_memory();
}

/* Wire types of Protocol Buffers. */
enum { VARINT = 0, FIXED64 = 1, LENGTH = 2, FIXED32 = 5, TYPE_BITS = 3, VARINT_BITS = 7, VARINT_MOST = 10 };

struct envelope_rest {
    const uint8_t *at;
    size_t size;
};

static bool read_varint(struct envelope_rest *rest, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < VARINT_MOST && i < rest->size; i++) {
        *value |= (uint64_t)(rest->at[i] & 0x7f) << (VARINT_BITS * i);
        if (rest->at[i] < 0x80) {
            rest->at += i + 1;
            rest->size -= i + 1;
            return true;
        }
    }
    return false;
}

static bool skip_envelope_bytes(struct envelope_rest *rest, uint64_t size)
{
    if (size > rest->size)
        return false;
    rest->at += size;
    rest->size -= (size_t)size;
    return true;
}

static bool skip_envelope_field(struct envelope_rest *rest, uint64_t type)
{
    uint64_t value = 0;
    switch (type) {
    case VARINT: return read_varint(rest, &value);
    case FIXED64: return skip_envelope_bytes(rest, 8);
    case LENGTH: return read_varint(rest, &value) && skip_envelope_bytes(rest, value);
    case FIXED32: return skip_envelope_bytes(rest, 4);
    default: return false;
    }
}

bool tt_payload_open_envelope(const uint8_t *bytes, size_t size, uint32_t *number, const uint8_t **content,
                              size_t *content_size)
{
    struct envelope_rest rest = {bytes, size};
    bool found = false;
    while (rest.size > 0) {
        uint64_t tag = 0;
        if (!read_varint(&rest, &tag) || tag >> TYPE_BITS == 0 || tag >> TYPE_BITS > UINT32_MAX)
            return false;
        struct envelope_rest field = rest;
        if (!skip_envelope_field(&rest, tag & ((1 << TYPE_BITS) - 1)))
            return false;
        uint64_t length = 0;
        if ((tag & ((1 << TYPE_BITS) - 1)) != LENGTH || !read_varint(&field, &length))
            continue;
        found = true;
        *number = (uint32_t)(tag >> TYPE_BITS);
        *content = field.at;
        *content_size = (size_t)length;
    }
    return found;
}

struct tt_payload_block {
    struct tt_payload_block *next;
    size_t room;
    alignas(max_align_t) uint8_t bytes[];
};

enum { BLOCK = 32768 };

static void *payload_allocate(void *context, size_t size)
{
    struct tt_payload_memory *memory = context;
    size_t whole = (size + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
    if (whole < size) {
        memory->failed = true;
        return NULL;
    }
    if (!memory->blocks || memory->blocks->room - memory->used < whole) {
        size_t room = whole > BLOCK ? whole : BLOCK;
        struct tt_payload_block *block = malloc(sizeof *block + room);
        if (!block) {
            memory->failed = true;
            return NULL;
        }
        block->next = memory->blocks;
        block->room = room;
        memory->blocks = block;
        memory->used = 0;
    }
    uint8_t *taken = memory->blocks->bytes + memory->used;
    memory->used += whole;
    return taken;
}

static void payload_ignore_free(void *context, void *pointer)
{
    (void)context, (void)pointer; /* all at once, later */
}

void tt_payload_memory_init(struct tt_payload_memory *memory)
{
    *memory = (struct tt_payload_memory){.allocator = {payload_allocate, payload_ignore_free, memory}};
}

void tt_payload_memory_fini(struct tt_payload_memory *memory)
{
    while (memory->blocks) {
        struct tt_payload_block *next = memory->blocks->next;
        free(memory->blocks);
        memory->blocks = next;
    }
}

void tt_payload_memory_reset(struct tt_payload_memory *memory)
{
    memory->used = 0;
    memory->failed = false;
    if (!memory->blocks || (!memory->blocks->next && memory->blocks->room == BLOCK))
        return;
    tt_payload_memory_fini(memory); /* it was much, once */
}

void *tt_payload_memory_allocate(struct tt_payload_memory *memory, size_t size)
{
    void *taken = payload_allocate(memory, size);
    return taken ? memset(taken, 0, size) : NULL;
}

static size_t put_varint(uint8_t *bytes, uint64_t value)
{
    size_t count = 0;
    for (; value >= 0x80; value >>= VARINT_BITS)
        bytes[count++] = (uint8_t)(value | 0x80);
    bytes[count++] = (uint8_t)value;
    return count;
}

uint8_t *tt_payload_close_envelope(struct tt_payload_memory *memory, uint32_t number, const ProtobufCMessage *content,
                                   size_t *size)
{
    size_t inner = protobuf_c_message_get_packed_size(content);
    uint8_t *bytes = payload_allocate(memory, inner + 2 * VARINT_MOST);
    if (!bytes)
        return NULL;
    size_t head = put_varint(bytes, (uint64_t)number << TYPE_BITS | LENGTH);
    head += put_varint(bytes + head, inner);
    *size = head + protobuf_c_message_pack(content, bytes + head);
    return bytes;
}
