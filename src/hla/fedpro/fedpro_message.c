/* SPDX-License-Identifier: MIT */
#include "hla/fedpro/fedpro_message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

enum { INT = 4 };

void tt_fedpro_message_put_u32(uint8_t *bytes, uint32_t value)
{
    for (int i = 0; i < INT; i++)
        bytes[i] = (uint8_t)(value >> (24 - 8 * i));
}

uint32_t tt_fedpro_message_get_u32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

void tt_fedpro_message_put_header(uint8_t *bytes, const struct tt_fedpro_header *header)
{
    tt_fedpro_message_put_u32(bytes, header->size);
    tt_fedpro_message_put_u32(bytes + 4, (uint32_t)header->sequence);
    tt_fedpro_message_put_u32(bytes + 8, (uint32_t)(header->session >> 32));
    tt_fedpro_message_put_u32(bytes + 12, (uint32_t)header->session);
    tt_fedpro_message_put_u32(bytes + 16, (uint32_t)header->last_received);
    tt_fedpro_message_put_u32(bytes + 20, header->type);
}

struct tt_fedpro_header tt_fedpro_message_get_header(const uint8_t *bytes)
{
    return (struct tt_fedpro_header){
        .size = tt_fedpro_message_get_u32(bytes),
        .sequence = (int32_t)tt_fedpro_message_get_u32(bytes + 4),
        .session = (uint64_t)tt_fedpro_message_get_u32(bytes + 8) << 32 | tt_fedpro_message_get_u32(bytes + 12),
        .last_received = (int32_t)tt_fedpro_message_get_u32(bytes + 16),
        .type = tt_fedpro_message_get_u32(bytes + 20),
    };
}

/* The size of the part after the header: exactly `least` bytes, or at least `least`. */
struct header_shape {
    const char *name;
    uint32_t least;
    bool open;
};

static const struct header_shape *message_shape(uint32_t type)
{
    static const struct header_shape shapes[] = {
        [TUTTI_FEDPRO_NEW_SESSION] = {"NEW_SESSION", INT, false},
        [TUTTI_FEDPRO_NEW_SESSION_STATUS] = {"NEW_SESSION_STATUS", INT, false},
        [TUTTI_FEDPRO_HEARTBEAT] = {"HEARTBEAT", 0, false},
        [TUTTI_FEDPRO_HEARTBEAT_RESPONSE] = {"HEARTBEAT_RESPONSE", INT, false},
        [TUTTI_FEDPRO_TERMINATE] = {"TERMINATE_SESSION", 0, false},
        [TUTTI_FEDPRO_TERMINATED] = {"SESSION_TERMINATED", 0, false},
        [TUTTI_FEDPRO_RESUME] = {"RESUME_REQUEST", 2 * INT, false},
        [TUTTI_FEDPRO_RESUME_STATUS] = {"RESUME_STATUS", 2 * INT, false},
        [TUTTI_FEDPRO_CALL] = {"CALL_REQUEST", 0, true},
        [TUTTI_FEDPRO_CALL_RESPONSE] = {"CALL_RESPONSE", INT, true},
        [TUTTI_FEDPRO_CALLBACK] = {"CALLBACK_REQUEST", 0, true},
        [TUTTI_FEDPRO_CALLBACK_RESPONSE] = {"CALLBACK_RESPONSE", INT, true},
    };
    if (type >= sizeof shapes / sizeof *shapes || shapes[type].name == NULL)
        return NULL;
    return &shapes[type];
}

bool tt_fedpro_message_check_header(const struct tt_fedpro_header *header)
{
    const struct header_shape *shape = message_shape(header->type);
    if (shape == NULL || header->size < TUTTI_FEDPRO_HEADER + shape->least)
        return false;
    return shape->open || header->size == TUTTI_FEDPRO_HEADER + shape->least;
}

bool tt_fedpro_message_is_sequenced(uint32_t type)
{
    return type >= TUTTI_FEDPRO_CALL && type <= TUTTI_FEDPRO_CALLBACK_RESPONSE;
}

const char *tt_fedpro_message_type_name(uint32_t type, char buffer[static 24])
{
    const struct header_shape *shape = message_shape(type);
    if (shape != NULL)
        return shape->name;
    snprintf(buffer, 24, "type %lu", (unsigned long)type);
    return buffer;
}

int32_t tt_fedpro_message_next_sequence(int32_t sequence)
{
    return sequence < 0 || sequence == INT32_MAX ? 0 : sequence + 1;
}

bool tt_fedpro_message_is_later(int32_t a, int32_t b)
{
    uint32_t distance = ((uint32_t)a - (uint32_t)b) & INT32_MAX;
    return distance != 0 && distance < UINT32_C(1) << 30;
}

enum { CHUNK = 16384 };

void tt_fedpro_message_free_intake(struct tt_fedpro_intake *intake)
{
    free(intake->bytes);
    *intake = (struct tt_fedpro_intake){.limit = intake->limit};
}

enum tutti_err tt_fedpro_message_reserve_bytes(struct tt_fedpro_intake *intake, uint8_t **into, size_t *room)
{
    if (intake->begin == intake->end)
        intake->begin = intake->end = 0;
    if (intake->begin > 0 && intake->room - intake->end < CHUNK) {
        memmove(intake->bytes, intake->bytes + intake->begin, intake->end - intake->begin);
        intake->end -= intake->begin;
        intake->begin = 0;
    }
    if (!tt_vector_reserve(&intake->bytes, &intake->room, intake->end + CHUNK, 1) || intake->bytes == NULL)
        return tt_fail_memory();
    *into = intake->bytes + intake->end;
    *room = intake->room - intake->end;
    return TUTTI_OK;
}

void tt_fedpro_message_commit_bytes(struct tt_fedpro_intake *intake, size_t count)
{
    intake->end += count;
}

enum tutti_err tt_fedpro_message_append_bytes(struct tt_fedpro_intake *intake, const void *bytes, size_t count)
{
    const uint8_t *from = bytes;
    while (count > 0) {
        uint8_t *into = NULL;
        size_t room = 0;
        TRY(tt_fedpro_message_reserve_bytes(intake, &into, &room));
        size_t some = count < room ? count : room;
        memcpy(intake->bytes + intake->end, from, some);
        tt_fedpro_message_commit_bytes(intake, some);
        from += some;
        count -= some;
    }
    return TUTTI_OK;
}

enum tutti_err tt_fedpro_message_parse_next(struct tt_fedpro_intake *intake, struct tt_fedpro_message *message,
                                            bool *whole)
{
    size_t there = intake->end - intake->begin;
    *whole = false;
    if (there < TUTTI_FEDPRO_HEADER)
        return TUTTI_OK;
    struct tt_fedpro_header header = tt_fedpro_message_get_header(intake->bytes + intake->begin);
    if (!tt_fedpro_message_check_header(&header)) {
        char name[24];
        return tt_fail(TUTTI_ERR_FORMAT, "not a message of the Federate Protocol: %s of %lu bytes",
                       tt_fedpro_message_type_name(header.type, name), (unsigned long)header.size);
    }
    if (header.size > intake->limit) {
        char name[24];
        return tt_fail(TUTTI_ERR_LIMIT, "%s of %lu bytes; at most %lu are taken here",
                       tt_fedpro_message_type_name(header.type, name), (unsigned long)header.size,
                       (unsigned long)intake->limit);
    }
    if (there < header.size)
        return TUTTI_OK;
    *message = (struct tt_fedpro_message){header, intake->bytes + intake->begin + TUTTI_FEDPRO_HEADER,
                                          header.size - TUTTI_FEDPRO_HEADER};
    intake->begin += header.size;
    *whole = true;
    return TUTTI_OK;
}
