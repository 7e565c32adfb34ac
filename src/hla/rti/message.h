/* SPDX-License-Identifier: MIT */
/* message.h - an update, interaction or deletion on its way to many federates: made once, shared by all queues. */
#ifndef TT_HLA_RTI_MESSAGE_H
#define TT_HLA_RTI_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hla/fom/fom.h"

struct tt_octets {
    const void *data;
    size_t size;
};

/* The value of an attribute or a parameter, encoded. */
struct tt_hla_value {
    uint32_t handle;
    struct tt_octets bytes;
};

enum tt_message_kind { TUTTI_MESSAGE_UPDATE, TUTTI_MESSAGE_INTERACTION, TUTTI_MESSAGE_DIRECTED, TUTTI_MESSAGE_DELETE };

struct tt_message {
    enum tt_message_kind kind;
    unsigned references;
    bool retracted;             /* holders drop it */
    bool timed;                 /* has a stamp */
    enum tt_message_order sent; /* TIMESTAMP: queues of constrained federates keep it until its time */
    int64_t time;
    uint64_t number; /* in the federation; the sender retracts it by this number */
    uint32_t part;   /* of an update that goes as several messages */
    uint32_t sender;
    uint32_t object; /* 0 for interactions */
    uint32_t class;  /* of interactions */
    uint32_t transportation;
    struct tt_octets tag;
    struct tt_hla_value *values;
    size_t value_count;
    size_t size;         /* bytes of it all */
    uint32_t *delivered; /* federates that have it, while it can be retracted */
    size_t delivered_count, delivered_room;
};

/* With copies of the values and the tag, and one reference; NULL when memory is out. The other fields are the caller's to fill. */
struct tt_message *tt_message_new(enum tt_message_kind kind, const struct tt_hla_value *values, size_t count,
                                  struct tt_octets tag);
struct tt_message *tt_message_retain(struct tt_message *message);
/* The last one frees it. NULL is fine. */
void tt_message_release(struct tt_message *message);

/* The order of delivery: time, then sender, then number. */
bool tt_message_precedes(const struct tt_message *a, const struct tt_message *b);

/* Messages in that order. A zeroed queue is empty. */
struct tt_message_heap {
    struct tt_message **items;
    size_t count, room;
};
void tt_message_heap_fini(struct tt_message_heap *heap);
/* Shares the message. False when memory is out. */
bool tt_message_heap_push(struct tt_message_heap *heap, struct tt_message *message);
/* NULL: empty. Borrowed. */
static inline struct tt_message *tt_message_heap_first(const struct tt_message_heap *heap)
{
    return heap->count ? heap->items[0] : NULL;
}
/* The first one of a heap that is not empty, taken out: the reference is the caller's. */
struct tt_message *tt_message_heap_pop(struct tt_message_heap *heap);
/* Removes the message and releases it; false if it is not in the heap. */
bool tt_message_heap_remove(struct tt_message_heap *heap, struct tt_message *message);

#endif
