/* SPDX-License-Identifier: MIT */
#include "hla/rti/message.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

static char *message_put_octets(char *at, struct tt_octets *to, struct tt_octets from)
{
    if (from.size)
        memcpy(at, from.data, from.size);
    *to = (struct tt_octets){at, from.size};
    return at + from.size;
}

struct tt_message *tt_message_new(enum tt_message_kind kind, const struct tt_hla_value *values, size_t count,
                                  struct tt_octets tag)
{
    size_t size = sizeof(struct tt_message) + count * sizeof *values + tag.size;
    for (size_t i = 0; i < count; i++)
        size += values[i].bytes.size;
    struct tt_message *message = malloc(size);
    if (!message)
        return NULL;
    *message = (struct tt_message){.kind = kind, .references = 1, .value_count = count, .size = size};
    message->values = (struct tt_hla_value *)(message + 1);
    char *at = message_put_octets((char *)(message->values + count), &message->tag, tag);
    for (size_t i = 0; i < count; i++) {
        message->values[i].handle = values[i].handle;
        at = message_put_octets(at, &message->values[i].bytes, values[i].bytes);
    }
    return message;
}

struct tt_message *tt_message_retain(struct tt_message *message)
{
    message->references++;
    return message;
}

void tt_message_release(struct tt_message *message)
{
    if (!message || --message->references)
        return;
    free(message->delivered);
    free(message);
}

bool tt_message_precedes(const struct tt_message *a, const struct tt_message *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    if (a->sender != b->sender)
        return a->sender < b->sender;
    return a->number != b->number ? a->number < b->number : a->part < b->part;
}

void tt_message_heap_fini(struct tt_message_heap *heap)
{
    for (size_t i = 0; i < heap->count; i++)
        tt_message_release(heap->items[i]);
    free(heap->items);
    *heap = (struct tt_message_heap){0};
}

static void heap_sift_up(struct tt_message_heap *heap, size_t at, struct tt_message *message)
{
    for (; at && tt_message_precedes(message, heap->items[(at - 1) / 2]); at = (at - 1) / 2)
        heap->items[at] = heap->items[(at - 1) / 2];
    heap->items[at] = message;
}

bool tt_message_heap_push(struct tt_message_heap *heap, struct tt_message *message)
{
    if (!tt_vector_reserve(&heap->items, &heap->room, heap->count + 1, sizeof *heap->items))
        return false;
    heap_sift_up(heap, heap->count++, tt_message_retain(message));
    return true;
}

/* Takes the one at this place out; the last one takes the place, or one near it. */
static struct tt_message *message_heap_take(struct tt_message_heap *heap, size_t at)
{
    struct tt_message *taken = heap->items[at], *last = heap->items[--heap->count];
    if (at == heap->count)
        return taken;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < heap->count && tt_message_precedes(heap->items[child + 1], heap->items[child]))
            child++;
        if (child >= heap->count || !tt_message_precedes(heap->items[child], last))
            break;
        heap->items[at] = heap->items[child];
        at = child;
    }
    heap_sift_up(heap, at, last);
    return taken;
}

struct tt_message *tt_message_heap_pop(struct tt_message_heap *heap)
{
    return message_heap_take(heap, 0);
}

bool tt_message_heap_remove(struct tt_message_heap *heap, struct tt_message *message)
{
    for (size_t i = 0; i < heap->count; i++)
        if (heap->items[i] == message) {
            tt_message_release(message_heap_take(heap, i));
            return true;
        }
    return false;
}
