/* SPDX-License-Identifier: MIT */
#include "hla/fedpro/session_link.h"

#include <stdlib.h>
#include <string.h>

struct tt_session_link_message {
    uint8_t *bytes;
    size_t size;
    int32_t sequence;
    bool counts;
};

enum { LAST_RECEIVED_AT = 16, FIRST_ROOM = 16 };

const struct tt_session_link_limits tt_session_link_default_limits = {.history = 2000,
                                                                      .waiting = 100000,
                                                                      .bytes = (size_t)256 << 20};

void tt_session_link_init(struct tt_session_link *link, uint64_t session, int32_t first,
                          const struct tt_session_link_limits *limits)
{
    *link = (struct tt_session_link){.session = session,
                                     .limits = *limits,
                                     .next_sequence = first,
                                     .last_received = TUTTI_FEDPRO_NO_SEQUENCE,
                                     .forgotten = TUTTI_FEDPRO_NO_SEQUENCE};
}

static struct tt_session_link_message *session_link_message(const struct tt_session_link *link, size_t i)
{
    return &link->parcels[(link->begin + i) & (link->room - 1)];
}

void tt_session_link_fini(struct tt_session_link *link)
{
    for (size_t i = 0; i < link->count; i++)
        free(session_link_message(link, i)->bytes);
    free(link->parcels);
    link->parcels = NULL;
    link->room = link->begin = link->count = link->written = link->progress = link->bytes = 0;
}

static enum tutti_err session_link_grow(struct tt_session_link *link)
{
    if (link->count < link->room)
        return TUTTI_OK;
    size_t room = link->room ? 2 * link->room : FIRST_ROOM;
    struct tt_session_link_message *parcels = malloc(room * sizeof *parcels);
    if (parcels == NULL)
        return tt_fail_memory();
    for (size_t i = 0; i < link->count; i++)
        parcels[i] = *session_link_message(link, i);
    free(link->parcels);
    link->parcels = parcels;
    link->room = room;
    link->begin = 0;
    return TUTTI_OK;
}

/* The oldest one goes. It was written. */
static void drop_oldest_message(struct tt_session_link *link)
{
    struct tt_session_link_message *first = session_link_message(link, 0);
    if (first->counts)
        link->forgotten = first->sequence;
    link->bytes -= first->size;
    free(first->bytes);
    link->begin = (link->begin + 1) & (link->room - 1);
    link->count--;
    link->written--;
}

enum tutti_err tt_session_link_push(struct tt_session_link *link, enum tt_fedpro_type type, const int32_t *head,
                                    const void *payload, size_t size, int32_t *sequence)
{
    size_t whole = TUTTI_FEDPRO_HEADER + (head ? sizeof *head : 0) + size;
    while (link->written > 0 && (link->written > link->limits.history || link->bytes + whole > link->limits.bytes))
        drop_oldest_message(link);
    if (link->count - link->written >= link->limits.waiting || link->bytes + whole > link->limits.bytes ||
        whole > UINT32_MAX)
        return tt_fail(TUTTI_ERR_LIMIT, "%zu messages with %zu bytes wait, and are not taken in",
                       link->count - link->written, link->bytes);
    TRY(session_link_grow(link));
    uint8_t *bytes = malloc(whole);
    if (bytes == NULL)
        return tt_fail_memory();
    struct tt_fedpro_header header = {.size = (uint32_t)whole,
                                      .sequence = link->next_sequence,
                                      .session = link->session,
                                      .last_received = link->last_received,
                                      .type = type};
    tt_fedpro_message_put_header(bytes, &header);
    if (head)
        tt_fedpro_message_put_u32(bytes + TUTTI_FEDPRO_HEADER, (uint32_t)*head);
    if (size > 0)
        memcpy(bytes + whole - size, payload, size);
    *session_link_message(link, link->count++) =
        (struct tt_session_link_message){bytes, whole, header.sequence, tt_fedpro_message_is_sequenced(type)};
    link->bytes += whole;
    link->next_sequence = tt_fedpro_message_next_sequence(header.sequence);
    if (sequence)
        *sequence = header.sequence;
    return TUTTI_OK;
}

/* The bytes of a message that waits; of the first one, those that are left. */
static const uint8_t *session_link_message_bytes(const struct tt_session_link *link, size_t i, size_t *size)
{
    const struct tt_session_link_message *parcel = session_link_message(link, i);
    size_t progress = i == link->written ? link->progress : 0;
    if (progress == 0) /* it may have waited for long */
        tt_fedpro_message_put_u32(parcel->bytes + LAST_RECEIVED_AT, (uint32_t)link->last_received);
    *size = parcel->size - progress;
    return parcel->bytes + progress;
}

const uint8_t *tt_session_link_output(struct tt_session_link *link, uint8_t *buffer, size_t room, size_t *size)
{
    *size = 0;
    if (link->written == link->count)
        return NULL;
    const uint8_t *first = session_link_message_bytes(link, link->written, size);
    if (link->written + 1 == link->count || *size > room)
        return first;
    memcpy(buffer, first, *size);
    for (size_t i = link->written + 1; i < link->count && session_link_message(link, i)->size <= room - *size; i++) {
        size_t more = 0;
        const uint8_t *bytes = session_link_message_bytes(link, i, &more);
        memcpy(buffer + *size, bytes, more);
        *size += more;
    }
    return buffer;
}

/* Takes a parcel out that is not the first one. */
static void remove_queued_message(struct tt_session_link *link, size_t i)
{
    link->bytes -= session_link_message(link, i)->size;
    free(session_link_message(link, i)->bytes);
    for (size_t j = i; j + 1 < link->count; j++)
        *session_link_message(link, j) = *session_link_message(link, j + 1);
    link->count--;
}

void tt_session_link_consume(struct tt_session_link *link, size_t size)
{
    link->progress += size;
    while (link->written < link->count && link->progress >= session_link_message(link, link->written)->size) {
        const struct tt_session_link_message *parcel = session_link_message(link, link->written);
        link->progress -= parcel->size;
        if (parcel->counts)
            link->written++;
        else
            remove_queued_message(link, link->written);
    }
}

size_t tt_session_link_pending(const struct tt_session_link *link)
{
    return link->count - link->written;
}

/* Everything up to `sequence` has arrived. The last of these messages is kept, so that the peer knows the oldest one
 * kept: numbers in between may be those of heartbeats. */
static void acknowledge_messages(struct tt_session_link *link, int32_t sequence)
{
    if (sequence < 0)
        return;
    while (link->written > 1 && !tt_fedpro_message_is_later(session_link_message(link, 1)->sequence, sequence))
        drop_oldest_message(link);
}

bool tt_session_link_receive(struct tt_session_link *link, const struct tt_fedpro_header *header)
{
    acknowledge_messages(link, header->last_received);
    if (!tt_fedpro_message_is_sequenced(header->type))
        return true;
    if (header->sequence < 0 ||
        (link->last_received >= 0 && !tt_fedpro_message_is_later(header->sequence, link->last_received)))
        return false;
    link->last_received = header->sequence;
    return true;
}

void tt_session_link_disconnect(struct tt_session_link *link)
{
    link->progress = 0;
    for (size_t i = link->count; i-- > link->written;)
        if (!session_link_message(link, i)->counts)
            remove_queued_message(link, i);
}

bool tt_session_link_rewind(struct tt_session_link *link, int32_t last)
{
    bool none = last < 0;
    if (none ? link->forgotten >= 0 : link->forgotten >= 0 && tt_fedpro_message_is_later(link->forgotten, last))
        return false;
    if (!none && !tt_fedpro_message_is_later(link->next_sequence, last))
        return false;
    tt_session_link_disconnect(link);
    link->written = 0;
    while (!none && link->written < link->count &&
           !tt_fedpro_message_is_later(session_link_message(link, link->written)->sequence, last))
        link->written++;
    acknowledge_messages(link, last);
    return true;
}

int32_t tt_session_link_oldest(const struct tt_session_link *link)
{
    for (size_t i = 0; i < link->count; i++)
        if (session_link_message(link, i)->counts)
            return session_link_message(link, i)->sequence;
    return TUTTI_FEDPRO_NO_SEQUENCE;
}
