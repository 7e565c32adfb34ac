/* SPDX-License-Identifier: MIT */
#include "fedpro/envelope.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

/* Wire types of Protocol Buffers. */
enum { VARINT = 0, FIXED64 = 1, LENGTH = 2, FIXED32 = 5, TYPE_BITS = 3, VARINT_BITS = 7, VARINT_MOST = 10 };

/* Bytes that are still to be read. */
struct rest {
    const uint8_t *at;
    size_t size;
};

static bool read_varint(struct rest *rest, uint64_t *value)
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

static bool skip(struct rest *rest, uint64_t size)
{
    if (size > rest->size)
        return false;
    rest->at += size;
    rest->size -= (size_t)size;
    return true;
}

static bool skip_field(struct rest *rest, uint64_t type)
{
    uint64_t value = 0;
    switch (type) {
    case VARINT: return read_varint(rest, &value);
    case FIXED64: return skip(rest, 8);
    case LENGTH: return read_varint(rest, &value) && skip(rest, value);
    case FIXED32: return skip(rest, 4);
    default: return false;
    }
}

bool tutti_fedpro_envelope_open(const uint8_t *bytes, size_t size, uint32_t *number, const uint8_t **content,
                                size_t *content_size)
{
    struct rest rest = {bytes, size};
    bool found = false;
    while (rest.size > 0) {
        uint64_t tag = 0;
        if (!read_varint(&rest, &tag) || tag >> TYPE_BITS == 0 || tag >> TYPE_BITS > UINT32_MAX)
            return false;
        struct rest field = rest;
        if (!skip_field(&rest, tag & ((1 << TYPE_BITS) - 1)))
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

struct tutti_fedpro_block {
    struct tutti_fedpro_block *next;
    size_t room;
    alignas(max_align_t) uint8_t bytes[];
};

enum { BLOCK = 32768 };

static void *give(void *context, size_t size)
{
    struct tutti_fedpro_memory *memory = context;
    size_t whole = (size + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
    if (whole < size) {
        memory->failed = true;
        return NULL;
    }
    if (!memory->blocks || memory->blocks->room - memory->used < whole) {
        size_t room = whole > BLOCK ? whole : BLOCK;
        struct tutti_fedpro_block *block = malloc(sizeof *block + room);
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

static void take_back(void *context, void *pointer)
{
    (void)context, (void)pointer; /* all at once, later */
}

void tutti_fedpro_memory_init(struct tutti_fedpro_memory *memory)
{
    *memory = (struct tutti_fedpro_memory){.allocator = {give, take_back, memory}};
}

void tutti_fedpro_memory_fini(struct tutti_fedpro_memory *memory)
{
    while (memory->blocks) {
        struct tutti_fedpro_block *next = memory->blocks->next;
        free(memory->blocks);
        memory->blocks = next;
    }
}

void tutti_fedpro_memory_reset(struct tutti_fedpro_memory *memory)
{
    memory->used = 0;
    memory->failed = false;
    if (!memory->blocks || (!memory->blocks->next && memory->blocks->room == BLOCK))
        return;
    tutti_fedpro_memory_fini(memory); /* it was much, once */
}

void *tutti_fedpro_memory_take(struct tutti_fedpro_memory *memory, size_t size)
{
    void *taken = give(memory, size);
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

uint8_t *tutti_fedpro_envelope_close(struct tutti_fedpro_memory *memory, uint32_t number,
                                     const ProtobufCMessage *content, size_t *size)
{
    size_t inner = protobuf_c_message_get_packed_size(content);
    uint8_t *bytes = give(memory, inner + 2 * VARINT_MOST);
    if (!bytes)
        return NULL;
    size_t head = put_varint(bytes, (uint64_t)number << TYPE_BITS | LENGTH);
    head += put_varint(bytes + head, inner);
    *size = head + protobuf_c_message_pack(content, bytes + head);
    return bytes;
}
