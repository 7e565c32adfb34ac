/* SPDX-License-Identifier: MIT */
#include "hla/fedpro/message_intake.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

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
