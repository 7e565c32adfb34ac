/* SPDX-License-Identifier: MIT */
#include "hla/fedpro/envelope.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

/* Wire types of Protocol Buffers. */
enum { VARINT = 0, FIXED64 = 1, LENGTH = 2, FIXED32 = 5, TYPE_BITS = 3, VARINT_BITS = 7, VARINT_MOST = 10 };

/* Bytes that are still to be read. */
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
