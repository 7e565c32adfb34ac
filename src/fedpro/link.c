/* SPDX-License-Identifier: MIT */
#include "fedpro/link.h"

#include <stdlib.h>
#include <string.h>

struct tutti_fedpro_parcel {
    uint8_t *bytes;
    size_t size;
    int32_t sequence;
    bool counts;
};

enum { LAST_RECEIVED_AT = 16, FIRST_ROOM = 16 };

const struct tutti_fedpro_limits tutti_fedpro_limits_usual = {.history = 2000,
                                                              .waiting = 100000,
                                                              .bytes = (size_t)256 << 20};

void tutti_fedpro_link_init(struct tutti_fedpro_link *link, uint64_t session, int32_t first,
                            const struct tutti_fedpro_limits *limits)
{
    *link = (struct tutti_fedpro_link){.session = session,
                                       .limits = *limits,
                                       .next_sequence = first,
                                       .last_received = TUTTI_FEDPRO_NO_SEQUENCE,
                                       .forgotten = TUTTI_FEDPRO_NO_SEQUENCE};
}

static struct tutti_fedpro_parcel *at(const struct tutti_fedpro_link *link, size_t i)
{
    return &link->parcels[(link->begin + i) & (link->room - 1)];
}

void tutti_fedpro_link_fini(struct tutti_fedpro_link *link)
{
    for (size_t i = 0; i < link->count; i++)
        free(at(link, i)->bytes);
    free(link->parcels);
    link->parcels = NULL;
    link->room = link->begin = link->count = link->written = link->progress = link->bytes = 0;
}

static enum tutti_err grow(struct tutti_fedpro_link *link)
{
    if (link->count < link->room)
        return TUTTI_OK;
    size_t room = link->room ? 2 * link->room : FIRST_ROOM;
    struct tutti_fedpro_parcel *parcels = malloc(room * sizeof *parcels);
    if (parcels == NULL)
        return tutti_fail_memory();
    for (size_t i = 0; i < link->count; i++)
        parcels[i] = *at(link, i);
    free(link->parcels);
    link->parcels = parcels;
    link->room = room;
    link->begin = 0;
    return TUTTI_OK;
}

/* The oldest one goes. It was written. */
static void forget_first(struct tutti_fedpro_link *link)
{
    struct tutti_fedpro_parcel *first = at(link, 0);
    if (first->counts)
        link->forgotten = first->sequence;
    link->bytes -= first->size;
    free(first->bytes);
    link->begin = (link->begin + 1) & (link->room - 1);
    link->count--;
    link->written--;
}

enum tutti_err tutti_fedpro_link_push(struct tutti_fedpro_link *link, enum tutti_fedpro_type type, const int32_t *head,
                                      const void *payload, size_t size, int32_t *sequence)
{
    size_t whole = TUTTI_FEDPRO_HEADER + (head ? sizeof *head : 0) + size;
    while (link->written > 0 && (link->written > link->limits.history || link->bytes + whole > link->limits.bytes))
        forget_first(link);
    if (link->count - link->written >= link->limits.waiting || link->bytes + whole > link->limits.bytes ||
        whole > UINT32_MAX)
        return tutti_fail(TUTTI_ERR_LIMIT, "%zu messages with %zu bytes wait, and are not taken in",
                          link->count - link->written, link->bytes);
    TRY(grow(link));
    uint8_t *bytes = malloc(whole);
    if (bytes == NULL)
        return tutti_fail_memory();
    struct tutti_fedpro_header header = {.size = (uint32_t)whole,
                                         .sequence = link->next_sequence,
                                         .session = link->session,
                                         .last_received = link->last_received,
                                         .type = type};
    tutti_fedpro_put_header(bytes, &header);
    if (head)
        tutti_fedpro_put_u32(bytes + TUTTI_FEDPRO_HEADER, (uint32_t)*head);
    if (size > 0)
        memcpy(bytes + whole - size, payload, size);
    *at(link, link->count++) = (struct tutti_fedpro_parcel){bytes, whole, header.sequence, tutti_fedpro_counts(type)};
    link->bytes += whole;
    link->next_sequence = tutti_fedpro_next(header.sequence);
    if (sequence)
        *sequence = header.sequence;
    return TUTTI_OK;
}

/* The bytes of a message that waits; of the first one, those that are left. */
static const uint8_t *bytes_of(const struct tutti_fedpro_link *link, size_t i, size_t *size)
{
    const struct tutti_fedpro_parcel *parcel = at(link, i);
    size_t progress = i == link->written ? link->progress : 0;
    if (progress == 0) /* it may have waited for long */
        tutti_fedpro_put_u32(parcel->bytes + LAST_RECEIVED_AT, (uint32_t)link->last_received);
    *size = parcel->size - progress;
    return parcel->bytes + progress;
}

const uint8_t *tutti_fedpro_link_output(struct tutti_fedpro_link *link, uint8_t *buffer, size_t room, size_t *size)
{
    *size = 0;
    if (link->written == link->count)
        return NULL;
    const uint8_t *first = bytes_of(link, link->written, size);
    if (link->written + 1 == link->count || *size > room)
        return first;
    memcpy(buffer, first, *size);
    for (size_t i = link->written + 1; i < link->count && at(link, i)->size <= room - *size; i++) {
        size_t more = 0;
        const uint8_t *bytes = bytes_of(link, i, &more);
        memcpy(buffer + *size, bytes, more);
        *size += more;
    }
    return buffer;
}

/* Takes a parcel out that is not the first one. */
static void take_out(struct tutti_fedpro_link *link, size_t i)
{
    link->bytes -= at(link, i)->size;
    free(at(link, i)->bytes);
    for (size_t j = i; j + 1 < link->count; j++)
        *at(link, j) = *at(link, j + 1);
    link->count--;
}

void tutti_fedpro_link_wrote(struct tutti_fedpro_link *link, size_t size)
{
    link->progress += size;
    while (link->written < link->count && link->progress >= at(link, link->written)->size) {
        const struct tutti_fedpro_parcel *parcel = at(link, link->written);
        link->progress -= parcel->size;
        if (parcel->counts)
            link->written++;
        else
            take_out(link, link->written);
    }
}

size_t tutti_fedpro_link_waiting(const struct tutti_fedpro_link *link)
{
    return link->count - link->written;
}

/* Everything up to `sequence` has arrived. The last of these is kept, so that the oldest one kept is one that the other side knows: numbers
 * between two messages that count may be those of heartbeats. */
static void acknowledge(struct tutti_fedpro_link *link, int32_t sequence)
{
    if (sequence < 0)
        return;
    while (link->written > 1 && !tutti_fedpro_is_after(at(link, 1)->sequence, sequence))
        forget_first(link);
}

bool tutti_fedpro_link_receive(struct tutti_fedpro_link *link, const struct tutti_fedpro_header *header)
{
    acknowledge(link, header->last_received);
    if (!tutti_fedpro_counts(header->type))
        return true;
    if (header->sequence < 0 ||
        (link->last_received >= 0 && !tutti_fedpro_is_after(header->sequence, link->last_received)))
        return false;
    link->last_received = header->sequence;
    return true;
}

void tutti_fedpro_link_cut(struct tutti_fedpro_link *link)
{
    link->progress = 0;
    for (size_t i = link->count; i-- > link->written;)
        if (!at(link, i)->counts)
            take_out(link, i);
}

bool tutti_fedpro_link_rewind(struct tutti_fedpro_link *link, int32_t last)
{
    bool none = last < 0;
    if (none ? link->forgotten >= 0 : link->forgotten >= 0 && tutti_fedpro_is_after(link->forgotten, last))
        return false;
    if (!none && !tutti_fedpro_is_after(link->next_sequence, last))
        return false;
    tutti_fedpro_link_cut(link);
    link->written = 0;
    while (!none && link->written < link->count && !tutti_fedpro_is_after(at(link, link->written)->sequence, last))
        link->written++;
    acknowledge(link, last);
    return true;
}

int32_t tutti_fedpro_link_oldest(const struct tutti_fedpro_link *link)
{
    for (size_t i = 0; i < link->count; i++)
        if (at(link, i)->counts)
            return at(link, i)->sequence;
    return TUTTI_FEDPRO_NO_SEQUENCE;
}
